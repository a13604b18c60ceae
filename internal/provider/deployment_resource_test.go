package provider_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/hashicorp/terraform-plugin-testing/helper/resource"
	"github.com/hashicorp/terraform-plugin-testing/plancheck"
	"github.com/hashicorp/terraform-plugin-testing/terraform"

	"github.com/graphdeploy/terraform-provider-graphdeploy/internal/fakeserver"
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

// stored is the only deployment that the service has.
func (s *service) stored(t *testing.T) map[string]any {
	t.Helper()
	all := s.Deployments()
	if len(all) != 1 {
		t.Fatalf("the service has %d deployments, want 1", len(all))
	}
	return all[0]
}

// body is the body of the only create.
func (s *service) body(t *testing.T) map[string]any {
	t.Helper()
	var bodies []map[string]any
	for _, r := range s.Requests() {
		if r.Method == "POST" {
			var body map[string]any
			if err := json.Unmarshal(r.Body, &body); err != nil {
				t.Fatal(err)
			}
			bodies = append(bodies, body)
		}
	}
	if len(bodies) != 1 {
		t.Fatalf("%d creates were sent, want 1", len(bodies))
	}
	return bodies[0]
}

// managedBy is a label that a service adds.
var managedBy = map[string]any{"source_config.resource_spec.labels.managed-by": "service"}

// quirks are services that all implement the API, each in its own way.
var quirks = map[string]fakeserver.Options{
	"plain":             {},
	"201 newest first":  {CreateStatus: 201, NewestFirst: true, PathPrefix: "/deep/api", MaxPage: 1, RepeatLast: 0},
	"no defaults":       {Defaults: map[string]any{}},
	"null for empty":    {NullForEmpty: true, Defaults: map[string]any{}},
	"omits empty":       {OmitEmpty: true},
	"more fields":       {ExtraFields: true, ExtraSecrets: map[string]string{"SERVICE_KEY": "x"}, ServiceMembers: managedBy},
	"floats":            {IntegersAsFloats: true},
	"resolves refs":     {ResolveRefs: true, ReadyAfter: time.Nanosecond, ActiveAfter: time.Nanosecond},
	"masks secrets":     {Secrets: fakeserver.MaskSecrets},
	"masks at random":   {Secrets: fakeserver.MaskSecretsRandomly},
	"omits secrets":     {Secrets: fakeserver.OmitSecrets},
	"ignores id filter": {IgnoreIDFilter: true},
}

func TestAccEveryArgument_againstEveryService(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("testdata/everything.tf")
	if err != nil {
		t.Fatal(err)
	}
	for name, options := range quirks {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			options.DocumentedRulesOnly = true // every argument of every source, with any value
			s := newService(t, options)
			config := s.provider(`hosting = "self_hosted"`) + string(text) + `
output "everything" {
  value     = graphdeploy_deployment.this
  sensitive = true
}`
			check(t,
				resource.TestStep{Config: config, Check: everyArgumentIsSet},
				planIsEmpty(config),
				resource.TestStep{Config: config, ResourceName: this, ImportState: true, ImportStatePersist: false, ImportStateIdFunc: idOf(this)},
			)
			assertEverythingWasSent(t, s.body(t))
		})
	}
}

// everyArgumentIsSet keeps testdata/everything.tf complete.
func everyArgumentIsSet(state *terraform.State) error {
	set := state.RootModule().Resources[this].Primary.Attributes
	for _, name := range everyArgument {
		if !slices.ContainsFunc(slices.Collect(maps.Keys(set)), regexp.MustCompile(name).MatchString) {
			return fmt.Errorf("no attribute %s is set by testdata/everything.tf", name)
		}
	}
	return nil
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

func TestAccEverySource_requiredArgumentsAreEnough(t *testing.T) {
	t.Parallel()
	for _, source := range []string{"codehost", "external_docker", "internal_docker", "internal_source", "internal_template"} {
		t.Run(source, func(t *testing.T) {
			t.Parallel()
			s := newService(t, fakeserver.Options{ExtraFields: true, CreateStatus: 201, DocumentedRulesOnly: true})
			config := s.provider() + deployment("small", source)
			check(t,
				resource.TestStep{Config: config, Check: resource.ComposeAggregateTestCheckFunc(
					resource.TestCheckResourceAttr(this, "status", "READY"),
					resource.TestCheckResourceAttrSet(this, "id"),
					resource.TestCheckNoResourceAttr(this, "source_config.resource_spec.cpu"),
					resource.TestCheckNoResourceAttr(this, "secrets.%"),
				)},
				planIsEmpty(config),
				resource.TestStep{Config: config, ResourceName: this, ImportState: true, ImportStateIdFunc: idOf(this)},
			)
			body := s.body(t)
			want := map[string]any{"name": "small", "source": source, "source_config": map[string]any{}, "source_revision_config": map[string]any{}, "secrets": []any{}}
			if !jsonEqual(body, want) {
				t.Errorf("sent %v, want what is required only: %v", body, want)
			}
		})
	}
}

func TestAccImport_matchingConfigurationPlansEmpty(t *testing.T) {
	t.Parallel()
	everything, err := os.ReadFile("testdata/everything.tf")
	if err != nil {
		t.Fatal(err)
	}
	// What only Terraform has cannot be imported.
	everything = regexp.MustCompile(`(?m)^  (deletion_policy|wait_until|timeouts) .*$`).ReplaceAll(everything, nil)
	everything = regexp.MustCompile(`(?s)  secrets = \{.*?\n  \}`).ReplaceAll(everything, nil)
	for name, options := range quirks {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			options.DocumentedRulesOnly = true // every argument of every source, with any value
			s := newService(t, options)
			var id string
			makeOne := s.provider() + string(everything)
			kept := strings.Replace(makeOne, `source = "external_docker"`, `source = "external_docker"`+"\n  deletion_policy = \"abandon\"", 1)
			check(t, resource.TestStep{Config: kept, Check: func(state *terraform.State) (err error) {
				id, err = idOf(this)(state)
				return err
			}})
			action := plancheck.ResourceActionNoop
			if options.NullForEmpty || options.OmitEmpty {
				action = plancheck.ResourceActionUpdate // of the state only: the service does not report empty_dir = jsonencode({})
			}
			check(t, resource.TestStep{
				Config: makeOne + fmt.Sprintf("import {\n  to = %s\n  id = %q\n}\n", this, id),
				ConfigPlanChecks: resource.ConfigPlanChecks{PreApply: []plancheck.PlanCheck{
					plancheck.ExpectResourceAction(this, action),
				}},
			}, planIsEmpty(makeOne))
			if n := s.sent("POST", "/v2/deployments"); n != 1 {
				t.Errorf("%d creates were sent, want 1", n)
			}
		})
	}
}
