//go:build unix

package provider_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/hashicorp/terraform-plugin-go/tftypes"

	"github.com/graphdeploy/terraform-provider-graphdeploy/internal/fakeserver"
	"github.com/graphdeploy/terraform-provider-graphdeploy/internal/protocoltest"
)

var (
	keepsRunning = protocoltest.Warning("Deployment keeps running", "", `"app" (`)
	isPrevented  = protocoltest.Error("Destroying is prevented", "", `"app" (`, `deletion_policy = "prevent"`,
		"removed block")
	cannotBeDeleted = protocoltest.Error("Deployment cannot be deleted", "", `"app" (`, `deletion_policy = "abandon"`,
		"removed block", "terraform state rm", "-refresh=false")
	needsNewName     = protocoltest.Error("Replacement needs a new name", "", `"app" (`)
	needsKnownName   = protocoltest.Error("Replacement needs a known name", "", `"app" (`)
	documentedOption = object{"documented_operations_only": true}
)

func messagesOf(m ...protocoltest.Message) []protocoltest.Message { return m }

// What counts is the policy in the state.
func TestDestroy_deletionPolicy(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		policy   any
		settings object
		planned  []protocoltest.Message
		deleted  bool
	}{
		"omitted":                             {nil, object{}, nil, true},
		"delete":                              {"delete", object{}, nil, true},
		"abandon":                             {"abandon", object{}, messagesOf(keepsRunning), false},
		"prevent":                             {"prevent", object{}, messagesOf(isPrevented), false},
		"documented operations only":          {nil, documentedOption, messagesOf(cannotBeDeleted), false},
		"documented operations only, abandon": {"abandon", documentedOption, messagesOf(keepsRunning), false},
		"documented operations only, prevent": {"prevent", documentedOption, messagesOf(isPrevented), false},
		"documented operations only, unknown": {nil, object{"documented_operations_only": protocoltest.Unknown},
			nil, true},
		"documented operations only, set to false": {nil, object{"documented_operations_only": false}, nil, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newService(t, fakeserver.Options{})
			r := newProtocol(t, s).MustApply(typeName, nil, appConfig("internal_docker", object{"deletion_policy": c.policy}))
			p := newProtocol(t, s, c.settings)
			plan, diags := p.Plan(typeName, r, nil)
			protocoltest.Expect(t, diags, c.planned...)
			if plan != nil {
				r, diags = p.Apply(plan)
				protocoltest.Expect(t, diags, c.planned...)
				if r != nil {
					t.Error("it is still in the state")
				}
			}
			want := 0
			if c.deleted {
				want = 1
			}
			if n := s.sent(http.MethodDelete, ""); n != want || len(s.Deployments()) != 1-want {
				t.Errorf("%d deletions were sent, want %d, and %d deployments are left", n, want, len(s.Deployments()))
			}
		})
	}
}

// What the value at apply forbids is not sent.
func TestDestroy_documentedOperationsOnlyAtApply(t *testing.T) {
	t.Parallel()
	s := newService(t, fakeserver.Options{})
	p := newProtocol(t, s)
	r := p.MustApply(typeName, nil, appConfig("internal_docker"))
	plan, diags := p.Plan(typeName, r, nil)
	p.ExpectNone(diags)
	r, diags = newProtocol(t, s, documentedOption).Apply(plan)
	protocoltest.Expect(t, diags, cannotBeDeleted)
	if r == nil {
		t.Error("it is no longer in the state")
	}
	assertDocumentedOperationsOnly(t, s)
}

func TestDestroy_waitsUntilItIsNoLongerListed(t *testing.T) {
	t.Parallel()
	t.Run("lost response", func(t *testing.T) {
		t.Parallel()
		m := create(t, fakeserver.Options{}, `{}`)
		m.s.Fail(fakeserver.DeleteDeployment, 1, fakeserver.Fault{AfterWork: true, Cut: true})
		if got := messages(newRun(t, m.s, allOperations).destroy(m.i)); got != "" || m.i.resource != nil ||
			len(m.s.Deployments()) != 0 {
			t.Errorf("the destroy reports %q; in the state: %t; %d deployments", got, m.i.resource != nil,
				len(m.s.Deployments()))
		}
	})
	t.Run("still listed", func(t *testing.T) {
		t.Parallel()
		const config = `{"timeouts": {"delete": "20ms"}}`
		m := create(t, fakeserver.Options{}, config)
		m.s.Fail(fakeserver.DeleteDeployment, -1, fakeserver.Fault{Status: http.StatusNoContent})
		if got := messages(newRun(t, m.s, allOperations).destroy(m.i)); !errorPattern("Deployment still exists: ",
			"after 20ms").MatchString(got) {
			t.Errorf("the destroy reports %q", got)
		}
		m.expectNoop(allOperations, config) // it is still in the state
	})
	t.Run("still listed for a while", func(t *testing.T) {
		t.Parallel()
		m := create(t, fakeserver.Options{}, `{}`)
		reads := 0
		m.s.Fail(fakeserver.DeleteDeployment, 1, fakeserver.Fault{Status: http.StatusNoContent, Reached: func() {
			m.s.edit(t, "status", "AWAITING_DELETE")()
			m.s.Fail(fakeserver.ListDeployments, 5, fakeserver.Fault{Reached: func() {
				if reads++; reads == 5 {
					m.s.Remove(m.s.stored(t)["id"].(string))
				}
			}})
		}})
		got := messages(newRun(t, m.s, allOperations).destroy(m.i))
		if n := m.s.sent(http.MethodDelete, ""); got != "" || n != 1 || reads != 5 || len(m.s.Deployments()) != 0 {
			t.Errorf("%d deletions and %d reads were sent, want 1 and 5; reported %q", n, reads, got)
		}
	})
}

// A state that was edited by hand must not lead to another path of the service.
func TestDelete_idThatIsNoUUIDSendsNothing(t *testing.T) {
	t.Parallel()
	text := func(v string) tftypes.Value { return tftypes.NewValue(tftypes.String, v) }
	for _, id := range []string{"", "..", "../auth/providers", "app"} {
		s := newService(t, fakeserver.Options{})
		p := newProtocol(t, s)
		state := p.value(p.deploymentType(), map[string]tftypes.Value{"id": text(id), "name": text("app"),
			"source": text("internal_docker"), "status": text("READY")})
		r := &protocoltest.Resource{Type: typeName, State: state, Identity: p.identity(id)}
		plan, diags := p.Plan(typeName, r, nil)
		p.ExpectNone(diags)
		left, diags := p.Apply(plan)
		if !diags.HasError() || left == nil {
			t.Errorf("%q: in the state: %v; diagnostics:\n%s", id, left != nil, diags)
		}
		for _, sent := range s.Requests() {
			t.Errorf("%q: %s %s was sent", id, sent.Method, sent.Path)
		}
	}
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
