package provider_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/hashicorp/terraform-plugin-go/tfprotov6"
	"github.com/hashicorp/terraform-plugin-go/tftypes"

	"github.com/graphdeploy/terraform-provider-graphdeploy/internal/client"
	"github.com/graphdeploy/terraform-provider-graphdeploy/internal/fastpath"
	"github.com/graphdeploy/terraform-provider-graphdeploy/internal/protocoltest"
	"github.com/graphdeploy/terraform-provider-graphdeploy/internal/provider"
)

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
		p.ExpectNone(p.Configure(object{"base_url": s.url, "api_key": "kEyOfTheTests", "documented_operations_only": documentedOnly}))
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
	switch {
	case i.tainted || c.plan.Replaces():
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
	return slices.DeleteFunc(diagnostics, func(d *tfprotov6.Diagnostic) bool { return d.Summary == "Names may be misspelled" })
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
