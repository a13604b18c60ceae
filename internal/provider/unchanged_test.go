package provider_test

import (
	"reflect"
	"runtime"
	"strings"
	"testing"

	"github.com/hashicorp/terraform-plugin-framework/resource/schema"
	"github.com/hashicorp/terraform-plugin-go/tfprotov6"
	"github.com/hashicorp/terraform-plugin-testing/helper/resource"

	"github.com/graphdeploy/terraform-provider-graphdeploy/internal/fakeserver"
	"github.com/graphdeploy/terraform-provider-graphdeploy/internal/provider"
)

// That the answers are those of the framework is held by the whole suite, see
// newServer. Here is when the framework is left out, and what that costs.

func TestAccUnchangedDeploymentsAreAnsweredPastTheFramework(t *testing.T) {
	t.Parallel()
	for name, secrets := range map[string]string{
		"secrets in the state": `secrets = { TOKEN = "abc" }`,
		"write-only secrets":   "secrets_wo = { TOKEN = \"abc\" }\n  secrets_wo_version = 1",
		"no secrets":           "",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newService(t, fakeserver.Options{})
			counts := &provider.Answered{}
			config := s.provider() + many(3, secrets)
			fromHere := func() {
				counts.Past.Store(0)
				counts.Framework.Store(0)
			}
			resource.UnitTest(t, resource.TestCase{
				ProtoV6ProviderFactories: map[string]func() (tfprotov6.ProviderServer, error){
					"graphdeploy": func() (tfprotov6.ProviderServer, error) { return newCountingServer(counts), nil },
				},
				Steps: []resource.TestStep{
					{Config: config},
					{PreConfig: fromHere, Config: config, PlanOnly: true},
				},
			})
			// At the end comes a destroy, whose plans are the framework's.
			if past, framework := counts.Past.Load(), counts.Framework.Load(); past < 9 || framework != 3 {
				t.Errorf("%d requests were answered past the framework and %d by it, want 3 for the destroy", past, framework)
			}
		})
	}
}

// imported is a state that Terraform has after an import.
func (p *protocol) imported(id string) *tfprotov6.ReadResourceRequest {
	p.t.Helper()
	imported, err := p.server.ImportResourceState(p.t.Context(), &tfprotov6.ImportResourceStateRequest{TypeName: typeName, ID: id})
	if err != nil {
		p.t.Fatal(err)
	}
	p.expectNone(imported.Diagnostics)
	one := imported.ImportedResources[0]
	read := p.read(&tfprotov6.ReadResourceRequest{TypeName: typeName, CurrentState: one.State, CurrentIdentity: one.Identity, Private: one.Private})
	p.expectNone(read.Diagnostics)
	return &tfprotov6.ReadResourceRequest{TypeName: typeName, CurrentState: read.NewState, CurrentIdentity: read.NewIdentity, Private: read.Private}
}

func (p *protocol) read(req *tfprotov6.ReadResourceRequest) *tfprotov6.ReadResourceResponse {
	p.t.Helper()
	read, err := p.server.ReadResource(p.t.Context(), req)
	if err != nil {
		p.t.Fatal(err)
	}
	return read
}

// What has changed goes to the framework, with what was read of it already.
func TestReadingThatGoesToTheFrameworkIsMadeOnce(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		meanwhile func(*service, string)
		summary   string // of the error, if there is to be one
	}{
		"unchanged": {meanwhile: func(*service, string) {}},
		"changed": {meanwhile: func(s *service, id string) {
			s.Edit(id, func(d map[string]any) { d["image_version"] = "2" })
		}},
		"gone":    {meanwhile: (*service).Remove},
		"refused": {meanwhile: func(s *service, _ string) { s.Fail(fakeserver.ListDeployments, 1, fakeserver.Fault{Status: 403}) }, summary: "Cannot read deployment"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newService(t, fakeserver.Options{})
			id := s.SeedDeployment(map[string]any{"name": "app"})
			p := speak(t, s, provider.NewServer("test")) // as a comparing one keeps the reading itself
			request := p.imported(id)
			c.meanwhile(s, id)
			s.ResetRequests()
			read := p.read(request)
			if c.summary == "" {
				p.expectNone(read.Diagnostics)
			} else if len(read.Diagnostics) != 1 || !strings.HasPrefix(read.Diagnostics[0].Summary, c.summary) {
				t.Errorf("it was told %v", read.Diagnostics)
			}
			if n := len(s.Requests()); n != 1 {
				t.Errorf("%d requests, want 1", n)
			}
		})
	}
}

// Nor does what was read stay in memory, where the framework keeps the context.
func TestReadingThatGoesToTheFrameworkIsForgotten(t *testing.T) { //nolint:paralleltest // it looks at the memory of all
	s := newService(t, fakeserver.Options{})
	id := s.SeedDeployment(map[string]any{"name": "app"})
	p := speak(t, s, provider.NewServer("test"))
	request := p.imported(id)
	const size, times = 1 << 20, 30
	s.Edit(id, func(d map[string]any) { d["image_version"] = strings.Repeat("1", size) })
	inUse := func() int64 {
		var m runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&m)
		return int64(m.HeapAlloc)
	}
	p.expectNone(p.read(request).Diagnostics)
	before := inUse()
	for range times {
		p.expectNone(p.read(request).Diagnostics)
	}
	if more := inUse() - before; more > times*size/2 {
		t.Errorf("after %d readings of %d bytes, %d more are in use", times, size, more)
	}
}

// What another provider, or another version of this one, may have left in the
// state is for the framework to judge.
func TestOddRequestsGoToTheFramework(t *testing.T) {
	t.Parallel()
	for name, odd := range map[string]func(*protocol, *tfprotov6.ReadResourceRequest){
		"private state of another kind": func(_ *protocol, r *tfprotov6.ReadResourceRequest) { r.Private = []byte(`{"schema_version":"1"}`) },
		"private state that is none":    func(_ *protocol, r *tfprotov6.ReadResourceRequest) { r.Private = []byte(`[`) },
		"private state of the framework": func(_ *protocol, r *tfprotov6.ReadResourceRequest) {
			r.Private = []byte(`{".import_before_read":"dHJ1ZQ=="}`)
		},
		"private state that is not JSON":         func(_ *protocol, r *tfprotov6.ReadResourceRequest) { r.Private = []byte(`{"secrets":"YQ=="}`) },
		"identity of another deployment":         func(p *protocol, r *tfprotov6.ReadResourceRequest) { r.CurrentIdentity = p.identity("another") },
		"state of other attributes":              func(p *protocol, r *tfprotov6.ReadResourceRequest) { r.CurrentState = p.identity("id").IdentityData },
		"no state":                               func(_ *protocol, r *tfprotov6.ReadResourceRequest) { r.CurrentState = nil },
		"nothing remembered, as after an import": func(_ *protocol, r *tfprotov6.ReadResourceRequest) { r.Private = nil },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newService(t, fakeserver.Options{})
			counts := &provider.Answered{}
			p := speak(t, s, newCountingServer(counts))
			request := p.imported(s.SeedDeployment(map[string]any{"name": "app"}))
			if p.read(request); counts.Past.Load() != 1 {
				t.Fatal("what is not odd was not answered past the framework")
			}
			odd(p, request)
			if p.read(request); counts.Past.Load() != 1 {
				t.Error("answered past the framework")
			}
		})
	}
}

// Where Terraform proposes no change, the framework would still run defaults
// and plan modifiers. Those that there are do nothing then; another kind has to
// be looked at in unchanged.go.
func TestNoAttributeHasMoreToPlan(t *testing.T) {
	t.Parallel()
	var look func(at string, attributes map[string]schema.Attribute)
	look = func(at string, attributes map[string]schema.Attribute) {
		for name, attribute := range attributes {
			here := at + name
			if attribute.IsWriteOnly() != (here == "secrets_wo") {
				t.Errorf("%s is write-only: %t", here, attribute.IsWriteOnly())
			}
			value := reflect.ValueOf(attribute)
			if f := value.FieldByName("Default"); f.IsValid() && !f.IsNil() {
				t.Errorf("%s has a default", here)
			}
			if f := value.FieldByName("PlanModifiers"); f.IsValid() && f.Len() > 0 && here != "name" && here != "source" {
				t.Errorf("%s has a plan modifier", here)
			}
			switch a := attribute.(type) {
			case schema.SingleNestedAttribute:
				look(here+".", a.Attributes)
			case schema.ListNestedAttribute:
				if len(a.NestedObject.PlanModifiers) > 0 {
					t.Errorf("items of %s have a plan modifier", here)
				}
				look(here+".", a.NestedObject.Attributes)
			case schema.NestedAttribute:
				t.Errorf("%s nests in a way that is not looked into", here)
			}
		}
	}
	look("", provider.DeploymentSchema().Attributes)
}
