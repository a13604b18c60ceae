package provider_test

import (
	"strings"
	"testing"

	"github.com/graphdeploy/terraform-provider-graphdeploy/internal/fakeserver"
	"github.com/graphdeploy/terraform-provider-graphdeploy/internal/protocoltest"
)

// staleOnce answers the next PATCH, and then lists the deployment once as it was before.
func (s *service) staleOnce(t *testing.T, f fakeserver.Fault) {
	t.Helper()
	old := inJSON(object{"resources": []any{s.stored(t)}, "offset": 1})
	f.AfterWork = true
	f.Reached = func() { s.Fail(fakeserver.ListDeployments, 1, fakeserver.Fault{Body: old}) }
	s.Fail(fakeserver.UpdateDeployment, 1, f)
}

// A read that is older than the update: it is read again, and nothing is reported.
func TestUpdate_readOlderThanTheUpdate(t *testing.T) {
	t.Parallel()
	masked := fakeserver.Options{Secrets: fakeserver.MaskSecrets, Defaults: map[string]any{}}
	for name, c := range map[string]struct {
		options       fakeserver.Options
		before, after object
		fault         fakeserver.Fault
	}{
		"a setting without a revision": {fakeserver.Options{}, object{},
			object{"source_config": object{"custom_url": "https://b.example.com"}}, fakeserver.Fault{}},
		"a setting, no content": {fakeserver.Options{}, object{},
			object{"source_config": object{"custom_url": "https://b.example.com"}}, fakeserver.Fault{Status: 204}},
		"a removed label, no revision": {fakeserver.Options{RevisionsForChangesOnly: true, Defaults: map[string]any{}},
			resourceSpec("labels", object{"a": "1", "b": "2"}), resourceSpec("labels", object{"a": "1"}), fakeserver.Fault{}},
		"masked secrets": {masked, object{"secrets": object{"A": "planted-one"}},
			object{"secrets": object{"A": "planted-two"}},
			fakeserver.Fault{}},
		"masked secrets, not waited for": {masked, object{"wait_until": "created", "secrets": object{"A": "planted-one"}},
			object{"wait_until": "created", "secrets": object{"A": "planted-two"}}, fakeserver.Fault{}},
		"shown secrets, no revisions": {fakeserver.Options{NoRevisions: true}, object{"secrets": object{"A": "planted-one"}},
			object{"secrets": object{"A": "planted-two"}}, fakeserver.Fault{}},
		"an image": {fakeserver.Options{}, object{}, object{"source_revision_config": object{"image_uri": "shop:2"}},
			fakeserver.Fault{Status: 204}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newService(t, c.options)
			p := newPatientProtocol(t, s)
			r := p.MustApply(typeName, nil, merged(withImage("1"), c.before))
			plan, diags := p.Plan(typeName, r, merged(withImage("1"), c.after))
			p.ExpectNone(diags)
			s.staleOnce(t, c.fault)
			r, diags = p.Apply(plan)
			p.ExpectNone(diags)
			stored := s.stored(t)
			for _, name := range []string{"latest_revision_id", "updated_at"} {
				if want, _ := stored[name].(string); p.text(r, name) != want && !c.options.NoRevisions {
					t.Errorf("%s is %v, want %v", name, p.text(r, name), stored[name])
				}
			}
			if n := len(s.patches(t)); n != 1 {
				t.Errorf("%d PATCHes", n)
			}
			p = newProtocol(t, s)
			p.plans(r, merged(withImage("1"), c.after))
		})
	}
}

// How secrets and refs are confirmed where no revision shows it.
func TestUpdate_confirmedWithoutRevisions(t *testing.T) {
	t.Parallel()
	lost := &fakeserver.Fault{AfterWork: true, Cut: true}
	for name, c := range map[string]struct {
		options       fakeserver.Options
		before, after object
		fault         *fakeserver.Fault
	}{
		"masked secrets": {fakeserver.Options{Secrets: fakeserver.MaskSecrets, NoRevisions: true},
			withImage("1", object{"secrets": object{"A": "planted-one"}}),
			withImage("1", object{"secrets": object{"A": "planted-two"}}), nil},
		"shown secrets, lost": {fakeserver.Options{NoRevisions: true},
			withImage("1", object{"secrets": object{"A": "planted-one"}}),
			withImage("1", object{"secrets": object{"A": "planted-two"}}), lost},
		"another setting beside masked secrets, lost": {fakeserver.Options{Secrets: fakeserver.MaskSecrets},
			withImage("1", object{"secrets": object{"A": "planted-one"}}),
			withImage("1", object{"secrets": object{"A": "planted-one"},
				"source_config": object{"custom_url": "https://b.example.com"}}), lost},
		"a ref by its commit": {fakeserver.Options{NoRevisions: true, ResolveRefs: true}, fromBranch(),
			merged(fromBranch(), object{"source_revision_config": object{"repo_ref": "dev"}}), nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newService(t, c.options)
			p := newProtocol(t, s)
			r := p.MustApply(typeName, nil, c.before)
			plan, diags := p.Plan(typeName, r, c.after)
			p.ExpectNone(diags)
			if c.fault != nil {
				s.Fail(fakeserver.UpdateDeployment, 1, *c.fault)
			}
			_, diags = p.Apply(plan)
			p.ExpectNone(diags)
		})
	}
}

// What an update costs: the read that it is computed from, the PATCH, and one read that shows it.
func TestUpdate_requests(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		options fakeserver.Options
		after   object
		want    string
	}{
		"the service has it already": {fakeserver.Options{Defaults: map[string]any{"source_config.resource_spec.cpu": 2}},
			resourceSpec("cpu", 2), "GET"},
		"rounded":    {fakeserver.Options{}, resourceSpec("cpu", 0.25), "GET,PATCH,GET"},
		"redeployed": {fakeserver.Options{}, commits("a"), "GET,PATCH,GET,GET"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newService(t, c.options)
			p := newProtocol(t, s)
			r := p.MustApply(typeName, nil, withImage("1"))
			plan, diags := p.Plan(typeName, r, merged(withImage("1"), c.after))
			p.ExpectNone(diags)
			s.ResetRequests()
			_, _ = p.Apply(plan)
			if got := s.requests(); got != c.want {
				t.Errorf("sent %s, want %s", got, c.want)
			}
		})
	}
}

// A number that the service drops.
func TestUpdate_numberDropped(t *testing.T) {
	t.Parallel()
	s := newService(t, fakeserver.Options{Defaults: map[string]any{}})
	p := newProtocol(t, s)
	r := p.MustApply(typeName, nil, withImage("1"))
	plan, _ := p.Plan(typeName, r, withImage("1", resourceSpec("cpu", 2)))
	s.Fail(fakeserver.UpdateDeployment, 1, after(s.edit(t, "source_config.resource_spec.cpu", nil)))
	_, diags := p.Apply(plan)
	if strings.Contains(diags.String(), "Set source_config.resource_spec.cpu =") {
		t.Error(diags)
	}
}

// What the service chooses may change.
func TestUpdate_chosenValueChanges(t *testing.T) {
	t.Parallel()
	s := newService(t, fakeserver.Options{})
	p := newProtocol(t, s)
	r := p.MustApply(typeName, nil, withImage("1"))
	s.edit(t, "source_config.custom_url", "https://a.example.com")()
	r, _ = p.Read(r)
	plan, diags := p.Plan(typeName, r, withImage("2"))
	p.ExpectNone(diags)
	s.Fail(fakeserver.UpdateDeployment, 1, after(s.edit(t, "source_config.custom_url", "https://b.example.com")))
	_, diags = p.Apply(plan)
	p.ExpectNone(diags)
}

// The revision of another ref may be listed later than the PATCH responds.
func TestUpdate_revisionOfARefIsAwaited(t *testing.T) {
	t.Parallel()
	s := newService(t, fakeserver.Options{IgnorePatch: true, ResolveRefs: true})
	p := newPatientProtocol(t, s)
	r := p.MustApply(typeName, nil, fromBranch())
	plan, diags := p.Plan(typeName, r, merged(fromBranch(), object{"source_revision_config": object{"repo_ref": "dev"}}))
	p.ExpectNone(diags)
	s.Fail(fakeserver.ListDeployments, 3, fakeserver.Fault{Reached: func() {}})
	s.Fail(fakeserver.ListDeployments, 1, fakeserver.Fault{Reached: func() { s.NewRevision(p.text(r, "id")) }})
	_, diags = p.Apply(plan)
	p.ExpectNone(diags)
}

// What is reported is not older than the response.
func TestUpdate_partialAndStale(t *testing.T) {
	t.Parallel()
	s := newService(t, fakeserver.Options{RevisionsForChangesOnly: true})
	p := newPatientProtocol(t, s)
	r := p.MustApply(typeName, nil, withImage("1", resourceSpec("cpu", 1)))
	plan, diags := p.Plan(typeName, r, withImage("1", resourceSpec("cpu", 0.25)))
	p.ExpectNone(diags)
	s.staleOnce(t, fakeserver.Fault{})
	_, diags = p.Apply(plan)
	protocoltest.Expect(t, diags, protocoltest.Error("Update was not applied", "source_config.resource_spec.cpu",
		"0.3 in the service"))
}

// A redeployment keeps an image that ignore_changes leaves to others.
func TestRedeploy_ignoredImageIsKept(t *testing.T) {
	t.Parallel()
	s := newService(t, fakeserver.Options{})
	p := newProtocol(t, s)
	r := p.MustApply(typeName, nil, withImage("1"))
	s.edit(t, "source_revision_config.image_uri", "shop:7")()
	r, diags := p.Read(r)
	p.ExpectNone(diags)
	plan, diags := p.PlanIgnoring(typeName, r, withImage("1", commits("a")), "source_revision_config.image_uri")
	p.ExpectNone(diags)
	_, diags = p.Apply(plan)
	p.ExpectNone(diags)
	if image := s.stored(t)["source_revision_config"].(map[string]any)["image_uri"]; image != "shop:7" {
		t.Errorf("the image is %v", image)
	}
}

// newPatientProtocol looks for a write as long as a busy machine may need.
func newPatientProtocol(t *testing.T, s *service) *protocol {
	t.Helper()
	p := &protocol{Provider: protocoltest.New(t, newPatientServer()), t: t}
	p.ExpectNone(p.Configure(object{"base_url": s.url}))
	return p
}
