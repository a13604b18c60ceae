package provider_test

import (
	"context"
	"fmt"
	"maps"
	"strings"
	"sync"
	"testing"

	"github.com/hashicorp/terraform-plugin-go/tfprotov6"
	"github.com/hashicorp/terraform-plugin-go/tftypes"

	"github.com/graphdeploy/terraform-provider-graphdeploy/internal/fakeserver"
	"github.com/graphdeploy/terraform-provider-graphdeploy/internal/protocoltest"
)

// What only newer versions of Terraform request, and wide tables of cases, are
// tested through the protocol that Terraform speaks.

// protocol is a configured provider, called as Terraform calls it.
type protocol struct {
	*protocoltest.Provider
	t      *testing.T
	server tfprotov6.ProviderServer
	schema *tfprotov6.GetProviderSchemaResponse
}

// newProtocol is a provider of a service, with more settings if given.
func newProtocol(t *testing.T, s *service, settings ...object) *protocol {
	t.Helper()
	p := unconfigured(t)
	config := object{"base_url": s.url}
	for _, more := range settings {
		maps.Copy(config, more)
	}
	p.ExpectNone(p.Configure(config))
	return p
}

func unconfigured(t *testing.T) *protocol {
	t.Helper()
	return newProvider(t, newServer())
}

func newProvider(t *testing.T, server tfprotov6.ProviderServer) *protocol {
	t.Helper()
	p := protocoltest.NewWithSchema(t, server, schemaOfProvider(t))
	return &protocol{p, t, server, p.Schema}
}

// schemaOfProvider is asked for once.
func schemaOfProvider(t *testing.T) *tfprotov6.GetProviderSchemaResponse {
	t.Helper()
	schema, err := schemaOnce()
	if err != nil {
		t.Fatal(err)
	}
	return schema
}

var schemaOnce = sync.OnceValues(func() (*tfprotov6.GetProviderSchemaResponse, error) {
	return newServer().GetProviderSchema(context.Background(), &tfprotov6.GetProviderSchemaRequest{})
})

type (
	object = protocoltest.Object
	list   = protocoltest.List
)

// value is an object of a type, null but for some attributes.
func (p *protocol) value(typ tftypes.Type, set map[string]tftypes.Value) *tfprotov6.DynamicValue {
	p.t.Helper()
	values := map[string]tftypes.Value{}
	for name, of := range typ.(tftypes.Object).AttributeTypes {
		values[name] = tftypes.NewValue(of, nil)
	}
	for name, v := range set {
		values[name] = v
	}
	encoded, err := tfprotov6.NewDynamicValue(typ, tftypes.NewValue(typ, values))
	if err != nil {
		p.t.Fatal(err)
	}
	return &encoded
}

// attributes unpacks an object.
func (p *protocol) attributes(typ tftypes.Type, v *tfprotov6.DynamicValue) map[string]tftypes.Value {
	p.t.Helper()
	decoded, err := v.Unmarshal(typ)
	if err != nil {
		p.t.Fatal(err)
	}
	return attributesIn(p.t, decoded)
}

func attributesIn(t *testing.T, object tftypes.Value) (all map[string]tftypes.Value) {
	t.Helper()
	if err := object.As(&all); err != nil {
		t.Fatal(err)
	}
	return all
}

const typeName = "graphdeploy_deployment"

func (p *protocol) deploymentType() tftypes.Type {
	return p.schema.ResourceSchemas[typeName].ValueType()
}

func (p *protocol) identityType() tftypes.Type {
	p.t.Helper()
	schemas, err := p.server.GetResourceIdentitySchemas(p.t.Context(), &tfprotov6.GetResourceIdentitySchemasRequest{})
	if err != nil {
		p.t.Fatal(err)
	}
	return schemas.IdentitySchemas[typeName].ValueType()
}

func (p *protocol) identity(id string) *tfprotov6.ResourceIdentityData {
	return &tfprotov6.ResourceIdentityData{IdentityData: p.value(p.identityType(),
		map[string]tftypes.Value{"id": tftypes.NewValue(tftypes.String, id)})}
}

func textOf(t *testing.T, v tftypes.Value) (s string) {
	t.Helper()
	if err := v.As(&s); err != nil {
		t.Fatal(err)
	}
	return s
}

func TestImport_identity(t *testing.T) {
	t.Parallel()
	s := newService(t, fakeserver.Options{})
	id := s.SeedDeployment(map[string]any{"name": "app"})
	p := newProtocol(t, s)
	imported, err := p.server.ImportResourceState(t.Context(),
		&tfprotov6.ImportResourceStateRequest{TypeName: typeName, Identity: p.identity(strings.ToUpper(id))})
	if err != nil {
		t.Fatal(err)
	}
	p.ExpectNone(imported.Diagnostics)
	one := imported.ImportedResources[0]
	read, err := p.server.ReadResource(t.Context(),
		&tfprotov6.ReadResourceRequest{TypeName: typeName, CurrentState: one.State,
			Private: one.Private, CurrentIdentity: one.Identity})
	if err != nil {
		t.Fatal(err)
	}
	p.ExpectNone(read.Diagnostics)
	if name := textOf(t, p.attributes(p.deploymentType(), read.NewState)["name"]); name != "app" {
		t.Errorf("name is %q", name)
	}
	if got := textOf(t, p.attributes(p.identityType(), read.NewIdentity.IdentityData)["id"]); !strings.EqualFold(got, id) {
		t.Errorf("identity is %q, want %q", got, id)
	}
}

func TestImport_identityThatIsNoUUIDIsRejected(t *testing.T) {
	t.Parallel()
	p := newProtocol(t, newService(t, fakeserver.Options{}))
	imported, err := p.server.ImportResourceState(t.Context(),
		&tfprotov6.ImportResourceStateRequest{TypeName: typeName, Identity: p.identity("app")})
	if err != nil {
		t.Fatal(err)
	}
	protocoltest.Expect(t, imported.Diagnostics, protocoltest.Error("Invalid UUID", "id", `got "app"`,
		"To import by name, use id instead of identity."))
}

func TestImport_nameThatLooksLikeAUUID(t *testing.T) {
	t.Parallel()
	s := newService(t, fakeserver.Options{})
	const name = "0f0e0d0c-aaaa-4bbb-8ccc-000000000000"
	id := s.SeedDeployment(map[string]any{"name": name})
	p := newProtocol(t, s)
	r, diags := p.Import(typeName, name)
	p.ExpectNone(diags)
	if got := p.Values(r)["id"]; got != id {
		t.Errorf("imported %v, want %s", got, id)
	}
	// An id takes precedence over a name.
	other := s.SeedDeployment(map[string]any{"name": id})
	r, diags = p.Import(typeName, id)
	p.ExpectNone(diags)
	if got := p.Values(r)["id"]; got != id {
		t.Errorf("imported %v, want %s and not %s", got, id, other)
	}
	_, diags = p.Import(typeName, "99999999-9999-4999-8999-999999999999")
	protocoltest.Expect(t, diags, protocoltest.Error("No such deployment", "", "99999999-9999-4999-8999-999999999999"))
}

// list runs a list block as terraform query does, and takes at most n results.
func (p *protocol) list(n int, limit int64, include bool,
	config map[string]tftypes.Value) []tfprotov6.ListResourceResult {
	p.t.Helper()
	server, ok := p.server.(tfprotov6.ListResourceServer)
	if !ok {
		p.t.Fatal("the provider has no list resources")
	}
	block := p.value(p.schema.ListResourceSchemas[typeName].ValueType(), config)
	valid, err := server.ValidateListResourceConfig(p.t.Context(),
		&tfprotov6.ValidateListResourceConfigRequest{TypeName: typeName, Config: block})
	if err != nil {
		p.t.Fatal(err)
	}
	if len(valid.Diagnostics) > 0 {
		return []tfprotov6.ListResourceResult{{Diagnostics: valid.Diagnostics}}
	}
	stream, err := server.ListResource(p.t.Context(),
		&tfprotov6.ListResourceRequest{TypeName: typeName, Config: block, Limit: limit, IncludeResource: include})
	if err != nil {
		p.t.Fatal(err)
	}
	var results []tfprotov6.ListResourceResult
	for result := range stream.Results {
		if results = append(results, result); len(results) == n {
			break
		}
	}
	return results
}

func textSet(values ...string) tftypes.Value {
	list := []tftypes.Value{}
	for _, v := range values {
		list = append(list, tftypes.NewValue(tftypes.String, v))
	}
	return tftypes.NewValue(tftypes.Set{ElementType: tftypes.String}, list)
}

func TestListResource_filters(t *testing.T) {
	t.Parallel()
	s := newService(t, fakeserver.Options{ExtraFields: true})
	var ids []string
	for i := range 250 {
		ids = append(ids,
			s.SeedDeployment(map[string]any{"name": fmt.Sprintf("app-%03d", i), "image_version": fmt.Sprint(i % 2),
				"secrets": []any{map[string]any{"name": "KEY", "value": "planted"}}}))
	}
	p := newProtocol(t, s)
	text := func(v string) tftypes.Value { return tftypes.NewValue(tftypes.String, v) }
	for name, c := range map[string]struct {
		config map[string]tftypes.Value
		limit  int64
		want   int
	}{
		"all":               {nil, 0, 250},
		"a limit":           {nil, 7, 7},
		"a limit of pages":  {nil, 150, 150},
		"by name":           {map[string]tftypes.Value{"name_contains": text("app-00")}, 0, 10},
		"by image version":  {map[string]tftypes.Value{"image_version": text("1")}, 0, 125},
		"by status":         {map[string]tftypes.Value{"status": text("UNUSED")}, 0, 0},
		"by reconciliation": {map[string]tftypes.Value{"remote_reconciled": tftypes.NewValue(tftypes.Bool, true)}, 0, 0},
		"by type":           {map[string]tftypes.Value{"deployment_type": text("prod")}, 0, 0},
		"by tags":           {map[string]tftypes.Value{"tag_value_ids": textSet("a", "b")}, 0, 0},
		"by ids":            {map[string]tftypes.Value{"deployment_ids": textSet(ids[:120]...)}, 0, 120},
		"by no ids":         {map[string]tftypes.Value{"deployment_ids": textSet()}, 0, 0},
		"by no tags":        {map[string]tftypes.Value{"tag_value_ids": textSet()}, 0, 0},
	} {
		t.Run(name, func(t *testing.T) {
			results := p.list(-1, c.limit, false, c.config)
			if len(results) != c.want {
				t.Fatalf("%d results, want %d", len(results), c.want)
			}
			for _, r := range results {
				p.ExpectNone(r.Diagnostics)
			}
		})
	}
	t.Run("with the resource", func(t *testing.T) {
		for i, r := range p.list(-1, 2, true, nil) {
			if want := fmt.Sprintf("app-%03d", i); r.DisplayName != want {
				t.Errorf("display name is %q, want %q", r.DisplayName, want)
			}
			if got := textOf(t, p.attributes(p.identityType(), r.Identity.IdentityData)["id"]); got != ids[i] {
				t.Errorf("identity is %q, want %q", got, ids[i])
			}
			state := p.attributes(p.deploymentType(), r.Resource)
			if got := textOf(t, state["image_version"]); got != fmt.Sprint(i%2) {
				t.Errorf("image_version is %q", got)
			}
			if !state["secrets"].IsNull() {
				t.Error("secrets are in the resource")
			}
		}
	})
	t.Run("page by page", func(t *testing.T) {
		s.ResetRequests()
		p.list(1, 0, false, nil)
		if n := len(s.Requests()); n != 1 {
			t.Errorf("%d requests for the first result, want 1", n)
		}
	})
	t.Run("invalid filters", func(t *testing.T) {
		for _, config := range []map[string]tftypes.Value{{"deployment_ids": textSet("x")},
			{"deployment_type": text("staging")},
			{"tag_value_ids": textSet("")}, {"tag_value_ids": textSet("a,b")},
			{"deployment_ids": tftypes.NewValue(tftypes.Set{ElementType: tftypes.String},
				[]tftypes.Value{tftypes.NewValue(tftypes.String, nil)})}} {
			if results := p.list(-1, 0, false, config); len(results) != 1 || len(results[0].Diagnostics) == 0 {
				t.Errorf("%v gives %v, want a diagnostic", config, results)
			}
		}
	})
	t.Run("rejected credential", func(t *testing.T) {
		s.Fail(fakeserver.ListDeployments, -1, fakeserver.Fault{Status: 403})
		results := p.list(-1, 0, false, nil)
		if len(results) != 1 {
			t.Fatalf("%d results, want 1", len(results))
		}
		protocoltest.Expect(t, results[0].Diagnostics, protocoltest.Error("Cannot list deployments", "", "403 Forbidden",
			"api_key"))
	})
}

// A listed deployment is as an import reads it, so that the configuration
// generated from it plans empty.
func TestListResource_resultIsAsImported(t *testing.T) {
	t.Parallel()
	for name, options := range map[string]fakeserver.Options{"empty": {}, "null": {NullForEmpty: true},
		"omitted": {OmitEmpty: true}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newService(t, options)
			id := s.SeedDeployment(map[string]any{"name": "app", "secret_references": []any{},
				"source_config": map[string]any{"custom_url": "",
					"resource_spec": map[string]any{"volumes": []any{}, "labels": map[string]any{},
						"sidecars": []any{map[string]any{"name": "s", "command": []any{}, "image": ""}}}}})
			p := newProtocol(t, s)
			imported, err := p.server.ImportResourceState(t.Context(),
				&tfprotov6.ImportResourceStateRequest{TypeName: typeName, ID: id})
			if err != nil {
				t.Fatal(err)
			}
			one := imported.ImportedResources[0]
			read, err := p.server.ReadResource(t.Context(),
				&tfprotov6.ReadResourceRequest{TypeName: typeName, CurrentState: one.State, Private: one.Private,
					CurrentIdentity: one.Identity})
			if err != nil {
				t.Fatal(err)
			}
			p.ExpectNone(read.Diagnostics)
			want := p.attributes(p.deploymentType(), read.NewState)
			listed := p.attributes(p.deploymentType(), p.list(-1, 0, true, nil)[0].Resource)
			for attribute, value := range want {
				if got := listed[attribute]; !got.Equal(value) {
					t.Errorf("%s is listed as %s, and imported as %s", attribute, got, value)
				}
			}
		})
	}
}

func TestRead_canceledReadKeepsTheState(t *testing.T) {
	t.Parallel()
	s := newService(t, fakeserver.Options{})
	id := s.SeedDeployment(map[string]any{"name": "app"})
	p := newProtocol(t, s)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	read, err := p.server.ReadResource(ctx,
		&tfprotov6.ReadResourceRequest{TypeName: typeName, CurrentIdentity: p.identity(id),
			CurrentState: p.value(p.deploymentType(), map[string]tftypes.Value{"id": tftypes.NewValue(tftypes.String, id),
				"name": tftypes.NewValue(tftypes.String, "app")})})
	if err != nil {
		t.Fatal(err)
	}
	protocoltest.Expect(t, read.Diagnostics, protocoltest.Error(`Cannot read deployment "app" (`+id+`)`, "",
		"Interrupted"))
	if state := p.attributes(p.deploymentType(), read.NewState); textOf(t, state["id"]) != id {
		t.Error("the deployment is no longer in the state")
	}
}

// An empty list would destroy everything that is created for its items.
func TestListResource_unknownSettingsAreAnError(t *testing.T) {
	t.Parallel()
	p := unconfigured(t)
	p.ExpectNone(p.Configure(object{"base_url": protocoltest.Unknown}))
	results := p.list(-1, 0, false, nil)
	if len(results) != 1 {
		t.Fatalf("%d results, want 1", len(results))
	}
	protocoltest.Expect(t, results[0].Diagnostics, protocoltest.Error("Provider configuration is unknown", "",
		"Listing deployments", "base_url"))
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

// expectNoDiagnostics verifies that nothing is reported.
func expectNoDiagnostics(t testing.TB, diagnostics []*tfprotov6.Diagnostic) {
	t.Helper()
	for _, d := range diagnostics {
		t.Errorf("unexpected diagnostic: %s: %s", d.Summary, d.Detail)
	}
}
