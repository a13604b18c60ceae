package provider_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/graphdeploy/terraform-provider-graphdeploy/internal/fakeserver"
	"github.com/graphdeploy/terraform-provider-graphdeploy/internal/protocoltest"
)

// after is a fault that lets the n-th PATCH from now on pass, and then runs edit before the response is written.
func after(edit func()) fakeserver.Fault { return fakeserver.Fault{AfterWork: true, Reached: edit} }

// A value that the service did not take ends the apply without waiting for a roll-out, and nothing of the change is
// saved. Rounded numbers are an honest difference.
func TestUpdate_valueThatWasNotTaken(t *testing.T) {
	t.Parallel()
	const replace = "terraform apply -replace=ADDRESS"
	for name, c := range map[string]struct {
		arguments object
		path      string // of what the service has instead
		value     any
		at        string
		words     []string
		replaces  bool
	}{
		"rounded": {object{"source_config": object{"resource_spec": object{"cpu": 0.25}}}, "source_config.resource_spec.cpu",
			0.3,
			"source_config.resource_spec.cpu", []string{"0.3 in the service, 0.25 in the configuration",
				"Set source_config.resource_spec.cpu = 0.3"}, false},
		"immutable": {object{"source_config": object{"build_command": "make"}}, "source_config.build_command", "other",
			"source_config.build_command", []string{"section 2.2"}, true},
		"of the revision": {object{"source_revision_config": object{"image_uri": "shop:2"}},
			"source_revision_config.image_uri", "shop:1",
			"source_revision_config.image_uri", []string{`"shop:1" in the service, "shop:2" in the configuration`}, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newService(t, fakeserver.Options{})
			p := newProtocol(t, s)
			r := p.MustApply(typeName, nil, withImage("1"))
			before := inJSON(p.Values(r))
			plan, diags := p.Plan(typeName, r, merged(withImage("1", object{"wait_until": "active"}), c.arguments))
			p.ExpectNone(diags)
			s.EndNextRevision("BUILDING")
			s.Fail(fakeserver.UpdateDeployment, 1, after(s.edit(t, c.path, c.value)))
			r, diags = p.Apply(plan)
			protocoltest.Expect(t, diags, protocoltest.Error("Update was not applied", c.at, append(c.words, `"app"`)...))
			if mentioned := strings.Contains(diags.String(), replace); mentioned != c.replaces {
				t.Errorf("-replace is mentioned: %t, want %t", mentioned, c.replaces)
			}
			if now := inJSON(p.Values(r)); now != before {
				t.Errorf("the state is %s, want %s", now, before)
			}
			if n := s.revisionReads(); n > 0 {
				t.Errorf("%d reads of the status, want none", n)
			}
		})
	}
}

func TestUpdate_rejectedSettingMentionsReplacement(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		arguments object
		status    int
		mentioned bool
	}{
		"a setting":              {object{"source_config": object{"build_command": "make"}}, 422, true},
		"resource_spec":          {resourceSpec("memory_mb", 3072), 422, false},
		"the image":              {object{"source_revision_config": object{"image_uri": "shop:2"}}, 400, false},
		"the credential":         {object{"source_config": object{"build_command": "make"}}, 401, false},
		"a failure of the whole": {object{"source_config": object{"build_command": "make"}}, 500, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newService(t, fakeserver.Options{})
			p := newProtocol(t, s)
			r := p.MustApply(typeName, nil, withImage("1"))
			plan, diags := p.Plan(typeName, r, merged(withImage("1"), c.arguments))
			p.ExpectNone(diags)
			s.Fail(fakeserver.UpdateDeployment, -1, fakeserver.Fault{Status: c.status})
			_, diags = p.Apply(plan)
			if mentioned := strings.Contains(diags.String(), "terraform apply -replace=ADDRESS"); mentioned != c.mentioned ||
				!diags.HasError() {
				t.Errorf("-replace is mentioned: %t, want %t, in %s", mentioned, c.mentioned, diags)
			}
		})
	}
}

// A service that merges deeply keeps members that are omitted, and may reject null for them, or not act on it.
func TestUpdate_secondPatch(t *testing.T) {
	t.Parallel()
	spec := func(memory int, labels object) object {
		return withImage("1", object{"source_config": object{"resource_spec": object{"memory_mb": memory, "labels": labels}}})
	}
	kept := protocoltest.Warning("Removed arguments stay in the service", "", `source_config.resource_spec.labels["b"]`)
	for name, c := range map[string]struct {
		fault *fakeserver.Fault
		want  []protocoltest.Message
		sent  int
	}{
		"taken":    {nil, nil, 2},
		"rejected": {&fakeserver.Fault{Status: http.StatusUnprocessableEntity}, []protocoltest.Message{kept}, 2},
		"no help":  {&fakeserver.Fault{Status: http.StatusOK, Body: "{}"}, []protocoltest.Message{kept}, 2},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newService(t, fakeserver.Options{Patch: fakeserver.PatchMergeDeep, Defaults: map[string]any{}})
			p := newProtocol(t, s)
			r := p.MustApply(typeName, nil, spec(1024, object{"a": "1", "b": "2"}))
			plan, diags := p.Plan(typeName, r, spec(3072, object{"a": "1"}))
			p.ExpectNone(diags)
			if c.fault != nil {
				s.Fail(fakeserver.UpdateDeployment, 1, fakeserver.Fault{Reached: func() {}})
				s.Fail(fakeserver.UpdateDeployment, 1, *c.fault)
			}
			r, diags = p.Apply(plan)
			protocoltest.Expect(t, diags, c.want...)
			if sent := s.patches(t); len(sent) != c.sent {
				t.Errorf("sent %s", inJSON(sent))
			}
			values := p.Values(r)
			resourceSpec := values["source_config"].(object)["resource_spec"].(object)
			if got := inJSON(resourceSpec["labels"]); got != `{"a":"1"}` || resourceSpec["memory_mb"] != 3072.0 {
				t.Errorf("the state has labels %s, memory_mb %v", got, resourceSpec["memory_mb"])
			}
			if updated := s.stored(t)["updated_at"]; values["updated_at"] != updated {
				t.Errorf("updated_at is %v, want %v", values["updated_at"], updated)
			}
			p.plans(r, spec(3072, object{"a": "1"})) // what is kept is no longer owned
		})
	}
}

// A read that is older than the second PATCH does not end the wait for the revision that this has made.
func TestUpdate_secondPatchIsReadBack(t *testing.T) {
	t.Parallel()
	s := newService(t, fakeserver.Options{Patch: fakeserver.PatchMergeDeep, Defaults: map[string]any{}})
	p := newProtocol(t, s)
	spec := func(labels object) object {
		return withImage("1", object{"source_config": object{"resource_spec": object{"labels": labels}}})
	}
	r := p.MustApply(typeName, nil, spec(object{"a": "1", "b": "2"}))
	plan, diags := p.Plan(typeName, r, spec(object{"a": "1"}))
	p.ExpectNone(diags)
	s.Fail(fakeserver.UpdateDeployment, 1, fakeserver.Fault{Reached: func() {}})
	s.Fail(fakeserver.UpdateDeployment, 1, fakeserver.Fault{Reached: func() {
		old := inJSON(object{"resources": []any{s.stored(t)}, "offset": 1})
		s.Fail(fakeserver.ListDeployments, 1, fakeserver.Fault{Body: old})
	}})
	r, diags = p.Apply(plan)
	p.ExpectNone(diags)
	stored := s.stored(t)
	for _, name := range []string{"latest_revision_id", "active_revision_id", "updated_at"} {
		if got := p.text(r, name); got != stored[name] {
			t.Errorf("%s is %s, want %s", name, got, stored[name])
		}
	}
	if sent := s.patches(t); len(sent) != 2 {
		t.Errorf("sent %s", inJSON(sent))
	}
}

// A response without content does not show secrets: they are read back, also if nothing is waited for.
func TestUpdate_responseWithoutContent(t *testing.T) {
	t.Parallel()
	s := newService(t, fakeserver.Options{})
	p := newProtocol(t, s)
	config := func(value string) object {
		return withImage("1", object{"wait_until": "created", "secrets": object{"A": value}})
	}
	r := p.MustApply(typeName, nil, config("planted-one"))
	s.Fail(fakeserver.UpdateDeployment, 1, fakeserver.Fault{AfterWork: true, Status: http.StatusNoContent})
	r = p.MustApply(typeName, r, config("planted-two"))
	p.plans(r, config("planted-two"))
}

// A read that is older than an update without a response does not show that the service keeps what was removed.
func TestUpdate_removalWithoutContent(t *testing.T) {
	t.Parallel()
	s := newService(t, fakeserver.Options{Defaults: map[string]any{}})
	p := newProtocol(t, s)
	r := p.MustApply(typeName, nil, withImage("1", resourceSpec("labels", object{"a": "1"})))
	old := inJSON(object{"resources": []any{s.stored(t)}, "offset": 1})
	s.Fail(fakeserver.UpdateDeployment, 1, fakeserver.Fault{AfterWork: true, Status: http.StatusNoContent,
		Reached: func() { s.Fail(fakeserver.ListDeployments, 1, fakeserver.Fault{Body: old}) }})
	r = p.MustApply(typeName, r, withImage("1"))
	if sent := s.patches(t); len(sent) != 1 {
		t.Errorf("sent %s", inJSON(sent))
	}
	p.plans(r, withImage("1"))
}

// The change is sent again without the members that the provider does not know only if the error may be about them.
func TestUpdate_rejectionIsAboutUnknownMembers(t *testing.T) {
	t.Parallel()
	const known, unknown = "cpu", "zone"
	spec := func(cpu float64) object {
		return withImage("1", object{"source_config": object{"resource_spec": object{known: cpu}}})
	}
	problem := func(name string) string {
		return `{"detail": [{"loc": ["body", "source_config", "resource_spec", "` + name +
			`"], "msg": "no", "type": "value_error"}]}`
	}
	for name, c := range map[string]struct {
		body     string
		repeated bool
	}{
		"names it":         {problem(unknown), true},
		"names another":    {problem(known), false},
		"names both":       {`{"detail": "cpu and zone are wrong"}`, true},
		"mentions it":      {`{"detail": "unknown field: zone"}`, true},
		"mentions another": {`{"detail": "cpu must be at most 8"}`, false},
		"part of a word":   {`{"detail": "zones are not supported for this cpu"}`, false},
		"names nothing":    {`{"detail": "invalid request"}`, true},
		"nothing to read":  {``, true},
		"names only the body": {`{"detail": [{"loc": ["body"], "msg": "extra fields not permitted", "type": "value_error"}]}`,
			true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newService(t, fakeserver.Options{KeepUnknown: true, Defaults: map[string]any{}})
			p := newProtocol(t, s)
			r := p.MustApply(typeName, nil, spec(1))
			s.edit(t, "source_config.resource_spec."+unknown, "z1")()
			plan, diags := p.Plan(typeName, r, spec(2))
			p.ExpectNone(diags)
			s.Fail(fakeserver.UpdateDeployment, 1, fakeserver.Fault{Status: http.StatusUnprocessableEntity, Body: c.body})
			_, diags = p.Apply(plan)
			if sent := len(s.patches(t)); (sent == 2) != c.repeated || diags.HasError() == c.repeated {
				t.Errorf("%d requests, reported %s", sent, diags)
			}
		})
	}
}

// What others change while a request is repeated is kept.
func TestUpdate_isComputedAgainBeforeItIsRepeated(t *testing.T) {
	t.Parallel()
	for name, fault := range map[string]fakeserver.Fault{
		"429": {Status: 429},
		"503": {Status: 503, Header: http.Header{"Retry-After": {"0"}}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newService(t, fakeserver.Options{Defaults: map[string]any{}})
			p := newProtocol(t, s, object{"max_retries": 2})
			spec := func(memory int) object {
				return withImage("1", object{"source_config": object{"resource_spec": object{"memory_mb": memory}}})
			}
			r := p.MustApply(typeName, nil, spec(1024))
			plan, diags := p.Plan(typeName, r, spec(3072))
			p.ExpectNone(diags)
			fault.Reached = s.edit(t, "source_config.resource_spec.db_storage_gi", 9)
			s.Fail(fakeserver.UpdateDeployment, 1, fault)
			_, diags = p.Apply(plan)
			p.ExpectNone(diags)
			if got := inJSON(s.stored(t)["source_config"].(map[string]any)["resource_spec"]); got != `{"db_storage_gi":9,`+
				`"memory_mb":3072}` {
				t.Errorf("the service has %s", got)
			}
		})
	}
}

func TestUpdate_responseAboutAnotherDeployment(t *testing.T) {
	t.Parallel()
	s := newService(t, fakeserver.Options{})
	other := s.SeedDeployment(map[string]any{"name": "other"})
	p := newProtocol(t, s)
	r := p.MustApply(typeName, nil, withImage("1"))
	var theirs map[string]any
	for _, d := range s.Deployments() {
		if d["id"] == other {
			theirs = d
		}
	}
	s.Fail(fakeserver.UpdateDeployment, 1, fakeserver.Fault{AfterWork: true, Status: http.StatusOK, Body: inJSON(theirs)})
	r = p.MustApply(typeName, r, withImage("2"))
	for _, name := range []string{"id", "latest_revision_id", "active_revision_id"} {
		if value := p.Values(r)[name]; value == theirs[name] {
			t.Errorf("%s is that of another deployment", name)
		}
	}
	p.plans(r, withImage("2"))
}

// After a lost response, the read-back decides. Where nothing in it shows whether secrets were taken, they count as not
// sent.
func TestUpdate_lostResponseWithSecrets(t *testing.T) {
	t.Parallel()
	config := func(value string) object { return withImage("1", object{"secrets": object{"A": value}}) }
	for name, c := range map[string]struct {
		options fakeserver.Options
		fault   fakeserver.Fault
		want    []protocoltest.Message
	}{
		"taken, by value": {fakeserver.Options{}, fakeserver.Fault{AfterWork: true, Cut: true}, nil},
		"taken, by revision": {fakeserver.Options{Secrets: fakeserver.MaskSecrets}, fakeserver.Fault{AfterWork: true,
			Cut: true}, nil},
		"not taken, by value": {fakeserver.Options{}, fakeserver.Fault{Cut: true},
			[]protocoltest.Message{protocoltest.Error("Update was not confirmed", "", "lost", `"A"`)}},
		"not taken, masked": {fakeserver.Options{Secrets: fakeserver.MaskSecrets}, fakeserver.Fault{Cut: true},
			[]protocoltest.Message{protocoltest.Error("Update was not confirmed", "", "lost", `"app"`,
				"secrets: nothing shows")}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newService(t, c.options)
			p := newProtocol(t, s)
			r := p.MustApply(typeName, nil, config("planted-one"))
			plan, diags := p.Plan(typeName, r, config("planted-two"))
			p.ExpectNone(diags)
			s.Fail(fakeserver.UpdateDeployment, 1, c.fault)
			r, diags = p.Apply(plan)
			protocoltest.Expect(t, diags, c.want...)
			if text := diags.String(); strings.Contains(text, "former value") && strings.Contains(text, "nothing shows") {
				t.Errorf("one problem is reported twice:\n%s", text)
			}
			if len(c.want) > 0 {
				r = p.MustApply(typeName, r, config("planted-two"))
			}
			p.plans(r, config("planted-two"))
		})
	}
}

// An argument whose removal was not sent stays owned: the next apply removes it.
func TestUpdate_lostRequestKeepsWhatItRemoves(t *testing.T) {
	t.Parallel()
	s := newService(t, fakeserver.Options{Defaults: map[string]any{}})
	p := newProtocol(t, s)
	r := p.MustApply(typeName, nil, withImage("1", object{"source_config": object{"build_command": "make"}}))
	s.Fail(fakeserver.UpdateDeployment, 1, fakeserver.Fault{Cut: true})
	r = p.update(r, withImage("1"), protocoltest.Error("Update was not confirmed", "", "source_config.build_command"))
	r = p.MustApply(typeName, r, withImage("1"))
	if command := s.stored(t)["source_config"].(map[string]any)["build_command"]; command != nil {
		t.Errorf("build_command is %v", command)
	}
	p.plans(r, withImage("1"))
}
