package provider

import (
	"bytes"
	"context"
	"encoding/json"
	"strings"
	"sync"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema"
	"github.com/hashicorp/terraform-plugin-framework/tfsdk"
	"github.com/hashicorp/terraform-plugin-go/tfprotov6"
	"github.com/hashicorp/terraform-plugin-go/tftypes"
	"github.com/hashicorp/terraform-plugin-log/tflog"

	"github.com/graphdeploy/terraform-provider-graphdeploy/internal/client"
	"github.com/graphdeploy/terraform-provider-graphdeploy/internal/field"
)

// unchanged is the framework's server, but that it answers itself where a
// deployment is read or planned and nothing of it is new, as with nearly all of
// a large state. The framework goes over the schema several times for each, and
// the schema is wide: ten times the work of all else.
//
// What decides is the same as ever, Read and ModifyPlan of the resource, called
// with what the framework would call them with. Where they change anything or
// say anything, the request goes to the framework, with what was read already.
type unchanged struct {
	frameworkServer
	provider *graphdeploy
}

// shape is what the framework's requests need to know of deployments.
var shape = sync.OnceValue(func() (s struct {
	schema   schema.Schema
	object   tftypes.Type
	identity tftypes.Type
}) {
	ctx := context.Background()
	var whole resource.SchemaResponse
	var identity resource.IdentitySchemaResponse
	deployments := &deploymentResource{}
	deployments.Schema(ctx, resource.SchemaRequest{}, &whole)
	deployments.IdentitySchema(ctx, resource.IdentitySchemaRequest{}, &identity)
	s.schema = whole.Schema
	s.object = s.schema.Type().TerraformType(ctx)
	s.identity = identity.IdentitySchema.Type().TerraformType(ctx)
	return s
})

func (s unchanged) UpgradeResourceState(ctx context.Context, req *tfprotov6.UpgradeResourceStateRequest) (*tfprotov6.UpgradeResourceStateResponse, error) {
	if resp := s.upgrade(req); resp != nil {
		return resp, nil
	}
	return s.frameworkServer.UpgradeResourceState(ctx, req)
}

func (s unchanged) ReadResource(ctx context.Context, req *tfprotov6.ReadResourceRequest) (*tfprotov6.ReadResourceResponse, error) {
	ctx, forget := withReading(ctx)
	defer forget()
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

// upgrade packs a state of this version as it is, and is nil for others.
func (s unchanged) upgrade(req *tfprotov6.UpgradeResourceStateRequest) *tfprotov6.UpgradeResourceStateResponse {
	if req.TypeName != deploymentType || req.RawState == nil || req.Version != shape().schema.Version {
		return nil
	}
	state, err := req.RawState.UnmarshalWithOpts(shape().object, tfprotov6.UnmarshalOpts{
		ValueFromJSONOpts: tftypes.ValueFromJSONOpts{IgnoreUndefinedAttributes: true},
	})
	if err != nil {
		return nil
	}
	packed, ok := pack(shape().object, state)
	if !ok {
		return nil
	}
	return &tfprotov6.UpgradeResourceStateResponse{UpgradedState: packed}
}

// read is nil where there is something new.
func (s unchanged) read(ctx context.Context, req *tfprotov6.ReadResourceRequest) *tfprotov6.ReadResourceResponse {
	data := s.provider.configured.Load()
	if req.TypeName != deploymentType || data == nil {
		return nil
	}
	state, ok := unpackState(req.CurrentState)
	if !ok {
		return nil
	}
	var (
		asked    resource.ReadRequest
		answered resource.ReadResponse
	)
	if !remember(ctx, req.Private, &asked.Private, &answered.Private) {
		return nil
	}
	asked.State = tfsdk.State{Schema: shape().schema, Raw: state}
	answered.State = asked.State
	(&deploymentResource{data}).Read(ctx, asked, &answered)

	if len(answered.Diagnostics) > 0 || !answered.State.Raw.Equal(state) || !answered.Private.Equal(asked.Private) {
		return nil
	}
	identity, ok := pack(shape().identity, newObject(shape().identity, attributes{"id": attributesOf(state)["id"]}))
	if !ok || req.CurrentIdentity != nil && !same(req.CurrentIdentity.IdentityData, identity) {
		return nil
	}
	tflog.Trace(ctx, "The deployment is unchanged, which is answered past the framework")
	return &tfprotov6.ReadResourceResponse{
		NewState:    req.CurrentState,
		NewIdentity: &tfprotov6.ResourceIdentityData{IdentityData: identity},
		Private:     req.Private,
	}
}

// reading is what the service has said of a deployment in the course of one
// request of Terraform's, so that it is asked once.
type reading struct {
	found *client.Deployment
	err   error
}

type readingKey struct{}

// withReading makes a context for one request, if there is none yet. Whoever
// made it has it forget what was read, as the framework keeps the context.
func withReading(ctx context.Context) (_ context.Context, forget func()) {
	if _, ok := ctx.Value(readingKey{}).(*reading); ok {
		return ctx, func() {}
	}
	once := &reading{}
	return context.WithValue(ctx, readingKey{}, once), func() { *once = reading{} }
}

// deployment reads a deployment, unless that was done for the same request.
func (p *providerData) deployment(ctx context.Context, id string) (*client.Deployment, error) {
	once, ok := ctx.Value(readingKey{}).(*reading)
	if !ok {
		return p.client.Deployment(ctx, id)
	}
	if once.found == nil && once.err == nil {
		once.found, once.err = p.client.Deployment(ctx, id)
	}
	return once.found, once.err
}

// plan is nil where there is something to change. Where Terraform itself has
// found nothing to propose, there is nothing for the framework to add: no
// attribute has a default, and none but those that force a replacement have a
// plan modifier.
func (s unchanged) plan(ctx context.Context, req *tfprotov6.PlanResourceChangeRequest) *tfprotov6.PlanResourceChangeResponse {
	data := s.provider.configured.Load()
	if req.TypeName != deploymentType || data == nil {
		return nil
	}
	state, ok := unpackState(req.PriorState)
	if !ok || !proposes(req.ProposedNewState, req.PriorState, state) {
		return nil
	}
	config, ok := unpack(req.Config)
	if !ok {
		return nil
	}
	var (
		asked    resource.ModifyPlanRequest
		answered resource.ModifyPlanResponse
	)
	if !remember(ctx, req.PriorPrivate, &asked.Private, &answered.Private) {
		return nil
	}
	asked.Config = tfsdk.Config{Schema: shape().schema, Raw: config}
	asked.State = tfsdk.State{Schema: shape().schema, Raw: state}
	asked.Plan = tfsdk.Plan{Schema: shape().schema, Raw: state}
	answered.Plan = asked.Plan
	(&deploymentResource{data}).ModifyPlan(ctx, asked, &answered)

	if len(answered.Diagnostics) > 0 || !answered.Plan.Raw.Equal(state) || !answered.Private.Equal(asked.Private) {
		return nil
	}
	identity := req.PriorIdentity
	if identity == nil { // as Terraform before 1.12 has none
		none, ok := pack(shape().identity, tftypes.NewValue(shape().identity, nil))
		if !ok {
			return nil
		}
		identity = &tfprotov6.ResourceIdentityData{IdentityData: none}
	}
	tflog.Trace(ctx, "Nothing is to be changed, which is planned past the framework")
	return &tfprotov6.PlanResourceChangeResponse{
		PlannedState:    req.PriorState,
		PlannedIdentity: identity,
		PlannedPrivate:  req.PriorPrivate,
	}
}

// unpack takes an object of a deployment's schema that is there.
func unpack(packed *tfprotov6.DynamicValue) (tftypes.Value, bool) {
	if packed == nil {
		return tftypes.Value{}, false
	}
	value, err := packed.Unmarshal(shape().object)
	return value, err == nil && !value.IsNull()
}

// writeOnly is the attribute that no state holds.
const writeOnly = "secrets_wo"

// unpackState takes a state, unless the framework would have to take out of it
// what is write-only.
func unpackState(packed *tfprotov6.DynamicValue) (tftypes.Value, bool) {
	state, ok := unpack(packed)
	return state, ok && attributesOf(state)[writeOnly].IsNull()
}

// proposes reports whether Terraform proposes the state as it is. Beside it, it
// proposes what is write-only, which is not planned.
func proposes(proposed, prior *tfprotov6.DynamicValue, state tftypes.Value) bool {
	if same(proposed, prior) {
		return true
	}
	value, ok := unpack(proposed)
	return ok && field.With(value, field.Values{writeOnly: attributesOf(state)[writeOnly]}).Equal(state)
}

func pack(typ tftypes.Type, value tftypes.Value) (*tfprotov6.DynamicValue, bool) {
	packed, err := tfprotov6.NewDynamicValue(typ, value)
	return &packed, err == nil
}

// same reports whether two values are packed alike.
func same(a, b *tfprotov6.DynamicValue) bool {
	return a != nil && b != nil && len(a.MsgPack) > 0 && bytes.Equal(a.MsgPack, b.MsgPack)
}

// remember fills the private states of a request and its answer, whose type the
// framework does not export, from how the framework packs them. It is false
// where that has more than a resource gets to see, as just after an import, or
// is not valid.
func remember[Data any, Private interface {
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
