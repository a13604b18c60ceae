package provider_test

import (
	"regexp"
	"testing"

	"github.com/hashicorp/terraform-plugin-testing/helper/resource"

	"github.com/graphdeploy/terraform-provider-graphdeploy/internal/fakeserver"
)

// Each mistake is told at its attribute, before anything is sent.
func TestAccMistakesAreToldAtPlan(t *testing.T) {
	t.Parallel()
	const name = `name = "app"`
	for mistake, c := range map[string]struct{ settings, arguments, want string }{
		"no name":                      {"", `source = "codehost"`, `The argument "name" is required`},
		"empty name":                   {"", `name = ""` + "\n" + `source = "codehost"`, `Empty value`},
		"unknown source":               {"", name + "\n" + `source = "ftp"`, `(?s)source is "ftp"\. It can be one of: codehost`},
		"bad UUID":                     {"", name + "\n" + `source = "codehost"` + "\n" + `source_config = { integration_id = "42" }`, `(?s)Not a UUID.*source_config\.integration_id is "42"`},
		"bad listener UUID":            {"", name + "\n" + `source = "codehost"` + "\n" + `source_config = { listener_id = "{aaaaaaaa-bbbb-4ccc-8ddd-eeeeeeeeeeee}" }`, `Not a UUID`},
		"references of another source": {"", name + "\n" + `source = "codehost"` + "\n" + `secret_references = [{ name = "A" }]`, `Secret references do not go with this source`},
		"cloud source, self-hosted":    {`hosting = "self_hosted"`, name + "\n" + `source = "internal_source"`, `Source not available here`},
		"self-hosted source, cloud":    {`hosting = "cloud"`, name + "\n" + `source = "external_docker"`, `Source not available here`},
		"malformed JSON":               {"", name + "\n" + `source = "external_docker"` + "\n" + `source_config = { resource_spec = { volumes = [{ config_map = "{" }] } }`, `(?s)Not JSON.*source_config\.resource_spec\.volumes\[0\]\.config_map`},
		"JSON that is no object":       {"", name + "\n" + `source = "external_docker"` + "\n" + `source_config = { resource_spec = { sidecars = [{ security_context = jsonencode([1]) }] } }`, `Not a JSON object`},
		"JSON in a list, no object":    {"", name + "\n" + `source = "external_docker"` + "\n" + `source_config = { resource_spec = { sidecars = [{ env_from = [jsonencode("x")] }] } }`, `Not a JSON object`},
		"malformed JSON in a list":     {"", name + "\n" + `source = "external_docker"` + "\n" + `source_config = { resource_spec = { sidecars = [{ env_from = ["{"] }] } }`, `(?s)Not JSON.*sidecars\[0\]\.env_from\[0\]`},
		"fraction of a megabyte":       {"", name + "\n" + `source = "codehost"` + "\n" + `source_config = { resource_spec = { memory_mb = 1.5 } }`, `(?s)Not a whole number.*source_config\.resource_spec\.memory_mb[\s│]+is[\s│]+1\.5`},
		"text for a number":            {"", name + "\n" + `source = "codehost"` + "\n" + `source_config = { resource_spec = { cpu = "much" } }`, `a number is required`},
		"read-only argument":           {"", name + "\n" + `source = "codehost"` + "\n" + `source_revision_config = { repo_commit_sha = "x" }`, `(?s)repo_commit_sha.*(read-only|decided automatically)|Invalid Configuration for Read-Only Attribute`},
		"null label":                   {"", name + "\n" + `source = "codehost"` + "\n" + `source_config = { resource_spec = { labels = { a = null } } }`, `(?s)Null value.*labels\["a"\]`},
		"null volume":                  {"", name + "\n" + `source = "codehost"` + "\n" + `source_config = { resource_spec = { volumes = [null] } }`, `(?s)Null value.*volumes\[0\]`},
		"null secret":                  {"", name + "\n" + `source = "codehost"` + "\n" + `secrets = { A = null }`, `(?s)Null value.*secrets\["A"\]`},
		"secret without a name":        {"", name + "\n" + `source = "codehost"` + "\n" + `secrets = { "" = "x" }`, `Empty name`},
		"both kinds of secrets":        {"", name + "\n" + `source = "codehost"` + "\n" + `secrets = { A = "x" }` + "\n" + `secrets_wo = { A = "x" }`, `Both secrets and secrets_wo`},
		"version without secrets":      {"", name + "\n" + `source = "codehost"` + "\n" + `secrets_wo_version = 1`, `No secrets_wo`},
		"unknown wait":                 {"", name + "\n" + `source = "codehost"` + "\n" + `wait_until = "never"`, `wait_until is "never"`},
		"unknown deletion policy":      {"", name + "\n" + `source = "codehost"` + "\n" + `deletion_policy = "keep"`, `deletion_policy is "keep"`},
		"deletion that cannot be":      {"", name + "\n" + `source = "codehost"` + "\n" + `deletion_policy = "delete"`, `Deployments cannot be deleted`},
		"bad timeout":                  {"", name + "\n" + `source = "codehost"` + "\n" + `timeouts = { create = "soon" }`, `(?s)Not a duration.*timeouts\.create is "soon"`},
	} {
		t.Run(mistake, func(t *testing.T) {
			t.Parallel()
			s := newService(t, fakeserver.Options{})
			check(t, resource.TestStep{
				Config:      s.provider(c.settings) + "resource \"graphdeploy_deployment\" \"this\" {\n" + c.arguments + "\n}",
				PlanOnly:    true,
				ExpectError: regexp.MustCompile(c.want),
			})
			if n := len(s.Requests()); n != 0 {
				t.Errorf("%d requests were sent, want none", n)
			}
		})
	}
}

// What the service refuses is told at the attribute that it names.
func TestAccRefusalIsToldAtTheAttribute(t *testing.T) {
	t.Parallel()
	for loc, want := range map[string]string{
		`["body","source_config","resource_spec","sidecars",0,"imagePullPolicy"]`: `refuses[\s│]+source_config\.resource_spec\.sidecars\[0\]\.image_pull_policy:[\s│]+must be nicer`,
		`["body","name"]`:               `refuses name: must be nicer`,
		`["body","secrets",1,"value"]`:  `refuses secrets\["B"\]: must be nicer`,
		`["body","nowhere","to","see"]`: `(?s)body\.nowhere\.to\.see: must be nicer`,
	} {
		t.Run(loc, func(t *testing.T) {
			t.Parallel()
			s := newService(t, fakeserver.Options{})
			s.Fail(fakeserver.CreateDeployment, 1, fakeserver.Fault{Status: 422, Body: `{"detail": [{"loc": ` + loc + `, "msg": "must be nicer", "type": "value_error"}]}`})
			check(t, resource.TestStep{
				Config: s.provider() + deployment("app", "external_docker", `
  source_config = { resource_spec = { sidecars = [{ name = "p", image_pull_policy = "Sometimes" }] } }
  secrets       = { A = "one", B = "two" }`),
				ExpectError: regexp.MustCompile(`(?s)Cannot create deployment "app".*` + want),
			})
		})
	}
}
