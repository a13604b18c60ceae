package fakeserver

import (
	"strings"
	"testing"
)

func TestPatch(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		patch    string
		path     []any
		want     string
		revision bool
	}{
		"resource_spec as a whole": {`{"source_config":{"resource_spec":{"sidecars":[{"image":"i"}]}}}`,
			[]any{"source_config", "resource_spec"}, `{"cpu":0.5,"sidecars":[{"image":"i","imagePullPolicy":"Always"}]}`, true},
		"the same resource_spec": {`{"source_config":{"resource_spec":{"cpu":1,"labels":{"a":"1"}}}}`,
			[]any{"source_config", "resource_spec"}, `{"cpu":1,"labels":{"a":"1"}}`, true},
		"null for resource_spec": {`{"source_config":{"resource_spec":null}}`,
			[]any{"source_config", "resource_spec"}, `{"cpu":0.5}`, false},
		"another member of source_config": {`{"source_config":{"build_on_push":true}}`,
			[]any{"source_config", "resource_spec"}, `{"cpu":1,"labels":{"a":"1"}}`, false},
		"a member of another source": {`{"source_config":{"listener_id":"7c9e6679-7425-40de-944b-e07fc1f90ae7"}}`,
			[]any{"source_config", "listener_id"}, `"7c9e6679-7425-40de-944b-e07fc1f90ae7"`, false},
		"null without a default": {`{"source_config":{"build_command":null}}`, []any{"source_config", "build_command"},
			`null`, false},
		"null at the root": {`{"source_config":null,"source_revision_config":null,"secrets":null,"secret_references":null}`,
			[]any{"source_config", "resource_spec", "cpu"}, `1`, false},
		"a member of the revision": {`{"source_revision_config":{"repo_ref":"dev"}}`,
			[]any{"source_revision_config", "repo_ref"}, `"dev"`, true},
		"the same member of the revision": {`{"source_revision_config":{"repo_ref":"main"}}`,
			[]any{"source_revision_config", "graph_config_path"}, `"g.json"`, true},
		"null for a member of the revision": {`{"source_revision_config":{"repo_ref":null}}`,
			[]any{"source_revision_config", "repo_ref"}, `null`, true},
		"null for one without a value": {`{"source_revision_config":{"source_tarball_path":null}}`,
			[]any{"source_revision_config", "repo_ref"}, `"main"`, false},
		"secrets":          {`{"secrets":[{"name":"B","value":"2"}]}`, []any{"secrets"}, `[{"name":"B","value":"2"}]`, true},
		"the same secrets": {`{"secrets":[{"name":"A","value":"1"}]}`, []any{"secrets", 0, "value"}, `"1"`, true},
		"nothing":          {`{}`, []any{"name"}, `"shop"`, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := start(t, Options{Defaults: map[string]any{
				"source_config.resource_spec.cpu":                        0.5,
				"source_config.resource_spec.sidecars[].imagePullPolicy": "Always",
			}})
			id := s.SeedDeployment(map[string]any{
				"name": "shop", "source": "codehost",
				"source_config": map[string]any{"resource_spec": map[string]any{"cpu": 1,
					"labels": map[string]string{"a": "1"}}},
				"source_revision_config": map[string]any{"repo_ref": "main", "graph_config_path": "g.json"},
				"secrets":                []any{map[string]any{"name": "A", "value": "1"}},
			})
			before := s.Deployment(id)
			d := s.ok("PATCH", "/v2/deployments/"+id, test.patch)
			if got := compact(t, at(t, d, test.path...)); got != test.want {
				t.Errorf("got %s, want %s", got, test.want)
			}
			if found := check(deploymentShape, d, inResponse); len(found) > 0 {
				t.Errorf("the response is not a Deployment: %v", found)
			}
			if d["updated_at"] == before["updated_at"] {
				t.Error("updated_at is unchanged")
			}
			for what, path := range map[string][]any{
				"latest_revision_id": {"latest_revision_id"}, "image_version": {"image_version"},
				"image_uri": {"source_revision_config", "image_uri"}, "commit": {"source_revision_config", "repo_commit_sha"},
			} {
				if moved := at(t, d, path...) != at(t, before, path...); moved != test.revision {
					t.Errorf("%s moved: %t, want %t", what, moved, test.revision)
				}
			}
		})
	}
}

func TestPatchRejects(t *testing.T) {
	t.Parallel()
	s := start(t, Options{})
	id := s.SeedDeployment(map[string]any{"source": "codehost"})
	before := compact(t, s.Deployment(id))
	for patch, loc := range map[string]string{
		`{"secret_references":[{"name":"x","secret_name":"s","secret_key":"k"}]}`: `["body","secret_references"]`,

		`{"name":"x"}`:          `["body","name"]`,
		`{"source":"codehost"}`: `["body","source"]`,
		`{"secrets":{}}`:        `["body","secrets"]`,
		`{"source_revision_config":{"repo_commit_sha":"x"}}`:       `["body","source_revision_config","repo_commit_sha"]`,
		`{"source_config":{"resource_spec":{"gpu":1}}}`:            `["body","source_config","resource_spec","gpu"]`,
		`{"source_config":{"repo_url":"https://other.example"}}`:   `["body","source_config","repo_url"]`,
		`{"source_config":{"integration_id":null}}`:                `["body","source_config","integration_id"]`,
		`{"source_config":{"custom_url":"https://other.example"}}`: `["body","source_config","custom_url"]`,
		`{"source_revision_config":{"graph_config_path":null}}`:    `["body","source_revision_config","graph_config_path"]`,
	} {
		got := s.do("PATCH", "/v2/deployments/"+id, patch)
		if got.status != 422 || compact(t, at(t, got.object(t), "detail", 0, "loc")) != loc {
			t.Errorf("%s: status %d: %s", patch, got.status, got.body)
		}
	}
	if after := compact(t, s.Deployment(id)); after != before {
		t.Errorf("a rejected PATCH changed:\n%s\n%s", before, after)
	}
}

func TestIgnorePatch(t *testing.T) {
	t.Parallel()
	s := start(t, Options{IgnorePatch: true})
	id := s.SeedDeployment(nil)
	before := compact(t, s.Deployment(id))
	s.ok("PATCH", "/v2/deployments/"+id, `{"source_config":{"custom_url":"https://x.example"}}`)
	if after := compact(t, s.Deployment(id)); after != before {
		t.Errorf("changed:\n%s\n%s", before, after)
	}
}

// Each kind of PATCH, and each of null, on one stored deployment.
func TestPatchKinds(t *testing.T) {
	t.Parallel()
	const stored = `{"custom_url":"a","listener_config":{"k8s_namespace":"n"},"resource_spec":{"cpu":4,` +
		`"labels":{"a":"1","b":"2"},` +
		`"memory_mb":8,"sidecars":[{"imagePullPolicy":"Never","name":"s"}],"tier":"gold"},"zone":{"x":1,"y":2}}`
	for name, test := range map[string]struct {
		patch string
		want  map[PatchKind]string // of source_config, without null members
		keeps map[PatchKind]string // where null keeps; nil: as want
	}{
		"a key of source_config": {
			patch: `{"custom_url":"b"}`,
			want: map[PatchKind]string{
				PatchMergeSpec: `{"custom_url":"b","listener_config":{"k8s_namespace":"n"},"resource_spec":{"cpu":4,` +
					`"labels":{"a":"1","b":"2"},` +
					`"memory_mb":8,"sidecars":[{"imagePullPolicy":"Never","name":"s"}],"tier":"gold"},"zone":{"x":1,"y":2}}`,
				PatchReplaceConfig: `{"custom_url":"b","resource_spec":{"cpu":1}}`,
			},
		},
		"a member of resource_spec": {
			patch: `{"resource_spec":{"memory_mb":9}}`,
			want: map[PatchKind]string{
				PatchMergeSpec: `{"custom_url":"a","listener_config":{"k8s_namespace":"n"},"resource_spec":{"cpu":4,` +
					`"labels":{"a":"1","b":"2"},` +
					`"memory_mb":9,"sidecars":[{"imagePullPolicy":"Never","name":"s"}],"tier":"gold"},"zone":{"x":1,"y":2}}`,
				PatchReplaceKeys: `{"custom_url":"a","listener_config":{"k8s_namespace":"n"},"resource_spec":{"cpu":1,` +
					`"memory_mb":9},"zone":{"x":1,"y":2}}`,
				PatchReplaceConfig: `{"resource_spec":{"cpu":1,"memory_mb":9}}`,
			},
		},
		"objects and arrays": {
			patch: `{"listener_config":{},"resource_spec":{"labels":{"c":"3"},"sidecars":[{"name":"t"}]},"zone":{"x":3}}`,
			want: map[PatchKind]string{
				PatchMergeSpec: `{"custom_url":"a","listener_config":{},"resource_spec":{"cpu":4,"labels":{"c":"3"},` +
					`"memory_mb":8,` +
					`"sidecars":[{"imagePullPolicy":"Always","name":"t"}],"tier":"gold"},"zone":{"x":3}}`,
				PatchMergeDeep: `{"custom_url":"a","listener_config":{"k8s_namespace":"n"},"resource_spec":{"cpu":4,` +
					`"labels":{"a":"1","b":"2","c":"3"},"memory_mb":8,` +
					`"sidecars":[{"imagePullPolicy":"Always","name":"t"}],"tier":"gold"},"zone":{"x":3,"y":2}}`,
				PatchReplaceKeys: `{"custom_url":"a","listener_config":{},"resource_spec":{"cpu":1,"labels":{"c":"3"},` +
					`"sidecars":[{"imagePullPolicy":"Always","name":"t"}]},"zone":{"x":3}}`,
				PatchReplaceConfig: `{"listener_config":{},"resource_spec":{"cpu":1,"labels":{"c":"3"},` +
					`"sidecars":[{"imagePullPolicy":"Always",` +
					`"name":"t"}]},"zone":{"x":3}}`,
			},
		},
		"null": {
			patch: `{"custom_url":null,"listener_config":{"k8s_namespace":null},` +
				`"resource_spec":{"cpu":null,"labels":{"a":null},` +
				`"sidecars":null,"tier":null},"zone":null}`,
			want: map[PatchKind]string{
				PatchMergeSpec:     `{"listener_config":{},"resource_spec":{"cpu":1,"labels":{},"memory_mb":8}}`,
				PatchMergeDeep:     `{"listener_config":{},"resource_spec":{"cpu":1,"labels":{"b":"2"},"memory_mb":8}}`,
				PatchReplaceKeys:   `{"listener_config":{},"resource_spec":{"cpu":1,"labels":{}}}`,
				PatchReplaceConfig: `{"listener_config":{},"resource_spec":{"cpu":1,"labels":{}}}`,
			},
			keeps: map[PatchKind]string{
				PatchMergeSpec: `{"custom_url":"a","listener_config":{"k8s_namespace":"n"},"resource_spec":{"cpu":4,"labels":{},` +
					`"memory_mb":8,"sidecars":[{"imagePullPolicy":"Never","name":"s"}],"tier":"gold"},"zone":{"x":1,"y":2}}`,
				PatchMergeDeep: stored,
				PatchReplaceKeys: `{"custom_url":"a","listener_config":{"k8s_namespace":"n"},"resource_spec":{"cpu":4,` +
					`"labels":{},` +
					`"sidecars":[{"imagePullPolicy":"Never","name":"s"}],"tier":"gold"},"zone":{"x":1,"y":2}}`,
				PatchReplaceConfig: `{"custom_url":"a","listener_config":{"k8s_namespace":"n"},"resource_spec":{"cpu":4,` +
					`"labels":{},` +
					`"sidecars":[{"imagePullPolicy":"Never","name":"s"}],"tier":"gold"},"zone":{"x":1,"y":2}}`,
			},
		},
		"null for resource_spec": {
			patch: `{"resource_spec":null}`,
			want: map[PatchKind]string{
				PatchMergeSpec: `{"custom_url":"a","listener_config":{"k8s_namespace":"n"},"resource_spec":{"cpu":1},` +
					`"zone":{"x":1,"y":2}}`,
				PatchReplaceConfig: `{"resource_spec":{"cpu":1}}`,
			},
			keeps: map[PatchKind]string{
				PatchMergeSpec: stored,
				PatchReplaceConfig: `{"resource_spec":{"cpu":4,"labels":{"a":"1","b":"2"},"memory_mb":8,` +
					`"sidecars":[{"imagePullPolicy":"Never",` +
					`"name":"s"}],"tier":"gold"}}`,
			},
		},
	} {
		for kind, kindName := range []string{"replace keys", "merge spec", "merge deep", "replace config"} {
			for null, nullName := range []string{"resets", "keeps"} {
				t.Run(name+"/"+kindName+"/null "+nullName, func(t *testing.T) {
					t.Parallel()
					wants := test.want
					if NullKind(null) == NullKeeps && test.keeps != nil {
						wants = test.keeps
					}
					want, given := wants[PatchKind(kind)]
					if !given {
						want = wants[PatchMergeSpec]
					}
					s := start(t, Options{KeepUnknown: true, DocumentedRulesOnly: true,
						Patch: PatchKind(kind), Null: NullKind(null), Defaults: map[string]any{
							"source_config.resource_spec.cpu":                        1,
							"source_config.resource_spec.sidecars[].imagePullPolicy": "Always",
						}})
					config, err := decodeJSON([]byte(stored))
					if err != nil {
						t.Fatal(err)
					}
					id := s.SeedDeployment(map[string]any{"source_config": config})
					d := s.ok("PATCH", "/v2/deployments/"+id, `{"source_config":`+test.patch+`}`)
					for _, name := range []string{"integration_id", "custom_url", "resource_spec"} {
						if at(t, d, "source_config", name) == "(absent)" {
							t.Errorf("%s is absent", name)
						}
					}
					if found := check(deploymentShape, d, inResponse); len(found) > 2 { // zone and tier
						t.Errorf("the response is not a Deployment: %v", found)
					}
					if got := compact(t, withoutNulls(d["source_config"])); got != want {
						t.Errorf("source_config\n got %s\nwant %s", got, want)
					}
				})
			}
		}
	}
}

// withoutNulls removes null members from objects, but not from arrays.
func withoutNulls(value any) any {
	if object, ok := value.(map[string]any); ok {
		for name, inner := range object {
			if inner == nil {
				delete(object, name)
			} else {
				object[name] = withoutNulls(inner)
			}
		}
	}
	return value
}

func TestPatchOfRevisionConfigKeepsTheBuild(t *testing.T) {
	t.Parallel()
	for _, kind := range []PatchKind{PatchMergeSpec, PatchMergeDeep, PatchReplaceKeys, PatchReplaceConfig} {
		s := start(t, Options{Patch: kind, RevisionsForChangesOnly: true})
		id := s.SeedDeployment(map[string]any{"source": "codehost"})
		before := s.Deployment(id)
		same := s.ok("PATCH", "/v2/deployments/"+id,
			`{"source_revision_config":{"repo_ref":"main","graph_config_path":"graph.json"}}`)
		if compact(t, same["source_revision_config"]) != compact(t, before["source_revision_config"]) ||
			same["latest_revision_id"] != before["latest_revision_id"] {
			t.Errorf("kind %d, nothing new: %v", kind, same)
		}
		d := s.ok("PATCH", "/v2/deployments/"+id, `{"source_revision_config":{"repo_ref":"dev"}}`)
		commit, _ := at(t, d, "source_revision_config", "repo_commit_sha").(string)
		if len(commit) != 40 || at(t, d, "source_revision_config", "image_uri") != "registry.internal/seeded-1:"+commit[:7] {
			t.Errorf("kind %d, another ref: %v", kind, d["source_revision_config"])
		}
		dropped := at(t, d, "source_revision_config", "graph_config_path") == nil
		if dropped != (kind == PatchReplaceConfig) {
			t.Errorf("kind %d: graph_config_path dropped: %t", kind, dropped)
		}
	}
}

func TestPatch_membersThatCannotBeChanged(t *testing.T) {
	t.Parallel()
	const (
		id    = "7c9e6679-7425-40de-944b-e07fc1f90ae7"
		other = "00000000-0000-4000-8000-000000000001"
	)
	for name, test := range map[string]struct {
		patch  string
		status int
	}{
		"the same listener":             {`{"listener_id":"` + strings.ToUpper(id) + `"}`, 200},
		"another listener":              {`{"listener_id":"` + other + `"}`, 422},
		"no listener":                   {`{"listener_id":null}`, 422},
		"the same namespace":            {`{"listener_config":{"k8s_namespace":"n"}}`, 200},
		"another namespace":             {`{"listener_config":{"k8s_namespace":"m"}}`, 422},
		"no namespace":                  {`{"listener_config":{}}`, 422},
		"no listener_config":            {`{"listener_config":null}`, 422},
		"a URL":                         {`{"custom_url":"https://x.example"}`, 200},
		"a repository without effect":   {`{"repo_url":"https://x.example"}`, 200},
		"an integration with no effect": {`{"integration_id":"` + other + `"}`, 200},
	} {
		for _, permitted := range []bool{false, true} {
			s := start(t, Options{DocumentedRulesOnly: permitted})
			d := s.SeedDeployment(map[string]any{"source_config": map[string]any{
				"listener_id": id, "listener_config": map[string]any{"k8s_namespace": "n"}}})
			want := test.status
			if permitted {
				want = 200
			}
			if got := s.do("PATCH", "/v2/deployments/"+d, `{"source_config":`+test.patch+`}`); got.status != want {
				t.Errorf("%s, permitted %t: status %d, want %d: %s", name, permitted, got.status, want, got.body)
			}
		}
	}
}

func TestPatch_nullForALabel(t *testing.T) {
	t.Parallel()
	statuses := map[PatchKind]int{PatchReplaceKeys: 422, PatchMergeSpec: 422, PatchMergeDeep: 200, PatchReplaceConfig: 422}
	for kind, want := range statuses {
		s := start(t, Options{Patch: kind})
		spec := map[string]any{"labels": map[string]any{"a": "1"}}
		id := s.SeedDeployment(map[string]any{"source_config": map[string]any{"resource_spec": spec}})
		got := s.do("PATCH", "/v2/deployments/"+id, `{"source_config":{"resource_spec":{"labels":{"a":null}}}}`)
		if labels := compact(t, at(t, s.Deployment(id), "source_config", "resource_spec", "labels")); got.status != want ||
			labels != map[int]string{422: `{"a":"1"}`, 200: `{}`}[want] {
			t.Errorf("kind %d: status %d, want %d; labels %s", kind, got.status, want, labels)
		}
	}
}

func TestRevisionsForChangesOnly(t *testing.T) {
	t.Parallel()
	for patch, want := range map[string]bool{
		`{"source_config":{"resource_spec":{"cpu":2}}}`:                          false,
		`{"source_revision_config":{"image_uri":"registry.example/seeded-1:1"}}`: false,
		`{"source_revision_config":{"image_uri":"registry.example/seeded-1:2"}}`: true,
		`{"secrets":[]}`:                         false,
		`{"secrets":[{"name":"A","value":"1"}]}`: true,
		`{"secret_references":[{"name":"A","secret_name":"s","secret_key":"k"}]}`: true,
	} {
		s := start(t, Options{RevisionsForChangesOnly: true})
		id := s.SeedDeployment(nil)
		before := s.Deployment(id)["latest_revision_id"]
		d := s.ok("PATCH", "/v2/deployments/"+id, patch)
		if revised := d["latest_revision_id"] != before; revised != want {
			t.Errorf("%s: revised %t, want %t", patch, revised, want)
		}
	}
}
