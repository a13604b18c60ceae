package provider_test

import (
	"testing"

	"github.com/graphdeploy/terraform-provider-graphdeploy/internal/fakeserver"
	"github.com/graphdeploy/terraform-provider-graphdeploy/internal/protocoltest"
)

// UNUSED counts as ready.
func TestRollout_unused(t *testing.T) {
	t.Parallel()
	s := newService(t, fakeserver.Options{})
	p := newProtocol(t, s)
	limits := object{"timeouts": object{"update": "1s"}}
	r := p.MustApply(typeName, nil, withImage("1", limits))
	s.edit(t, "status", "UNUSED")()
	r, _ = p.Read(r)
	p.MustApply(typeName, r, withImage("2", limits))
}

// Without revisions, nothing ever runs.
func TestRollout_activeWithoutRevisions(t *testing.T) {
	t.Parallel()
	s := newService(t, fakeserver.Options{NoRevisions: true})
	p := newProtocol(t, s)
	p.update(nil, withImage("1", object{"wait_until": "active", "timeouts": object{"create": "100ms"}}),
		protocoltest.Warning("Deployment is not ready yet", "", "It reports no revision"))
}

// A status that says failed does not count once the revision is active.
func TestRollout_failedButActive(t *testing.T) {
	t.Parallel()
	s := newService(t, fakeserver.Options{})
	p := newProtocol(t, s)
	r := p.MustApply(typeName, nil, withImage("1"))
	s.EndNextRevision("BUILD_FAILED")
	plan, diags := p.Plan(typeName, r, withImage("2"))
	p.ExpectNone(diags)
	s.Fail(fakeserver.ReadRevision, 1, fakeserver.Fault{AfterWork: true,
		Reached: func() { s.EndRevision(p.text(r, "id"), "DEPLOYED") }})
	_, diags = p.Apply(plan)
	p.ExpectNone(diags)
}

// A deployment that disappears is an error, and the state stays as it was.
func TestRollout_disappeared(t *testing.T) {
	t.Parallel()
	s := newService(t, fakeserver.Options{})
	p := newProtocol(t, s)
	r := p.MustApply(typeName, nil, withImage("1"))
	before := p.text(r, "latest_revision_id")
	s.EndNextRevision("BUILDING")
	plan, diags := p.Plan(typeName, r, withImage("2"))
	p.ExpectNone(diags)
	s.Fail(fakeserver.ReadRevision, 1, fakeserver.Fault{AfterWork: true, Reached: func() { s.Remove(p.text(r, "id")) }})
	r, diags = p.Apply(plan)
	protocoltest.Expect(t, diags, protocoltest.Error("Deployment no longer exists", ""))
	if got := p.text(r, "latest_revision_id"); got != before {
		t.Error(got)
	}
}

// One that disappears after its create is not in the state.
func TestRollout_disappearedCreate(t *testing.T) {
	t.Parallel()
	s := newService(t, fakeserver.Options{})
	p := newProtocol(t, s)
	s.EndNextRevision("BUILDING")
	plan, diags := p.Plan(typeName, nil, withImage("2"))
	p.ExpectNone(diags)
	s.Fail(fakeserver.ReadRevision, 1, fakeserver.Fault{AfterWork: true,
		Reached: func() { s.Remove(s.stored(t)["id"].(string)) }})
	r, diags := p.Apply(plan)
	protocoltest.Expect(t, diags, protocoltest.Error("Deployment no longer exists", ""))
	if r != nil {
		t.Error("in the state")
	}
}

// A poll that is older than the read-back does not end the wait.
func TestRollout_stalePoll(t *testing.T) {
	t.Parallel()
	s := newService(t, fakeserver.Options{})
	p := newProtocol(t, s)
	r := p.MustApply(typeName, nil, withImage("1"))
	s.EndNextRevision("BUILD_FAILED")
	plan, diags := p.Plan(typeName, r, withImage("2"))
	p.ExpectNone(diags)
	old := inJSON(object{"resources": []any{s.stored(t)}, "offset": 1})
	s.Fail(fakeserver.UpdateDeployment, 1, fakeserver.Fault{AfterWork: true, Reached: func() {
		s.Fail(fakeserver.ListDeployments, 1, fakeserver.Fault{Reached: func() {}})
		s.Fail(fakeserver.ListDeployments, 1, fakeserver.Fault{Body: old})
	}})
	_, diags = p.Apply(plan)
	protocoltest.Expect(t, diags, protocoltest.Error("Revision failed", ""))
}

// A newer revision of somebody else is followed when ours has failed.
func TestRollout_newerInProgress(t *testing.T) {
	t.Parallel()
	s := newService(t, fakeserver.Options{})
	p := newProtocol(t, s)
	r := p.MustApply(typeName, nil, withImage("1"))
	id := p.text(r, "id")
	s.EndNextRevision("BUILD_FAILED")
	plan, diags := p.Plan(typeName, r, withImage("2"))
	p.ExpectNone(diags)
	s.Fail(fakeserver.ReadRevision, 1, fakeserver.Fault{AfterWork: true, Reached: func() {
		s.EndNextRevision("BUILDING")
		s.NewRevision(id)
	}})
	s.Fail(fakeserver.ReadRevision, 1, fakeserver.Fault{Status: 500})
	s.Fail(fakeserver.ReadRevision, 1, fakeserver.Fault{AfterWork: true,
		Reached: func() { s.EndRevision(id, "DEPLOYED") }})
	_, diags = p.Apply(plan)
	p.ExpectNone(diags)
}

// A status that cannot be read for a while is read again.
func TestRollout_statusFailsForAWhile(t *testing.T) {
	t.Parallel()
	s := newService(t, fakeserver.Options{NoActiveRevision: true, FailingVersions: "bad"})
	s.Fail(fakeserver.ReadRevision, 3, fakeserver.Fault{Status: 500})
	p := newProtocol(t, s)
	plan, diags := p.Plan(typeName, nil, withImage("bad"))
	p.ExpectNone(diags)
	_, diags = p.Apply(plan)
	protocoltest.Expect(t, diags, protocoltest.Error("Revision failed", "", "DEPLOY_FAILED"))
}

// One that can never be read is not waited for.
func TestRollout_statusFailsForGood(t *testing.T) {
	t.Parallel()
	for name, status := range map[string]int{"500": 500, "401": 401, "400": 400} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newService(t, fakeserver.Options{NoActiveRevision: true})
			s.Fail(fakeserver.ReadRevision, -1, fakeserver.Fault{Status: status})
			p := newProtocol(t, s)
			plan, diags := p.Plan(typeName, nil, withImage("1", object{"timeouts": object{"create": "5s"}}))
			p.ExpectNone(diags)
			_, diags = p.Apply(plan)
			p.ExpectNone(diags)
		})
	}
}

// A status that was readable once is waited for.
func TestRollout_statusIsKnownOnce(t *testing.T) {
	t.Parallel()
	s := newService(t, fakeserver.Options{NoActiveRevision: true})
	s.EndNextRevision("BUILDING")
	p := newProtocol(t, s)
	plan, diags := p.Plan(typeName, nil, withImage("1"))
	p.ExpectNone(diags)
	s.Fail(fakeserver.ReadRevision, 1, fakeserver.Fault{Reached: func() {}})
	s.Fail(fakeserver.ReadRevision, 2, fakeserver.Fault{Status: 400})
	s.Fail(fakeserver.ReadRevision, 1, fakeserver.Fault{
		Reached: func() { s.EndRevision(s.stored(t)["id"].(string), "BUILD_FAILED") }})
	_, diags = p.Apply(plan)
	protocoltest.Expect(t, diags, protocoltest.Error("Revision failed", "", "BUILD_FAILED"))
}

// If the read that confirms a failure fails, the next poll decides.
func TestRollout_oneMoreReadFails(t *testing.T) {
	t.Parallel()
	s := newService(t, fakeserver.Options{})
	p := newProtocol(t, s)
	r := p.MustApply(typeName, nil, withImage("1"))
	s.EndNextRevision("BUILD_FAILED")
	plan, diags := p.Plan(typeName, r, withImage("2"))
	p.ExpectNone(diags)
	s.Fail(fakeserver.ReadRevision, 1, fakeserver.Fault{AfterWork: true, Reached: func() {
		s.Fail(fakeserver.ListDeployments, 1, fakeserver.Fault{Status: 500})
	}})
	_, diags = p.Apply(plan)
	protocoltest.Expect(t, diags, protocoltest.Error("Revision failed", "", "BUILD_FAILED"))
}

// A deployment that is neither ready nor runs is an error.
func TestRollout_neitherReadyNorRunning(t *testing.T) {
	t.Parallel()
	s := newService(t, fakeserver.Options{})
	p := newProtocol(t, s)
	limits := object{"timeouts": object{"update": "500ms"}}
	r := p.MustApply(typeName, nil, withImage("1", limits))
	s.edit(t, "status", "AWAITING_DATABASE")()
	r, _ = p.Read(r)
	s.EndNextRevision("BUILDING")
	p.update(r, withImage("2", limits),
		protocoltest.Error("New revision does not run yet", "", "AWAITING_DATABASE", "BUILDING"))
}

// What prevents waiting for the status is an error, although the revision runs.
func TestRollout_notReadyAndUnreadable(t *testing.T) {
	t.Parallel()
	s := newService(t, fakeserver.Options{})
	p := newProtocol(t, s)
	r := p.MustApply(typeName, nil, withImage("1"))
	s.edit(t, "status", "AWAITING_DATABASE")()
	r, _ = p.Read(r)
	plan, diags := p.Plan(typeName, r, withImage("2"))
	p.ExpectNone(diags)
	s.Fail(fakeserver.ListDeployments, 3, fakeserver.Fault{Reached: func() {}})
	s.Fail(fakeserver.ListDeployments, -1, fakeserver.Fault{Status: 401})
	_, diags = p.Apply(plan)
	protocoltest.Expect(t, diags, protocoltest.Error("Cannot wait for the deployment", ""))
}

// The limit ends the wait for active_revision_id of a revision that is DEPLOYED: it runs.
func TestRollout_deployedAtTheLimit(t *testing.T) {
	t.Parallel()
	s := newService(t, fakeserver.Options{NoActiveRevision: true})
	p := newPatientProtocol(t, s)
	limits := object{"timeouts": object{"update": "400ms"}}
	r := p.MustApply(typeName, nil, withImage("1", limits))
	p.update(r, withImage("2", limits))
}

// A revision of somebody else is nothing to warn of.
func TestRollout_pendingOfSomebodyElse(t *testing.T) {
	t.Parallel()
	s := newService(t, fakeserver.Options{})
	p := newProtocol(t, s)
	until := object{"wait_until": "created"}
	r := p.MustApply(typeName, nil, withImage("1", until))
	s.EndNextRevision("BUILDING")
	r = p.MustApply(typeName, r, withImage("2", until))
	s.EndNextRevision("BUILDING")
	s.NewRevision(p.text(r, "id"))
	p = newProtocol(t, s)
	plan, diags := p.Plan(typeName, r, withImage("2", until)) // -refresh=false
	p.ExpectNone(diags)
	if plan.HasChanges {
		t.Error("changes")
	}
	p.plans(r, withImage("2", until))
}

// While settings are unknown, nothing is read.
func TestRollout_pendingWhileSettingsAreUnknown(t *testing.T) {
	t.Parallel()
	s := newService(t, fakeserver.Options{})
	p := newProtocol(t, s)
	until := object{"wait_until": "created"}
	r := p.MustApply(typeName, nil, withImage("1", until))
	s.EndNextRevision("BUILDING")
	r = p.MustApply(typeName, r, withImage("2", until))
	p = unconfigured(t)
	p.ExpectNone(p.Configure(object{"base_url": protocoltest.Unknown}))
	_, diags := p.Plan(typeName, r, withImage("2", until))
	p.ExpectNone(diags)
}

// Where only active_revision_id reports that a revision runs, plans warn as well.
func TestRollout_pendingByActiveOnly(t *testing.T) {
	t.Parallel()
	s := newService(t, fakeserver.Options{NoRevisionStatus: true})
	p := newProtocol(t, s)
	r := p.MustApply(typeName, nil, withImage("1"))
	s.EndNextRevision("BUILDING")
	limits := object{"timeouts": object{"update": "100ms"}}
	r = p.update(r, withImage("2", limits), protocoltest.Error("New revision does not run yet", ""))
	p.plans(r, withImage("2", limits), protocoltest.Warning("Revision does not run", "", "Plan again later"))
}

func TestRollout_pendingFailed(t *testing.T) {
	t.Parallel()
	s := newService(t, fakeserver.Options{})
	p := newProtocol(t, s)
	r := p.MustApply(typeName, nil, withImage("1"))
	s.EndNextRevision("BUILD_FAILED")
	r = p.update(r, withImage("2"), protocoltest.Error("Revision failed", ""))
	p.plans(r, withImage("2"), protocoltest.Warning("Revision does not run", "", "Correct the configuration"))
}

// What a plan reads of a revision that runs, or that is said to run.
func TestRollout_pendingRuns(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		options fakeserver.Options
		until   string
		reads   int
	}{
		"waited for, by status":     {fakeserver.Options{NoActiveRevision: true}, "active", 0},
		"not waited for, active":    {fakeserver.Options{}, "created", 0},
		"not waited for, by status": {fakeserver.Options{NoActiveRevision: true}, "created", 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newService(t, c.options)
			p := newProtocol(t, s)
			until := object{"wait_until": c.until}
			r := p.MustApply(typeName, nil, withImage("1", until))
			r = p.MustApply(typeName, r, withImage("2", until))
			p = newProtocol(t, s)
			s.ResetRequests()
			p.plans(r, withImage("2", until))
			if n := s.revisionReads(); n != c.reads {
				t.Errorf("%d reads of the status, want %d", n, c.reads)
			}
		})
	}
}

// A state of before Terraform 1.12 gets its identity.
func TestRollout_identityOfAnOldState(t *testing.T) {
	t.Parallel()
	s := newService(t, fakeserver.Options{})
	p := newProtocol(t, s)
	r := p.MustApply(typeName, nil, withImage("1"))
	r.Identity = nil
	r = p.MustApply(typeName, r, withImage("2"))
	if r.Identity == nil || r.Identity.IdentityData == nil {
		t.Error("no identity")
	}
	p.plans(r, withImage("2"))
}

// An update that was not taken as it was sent may have made a revision all the same. If the user then writes what the
// service has, there is nothing to send and to wait for.
func TestRollout_revisionOfAnUpdateThatWasNotTaken(t *testing.T) {
	t.Parallel()
	s := newService(t, fakeserver.Options{})
	p := newProtocol(t, s)
	cpu := func(v float64) object { return withImage("1", resourceSpec("cpu", v)) }
	r := p.MustApply(typeName, nil, cpu(1))
	s.EndNextRevision("DEPLOY_FAILED")
	r = p.update(r, cpu(0.25), protocoltest.Error("Update was not applied", "source_config.resource_spec.cpu", "0.3"))
	p.plans(r, cpu(0.3), protocoltest.Warning("Revision does not run", "", "DEPLOY_FAILED"))
}

// With ignore_changes, the configuration has the prior commit, which must not be planned as unknown then.
func TestPlan_ignoredConfigOfCodehost(t *testing.T) {
	t.Parallel()
	s := newService(t, fakeserver.Options{})
	p := newProtocol(t, s)
	r := p.MustApply(typeName, nil, fromBranch())
	plan, diags := p.PlanIgnoring(typeName, r, fromBranch(commits("a")), "source_revision_config")
	p.ExpectNone(diags)
	r, diags = p.Apply(plan)
	p.ExpectNone(diags)
	r, diags = p.Read(r)
	p.ExpectNone(diags)
	plan, diags = p.PlanIgnoring(typeName, r, fromBranch(commits("a")), "source_revision_config")
	p.ExpectNone(diags)
	if plan.HasChanges {
		t.Error("the next plan is not empty")
	}
}
