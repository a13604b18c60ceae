//go:build unix

package provider_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hashicorp/terraform-plugin-go/tfprotov6"
	"github.com/hashicorp/terraform-plugin-go/tftypes"
	"github.com/hashicorp/terraform-plugin-testing/helper/resource"
	"github.com/hashicorp/terraform-plugin-testing/knownvalue"
	"github.com/hashicorp/terraform-plugin-testing/querycheck"
	"github.com/hashicorp/terraform-plugin-testing/tfversion"

	"github.com/graphdeploy/terraform-provider-graphdeploy/internal/fakeserver"
	"github.com/graphdeploy/terraform-provider-graphdeploy/internal/protocoltest"
)

func TestListResource_filters(t *testing.T) {
	t.Parallel()
	s := newService(t, fakeserver.Options{ExtraFields: true})
	var ids []string
	for i := range 250 {
		ids = append(ids,
			s.SeedDeployment(map[string]any{"name": fmt.Sprintf("app-%03d", i), "image_version": fmt.Sprint(i % 2),
				"secrets": []any{map[string]any{"name": "KEY", "value": "planted"}}}))
	}
	p := newProtocol(t, s)
	text := func(v string) tftypes.Value { return tftypes.NewValue(tftypes.String, v) }
	for name, c := range map[string]struct {
		config map[string]tftypes.Value
		limit  int64
		want   int
	}{
		"all":               {nil, 0, 250},
		"a limit":           {nil, 7, 7},
		"a limit of pages":  {nil, 150, 150},
		"by name":           {map[string]tftypes.Value{"name_contains": text("app-00")}, 0, 10},
		"by image version":  {map[string]tftypes.Value{"image_version": text("1")}, 0, 125},
		"by status":         {map[string]tftypes.Value{"status": text("UNUSED")}, 0, 0},
		"by reconciliation": {map[string]tftypes.Value{"remote_reconciled": tftypes.NewValue(tftypes.Bool, true)}, 0, 0},
		"by type":           {map[string]tftypes.Value{"deployment_type": text("prod")}, 0, 0},
		"by tags":           {map[string]tftypes.Value{"tag_value_ids": textSet("a", "b")}, 0, 0},
		"by ids":            {map[string]tftypes.Value{"deployment_ids": textSet(ids[:120]...)}, 0, 120},
		"by no ids":         {map[string]tftypes.Value{"deployment_ids": textSet()}, 0, 0},
		"by no tags":        {map[string]tftypes.Value{"tag_value_ids": textSet()}, 0, 0},
	} {
		t.Run(name, func(t *testing.T) {
			results := p.list(-1, c.limit, false, c.config)
			if len(results) != c.want {
				t.Fatalf("%d results, want %d", len(results), c.want)
			}
			for _, r := range results {
				p.ExpectNone(r.Diagnostics)
			}
		})
	}
	t.Run("with the resource", func(t *testing.T) {
		for i, r := range p.list(-1, 2, true, nil) {
			if want := fmt.Sprintf("app-%03d", i); r.DisplayName != want {
				t.Errorf("display name is %q, want %q", r.DisplayName, want)
			}
			if got := textOf(t, p.attributes(p.identityType(), r.Identity.IdentityData)["id"]); got != ids[i] {
				t.Errorf("identity is %q, want %q", got, ids[i])
			}
			state := p.attributes(p.deploymentType(), r.Resource)
			if got := textOf(t, state["image_version"]); got != fmt.Sprint(i%2) {
				t.Errorf("image_version is %q", got)
			}
			if !state["secrets"].IsNull() {
				t.Error("secrets are in the resource")
			}
		}
	})
	t.Run("page by page", func(t *testing.T) {
		s.ResetRequests()
		p.list(1, 0, false, nil)
		if n := len(s.Requests()); n != 1 {
			t.Errorf("%d requests for the first result, want 1", n)
		}
	})
	t.Run("invalid filters", func(t *testing.T) {
		for _, config := range []map[string]tftypes.Value{{"deployment_ids": textSet("x")},
			{"deployment_type": text("staging")},
			{"tag_value_ids": textSet("")}, {"tag_value_ids": textSet("a,b")},
			{"deployment_ids": tftypes.NewValue(tftypes.Set{ElementType: tftypes.String},
				[]tftypes.Value{tftypes.NewValue(tftypes.String, nil)})}} {
			if results := p.list(-1, 0, false, config); len(results) != 1 || len(results[0].Diagnostics) == 0 {
				t.Errorf("%v gives %v, want a diagnostic", config, results)
			}
		}
	})
	t.Run("rejected credential", func(t *testing.T) {
		s.Fail(fakeserver.ListDeployments, -1, fakeserver.Fault{Status: 403})
		results := p.list(-1, 0, false, nil)
		if len(results) != 1 {
			t.Fatalf("%d results, want 1", len(results))
		}
		protocoltest.Expect(t, results[0].Diagnostics, protocoltest.Error("Cannot list deployments", "", "403 Forbidden",
			"api_key"))
	})
}

// A listed deployment is as an import reads it, so that the configuration
// generated from it plans empty.
func TestListResource_resultIsAsImported(t *testing.T) {
	t.Parallel()
	for name, options := range map[string]fakeserver.Options{"empty": {}, "null": {NullForEmpty: true},
		"omitted": {OmitEmpty: true}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newService(t, options)
			id := s.SeedDeployment(map[string]any{"name": "app", "secret_references": []any{},
				"source_config": map[string]any{"custom_url": "",
					"resource_spec": map[string]any{"volumes": []any{}, "labels": map[string]any{},
						"sidecars": []any{map[string]any{"name": "s", "command": []any{}, "image": ""}}}}})
			p := newProtocol(t, s)
			imported, err := p.server.ImportResourceState(t.Context(),
				&tfprotov6.ImportResourceStateRequest{TypeName: typeName, ID: id})
			if err != nil {
				t.Fatal(err)
			}
			one := imported.ImportedResources[0]
			read, err := p.server.ReadResource(t.Context(),
				&tfprotov6.ReadResourceRequest{TypeName: typeName, CurrentState: one.State, Private: one.Private,
					CurrentIdentity: one.Identity})
			if err != nil {
				t.Fatal(err)
			}
			p.ExpectNone(read.Diagnostics)
			want := p.attributes(p.deploymentType(), read.NewState)
			listed := p.attributes(p.deploymentType(), p.list(-1, 0, true, nil)[0].Resource)
			for attribute, value := range want {
				if got := listed[attribute]; !got.Equal(value) {
					t.Errorf("%s is listed as %s, and imported as %s", attribute, got, value)
				}
			}
		})
	}
}

// An empty list would destroy everything that is created for its items.
func TestListResource_unknownSettingsAreAnError(t *testing.T) {
	t.Parallel()
	p := unconfigured(t)
	p.ExpectNone(p.Configure(object{"base_url": protocoltest.Unknown}))
	results := p.list(-1, 0, false, nil)
	if len(results) != 1 {
		t.Fatalf("%d results, want 1", len(results))
	}
	protocoltest.Expect(t, results[0].Diagnostics, protocoltest.Error("Provider configuration is unknown", "",
		"Listing deployments", "base_url"))
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

func TestAccQuery_generatedConfigurationPlansEmpty(t *testing.T) {
	if is := terraformIs(t); is.tofu || !is.since(1, 14) {
		t.Skipf("terraform query is in Terraform 1.14 and newer; this is %s", is)
	}
	testGenerated(t, "from a query", func(w *workspace, s *service, _ []string) {
		w.configure(s.provider())
		w.must(os.WriteFile(filepath.Join(w.dir, "existing.tfquery.hcl"),
			[]byte("list \"graphdeploy_deployment\" \"existing\" {\n  provider = graphdeploy\n}\n"), 0o600))
		w.succeed("query", "-generate-config-out=generated.tf")
	})
}
