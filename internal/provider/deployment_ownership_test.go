package provider_test

import (
	"fmt"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/hashicorp/terraform-plugin-testing/helper/resource"
	"github.com/hashicorp/terraform-plugin-testing/plancheck"

	"github.com/graphdeploy/terraform-provider-graphdeploy/internal/fakeserver"
)

// at walks a deployment's tree of members to the object that holds the last
// one of a dotted path.
func at(d map[string]any, dotted string) (map[string]any, string) {
	steps := strings.Split(dotted, ".")
	for _, step := range steps[:len(steps)-1] {
		next, _ := d[step].(map[string]any)
		if next == nil {
			next = map[string]any{}
			d[step] = next
		}
		d = next
	}
	return d, steps[len(steps)-1]
}

// edit sets a value in the service behind Terraform's back.
func (s *service) edit(t *testing.T, dotted string, value any) func() {
	return func() {
		t.Helper()
		id := s.stored(t)["id"].(string)
		s.Edit(id, func(d map[string]any) {
			object, name := at(d, dotted)
			object[name] = value
		})
	}
}

// Whatever the service does with what the configuration omits, no plan proposes
// to change it.
func TestAccOmittedArguments_changeInServiceIsNotDrift(t *testing.T) {
	t.Parallel()
	s := newService(t, fakeserver.Options{})
	config := s.provider() + `
resource "graphdeploy_deployment" "this" {
  name          = "app"
  source        = "external_docker"
  source_config = {
    resource_spec = {
      cpu      = 0.5
      labels   = { team = "web" }
      volumes  = [{ name = "v", config_map = jsonencode({ name = "settings" }) }]
      sidecars = [{ name = "proxy", image = "envoy:1" }]
    }
  }
}`
	changed := map[string]any{
		"source_config.resource_spec.max_scale":  7,
		"source_config.custom_url":               "https://elsewhere.example.com",
		"source_config.build_on_push":            true,
		"source_revision_config.image_uri":       "registry.example.com/app:9",
		"status":                                 "SOMETHING_NEW",
		"image_version":                          "9",
		"source_config.resource_spec.labels":     map[string]any{"team": "web", "added": "there"},
		"source_config.resource_spec.volumes":    []any{map[string]any{"name": "v", "configMap": map[string]any{"name": "settings", "defaultMode": 420}}},
		"source_config.resource_spec.sidecars":   []any{map[string]any{"name": "proxy", "image": "envoy:1", "imagePullPolicy": "Never"}},
		"source_config.resource_spec.db_cpu":     2.5,
		"secrets":                                []any{map[string]any{"name": "SERVICE", "value": "own"}},
		"source_config.listener_config":          map[string]any{"k8s_namespace": "there"},
		"source_config.resource_spec.brand_new":  map[string]any{"unknown": true},
		"secret_references":                      []any{map[string]any{"name": "X"}},
		"source_config.resource_spec.annotation": nil,
	}
	step := planIsEmpty(config)
	step.PreConfig = func() {
		for member, value := range changed {
			s.edit(t, member, value)()
		}
	}
	check(t, resource.TestStep{Config: config}, step)
	if n := len(s.patches(t)); n != 0 {
		t.Errorf("%d updates were sent, want none", n)
	}
}

// Name and source cannot change. A difference is planned as a replacement; one
// that would leave the name taken is rejected.
func TestAccImmutable_driftIsReplacement(t *testing.T) {
	t.Parallel()
	s := newService(t, fakeserver.Options{})
	config := s.provider() + deployment("app", "external_docker", `deletion_policy = "abandon"`)
	replaced := resource.ConfigPlanChecks{PreApply: []plancheck.PlanCheck{plancheck.ExpectResourceAction(this, plancheck.ResourceActionReplace)}}
	check(t,
		resource.TestStep{Config: config},
		resource.TestStep{PreConfig: s.edit(t, "source", "internal_docker"), Config: config,
			ExpectError: regexp.MustCompile(`Replacement needs a new name`)},
		resource.TestStep{PreConfig: func() { s.edit(t, "source", "external_docker")(); s.edit(t, "name", "renamed")() }, Config: config, ConfigPlanChecks: replaced},
	)
	if n := len(s.Deployments()); n != 2 {
		t.Errorf("the service has %d deployments, want both", n)
	}
}

// flexible matches text that Terraform has broken into lines.
func flexible(text string) string {
	return strings.ReplaceAll(regexp.QuoteMeta(text), " ", `[\s│]+`)
}

// assertDocumentedOperationsOnly fails on any request that the API does not document.
func assertDocumentedOperationsOnly(t *testing.T, s *service) {
	t.Helper()
	documented := regexp.MustCompile(`^(POST|GET) \S*/v2/deployments$|^GET \S*/v1/integrations/forge/codehost/[^/]+/repos$|^GET \S*/v2/auth/providers$`)
	for _, r := range s.Requests() {
		if !documented.MatchString(r.Method + " " + r.Path) {
			t.Errorf("sent %s %s, which the API does not document", r.Method, r.Path)
		}
	}
}

func TestAccCodehost_builtImageAndResolvedRefAreNotDrift(t *testing.T) {
	t.Parallel()
	s := newService(t, fakeserver.Options{ResolveRefs: true})
	config := s.provider() + deployment("app", "codehost", `
  source_config          = { repo_url = "https://codehost.example/acme/app" }
  source_revision_config = {
    repo_ref          = "main"
    graph_config_path = "graph.json"
  }`)
	withoutOutput, _, _ := strings.Cut(config, "output ") // it would show the new image
	revised := planIsEmpty(withoutOutput)
	revised.PreConfig = func() { s.NewRevision(s.stored(t)["id"].(string)) }
	rejected := strings.Replace(withoutOutput, s.provider(), s.provider(documentedOnly), 1)
	check(t,
		resource.TestStep{Config: config, Check: resource.ComposeAggregateTestCheckFunc(
			resource.TestMatchResourceAttr(this, "source_revision_config.image_uri", regexp.MustCompile(".")),
			resource.TestMatchResourceAttr(this, "source_revision_config.repo_commit_sha", regexp.MustCompile("^[0-9a-f]{40}$")),
			resource.TestCheckResourceAttr(this, "source_revision_config.repo_ref", "main"),
		)},
		planIsEmpty(config),
		resource.TestStep{Config: withoutOutput},
		revised,
		resource.TestStep{Config: strings.Replace(rejected, `"main"`, `"develop"`, 1), ExpectError: regexp.MustCompile(`source_revision_config\.repo_ref: "[0-9a-f]{40}" in`)},
		resource.TestStep{Config: withoutOutput},
	)
}

// A service may report null, nothing or its defaults in place of what is empty or
// omitted.
func TestOwnership_emptyNullAndAbsentAreEqual(t *testing.T) {
	t.Parallel()
	for name, options := range map[string]fakeserver.Options{
		"responds null": {NullForEmpty: true, Defaults: map[string]any{}}, "omits": {OmitEmpty: true, Defaults: map[string]any{}}, "fills in": {},
	} {
		for written, text := range map[string]string{
			"empty": `{"source_config": {"custom_url": "", "resource_spec": {"labels": {}, "volumes": [], "sidecars": [{"name": "s", "command": [], "resources": {}, "security_context": "{}"}]}},
				"source_revision_config": {}, "secrets": {}, "secret_references": []}`,
			"absent": `{}`,
			"null":   `{"source_config": {"custom_url": null, "resource_spec": {"labels": null, "volumes": null}}, "source_revision_config": null, "secrets": null, "secret_references": null}`,
		} {
			t.Run(name+", configured "+written, func(t *testing.T) {
				t.Parallel()
				m := create(t, options, text)
				m.expectNoop(onlyDocumented, text)
				m.expectNoop(allOperations, text)
			})
		}
	}
}

// A value that differs already when the deployment is created cannot be in the state,
// which has what was planned: a warning reports it, and the next plan shows the drift.
func TestCreate_otherValueIsReported(t *testing.T) {
	t.Parallel()
	s := newService(t, fakeserver.Options{ReadyAfter: time.Nanosecond})
	i := newInstance(t, nil)
	m := managed{t, s, i}
	const config = `{"source_config": {"resource_spec": {"cpu": 0.1}}}`
	run := newRun(t, s, allOperations)
	planned := run.plan(i, arguments(t, config))
	s.Fail(fakeserver.CreateDeployment, 1, fakeserver.Fault{AfterWork: true, Reached: func() { s.edit(t, "source_config.resource_spec.cpu", 1)() }})
	got := messages(run.apply(i, planned))
	if !strings.HasPrefix(got, "Service reports other values: ") || !strings.Contains(got, "source_config.resource_spec.cpu: 1 in the service, 0.1 in the configuration") {
		t.Errorf("the create reports %q", got)
	}
	if got := m.apply(onlyDocumented, config, "Deployment cannot be updated: "); fmt.Sprint(bullets(got)) != "[source_config.resource_spec.cpu: 1 in the service, 0.1 in the configuration]" {
		t.Errorf("the next plan reports %q", got)
	}
	m.apply(allOperations, config, "")
	m.expectNoop(allOperations, config)
}

func TestAccDeployment_deletedInServiceIsCreatedAgain(t *testing.T) {
	t.Parallel()
	s := newService(t, fakeserver.Options{})
	config := s.provider() + deployment("app", "internal_docker")
	check(t,
		resource.TestStep{Config: config},
		resource.TestStep{PreConfig: func() { s.Remove(s.stored(t)["id"].(string)) }, Config: config,
			ConfigPlanChecks: resource.ConfigPlanChecks{PreApply: []plancheck.PlanCheck{plancheck.ExpectResourceAction(this, plancheck.ResourceActionCreate)}}},
		planIsEmpty(config),
	)
}

func TestAccNumbersAndIDs_keepTheirForm(t *testing.T) {
	t.Parallel()
	s := newService(t, fakeserver.Options{IntegersAsFloats: true})
	config := func(id string, cpu string) string {
		return s.provider() + deployment("app", "codehost", fmt.Sprintf(`source_config = {
    integration_id = %q
    resource_spec  = { cpu = %s, memory_mb = 2048, volumes = [{ name = "v", secret = %q }] }
  }
  source_revision_config = { graph_config_path = "graph.json" }`, id, cpu, `{ "b": 1.0,  "a": [2] }`))
	}
	upper := config("ABCDEFAB-0000-4000-8000-000000000000", "0.10")
	check(t,
		resource.TestStep{Config: upper, Check: resource.ComposeAggregateTestCheckFunc(
			resource.TestCheckResourceAttr(this, "source_config.integration_id", "ABCDEFAB-0000-4000-8000-000000000000"),
			resource.TestCheckResourceAttr(this, "source_config.resource_spec.memory_mb", "2048"),
		)},
		planIsEmpty(upper),
		planIsEmpty(config("abcdefab-0000-4000-8000-000000000000", "1 / 10")),
	)
}
