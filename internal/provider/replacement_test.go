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
	"github.com/graphdeploy/terraform-provider-graphdeploy/internal/protocoltest"
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

// A plan states what a replacement does to the old deployment, and rejects what would fail.
func TestReplacement_plan(t *testing.T) {
	t.Parallel()
	abandoned, prevented := object{"deletion_policy": "abandon"}, object{"deletion_policy": "prevent"}
	wouldBeDeleted := protocoltest.Error("Deployment would be deleted", "deletion_policy", `"app" (`, `name = "app"`,
		"First apply deletion_policy alone")
	for name, c := range map[string]struct {
		before, after, settings object
		want                    []protocoltest.Message
	}{
		"another source": {object{}, object{"source": "internal_source"}, nil, nil},
		"another name":   {object{}, object{"name": "other"}, nil, nil},
		"-replace":       {object{}, object{}, nil, nil},
		"unknown name":   {object{}, object{"name": protocoltest.Unknown, "source": "internal_source"}, nil, nil},
		"taken name": {object{}, object{"name": "taken"}, nil,
			messagesOf(protocoltest.Error("Deployment name already taken", "", `"app" (`, `named "taken"`, "status READY"))},

		"policy that is not applied yet": {object{}, object{"name": "other", "deletion_policy": "abandon"}, nil,
			messagesOf(wouldBeDeleted)},
		"prevent that is not applied yet": {object{}, object{"name": "other", "deletion_policy": "prevent"}, nil,
			messagesOf(wouldBeDeleted)},

		"abandoned, another source": {abandoned, object{"source": "internal_source"}, nil, messagesOf(needsNewName)},
		"abandoned, another name": {abandoned, object{"name": "other"}, nil,
			messagesOf(protocoltest.Warning("Deployment keeps running", "name", `"app" (`))},
		"abandoned, taken name": {abandoned, object{"name": "taken"}, nil,
			messagesOf(protocoltest.Error("Deployment name already taken", "", `"app" (`, `named "taken"`))},
		"abandoned, unknown name": {abandoned, object{"name": protocoltest.Unknown, "source": "internal_source"}, nil,
			messagesOf(needsKnownName)},
		"abandoned, -replace": {abandoned, object{}, nil, messagesOf(needsNewName)},
		"abandoned until now": {abandoned, object{"name": "other", "deletion_policy": "delete"}, nil,
			messagesOf(protocoltest.Warning("Deployment keeps running", "name", `"app" (`))},

		"prevented, another source": {prevented, object{"source": "internal_source"}, nil, messagesOf(isPrevented)},
		"prevented, another name":   {prevented, object{"name": "other"}, nil, messagesOf(isPrevented)},
		"prevented, -replace":       {prevented, object{}, nil, messagesOf(isPrevented)},

		"documented operations only, another source": {object{}, object{"source": "internal_source"}, documentedOption,
			messagesOf(cannotBeDeleted)},
		"documented operations only, -replace": {object{}, object{}, documentedOption, messagesOf(cannotBeDeleted)},
		"documented operations only, abandoned": {abandoned, object{"name": "other"}, documentedOption,
			messagesOf(protocoltest.Warning("Deployment keeps running", "name", `"app" (`))},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newService(t, fakeserver.Options{})
			s.SeedDeployment(map[string]any{"name": "taken"})
			r := newProtocol(t, s).MustApply(typeName, nil, appConfig("internal_docker", c.before))
			p := newProtocol(t, s, c.settings)
			s.ResetRequests()
			_, _, diags := p.PlanReplacement(r, appConfig("internal_docker", c.before, c.after))
			protocoltest.Expect(t, diags, c.want...)
			assertDocumentedOperationsOnly(t, s)
		})
	}
}

// Nothing is deleted, or removed from the state, for a create that would fail.
func TestReplacement_nameThatIsTakenAfterThePlan(t *testing.T) {
	t.Parallel()
	taken := protocoltest.Error("Deployment name already taken", "", `"app" (`, `named "other"`)
	abandoned := object{"deletion_policy": "abandon"}
	take := func(s *service, _ *protocol) { s.SeedDeployment(map[string]any{"name": "other"}) }
	for name, c := range map[string]struct {
		before, after object
		meanwhile     func(*service, *protocol)
		want          []protocoltest.Message
		deleted       int
	}{
		"by somebody else":            {object{}, object{"name": "other"}, take, messagesOf(taken), 0},
		"by somebody else, abandoned": {abandoned, object{"name": "other"}, take, messagesOf(taken), 0},
		"by a deployment that is being deleted": {object{}, object{"name": "other"}, func(s *service, _ *protocol) {
			s.SeedDeployment(map[string]any{"name": "other", "status": "AWAITING_DELETE"})
		}, messagesOf(taken), 0},
		"by this run": {object{}, object{"name": "other"}, func(_ *service, p *protocol) {
			p.MustApply(typeName, nil, object{"name": "other", "source": "internal_docker"})
		}, nil, 1},
		"by the old one, which is renamed and abandoned": {abandoned, object{"name": "other"}, func(s *service, _ *protocol) {
			s.edit(t, "name", "other")()
		}, messagesOf(needsNewName), 0},
		"unknown": {object{}, object{"name": protocoltest.Unknown, "source": "internal_source"}, nil, nil, 1},
		// with -replace
		"unknown and abandoned": {abandoned, object{"name": protocoltest.Unknown}, nil, messagesOf(needsKnownName), 0},
		"unknown and prevented": {object{"deletion_policy": "prevent"}, object{"name": protocoltest.Unknown}, nil,
			messagesOf(isPrevented), 0},
		"not looked up": {object{}, object{"name": "other"}, func(s *service, _ *protocol) {
			s.Fail(fakeserver.ListDeployments, -1, fakeserver.Fault{Status: http.StatusForbidden})
		}, nil, 0},
		"free":     {object{}, object{"name": "other"}, nil, nil, 1},
		"the same": {object{}, object{}, nil, nil, 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newService(t, fakeserver.Options{})
			p := newProtocol(t, s)
			r := p.MustApply(typeName, nil, appConfig("internal_docker", c.before))
			p = newProtocol(t, s)
			destroy, _, diags := p.PlanReplacement(r, appConfig("internal_docker", c.before, c.after))
			if destroy == nil {
				t.Fatalf("the plan is rejected:\n%s", diags)
			}
			p = newProtocol(t, s)
			if c.meanwhile != nil {
				c.meanwhile(s, p)
			}
			left, diags := p.Apply(destroy)
			if name == "not looked up" {
				id := p.Values(left)["id"]
				c.want = messagesOf(protocoltest.Error(fmt.Sprintf(`Cannot replace deployment "app" (%s)`, id), "",
					"403 Forbidden"))
			}
			protocoltest.Expect(t, diags, c.want...)
			if n := s.sent(http.MethodDelete, ""); n != c.deleted || (left == nil) != (c.deleted == 1) {
				t.Errorf("%d deletions were sent, want %d; still in the state: %t", n, c.deleted, left != nil)
			}
		})
	}
}
