package provider_test

import (
	"strings"
	"testing"

	"github.com/hashicorp/terraform-plugin-testing/helper/resource"
	"github.com/hashicorp/terraform-plugin-testing/tfversion"

	"github.com/graphdeploy/terraform-provider-graphdeploy/internal/fakeserver"
)

func TestAccMoved_planIsEmpty(t *testing.T) {
	t.Parallel()
	s := newService(t, fakeserver.Options{})
	before, _, _ := strings.Cut(s.provider()+deployment("app", "internal_docker"), "output ")
	after := strings.ReplaceAll(before, `"this"`, `"that"`) + "moved {\n  from = " + this +
		"\n  to = graphdeploy_deployment.that\n}"
	check(t, resource.TestStep{Config: before}, planIsEmpty(after))
}

func TestAccRemoved_keepsTheDeployment(t *testing.T) {
	t.Parallel()
	s := newService(t, fakeserver.Options{})
	resource.UnitTest(t, resource.TestCase{
		ProtoV6ProviderFactories: factories(),
		// Terraform 1.7 has such a block, OpenTofu 1.10 one with a lifecycle.
		TerraformVersionChecks: []tfversion.TerraformVersionCheck{tfversion.SkipBelow(tfversion.Version1_10_0)},
		Steps: []resource.TestStep{
			{Config: s.provider() + deployment("app", "internal_docker")},
			{Config: s.provider() + "removed {\n  from = " + this + "\n  lifecycle {\n    destroy = false\n  }\n}"},
		},
	})
	s.stored(t)
}
