package fakeserver

import (
	"net/http"
	"strings"
	"testing"
	"time"
)

func TestCreateRespondsWithEveryField(t *testing.T) {
	t.Parallel()
	for _, source := range sources {
		t.Run(source, func(t *testing.T) {
			t.Parallel()
			s := start(t, Options{})
			config := "{}"
			if source == "codehost" || source == "internal_source" {
				config = `{"graph_config_path":"graph.json"}`
			}
			d := s.ok("POST", "/v2/deployments", body("source", `"`+source+`"`, "source_revision_config", config))
			if found := check(deploymentShape, d, inResponse); len(found) > 0 {
				t.Errorf("the response is not a Deployment: %v", found)
			}
			if len(d) != len(deploymentShape.fields) {
				t.Errorf("%d members, want %d", len(d), len(deploymentShape.fields))
			}
			if d["created_at"] != "2030-01-02T03:04:05.678Z" || d["updated_at"] != d["created_at"] {
				t.Errorf("created_at %v, updated_at %v", d["created_at"], d["updated_at"])
			}
			if n := len(d["source_revision_config"].(map[string]any)); n != 5 {
				t.Errorf("source_revision_config has %d members, want 5", n)
			}
			built := at(t, d, "source_revision_config", "image_uri")
			commit, _ := at(t, d, "source_revision_config", "repo_commit_sha").(string)
			if source == "codehost" {
				if len(commit) != 40 || built != "registry.internal/shop:"+commit[:7] || d["image_version"] == nil {
					t.Errorf("image %v, commit %q, version %v", built, commit, d["image_version"])
				}
			} else if built != nil || commit != "" || d["image_version"] != nil {
				t.Errorf("image %v, commit %q, version %v, want none without a build", built, commit, d["image_version"])
			}
		})
	}
}

func TestCreateStoresTheRequest(t *testing.T) {
	t.Parallel()
	s := start(t, Options{Defaults: map[string]any{}})
	const spec = `{"annotations":{},"cpu":0.1,"labels":{"a":"b"},"memory_mb":2048.0,` +
		`"sidecars":[{"args":[],"env":[{"name":"A","valueFrom":{"secretKeyRef":{"key":"k"}}}],"envFrom":[{"x":[1e3]}],` +
		`"name":"s","resources":{"limits":{"cpu":"1"}},"securityContext":{"runAsUser":0},` +
		`"volumeMounts":[{"mountPath":"/m","readOnly":true}]}],` +
		`"volumes":[{"emptyDir":{},"name":"v"}]}`
	d := s.ok("POST", "/v2/deployments", body("source_config", `{"custom_url":null,"resource_spec":`+spec+`}`,
		"secrets", `[{"name":"B","value":"<2>"},{"name":"A","value":"1"}]`,
		"secret_references", `[{"name":"R","secret_name":"s","secret_key":"k"}]`))
	if got := compact(t, at(t, d, "source_config", "resource_spec")); got != spec {
		t.Errorf("resource_spec\n got %s\nwant %s", got, spec)
	}
	if got := at(t, d, "secrets", 0, "value"); got != "<2>" {
		t.Errorf("first secret %v", got)
	}
	if got := at(t, s.Deployment(d["id"].(string)), "secret_references", 0, "secret_key"); got != "k" {
		t.Errorf("stored reference %v", got)
	}
}

func TestUUIDsAreStoredInLowerCase(t *testing.T) {
	t.Parallel()
	s := start(t, Options{})
	d := s.ok("POST", "/v2/deployments", body("source_config",
		`{"integration_id":"7C9E6679-7425-40DE-944B-E07FC1F90AE7"}`))
	if got := at(t, d, "source_config", "integration_id"); got != "7c9e6679-7425-40de-944b-e07fc1f90ae7" {
		t.Errorf("integration_id %v", got)
	}
	upper := strings.ToUpper(d["id"].(string))
	if got := s.ok("GET", "/v2/deployments?deployment_ids="+upper, ""); len(got["resources"].([]any)) != 1 {
		t.Error("an id in upper case is not found by the list")
	}
	s.ok("PATCH", "/v2/deployments/"+upper, `{}`)
}

func TestCreateRejects(t *testing.T) {
	t.Parallel()
	const reference = `[{"name":"R","secret_name":"s","secret_key":"k"}]`
	in := func(spec string) string { return body("source_config", `{"resource_spec":`+spec+`}`) }
	for name, test := range map[string]struct{ body, loc string }{
		"no name":                   {body("name", ""), `["body","name"]`},
		"no source":                 {body("source", ""), `["body","source"]`},
		"no source_config":          {body("source_config", ""), `["body","source_config"]`},
		"no source_revision_config": {body("source_revision_config", ""), `["body","source_revision_config"]`},
		"no secrets":                {body("secrets", ""), `["body","secrets"]`},
		"null secrets":              {body("secrets", "null"), `["body","secrets"]`},
		"null source_config":        {body("source_config", "null"), `["body","source_config"]`},
		"a number for a name":       {body("name", "1"), `["body","name"]`},
		"an unknown source":         {body("source", `"heroku"`), `["body","source"]`},
		"an unknown field":          {body("region", `"eu"`), `["body","region"]`},
		"an id":                     {body("id", `"7c9e6679-7425-40de-944b-e07fc1f90ae7"`), `["body","id"]`},
		"a null status":             {body("status", `null`), `["body","status"]`},
		"a commit": {body("source_revision_config", `{"repo_commit_sha":"abc"}`),
			`["body","source_revision_config","repo_commit_sha"]`},
		"a null commit": {body("source_revision_config", `{"repo_commit_sha":null}`),
			`["body","source_revision_config","repo_commit_sha"]`},
		"an id that is no UUID": {body("source_config", `{"listener_id":"x"}`), `["body","source_config","listener_id"]`},
		"a UUID in braces": {body("source_config", `{"listener_id":"{7c9e6679-7425-40de-944b-e07fc1f90ae7}"}`),
			`["body","source_config","listener_id"]`},
		"text for a boolean": {body("source_config", `{"build_on_push":"true"}`),
			`["body","source_config","build_on_push"]`},
		"text for a listener_config": {body("source_config", `{"listener_config":"x"}`),
			`["body","source_config","listener_config"]`},
		"an unknown listener field": {body("source_config", `{"listener_config":{"ns":"x"}}`),
			`["body","source_config","listener_config","ns"]`},
		"text for a CPU":            {in(`{"cpu":"1"}`), `["body","source_config","resource_spec","cpu"]`},
		"a fraction of a megabyte":  {in(`{"memory_mb":0.5}`), `["body","source_config","resource_spec","memory_mb"]`},
		"a number out of range":     {in(`{"memory_mb":1e999}`), `["body","source_config","resource_spec","memory_mb"]`},
		"an unknown resource field": {in(`{"gpu":1}`), `["body","source_config","resource_spec","gpu"]`},
		"an array for labels":       {in(`{"labels":[]}`), `["body","source_config","resource_spec","labels"]`},
		"an object for sidecars":    {in(`{"sidecars":{}}`), `["body","source_config","resource_spec","sidecars"]`},
		"a null sidecar":            {in(`{"sidecars":[null]}`), `["body","source_config","resource_spec","sidecars",0]`},
		"snake case in a mount": {in(`{"volume_mounts":[{},{"mount_path":"/"}]}`),
			`["body","source_config","resource_spec","volume_mounts",1,"mount_path"]`},
		"text for an emptyDir": {in(`{"volumes":[{"emptyDir":"{}"}]}`),
			`["body","source_config","resource_spec","volumes",0,"emptyDir"]`},
		"a number in a command": {in(`{"sidecars":[{"command":["a",1]}]}`),
			`["body","source_config","resource_spec","sidecars",0,"command",1]`},
		"unknown resources": {in(`{"sidecars":[{"resources":{"claims":{}}}]}`),
			`["body","source_config","resource_spec","sidecars",0,"resources","claims"]`},
		"an unknown field of env": {in(`{"sidecars":[{"env":[{"key":"x"}]}]}`),
			`["body","source_config","resource_spec","sidecars",0,"env",0,"key"]`},
		"a map of secrets":    {body("secrets", `{"A":"1"}`), `["body","secrets"]`},
		"a null secret value": {body("secrets", `[{"name":"A","value":null}]`), `["body","secrets",0,"value"]`},
		"references with another source": {body("source", `"internal_docker"`, "secret_references", reference),
			`["body","secret_references"]`},
		"an unknown reference field": {body("secret_references", strings.Replace(reference, "{", `{"key":"x",`, 1)),
			`["body","secret_references",0,"key"]`},
		"a reference without a key": {body("secret_references", `[{"name":"R","secret_name":"s"}]`),
			`["body","secret_references",0,"secret_key"]`},
		"a secret without a name":  {body("secrets", `[{"value":"1"}]`), `["body","secrets",0,"name"]`},
		"a secret without a value": {body("secrets", `[{"name":"A"}]`), `["body","secrets",0,"value"]`},
		"too little CPU":           {in(`{"queue_cpu":0.09}`), `["body","source_config","resource_spec","queue_cpu"]`},
		"too much CPU":             {in(`{"db_cpu":8.01}`), `["body","source_config","resource_spec","db_cpu"]`},
		"too high a limit":         {in(`{"cpu_limit":16.01}`), `["body","source_config","resource_spec","cpu_limit"]`},
		"a number for a label": {in(`{"labels":{"a":"1","b":2}}`),
			`["body","source_config","resource_spec","labels","b"]`},
		"null for an annotation": {in(`{"annotations":{"a":null}}`),
			`["body","source_config","resource_spec","annotations","a"]`},
		"a URL of a repository": {body("source", `"codehost"`, "source_config", `{"custom_url":"https://x.example"}`,
			"source_revision_config", `{"graph_config_path":"g.json"}`), `["body","source_config","custom_url"]`},
		"a repository without a path": {body("source", `"codehost"`, "source_revision_config", `{"repo_ref":"main"}`),
			`["body","source_revision_config","graph_config_path"]`},
		"a tarball without a path": {body("source", `"internal_source"`, "source_revision_config",
			`{"graph_config_path":null}`),
			`["body","source_revision_config","graph_config_path"]`},
		"an image with a path": {body("source_revision_config", `{"graph_config_path":"g.json"}`),
			`["body","source_revision_config","graph_config_path"]`},
		"an array for the body": {"[]", `["body"]`},
		"null for the body":     {"null", `["body"]`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := start(t, Options{})
			got := s.do("POST", "/v2/deployments", test.body)
			if got.status != http.StatusUnprocessableEntity {
				t.Fatalf("status %d, want 422: %s", got.status, got.body)
			}
			detail := at(t, got.object(t), "detail").([]any)
			if len(detail) != 1 || compact(t, at(t, detail, 0, "loc")) != test.loc {
				t.Errorf("detail %s, want one of loc %s", got.body, test.loc)
			}
			if at(t, detail, 0, "msg") == "(absent)" || at(t, detail, 0, "type") == "(absent)" {
				t.Errorf("detail without msg or type: %s", got.body)
			}
			if len(s.Deployments()) != 0 {
				t.Error("a rejected create created a deployment")
			}
		})
	}
}

func TestCreateAccepts(t *testing.T) {
	t.Parallel()
	for name, body := range map[string]string{
		"null for every field of source_config": body("source_config",
			`{"integration_id":null,"repo_url":null,"build_on_push":null,"custom_url":null,`+
				`"resource_spec":null,"listener_id":null,"listener_config":null,"install_command":null,"build_command":null}`),
		"null below resource_spec": body("source_config",
			`{"resource_spec":{"cpu":null,"labels":null,"sidecars":[{"env":null,"resources":null}]}}`),
		"null secret_references":                 body("source", `"internal_docker"`, "secret_references", "null"),
		"no secret_references of another source": body("source", `"internal_docker"`, "secret_references", "[]"),
		"an integer with an empty fraction": body("source_config",
			`{"resource_spec":{"memory_mb":2048.0,"max_scale":1e1}}`),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := start(t, Options{})
			s.ok("POST", "/v2/deployments", body)
		})
	}
}

func TestCPU_isRounded(t *testing.T) {
	t.Parallel()
	for sent, want := range map[string]string{
		"0.1": "0.1", "0.14": "0.1", "0.15": "0.2", "0.25": "0.3", "0.95": "1", "1.0": "1", "8": "8",
	} {
		s := start(t, Options{Defaults: map[string]any{}})
		d := s.ok("POST", "/v2/deployments", body("source_config", `{"resource_spec":{"cpu":`+sent+`,"cpu_limit":`+sent+`}}`))
		if got := compact(t, at(t, d, "source_config", "resource_spec")); got != `{"cpu":`+want+`,"cpu_limit":`+want+`}` {
			t.Errorf("%s: %s, want %s", sent, got, want)
		}
	}
}

func TestDocumentedRulesOnly(t *testing.T) {
	t.Parallel()
	s := start(t, Options{DocumentedRulesOnly: true, Defaults: map[string]any{}})
	const config = `{"custom_url":"https://x.example",` +
		`"resource_spec":{"annotations":{"a":null},"cpu":0.25,"cpu_limit":64,"labels":{"a":1}}}`
	d := s.ok("POST", "/v2/deployments", body("source", `"codehost"`, "source_config", config,
		"source_revision_config", "{}", "secrets", `[{"name":"A"},{"value":"1"}]`))
	if got := compact(t, withoutNulls(at(t, d, "source_config", "resource_spec"))); got !=
		`{"annotations":{},"cpu":0.25,"cpu_limit":64,"labels":{"a":1}}` {
		t.Errorf("resource_spec %s", got)
	}
	s.ok("PATCH", "/v2/deployments/"+d["id"].(string),
		`{"source_config":{"custom_url":"https://y.example","repo_url":"https://z.example"}}`)
	s.ok("POST", "/v2/deployments", body("name", `"image"`, "source_revision_config", `{"graph_config_path":"g.json"}`,
		"secret_references", `[{}]`))
	other := body("name", `"other"`, "source", `"internal_docker"`, "secret_references", `[{}]`)
	if got := s.do("POST", "/v2/deployments", other); got.status != 422 {
		t.Errorf("references with another source: status %d", got.status)
	}
}

func TestCreateRejectsInvalidJSON(t *testing.T) {
	t.Parallel()
	s := start(t, Options{})
	for name, test := range map[string]struct {
		body, contentType string
		status            int
	}{
		"empty":                 {"", "application/json", 400},
		"cut short":             {`{"name":`, "application/json", 400},
		"two values":            {"{} {}", "application/json", 400},
		"no content type":       {body(), "", 415},
		"another content type":  {body(), "text/plain", 415},
		"JSON with a parameter": {body(), "application/json; charset=utf-8", 200},
	} {
		if got := s.do("POST", "/v2/deployments", test.body, "Content-Type", test.contentType); got.status != test.status {
			t.Errorf("%s: status %d, want %d", name, got.status, test.status)
		}
	}
}

func TestNamesAreUnique(t *testing.T) {
	t.Parallel()
	s := start(t, Options{CreateStatus: 201})
	s.do("POST", "/v2/deployments", body())
	if got := s.do("POST", "/v2/deployments", body()); got.status != 409 || !strings.Contains(got.body, "shop") {
		t.Errorf("status %d: %s", got.status, got.body)
	}
	if got := s.do("POST", "/v2/deployments", body("name", `"Shop"`)); got.status != 201 {
		t.Errorf("another name: status %d, want 201", got.status)
	}
	s = start(t, Options{AllowDuplicateNames: true})
	s.ok("POST", "/v2/deployments", body())
	s.ok("POST", "/v2/deployments", body())
	if n := len(s.Deployments()); n != 2 {
		t.Errorf("%d deployments, want 2", n)
	}
}

func TestStatusAndActiveRevisionFollowTheClock(t *testing.T) {
	t.Parallel()
	s := start(t, Options{ReadyAfter: 2 * time.Second, ActiveAfter: 5 * time.Second})
	d := s.ok("POST", "/v2/deployments", body())
	id := d["id"].(string)
	if d["status"] != "AWAITING_DATABASE" || d["active_revision_id"] != nil {
		t.Errorf("created as %v, %v", d["status"], d["active_revision_id"])
	}
	for _, step := range []struct {
		after  time.Duration
		status string
		active bool
	}{
		{1999 * time.Millisecond, "AWAITING_DATABASE", false},
		{time.Millisecond, "READY", false},
		{3 * time.Second, "READY", true},
	} {
		s.clock.advance(step.after)
		got := at(t, s.ok("GET", "/v2/deployments", ""), "resources", 0)
		active := at(t, got, "active_revision_id") == d["latest_revision_id"]
		if at(t, got, "status") != step.status || active != step.active {
			t.Errorf("after %v more: %v, active %v", step.after, at(t, got, "status"), at(t, got, "active_revision_id"))
		}
	}
	s.NewRevision(id)
	if now := s.Deployment(id); now["latest_revision_id"] == d["latest_revision_id"] ||
		now["active_revision_id"] != d["latest_revision_id"] {
		t.Error("a new revision must be latest at once and active later")
	}

	s = start(t, Options{})
	if d := s.ok("POST", "/v2/deployments", body()); d["status"] != "READY" ||
		d["active_revision_id"] != d["latest_revision_id"] {
		t.Errorf("without a wait: %v, active %v", d["status"], d["active_revision_id"])
	}
}

func TestEditedStatusIsKept(t *testing.T) {
	t.Parallel()
	s := start(t, Options{ReadyAfter: time.Minute})
	id := s.ok("POST", "/v2/deployments", body())["id"].(string)
	s.Edit(id, func(d map[string]any) { d["status"] = "UNUSED" })
	s.clock.advance(time.Hour)
	if got := s.Deployment(id)["status"]; got != "UNUSED" {
		t.Errorf("status %v", got)
	}
}

func TestDelete(t *testing.T) {
	t.Parallel()
	s := start(t, Options{})
	id := s.SeedDeployment(nil)
	if got := s.do("DELETE", "/v2/deployments/"+id, ""); got.status != 204 || got.body != "" || s.Deployment(id) != nil {
		t.Errorf("status %d: %q", got.status, got.body)
	}
	if got := s.do("DELETE", "/v2/deployments/"+id, ""); got.status != 404 {
		t.Errorf("once more: status %d", got.status)
	}
}

func TestEdit(t *testing.T) {
	t.Parallel()
	s := start(t, Options{})
	id := s.SeedDeployment(map[string]any{"status": "NEWER", "region": "eu",
		"source_config": map[string]any{"resource_spec": map[string]any{"memory_mb": 2048.0}}})
	d := s.Deployment(id)
	if d["status"] != "NEWER" || d["region"] != "eu" ||
		compact(t, at(t, d, "source_config", "resource_spec")) != `{"memory_mb":2048}` {
		t.Errorf("seeded %v", d)
	}
	d["status"] = "changed in a copy"
	s.Edit(id, func(d map[string]any) { d["source_config"].(map[string]any)["custom_url"] = "https://x.example" })
	edited := s.Deployment(id)
	if edited["status"] != "NEWER" || at(t, edited, "source_config", "custom_url") != "https://x.example" ||
		edited["updated_at"] == d["updated_at"] {
		t.Errorf("edited %v", edited)
	}
	s.Edit(id, func(d map[string]any) { d["updated_at"] = "2001-01-01T00:00:00Z" })
	if got := s.Deployment(id)["updated_at"]; got != "2001-01-01T00:00:00Z" {
		t.Errorf("updated_at %v", got)
	}
	s.Remove(id)
	s.Remove(id)
	if s.Deployment(id) != nil || len(s.Deployments()) != 0 {
		t.Error("still there after Remove")
	}
}

func TestSeedDemoIsValid(t *testing.T) {
	t.Parallel()
	s := start(t, Options{})
	s.SeedDemo()
	s.SeedDeployment(map[string]any{"source": "codehost"})
	for _, d := range s.Deployments() {
		if found := check(deploymentShape, any(d), inResponse); len(found) > 0 {
			t.Errorf("%v: %v", d["name"], found)
		}
	}
}

func TestMisusePanics(t *testing.T) {
	t.Parallel()
	for name, misuse := range map[string]func(s *Server){
		"an edit of nothing":           func(s *Server) { s.Edit(DemoIntegrationID, func(map[string]any) {}) },
		"a revision of nothing":        func(s *Server) { s.NewRevision(DemoIntegrationID) },
		"an integration without UUID":  func(s *Server) { s.SeedRepositories("acme") },
		"a seed that is no JSON":       func(s *Server) { s.SeedDeployment(map[string]any{"name": func() {}}) },
		"a default at an array's item": func(*Server) { New(Options{Defaults: map[string]any{"secrets[]": 1}}) },
		"an id seeded twice": func(s *Server) {
			s.SeedDeployment(map[string]any{"id": s.SeedDeployment(nil)})
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			defer func() {
				if recover() == nil {
					t.Error("no panic")
				}
			}()
			misuse(New(Options{}))
		})
	}
}

func TestSeedOfAnotherTenantAndTime(t *testing.T) {
	t.Parallel()
	s := start(t, Options{})
	const tenant, created = "00000000-0000-4000-8000-000000000001", "2020-02-03T04:05:06Z"
	s.SeedDeployment(map[string]any{"tenant_id": tenant, "created_at": created})
	got := at(t, s.ok("GET", "/v2/deployments", ""), "resources", 0)
	if at(t, got, "tenant_id") != tenant || at(t, got, "created_at") != created {
		t.Errorf("seeded %v", got)
	}
	if own := s.ok("POST", "/v2/deployments", body())["tenant_id"]; own == tenant {
		t.Error("a create has the tenant of the seed")
	}
}
