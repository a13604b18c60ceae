package provider_test

import (
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/hashicorp/terraform-plugin-testing/helper/resource"
	"github.com/hashicorp/terraform-plugin-testing/terraform"

	"github.com/graphdeploy/terraform-provider-graphdeploy/internal/fakeserver"
)

func TestAccImport_byIDAndByName(t *testing.T) {
	t.Parallel()
	s := newService(t, fakeserver.Options{MaxPage: 1})
	id := s.SeedDeployment(map[string]any{"name": "app", "source": "internal_docker", "source_config": map[string]any{"build_on_push": true, "resource_spec": map[string]any{"cpu": 0.5}}})
	const looksLikeID = "0f0e0d0c-aaaa-4bbb-8ccc-000000000000"
	for _, name := range []string{"app-1", "my app", "APP", looksLikeID} {
		s.SeedDeployment(map[string]any{"name": name})
	}
	twice := []string{s.SeedDeployment(map[string]any{"name": "twin"}), s.SeedDeployment(map[string]any{"name": "twin"})}
	config := s.provider() + deployment("app", "internal_docker")
	step := func(id string) resource.TestStep {
		return resource.TestStep{Config: config, ResourceName: this, ImportState: true, ImportStateId: id}
	}
	imported := func(id, name string) resource.TestStep {
		imported := step(id)
		imported.ImportStateCheck = func(states []*terraform.InstanceState) error {
			if got := states[0].Attributes["name"]; len(states) != 1 || got != name {
				return fmt.Errorf("%d deployments were imported, the first is %q; want %q", len(states), got, name)
			}
			return nil
		}
		return imported
	}
	rejected := func(id, message string) resource.TestStep {
		rejected := step(id)
		rejected.ExpectError = regexp.MustCompile(message)
		return rejected
	}
	persisted := imported("app", "app")
	persisted.ImportStatePersist = true
	// The state of an import is complete.
	persisted.ImportStateCheck = func(states []*terraform.InstanceState) error {
		for name, want := range map[string]string{"id": id, "source_config.build_on_push": "true", "source_config.resource_spec.cpu": "0.5", "source_revision_config.image_uri": "registry.example/app:1"} {
			if got := states[0].Attributes[name]; got != want {
				return fmt.Errorf("%s is %q, want %q", name, got, want)
			}
		}
		return nil
	}
	check(t,
		imported(strings.ToUpper(id), "app"),
		imported(looksLikeID, looksLikeID),
		rejected("ap", `(?s)No such deployment.*`+flexible(`no deployment named "ap" (case-sensitive)`)),
		rejected("99999999-9999-4999-8999-999999999999", `(?s)No such deployment.*`+flexible("no deployment with ID 99999999-9999-4999-8999-999999999999")),
		rejected("twin", `(?s)Multiple deployments with that name.*`+twice[0]+`.*`+twice[1]),
		persisted,
		planIsEmpty(config),
	)
	if n := len(s.patches(t)); n != 0 {
		t.Errorf("%d updates were sent, want none", n)
	}
}

// A service may know sources and statuses that this provider does not.
func TestAccDataSource_unknownSourceAndStatusAreShown(t *testing.T) {
	t.Parallel()
	s := newService(t, fakeserver.Options{ExtraFields: true})
	id := s.SeedDeployment(map[string]any{"name": "odd", "source": "carrier_pigeon", "status": "MOLTING"})
	check(t, resource.TestStep{
		Config: s.provider() + `
data "graphdeploy_deployment" "odd" {
  id = "` + id + `"
}`,
		Check: resource.ComposeAggregateTestCheckFunc(
			resource.TestCheckResourceAttr("data.graphdeploy_deployment.odd", "source", "carrier_pigeon"),
			resource.TestCheckResourceAttr("data.graphdeploy_deployment.odd", "status", "MOLTING"),
		),
	})
}
