package field

import (
	"fmt"
	"testing"

	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-go/tftypes"
)

// What Terraform core checks of a provider, written from its rules and not
// from this package. A provider that breaks one is told off in front of its
// user ("Provider produced invalid plan", "… inconsistent result after apply").

// assertPlanValid checks a plan as core does.
func assertPlanValid(t testing.TB, fs Fields, config, prior, planned tftypes.Value) {
	t.Helper()
	for _, mistake := range planMistakes(fs, members(config), members(prior), members(planned), path.Empty()) {
		t.Errorf("invalid plan: %s", mistake)
	}
}

func planMistakes(fs Fields, config, prior, planned Values, at path.Path) (mistakes []string) {
	for _, f := range fs {
		mistakes = append(mistakes, f.planMistakes(config[f.Name], orNull(f, prior[f.Name]), planned[f.Name], at.AtName(f.Name))...)
	}
	return mistakes
}

func (f Field) planMistakes(config, prior, planned tftypes.Value, at path.Path) (mistakes []string) {
	mistake := func(format string, args ...any) []string {
		return append(mistakes, fmt.Sprintf("%s: %s (config %s, prior %s, planned %s)", at, fmt.Sprintf(format, args...), config, prior, planned))
	}
	switch {
	case planned.Equal(config):
		return nil
	case !prior.IsNull() && !config.IsNull() && planned.Equal(prior):
		return nil
	case config.IsNull() && f.Access != Required:
		return nil
	case config.IsNull():
		return mistake("planned although neither configured nor computed")
	case f.Kind != Object && f.Kind != Objects:
		return mistake("planned value is neither the configured nor the prior one")
	case !config.IsKnown() || !planned.IsKnown() || planned.IsNull():
		return mistake("planned object is not there where the configured one is")
	case f.Kind == Object:
		return planMistakes(f.Fields, members(config), members(prior), members(planned), at)
	}
	configured, before, after := items(config), items(prior), items(planned)
	if len(configured) != len(after) {
		return mistake("%d items instead of %d", len(after), len(configured))
	}
	for i := range configured {
		if configured[i].IsNull() || !configured[i].IsKnown() {
			if !after[i].Equal(configured[i]) {
				return mistake("item %d", i)
			}
			continue
		}
		var same Values
		if i < len(before) {
			same = members(before[i])
		}
		mistakes = append(mistakes, planMistakes(f.Fields, members(configured[i]), same, members(after[i]), at.AtListIndex(i))...)
	}
	return mistakes
}

// orNull gives an attribute that is not there the type that core gives it.
func orNull(f Field, v tftypes.Value) tftypes.Value {
	if v.Type() == nil {
		return tftypes.NewValue(f.Type(), nil)
	}
	return v
}

// assertApplyValid checks what follows a plan as core does: a result of an
// apply, or the final plan that is made when all is known.
func assertApplyValid(t testing.TB, planned, actual tftypes.Value) {
	t.Helper()
	if mistake := applyMistake(planned, actual, "the object"); mistake != "" {
		t.Errorf("inconsistent with the plan: %s", mistake)
	}
}

func applyMistake(planned, actual tftypes.Value, at string) string {
	if !planned.IsKnown() {
		return ""
	}
	mistake := fmt.Sprintf("%s: planned %s, but got %s", at, planned, actual)
	if !actual.IsKnown() || planned.IsNull() != actual.IsNull() {
		return mistake
	}
	if planned.IsNull() {
		return ""
	}
	switch planned.Type().(type) {
	case tftypes.Object, tftypes.Map:
		before, after := members(planned), members(actual)
		if len(before) != len(after) {
			return mistake
		}
		for name, value := range before {
			other, there := after[name]
			if !there {
				return mistake
			}
			if mistake := applyMistake(value, other, at+"."+name); mistake != "" {
				return mistake
			}
		}
	case tftypes.List:
		before, after := items(planned), items(actual)
		if len(before) != len(after) {
			return mistake
		}
		for i := range before {
			if mistake := applyMistake(before[i], after[i], fmt.Sprintf("%s[%d]", at, i)); mistake != "" {
				return mistake
			}
		}
	default:
		if !planned.Equal(actual) {
			return mistake
		}
	}
	return ""
}
