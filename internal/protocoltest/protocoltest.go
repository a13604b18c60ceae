// Package protocoltest calls a provider through Terraform's plugin protocol, as
// Terraform does, for tests of many cases: without a process, in milliseconds.
package protocoltest

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/hashicorp/terraform-plugin-go/tfprotov6"
	"github.com/hashicorp/terraform-plugin-go/tftypes"
)

// Provider is a provider under test.
type Provider struct {
	Server tfprotov6.ProviderServer
	Schema *tfprotov6.GetProviderSchemaResponse

	// DeferralAllowed is whether Terraform can defer what depends on unknown values.
	DeferralAllowed bool

	t   testing.TB
	ctx context.Context //nolint:containedctx // of one test
}

// New gets the schemas of a provider.
func New(t testing.TB, server tfprotov6.ProviderServer) *Provider {
	t.Helper()
	schema, err := server.GetProviderSchema(t.Context(), &tfprotov6.GetProviderSchemaRequest{})
	if err != nil {
		t.Fatal(err)
	}
	p := NewWithSchema(t, server, schema)
	p.ExpectNone(schema.Diagnostics)
	return p
}

// NewWithSchema returns a provider whose schemas are known, because another one of
// the same kind was asked for them.
func NewWithSchema(t testing.TB, server tfprotov6.ProviderServer,
	schema *tfprotov6.GetProviderSchemaResponse,
) *Provider {
	t.Helper()
	return &Provider{Server: server, Schema: schema, t: t, ctx: t.Context()}
}

// WithContext returns the same provider, called with a context: one with a logger, say.
func (p *Provider) WithContext(ctx context.Context) *Provider {
	other := *p
	other.ctx = ctx
	return &other
}

// Validate validates the configuration of the provider.
func (p *Provider) Validate(config Object) Diagnostics {
	p.t.Helper()
	valid, err := p.Server.ValidateProviderConfig(p.ctx,
		&tfprotov6.ValidateProviderConfigRequest{Config: p.pack(p.Schema.Provider.ValueType(), config)})
	p.must(err)
	return valid.Diagnostics
}

// Configure validates and configures the provider.
func (p *Provider) Configure(config Object) Diagnostics {
	p.t.Helper()
	valid := p.Validate(config)
	if valid.HasError() {
		return valid
	}
	packed := p.pack(p.Schema.Provider.ValueType(), config)
	configured, err := p.Server.ConfigureProvider(p.ctx, &tfprotov6.ConfigureProviderRequest{TerraformVersion: "1.14.0",
		Config:             packed,
		ClientCapabilities: &tfprotov6.ConfigureProviderClientCapabilities{DeferralAllowed: p.DeferralAllowed}})
	p.must(err)
	return append(valid, configured.Diagnostics...)
}

// Resource is a resource in the state.
type Resource struct {
	Type     string
	State    *tfprotov6.DynamicValue
	Private  []byte
	Identity *tfprotov6.ResourceIdentityData
}

// Plan is a planned change of a resource.
type Plan struct {
	Type       string
	Prior      *tfprotov6.DynamicValue
	Request    *tfprotov6.PlanResourceChangeRequest
	Response   *tfprotov6.PlanResourceChangeResponse
	HasChanges bool // it is not the prior state

	value   tftypes.Value           // the planned state
	config  *tfprotov6.DynamicValue // without what ignore_changes makes of it
	ignored []string
}

// Replaces reports whether the resource has to be deleted and created.
func (p *Plan) Replaces() bool { return len(p.Response.RequiresReplace) > 0 }

// Value returns the planned state.
func (p *Plan) Value() tftypes.Value { return p.value }

// Plan validates and plans a configuration of a resource, and verifies that
// Terraform would accept the plan. Prior is nil for a create, config is nil for a
// destroy. The plan is nil after an error.
func (p *Provider) Plan(typ string, prior *Resource, config Object) (*Plan, Diagnostics) {
	p.t.Helper()
	return p.PlanIgnoring(typ, prior, config)
}

// PlanIgnoring plans like Plan, with ignore_changes: paths of attributes, in which
// the configuration of the plan has the prior values. An apply gets the
// configuration as it is written.
func (p *Provider) PlanIgnoring(typ string, prior *Resource, config Object, ignored ...string) (*Plan, Diagnostics) {
	p.t.Helper()
	schema := p.Schema.ResourceSchemas[typ]
	object := schema.ValueType()
	null := p.packValue(object, tftypes.NewValue(object, nil))
	req := &tfprotov6.PlanResourceChangeRequest{TypeName: typ, PriorState: null, ProposedNewState: null, Config: null,
		ClientCapabilities: &tfprotov6.PlanResourceChangeClientCapabilities{DeferralAllowed: p.DeferralAllowed}}
	if prior != nil {
		req.PriorState, req.PriorPrivate, req.PriorIdentity = prior.State, prior.Private, prior.Identity
	}
	var diags Diagnostics
	if config != nil {
		req.Config = p.pack(object, config)
		valid, err := p.Server.ValidateResourceConfig(p.ctx,
			&tfprotov6.ValidateResourceConfigRequest{TypeName: typ, Config: req.Config,
				ClientCapabilities: &tfprotov6.ValidateResourceConfigClientCapabilities{WriteOnlyAttributesAllowed: true}})
		p.must(err)
		diags = valid.Diagnostics
		if diags.HasError() {
			return nil, diags
		}
	}
	return p.plan(schema, req, ignored, diags)
}

func (p *Provider) plan(schema *tfprotov6.Schema, req *tfprotov6.PlanResourceChangeRequest, ignored []string,
	diags Diagnostics,
) (*Plan, Diagnostics) {
	p.t.Helper()
	object, written := schema.ValueType(), req.Config
	before, config := p.unpack(object, req.PriorState), p.unpack(object, req.Config)
	for _, at := range ignored {
		config = ignore(before, config, strings.Split(at, "."))
	}
	req.Config = p.packValue(object, config)
	req.ProposedNewState = p.packValue(object, propose(schema.Block.Attributes, object, before, config))
	resp, err := p.Server.PlanResourceChange(p.ctx, req)
	p.must(err)
	diags = append(diags, resp.Diagnostics...)
	if diags.HasError() {
		return nil, diags
	}
	planned := p.unpack(object, resp.PlannedState)
	if config.IsNull() {
		if !planned.IsNull() {
			p.t.Errorf("invalid plan of a destroy: %s", planned)
		}
	} else {
		for _, violation := range PlanViolations(schema.Block.Attributes, config, before, planned) {
			p.t.Errorf("invalid plan: %s", violation)
		}
	}
	return &Plan{Type: req.TypeName, Prior: req.PriorState, Request: req, Response: resp,
		HasChanges: !planned.Equal(before), value: planned, config: written, ignored: ignored}, diags
}

// PlanReplacement plans the replacement of a resource as Terraform does: with the
// prior state, and then as a create. The plans are nil after an error.
func (p *Provider) PlanReplacement(prior *Resource, config Object) (destroy, create *Plan, diags Diagnostics) {
	p.t.Helper()
	first, diags := p.Plan(prior.Type, prior, config)
	if first == nil {
		return nil, nil, diags
	}
	destroy, create, more := p.Replacement(first)
	return destroy, create, append(diags, more...)
}

// Replacement plans the two halves of a plan that replaces. They are nil after an
// error.
func (p *Provider) Replacement(plan *Plan) (destroy, create *Plan, diags Diagnostics) {
	p.t.Helper()
	schema := p.Schema.ResourceSchemas[plan.Type]
	null := tftypes.NewValue(schema.ValueType(), nil)
	none := p.packValue(null.Type(), null)
	create, found := p.plan(schema, &tfprotov6.PlanResourceChangeRequest{TypeName: plan.Type, Config: plan.config,
		PriorState: none, PriorPrivate: plan.Response.PlannedPrivate, ClientCapabilities: plan.Request.ClientCapabilities},
		nil, nil)
	for _, d := range found {
		if d.Severity == tfprotov6.DiagnosticSeverityError { // Terraform drops the warnings
			diags = append(diags, d)
		}
	}
	if create == nil {
		return nil, nil, diags
	}
	return &Plan{Type: plan.Type, Prior: plan.Prior, HasChanges: true, value: null, config: none,
		Response: &tfprotov6.PlanResourceChangeResponse{PlannedState: none, PlannedPrivate: create.Response.PlannedPrivate,
			PlannedIdentity: plan.Request.PriorIdentity}}, create, diags
}

// PlanAgain makes a plan again, as Terraform does when it applies one, with a
// configuration in which nothing is unknown any more. It verifies that both plans
// are consistent.
func (p *Provider) PlanAgain(plan *Plan, prior *Resource, config Object) (*Plan, Diagnostics) {
	p.t.Helper()
	again, diags := p.PlanIgnoring(plan.Type, prior, config, plan.ignored...)
	if again != nil {
		if violation := ChangeViolation(plan.value, again.value); violation != "" {
			p.t.Errorf("inconsistent final plan: %s", violation)
		}
	}
	return again, diags
}

// Apply applies a plan, and verifies that Terraform would accept the result. It
// returns nil for a resource that is not in the state afterwards.
func (p *Provider) Apply(plan *Plan) (*Resource, Diagnostics) {
	p.t.Helper()
	resp, err := p.Server.ApplyResourceChange(p.ctx,
		&tfprotov6.ApplyResourceChangeRequest{TypeName: plan.Type, Config: plan.config,
			PriorState: plan.Prior, PlannedState: plan.Response.PlannedState, PlannedPrivate: plan.Response.PlannedPrivate,
			PlannedIdentity: plan.Response.PlannedIdentity})
	p.must(err)
	if !Diagnostics(resp.Diagnostics).HasError() {
		if violation := ChangeViolation(plan.value, p.unpack(plan.value.Type(), resp.NewState)); violation != "" {
			p.t.Errorf("inconsistent result after apply: %s", violation)
		}
	}
	return p.resource(plan.Type, resp.NewState, resp.Private, resp.NewIdentity), resp.Diagnostics
}

// MustApply plans and applies a configuration, neither of which may report anything.
func (p *Provider) MustApply(typ string, prior *Resource, config Object) *Resource {
	p.t.Helper()
	plan, diags := p.Plan(typ, prior, config)
	p.ExpectNone(diags)
	if plan == nil {
		p.t.FailNow()
	}
	r, diags := p.Apply(plan)
	p.ExpectNone(diags)
	return r
}

// Read refreshes a resource. It returns nil when that no longer exists.
func (p *Provider) Read(r *Resource) (*Resource, Diagnostics) {
	p.t.Helper()
	resp := p.ReadResponse(r)
	return p.resource(r.Type, resp.NewState, resp.Private, resp.NewIdentity), resp.Diagnostics
}

// ReadResponse refreshes a resource, and returns the complete response.
func (p *Provider) ReadResponse(r *Resource) *tfprotov6.ReadResourceResponse {
	p.t.Helper()
	resp, err := p.Server.ReadResource(p.ctx, &tfprotov6.ReadResourceRequest{TypeName: r.Type, CurrentState: r.State,
		Private: r.Private, CurrentIdentity: r.Identity,
		ClientCapabilities: &tfprotov6.ReadResourceClientCapabilities{DeferralAllowed: p.DeferralAllowed}})
	p.must(err)
	return resp
}

// Import imports a resource by its ID, and refreshes it, as Terraform does.
func (p *Provider) Import(typ, id string) (*Resource, Diagnostics) {
	p.t.Helper()
	resp, err := p.Server.ImportResourceState(p.ctx, &tfprotov6.ImportResourceStateRequest{TypeName: typ, ID: id,
		ClientCapabilities: &tfprotov6.ImportResourceStateClientCapabilities{DeferralAllowed: p.DeferralAllowed}})
	p.must(err)
	diags := Diagnostics(resp.Diagnostics)
	if diags.HasError() || len(resp.ImportedResources) != 1 {
		return nil, diags
	}
	one := resp.ImportedResources[0]
	r, more := p.Read(&Resource{Type: typ, State: one.State, Private: one.Private, Identity: one.Identity})
	return r, append(diags, more...)
}

// ReadData validates and reads a data source.
func (p *Provider) ReadData(typ string, config Object) (Object, Diagnostics) {
	p.t.Helper()
	resp, diags := p.ReadDataResponse(typ, config)
	if resp == nil || diags.HasError() || resp.State == nil {
		return nil, diags
	}
	state, _ := goValue(p.unpack(p.Schema.DataSourceSchemas[typ].ValueType(), resp.State)).(Object)
	return state, diags
}

// ReadDataResponse validates and reads a data source, and returns the complete
// response; nil if the configuration is not valid.
func (p *Provider) ReadDataResponse(typ string, config Object) (*tfprotov6.ReadDataSourceResponse, Diagnostics) {
	p.t.Helper()
	packed := p.pack(p.Schema.DataSourceSchemas[typ].ValueType(), config)
	valid, err := p.Server.ValidateDataResourceConfig(p.ctx, &tfprotov6.ValidateDataResourceConfigRequest{TypeName: typ,
		Config: packed})
	p.must(err)
	if diags := Diagnostics(valid.Diagnostics); diags.HasError() {
		return nil, diags
	}
	resp, err := p.Server.ReadDataSource(p.ctx, &tfprotov6.ReadDataSourceRequest{TypeName: typ, Config: packed,
		ClientCapabilities: &tfprotov6.ReadDataSourceClientCapabilities{DeferralAllowed: p.DeferralAllowed}})
	p.must(err)
	return resp, append(Diagnostics(valid.Diagnostics), resp.Diagnostics...)
}

// Values returns the attributes of a resource in the state.
func (p *Provider) Values(r *Resource) Object {
	p.t.Helper()
	values, _ := goValue(p.unpack(p.Schema.ResourceSchemas[r.Type].ValueType(), r.State)).(Object)
	return values
}

// Planned returns the attributes that a plan results in.
func (p *Provider) Planned(plan *Plan) Object {
	p.t.Helper()
	values, _ := goValue(p.unpack(p.Schema.ResourceSchemas[plan.Type].ValueType(), plan.Response.PlannedState)).(Object)
	return values
}

func (p *Provider) resource(typ string, state *tfprotov6.DynamicValue, private []byte,
	identity *tfprotov6.ResourceIdentityData,
) *Resource {
	p.t.Helper()
	if state == nil {
		return nil
	}
	switch v := p.unpack(p.Schema.ResourceSchemas[typ].ValueType(), state); {
	case v.IsNull():
		return nil
	case !v.IsFullyKnown():
		p.t.Errorf("the state has unknown values: %s", v)
	}
	return &Resource{typ, state, private, identity}
}

func (p *Provider) must(err error) {
	p.t.Helper()
	if err != nil {
		p.t.Fatal(err)
	}
}

func (p *Provider) pack(typ tftypes.Type, v any) *tfprotov6.DynamicValue {
	p.t.Helper()
	return p.packValue(typ, value(p.t, typ, v))
}

func (p *Provider) packValue(typ tftypes.Type, v tftypes.Value) *tfprotov6.DynamicValue {
	p.t.Helper()
	packed, err := tfprotov6.NewDynamicValue(typ, v)
	p.must(err)
	return &packed
}

func (p *Provider) unpack(typ tftypes.Type, packed *tfprotov6.DynamicValue) tftypes.Value {
	p.t.Helper()
	v, err := packed.Unmarshal(typ)
	p.must(err)
	return v
}

// Diagnostics are errors and warnings.
type Diagnostics []*tfprotov6.Diagnostic

// HasError reports whether one of them is an error.
func (d Diagnostics) HasError() bool {
	return slices.ContainsFunc(d, func(d *tfprotov6.Diagnostic) bool {
		return d.Severity == tfprotov6.DiagnosticSeverityError
	})
}

// String returns all of them, in full.
func (d Diagnostics) String() string {
	var b strings.Builder
	for _, one := range d {
		fmt.Fprintf(&b, "%s at %s: %s: %s\n", one.Severity, location(one), one.Summary, one.Detail)
	}
	return b.String()
}

func location(d *tfprotov6.Diagnostic) string {
	var b strings.Builder
	for _, step := range d.Attribute.Steps() {
		switch step := step.(type) {
		case tftypes.AttributeName:
			if b.Len() > 0 {
				b.WriteByte('.')
			}
			b.WriteString(string(step))
		case tftypes.ElementKeyString:
			fmt.Fprintf(&b, "[%q]", string(step))
		case tftypes.ElementKeyInt:
			fmt.Fprintf(&b, "[%d]", step)
		default:
			b.WriteString("[…]") // an item of a set
		}
	}
	return b.String()
}

// ExpectNone verifies that nothing is reported.
func (p *Provider) ExpectNone(d Diagnostics) {
	p.t.Helper()
	if len(d) > 0 {
		p.t.Errorf("unexpected diagnostics:\n%s", d)
	}
}

// Message is an expected diagnostic: Summary is exact, Detail has each of Words.
type Message struct {
	Severity    tfprotov6.DiagnosticSeverity
	Summary, At string // At is the path of the attribute; empty if there is none
	Words       []string
}

// Error returns an expected error.
func Error(summary, at string, words ...string) Message {
	return Message{tfprotov6.DiagnosticSeverityError, summary, at, words}
}

// Warning returns an expected warning.
func Warning(summary, at string, words ...string) Message {
	return Message{tfprotov6.DiagnosticSeverityWarning, summary, at, words}
}

// Expect verifies that exactly these diagnostics are reported, in any order.
func Expect(t testing.TB, got Diagnostics, want ...Message) {
	t.Helper()
	left := slices.Clone(got)
	for _, m := range want {
		i := slices.IndexFunc(left, m.matches)
		if i < 0 {
			t.Errorf("no %s %q at %q with %q in:\n%s", m.Severity, m.Summary, m.At, m.Words, got)
			continue
		}
		left = slices.Delete(left, i, i+1)
	}
	if len(left) > 0 && len(got) > len(want) {
		t.Errorf("not expected:\n%s", left)
	}
}

func (m Message) matches(d *tfprotov6.Diagnostic) bool {
	return d.Severity == m.Severity && d.Summary == m.Summary && location(d) == m.At &&
		!slices.ContainsFunc(m.Words, func(word string) bool { return !strings.Contains(d.Detail, word) })
}
