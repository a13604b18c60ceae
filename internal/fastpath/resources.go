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

// resources refreshes resources that have not changed, and plans resources for which Terraform proposes the prior
// state. What decides is the resource's own Read and ModifyPlan, called as the framework would call them. Everything
// else the framework handles.
type resources struct {
	dataSources
	types func() map[string]*resourceType
}

// resourceType is what requests need of a resource type.
type resourceType struct {
	create           func() resource.Resource
	schema           schema.Schema
	identitySchema   identityschema.Schema
	object, identity tftypes.Type
	writeOnly        []string // attributes that no state has
}

func resourceTypes(p Provider) func() map[string]*resourceType {
	return sync.OnceValue(func() map[string]*resourceType {
		ctx := context.Background()
		types := map[string]*resourceType{}
		for _, create := range p.Resources(ctx) {
			r := create()
			_, plans := r.(resource.ResourceWithModifyPlan)
			identified, identifies := r.(resource.ResourceWithIdentity)
			if !plans || !identifies {
				continue
			}
			var named resource.MetadataResponse
			var described resource.SchemaResponse
			var identity resource.IdentitySchemaResponse
			r.Metadata(ctx, resource.MetadataRequest{}, &named)
			r.Schema(ctx, resource.SchemaRequest{}, &described)
			identified.IdentitySchema(ctx, resource.IdentitySchemaRequest{}, &identity)
			t := &resourceType{create: create, schema: described.Schema, identitySchema: identity.IdentitySchema,
				object: described.Schema.Type().TerraformType(ctx), identity: identity.IdentitySchema.Type().TerraformType(ctx)}
			for name, attribute := range t.schema.Attributes {
				if attribute.IsWriteOnly() {
					t.writeOnly = append(t.writeOnly, name)
				}
			}
			types[named.TypeName] = t
		}
		return types
	})
}

func (s resources) UpgradeResourceState(ctx context.Context,
	req *tfprotov6.UpgradeResourceStateRequest,
) (*tfprotov6.UpgradeResourceStateResponse, error) {
	if state, ok := s.upgrade(req); ok {
		return &tfprotov6.UpgradeResourceStateResponse{UpgradedState: state}, nil
	}
	return s.dataSources.UpgradeResourceState(ctx, req)
}

func (s resources) ReadResource(ctx context.Context,
	req *tfprotov6.ReadResourceRequest,
) (*tfprotov6.ReadResourceResponse, error) {
	if resp := s.read(ctx, req); resp != nil {
		tflog.Trace(ctx, "Refreshed a resource on the fast path")
		return resp, nil
	}
	return s.dataSources.ReadResource(ctx, req)
}

func (s resources) PlanResourceChange(ctx context.Context,
	req *tfprotov6.PlanResourceChangeRequest,
) (*tfprotov6.PlanResourceChangeResponse, error) {
	if resp := s.plan(ctx, req); resp != nil {
		tflog.Trace(ctx, "Planned a resource on the fast path")
		return resp, nil
	}
	return s.dataSources.PlanResourceChange(ctx, req)
}

// upgrade packs a state of the current version as it is. It is not ok for others.
func (s resources) upgrade(req *tfprotov6.UpgradeResourceStateRequest) (*tfprotov6.DynamicValue, bool) {
	t := s.types()[req.TypeName]
	if t == nil || req.RawState == nil || req.Version != t.schema.Version {
		return nil, false
	}
	state, err := req.RawState.UnmarshalWithOpts(t.object, tfprotov6.UnmarshalOpts{
		ValueFromJSONOpts: tftypes.ValueFromJSONOpts{IgnoreUndefinedAttributes: true},
	})
	if err != nil {
		return nil, false
	}
	return pack(t.object, state)
}

// call is a request about a resource that is in the state.
type call struct {
	*resourceType
	resource resource.Resource
	state    tfsdk.State
}

// prepare is not ok where only the framework can handle a request: before the provider is configured, say.
func (s resources) prepare(ctx context.Context, name string, packed *tfprotov6.DynamicValue) (c call, ok bool) {
	data, t := s.provider.configured.Load(), s.types()[name]
	if data == nil || t == nil {
		return c, false
	}
	state, ok := unpack(t.object, packed)
	c = call{t, t.create(), tfsdk.State{Schema: t.schema, Raw: state}}
	var configured resource.ConfigureResponse
	if with, needs := c.resource.(resource.ResourceWithConfigure); needs {
		with.Configure(ctx, resource.ConfigureRequest{ProviderData: data.ResourceData}, &configured)
	}
	written := slices.ContainsFunc(t.writeOnly, func(name string) bool { return ok && !attributes(state)[name].IsNull() })
	return c, ok && !written && len(configured.Diagnostics) == 0 // the framework removes what is write-only from a state
}

// read is nil where the state has changed: the framework refreshes it, with what was read. A read that failed, or a
// resource that no longer exists, is not left to the framework, which would send the requests again.
func (s resources) read(ctx context.Context, req *tfprotov6.ReadResourceRequest) *tfprotov6.ReadResourceResponse {
	c, ok := s.prepare(ctx, req.TypeName, req.CurrentState)
	if !ok {
		return nil
	}
	identity := &tfsdk.ResourceIdentity{Schema: c.identitySchema, Raw: tftypes.NewValue(c.identity, nil)}
	request := resource.ReadRequest{State: c.state, Identity: identity}
	response := resource.ReadResponse{State: c.state, Identity: identity}
	if !unpackPrivate(ctx, req.Private, &request.Private, &response.Private) {
		return nil
	}
	if req.ClientCapabilities != nil {
		request.ClientCapabilities.DeferralAllowed = req.ClientCapabilities.DeferralAllowed
	}
	c.resource.Read(ctx, request, &response)
	diagnostics, ok := protocolDiagnostics(response.Diagnostics)
	removed := response.State.Raw.IsNull()
	if !ok || response.Deferred != nil || !removed && !response.State.Raw.Equal(c.state.Raw) ||
		!response.Private.Equal(request.Private) {
		return nil
	}
	refreshed := &tfprotov6.ReadResourceResponse{NewState: req.CurrentState,
		NewIdentity: c.identityOrNull(req.CurrentIdentity), Private: req.Private, Diagnostics: diagnostics}
	if removed {
		if refreshed.NewState, ok = pack(c.object, response.State.Raw); !ok {
			return nil
		}
	}
	if !response.Diagnostics.HasError() {
		packed, ok := pack(c.identity, response.Identity.Raw)
		if !ok || req.CurrentIdentity != nil && !same(req.CurrentIdentity.IdentityData, packed) {
			return nil
		}
		refreshed.NewIdentity = &tfprotov6.ResourceIdentityData{IdentityData: packed}
	}
	return refreshed
}

// identityOrNull is the identity of a request, or what the framework takes for none, as from Terraform before 1.12.
func (t *resourceType) identityOrNull(identity *tfprotov6.ResourceIdentityData) *tfprotov6.ResourceIdentityData {
	if identity != nil {
		return identity
	}
	none, _ := pack(t.identity, tftypes.NewValue(t.identity, nil)) // null is of every type
	return &tfprotov6.ResourceIdentityData{IdentityData: none}
}

// plan is nil where Terraform proposes another state than the prior one, or ModifyPlan writes private state. Where
// Terraform itself proposes the prior state, the framework has nothing to add to ModifyPlan, which may plan the removal
// of an argument: no attribute has a default, and none but those that force a replacement have a plan modifier.
func (s resources) plan(ctx context.Context,
	req *tfprotov6.PlanResourceChangeRequest,
) *tfprotov6.PlanResourceChangeResponse {
	c, ok := s.prepare(ctx, req.TypeName, req.PriorState)
	if !ok || !c.proposes(req.ProposedNewState, req.PriorState) {
		return nil
	}
	config, ok := unpack(c.object, req.Config)
	plan := tfsdk.Plan{Schema: c.schema, Raw: c.state.Raw}
	request := resource.ModifyPlanRequest{Config: tfsdk.Config{Schema: c.schema, Raw: config}, State: c.state, Plan: plan}
	response := resource.ModifyPlanResponse{Plan: plan}
	if !ok || !unpackPrivate(ctx, req.PriorPrivate, &request.Private, &response.Private) {
		return nil
	}
	if req.ClientCapabilities != nil {
		request.ClientCapabilities.DeferralAllowed = req.ClientCapabilities.DeferralAllowed
	}
	modifier, _ := c.resource.(resource.ResourceWithModifyPlan) // or the type would not be handled
	modifier.ModifyPlan(ctx, request, &response)
	diagnostics, ok := protocolDiagnostics(response.Diagnostics)
	if !ok || response.Deferred != nil || len(response.RequiresReplace) > 0 || !response.Private.Equal(request.Private) {
		return nil
	}
	planned := req.PriorState
	if !response.Plan.Raw.Equal(c.state.Raw) {
		if planned, ok = pack(c.object, response.Plan.Raw); !ok {
			return nil
		}
	}
	return &tfprotov6.PlanResourceChangeResponse{PlannedState: planned,
		PlannedIdentity: c.identityOrNull(req.PriorIdentity), PlannedPrivate: req.PriorPrivate, Diagnostics: diagnostics}
}

// proposes reports whether Terraform proposes the prior state. It proposes write-only values as well, which are not
// planned.
func (c call) proposes(proposed, prior *tfprotov6.DynamicValue) bool {
	if same(proposed, prior) {
		return true
	}
	value, ok := unpack(c.object, proposed)
	if !ok || len(c.writeOnly) == 0 {
		return false
	}
	values := maps.Clone(attributes(value))
	for _, name := range c.writeOnly {
		values[name] = attributes(c.state.Raw)[name]
	}
	return tftypes.NewValue(value.Type(), values).Equal(c.state.Raw)
}

func attributes(object tftypes.Value) (all map[string]tftypes.Value) {
	_ = object.As(&all) // an object by its schema
	return all
}

// same reports whether two values are packed alike.
func same(a, b *tfprotov6.DynamicValue) bool {
	return a != nil && b != nil && len(a.MsgPack) > 0 && bytes.Equal(a.MsgPack, b.MsgPack)
}

// unpackPrivate fills the private states of a request and its response, whose type the framework does not export, from
// how the framework packs them. It is false where that has more than a resource gets to see, as just after an import,
// or is not valid.
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
