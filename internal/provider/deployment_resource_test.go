package provider_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/hashicorp/terraform-plugin-go/tfprotov6"
	"github.com/hashicorp/terraform-plugin-go/tftypes"
	"github.com/hashicorp/terraform-plugin-testing/helper/resource"
	"github.com/hashicorp/terraform-plugin-testing/plancheck"
	"github.com/hashicorp/terraform-plugin-testing/terraform"

	"github.com/graphdeploy/terraform-provider-graphdeploy/internal/fakeserver"
	"github.com/graphdeploy/terraform-provider-graphdeploy/internal/protocoltest"
)

const this = "graphdeploy_deployment.this"

// deployment is a resource block, with all of it in an output, so that a value that
// changes between an apply and the next plan makes that plan non-empty.
func deployment(name, source string, arguments ...string) string {
	return fmt.Sprintf(`
resource "graphdeploy_deployment" "this" {
  name   = %q
  source = %q
  %s
}
output "everything" {
  value     = graphdeploy_deployment.this
  sensitive = true
}
`, name, source, strings.Join(arguments, "\n"))
}

// managedBy is a label that a service adds.
var managedBy = map[string]any{"source_config.resource_spec.labels.managed-by": "service"}

// quirks are services that all implement the API, each in its own way.
var quirks = map[string]fakeserver.Options{
	"plain":            {},
	"201 newest first": {CreateStatus: 201, NewestFirst: true, PathPrefix: "/deep/api", MaxPage: 1, RepeatLast: 0},
	"no defaults":      {Defaults: map[string]any{}},
	"null for empty":   {NullForEmpty: true, Defaults: map[string]any{}},
	"omits empty":      {OmitEmpty: true},
	"more fields": {ExtraFields: true, ExtraSecrets: map[string]string{"SERVICE_KEY": "x"},
		ServiceMembers: managedBy},
	"floats":            {IntegersAsFloats: true},
	"resolves refs":     {ResolveRefs: true, ReadyAfter: time.Nanosecond, ActiveAfter: time.Nanosecond},
	"masks secrets":     {Secrets: fakeserver.MaskSecrets},
	"masks at random":   {Secrets: fakeserver.MaskSecretsRandomly},
	"omits secrets":     {Secrets: fakeserver.OmitSecrets},
	"ignores id filter": {IgnoreIDFilter: true},
}

// TestAccEveryArgument_applyImportAndPlanEmpty does with the real Terraform what
// TestEveryArgument_againstEveryService does with every service.
func TestAccEveryArgument_applyImportAndPlanEmpty(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("testdata/everything.tf")
	if err != nil {
		t.Fatal(err)
	}
	s := newService(t, fakeserver.Options{DocumentedRulesOnly: true}) // every argument of every source, with any value
	config := s.provider(`hosting = "self_hosted"`) + string(text) + `
output "everything" {
  value     = graphdeploy_deployment.this
  sensitive = true
}`
	check(t,
		resource.TestStep{Config: config},
		planIsEmpty(config),
		resource.TestStep{Config: config, ResourceName: this, ImportState: true, ImportStatePersist: false,
			ImportStateIdFunc: idOf(this)},
	)
	assertEverythingWasSent(t, s.body(t))
}

// TestEveryArgument_againstEveryService creates a deployment with every argument,
// imports it, and applies a configuration that matches: nothing is sent, and the
// next plans are empty.
func TestEveryArgument_againstEveryService(t *testing.T) {
	t.Parallel()
	for name, options := range quirks {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			options.DocumentedRulesOnly = true
			config := everything(t)
			s := newService(t, options)
			i := newInstance(t, nil)
			apply := func() {
				t.Helper()
				run := newRun(t, s, onlyDocumented)
				run.plans.ExpectNone(run.refresh(i))
				if planned := run.plan(i, config); len(planned.diagnostics) > 0 || !planned.isNoop(i) {
					run.plans.ExpectNone(planned.diagnostics)
					run.plans.ExpectNone(run.apply(i, planned))
				}
			}
			expectNoop := func() {
				t.Helper()
				run, before := newRun(t, s, onlyDocumented), i.state
				run.plans.ExpectNone(run.refresh(i))
				if planned := run.plan(i, config); len(planned.diagnostics) > 0 || !planned.isNoop(i) || !before.Equal(i.state) {
					t.Errorf("the plan proposes %s and reports %s; refreshed: %s", difference(i.state, planned.planned),
						planned.diagnostics, difference(before, i.state))
				}
			}
			apply()
			assertEverythingWasSent(t, s.body(t))
			expectNoop()

			r, diagnostics := newRun(t, s, onlyDocumented).plans.Import(typeName, s.stored(t)["id"].(string))
			if len(diagnostics) > 0 || r == nil {
				t.Fatalf("the import reports %s", diagnostics)
			}
			delete(config, "secrets") // is not imported
			i.set(r)
			if !options.NullForEmpty && !options.OmitEmpty { // they do not report empty_dir = jsonencode({})
				expectNoop()
			}
			apply()
			expectNoop()
			for _, r := range s.Requests() {
				if r.Method == http.MethodPatch {
					t.Errorf("sent %s", r.Body)
				}
			}
		})
	}
}

// everything has every argument: testdata/everything.json as an import reads it, with
// secrets.
func everything(t *testing.T) object {
	t.Helper()
	s := newService(t, fakeserver.Options{DocumentedRulesOnly: true})
	body, _ := readJSON(t, "testdata/everything.json").(map[string]any)
	secrets := object{}
	for _, one := range body["secrets"].([]any) {
		secrets[asMap(one)["name"].(string)] = asMap(one)["value"]
	}
	id := asMap(body["source_config"])["integration_id"]
	s.SeedDeployment(body)
	p := newProtocol(t, s)
	r, diagnostics := p.Import(typeName, "everything")
	p.ExpectNone(diagnostics)
	config, _ := configurable(p.schema.ResourceSchemas[typeName].Block.Attributes, p.Values(r)).(object)
	config["secrets"] = secrets
	config["source_config"].(object)["integration_id"] = id // in capitals
	return config
}

// configurable is a value without read-only attributes.
func configurable(attributes []*tfprotov6.SchemaAttribute, v any) any {
	switch v := v.(type) {
	case object:
		all := object{}
		for _, a := range attributes {
			switch value := v[a.Name]; {
			case value == nil, !a.Optional && !a.Required:
			case a.NestedType != nil:
				all[a.Name] = configurable(a.NestedType.Attributes, value)
			default:
				all[a.Name] = value
			}
		}
		return all
	case list:
		all := list{}
		for _, item := range v {
			all = append(all, configurable(attributes, item))
		}
		return all
	}
	return v
}

func assertEverythingWasSent(t *testing.T, body map[string]any) {
	t.Helper()
	want := readJSON(t, "testdata/everything.json")
	// A third is sent as the nearest 64-bit float.
	if !jsonEqual(want, body) {
		got, _ := json.MarshalIndent(body, "", "  ")
		t.Errorf("sent\n%s\nwhich is not testdata/everything.json", got)
	}
}

func readJSON(t *testing.T, file string) (tree any) {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(text, &tree); err != nil {
		t.Fatal(err)
	}
	return tree
}

func jsonEqual(a, b any) bool {
	textA, errA := json.Marshal(a)
	textB, errB := json.Marshal(b)
	return errA == nil && errB == nil && string(textA) == string(textB)
}

func idOf(address string) resource.ImportStateIdFunc {
	return func(state *terraform.State) (string, error) {
		return state.RootModule().Resources[address].Primary.ID, nil
	}
}

func TestEverySource_requiredArgumentsAreEnough(t *testing.T) {
	t.Parallel()
	for _, source := range []string{"codehost", "external_docker", "internal_docker", "internal_source",
		"internal_template"} {
		t.Run(source, func(t *testing.T) {
			t.Parallel()
			config := `{"source": "` + source + `"}`
			m := create(t, fakeserver.Options{ExtraFields: true, CreateStatus: 201, DocumentedRulesOnly: true}, config)
			m.expectNoop(allOperations, config)
			body := m.s.body(t)
			want := map[string]any{"name": "app", "source": source, "source_config": map[string]any{},
				"source_revision_config": map[string]any{}, "secrets": []any{}}
			if !jsonEqual(body, want) {
				t.Errorf("sent %v, want what is required only: %v", body, want)
			}
			m = imported(t, m.s, "app")
			m.expectNoop(allOperations, config)
		})
	}
}

// TestAccImport_matchingConfigurationPlansEmpty does with the real Terraform what
// TestEveryArgument_againstEveryService does with every service.
func TestAccImport_matchingConfigurationPlansEmpty(t *testing.T) {
	t.Parallel()
	everything, err := os.ReadFile("testdata/everything.tf")
	if err != nil {
		t.Fatal(err)
	}
	// What only Terraform has cannot be imported.
	everything = regexp.MustCompile(`(?m)^  (deletion_policy|wait_until|timeouts) .*$`).ReplaceAll(everything, nil)
	everything = regexp.MustCompile(`(?s)  secrets = \{.*?\n  \}`).ReplaceAll(everything, nil)
	s := newService(t, fakeserver.Options{DocumentedRulesOnly: true})
	body, _ := readJSON(t, "testdata/everything.json").(map[string]any)
	id := s.SeedDeployment(body)
	config := s.provider() + string(everything)
	check(t, resource.TestStep{
		Config: config + fmt.Sprintf("import {\n  to = %s\n  id = %q\n}\n", this, id),
		ConfigPlanChecks: resource.ConfigPlanChecks{PreApply: []plancheck.PlanCheck{
			plancheck.ExpectResourceAction(this, plancheck.ResourceActionNoop),
		}},
	}, planIsEmpty(config))
}

func TestRead_canceledReadKeepsTheState(t *testing.T) {
	t.Parallel()
	s := newService(t, fakeserver.Options{})
	id := s.SeedDeployment(map[string]any{"name": "app"})
	p := newProtocol(t, s)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	read, err := p.server.ReadResource(ctx,
		&tfprotov6.ReadResourceRequest{TypeName: typeName, CurrentIdentity: p.identity(id),
			CurrentState: p.value(p.deploymentType(), map[string]tftypes.Value{"id": tftypes.NewValue(tftypes.String, id),
				"name": tftypes.NewValue(tftypes.String, "app")})})
	if err != nil {
		t.Fatal(err)
	}
	protocoltest.Expect(t, read.Diagnostics, protocoltest.Error(`Cannot read deployment "app" (`+id+`)`, "",
		"Interrupted"))
	if state := p.attributes(p.deploymentType(), read.NewState); textOf(t, state["id"]) != id {
		t.Error("the deployment is no longer in the state")
	}
}
