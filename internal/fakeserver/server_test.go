package fakeserver

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"
)

// A service is a fake with a URL, and a clock that only tests advance.
type service struct {
	*Server
	t     *testing.T
	url   string
	clock *clock
	http  *http.Client
}

type clock struct {
	mu  sync.Mutex
	now time.Time
}

func (c *clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

func (c *clock) advance(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(d)
}

func start(t *testing.T, opts Options) *service {
	t.Helper()
	c := &clock{now: time.Date(2030, 1, 2, 3, 4, 5, 678e6, time.UTC)}
	if opts.Clock == nil {
		opts.Clock = c.Now
	}
	s := New(opts)
	ts := httptest.NewServer(s)
	t.Cleanup(ts.Close)
	return &service{s, t, ts.URL, c, ts.Client()}
}

// An outcome is a response as a client receives it.
type outcome struct {
	status int
	header http.Header
	body   string
}

func (o outcome) object(t *testing.T) map[string]any {
	t.Helper()
	value, err := decodeJSON([]byte(o.body))
	if err != nil {
		t.Fatalf("%v: %s", err, o.body)
	}
	object, ok := value.(map[string]any)
	if !ok {
		t.Fatalf("no object: %s", o.body)
	}
	return object
}

func (s *service) try(method, path, body string, headers ...string) (outcome, error) {
	req, err := http.NewRequestWithContext(s.t.Context(), method, s.url+path, strings.NewReader(body))
	if err != nil {
		return outcome{}, err
	}
	req.Header.Set("Content-Type", "application/json")
	for i := 0; i < len(headers); i += 2 {
		req.Header.Set(headers[i], headers[i+1])
	}
	resp, err := s.http.Do(req)
	if err != nil {
		return outcome{}, err
	}
	defer func() { _ = resp.Body.Close() }()
	data, err := io.ReadAll(resp.Body)
	return outcome{resp.StatusCode, resp.Header, string(data)}, err
}

func (s *service) do(method, path, body string, headers ...string) outcome {
	s.t.Helper()
	o, err := s.try(method, path, body, headers...)
	if err != nil {
		s.t.Fatalf("%s %s: %v", method, path, err)
	}
	return o
}

func (s *service) ok(method, path, body string) map[string]any {
	s.t.Helper()
	o := s.do(method, path, body)
	if o.status != http.StatusOK {
		s.t.Fatalf("%s %s: status %d: %s", method, path, o.status, o.body)
	}
	return o.object(s.t)
}

// body is a valid create, with changes to its members.
func body(change ...string) string {
	members := map[string]string{
		"name":                   `"shop"`,
		"source":                 `"external_docker"`,
		"source_config":          `{}`,
		"source_revision_config": `{"image_uri":"registry.example/shop:1"}`,
		"secrets":                `[]`,
	}
	for i := 0; i < len(change); i += 2 {
		members[change[i]] = change[i+1]
		if change[i+1] == "" {
			delete(members, change[i])
		}
	}
	var parts []string
	for _, name := range sortedKeys(members) {
		parts = append(parts, fmt.Sprintf("%q:%s", name, members[name]))
	}
	return "{" + strings.Join(parts, ",") + "}"
}

// at walks to a value: names for members, numbers for items.
func at(t *testing.T, value any, path ...any) any {
	t.Helper()
	for i, step := range path {
		switch step := step.(type) {
		case string:
			object, ok := value.(map[string]any)
			if !ok {
				t.Fatalf("no object at %v", path[:i])
			}
			if value, ok = object[step]; !ok {
				return "(absent)"
			}
		case int:
			items, ok := value.([]any)
			if !ok || step >= len(items) {
				t.Fatalf("no item at %v", path[:i+1])
			}
			value = items[step]
		}
	}
	return value
}

func compact(t *testing.T, value any) string {
	t.Helper()
	out, err := json.Marshal(value)
	if err != nil {
		t.Fatal(err)
	}
	return string(out)
}

func TestRoutes(t *testing.T) {
	t.Parallel()
	const id = "/v2/deployments/7c9e6679-7425-40de-944b-e07fc1f90ae7"
	for _, test := range []struct {
		method, path string
		documented   bool
		status       int
		allow        string
	}{
		{"GET", "/v2/deployments", false, 200, ""},
		{"PUT", "/v2/deployments", false, 405, "GET, POST"},
		{"GET", "/v2/deployments/", false, 404, ""},
		{"GET", "//v2/deployments", false, 404, ""},
		{"GET", "/v3/deployments", false, 404, ""},
		{"GET", "/", false, 404, ""},
		{"GET", "/v2/auth/providers", false, 200, ""},
		{"POST", "/v2/auth/providers", false, 405, "GET"},
		{"GET", "/v1/integrations/forge/codehost/" + DemoIntegrationID + "/repos", false, 200, ""},
		{"DELETE", "/v1/integrations/forge/codehost/" + DemoIntegrationID + "/repos", false, 405, "GET"},
		{"GET", "/v1/integrations/forge/codehost/7c9e6679-7425-40de-944b-e07fc1f90ae7/repos", false, 404, ""},
		{"GET", "/v1/integrations/forge/codehost/acme/repos", false, 422, ""},
		{"PATCH", id, true, 405, ""},
		{"DELETE", id, true, 405, ""},
		{"GET", id, true, 405, ""},
		{"GET", id + "/revisions", true, 404, ""},
		{"PUT", id, false, 405, "DELETE, GET, PATCH"},
		{"GET", id, false, 404, ""},
		{"GET", id + "/revisions", false, 404, ""},
		{"GET", id + "/revisions/7c9e6679-7425-40de-944b-e07fc1f90ae7", false, 404, ""},
		{"PUT", id + "/revisions", false, 405, "GET"},
		{"GET", id + "/revisions/a/b", false, 404, ""},
		{"PATCH", id, false, 404, ""},
		{"DELETE", id, false, 404, ""},
		{"DELETE", "/v2/deployments/shop", false, 422, ""},
	} {
		for _, prefix := range []string{"", "/api"} {
			t.Run(fmt.Sprint(test.method, " ", prefix, test.path, " documented ", test.documented), func(t *testing.T) {
				t.Parallel()
				s := start(t, Options{Documented: test.documented, PathPrefix: prefix})
				s.SeedDemo()
				got := s.do(test.method, prefix+test.path, "")
				if got.status != test.status || got.header.Get("Allow") != test.allow {
					t.Errorf("status %d, Allow %q, want %d, %q", got.status, got.header.Get("Allow"), test.status, test.allow)
				}
				if got.status >= 400 && at(t, got.object(t), "detail") == "(absent)" {
					t.Errorf("no detail: %s", got.body)
				}
			})
		}
	}
}

func TestPathsOutsideThePrefixAreNotFound(t *testing.T) {
	t.Parallel()
	s := start(t, Options{PathPrefix: "api/"})
	if got := s.do("GET", "/v2/deployments", ""); got.status != 404 {
		t.Errorf("status %d, want 404", got.status)
	}
	if got := s.do("GET", "/api/v2/deployments", ""); got.status != 200 {
		t.Errorf("status %d, want 200", got.status)
	}
}

func TestCredential(t *testing.T) {
	t.Parallel()
	s := start(t, Options{CredentialHeader: "Authorization", Credential: "Bearer x"})
	for name, test := range map[string]struct {
		header []string
		status int
	}{
		"none":              {nil, 401},
		"wrong":             {[]string{"Authorization", "Bearer y"}, 401},
		"in another header": {[]string{"X-Api-Key", "Bearer x"}, 401},
		"right":             {[]string{"Authorization", "Bearer x"}, 200},
	} {
		if got := s.do("GET", "/v2/deployments", "", test.header...); got.status != test.status {
			t.Errorf("%s: status %d, want %d", name, got.status, test.status)
		}
	}
}

func TestRecordsRequests(t *testing.T) {
	t.Parallel()
	s := start(t, Options{})
	s.do("POST", "/v2/deployments", body())
	s.do("GET", "/v2/a%2Fb?x=1&x=2", "", "X-Tenant", "acme")
	got := s.Requests()
	if len(got) != 2 {
		t.Fatalf("%d requests, want 2", len(got))
	}
	if r := got[0]; r.Method != "POST" || r.Path != "/v2/deployments" || string(r.Body) != body() || r.Status != 200 ||
		!r.Time.Equal(s.clock.Now()) {
		t.Errorf("first: %+v", r)
	}
	if r := got[1]; r.Path != "/v2/a%2Fb" || len(r.Query["x"]) != 2 || r.Header.Get("X-Tenant") != "acme" ||
		r.Status != 404 {
		t.Errorf("second: %+v", r)
	}
	if n := s.Connections(); n != 1 {
		t.Errorf("%d connections, want 1", n)
	}
	s.ResetRequests()
	if len(s.Requests()) != 0 || s.Connections() != 0 {
		t.Error("the recording is not empty after ResetRequests")
	}
}

func TestRepositories(t *testing.T) {
	t.Parallel()
	s := start(t, Options{})
	s.SeedDemo()
	s.SeedRepositories("7C9E6679-7425-40DE-944B-E07FC1F90AE7")
	got := s.do("GET", "/v1/integrations/forge/codehost/"+DemoIntegrationID+"/repos", "")
	var repos []map[string]any
	if err := json.Unmarshal([]byte(got.body), &repos); err != nil {
		t.Fatal(err)
	}
	if len(repos) != 4 || len(repos[0]) != 6 || repos[0]["host_integration_id"] != DemoIntegrationID ||
		repos[0]["url"] != "https://codehost.example/acme/storefront" || repos[3]["default_branch"] != "trunk" {
		t.Errorf("repositories: %s", got.body)
	}
	got = s.do("GET", "/v1/integrations/forge/codehost/7c9e6679-7425-40de-944b-e07fc1f90ae7/repos", "")
	if strings.TrimSpace(got.body) != "[]" {
		t.Errorf("an integration without repositories: %s", got.body)
	}
}

func TestOAuthProviders(t *testing.T) {
	t.Parallel()
	s := start(t, Options{})
	if got := s.do("GET", "/v2/auth/providers", ""); strings.TrimSpace(got.body) != "[]" {
		t.Errorf("without any: %s", got.body)
	}
	s.SeedOAuthProviders(map[string]any{"provider_id": "a", "is_dynamic_client": true}, map[string]any{})
	var providers []map[string]any
	if err := json.Unmarshal([]byte(s.do("GET", "/v2/auth/providers", "").body), &providers); err != nil {
		t.Fatal(err)
	}
	if len(providers) != 2 || len(providers[0]) != 12 || len(providers[1]) != 11 {
		t.Fatalf("providers: %v", providers)
	}
	if value, present := providers[1]["code_challenge_method"]; !present || value != nil {
		t.Error("code_challenge_method is required and null by default")
	}
}

// The server must be usable from many goroutines: the race detector watches.
func TestConcurrentUse(t *testing.T) {
	t.Parallel()
	s := start(t, Options{})
	seeded := s.SeedDeployment(nil)
	s.FailRandomly(1, 0.2)
	var group sync.WaitGroup
	for i := range 8 {
		group.Go(func() {
			for j := range 10 {
				_, _ = s.try("POST", "/v2/deployments", body("name", fmt.Sprintf(`"d%d-%d"`, i, j)))
				_, _ = s.try("GET", "/v2/deployments?limit=100", "")
				_, _ = s.try("PATCH", "/v2/deployments/"+seeded, `{"secrets":[{"name":"A","value":"1"}]}`)
				s.Edit(seeded, func(d map[string]any) { d["status"] = "UNKNOWN" })
				s.NewRevision(seeded)
				s.Deployments()
				s.Requests()
			}
		})
	}
	group.Wait()
	if n := len(s.Requests()); n != 240 {
		t.Errorf("%d requests, want 240", n)
	}
}

func TestDate(t *testing.T) {
	t.Parallel()
	s := start(t, Options{})
	s.Fail(ListDeployments, 1, Fault{Status: 502})
	for range 2 {
		if got := s.do("GET", "/v2/deployments", "").header.Get("Date"); got != "Wed, 02 Jan 2030 03:04:05 GMT" {
			t.Errorf("Date %q is not that of the clock", got)
		}
	}
	s.Fail(ListDeployments, 1, Fault{Status: 502, Header: http.Header{"Date": nil}})
	s.Fail(ListDeployments, 1, Fault{Header: http.Header{"Date": nil}})
	for range 2 {
		if got, sent := s.do("GET", "/v2/deployments", "").header["Date"]; sent {
			t.Errorf("Date %q", got)
		}
	}
}
