package provider_test

import (
	"context"
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/hashicorp/terraform-plugin-go/tfprotov6"
	"github.com/hashicorp/terraform-plugin-go/tftypes"

	"github.com/graphdeploy/terraform-provider-graphdeploy/internal/client"
	"github.com/graphdeploy/terraform-provider-graphdeploy/internal/fakeserver"
	"github.com/graphdeploy/terraform-provider-graphdeploy/internal/fastpath"
	"github.com/graphdeploy/terraform-provider-graphdeploy/internal/protocoltest"
	"github.com/graphdeploy/terraform-provider-graphdeploy/internal/provider"
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

// list runs a list block as terraform query does, and takes at most n results.
func (p *protocol) list(n int, limit int64, include bool,
	config map[string]tftypes.Value,
) []tfprotov6.ListResourceResult {
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

// An instance is a deployment that is managed through the protocol, as Terraform
// does it, in a fraction of the time: for tests of many changes against many kinds
// of services.
type instance struct {
	t        *testing.T
	state    tftypes.Value // null while there is none
	resource *protocoltest.Resource
	tainted  bool
}

func newInstance(t *testing.T, r *protocoltest.Resource) *instance {
	t.Helper()
	i := &instance{t: t}
	i.set(r)
	return i
}

func (i *instance) set(r *protocoltest.Resource) {
	i.t.Helper()
	i.resource, i.state, i.tainted = r, tftypes.NewValue(deploymentType(i.t), nil), false
	if r != nil {
		state, err := r.State.Unmarshal(i.state.Type())
		if err != nil {
			i.t.Fatal(err)
		}
		i.state = state
	}
}

// A terraformRun is one run of Terraform: the planning by one process of the
// provider, and the apply by another.
type terraformRun struct {
	*testing.T
	plans, applies *protocol
}

// Which operations a provider may send.
const (
	allOperations  = false
	onlyDocumented = true
)

func newRun(t *testing.T, s *service, documentedOnly bool) terraformRun {
	t.Helper()
	start := func() *protocol {
		p := newProvider(t, newPatientServer())
		p.ExpectNone(p.Configure(object{"base_url": s.url, "api_key": "kEyOfTheTests",
			"documented_operations_only": documentedOnly}))
		return p
	}
	return terraformRun{t, start(), start()}
}

// newPatientServer looks for a write as long as a busy machine may need.
func newPatientServer() tfprotov6.ProviderServer {
	return fastpath.NewServer(provider.New("test", func(c *client.Config) {
		c.RetryWait, c.RetryWaitMax = time.Millisecond, 5*time.Millisecond
		c.PollInterval, c.PollIntervalMax = time.Millisecond, 50*time.Millisecond
		c.ConsistencyTimeout = time.Second
	}))
}

// A plannedChange is what a plan says about an instance.
type plannedChange struct {
	config      object
	plan        *protocoltest.Plan // nil after an error
	destroy     *protocoltest.Plan // of a replacement
	create      *protocoltest.Plan // of one, too
	planned     tftypes.Value
	replaces    bool
	diagnostics protocoltest.Diagnostics
}

// isNoop reports whether nothing is to be applied.
func (c plannedChange) isNoop(i *instance) bool { return c.planned.Equal(i.state) }

// refresh reads the instance, as every plan does first.
func (r terraformRun) refresh(i *instance) protocoltest.Diagnostics {
	r.Helper()
	if i.resource == nil {
		return nil
	}
	read, diagnostics := r.plans.Read(i.resource)
	tainted := i.tainted
	i.set(read)
	i.tainted = tainted && read != nil
	return diagnostics
}

// plan plans a configuration, with paths of attributes in ignore_changes.
func (r terraformRun) plan(i *instance, config object, ignored ...string) plannedChange {
	r.Helper()
	c := plannedChange{config: config}
	prior := i.resource
	if i.tainted {
		prior = nil
	}
	if c.plan, c.diagnostics = r.plans.PlanIgnoring(typeName, prior, config, ignored...); c.plan == nil {
		c.diagnostics = withoutSpelling(c.diagnostics)
		return c
	}
	if i.tainted || c.plan.Replaces() {
		var more protocoltest.Diagnostics
		c.destroy, c.create, more = r.plans.Replacement(c.plan)
		if i.tainted && c.destroy != nil {
			c.destroy.Prior = i.resource.State
		}
		c.diagnostics = append(c.diagnostics, more...)
	}
	c.planned, c.replaces = c.plan.Value(), c.create != nil
	c.diagnostics = withoutSpelling(c.diagnostics)
	return c
}

// apply applies a planned change, after planning it again as Terraform does.
func (r terraformRun) apply(i *instance, c plannedChange) protocoltest.Diagnostics {
	r.Helper()
	if c.plan == nil {
		r.Fatalf("there is no plan to apply: %s", c.diagnostics)
	}
	var reported protocoltest.Diagnostics
	plan := c.plan
	if c.create != nil {
		left, diagnostics := r.applies.Apply(c.destroy)
		if reported = append(reported, diagnostics...); left != nil {
			return reported
		}
		i.set(nil)
		plan = c.create
	}
	again, diagnostics := r.applies.PlanAgain(plan, i.resource, c.config)
	if again == nil {
		return append(reported, withoutSpelling(diagnostics)...)
	}
	applied, diagnostics := r.applies.Apply(again)
	tainted := i.resource == nil && diagnostics.HasError()
	i.set(applied)
	i.tainted = tainted && applied != nil
	return append(reported, diagnostics...)
}

// destroy plans and applies a destroy.
func (r terraformRun) destroy(i *instance) protocoltest.Diagnostics {
	r.Helper()
	plan, reported := r.plans.Plan(typeName, i.resource, nil)
	if plan == nil {
		return reported
	}
	left, diagnostics := r.applies.Apply(plan)
	i.set(left)
	return append(reported, diagnostics...)
}

// withoutSpelling omits the warning about incomplete items: the tests write only what they are about.
func withoutSpelling(diagnostics protocoltest.Diagnostics) protocoltest.Diagnostics {
	return slices.DeleteFunc(diagnostics, func(d *tfprotov6.Diagnostic) bool {
		return d.Summary == "Names may be misspelled"
	})
}

func hasErrors(diagnostics protocoltest.Diagnostics) bool { return diagnostics.HasError() }

// messages are the diagnostics as text, without those of some summaries.
func messages(diagnostics protocoltest.Diagnostics, except ...string) string {
	var lines []string
	for _, d := range diagnostics {
		if !slices.Contains(except, d.Summary) {
			lines = append(lines, d.Summary+": "+d.Detail)
		}
	}
	return strings.Join(lines, "\n")
}

// managed is a service with one deployment, and what Terraform has of it.
type managed struct {
	*testing.T
	s *service
	i *instance
}

// create creates deployment "app" with some arguments, in JSON.
func create(t *testing.T, options fakeserver.Options, text string) managed {
	t.Helper()
	m := managed{t, newService(t, options), newInstance(t, nil)}
	m.apply(allOperations, text, "")
	return m
}

// imported imports a seeded deployment, by its name.
func imported(t *testing.T, s *service, name string) managed {
	t.Helper()
	run := newRun(t, s, onlyDocumented)
	r, diags := run.plans.Import(typeName, name)
	if len(diags) > 0 {
		t.Fatal(diags)
	}
	return managed{t, s, newInstance(t, r)}
}

// apply refreshes, plans and applies. What is reported has to begin with some
// text; an empty one means that nothing is. It returns what was reported.
func (m managed) apply(documentedOnly bool, text, want string) string {
	m.Helper()
	run := newRun(m.T, m.s, documentedOnly)
	reported := run.refresh(m.i)
	planned := run.plan(m.i, arguments(m.T, text))
	if reported = append(reported, planned.diagnostics...); !hasErrors(planned.diagnostics) && !planned.isNoop(m.i) {
		reported = append(reported, run.apply(m.i, planned)...)
	}
	got := messages(reported)
	if !strings.HasPrefix(got, want) || want == "" && got != "" {
		m.Errorf("an apply of %s reports %q, want %q", text, got, want)
	}
	return got
}

// applyReports is apply, which reports some texts in this order.
func (m managed) applyReports(documentedOnly bool, text string, reported ...string) {
	m.Helper()
	if got := m.apply(documentedOnly, text, reported[0]); !errorPattern(reported...).MatchString(got) {
		m.Errorf("an apply of %s reports %q, want %q", text, got, reported)
	}
}

// values are the attributes in the state.
func (m managed) values() object {
	m.Helper()
	return newRun(m.T, m.s, allOperations).plans.Values(m.i.resource)
}

func (m managed) expectNoop(documentedOnly bool, text string) {
	m.Helper()
	run := newRun(m.T, m.s, documentedOnly)
	run.refresh(m.i)
	if planned := run.plan(m.i, arguments(m.T, text)); !planned.isNoop(m.i) || len(planned.diagnostics) > 0 {
		m.Errorf("the plan of %s proposes %s and reports %s", text, difference(m.i.state, planned.planned),
			messages(planned.diagnostics))
	}
}

// expectSent compares the bodies of the updates that were sent, and forgets them.
func (m managed) expectSent(want string) {
	m.Helper()
	if got := inJSON(m.s.patches(m.T)); got != want {
		m.Errorf("sent %s, want %s", got, want)
	}
	m.s.ResetRequests()
}

func (m managed) expectStored(object, want string) {
	m.Helper()
	if got := inJSON(withoutNull(decoded(m.s.stored(m.T))[object])); got != want {
		m.Errorf("the service has %s, want %s", got, want)
	}
}

func deploymentType(t *testing.T) tftypes.Type {
	t.Helper()
	return schemaOfProvider(t).ResourceSchemas[typeName].ValueType()
}

// arguments are the arguments of deployment "app", with more in JSON.
func arguments(t *testing.T, text string) map[string]any {
	t.Helper()
	all := map[string]any{}
	if err := json.Unmarshal([]byte(text), &all); err != nil {
		t.Fatal(err)
	}
	all["name"] = "app"
	if all["source"] == nil {
		all["source"] = "internal_docker"
	}
	return all
}

// bullets are the lines of the list in a message, up to the options.
func bullets(text string) (lines []string) {
	text, _, _ = strings.Cut(text, "Options:")
	for line := range strings.Lines(text) {
		if item, ok := strings.CutPrefix(strings.TrimSuffix(line, "\n"), "  - "); ok {
			lines = append(lines, item)
		}
	}
	return lines
}

// withoutNull is a tree without the members that are null.
func withoutNull(tree any) any {
	object, ok := tree.(map[string]any)
	if items, isList := tree.([]any); isList {
		all := []any{}
		for _, item := range items {
			all = append(all, withoutNull(item))
		}
		return all
	}
	if !ok {
		return tree
	}
	all := map[string]any{}
	for name, value := range object {
		if value != nil {
			all[name] = withoutNull(value)
		}
	}
	return all
}
