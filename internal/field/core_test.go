package field

import (
	"testing"

	"github.com/hashicorp/terraform-plugin-go/tfprotov6"
	"github.com/hashicorp/terraform-plugin-go/tftypes"

	"github.com/graphdeploy/terraform-provider-graphdeploy/internal/protocoltest"
)

// assertPlanValid verifies a plan as Terraform core does.
func assertPlanValid(t testing.TB, fs Fields, config, prior, planned tftypes.Value) {
	t.Helper()
	for _, violation := range protocoltest.PlanViolations(fs.protocol(), config, prior, planned) {
		t.Errorf("invalid plan: %s", violation)
	}
}

// assertApplyValid verifies what follows a plan as core does: the result of an
// apply, or the final plan, when all values are known.
func assertApplyValid(t testing.TB, planned, actual tftypes.Value) {
	t.Helper()
	if violation := applyViolation(planned, actual, ""); violation != "" {
		t.Errorf("inconsistent with the plan: %s", violation)
	}
}

func applyViolation(planned, actual tftypes.Value, at string) string {
	if violation := protocoltest.ChangeViolation(planned, actual); violation != "" {
		return at + violation
	}
	return ""
}

// protocol are the attributes of a resource as the protocol describes them.
func (fs Fields) protocol() (attributes []*tfprotov6.SchemaAttribute) {
	for _, f := range fs {
		// optional attributes are computed, too
		a := &tfprotov6.SchemaAttribute{Name: f.Name, Type: f.Kind.Type(), Computed: f.Access != Required}
		switch f.Kind.(type) {
		case Object:
			a.NestedType = &tfprotov6.SchemaObject{Attributes: f.Fields().protocol(),
				Nesting: tfprotov6.SchemaObjectNestingModeSingle}
		case ObjectList:
			a.NestedType = &tfprotov6.SchemaObject{Attributes: f.Fields().protocol(),
				Nesting: tfprotov6.SchemaObjectNestingModeList}
		}
		attributes = append(attributes, a)
	}
	return attributes
}
