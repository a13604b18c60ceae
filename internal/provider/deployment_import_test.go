package provider_test

import (
	"regexp"
	"testing"

	"github.com/hashicorp/terraform-plugin-testing/helper/resource"

	"github.com/graphdeploy/terraform-provider-graphdeploy/internal/fakeserver"
)

func TestAccImportByIDAndByName(t *testing.T) {
	t.Parallel()
	s := newService(t, fakeserver.Options{MaxPage: 1})
	config := s.provider() + deployment("app", "internal_docker")
	for _, name := range []string{"app-1", "my app", "APP"} {
		s.SeedDeployment(map[string]any{"name": name})
	}
	s.SeedDeployment(map[string]any{"name": "0f0e0d0c-aaaa-4bbb-8ccc-000000000000"})
	step := func(id, want string) resource.TestStep {
		s := resource.TestStep{Config: config, ResourceName: this, ImportState: true, ImportStateId: id}
		if want != "" {
			s.ExpectError = regexp.MustCompile(want)
		} else {
			s.ImportStateVerify = true
		}
		return s
	}
	check(t,
		resource.TestStep{Config: config},
		resource.TestStep{ResourceName: this, ImportState: true, ImportStateVerify: true}, // by id
		step("app", ""),
		step("ap", `(?s)No such deployment.*123e4567`),
		step("99999999-9999-4999-8999-999999999999", `(?s)No such deployment|lists no deployment`),
	)
	twice := newService(t, fakeserver.Options{AllowDuplicateNames: true})
	a := twice.SeedDeployment(map[string]any{"name": "app"})
	b := twice.SeedDeployment(map[string]any{"name": "app"})
	check(t, resource.TestStep{Config: twice.provider() + deployment("app", "internal_docker"), ResourceName: this, ImportState: true, ImportStateId: "app",
		ExpectError: regexp.MustCompile(`(?s)Several deployments of that name.*(` + a + `.*` + b + `|` + b + `.*` + a + `)`)})
}

// A service may know sources and statuses that this provider does not.
func TestAccImportOfUnknownSourceAndStatus(t *testing.T) {
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
