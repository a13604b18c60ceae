package provider_test

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/hashicorp/terraform-plugin-go/tfprotov6"
	"github.com/hashicorp/terraform-plugin-go/tftypes"

	"github.com/graphdeploy/terraform-provider-graphdeploy/internal/client"
	"github.com/graphdeploy/terraform-provider-graphdeploy/internal/fastpath"
	"github.com/graphdeploy/terraform-provider-graphdeploy/internal/provider"
)

// An instance is a deployment that is managed through the protocol, as Terraform
// does it, in a fraction of the time: for tests of many changes against many kinds
// of services.
type instance struct {
	t       *testing.T
	state   tftypes.Value // null while there is none
	private []byte
}

// A terraformRun is one run of Terraform: the planning by one process of the
// provider, and the apply by another.
type terraformRun struct {
	*testing.T
	plans, applies *protocol
}

func newRun(t *testing.T, s *service, extended bool) terraformRun {
	t.Helper()
	if extended {
		s.extended.Store(true)
	}
	start := func() *protocol {
		p := &protocol{t: t, server: newPatientServer(), schema: schemaOfProvider(t)}
		configured, err := p.server.ConfigureProvider(t.Context(), &tfprotov6.ConfigureProviderRequest{
			TerraformVersion: "1.14.0",
			Config: p.value(p.schema.Provider.ValueType(), map[string]tftypes.Value{
				"base_url": tftypes.NewValue(tftypes.String, s.url), "extended_operations": tftypes.NewValue(tftypes.Bool, extended)}),
		})
		if err != nil {
			t.Fatal(err)
		}
		if len(configured.Diagnostics) > 0 {
			t.Fatalf("unexpected diagnostics: %v", configured.Diagnostics)
		}
		return p
	}
	return terraformRun{t, start(), start()}
}

// newPatientServer looks for a write as long as a busy machine may need.
func newPatientServer() tfprotov6.ProviderServer {
	return fastpath.NewServer(provider.New("test", func(c *client.Config) {
		c.RetryWait, c.RetryWaitMax = time.Millisecond, 5*time.Millisecond
		c.PollInterval, c.PollIntervalMax = time.Millisecond, 5*time.Millisecond
		c.ConsistencyTimeout = time.Second
	}))
}

var schemaOnce = sync.OnceValues(func() (*tfprotov6.GetProviderSchemaResponse, error) {
	return newServer().GetProviderSchema(context.Background(), &tfprotov6.GetProviderSchemaRequest{})
})

func schemaOfProvider(t *testing.T) *tfprotov6.GetProviderSchemaResponse {
	t.Helper()
	schema, err := schemaOnce()
	if err != nil {
		t.Fatal(err)
	}
	return schema
}

// A planned change is what a plan says about an instance.
type plannedChange struct {
	config, proposed, planned tftypes.Value
	private                   []byte
	replaces                  bool
	diagnostics               []*tfprotov6.Diagnostic
}

// isNoop reports whether nothing is to be applied.
func (c plannedChange) isNoop(i *instance) bool { return c.planned.Equal(i.state) }

func packed(t *testing.T, v tftypes.Value) *tfprotov6.DynamicValue {
	t.Helper()
	p, err := tfprotov6.NewDynamicValue(v.Type(), v)
	if err != nil {
		t.Fatal(err)
	}
	return &p
}

func unpacked(t *testing.T, typ tftypes.Type, p *tfprotov6.DynamicValue) tftypes.Value {
	t.Helper()
	v, err := p.Unmarshal(typ)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// refresh reads the instance, as every plan does first.
func (r terraformRun) refresh(i *instance) (diagnostics []*tfprotov6.Diagnostic) {
	r.Helper()
	if i.state.IsNull() {
		return nil
	}
	read, err := r.plans.server.ReadResource(r.Context(), &tfprotov6.ReadResourceRequest{TypeName: typeName, CurrentState: packed(r.T, i.state), Private: i.private})
	if err != nil {
		r.Fatal(err)
	}
	i.state, i.private = unpacked(r.T, i.state.Type(), read.NewState), read.Private
	return read.Diagnostics
}

// plan plans a configuration.
func (r terraformRun) plan(i *instance, config map[string]any) plannedChange {
	r.Helper()
	return r.planWith(r.plans, i, r.configuration(config))
}

// configuration is the configuration of a resource with some arguments, in JSON.
func (r terraformRun) configuration(arguments map[string]any) tftypes.Value {
	r.Helper()
	return valueOf(r.T, r.plans.deploymentType(), arguments)
}

func (r terraformRun) planWith(p *protocol, i *instance, config tftypes.Value) plannedChange {
	r.Helper()
	c := plannedChange{config: config, proposed: proposed(i.state, config)}
	planned, err := p.server.PlanResourceChange(r.Context(), &tfprotov6.PlanResourceChangeRequest{TypeName: typeName, PriorState: packed(r.T, i.state),
		ProposedNewState: packed(r.T, c.proposed), Config: packed(r.T, config), PriorPrivate: i.private})
	if err != nil {
		r.Fatal(err)
	}
	c.diagnostics, c.private, c.replaces = planned.Diagnostics, planned.PlannedPrivate, len(planned.RequiresReplace) > 0
	if !hasErrors(c.diagnostics) {
		c.planned = unpacked(r.T, config.Type(), planned.PlannedState)
	}
	return c
}

// apply applies a planned change, after planning it again as Terraform does.
func (r terraformRun) apply(i *instance, c plannedChange) []*tfprotov6.Diagnostic {
	r.Helper()
	again := r.planWith(r.applies, i, c.config)
	if hasErrors(again.diagnostics) {
		return again.diagnostics
	}
	if at := incompatible("", c.planned, again.planned); at != "" {
		r.Errorf("the plan made at apply differs at %s", at)
	}
	applied, err := r.applies.server.ApplyResourceChange(r.Context(), &tfprotov6.ApplyResourceChangeRequest{TypeName: typeName, PriorState: packed(r.T, i.state),
		PlannedState: packed(r.T, again.planned), Config: packed(r.T, c.config), PlannedPrivate: again.private})
	if err != nil {
		r.Fatal(err)
	}
	state := unpacked(r.T, i.state.Type(), applied.NewState)
	if !hasErrors(applied.Diagnostics) {
		if at := incompatible("", again.planned, state); at != "" {
			r.Errorf("the state after the apply differs from the plan at %s", at)
		}
	}
	i.state, i.private = state, applied.Private
	return applied.Diagnostics
}

func hasErrors(diagnostics []*tfprotov6.Diagnostic) bool {
	for _, d := range diagnostics {
		if d.Severity == tfprotov6.DiagnosticSeverityError {
			return true
		}
	}
	return false
}

// messages are the diagnostics as text, without those of some summaries.
func messages(diagnostics []*tfprotov6.Diagnostic, except ...string) string {
	var lines []string
	for _, d := range diagnostics {
		if !strings.Contains("\n"+strings.Join(except, "\n")+"\n", "\n"+d.Summary+"\n") {
			lines = append(lines, d.Summary+": "+d.Detail)
		}
	}
	return strings.Join(lines, "\n")
}

// proposed is what Terraform proposes: the configuration, with the prior values of
// computed attributes that are omitted.
func proposed(prior, config tftypes.Value) tftypes.Value {
	values := membersOf(config)
	for _, name := range []string{"secrets", "secrets_wo", "secrets_wo_version", "additional_properties", "deletion_policy", "wait_until", "timeouts"} {
		delete(values, name) // not computed
	}
	before, all := membersOf(prior), membersOf(config)
	for name, value := range values {
		if prior.IsNull() && value.IsNull() {
			all[name] = tftypes.NewValue(value.Type(), tftypes.UnknownValue)
		} else if !prior.IsNull() {
			all[name] = mergeProposed(before[name], value)
		}
	}
	return tftypes.NewValue(config.Type(), all)
}

func mergeProposed(prior, config tftypes.Value) tftypes.Value {
	switch {
	case config.IsNull():
		return prior
	case !config.IsKnown() || prior.IsNull():
		return config
	case config.Type().Is(tftypes.Object{}):
		values, before := membersOf(config), membersOf(prior)
		for name, value := range values {
			values[name] = mergeProposed(before[name], value)
		}
		return tftypes.NewValue(config.Type(), values)
	case config.Type().Is(tftypes.List{}):
		items, before := itemsOf(config), itemsOf(prior)
		for i := range items {
			if i < len(before) && items[i].Type().Is(tftypes.Object{}) {
				items[i] = mergeProposed(before[i], items[i])
			}
		}
		return tftypes.NewValue(config.Type(), items)
	}
	return config
}

// membersOf and itemsOf are copies; empty if the value is null or unknown.
func membersOf(v tftypes.Value) map[string]tftypes.Value {
	all := map[string]tftypes.Value{}
	if v.IsKnown() && !v.IsNull() {
		_ = v.As(&all)
	}
	copied := make(map[string]tftypes.Value, len(all))
	for name, value := range all {
		copied[name] = value
	}
	return copied
}

func itemsOf(v tftypes.Value) []tftypes.Value {
	var all []tftypes.Value
	if v.IsKnown() && !v.IsNull() {
		_ = v.As(&all)
	}
	return append([]tftypes.Value{}, all...)
}

// incompatible is where a value is not what was planned; what was unknown may be
// anything.
func incompatible(at string, planned, actual tftypes.Value) string {
	switch {
	case !planned.IsKnown():
		return ""
	case planned.IsNull() || actual.IsNull() || !actual.IsKnown():
		if !planned.Equal(actual) {
			return at
		}
	case planned.Type().Is(tftypes.Object{}), planned.Type().Is(tftypes.Map{}):
		wanted, values := membersOf(planned), membersOf(actual)
		if len(wanted) != len(values) {
			return at
		}
		for name, value := range wanted {
			if found := incompatible(at+"."+name, value, values[name]); found != "" {
				return found
			}
		}
	case planned.Type().Is(tftypes.List{}):
		wanted, values := itemsOf(planned), itemsOf(actual)
		if len(wanted) != len(values) {
			return at
		}
		for i := range wanted {
			if found := incompatible(fmt.Sprintf("%s[%d]", at, i), wanted[i], values[i]); found != "" {
				return found
			}
		}
	case !planned.Equal(actual):
		return at
	}
	return ""
}

// valueOf is a value of a type from what encoding/json would decode.
func valueOf(t *testing.T, typ tftypes.Type, v any) tftypes.Value {
	t.Helper()
	switch typ := typ.(type) {
	case tftypes.Object:
		members, ok := v.(map[string]any)
		if !ok {
			return tftypes.NewValue(typ, nil)
		}
		values := map[string]tftypes.Value{}
		for name, of := range typ.AttributeTypes {
			values[name] = valueOf(t, of, members[name])
		}
		for name := range members {
			if _, known := typ.AttributeTypes[name]; !known {
				t.Fatalf("there is no argument %s", name)
			}
		}
		return tftypes.NewValue(typ, values)
	case tftypes.Map:
		members, ok := v.(map[string]any)
		if !ok {
			return tftypes.NewValue(typ, nil)
		}
		values := map[string]tftypes.Value{}
		for name, member := range members {
			values[name] = valueOf(t, typ.ElementType, member)
		}
		return tftypes.NewValue(typ, values)
	case tftypes.List:
		items, ok := v.([]any)
		if !ok {
			return tftypes.NewValue(typ, nil)
		}
		values := []tftypes.Value{}
		for _, item := range items {
			values = append(values, valueOf(t, typ.ElementType, item))
		}
		return tftypes.NewValue(typ, values)
	}
	if number, ok := v.(int); ok && typ.Is(tftypes.String) {
		v = fmt.Sprint(number)
	}
	return tftypes.NewValue(typ, v)
}
