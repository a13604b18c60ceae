package fastpath

import (
	"bytes"
	"context"
	"encoding/json"
	"maps"
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

// fastResource is a resource that the fast path handles.
type fastResource interface {
	resource.ResourceWithConfigure
	resource.ResourceWithIdentity
	resource.ResourceWithModifyPlan
}

func resourceTypes(p Provider) func() map[string]*resourceType {
	return sync.OnceValue(func() map[string]*resourceType {
		ctx := context.Background()
		types := map[string]*resourceType{}
		for _, create := range p.Resources(ctx) {
			r, ok := create().(fastResource)
			if !ok {
				continue
			}
			var named resource.MetadataResponse
			var described resource.SchemaResponse
			var identity resource.IdentitySchemaResponse
			r.Metadata(ctx, resource.MetadataRequest{}, &named)
			r.Schema(ctx, resource.SchemaRequest{}, &described)
			r.IdentitySchema(ctx, resource.IdentitySchemaRequest{}, &identity)
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

// UpgradeResourceState returns a state of the current version as it is.
func (s resources) UpgradeResourceState(ctx context.Context,
	req *tfprotov6.UpgradeResourceStateRequest,
) (*tfprotov6.UpgradeResourceStateResponse, error) {
	t := s.types()[req.TypeName]
	if t != nil && req.RawState != nil && req.Version == t.schema.Version {
		state, err := req.RawState.UnmarshalWithOpts(t.object, tfprotov6.UnmarshalOpts{
			ValueFromJSONOpts: tftypes.ValueFromJSONOpts{IgnoreUndefinedAttributes: true},
		})
		if err == nil {
			return &tfprotov6.UpgradeResourceStateResponse{UpgradedState: pack(t.object, state)}, nil
		}
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

// call is a request about a resource that is in the state.
type call struct {
	*resourceType
	resource fastResource
	state    tfsdk.State
}

// prepare returns a configured resource with its state; not ok where only the framework can handle a request, such as
// before the provider is configured.
func (s resources) prepare(ctx context.Context, typeName string, state *tfprotov6.DynamicValue) (c call, ok bool) {
	data, t := s.provider.configured.Load(), s.types()[typeName]
	if data == nil || t == nil {
		return c, false
	}
	raw, exists := unpack(t.object, state)
	r, _ := t.create().(fastResource) // or it would be no type of ours
	var configured resource.ConfigureResponse
	r.Configure(ctx, resource.ConfigureRequest{ProviderData: data.ResourceData}, &configured)
	return call{t, r, tfsdk.State{Schema: t.schema, Raw: raw}}, exists && len(configured.Diagnostics) == 0
}

// read returns nil where the state has changed: the framework refreshes it, with what was read. A read that failed, or
// a resource that no longer exists, is not left to the framework, which would send the requests again.
func (s resources) read(ctx context.Context, req *tfprotov6.ReadResourceRequest) *tfprotov6.ReadResourceResponse {
	c, ok := s.prepare(ctx, req.TypeName, req.CurrentState)
	if !ok {
		return nil
	}
	former := c.unpackIdentity(req.CurrentIdentity)
	identity := &tfsdk.ResourceIdentity{Schema: c.identitySchema, Raw: former}
	request := resource.ReadRequest{State: c.state, Identity: identity}
	response := resource.ReadResponse{State: c.state, Identity: identity}
	if !unpackPrivate(ctx, req.Private, &request.Private, &response.Private) {
		return nil
	}
	if req.ClientCapabilities != nil {
		request.ClientCapabilities.DeferralAllowed = req.ClientCapabilities.DeferralAllowed
	}
	c.resource.Read(ctx, request, &response)
	state := req.CurrentState
	removed := response.State.Raw.IsNull()
	if removed {
		state = pack(c.object, response.State.Raw)
	}
	sameState := removed || response.State.Raw.Equal(c.state.Raw)
	sameIdentity := former.IsNull() || identity.Raw.Equal(former)
	if !sameState || !sameIdentity || response.Deferred != nil || !response.Private.Equal(request.Private) {
		return nil
	}
	return &tfprotov6.ReadResourceResponse{NewState: state, NewIdentity: c.packIdentity(identity.Raw),
		Private: req.Private, Diagnostics: protocolDiagnostics(response.Diagnostics)}
}

// unpackIdentity returns the identity in a request; null if there is none, as from Terraform before 1.12.
func (t *resourceType) unpackIdentity(packed *tfprotov6.ResourceIdentityData) tftypes.Value {
	if packed != nil {
		if identity, ok := unpack(t.identity, packed.IdentityData); ok {
			return identity
		}
	}
	return tftypes.NewValue(t.identity, nil)
}

func (t *resourceType) packIdentity(identity tftypes.Value) *tfprotov6.ResourceIdentityData {
	return &tfprotov6.ResourceIdentityData{IdentityData: pack(t.identity, identity)}
}

// plan returns nil where Terraform proposes another state than the prior one, or ModifyPlan writes private state. Where
// Terraform itself proposes the prior state, the framework has nothing to add to ModifyPlan, which may plan the removal
// of an argument: no attribute has a default, and none but those that force a replacement have a plan modifier.
func (s resources) plan(ctx context.Context,
	req *tfprotov6.PlanResourceChangeRequest,
) *tfprotov6.PlanResourceChangeResponse {
	c, ok := s.prepare(ctx, req.TypeName, req.PriorState)
	if !ok || !c.proposesPrior(req) {
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
	c.resource.ModifyPlan(ctx, request, &response)
	if response.Deferred != nil || len(response.RequiresReplace) > 0 || !response.Private.Equal(request.Private) {
		return nil
	}
	planned := req.PriorState
	if !response.Plan.Raw.Equal(c.state.Raw) {
		planned = pack(c.object, response.Plan.Raw)
	}
	identity := c.packIdentity(c.unpackIdentity(req.PriorIdentity))
	return &tfprotov6.PlanResourceChangeResponse{PlannedState: planned, PlannedIdentity: identity,
		PlannedPrivate: req.PriorPrivate, Diagnostics: protocolDiagnostics(response.Diagnostics)}
}

// proposesPrior reports whether Terraform proposes the prior state. It proposes write-only values as well, which no
// plan has.
func (c call) proposesPrior(req *tfprotov6.PlanResourceChangeRequest) bool {
	if samePacked(req.ProposedNewState, req.PriorState) { // which is quicker
		return true
	}
	value, ok := unpack(c.object, req.ProposedNewState)
	if !ok {
		return false
	}
	proposed := maps.Clone(attributes(value))
	for _, name := range c.writeOnly {
		proposed[name] = attributes(c.state.Raw)[name]
	}
	return tftypes.NewValue(c.object, proposed).Equal(c.state.Raw)
}

func attributes(object tftypes.Value) (all map[string]tftypes.Value) {
	_ = object.As(&all) // an object by its schema
	return all
}

func samePacked(a, b *tfprotov6.DynamicValue) bool {
	return a != nil && b != nil && len(a.MsgPack) > 0 && bytes.Equal(a.MsgPack, b.MsgPack)
}

// unpackPrivate fills the private states of a request and its response, whose type the framework does not export, from
// how the framework packs them. It returns false where that has more than a resource gets to see, as just after an
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
