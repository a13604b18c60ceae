package provider_test

import (
	"encoding/json"
	"os"
	"testing"

	"github.com/hashicorp/terraform-plugin-go/tfprotov6"
	"github.com/hashicorp/terraform-plugin-go/tftypes"

	"github.com/graphdeploy/terraform-provider-graphdeploy/internal/fakeserver"
)

// testdata/state_v0.json is what the first release writes for a deployment of
// which every attribute is set. It must never be changed: states like it are
// out there. A release that cannot read it needs a state upgrader.
func TestStateOfTheFirstReleaseIsRead(t *testing.T) {
	t.Parallel()
	state, err := os.ReadFile("testdata/state_v0.json")
	if err != nil {
		t.Fatal(err)
	}
	p := newProtocol(t, newService(t, fakeserver.Options{}))
	upgraded, err := p.server.UpgradeResourceState(t.Context(), &tfprotov6.UpgradeResourceStateRequest{
		TypeName: typeName, Version: 0, RawState: &tfprotov6.RawState{JSON: state},
	})
	if err != nil {
		t.Fatal(err)
	}
	p.expectNone(upgraded.Diagnostics)
	var written map[string]any
	if err := json.Unmarshal(state, &written); err != nil {
		t.Fatal(err)
	}
	for name, value := range p.attributes(p.deploymentType(), upgraded.UpgradedState) {
		if name == "secrets_wo" || name == "secrets_wo_version" {
			continue // set instead of secrets
		}
		if isNull := written[name] == nil; isNull || value.IsNull() {
			t.Errorf("%s: null in the file: %t, null as read: %t; want neither", name, isNull, value.IsNull())
		}
	}
	// Nothing of it is lost on the way, nor anywhere below.
	again, err := upgraded.UpgradedState.Unmarshal(p.deploymentType())
	if err != nil {
		t.Fatal(err)
	}
	direct, err := (&tfprotov6.RawState{JSON: state}).Unmarshal(p.deploymentType())
	if err != nil {
		t.Fatal(err)
	}
	if !again.Equal(direct) {
		t.Error("the state read differs from the state written")
	}
	nulls := 0
	_ = tftypes.Walk(again, func(_ *tftypes.AttributePath, v tftypes.Value) (bool, error) {
		if v.IsNull() {
			nulls++
		}
		return true, nil
	})
	t.Logf("%d attributes are null: kinds of volumes and the like that exclude each other", nulls)
}
