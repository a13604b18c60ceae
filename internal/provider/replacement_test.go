//go:build unix

package provider_test

import (
	"fmt"
	"net/http"
	"regexp"
	"strings"
	"testing"

	"github.com/hashicorp/terraform-plugin-testing/helper/resource"

	"github.com/graphdeploy/terraform-provider-graphdeploy/internal/fakeserver"
)

// resourceBlock is deployment without its output, which changes with any attribute.
func resourceBlock(name, source string, arguments ...string) string {
	config, _, _ := strings.Cut(deployment(name, source, arguments...), "output ")
	return config
}

// Terraform shows the provider a replacement that the configuration is not the
// reason of as a create. The old deployment is deleted before.
func TestAccReplacement_underTheSameName(t *testing.T) {
	built := buildProvider(t)
	t.Parallel()
	s, w := newService(t, fakeserver.Options{}), newWorkspace(t, built)
	w.configure(s.provider(), resourceBlock("app", "internal_docker"))
	w.succeed("apply", "-auto-approve")
	id := s.stored(t)["id"]
	replaced := func(what string) {
		t.Helper()
		if now := s.stored(t)["id"]; now == id {
			t.Errorf("%s: the deployment was not replaced", what)
		} else {
			id = now
		}
		assertOneDeployment(t, w, s)
		w.succeed("plan", "-detailed-exitcode")
	}
	w.succeed("apply", "-auto-approve", "-replace="+this)
	replaced("-replace")
	w.succeed("apply", "-auto-approve", "-replace="+this, "-refresh=false")
	replaced("-replace without refresh")
	w.succeed("taint", this)
	w.succeed("apply", "-auto-approve")
	replaced("tainted")
	w.configure(s.provider(), resourceBlock("app", "internal_template"))
	w.succeed("apply", "-auto-approve")
	replaced("another source")
}

// Nothing is deleted for a create that would fail.
func TestAccReplacement_nameOfAnotherDeployment(t *testing.T) {
	built := buildProvider(t)
	t.Parallel()
	s, w := newService(t, fakeserver.Options{}), newWorkspace(t, built)
	w.configure(s.provider(), resourceBlock("app", "internal_docker"))
	w.succeed("apply", "-auto-approve")
	s.SeedDeployment(map[string]any{"name": "taken"})

	w.configure(s.provider(), resourceBlock("taken", "internal_docker"))
	w.refuse(`Deployment name already taken .*Replacing deployment "app"`, "plan")
	w.configure(s.provider(), resourceBlock("other", "internal_docker"))
	w.succeed("plan", "-out=planned")
	s.SeedDeployment(map[string]any{"name": "other"})
	w.refuse(`Deployment name already taken .*Replacing deployment "app"`, "apply", "planned")

	if n := s.sent(http.MethodDelete, ""); n != 0 || len(s.Deployments()) != 3 {
		t.Errorf("%d deletions were sent, want none; the service has %d deployments", n, len(s.Deployments()))
	}
	w.configure(s.provider(), resourceBlock("app", "internal_docker"))
	w.succeed("plan", "-detailed-exitcode")
}

// The policy in the state counts, also when the configuration no longer has the
// deployment.
func TestAccDeletionPolicy(t *testing.T) {
	built := buildProvider(t)
	t.Parallel()
	s, w := newService(t, fakeserver.Options{}), newWorkspace(t, built)
	policy := func(value string) string {
		return resourceBlock("app", "internal_docker", `deletion_policy = "`+value+`"`)
	}

	w.configure(s.provider(), policy("prevent"))
	w.succeed("apply", "-auto-approve")
	w.refuse(`Destroying is prevented .*deletion_policy = "prevent"`, "destroy", "-auto-approve")
	w.refuse(`Destroying is prevented`, "plan", "-replace="+this)
	w.configure(s.provider(), resourceBlock("other", "internal_docker"))
	w.refuse(`Destroying is prevented`, "plan")
	w.configure(s.provider())
	w.refuse(`Destroying is prevented`, "apply", "-auto-approve")

	w.configure(s.provider(), policy("abandon"))
	w.succeed("apply", "-auto-approve")
	w.refuse(`Replacement needs a new name`, "plan", "-replace="+this)
	w.configure(s.provider())
	out := unwrapped(w.succeed("plan", "-out=planned"))
	if n := strings.Count(out, `Warning: Deployment keeps running Destroying removes deployment "app" (`); n != 1 {
		t.Errorf("%d warnings at plan, want 1:\n%s", n, out)
	}
	out = unwrapped(w.succeed("apply", "planned"))
	if n := strings.Count(out, `Warning: Deployment keeps running Destroying removes deployment "app" (`); n != 1 {
		t.Errorf("%d warnings at apply, want 1:\n%s", n, out)
	}
	s.stored(t)
	assertDocumentedOperationsOnly(t, s)
	if managed := w.managed(); len(managed) != 0 {
		t.Errorf("the state has %v", managed)
	}
}

// Whatever is done, only documented operations are used. What concerns only the
// state goes through.
func TestAccDocumentedOperationsOnly(t *testing.T) {
	built := buildProvider(t)
	t.Parallel()
	for name, c := range map[string]struct{ settings, environment []string }{
		"by configuration": {settings: []string{documentedOnly}},
		"by environment":   {environment: []string{"GRAPHDEPLOY_DOCUMENTED_OPERATIONS_ONLY=true"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, w := newService(t, fakeserver.Options{Documented: true}), newWorkspace(t, built, c.environment...)
			provider := s.provider(c.settings...)
			const command = `source_config = { build_command = "make" }`
			w.configure(provider, resourceBlock("app", "internal_docker", command))
			w.succeed("apply", "-auto-approve")
			w.succeed("plan", "-detailed-exitcode")
			w.refuse("Deployment cannot be deleted .*deletion_policy = \"abandon\".*removed block .*terraform state "+
				"rm.*-refresh=false", "destroy", "-auto-approve")
			w.refuse("Deployment cannot be deleted", "plan", "-replace="+this)

			w.configure(provider, resourceBlock("app", "internal_docker",
				`source_config = { build_command = "make all", install_command = "make deps" }`))
			w.refuse("Deployment cannot be updated "+
				".*source_config.install_command.*source_config.build_command.*ignore_changes.*new name.*-refresh=false", "apply",
				"-auto-approve")
			w.refuse("Deployment cannot be updated", "destroy", "-auto-approve")
			w.configure(provider, resourceBlock("other", "internal_docker", command))
			w.refuse("Deployment cannot be deleted", "apply", "-auto-approve")

			abandoned := command + "\n  deletion_policy = \"abandon\""
			w.configure(provider, resourceBlock("app", "internal_docker", abandoned))
			w.succeed("apply", "-auto-approve")
			w.configure(provider, resourceBlock("other", "internal_docker", abandoned))
			w.succeed("apply", "-auto-approve")
			for _, d := range s.Deployments() {
				s.Edit(d["id"].(string), func(d map[string]any) { d["source_config"] = map[string]any{"build_command": "another"} })
			}
			w.refuse("Deployment cannot be updated", "destroy", "-auto-approve")
			w.succeed("destroy", "-auto-approve", "-refresh=false")
			if n := len(s.Deployments()); n != 2 {
				t.Errorf("the service has %d deployments, want 2", n)
			}
			assertDocumentedOperationsOnly(t, s)
		})
	}
}

// A name that is unknown while planning may turn out to be the same: then nothing
// happens to the deployment. If it differs, the apply fails before anything is
// changed, and the next plan shows the replacement.
func TestAccUnknownName_isNotReplacement(t *testing.T) {
	built := buildProvider(t)
	t.Parallel()
	for _, setting := range []string{"", `deletion_policy = "abandon"`} {
		t.Run(setting, func(t *testing.T) {
			t.Parallel()
			s, w := newService(t, fakeserver.Options{}), newWorkspace(t, built)
			configure := func(name, other string) {
				w.configure(s.provider(), fmt.Sprintf("resource \"terraform_data\" \"late\" {\n"+
					"  input = { n = %q, s = \"internal_docker\", other = %q }\n}\n", name, other)+
					"resource \"graphdeploy_deployment\" \"this\" {\n  name = terraform_data.late.output.n\n"+
					"  source = terraform_data.late.output.s\n  "+setting+"\n}\n")
			}
			configure("app", "a")
			w.succeed("apply", "-auto-approve")
			before := s.stored(t)
			s.ResetRequests()
			configure("app", "b")
			w.succeed("apply", "-auto-approve")
			w.succeed("plan", "-detailed-exitcode")
			configure("renamed", "c")
			w.refuse("Provider produced inconsistent final plan", "apply", "-auto-approve")
			if now := s.stored(t); !jsonEqual(now, before) {
				t.Errorf("the deployment is %v, want %v", now, before)
			}
			for _, r := range s.Requests() {
				if r.Method != http.MethodGet {
					t.Errorf("sent %s %s", r.Method, r.Path)
				}
			}
			if managed := w.managed(); managed[before["id"].(string)].Attributes["name"] != "app" {
				t.Errorf("the state has %v", managed)
			}
			if out := w.succeed("plan"); !strings.Contains(out, "1 to add, 0 to change, 1 to destroy") {
				t.Errorf("want a replacement:\n%s", out)
			}
		})
	}
}

// With create_before_destroy, the old deployment still has the name when the new
// one is created: the create fails, and the state keeps the old one. A plan that
// failed during the apply would leave it behind as a deposed object.
func TestAccReplacement_createBeforeDestroyOfTheSameNameKeepsTheDeployment(t *testing.T) {
	t.Parallel()
	s := newService(t, fakeserver.Options{})
	config := func(source string) string {
		return s.provider() + deployment("app", source, "lifecycle {\n    create_before_destroy = true\n  }")
	}
	check(t,
		resource.TestStep{Config: config("internal_docker")},
		resource.TestStep{Config: config("internal_template"),
			ExpectError: regexp.MustCompile(`(?s)Deployment name already taken.*create_before_destroy`)},
		planIsEmpty(config("internal_docker")),
	)
	if n := s.sent("POST", "/v2/deployments"); n != 1 {
		t.Errorf("%d creates were sent, want 1", n)
	}
}
