package provider_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/hashicorp/terraform-plugin-go/tfprotov6"
	"github.com/hashicorp/terraform-plugin-go/tftypes"

	"github.com/graphdeploy/terraform-provider-graphdeploy/internal/fakeserver"
	"github.com/graphdeploy/terraform-provider-graphdeploy/internal/protocoltest"
)

// commits sets the trigger of a deployment.
func commits(commit string) object { return object{"redeploy_triggers": object{"commit": commit}} }

func fromBranch(arguments ...object) object {
	return appConfig("codehost", append([]object{{"source_config": object{"repo_url": "https://codehost.example/acme/app"},
		"source_revision_config": object{"repo_ref": "main", "graph_config_path": "graph.json"}}}, arguments...)...)
}

// A redeployment sends the complete source_revision_config, and waits for the revision.
func TestRedeploy_triggers(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		options fakeserver.Options
		config  func(...object) object
		sent    string
	}{
		"branch": {fakeserver.Options{}, fromBranch,
			`[{"source_revision_config":{"graph_config_path":"graph.json","repo_ref":"main"}}]`},
		"commits": {fakeserver.Options{ResolveRefs: true}, fromBranch,
			`[{"source_revision_config":{"graph_config_path":"graph.json","repo_ref":"main"}}]`},
		"branch and image": {fakeserver.Options{}, func(more ...object) object {
			return merged(fromBranch(more...), object{"source_revision_config": object{"image_uri": "base:1"}})
		}, `[{"source_revision_config":{"graph_config_path":"graph.json","image_uri":"base:1","repo_ref":"main"}}]`},
		"image": {fakeserver.Options{}, func(more ...object) object { return withImage("latest", more...) },
			`[{"source_revision_config":{"image_uri":"shop:latest"}}]`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c.options.Clock, c.options.ActiveAfter = clock(), 20*time.Second
			s := newService(t, c.options)
			p := newProtocol(t, s)
			r := p.MustApply(typeName, nil, c.config(commits("a"))) // nothing to do in a create
			r = p.MustApply(typeName, r, c.config())                // nor on removal
			if sent := s.patches(t); len(sent) > 0 {
				t.Errorf("sent %s, want nothing", inJSON(sent))
			}
			for _, commit := range []string{"a", "b"} { // set on an existing deployment, and changed
				before := p.text(r, "latest_revision_id")
				s.ResetRequests()
				r = p.MustApply(typeName, r, c.config(commits(commit)))
				if latest := p.text(r, "latest_revision_id"); latest == before || latest != p.text(r, "active_revision_id") {
					t.Errorf("latest %s, active %s, before %s", latest, p.text(r, "active_revision_id"), before)
				}
				if got := inJSON(s.patches(t)); got != c.sent {
					t.Errorf("sent %s, want %s", got, c.sent)
				}
				p.plans(r, c.config(commits(commit)))
			}
		})
	}
}

// Members that the provider does not know, changes of the same plan, and null for what is removed are sent, too.
func TestRedeploy_triggersWithOtherChanges(t *testing.T) {
	t.Parallel()
	m := create(t, fakeserver.Options{KeepUnknown: true, DocumentedRulesOnly: true, Defaults: map[string]any{}},
		`{"source": "codehost",
		"source_config": {"repo_url": "https://codehost.example/acme/app"}, "source_revision_config": {"repo_ref": "main", `+
			`"graph_config_path": "a.json"}}`)
	m.s.edit(t, "source_revision_config.zone", "z1")()
	const after = `{"source": "codehost", "redeploy_triggers": {"a": "1"}, ` +
		`"source_config": {"repo_url": "https://codehost.example/acme/app"},
		"source_revision_config": {"repo_ref": "dev"}}`
	m.apply(allOperations, after, "")
	m.expectSent(`[{"source_revision_config":{"graph_config_path":null,"repo_ref":"dev","zone":"z1"}}]`)
	m.expectNoop(allOperations, after)
}

// What the service has built of a configured image is not sent in its place.
func TestRedeploy_triggersSendTheConfiguredImage(t *testing.T) {
	t.Parallel()
	s := newService(t, fakeserver.Options{})
	p := newProtocol(t, s)
	config := func(commit string) object {
		return merged(fromBranch(commits(commit)), object{"source_revision_config": object{"image_uri": "base:1"}})
	}
	r := p.MustApply(typeName, nil, config("a"))
	s.edit(t, "source_revision_config.image_uri", "built:1")()
	p.MustApply(typeName, r, config("b"))
	if got := inJSON(s.patches(t)); got != `[{"source_revision_config":{"graph_config_path":"graph.json",`+
		`"image_uri":"base:1","repo_ref":"main"}}]` {
		t.Errorf("sent %s", got)
	}
}

// The trigger counts as not applied: the next plan repeats it.
func TestRedeploy_withoutNewRevisionIsAnError(t *testing.T) {
	t.Parallel()
	s := newService(t, fakeserver.Options{IgnorePatch: true})
	p := newProtocol(t, s)
	r := p.MustApply(typeName, nil, withImage("1", commits("a")))
	latest := p.text(r, "latest_revision_id")
	r = p.update(r, withImage("1", commits("b")), protocoltest.Error("No new revision", "", `"app"`, latest,
		"redeploy_triggers"))
	if triggers := p.Values(r)["redeploy_triggers"].(object); triggers["commit"] != "a" {
		t.Errorf("redeploy_triggers in the state are %v", triggers)
	}
	plan, diags := p.Plan(typeName, r, withImage("1", commits("b")))
	p.ExpectNone(diags)
	if !plan.HasChanges {
		t.Error("the next plan is empty")
	}
}

func TestRedeploy_whereNoRevisionsAreReportedIsAWarning(t *testing.T) {
	t.Parallel()
	s := newService(t, fakeserver.Options{NoRevisions: true})
	p := newProtocol(t, s)
	r := p.MustApply(typeName, nil, withImage("1"))
	r = p.update(r, withImage("1", commits("a")), protocoltest.Warning("Cannot verify the redeployment", "", `"app"`,
		"redeploy_triggers"))
	p.plans(r, withImage("1", commits("a")))
}

// The revision may be listed later than the PATCH responds.
func TestRedeploy_revisionIsAwaited(t *testing.T) {
	t.Parallel()
	s := newService(t, fakeserver.Options{IgnorePatch: true})
	p := &protocol{Provider: protocoltest.New(t, newPatientServer()), t: t}
	p.ExpectNone(p.Configure(object{"base_url": s.url}))
	r := p.MustApply(typeName, nil, withImage("1"))
	plan, diags := p.Plan(typeName, r, withImage("1", commits("a")))
	p.ExpectNone(diags)
	s.Fail(fakeserver.ListDeployments, 3, fakeserver.Fault{Reached: func() {}})
	s.Fail(fakeserver.ListDeployments, 1, fakeserver.Fault{Reached: func() { s.NewRevision(p.text(r, "id")) }})
	r, diags = p.Apply(plan)
	p.ExpectNone(diags)
	p.plans(r, withImage("1", commits("a")))
}

// invoke plans and invokes the action, and returns what it reports.
func (p *protocol) invoke(config object) (progress []string, diags protocoltest.Diagnostics) {
	p.t.Helper()
	server, ok := p.Server.(tfprotov6.ActionServer)
	if !ok {
		p.t.Fatal("the provider has no actions")
	}
	const name = "graphdeploy_redeploy"
	values := map[string]tftypes.Value{}
	for argument, value := range config {
		values[argument] = tftypes.NewValue(tftypes.String, value)
	}
	packed := p.value(p.Schema.ActionSchemas[name].Schema.ValueType(), values)
	valid, err := server.ValidateActionConfig(p.t.Context(), &tfprotov6.ValidateActionConfigRequest{ActionType: name,
		Config: packed})
	if err != nil {
		p.t.Fatal(err)
	}
	if diags = valid.Diagnostics; diags.HasError() {
		return nil, diags
	}
	planned, err := server.PlanAction(p.t.Context(), &tfprotov6.PlanActionRequest{ActionType: name, Config: packed})
	if err != nil {
		p.t.Fatal(err)
	}
	if diags = append(diags, planned.Diagnostics...); diags.HasError() {
		return nil, diags
	}
	stream, err := server.InvokeAction(context.WithoutCancel(p.t.Context()),
		&tfprotov6.InvokeActionRequest{ActionType: name, Config: packed})
	if err != nil {
		p.t.Fatal(err)
	}
	for event := range stream.Events {
		switch event := event.Type.(type) {
		case tfprotov6.ProgressInvokeActionEventType:
			progress = append(progress, event.Message)
		case tfprotov6.CompletedInvokeActionEventType:
			diags = append(diags, event.Diagnostics...)
		}
	}
	return progress, diags
}

func TestRedeployAction(t *testing.T) {
	t.Parallel()
	s := newService(t, fakeserver.Options{Clock: clock(), ActiveAfter: 20 * time.Second})
	p := newProtocol(t, s)
	r := p.MustApply(typeName, nil, fromBranch())
	id, before := p.text(r, "id"), p.text(r, "latest_revision_id")
	s.ResetRequests()
	progress, diags := p.invoke(object{"id": strings.ToUpper(id)})
	p.ExpectNone(diags)
	if sent := inJSON(s.patches(t)); sent != `[{"source_revision_config":{"graph_config_path":"graph.json",`+
		`"repo_ref":"main"}}]` {
		t.Errorf("sent %s", sent)
	}
	d := s.stored(t)
	if d["latest_revision_id"] == before || d["latest_revision_id"] != d["active_revision_id"] {
		t.Errorf("latest %v, active %v, before %s", d["latest_revision_id"], d["active_revision_id"], before)
	}
	text := strings.Join(progress, "\n")
	for _, word := range []string{`"app"`, "BUILDING", "DEPLOYING", "is active", d["latest_revision_id"].(string)} {
		if !strings.Contains(text, word) {
			t.Errorf("no progress message has %q:\n%s", word, text)
		}
	}
	p.plans(r, fromBranch()) // the revision is refreshed
}

func TestRedeployAction_arguments(t *testing.T) {
	t.Parallel()
	s := newService(t, fakeserver.Options{ResolveRefs: true})
	p := newProtocol(t, s)
	r := p.MustApply(typeName, nil, fromBranch())
	id := p.text(r, "id")
	commit := s.stored(t)["source_revision_config"].(map[string]any)["repo_commit_sha"].(string)
	s.ResetRequests()
	_, diags := p.invoke(object{"id": id})
	protocoltest.Expect(t, diags, protocoltest.Warning("Commit is redeployed", "", `"app"`, commit, "repo_ref"))
	_, diags = p.invoke(object{"id": id, "repo_ref": "main", "wait_until": "created", "timeout": "1h"})
	p.ExpectNone(diags)
	want := `[{"source_revision_config":{"graph_config_path":"graph.json","repo_ref":"` + commit + `"}},` +
		`{"source_revision_config":{"graph_config_path":"graph.json","repo_ref":"main"}}]`
	if sent := inJSON(s.patches(t)); sent != want {
		t.Errorf("sent %s, want %s", sent, want)
	}
	for _, config := range []object{{"id": "app"}, {"id": id, "repo_ref": ""}, {"id": id, "wait_until": "done"},
		{"id": id, "timeout": "soon"}} {
		_, diags := p.invoke(config)
		if len(diags) != 1 || !diags.HasError() {
			t.Errorf("%v reports %s", config, diags)
		}
	}
}

func TestRedeployAction_failures(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		options  fakeserver.Options
		settings object
		prepare  func(s *service)
		config   object
		want     protocoltest.Message
	}{
		"documented operations only": {fakeserver.Options{}, object{"documented_operations_only": true}, nil, nil,
			protocoltest.Error("Deployment cannot be redeployed", "", "documented_operations_only")},
		"not supported": {fakeserver.Options{Documented: true}, nil, nil, nil,
			protocoltest.Error("Service does not support updates", "", "405")},
		"not listed": {fakeserver.Options{}, nil, func(s *service) { s.Remove(s.Deployments()[0]["id"].(string)) }, nil,
			protocoltest.Error("No such deployment", "id")},
		"rejected": {fakeserver.Options{}, nil, func(s *service) {
			s.Fail(fakeserver.UpdateDeployment, 1, fakeserver.Fault{Status: 409})
		}, nil, protocoltest.Error("Cannot redeploy deployment ID", "", "409")},
		"lost": {fakeserver.Options{}, nil, func(s *service) {
			s.Fail(fakeserver.UpdateDeployment, 1, fakeserver.Fault{Cut: true})
		}, nil, protocoltest.Error("Outcome of the redeployment is unknown", "", `"app"`)},
		"no new revision": {fakeserver.Options{IgnorePatch: true}, nil, nil, nil, protocoltest.Error("No new revision", "",
			`"app"`)},
		"no revisions": {fakeserver.Options{NoRevisions: true}, nil, nil, nil,
			protocoltest.Warning("Cannot verify the redeployment", "", `"app"`)},
		"failed build": {fakeserver.Options{}, nil, func(s *service) { s.EndNextRevision("BUILD_FAILED") }, nil,
			protocoltest.Error("Revision failed", "", `"app"`, "redeployed", "BUILD_FAILED")},
		"time limit": {fakeserver.Options{}, nil, func(s *service) { s.EndNextRevision("QUEUED") },
			object{"timeout": "500ms"},
			protocoltest.Error("New revision does not run yet", "", `"app"`, "QUEUED", "raise timeout")},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newService(t, c.options)
			id := s.SeedDeployment(map[string]any{"name": "app", "source": "external_docker",
				"source_revision_config": map[string]any{"image_uri": "a:1"}})
			p := newProtocol(t, s, c.settings)
			if c.prepare != nil {
				c.prepare(s)
			}
			config := merged(object{"id": id}, c.config)
			_, diags := p.invoke(config)
			c.want.Summary = strings.ReplaceAll(c.want.Summary, "ID", id)
			protocoltest.Expect(t, diags, c.want)
		})
	}
}
