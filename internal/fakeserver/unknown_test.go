package fakeserver

import (
	"testing"
)

const withUnknown = `{"region":{"name":"eu"},"resource_spec":{"gpu":1,"sidecars":[{"env":[{"key":"k"}],` +
	`"resources":{"claims":[]},` +
	`"tty":true}],"volumes":[{"zfs":{}}]}}`

func TestKeepUnknown(t *testing.T) {
	t.Parallel()
	s := start(t, Options{KeepUnknown: true, Defaults: map[string]any{}})
	d := s.ok("POST", "/v2/deployments", body("source_config", withUnknown, "deployment_type", `"prod"`, "secrets",
		`[{"name":"A","value":"1","scope":"x"}]`))
	listed := at(t, s.ok("GET", "/v2/deployments?deployment_type=prod", ""), "resources", 0).(map[string]any)
	for _, got := range []map[string]any{d, listed} {
		if config := compact(t, withoutNulls(got["source_config"])); config != withUnknown {
			t.Errorf("source_config\n got %s\nwant %s", config, withUnknown)
		}
		if got["deployment_type"] != "prod" || compact(t, got["secrets"]) != `[{"name":"A","scope":"x","value":"1"}]` {
			t.Errorf("deployment %v", got)
		}
	}
	d = s.ok("PATCH", "/v2/deployments/"+d["id"].(string),
		`{"deployment_type":"dev","source_config":{"region":{"zone":1}},"source_revision_config":{"tag":"t"}}`)
	if compact(t, at(t, d, "source_config", "region")) != `{"zone":1}` || d["deployment_type"] != "dev" ||
		at(t, d, "source_revision_config", "tag") != "t" {
		t.Errorf("changed %v", d)
	}
}

func TestKeepUnknownStillRejects(t *testing.T) {
	t.Parallel()
	s := start(t, Options{KeepUnknown: true})
	id := s.SeedDeployment(nil)
	for patch, loc := range map[string]string{
		`{"name":"x"}`: `["body","name"]`,
		`{"id":"x"}`:   `["body","id"]`,
		`{"source_revision_config":{"repo_commit_sha":"x"}}`: `["body","source_revision_config","repo_commit_sha"]`,
		`{"source_config":{"new":1,"repo_url":1}}`:           `["body","source_config","repo_url"]`,
	} {
		got := s.do("PATCH", "/v2/deployments/"+id, patch)
		if detail := at(t, got.object(t), "detail").([]any); got.status != 422 || len(detail) != 1 ||
			compact(t, at(t, detail, 0, "loc")) != loc {
			t.Errorf("%s: status %d: %s", patch, got.status, got.body)
		}
	}
}

// A PATCH that repeats what the service reports is rejected member by member.
func TestReportedUnknownMembersAreRejected(t *testing.T) {
	t.Parallel()
	s := start(t, Options{Defaults: map[string]any{}, ServiceMembers: map[string]any{
		"region":                           "eu",
		"source_config.plan":               "team",
		"source_config.resource_spec.tier": "gold",
		"source_config.resource_spec.sidecars[].tty":         true,
		"source_config.resource_spec.sidecars[].env[].scope": "all",
		"source_revision_config.tag":                         map[string]any{"a": 1},
	}})
	d := s.ok("POST", "/v2/deployments", body("source_config", `{"resource_spec":{"sidecars":[{},{"env":[{}]}]}}`))
	if d["region"] != "eu" {
		t.Errorf("region %v", d["region"])
	}
	repeated := map[string]any{}
	for _, name := range []string{"region", "source_config"} {
		repeated[name] = d[name]
	}
	repeated["source_revision_config"] = map[string]any{"tag": at(t, d, "source_revision_config", "tag")}
	got := s.do("PATCH", "/v2/deployments/"+d["id"].(string), compact(t, repeated))
	var locs []any
	for _, item := range at(t, got.object(t), "detail").([]any) {
		locs = append(locs, at(t, item, "loc"))
		if kind := at(t, item, "type"); kind != "extra_forbidden" {
			t.Errorf("type %v", kind)
		}
	}
	const want = `[["body","source_config","resource_spec","sidecars",0,"tty"],` +
		`["body","source_config","resource_spec","sidecars",1,"env",0,"scope"],` +
		`["body","source_config","resource_spec","sidecars",1,"tty"],` +
		`["body","source_config","resource_spec","tier"],["body","source_config","plan"],` +
		`["body","source_revision_config","tag"],["body","region"]]`
	if got.status != 422 || compact(t, locs) != want {
		t.Errorf("status %d, locs\n got %s\nwant %s", got.status, compact(t, locs), want)
	}
}

func TestReportedExtraFieldsAreRejected(t *testing.T) {
	t.Parallel()
	s := start(t, Options{ExtraFields: true})
	sidecars := []any{map[string]any{"name": "s"}}
	spec := map[string]any{"sidecars": sidecars}
	id := s.SeedDeployment(map[string]any{"source_config": map[string]any{"resource_spec": spec}})
	d := at(t, s.ok("GET", "/v2/deployments", ""), "resources", 0)
	for name, test := range map[string]struct {
		patch string
		loc   string
	}{
		"source_config": {`{"source_config":` + compact(t, at(t, d, "source_config")) + `}`,
			`["body","source_config","resource_spec","sidecars",0,"undocumented_list"]`},
		"source_revision_config": {`{"source_revision_config":{"undocumented_null":null}}`,
			`["body","source_revision_config","undocumented_null"]`},
	} {
		got := s.do("PATCH", "/v2/deployments/"+id, test.patch)
		if loc := compact(t, at(t, got.object(t), "detail", 0, "loc")); got.status != 422 || loc != test.loc {
			t.Errorf("%s: status %d, loc %s, want %s", name, got.status, loc, test.loc)
		}
	}
}

func TestServiceMembers(t *testing.T) {
	t.Parallel()
	members := map[string]any{
		"source_config.resource_spec.labels.team":                     "svc",
		"source_config.resource_spec.volumes[].configMap.defaultMode": 420,
		"source_config.resource_spec.sidecars[].tty":                  false,
		"url": "https://app.example",
	}
	for kind, want := range map[PatchKind]string{
		PatchMergeSpec: `{"cpu":1,"labels":{"b":"2","team":"svc"},"sidecars":[{"name":"t","tty":false}],` +
			`"volumes":[{"configMap":{"defaultMode":420,"name":"d"}}]}`,
		PatchMergeDeep: `{"cpu":1,"labels":{"a":"1","b":"2","team":"own"},"sidecars":[{"name":"t","tty":false}],` +
			`"volumes":[{"configMap":{"defaultMode":420,"name":"d"}}]}`,
		PatchReplaceKeys: `{"labels":{"b":"2","team":"svc"},"sidecars":[{"name":"t","tty":false}],` +
			`"volumes":[{"configMap":{"defaultMode":420,"name":"d"}}]}`,
		PatchReplaceConfig: `{"labels":{"b":"2","team":"svc"},"sidecars":[{"name":"t","tty":false}],` +
			`"volumes":[{"configMap":{"defaultMode":420,"name":"d"}}]}`,
	} {
		s := start(t, Options{Patch: kind, Defaults: map[string]any{}, ServiceMembers: members})
		d := s.ok("POST", "/v2/deployments", body("source_config",
			`{"resource_spec":{"cpu":1,"labels":{"a":"1","team":"own"},`+
				`"volumes":[{"configMap":{"name":"c"}},{"emptyDir":{}}]}}`))
		const created = `{"cpu":1,"labels":{"a":"1","team":"own"},"volumes":[{"configMap":{"defaultMode":420,` +
			`"name":"c"}},{"emptyDir":{}}]}`
		if got := compact(t, at(t, d, "source_config", "resource_spec")); got != created ||
			d["url"] != "https://app.example" {
			t.Errorf("kind %d: created %s with url %v, want %s", kind, got, d["url"], created)
		}
		d = s.ok("PATCH", "/v2/deployments/"+d["id"].(string),
			`{"source_config":{"resource_spec":{"labels":{"b":"2"},"sidecars":[{"name":"t"}],`+
				`"volumes":[{"configMap":{"name":"d"}}]}}}`)
		if got := compact(t, at(t, d, "source_config", "resource_spec")); got != want {
			t.Errorf("kind %d: changed\n got %s\nwant %s", kind, got, want)
		}
		d = s.ok("PATCH", "/v2/deployments/"+d["id"].(string), `{"source_config":{"resource_spec":{"labels":null}}}`)
		if got := compact(t, at(t, d, "source_config", "resource_spec", "labels")); got != `{"team":"svc"}` {
			t.Errorf("kind %d: labels %s after null", kind, got)
		}
	}
}
