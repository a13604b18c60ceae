//go:build unix

package provider_test

import (
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/hashicorp/terraform-plugin-testing/helper/resource"

	"github.com/graphdeploy/terraform-provider-graphdeploy/internal/fakeserver"
)

// A plan states what becomes of the old deployment. One that is to be abandoned is
// not deleted.
func TestAccReplacement_planStatesWhatBecomesOfTheOldDeployment(t *testing.T) {
	built := buildProvider(t)
	t.Parallel()
	s := newService(t, fakeserver.Options{})
	id := s.SeedDeployment(map[string]any{"name": "app", "source": "internal_docker"})
	const replaced = "1 to import, 2 to add, 0 to change, 1 to destroy"
	for name, c := range map[string]struct {
		setting, name, source, more string
		message                     string
		plan                        string // empty if it is rejected
	}{
		"another source":                     {"", `"app"`, "internal_source", "", `Deployment will be deleted .*A new source replaces deployment "app" \(` + id + `\).*set source to "internal_docker"`, replaced},
		"another name":                       {"", `"other"`, "internal_docker", "", `Deployment will be deleted .*A new name replaces deployment "app" \(` + id + `\).*set name to "app"`, replaced},
		"abandoned":                          {"", `"app"`, "internal_source", `deletion_policy = "abandon"`, `Deployment would be deleted .*deletion_policy = "abandon" takes effect once it is in the state`, ""},
		"kept by Terraform":                  {"", `"app"`, "internal_source", "lifecycle {\n    prevent_destroy = true\n  }", `prevent_destroy`, ""},
		"another name without operations":    {"", `"other"`, "internal_docker", "", `Deployment keeps running .*Deployment "app" \(` + id + `\) is removed from the state and keeps running`, replaced},
		"another source without operations":  {"", `"app"`, "internal_source", "", `Replacement needs a new name .*Set source to "internal_docker"`, ""},
		"abandoned without operations":       {"", `"other"`, "internal_docker", `deletion_policy = "abandon"`, `Deployment keeps running`, replaced},
		"an unknown name":                    {"", `terraform_data.late.output`, "internal_docker", "", ``, "1 to import, 1 to add, 1 to change, 0 to destroy"},
		"an unknown name without operations": {"", `terraform_data.late.output`, "internal_docker", "", ``, "1 to import, 1 to add, 1 to change, 0 to destroy"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorkspace(t, built)
			w.configure(s.provider(c.setting), fmt.Sprintf("import {\n  to = %s\n  id = %q\n}\nresource \"terraform_data\" \"late\" {\n  input = \"app\"\n}\nresource %q \"this\" {\n  name   = %s\n  source = %q\n  %s\n}\n",
				this, id, typeName, c.name, c.source, c.more))
			if c.plan == "" {
				w.refuse(c.message, "plan")
				return
			}
			out := unwrapped(w.succeed("plan"))
			if !regexp.MustCompile(c.message).MatchString(out) || !strings.Contains(out, c.plan) {
				t.Errorf("want %q and the message %q:\n%s", c.plan, c.message, out)
			}
		})
	}
	t.Cleanup(func() {
		for _, r := range s.Requests() {
			if r.Method != http.MethodGet {
				t.Errorf("a plan sent %s %s", r.Method, r.Path)
			}
		}
	})
}

// Terraform shows the provider a replacement that the configuration is not the
// reason of as a create. Where the old deployment would keep the name, the plan
// rejects it, and the state keeps the deployment.
func TestAccReplacement_underTheSameName(t *testing.T) {
	built := buildProvider(t)
	t.Parallel()
	replace := []string{"apply", "-auto-approve", "-replace=" + this}
	for name, c := range map[string]struct {
		setting, argument string
		taint, rejected   bool
		apply             []string
	}{
		"-replace":                           {"", "", false, true, replace},
		"-replace without refresh":           {"", "", false, true, append(replace, "-refresh=false")},
		"tainted":                            {"", "", true, true, []string{"apply", "-auto-approve"}},
		"-replace of what is to be kept":     {"", `deletion_policy = "abandon"`, false, true, replace},
		"-replace where it is deleted first": {"", "", false, false, replace},
		"the same without refresh":           {"", "", false, false, append(replace, "-refresh=false")},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newService(t, fakeserver.Options{})
			w := newWorkspace(t, built)
			config, _, _ := strings.Cut(deployment("app", "internal_docker", c.argument), "output ")
			w.configure(s.provider(c.setting), config)
			w.succeed("apply", "-auto-approve")
			id := s.stored(t)["id"]
			if c.taint {
				w.succeed("taint", this)
			}
			out, status := w.run(c.apply...)
			if rejected := status != 0 && strings.Contains(out, "Deployment name already taken"); rejected != c.rejected || !rejected && status != 0 {
				t.Errorf("rejected: %t, want %t:\n%s", rejected, c.rejected, out)
			}
			if same := s.stored(t)["id"] == id; same != c.rejected {
				t.Errorf("the same deployment: %t, want %t", same, c.rejected)
			}
			if c.taint {
				w.succeed("untaint", this)
			}
			assertOneDeployment(t, w, s)
			w.succeed("plan", "-detailed-exitcode")
		})
	}
}

// A name that is unknown while planning may turn out to be the same: then nothing
// happens to the deployment. If it differs, the apply fails before anything is
// changed, and the next plan shows the replacement.
func TestAccUnknownName_isNotReplacement(t *testing.T) {
	built := buildProvider(t)
	t.Parallel()
	for _, setting := range []string{"", documentedOnly} {
		t.Run(setting, func(t *testing.T) {
			t.Parallel()
			s, w := newService(t, fakeserver.Options{}), newWorkspace(t, built)
			configure := func(name, other string) {
				w.configure(s.provider(setting), fmt.Sprintf("resource \"terraform_data\" \"late\" {\n  input = { n = %q, s = \"internal_docker\", other = %q }\n}\n", name, other)+
					"resource \"graphdeploy_deployment\" \"this\" {\n  name = terraform_data.late.output.n\n  source = terraform_data.late.output.s\n}\n")
			}
			configure("app", "a")
			w.succeed("apply", "-auto-approve")
			before := s.stored(t)
			s.ResetRequests()
			configure("app", "b")
			w.succeed("apply", "-auto-approve")
			w.succeed("plan", "-detailed-exitcode")
			configure("renamed", "c")
			w.refuse("Provider produced inconsistent final plan|Deployment keeps running|Replacement needs", "apply", "-auto-approve")
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

// A saved plan does what it states, or nothing. A destroy that fails because the
// service differs names the way out.
func TestAccDestroy_savedPlanAndDrift(t *testing.T) {
	built := buildProvider(t)
	t.Parallel()
	s, w := newService(t, fakeserver.Options{}), newWorkspace(t, built)
	config, _, _ := strings.Cut(deployment("app", "internal_docker", `source_config = { custom_url = "https://a.example.com" }`), "output ")
	w.configure(s.provider(), config)
	w.succeed("apply", "-auto-approve")
	environment := w.env
	for _, planned := range []bool{false, true} {
		w.env = append(slices.Clone(environment), fmt.Sprintf("GRAPHDEPLOY_DOCUMENTED_OPERATIONS_ONLY=%t", planned))
		w.succeed("plan", "-destroy", "-out=planned")
		w.env = append(slices.Clone(environment), fmt.Sprintf("GRAPHDEPLOY_DOCUMENTED_OPERATIONS_ONLY=%t", !planned))
		w.refuse("Plan does not match the provider configuration .*was not destroyed", "apply", "planned")
	}
	w.env = environment
	s.stored(t)
	if n := s.sent(http.MethodDelete, ""); n != 0 {
		t.Errorf("%d deletions were sent", n)
	}
	s.edit(t, "source_config.custom_url", "https://b.example.com")()
	w.refuse("Deployment cannot be updated .*For terraform destroy, add -refresh=false", "destroy", "-auto-approve")
	out := unwrapped(w.succeed("destroy", "-auto-approve", "-refresh=false"))
	if !strings.Contains(out, "Deployment keeps running Destroying removes deployment") {
		t.Errorf("want a warning:\n%s", out)
	}
	s.stored(t)
	if managed := w.managed(); len(managed) != 0 {
		t.Errorf("the state has %v", managed)
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
		resource.TestStep{Config: config("internal_source"), ExpectError: regexp.MustCompile(`(?s)Deployment name already taken.*create_before_destroy`)},
		planIsEmpty(config("internal_docker")),
	)
	if n := s.sent("POST", "/v2/deployments"); n != 1 {
		t.Errorf("%d creates were sent, want 1", n)
	}
}
