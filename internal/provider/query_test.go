package provider_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/hashicorp/terraform-plugin-testing/helper/resource"
	"github.com/hashicorp/terraform-plugin-testing/knownvalue"
	"github.com/hashicorp/terraform-plugin-testing/plancheck"
	"github.com/hashicorp/terraform-plugin-testing/querycheck"
	"github.com/hashicorp/terraform-plugin-testing/tfversion"

	"github.com/graphdeploy/terraform-provider-graphdeploy/internal/fakeserver"
)

// These need a newer Terraform. The same is tested for every version of Terraform
// in protocol_test.go.

func TestAccImport_byIdentity(t *testing.T) {
	t.Parallel()
	s := newService(t, fakeserver.Options{})
	id := s.SeedDeployment(map[string]any{"name": "app", "source": "internal_docker"})
	resource.UnitTest(t, resource.TestCase{
		ProtoV6ProviderFactories: factories(),
		TerraformVersionChecks:   []tfversion.TerraformVersionCheck{tfversion.SkipBelow(tfversion.Version1_12_0)},
		Steps: []resource.TestStep{{
			Config: s.provider() + deployment("app", "internal_docker") + fmt.Sprintf("import {\n  to = %s\n  identity = {\n"+
				"    id = %q\n  }\n}", this, id),
			ConfigPlanChecks: resource.ConfigPlanChecks{PreApply: []plancheck.PlanCheck{
				plancheck.ExpectResourceAction(this, plancheck.ResourceActionNoop),
			}},
		}},
	})
}

func TestAccQuery_listsAllAndFiltered(t *testing.T) {
	t.Parallel()
	s := newService(t, fakeserver.Options{})
	for i := range 120 {
		s.SeedDeployment(map[string]any{"name": fmt.Sprintf("app-%03d", i)})
	}
	id := s.SeedDeployment(map[string]any{"name": "other"})
	resource.UnitTest(t, resource.TestCase{
		ProtoV6ProviderFactories: factories(),
		TerraformVersionChecks:   []tfversion.TerraformVersionCheck{tfversion.SkipBelow(tfversion.Version1_14_0)},
		Steps: []resource.TestStep{
			{
				Query: true,
				Config: s.provider() + `
list "graphdeploy_deployment" "all" {
  provider = graphdeploy
  limit    = 1000
}
list "graphdeploy_deployment" "other" {
  provider = graphdeploy
  config {
    name_contains = "other"
  }
}
list "graphdeploy_deployment" "ids" {
  provider = graphdeploy
  config {
    deployment_ids = ["` + id + `", "` + strings.ToUpper(id) + `"]
    tag_value_ids  = null
  }
}
list "graphdeploy_deployment" "none" {
  provider = graphdeploy
  config {
    tag_value_ids = []
  }
}`,
				QueryResultChecks: []querycheck.QueryResultCheck{
					querycheck.ExpectLength("graphdeploy_deployment.all", 121),
					querycheck.ExpectLength("graphdeploy_deployment.other", 1),
					querycheck.ExpectLength("graphdeploy_deployment.ids", 1),
					querycheck.ExpectLength("graphdeploy_deployment.none", 0),
					querycheck.ExpectIdentity("graphdeploy_deployment.other",
						map[string]knownvalue.Check{"id": knownvalue.StringExact(id)}),
				},
			},
		},
	})
}
