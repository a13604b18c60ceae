package field

import (
	"fmt"
	"testing"

	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-go/tftypes"
)

// What Terraform core verifies of a provider, written from its rules and not
// from this package. Users of a provider that breaks one see "Provider produced
// invalid plan" or "Provider produced inconsistent result after apply".

// assertPlanValid verifies a plan as core does.
func assertPlanValid(t testing.TB, fs Fields, config, prior, planned tftypes.Value) {
	t.Helper()
	for _, violation := range planViolations(fs, Members(config), Members(prior), Members(planned), path.Empty()) {
		t.Errorf("invalid plan: %s", violation)
	}
}

func planViolations(fs Fields, config, prior, planned Values, at path.Path) (violations []string) {
	for _, f := range fs {
		violations = append(violations, f.planViolations(config[f.Name], orNull(f, prior[f.Name]), planned[f.Name], at.AtName(f.Name))...)
	}
	return violations
}

func (f Field) planViolations(config, prior, planned tftypes.Value, at path.Path) (violations []string) {
	violation := func(format string, args ...any) []string {
		return append(violations,
			fmt.Sprintf("%s: %s (config %s, prior %s, planned %s)", at, fmt.Sprintf(format, args...), config, prior, planned))
	}
	switch {
	case planned.Equal(config):
		return nil
	case !prior.IsNull() && !config.IsNull() && planned.Equal(prior):
		return nil
	case config.IsNull() && f.Access != Required: // optional attributes are computed, too
		return nil
	case config.IsNull():
		return violation("planned although neither configured nor computed")
	case f.Kind != Object && f.Kind != ObjectList:
		return violation("planned value is neither the configured nor the prior one")
	case !config.IsKnown() || !planned.IsKnown() || planned.IsNull():
		return violation("planned object is absent where the configuration has one")
	case f.Kind == Object:
		return planViolations(f.Fields, Members(config), Members(prior), Members(planned), at)
	}
	configured, before, after := Items(config), Items(prior), Items(planned)
	if len(configured) != len(after) {
		return violation("%d items instead of %d", len(after), len(configured))
	}
	for i := range configured {
		if configured[i].IsNull() || !configured[i].IsKnown() {
			if !after[i].Equal(configured[i]) {
				return violation("item %d", i)
			}
			continue
		}
		var partner Values // core compares items by position
		if i < len(before) {
			partner = Members(before[i])
		}
		violations = append(violations, planViolations(f.Fields, Members(configured[i]), partner, Members(after[i]), at.AtListIndex(i))...)
	}
	return violations
}

// orNull gives an absent attribute the type that core gives it.
func orNull(f Field, v tftypes.Value) tftypes.Value {
	if v.Type() == nil {
		return f.null()
	}
	return v
}

// assertApplyValid verifies what follows a plan as core does: the result of an
// apply, or the final plan, when all values are known.
func assertApplyValid(t testing.TB, planned, actual tftypes.Value) {
	t.Helper()
	if violation := applyViolation(planned, actual, "the object"); violation != "" {
		t.Errorf("inconsistent with the plan: %s", violation)
	}
}

func applyViolation(planned, actual tftypes.Value, at string) string {
	if !planned.IsKnown() {
		return ""
	}
	violation := func() string { return fmt.Sprintf("%s: planned %s, but got %s", at, planned, actual) }
	if planned.IsNull() != actual.IsNull() {
		return violation()
	}
	if planned.IsNull() {
		return ""
	}
	switch planned.Type().(type) {
	case tftypes.Object, tftypes.Map:
		before, after := Members(planned), Members(actual)
		if len(before) != len(after) {
			return violation()
		}
		for name, value := range before {
			other, found := after[name]
			if !found {
				return violation()
			}
			if violation := applyViolation(value, other, at+"."+name); violation != "" {
				return violation
			}
		}
	case tftypes.List:
		before, after := Items(planned), Items(actual)
		if len(before) != len(after) {
			return violation()
		}
		for i := range before {
			if violation := applyViolation(before[i], after[i], fmt.Sprintf("%s[%d]", at, i)); violation != "" {
				return violation
			}
		}
	default:
		if !planned.Equal(actual) {
			return violation()
		}
	}
	return ""
}
