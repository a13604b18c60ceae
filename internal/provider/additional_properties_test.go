package provider_test

import (
	"strings"
	"testing"

	"github.com/graphdeploy/terraform-provider-graphdeploy/internal/fakeserver"
	"github.com/graphdeploy/terraform-provider-graphdeploy/internal/protocoltest"
)

func withAdditional(text string, more ...object) object {
	config := appConfig("internal_docker", more...)
	if text != "" {
		config["additional_properties"] = text
	}
	return config
}

func (p *protocol) expectEmptyPlan(r *protocoltest.Resource, config object) {
	p.t.Helper()
	plan, diags := p.Plan(typeName, r, config)
	p.ExpectNone(diags)
	if plan != nil && plan.HasChanges {
		p.t.Errorf("the plan is not empty: %v", p.Planned(plan))
	}
}

// mustRefresh refreshes a resource, which may not report anything.
func (p *protocol) mustRefresh(r *protocoltest.Resource) *protocoltest.Resource {
	p.t.Helper()
	r, diags := p.Read(r)
	p.ExpectNone(diags)
	if r == nil {
		p.t.FailNow()
	}
	return r
}

func TestAdditionalProperties_areSetChangedAndRemoved(t *testing.T) {
	t.Parallel()
	for name, options := range map[string]fakeserver.Options{"merged": {},
		"merged deeply": {Patch: fakeserver.PatchMergeDeep}, "replaced by key": {Patch: fakeserver.PatchReplaceKeys}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			options.KeepUnknown = true
			s := newService(t, options)
			p := newProtocol(t, s)
			config := withAdditional(`{"source_config": {"deployment_type": "prod"}, "region": "eu"}`)
			r := p.MustApply(typeName, nil, config)
			if d := s.stored(t); d["region"] != "eu" || d["source_config"].(map[string]any)["deployment_type"] != "prod" {
				t.Fatalf("the service has %v", d)
			}
			p.expectEmptyPlan(p.mustRefresh(r), config)
			// The same JSON in another form is the same value.
			p.expectEmptyPlan(r, withAdditional(`{"region":"eu","source_config":{"deployment_type":"prod"}}`))

			changed := withAdditional(`{"source_config": {"deployment_type": "dev"}}`)
			r = p.MustApply(typeName, p.mustRefresh(r), changed)
			if d := s.stored(t); d["region"] != nil || d["source_config"].(map[string]any)["deployment_type"] != "dev" {
				t.Errorf("the service has %v after the change", d)
			}
			p.expectEmptyPlan(p.mustRefresh(r), changed)

			r = p.MustApply(typeName, r, withAdditional(""))
			if got := s.stored(t)["source_config"].(map[string]any)["deployment_type"]; got != nil {
				t.Errorf("the service has deployment_type %v after the removal", got)
			}
			p.expectEmptyPlan(p.mustRefresh(r), withAdditional(""))
		})
	}
}

func TestAdditionalProperties_driftIsPlanned(t *testing.T) {
	t.Parallel()
	s := newService(t, fakeserver.Options{KeepUnknown: true})
	p := newProtocol(t, s)
	config := withAdditional(`{"source_config": {"deployment_type": "prod", "quota": {"gpu": 1}}}`)
	r := p.MustApply(typeName, nil, config)
	// What the service adds is no drift.
	s.edit(t, "source_config.quota.tpu", 2)()
	s.edit(t, "app_url", "https://app.example.com")()
	r = p.mustRefresh(r)
	p.expectEmptyPlan(r, config)
	s.edit(t, "source_config.deployment_type", "dev")()
	r = p.mustRefresh(r)
	if text := p.Values(r)["additional_properties"].(string); !strings.Contains(text, `"dev"`) {
		t.Errorf("the state has %s", text)
	}
	r = p.MustApply(typeName, r, config)
	d := s.stored(t)["source_config"].(map[string]any)
	if d["deployment_type"] != "prod" ||
		!jsonEqual(parseJSON(t, asJSON(t, d["quota"])), map[string]any{"gpu": 1.0, "tpu": 2.0}) {
		t.Errorf("the service has %v", d)
	}
	p.expectEmptyPlan(p.mustRefresh(r), config)
}

func TestAdditionalProperties_changeIsRejectedWithDocumentedOperationsOnly(t *testing.T) {
	t.Parallel()
	s := newService(t, fakeserver.Options{KeepUnknown: true})
	p := newProtocol(t, s, object{"documented_operations_only": true})
	r := p.MustApply(typeName, nil, withAdditional(`{"region": "eu"}`))
	_, diags := p.Plan(typeName, r, withAdditional(`{"region": "us"}`))
	protocoltest.Expect(t, diags, protocoltest.Error("Deployment cannot be updated", "", "additional_properties (region)"))
	_, diags = p.Plan(typeName, r, withAdditional(""))
	protocoltest.Expect(t, diags, protocoltest.Error("Deployment cannot be updated", "",
		"additional_properties (region): removed from the configuration"))
}

// A service that reports nothing of them is trusted.
func TestAdditionalProperties_thatAreNotReportedAreNoDrift(t *testing.T) {
	t.Parallel()
	s := newService(t, fakeserver.Options{KeepUnknown: true})
	p := newProtocol(t, s)
	// of the seeds and creates, the fake reports this only with KeepUnknown
	config := withAdditional(`{"deployment_type": "prod"}`)
	r := p.MustApply(typeName, nil, config)
	p.expectEmptyPlan(p.mustRefresh(r), config)
}

func TestAdditionalProperties_areNullAfterAnImport(t *testing.T) {
	t.Parallel()
	s := newService(t, fakeserver.Options{KeepUnknown: true})
	id := s.SeedDeployment(map[string]any{"name": "app", "source": "internal_docker", "region": "eu",
		"source_revision_config": map[string]any{}})
	p := newProtocol(t, s)
	r, diags := p.Import(typeName, id)
	p.ExpectNone(diags)
	if got := p.Values(r)["additional_properties"]; got != nil {
		t.Errorf("additional_properties is %v", got)
	}
	p.MustApply(typeName, r, withAdditional(`{"region": "eu"}`)) // the service has it already
	if n := s.sent("PATCH", id); n != 0 {
		t.Errorf("%d changes were sent, want none", n)
	}
}

func TestAdditionalProperties_thatHaveAnArgumentAreRejected(t *testing.T) {
	t.Parallel()
	p := newProtocol(t, newService(t, fakeserver.Options{}))
	for text, argument := range map[string]string{
		`{"name": "x"}`:   "name",
		`{"secrets": []}`: "secrets",
		`{"Source": "x"}`: "source",
		`{"source_config": {"build_command": "make"}}`:                        "source_config.build_command",
		`{"source_config": {"resource_spec": {"cpu": 1}}}`:                    "source_config.resource_spec.cpu",
		`{"source_config": {"resource_spec": {"gpu": 1, "sidecars": []}}}`:    "source_config.resource_spec.sidecars",
		`{"source_config": {"listener_config": {"k8s_namespace": "x"}}}`:      "source_config.listener_config.k8s_namespace",
		`{"source_config": null}`:                                             "source_config",
		`{"source_config": {"deployment_type": "x", "listener_config": "x"}}`: "source_config.listener_config",
	} {
		_, diags := p.Plan(typeName, nil, withAdditional(text))
		protocoltest.Expect(t, diags, protocoltest.Error("Property with its own argument", "additional_properties",
			"must not contain "+argument+". Use the argument "+argument+" instead."))
	}
	for text, attribute := range map[string]string{
		`{"status": "READY"}`: "status",
		`{"ID": "x"}`:         "id",
		`{"source_revision_config": {"repo_commit_sha": "x", "depth": 1}}`: "source_revision_config.repo_commit_sha",
	} {
		_, diags := p.Plan(typeName, nil, withAdditional(text))
		protocoltest.Expect(t, diags, protocoltest.Error("Read-only property", "additional_properties",
			"must not contain "+attribute+"."))
	}
	for _, text := range []string{"{", "[]", `"x"`, "null"} {
		_, diags := p.Plan(typeName, nil, withAdditional(text))
		protocoltest.Expect(t, diags, protocoltest.Error("Invalid JSON", "additional_properties", "jsonencode"))
	}
}
