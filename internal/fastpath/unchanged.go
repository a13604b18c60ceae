package fastpath

import (
	"bytes"
	"context"
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/resource/identityschema"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema"
	"github.com/hashicorp/terraform-plugin-framework/tfsdk"
	"github.com/hashicorp/terraform-plugin-go/tfprotov6"
	"github.com/hashicorp/terraform-plugin-go/tftypes"
	"github.com/hashicorp/terraform-plugin-log/tflog"
)

// unchanged refreshes and plans resources of which nothing is new. What decides
// is the resource's own Read and ModifyPlan, called as the framework would call
// them. Where they change or report anything, the framework handles the request.
type unchanged struct {
	frameworkServer
	types *resourceTypes
}

// resourceTypes are the resource types of a provider that the layer handles.
type resourceTypes struct {
	provider *observedProvider
	byName   func() map[string]*resourceType
}

// resourceType is what requests need of a resource type.
type resourceType struct {
	create         func() resource.Resource
	schema         schema.Schema
	identitySchema identityschema.Schema
	object         tftypes.Type
	identity       tftypes.Type
	writeOnly      []string // attributes that no state has
}

func newResourceTypes(p *observedProvider) *resourceTypes {
	return &resourceTypes{provider: p, byName: sync.OnceValue(func() map[string]*resourceType {
		ctx := context.Background()
		types := map[string]*resourceType{}
		for _, create := range p.Resources(ctx) {
			r := create()
			_, plans := r.(resource.ResourceWithModifyPlan)
			identified, identifies := r.(resource.ResourceWithIdentity)
			if !plans || !identifies {
				continue
			}
			t := &resourceType{create: create}
			var named resource.MetadataResponse
			var described resource.SchemaResponse
			var identity resource.IdentitySchemaResponse
			r.Metadata(ctx, resource.MetadataRequest{}, &named)
			r.Schema(ctx, resource.SchemaRequest{}, &described)
			identified.IdentitySchema(ctx, resource.IdentitySchemaRequest{}, &identity)
			t.schema, t.identitySchema = described.Schema, identity.IdentitySchema
			t.object, t.identity = t.schema.Type().TerraformType(ctx), t.identitySchema.Type().TerraformType(ctx)
			for name, attribute := range t.schema.Attributes {
				if attribute.IsWriteOnly() {
					t.writeOnly = append(t.writeOnly, name)
				}
			}
			types[named.TypeName] = t
		}
		return types
	})}
}

// configured is a resource of a type, configured; ok is false for types that the
// layer does not handle, and before the provider is configured.
func (ts *resourceTypes) configured(ctx context.Context, name string) (t *resourceType, r resource.Resource, ok bool) {
	data := ts.provider.configured.Load()
	t = ts.byName()[name]
	if data == nil || t == nil {
		return nil, nil, false
	}
	r = t.create()
	var resp resource.ConfigureResponse
	if with, needs := r.(resource.ResourceWithConfigure); needs {
		with.Configure(ctx, resource.ConfigureRequest{ProviderData: data.ResourceData}, &resp)
	}
	return t, r, !resp.Diagnostics.HasError()
}

func (s unchanged) UpgradeResourceState(ctx context.Context, req *tfprotov6.UpgradeResourceStateRequest) (*tfprotov6.UpgradeResourceStateResponse, error) {
	if resp := s.upgrade(req); resp != nil {
		return resp, nil
	}
	return s.frameworkServer.UpgradeResourceState(ctx, req)
}

func (s unchanged) ReadResource(ctx context.Context, req *tfprotov6.ReadResourceRequest) (*tfprotov6.ReadResourceResponse, error) {
	if resp := s.read(ctx, req); resp != nil {
		return resp, nil
	}
	return s.frameworkServer.ReadResource(ctx, req)
}

func (s unchanged) PlanResourceChange(ctx context.Context, req *tfprotov6.PlanResourceChangeRequest) (*tfprotov6.PlanResourceChangeResponse, error) {
	if resp := s.plan(ctx, req); resp != nil {
		return resp, nil
	}
	return s.frameworkServer.PlanResourceChange(ctx, req)
}

// upgrade packs a state of the current version as it is, and is nil for others.
func (s unchanged) upgrade(req *tfprotov6.UpgradeResourceStateRequest) *tfprotov6.UpgradeResourceStateResponse {
	t := s.types.byName()[req.TypeName]
	if t == nil || req.RawState == nil || req.Version != t.schema.Version {
		return nil
	}
	state, err := req.RawState.UnmarshalWithOpts(t.object, tfprotov6.UnmarshalOpts{
		ValueFromJSONOpts: tftypes.ValueFromJSONOpts{IgnoreUndefinedAttributes: true},
	})
	if err != nil {
		return nil
	}
	packed, ok := pack(t.object, state)
	if !ok {
		return nil
	}
	return &tfprotov6.UpgradeResourceStateResponse{UpgradedState: packed}
}

// read is nil where there is something new.
func (s unchanged) read(ctx context.Context, req *tfprotov6.ReadResourceRequest) *tfprotov6.ReadResourceResponse {
	t, r, ok := s.types.configured(ctx, req.TypeName)
	if !ok {
		return nil
	}
	state, ok := t.unpackState(req.CurrentState)
	if !ok {
		return nil
	}
	var (
		request  resource.ReadRequest
		response resource.ReadResponse
	)
	if !unpackPrivate(ctx, req.Private, &request.Private, &response.Private) {
		return nil
	}
	if req.ClientCapabilities != nil {
		request.ClientCapabilities.DeferralAllowed = req.ClientCapabilities.DeferralAllowed
	}
	request.State = tfsdk.State{Schema: t.schema, Raw: state}
	response.State = request.State
	identity := &tfsdk.ResourceIdentity{Schema: t.identitySchema, Raw: tftypes.NewValue(t.identity, nil)}
	request.Identity, response.Identity = identity, identity
	r.Read(ctx, request, &response)

	if response.Deferred != nil || !response.State.Raw.Equal(state) || !response.Private.Equal(request.Private) {
		return nil
	}
	if len(response.Diagnostics) > 0 {
		return t.failed(req, response.Diagnostics)
	}
	packed, ok := pack(t.identity, response.Identity.Raw)
	if !ok || req.CurrentIdentity != nil && !same(req.CurrentIdentity.IdentityData, packed) {
		return nil
	}
	tflog.Trace(ctx, "Refreshed an unchanged resource on the fast path")
	return &tfprotov6.ReadResourceResponse{
		NewState:    req.CurrentState,
		NewIdentity: &tfprotov6.ResourceIdentityData{IdentityData: packed},
		Private:     req.Private,
	}
}

// failed is the response to a read that failed, so that the framework does not
// repeat it, with all of its retries. It is nil for what only the framework can
// express.
func (t *resourceType) failed(req *tfprotov6.ReadResourceRequest, diags diag.Diagnostics) *tfprotov6.ReadResourceResponse {
	errors, ok := plainErrors(diags)
	if !ok {
		return nil
	}
	return &tfprotov6.ReadResourceResponse{NewState: req.CurrentState, NewIdentity: t.identityOrNull(req.CurrentIdentity),
		Private: req.Private, Diagnostics: errors}
}

// plainErrors are diagnostics in the form of the protocol; not ok if there are
// warnings, or errors at attributes.
func plainErrors(diags diag.Diagnostics) (errors []*tfprotov6.Diagnostic, ok bool) {
	for _, d := range diags {
		if _, at := d.(diag.DiagnosticWithPath); at || d.Severity() != diag.SeverityError {
			return nil, false
		}
		errors = append(errors, &tfprotov6.Diagnostic{Severity: tfprotov6.DiagnosticSeverityError, Summary: d.Summary(), Detail: d.Detail()})
	}
	return errors, true
}

// identityOrNull is the identity of a request, or what the framework takes for
// none, as from Terraform before 1.12.
func (t *resourceType) identityOrNull(identity *tfprotov6.ResourceIdentityData) *tfprotov6.ResourceIdentityData {
	if identity != nil {
		return identity
	}
	none, _ := pack(t.identity, tftypes.NewValue(t.identity, nil)) // null is of every type
	return &tfprotov6.ResourceIdentityData{IdentityData: none}
}

// plan is nil where there is something to change. Where Terraform itself
// proposes the prior state, the framework has nothing to add to ModifyPlan: no
// attribute has a default, and none but those that force a replacement have a
// plan modifier.
func (s unchanged) plan(ctx context.Context, req *tfprotov6.PlanResourceChangeRequest) *tfprotov6.PlanResourceChangeResponse {
	t, r, ok := s.types.configured(ctx, req.TypeName)
	if !ok {
		return nil
	}
	state, ok := t.unpackState(req.PriorState)
	if !ok || !t.proposes(req.ProposedNewState, req.PriorState, state) {
		return nil
	}
	config, ok := t.unpack(req.Config)
	if !ok {
		return nil
	}
	var (
		request  resource.ModifyPlanRequest
		response resource.ModifyPlanResponse
	)
	if !unpackPrivate(ctx, req.PriorPrivate, &request.Private, &response.Private) {
		return nil
	}
	if req.ClientCapabilities != nil {
		request.ClientCapabilities.DeferralAllowed = req.ClientCapabilities.DeferralAllowed
	}
	request.Config = tfsdk.Config{Schema: t.schema, Raw: config}
	request.State = tfsdk.State{Schema: t.schema, Raw: state}
	request.Plan = tfsdk.Plan{Schema: t.schema, Raw: state}
	response.Plan = request.Plan
	modifier, _ := r.(resource.ResourceWithModifyPlan) // or the type would not be handled
	modifier.ModifyPlan(ctx, request, &response)

	if len(response.Diagnostics) > 0 || response.Deferred != nil || !response.Plan.Raw.Equal(state) || !response.Private.Equal(request.Private) {
		return nil
	}
	tflog.Trace(ctx, "Planned an unchanged resource on the fast path")
	return &tfprotov6.PlanResourceChangeResponse{PlannedState: req.PriorState, PlannedIdentity: t.identityOrNull(req.PriorIdentity),
		PlannedPrivate: req.PriorPrivate}
}

// unpack unpacks an object of the type. It is not ok if that is absent or null.
func (t *resourceType) unpack(packed *tfprotov6.DynamicValue) (tftypes.Value, bool) {
	if packed == nil {
		return tftypes.Value{}, false
	}
	value, err := packed.Unmarshal(t.object)
	return value, err == nil && !value.IsNull()
}

// unpackState unpacks a state, unless the framework would have to remove what is
// write-only from it.
func (t *resourceType) unpackState(packed *tfprotov6.DynamicValue) (tftypes.Value, bool) {
	state, ok := t.unpack(packed)
	return state, ok && !slices.ContainsFunc(t.writeOnly, func(name string) bool { return !attributes(state)[name].IsNull() })
}

// proposes reports whether Terraform proposes the prior state. It proposes
// write-only values as well, which are not planned.
func (t *resourceType) proposes(proposed, prior *tfprotov6.DynamicValue, state tftypes.Value) bool {
	if same(proposed, prior) {
		return true
	}
	value, ok := t.unpack(proposed)
	if !ok || len(t.writeOnly) == 0 {
		return false
	}
	values := maps.Clone(attributes(value))
	for _, name := range t.writeOnly {
		values[name] = attributes(state)[name]
	}
	return tftypes.NewValue(value.Type(), values).Equal(state)
}

func attributes(object tftypes.Value) (all map[string]tftypes.Value) {
	if !object.IsNull() {
		_ = object.As(&all) // an object by its schema
	}
	return all
}

func pack(typ tftypes.Type, value tftypes.Value) (*tfprotov6.DynamicValue, bool) {
	packed, err := tfprotov6.NewDynamicValue(typ, value)
	return &packed, err == nil
}

// same reports whether two values are packed alike.
func same(a, b *tfprotov6.DynamicValue) bool {
	return a != nil && b != nil && len(a.MsgPack) > 0 && bytes.Equal(a.MsgPack, b.MsgPack)
}

// unpackPrivate fills the private states of a request and its response, whose
// type the framework does not export, from how the framework packs them. It is
// false where that has more than a resource gets to see, as just after an
// import, or is not valid.
func unpackPrivate[Data any, Private interface {
	*Data
	SetKey(ctx context.Context, key string, value []byte) diag.Diagnostics
}](ctx context.Context, packed []byte, all ...*Private) bool {
	var values map[string][]byte
	if len(packed) > 0 && (json.Unmarshal(packed, &values) != nil || len(values) == 0) {
		return false
	}
	for _, at := range all {
		*at = new(Data)
		for key, value := range values {
			if strings.HasPrefix(key, ".") || len((*at).SetKey(ctx, key, value)) > 0 {
				return false
			}
		}
	}
	return true
}
