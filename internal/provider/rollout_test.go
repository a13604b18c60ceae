package provider_test

import (
	"bytes"
	"context"
	"maps"
	"strings"
	"testing"
	"time"

	"github.com/hashicorp/terraform-plugin-log/tflogtest"

	"github.com/graphdeploy/terraform-provider-graphdeploy/internal/fakeserver"
	"github.com/graphdeploy/terraform-provider-graphdeploy/internal/protocoltest"
)

// withImage is deployment "app" with a version of its image.
func withImage(tag string, arguments ...object) object {
	return appConfig("external_docker", append([]object{{"source_revision_config": object{"image_uri": "shop:" + tag}}},
		arguments...)...)
}

// update plans and applies a configuration; what the apply reports is compared.
func (p *protocol) update(r *protocoltest.Resource, config object,
	want ...protocoltest.Message,
) *protocoltest.Resource {
	p.t.Helper()
	plan, diags := p.Plan(typeName, r, config)
	p.ExpectNone(diags)
	if plan == nil {
		p.t.FailNow()
	}
	r, diags = p.Apply(plan)
	protocoltest.Expect(p.t, diags, want...)
	return r
}

// plans refreshes, and plans a configuration that changes nothing.
func (p *protocol) plans(r *protocoltest.Resource, config object, want ...protocoltest.Message) {
	p.t.Helper()
	r, diags := p.Read(r)
	p.ExpectNone(diags)
	plan, diags := p.Plan(typeName, r, config)
	protocoltest.Expect(p.t, diags, want...)
	if plan != nil && plan.HasChanges {
		p.t.Errorf("the plan is not empty: %v", p.Planned(plan))
	}
}

func (p *protocol) text(r *protocoltest.Resource, name string) string {
	p.t.Helper()
	text, _ := p.Values(r)[name].(string)
	return text
}

// revisionReads counts the requests for the status of a revision.
func (s *service) revisionReads() (n int) {
	for _, r := range s.Requests() {
		if strings.Contains(r.Path, "/revisions/") {
			n++
		}
	}
	return n
}

// requests are the methods of the recorded requests, in their order: "GET,PATCH".
func (s *service) requests() string {
	var methods []string
	for _, r := range s.Requests() {
		methods = append(methods, r.Method)
	}
	return strings.Join(methods, ",")
}

func TestRollout_waitsUntilTheNewRevisionRuns(t *testing.T) {
	t.Parallel()
	slow := fakeserver.Options{Clock: clock(), ActiveAfter: 20 * time.Second}
	blind, unlisted := slow, slow
	blind.NoRevisionStatus = true
	unlisted.NoActiveRevision = true
	for name, c := range map[string]struct {
		options     fakeserver.Options
		until       string
		maxStatuses int
		deployed    bool // at the end, by the fake's own count
	}{
		"active":                   {slow, "active", 30, true},
		"by default":               {slow, "", 30, true},
		"without statuses":         {blind, "active", 2, true},
		"without, by default":      {blind, "", 2, true},
		"only statuses":            {unlisted, "active", 30, true},
		"only statuses by default": {unlisted, "", 30, true},
		"ready":                    {slow, "ready", 0, false},
		"created":                  {slow, "created", 0, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			options := c.options
			options.Clock = clock()
			s := newService(t, options)
			p := newProtocol(t, s)
			arguments := object{}
			if c.until != "" {
				arguments["wait_until"] = c.until
			}
			r := p.MustApply(typeName, nil, withImage("1", object{"wait_until": "active"}))
			p = newProtocol(t, s)
			r, diags := p.Read(r)
			p.ExpectNone(diags)
			s.ResetRequests()
			r = p.update(r, withImage("2", arguments))
			if n := s.revisionReads(); n > c.maxStatuses {
				t.Errorf("%d reads of the status, want at most %d", n, c.maxStatuses)
			}
			var stored struct{ latest, active any }
			d := s.stored(t)
			stored.latest, stored.active = d["latest_revision_id"], d["active_revision_id"]
			if active := p.text(r, "active_revision_id"); options.NoActiveRevision != (active == "") {
				t.Errorf("active_revision_id is %q", active)
			}
			if !options.NoActiveRevision && (p.Values(r)["active_revision_id"] == stored.latest) != c.deployed {
				t.Errorf("latest %v, active %v; want deployed: %t", stored.latest, stored.active, c.deployed)
			}
		})
	}
}

// A service that reports nothing of revisions costs no time and no request; neither does a change that makes none.
func TestRollout_nothingToWaitFor(t *testing.T) {
	t.Parallel()
	setting := func(command string) object {
		return withImage("1", object{"source_config": object{"custom_url": "https://" + command + ".example.com"}})
	}
	for name, c := range map[string]struct {
		options fakeserver.Options
		after   object
		want    string
	}{
		"no new revision": {fakeserver.Options{}, setting("b"), "GET,PATCH,GET"},
		"no revisions":    {fakeserver.Options{NoRevisions: true}, withImage("2"), "GET,PATCH,GET"},
		"nothing of it": {fakeserver.Options{NoActiveRevision: true, NoRevisionStatus: true}, withImage("2"),
			"GET,PATCH,GET,GET"}, // the create has found out
		"runs already":         {fakeserver.Options{}, withImage("2"), "GET,PATCH,GET,GET"},
		"created":              {fakeserver.Options{}, withImage("2", object{"wait_until": "created"}), "GET,PATCH,GET"},
		"the same in the end":  {fakeserver.Options{}, withImage("1", object{"wait_until": "active"}), ""},
		"not ready, but as is": {fakeserver.Options{}, setting("c"), "GET,PATCH,GET"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newService(t, c.options)
			p := newProtocol(t, s)
			r := p.MustApply(typeName, nil, setting("a"))
			if name == "the same in the end" {
				r = p.MustApply(typeName, r, withImage("1"))
			}
			if name == "not ready, but as is" {
				s.edit(t, "status", "AWAITING_DATABASE")()
			}
			r, diags := p.Read(r)
			p.ExpectNone(diags)
			plan, diags := p.Plan(typeName, r, c.after)
			p.ExpectNone(diags)
			s.ResetRequests()
			_, diags = p.Apply(plan)
			p.ExpectNone(diags)
			if got := s.requests(); got != c.want {
				t.Errorf("sent %s, want %s", got, c.want)
			}
		})
	}
}

// The change took and is saved; the error keeps a pipeline from being green.
func TestRollout_updateThatReachesItsLimitIsAnError(t *testing.T) {
	t.Parallel()
	s := newService(t, fakeserver.Options{})
	p := newProtocol(t, s)
	first := withImage("1", object{"timeouts": object{"update": "500ms"}})
	r := p.MustApply(typeName, nil, first)
	before := p.text(r, "active_revision_id")
	s.EndNextRevision("DEPLOYING")
	second := withImage("2", object{"timeouts": object{"update": "500ms"}})
	plan, diags := p.Plan(typeName, r, second)
	p.ExpectNone(diags)
	r, diags = p.Apply(plan)
	protocoltest.Expect(t, diags, protocoltest.Error("New revision does not run yet", "", `"app"`, "500ms", "DEPLOYING",
		before,
		p.text(r, "latest_revision_id"), "timeouts.update"))
	if image := p.Values(r)["source_revision_config"].(object)["image_uri"]; image != "shop:2" {
		t.Errorf("image_uri in the state is %v", image)
	}
	p.plans(r, second, protocoltest.Warning("Revision does not run", "", `"app"`, "DEPLOYING", before, p.text(r,
		"latest_revision_id")))

	// A change that makes no revision does not wait for it, and says so; one that makes a revision does not say it.
	plan, diags = p.Plan(typeName, r, withImage("2", object{"wait_until": "active", "timeouts": object{"update": "1h"}}))
	protocoltest.Expect(t, diags, protocoltest.Warning("Revision does not run", ""))
	r, diags = p.Apply(plan)
	p.ExpectNone(diags)
	r = p.update(r, first)
	p.plans(r, first)
}

func TestRollout_warningEndsWhenTheRevisionRuns(t *testing.T) {
	t.Parallel()
	s := newService(t, fakeserver.Options{NoRevisionStatus: true, ActiveAfter: time.Hour})
	p := newProtocol(t, s)
	config := withImage("1", object{"wait_until": "active", "timeouts": object{"create": "20ms"}})
	r := p.update(nil, config, protocoltest.Warning("Deployment is not ready yet", "", "20ms", "READY", "timeouts.create"))
	p.plans(r, config, protocoltest.Warning("Revision does not run", "", p.text(r, "latest_revision_id")))
	s.EndRevision(p.text(r, "id"), "DEPLOYED")
	p.plans(r, config)
}

func TestRollout_failedBuildIsAnErrorAtOnce(t *testing.T) {
	t.Parallel()
	for _, status := range []string{"CREATE_FAILED", "BUILD_FAILED", "DEPLOY_FAILED", "SKIPPED", "INTERRUPTED"} {
		t.Run(status, func(t *testing.T) {
			t.Parallel()
			s := newService(t, fakeserver.Options{})
			p := newProtocol(t, s)
			r := p.MustApply(typeName, nil, withImage("1"))
			before := p.text(r, "active_revision_id")
			s.EndNextRevision(status)
			plan, diags := p.Plan(typeName, r, withImage("2"))
			p.ExpectNone(diags)
			s.ResetRequests()
			r, diags = p.Apply(plan)
			protocoltest.Expect(t, diags, protocoltest.Error("Revision failed", "", `"app"`, status, before, p.text(r,
				"latest_revision_id"),
				"redeploy_triggers"))
			if got := s.requests(); got != "GET,PATCH,GET,GET,GET,GET" { // read back; a poll with its status, and one more read
				t.Errorf("sent %s", got)
			}
			p.plans(r, withImage("2"), protocoltest.Warning("Revision does not run", "", status))
			r = p.update(r, withImage("1"))
			p.plans(r, withImage("1"))
		})
	}
}

func TestRollout_failedFirstVersionTaintsTheResource(t *testing.T) {
	t.Parallel()
	s := newService(t, fakeserver.Options{FailingVersions: "bad"})
	p := newProtocol(t, s)
	r := p.update(nil, withImage("bad"), protocoltest.Error("Revision failed", "", `"app"`, "DEPLOY_FAILED",
		"terraform untaint"))
	if r == nil {
		t.Fatal("the deployment is not in the state")
	}
	p.plans(r, withImage("bad"), protocoltest.Warning("Revision does not run", "", "DEPLOY_FAILED"))
}

// A push while Terraform waits makes another revision, and interrupts ours.
func TestRollout_followsTheLatestRevision(t *testing.T) {
	t.Parallel()
	for name, status := range map[string]string{"in progress": "BUILDING", "failed": "BUILD_FAILED"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newService(t, fakeserver.Options{})
			p := newProtocol(t, s)
			r := p.MustApply(typeName, nil, withImage("1"))
			id, ours := p.text(r, "id"), ""
			s.EndNextRevision(status)
			s.Fail(fakeserver.ReadRevision, 1, fakeserver.Fault{AfterWork: true, Reached: func() {
				ours = s.stored(t)["latest_revision_id"].(string)
				s.NewRevision(id)
			}})
			r = p.update(r, withImage("2"))
			latest, active := p.text(r, "latest_revision_id"), p.text(r, "active_revision_id")
			if latest == ours || ours == "" || latest != active {
				t.Errorf("latest %s, active %s, ours %s", latest, active, ours)
			}
			p.plans(r, withImage("2"))
		})
	}
}

// Section 2.2 of the API document: no new revision. Known services make one for resource_spec, which the plan shows,
// and others for anything, which the next refresh shows.
func TestRollout_revisionForAnySetting(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		after   object
		planned bool
	}{
		"resource_spec": {withImage("1", resourceSpec("memory_mb", 3072)), true},
		"custom_url":    {withImage("1", object{"source_config": object{"custom_url": "https://b.example.com"}}), false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newService(t, fakeserver.Options{Clock: clock(), ActiveAfter: 20 * time.Second})
			p := newProtocol(t, s)
			r := p.MustApply(typeName, nil, withImage("1"))
			before := p.text(r, "latest_revision_id")
			plan, diags := p.Plan(typeName, r, c.after)
			p.ExpectNone(diags)
			if !c.planned {
				newRevision := func() { s.NewRevision(s.stored(t)["id"].(string)) }
				s.Fail(fakeserver.UpdateDeployment, 1, fakeserver.Fault{AfterWork: true, Reached: newRevision})
			}
			if unknown := p.Planned(plan)["latest_revision_id"] == protocoltest.Unknown; unknown != c.planned {
				t.Errorf("latest_revision_id is unknown: %t, want %t", unknown, c.planned)
			}
			r, diags = p.Apply(plan)
			p.ExpectNone(diags)
			d := s.stored(t)
			if latest := d["latest_revision_id"]; latest == before || d["active_revision_id"] != latest {
				t.Errorf("latest %v, active %v, before %v", latest, d["active_revision_id"], before)
			}
			if saved := p.text(r, "latest_revision_id") != before; saved != c.planned {
				t.Errorf("the state has the new revision: %t, want %t", saved, c.planned)
			}
			p.plans(r, c.after)
		})
	}
}

// A service as the API document reads makes no revision for resource_spec: there is nothing to wait for.
func TestRollout_noRevisionForResources(t *testing.T) {
	t.Parallel()
	s := newService(t, fakeserver.Options{RevisionsForChangesOnly: true, Clock: clock(), ActiveAfter: 20 * time.Second})
	p := newProtocol(t, s)
	r := p.MustApply(typeName, nil, withImage("1"))
	before := p.text(r, "latest_revision_id")
	after := withImage("1", resourceSpec("memory_mb", 3072))
	r = p.MustApply(typeName, r, after)
	if latest := p.text(r, "latest_revision_id"); latest != before || p.text(r, "active_revision_id") != before {
		t.Errorf("latest %s, active %s, want %s", latest, p.text(r, "active_revision_id"), before)
	}
	p.plans(r, after)
}

func TestRollout_readyIsAWarningWhereTheRevisionRuns(t *testing.T) {
	t.Parallel()
	s := newService(t, fakeserver.Options{})
	p := newProtocol(t, s)
	limits := object{"timeouts": object{"update": "500ms"}}
	r := p.MustApply(typeName, nil, withImage("1", limits))
	s.edit(t, "status", "AWAITING_DATABASE")()
	r, _ = p.Read(r)
	r = p.update(r, withImage("2", limits), protocoltest.Warning("Deployment is not ready yet", "", "AWAITING_DATABASE",
		"is active", "500ms"))
	p.plans(r, withImage("2", limits))
}

// What prevents waiting is a warning for a create and an error for an update.
func TestRollout_whatPreventsWaiting(t *testing.T) {
	t.Parallel()
	const list = fakeserver.ListDeployments
	pass := fakeserver.Fault{Reached: func() {}}
	for name, c := range map[string]struct {
		fault   fakeserver.Fault
		limit   string
		summary string
		words   []string
	}{
		"401": {fakeserver.Fault{Status: 401}, "20m", "Cannot wait for the deployment", []string{"401", "api_key"}},
		"403": {fakeserver.Fault{Status: 403}, "20m", "Cannot wait for the deployment", []string{"403"}},
		"malformed": {fakeserver.Fault{Status: 200, Body: "<html>"}, "20m", "Cannot wait for the deployment",
			[]string{"not JSON"}},
		"500": {fakeserver.Fault{Status: 500}, "4s", "", []string{"500", "4s"}}, // a busy machine has to read once
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newService(t, fakeserver.Options{})
			p := newProtocol(t, s)
			limits := object{"timeouts": object{"create": c.limit, "update": c.limit}}
			config := withImage("1", limits)
			plan, diags := p.Plan(typeName, nil, config)
			p.ExpectNone(diags)
			s.Fail(list, 1, pass) // the lookup of the name
			s.Fail(list, -1, c.fault)
			r, diags := p.Apply(plan)
			summary := c.summary
			if summary == "" {
				summary = "Deployment is not ready yet"
			}
			protocoltest.Expect(t, diags, protocoltest.Warning(summary, "", append([]string{`"app"`, p.text(r, "id"), "READY"},
				c.words...)...))
			s.ClearFaults()
			p.plans(r, config)

			s.EndNextRevision("BUILDING")
			after := withImage("2", limits)
			plan, diags = p.Plan(typeName, r, after)
			p.ExpectNone(diags)
			s.Fail(list, 2, pass) // before and after the PATCH
			s.Fail(list, -1, c.fault)
			r, diags = p.Apply(plan)
			if c.summary == "" {
				summary = "New revision does not run yet"
			}
			protocoltest.Expect(t, diags, protocoltest.Error(summary, "", append([]string{`"app"`, p.text(r,
				"latest_revision_id")}, c.words...)...))
			s.ClearFaults()
			p.plans(r, after, protocoltest.Warning("Revision does not run", ""))
		})
	}
}

func TestRollout_interruptSavesTheChange(t *testing.T) {
	t.Parallel()
	s := newService(t, fakeserver.Options{})
	p := newProtocol(t, s)
	r := p.MustApply(typeName, nil, withImage("1"))
	plan, diags := p.Plan(typeName, r, withImage("2"))
	p.ExpectNone(diags)
	ctx, cancel := context.WithCancel(t.Context())
	s.EndNextRevision("BUILDING")
	s.Fail(fakeserver.ReadRevision, 1, fakeserver.Fault{AfterWork: true, Reached: cancel})
	r, diags = p.WithContext(ctx).Apply(plan)
	protocoltest.Expect(t, diags, protocoltest.Error("Wait was interrupted", "", `"app"`, p.text(r, "latest_revision_id")))
	p.plans(r, withImage("2"), protocoltest.Warning("Revision does not run", "", "BUILDING"))
}

// The API does not document how to read a revision.
func TestRollout_documentedOperationsOnly(t *testing.T) {
	t.Parallel()
	s := newService(t, fakeserver.Options{Clock: clock(), ActiveAfter: 20 * time.Second})
	p := newProtocol(t, s, object{"documented_operations_only": true})
	r := p.MustApply(typeName, nil, withImage("1", object{"wait_until": "active"}))
	if p.text(r, "active_revision_id") != p.text(r, "latest_revision_id") || s.revisionReads() != 0 {
		t.Errorf("active %s, latest %s, %d reads of revisions", p.text(r, "active_revision_id"), p.text(r,
			"latest_revision_id"), s.revisionReads())
	}
	_, diags := p.Plan(typeName, r, withImage("1", object{"wait_until": "active",
		"redeploy_triggers": object{"commit": "a"}}))
	protocoltest.Expect(t, diags, protocoltest.Error("Deployment cannot be updated", "", "redeploy_triggers"))
}

// What only a new revision changes is unknown in a plan that makes one, and what a build sets only where there is one.
func TestPlan_marksOnlyWhatCanChange(t *testing.T) {
	t.Parallel()
	ids := []string{"active_revision_id", "image_version", "latest_revision_id", "status", "updated_at"}
	build := append([]string{"source_revision_config.image_uri", "source_revision_config.repo_commit_sha"}, ids...)
	for name, c := range map[string]struct {
		source        string
		before, after object
		want          []string
	}{
		"image": {"external_docker", object{"source_revision_config": object{"image_uri": "a:1"}},
			object{"source_revision_config": object{"image_uri": "a:2"}}, ids},
		"branch": {"codehost", object{"source_revision_config": object{"repo_ref": "main"}},
			object{"source_revision_config": object{"repo_ref": "dev"}}, build},
		"branch and image": {"codehost", object{"source_revision_config": object{"repo_ref": "main",
			"image_uri": "a:1"}}, object{"source_revision_config": object{"repo_ref": "dev", "image_uri": "a:1"}}, build[1:]},
		"secrets": {"external_docker", object{"secrets": object{"A": "one"}},
			object{"secrets": object{"A": "two"}}, ids},
		"secrets of a build": {"codehost", object{"secrets": object{"A": "one"}}, object{"secrets": object{"A": "two"}},
			build},
		"references": {"external_docker", object{}, object{"secret_references": list{object{"name": "A",
			"secret_name": "s", "secret_key": "k"}}}, ids},
		"references removed": {"external_docker", object{"secret_references": list{object{"name": "A", "secret_name": "s",
			"secret_key": "k"}}}, object{}, ids},
		"resource_spec": {"external_docker", resourceSpec("memory_mb", 1024), resourceSpec("memory_mb", 2048), ids},
		"triggers": {"codehost", object{"redeploy_triggers": object{"a": "1"}},
			object{"redeploy_triggers": object{"a": "2"}}, build},
		"triggers set":     {"external_docker", object{}, object{"redeploy_triggers": object{"a": "1"}}, ids},
		"unknown triggers": {"external_docker", object{}, object{"redeploy_triggers": protocoltest.Unknown}, ids},
		"unknown trigger": {"external_docker", object{},
			object{"redeploy_triggers": object{"a": protocoltest.Unknown}}, ids},
		"triggers removed": {"external_docker", object{"redeploy_triggers": object{"a": "1"}}, object{}, nil},
		"empty triggers":   {"external_docker", object{}, object{"redeploy_triggers": object{}}, nil},
		"another setting": {"external_docker", object{},
			object{"source_config": object{"custom_url": "https://a.example.com"}}, []string{"updated_at"}},
		"only of the state": {"external_docker", object{}, object{"wait_until": "created"}, nil},
		"unknown other setting": {"external_docker", object{},
			object{"source_config": object{"build_command": protocoltest.Unknown}}, []string{"source_config.build_command",
				"updated_at"}},
		"unknown resource value": {"external_docker", object{}, resourceSpec("cpu", protocoltest.Unknown),
			append([]string{"source_config.resource_spec.cpu"}, ids...)},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newProtocol(t, newService(t, fakeserver.Options{}))
			base := appConfig(c.source, object{"source_revision_config": object{"image_uri": "a:1"}})
			if c.source == "codehost" {
				base = appConfig(c.source, object{"source_config": object{"repo_url": "https://codehost.example/acme/app"},
					"source_revision_config": object{"graph_config_path": "graph.json"}})
			}
			r := p.MustApply(typeName, nil, merged(base, c.before))
			plan, diags := p.Plan(typeName, r, merged(base, c.after))
			p.ExpectNone(diags)
			got := unknownIn(p.Planned(plan), "")
			delete(got, "redeploy_triggers")
			delete(got, "redeploy_triggers.a")
			want := map[string]bool{}
			for _, name := range c.want {
				want[name] = true
			}
			if !maps.Equal(got, want) {
				t.Errorf("unknown are %v, want %v", got, want)
			}
		})
	}
}

// merged is an object with the members of another one, object by object.
func merged(a, b object) object {
	all := maps.Clone(a)
	for name, value := range b {
		inner, isObject := a[name].(object)
		if more, ok := value.(object); ok && isObject {
			value = merged(inner, more)
		}
		all[name] = value
	}
	return all
}

// unknownIn are the attributes that are unknown.
func unknownIn(value any, at string) map[string]bool {
	found := map[string]bool{}
	if value == protocoltest.Unknown {
		found[at] = true
	}
	members, _ := value.(object)
	for name, member := range members {
		maps.Copy(found, unknownIn(member, strings.TrimPrefix(at+"."+name, ".")))
	}
	return found
}

// A create is enough for created: what it returned is saved, and the revision that does not run yet is recorded.
func TestRollout_createWithoutStatusAndActiveRevision(t *testing.T) {
	t.Parallel()
	s := newService(t, fakeserver.Options{NoActiveRevision: true, NoRevisionStatus: true})
	p := newProtocol(t, s)
	plan, diags := p.Plan(typeName, nil, withImage("1"))
	p.ExpectNone(diags)
	s.ResetRequests()
	r, diags := p.Apply(plan)
	p.ExpectNone(diags)
	// The name, the create, and two polls, each with a read of the status: one could be too early.
	if got := s.requests(); got != "GET,POST,GET,GET,GET,GET" {
		t.Errorf("sent %s", got)
	}
	p.plans(r, withImage("1"))
	if n := s.revisionReads(); n > 2 {
		t.Errorf("%d reads of the status, want at most 2", n)
	}
}

// The log at INFO shows what a wait waits for.
func TestRollout_logsProgress(t *testing.T) {
	t.Parallel()
	s := newService(t, fakeserver.Options{Clock: clock(), ActiveAfter: 20 * time.Second})
	p := newProtocol(t, s)
	plan, diags := p.Plan(typeName, nil, withImage("1"))
	p.ExpectNone(diags)
	var log bytes.Buffer
	r, diags := p.WithContext(tflogtest.RootLogger(t.Context(), &log)).Apply(plan)
	p.ExpectNone(diags)
	lines, err := tflogtest.MultilineJSONDecode(&log)
	if err != nil {
		t.Fatal(err)
	}
	statuses := map[any]bool{}
	for _, line := range lines {
		if line["@message"] == "Waiting for a deployment" && line["@level"] == "info" &&
			line["latest_revision_id"] == p.text(r, "latest_revision_id") {
			statuses[line["revision_status"]] = true
		}
	}
	if !statuses["BUILDING"] || !statuses["DEPLOYING"] {
		t.Errorf("logged statuses are %v", statuses)
	}
}

// The status of a revision may be there only a moment after the deployment shows the revision.
func TestRollout_statusThatIsNotThereYet(t *testing.T) {
	t.Parallel()
	s := newService(t, fakeserver.Options{NoActiveRevision: true, FailingVersions: "bad"})
	s.Fail(fakeserver.ReadRevision, 1, fakeserver.Fault{Status: 404})
	p := newProtocol(t, s)
	plan, diags := p.Plan(typeName, nil, withImage("bad"))
	p.ExpectNone(diags)
	_, diags = p.Apply(plan)
	protocoltest.Expect(t, diags, protocoltest.Error("Revision failed", "", "DEPLOY_FAILED"))
}
