package provider_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"regexp"
	"runtime/debug"
	"strings"
	"testing"
	"time"

	"github.com/hashicorp/terraform-plugin-go/tfprotov6"
	"github.com/hashicorp/terraform-plugin-testing/helper/resource"
	"github.com/hashicorp/terraform-plugin-testing/plancheck"

	"github.com/graphdeploy/terraform-provider-graphdeploy/internal/client"
	"github.com/graphdeploy/terraform-provider-graphdeploy/internal/fakeserver"
	"github.com/graphdeploy/terraform-provider-graphdeploy/internal/fastpath"
	"github.com/graphdeploy/terraform-provider-graphdeploy/internal/provider"
)

// The acceptance tests (TestAcc…) run Terraform against the fake service, as a user
// would: in steps of a configuration, an apply, and a second plan, with the provider
// in this process (here), or in a workspace (workspace_test.go), with files, logs,
// signals, and the provider as the process that Terraform starts. The others call the
// provider through Terraform's protocol (protocol_test.go). Each has a server of its
// own and runs in parallel.

const documentedOnly = "documented_operations_only = true"

// service is a fake service for one test.
type service struct {
	*fakeserver.Server
	url string
}

func newService(t *testing.T, options fakeserver.Options) *service {
	t.Helper()
	fake := fakeserver.New(options)
	server := httptest.NewServer(fake)
	t.Cleanup(server.Close)
	t.Cleanup(server.CloseClientConnections)
	return &service{Server: fake, url: server.URL + options.PathPrefix}
}

// provider is a provider block for the service, with more settings if given.
func (s *service) provider(settings ...string) string {
	return fmt.Sprintf("provider \"graphdeploy\" {\n  base_url = %q\n%s\n}\n", s.url, strings.Join(settings, "\n"))
}

// sent counts the recorded requests by method and path.
func (s *service) sent(method, path string) int {
	n := 0
	for _, r := range s.Requests() {
		if r.Method == method && strings.HasSuffix(r.Path, path) {
			n++
		}
	}
	return n
}

// newServer is the provider without waits in its client.
func newServer() tfprotov6.ProviderServer {
	return fastpath.NewServer(provider.New("test", func(c *client.Config) {
		c.RetryWait, c.RetryWaitMax = time.Millisecond, 5*time.Millisecond
		c.PollInterval, c.PollIntervalMax = time.Millisecond, 5*time.Millisecond
		c.ConsistencyTimeout = 50 * time.Millisecond
	}))
}

func factories() map[string]func() (tfprotov6.ProviderServer, error) {
	return map[string]func() (tfprotov6.ProviderServer, error){
		"graphdeploy": func() (tfprotov6.ProviderServer, error) { return newServer(), nil },
	}
}

// check runs the steps. Unlike usual acceptance tests, these need no account and
// no TF_ACC: the service is in this process.
func check(t *testing.T, steps ...resource.TestStep) {
	t.Helper()
	resource.UnitTest(t, resource.TestCase{ProtoV6ProviderFactories: factories(), Steps: steps})
}

// errorPattern matches texts of a message in this order, however Terraform
// breaks its lines.
func errorPattern(texts ...string) *regexp.Regexp {
	var patterns []string
	for _, text := range texts {
		patterns = append(patterns, flexible(text))
	}
	return regexp.MustCompile("(?s)" + strings.Join(patterns, ".*"))
}

func parseJSON(t *testing.T, text string) (tree any) {
	t.Helper()
	if err := json.Unmarshal([]byte(text), &tree); err != nil {
		t.Fatal(err)
	}
	return tree
}

// planIsEmpty is a step that plans a configuration again.
func planIsEmpty(config string) resource.TestStep {
	return resource.TestStep{Config: config, ConfigPlanChecks: resource.ConfigPlanChecks{
		PreApply: []plancheck.PlanCheck{plancheck.ExpectEmptyPlan()},
	}}
}

func TestMain(m *testing.M) {
	// The developer's settings must not affect the tests.
	for _, name := range []string{"BASE_URL", "API_KEY", "API_KEY_HEADER", "HOSTING", "DOCUMENTED_OPERATIONS_ONLY",
		"REQUEST_TIMEOUT", "MAX_RETRIES", "CA_CERT_FILE", "CLIENT_CERT_FILE", "CLIENT_KEY_FILE"} {
		_ = os.Unsetenv("GRAPHDEPLOY_" + name)
	}
	debug.SetGCPercent(400) // the heap is small, and collected often otherwise
	status := m.Run()
	for _, cleanUp := range atExit {
		cleanUp()
	}
	os.Exit(status)
}

// atExit is called when all tests have ended.
var atExit []func()

// at walks a deployment's tree of members to the object that holds the last
// one of a dotted path.
func at(d map[string]any, dotted string) (map[string]any, string) {
	steps := strings.Split(dotted, ".")
	for _, step := range steps[:len(steps)-1] {
		next, _ := d[step].(map[string]any)
		if next == nil {
			next = map[string]any{}
			d[step] = next
		}
		d = next
	}
	return d, steps[len(steps)-1]
}

// edit sets a value in the service behind Terraform's back.
func (s *service) edit(t *testing.T, dotted string, value any) func() {
	return func() {
		t.Helper()
		id := s.stored(t)["id"].(string)
		s.Edit(id, func(d map[string]any) {
			object, name := at(d, dotted)
			object[name] = value
		})
	}
}

// flexible matches text that Terraform has broken into lines.
func flexible(text string) string {
	return strings.ReplaceAll(regexp.QuoteMeta(text), " ", `[\s│]+`)
}

// assertDocumentedOperationsOnly fails on any request that the API does not document.
func assertDocumentedOperationsOnly(t *testing.T, s *service) {
	t.Helper()
	documented := regexp.MustCompile(`^(POST|GET) \S*/v2/deployments$|` +
		`^GET \S*/v1/integrations/forge/codehost/[^/]+/repos$|^GET \S*/v2/auth/providers$`)
	for _, r := range s.Requests() {
		if !documented.MatchString(r.Method + " " + r.Path) {
			t.Errorf("sent %s %s, which the API does not document", r.Method, r.Path)
		}
	}
}

// stored is the only deployment that the service has.
func (s *service) stored(t *testing.T) map[string]any {
	t.Helper()
	all := s.Deployments()
	if len(all) != 1 {
		t.Fatalf("the service has %d deployments, want 1", len(all))
	}
	return all[0]
}

// body is the body of the only create.
func (s *service) body(t *testing.T) map[string]any {
	t.Helper()
	var bodies []map[string]any
	for _, r := range s.Requests() {
		if r.Method == "POST" {
			var body map[string]any
			if err := json.Unmarshal(r.Body, &body); err != nil {
				t.Fatal(err)
			}
			bodies = append(bodies, body)
		}
	}
	if len(bodies) != 1 {
		t.Fatalf("%d creates were sent, want 1", len(bodies))
	}
	return bodies[0]
}

// patches are the bodies of the updates that were sent.
func (s *service) patches(t *testing.T) []map[string]any {
	t.Helper()
	var bodies []map[string]any
	for _, r := range s.Requests() {
		if r.Method == http.MethodPatch {
			var body map[string]any
			if err := json.Unmarshal(r.Body, &body); err != nil {
				t.Fatal(err)
			}
			bodies = append(bodies, body)
		}
	}
	return bodies
}

// names counts the deployments of the service by name.
func (s *service) names() map[string]int {
	names := map[string]int{}
	for _, d := range s.Deployments() {
		names[d["name"].(string)]++
	}
	return names
}

// kinds counts requests by kind.
func (s *service) kinds() map[string]int {
	kinds := map[string]int{}
	for _, r := range s.Requests() {
		switch {
		case r.Method == http.MethodPost:
			kinds["create"]++
		case r.Query.Has("name_contains"):
			kinds["name"]++
		case r.Query.Has("deployment_ids"):
			kinds["ids"]++
		default:
			kinds["page"]++
		}
	}
	return kinds
}
