package protocoltest

import (
	"fmt"

	"github.com/hashicorp/terraform-plugin-go/tfprotov6"
	"github.com/hashicorp/terraform-plugin-go/tftypes"
)

// What Terraform core verifies of a provider, written from core's rules. Users of
// a provider that breaks one see "Provider produced invalid plan", "… inconsistent
// final plan" or "… inconsistent result after apply".

// PlanViolations returns the places where a planned object is not valid for a
// configuration and a prior state.
func PlanViolations(attributes []*tfprotov6.SchemaAttribute, config, prior, planned tftypes.Value) []string {
	return objectViolations(attributes, config, prior, planned, "")
}

func objectViolations(attributes []*tfprotov6.SchemaAttribute, config, prior, planned tftypes.Value,
	at string,
) (violations []string) {
	configured, before, after := members(config), members(prior), members(planned)
	for _, a := range attributes {
		old, found := before[a.Name]
		if !found {
			old = tftypes.NewValue(a.ValueType(), nil)
		}
		violations = append(violations, valueViolations(a, configured[a.Name], old, after[a.Name], join(at, a.Name))...)
	}
	return violations
}

func valueViolations(a *tfprotov6.SchemaAttribute, config, prior, planned tftypes.Value, at string) []string {
	violation := func(format string, args ...any) []string {
		return []string{fmt.Sprintf("%s: %s (config %s, prior %s, planned %s)", at, fmt.Sprintf(format, args...), config,
			prior, planned)}
	}
	switch {
	case a.WriteOnly:
		if !planned.IsNull() {
			return violation("write-only, but planned")
		}
		return nil
	case planned.Equal(config):
		return nil
	case !prior.IsNull() && !config.IsNull() && planned.Equal(prior):
		return nil
	case config.IsNull() && a.Computed:
		return nil
	case config.IsNull():
		return violation("planned although neither configured nor computed")
	case a.NestedType == nil:
		return violation("planned value is neither the configured nor the prior one")
	case !config.IsKnown() || !planned.IsKnown() || planned.IsNull():
		return violation("planned object is absent where the configuration has one")
	case a.NestedType.Nesting == tfprotov6.SchemaObjectNestingModeSingle:
		return objectViolations(a.NestedType.Attributes, config, prior, planned, at)
	}
	configured, before, after := items(config), items(prior), items(planned)
	if len(configured) != len(after) {
		return violation("%d items instead of %d", len(after), len(configured))
	}
	var violations []string
	for i := range configured {
		if configured[i].IsNull() || !configured[i].IsKnown() {
			if !after[i].Equal(configured[i]) {
				violations = append(violations, violation("item %d", i)...)
			}
			continue
		}
		old := tftypes.NewValue(configured[i].Type(), nil) // core compares items by position
		if i < len(before) {
			old = before[i]
		}
		violations = append(violations,
			objectViolations(a.NestedType.Attributes, configured[i], old, after[i], fmt.Sprintf("%s[%d]", at, i))...)
	}
	return violations
}

// ChangeViolation returns a place where the result of an apply, or the plan that
// is made again at apply, is not what was planned; empty if there is none. What
// was unknown may be anything.
func ChangeViolation(planned, actual tftypes.Value) string {
	return changeViolation(planned, actual, "")
}

func changeViolation(planned, actual tftypes.Value, at string) string {
	violation := fmt.Sprintf("%s: planned %s, got %s", at, planned, actual)
	switch {
	case !planned.IsKnown():
		return ""
	case planned.IsNull() || actual.IsNull() || !actual.IsKnown():
		if planned.Equal(actual) {
			return ""
		}
		return violation
	}
	switch planned.Type().(type) {
	case tftypes.Object, tftypes.Map:
		before, after := members(planned), members(actual)
		if len(before) != len(after) {
			return violation
		}
		for name, value := range before {
			other, found := after[name]
			if !found {
				return violation
			}
			if inner := changeViolation(value, other, join(at, name)); inner != "" {
				return inner
			}
		}
	case tftypes.List:
		before, after := items(planned), items(actual)
		if len(before) != len(after) {
			return violation
		}
		for i := range before {
			if inner := changeViolation(before[i], after[i], fmt.Sprintf("%s[%d]", at, i)); inner != "" {
				return inner
			}
		}
	default:
		if !planned.Equal(actual) {
			return violation
		}
	}
	return ""
}

func join(at, name string) string {
	if at == "" {
		return name
	}
	return at + "." + name
}
