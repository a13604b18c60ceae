package fastpath_test

import (
	"bytes"
	"encoding/json"
	"maps"
	"net/http/httptest"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/hashicorp/terraform-plugin-framework/providerserver"
	"github.com/hashicorp/terraform-plugin-go/tfprotov6"
	"github.com/hashicorp/terraform-plugin-go/tftypes"
	"github.com/hashicorp/terraform-plugin-log/tflogtest"

	"github.com/graphdeploy/terraform-provider-graphdeploy/internal/client"
	"github.com/graphdeploy/terraform-provider-graphdeploy/internal/fakeserver"
	"github.com/graphdeploy/terraform-provider-graphdeploy/internal/fastpath"
	"github.com/graphdeploy/terraform-provider-graphdeploy/internal/protocoltest"
	"github.com/graphdeploy/terraform-provider-graphdeploy/internal/provider"
)

const typeName = "graphdeploy_deployment"

type (
	object = protocoltest.Object
	list   = protocoltest.List
)

// pair is the same provider twice, with the fast path and with the framework
// only, for the same service.
type pair struct {
	t         *testing.T
	service   *fakeserver.Server
	fast      *protocoltest.Provider
	framework *protocoltest.Provider
	log       *bytes.Buffer // of fast
}

func newPair(t *testing.T, settings object) *pair {
	t.Helper()
	p := &pair{t: t, service: fakeserver.New(fakeserver.Options{}), log: new(bytes.Buffer)}
	server := httptest.NewServer(p.service)
	t.Cleanup(server.Close)
	create := func() *protocoltest.Provider {
		plain := provider.New("test", func(c *client.Config) {
			c.RetryWait, c.RetryWaitMax, c.PollInterval, c.PollIntervalMax = time.Millisecond, time.Millisecond,
				time.Millisecond, time.Millisecond
		})
		var s tfprotov6.ProviderServer
		if p.fast == nil {
			s = fastpath.NewServer(plain)
		} else {
			s = providerserver.NewProtocol6(plain)()
		}
		one := protocoltest.New(t, s)
		config := object{"base_url": server.URL, "max_retries": 0}
		maps.Copy(config, settings)
		one.ExpectNone(one.Configure(config))
		return one
	}
	p.fast = create()
	p.framework = create()
	p.fast = p.fast.WithContext(tflogtest.RootLogger(t.Context(), p.log))
	return p
}

// taken reports whether the fast path was taken since the last call.
func (p *pair) taken() bool {
	p.t.Helper()
	lines, err := tflogtest.MultilineJSONDecode(p.log)
	if err != nil {
		p.t.Fatal(err)
	}
	p.log.Reset()
	taken := false
	for _, line := range lines {
		if message, _ := line["@message"].(string); strings.HasSuffix(message, "on the fast path") &&
			line["@level"] == "trace" {
			taken = true
		}
	}
	return taken
}

// unpacked is a message of the protocol in a form that can be compared.
func (p *pair) unpacked(typ tftypes.Type, v *tfprotov6.DynamicValue) string {
	p.t.Helper()
	if v == nil {
		return "none"
	}
	value, err := v.Unmarshal(typ)
	if err != nil {
		p.t.Fatal(err)
	}
	return value.String()
}

func (p *pair) object() tftypes.Type { return p.fast.Schema.ResourceSchemas[typeName].ValueType() }

func (p *pair) identity(data *tfprotov6.ResourceIdentityData) string {
	if data == nil {
		return "none"
	}
	return p.unpacked(tftypes.Object{AttributeTypes: map[string]tftypes.Type{"id": tftypes.String}}, data.IdentityData)
}

func (p *pair) private(text []byte) (keys map[string][]byte) {
	p.t.Helper()
	if len(text) > 0 {
		if err := json.Unmarshal(text, &keys); err != nil {
			p.t.Fatal(err)
		}
	}
	return keys
}

func (p *pair) same(what string, fast, framework any) {
	p.t.Helper()
	if !reflect.DeepEqual(fast, framework) {
		p.t.Errorf("%s differs\nfast path: %v\nframework: %v", what, fast, framework)
	}
}

// read refreshes a resource with both, and compares.
func (p *pair) read(r *protocoltest.Resource, wantTaken bool) *protocoltest.Resource {
	p.t.Helper()
	fast, framework := p.fast.ReadResponse(r), p.framework.ReadResponse(r)
	if taken := p.taken(); taken != wantTaken {
		p.t.Errorf("the read took the fast path: %t, want %t", taken, wantTaken)
	}
	p.same("the state", p.unpacked(p.object(), fast.NewState), p.unpacked(p.object(), framework.NewState))
	p.same("private state", p.private(fast.Private), p.private(framework.Private))
	p.same("the identity", p.identity(fast.NewIdentity), p.identity(framework.NewIdentity))
	p.same("diagnostics", protocoltest.Diagnostics(fast.Diagnostics).String(),
		protocoltest.Diagnostics(framework.Diagnostics).String())
	p.same("deferral", fast.Deferred, framework.Deferred)
	return &protocoltest.Resource{Type: typeName, State: fast.NewState, Private: fast.Private, Identity: fast.NewIdentity}
}

// plan plans a configuration with both, and compares.
func (p *pair) plan(r *protocoltest.Resource, config object, wantTaken bool) {
	p.t.Helper()
	fast, fastDiags := p.fast.Plan(typeName, r, config)
	framework, frameworkDiags := p.framework.Plan(typeName, r, config)
	if taken := p.taken(); taken != wantTaken {
		p.t.Errorf("the plan took the fast path: %t, want %t", taken, wantTaken)
	}
	p.same("diagnostics", fastDiags.String(), frameworkDiags.String())
	if fast == nil || framework == nil {
		p.same("the plan", fast == nil, framework == nil)
		return
	}
	p.same("the planned state", p.unpacked(p.object(), fast.Response.PlannedState),
		p.unpacked(p.object(), framework.Response.PlannedState))
	p.same("planned private state", p.private(fast.Response.PlannedPrivate), p.private(framework.Response.PlannedPrivate))
	p.same("the planned identity", p.identity(fast.Response.PlannedIdentity),
		p.identity(framework.Response.PlannedIdentity))
	p.same("replacement", fast.Response.RequiresReplace, framework.Response.RequiresReplace)
}

func app(more ...object) object {
	config := object{"name": "app", "source": "internal_docker", "source_config": object{"resource_spec": object{"cpu": 1,
		"labels": object{"a": "b"}, "sidecars": list{object{"name": "proxy", "image": "proxy:1", "args": list{"-v"}}}}}}
	for _, m := range more {
		maps.Copy(config, m)
	}
	return config
}

func TestFastPath_respondsAsTheFramework(t *testing.T) {
	t.Parallel()
	documented := object{"documented_operations_only": true}
	for name, test := range map[string]func(t *testing.T, p *pair){
		"unchanged": func(_ *testing.T, p *pair) {
			r := p.framework.MustApply(typeName, nil, app())
			p.plan(p.read(r, true), app(), true)
		},
		"unchanged with secrets": func(_ *testing.T, p *pair) {
			config := app(object{"secrets": object{"A": "one"}})
			r := p.framework.MustApply(typeName, nil, config)
			p.plan(p.read(r, true), config, true)
		},
		"unchanged write-only secrets": func(_ *testing.T, p *pair) {
			config := app(object{"secrets_wo": object{"A": "one"}, "secrets_wo_version": "1"})
			r := p.framework.MustApply(typeName, nil, config)
			p.plan(p.read(r, true), config, true)
			// without a new version, nothing is sent
			p.plan(r, app(object{"secrets_wo": object{"A": "two"}, "secrets_wo_version": "1"}), true)
			p.plan(r, app(object{"secrets_wo": object{"A": "two"}, "secrets_wo_version": "2"}), false)
		},
		"state without an identity": func(_ *testing.T, p *pair) {
			r := p.framework.MustApply(typeName, nil, app())
			r.Identity = nil
			p.plan(r, app(), true)
			p.read(r, true)
		},
		"changed in the service": func(_ *testing.T, p *pair) {
			r := p.framework.MustApply(typeName, nil, app())
			p.service.Edit(p.framework.Values(r)["id"].(string), func(d map[string]any) {
				d["status"] = "UNKNOWN"
				d["source_config"].(map[string]any)["resource_spec"].(map[string]any)["cpu"] = 2
			})
			p.plan(p.read(r, false), app(), false)
		},
		"changed in the configuration": func(_ *testing.T, p *pair) {
			r := p.framework.MustApply(typeName, nil, app())
			p.plan(r, app(object{"source_config": object{"build_command": "make"}}), false)
			p.plan(r, app(object{"wait_until": "active"}), false)
			p.plan(r, app(object{"name": "other"}), false)
			p.plan(r, app(object{"source_config": nil}), true) // Terraform proposes the prior state
			p.plan(r, app(object{"source_config": object{"build_command": protocoltest.Unknown}}), false)
		},
		"deleted in the service": func(_ *testing.T, p *pair) {
			r := p.framework.MustApply(typeName, nil, app())
			p.service.Remove(p.framework.Values(r)["id"].(string))
			p.read(r, true)
		},
		"being deleted": func(_ *testing.T, p *pair) {
			r := p.framework.MustApply(typeName, nil, app())
			p.service.Edit(p.framework.Values(r)["id"].(string), func(d map[string]any) { d["status"] = "AWAITING_DELETE" })
			p.plan(p.read(r, false), app(), true) // with a warning
		},
		"create and destroy": func(_ *testing.T, p *pair) {
			p.plan(nil, app(), false)
			p.plan(p.framework.MustApply(typeName, nil, app()), nil, false)
		},
		"imported": func(t *testing.T, p *pair) {
			id := p.service.SeedDeployment(map[string]any{"name": "app", "source": "internal_docker",
				"source_revision_config": map[string]any{}})
			one, err := p.framework.Server.ImportResourceState(t.Context(),
				&tfprotov6.ImportResourceStateRequest{TypeName: typeName, ID: id})
			if err != nil || len(one.Diagnostics) > 0 {
				t.Fatal(err, one.Diagnostics)
			}
			stub := one.ImportedResources[0]
			r := p.read(&protocoltest.Resource{Type: typeName, State: stub.State, Private: stub.Private,
				Identity: stub.Identity}, false)
			p.plan(p.read(r, true), object{"name": "app", "source": "internal_docker"}, true)
		},
		"unknown settings": func(_ *testing.T, p *pair) {
			r := p.framework.MustApply(typeName, nil, app())
			for _, deferral := range []bool{false, true} {
				for _, one := range []*protocoltest.Provider{p.fast, p.framework} {
					one.DeferralAllowed = deferral
					one.ExpectNone(one.Configure(object{"base_url": protocoltest.Unknown}))
				}
				p.read(r, !deferral) // it fails, or is deferred
				p.plan(r, app(), true)
				p.plan(r, app(object{"source_config": nil}), !deferral)
			}
		},
		"failed read": func(_ *testing.T, p *pair) {
			r := p.framework.MustApply(typeName, nil, app())
			p.service.Fail(fakeserver.ListDeployments, -1, fakeserver.Fault{Status: 403})
			p.read(r, true)
			r.Identity = nil
			p.read(r, true)
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			t.Run("documented operations", func(t *testing.T) { test(t, newPair(t, nil)) })
			t.Run("documented operations only", func(t *testing.T) { test(t, newPair(t, documented)) })
		})
	}
}

func TestFastPath_upgradesStateAsTheFramework(t *testing.T) {
	t.Parallel()
	p := newPair(t, nil)
	for name, state := range map[string]string{
		"complete": `{"id": "0b7d6a52-9f0e-4f7c-8d7e-6f1c2a3b4d5e", "name": "app", "source": "codehost",
  "source_config": {"resource_spec": {"cpu": 0.5, "labels": {"a": "b"}}}}`,
		"of another version":         `{"name": "app", "removed": true}`,
		"with a value of wrong type": `{"name": ["app"]}`,
	} {
		req := &tfprotov6.UpgradeResourceStateRequest{TypeName: typeName,
			RawState: &tfprotov6.RawState{JSON: []byte(complete(t, p, state))}}
		fast, err := p.fast.Server.UpgradeResourceState(t.Context(), req)
		if err != nil {
			t.Fatal(err)
		}
		framework, err := p.framework.Server.UpgradeResourceState(t.Context(), req)
		if err != nil {
			t.Fatal(err)
		}
		p.same(name+": the state", p.unpacked(p.object(), fast.UpgradedState),
			p.unpacked(p.object(), framework.UpgradedState))
		p.same(name+": diagnostics", protocoltest.Diagnostics(fast.Diagnostics).String(),
			protocoltest.Diagnostics(framework.Diagnostics).String())
	}
}

// complete adds the attributes that a state has as null.
func complete(t *testing.T, p *pair, state string) string {
	t.Helper()
	var values map[string]any
	if err := json.Unmarshal([]byte(state), &values); err != nil {
		t.Fatal(err)
	}
	var add func(typ tftypes.Type, v any)
	add = func(typ tftypes.Type, v any) {
		object, ok := v.(map[string]any)
		described, isObject := typ.(tftypes.Object)
		if !ok || !isObject {
			return
		}
		for name, inner := range described.AttributeTypes {
			if _, has := object[name]; !has {
				object[name] = nil
			}
			add(inner, object[name])
		}
	}
	add(p.object(), values)
	text, err := json.Marshal(values)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func TestFastPath_environmentSwitchesItOff(t *testing.T) {
	t.Setenv(fastpath.EnvFrameworkOnly, "1")
	p := newPair(t, nil)
	r := p.framework.MustApply(typeName, nil, app())
	p.plan(p.read(r, false), app(), false)
}

// Whatever has sent a request on the fast path must not be repeated by the
// framework.
func TestFastPath_requestsAreNotRepeated(t *testing.T) {
	t.Parallel()
	id := func(p *pair, r *protocoltest.Resource) string { return p.framework.Values(r)["id"].(string) }
	for name, request := range map[string]func(p *pair, r *protocoltest.Resource) protocoltest.Diagnostics{
		"failed read": func(p *pair, r *protocoltest.Resource) protocoltest.Diagnostics {
			p.service.Fail(fakeserver.ListDeployments, -1, fakeserver.Fault{Status: 500})
			_, diags := p.fast.Read(r)
			return diags
		},
		"read of a deleted deployment": func(p *pair, r *protocoltest.Resource) protocoltest.Diagnostics {
			p.service.Remove(id(p, r))
			_, diags := p.fast.Read(r)
			return diags
		},
		"read of a changed deployment": func(p *pair, r *protocoltest.Resource) protocoltest.Diagnostics {
			p.service.Edit(id(p, r), func(d map[string]any) { d["status"] = "UNKNOWN" })
			_, diags := p.fast.Read(r)
			return diags
		},
		"plan of a removal": func(p *pair, r *protocoltest.Resource) protocoltest.Diagnostics {
			_, diags := p.fast.Plan(typeName, r, app(object{"source_config": nil}))
			return diags
		},
		"failed plan of a removal": func(p *pair, r *protocoltest.Resource) protocoltest.Diagnostics {
			p.service.Fail(fakeserver.ListDeployments, -1, fakeserver.Fault{Status: 500})
			_, diags := p.fast.Plan(typeName, r, app(object{"source_config": nil}))
			return diags
		},
		"data source without a match": func(p *pair, _ *protocoltest.Resource) protocoltest.Diagnostics {
			_, diags := p.fast.ReadData(typeName, object{"id": "aaaaaaaa-bbbb-4ccc-8ddd-000000000001"})
			return diags
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newPair(t, nil)
			r := p.framework.MustApply(typeName, nil, app())
			p.service.ResetRequests()
			diags := request(p, r)
			if n := len(p.service.Requests()); n != 1 {
				t.Errorf("%d requests, want 1; diagnostics:\n%s", n, diags)
			}
		})
	}
}

// readData reads a data source with both, and compares.
func (p *pair) readData(typ string, config object) {
	p.t.Helper()
	fast, _ := p.fast.ReadDataResponse(typ, config)
	framework, _ := p.framework.ReadDataResponse(typ, config)
	if !p.taken() {
		p.t.Error("the read did not take the fast path")
	}
	p.same("diagnostics", protocoltest.Diagnostics(fast.Diagnostics).String(),
		protocoltest.Diagnostics(framework.Diagnostics).String())
	if !protocoltest.Diagnostics(fast.Diagnostics).HasError() {
		object := p.fast.Schema.DataSourceSchemas[typ].ValueType()
		p.same("the state", p.unpacked(object, fast.State), p.unpacked(object, framework.State))
	}
}

func TestFastPath_dataSourcesRespondAsTheFramework(t *testing.T) {
	t.Parallel()
	p := newPair(t, nil)
	p.framework.MustApply(typeName, nil, app())
	p.readData(typeName, object{"name": "app"})
	p.readData(typeName, object{"name": "other"}) // an error at an attribute
	p.service.Fail(fakeserver.ListDeployments, -1, fakeserver.Fault{Status: 500})
	p.readData(typeName, object{"name": "app"})
}
