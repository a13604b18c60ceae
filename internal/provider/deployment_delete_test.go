package provider_test

import (
	"fmt"
	"net/http"
	"testing"

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
