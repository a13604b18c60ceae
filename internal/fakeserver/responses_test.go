package fakeserver

import (
	"strings"
	"testing"
)

func TestSecretsModes(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		mode SecretsMode
		want string
	}{
		"echoed":         {EchoSecrets, `[{"name":"A","value":"1"},{"name":"OWN","value":"x"}]`},
		"masked":         {MaskSecrets, `[{"name":"A","value":"********"},{"name":"OWN","value":"********"}]`},
		"omitted":        {OmitSecrets, `[]`},
		"without values": {OmitSecretValues, `[{"name":"A"},{"name":"OWN"}]`},
		"without names":  {OmitSecretNames, `[{"value":"1"},{"value":"x"}]`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := start(t, Options{Secrets: test.mode, ExtraSecrets: map[string]string{"OWN": "x"}})
			created := s.ok("POST", "/v2/deployments", body("secrets", `[{"name":"A","value":"1"}]`))
			if got := compact(t, created["secrets"]); got != test.want {
				t.Errorf("create: %s, want %s", got, test.want)
			}
			if got := compact(t, at(t, s.ok("GET", "/v2/deployments", ""), "resources", 0, "secrets")); got != test.want {
				t.Errorf("list: %s, want %s", got, test.want)
			}
			if got := compact(t, s.Deployment(created["id"].(string))["secrets"]); got != `[{"name":"A","value":"1"}]` {
				t.Errorf("stored: %s", got)
			}
		})
	}
	t.Run("masked at random", func(t *testing.T) {
		t.Parallel()
		s := start(t, Options{Secrets: MaskSecretsRandomly})
		first := at(t, s.ok("POST", "/v2/deployments", body("secrets", `[{"name":"A","value":"1"}]`)), "secrets", 0, "value")
		second := at(t, s.ok("GET", "/v2/deployments", ""), "resources", 0, "secrets", 0, "value")
		if first == second || first == "1" {
			t.Errorf("%v, then %v", first, second)
		}
	})
}

func TestDefaults(t *testing.T) {
	t.Parallel()
	const sent = `{"resource_spec":{"cpu":3,"memory_mb":null,` +
		`"sidecars":[{"volumeMounts":[{}]},{"imagePullPolicy":"Never"}]}}`
	s := start(t, Options{})
	d := s.ok("POST", "/v2/deployments", body("source_config", sent))
	for want, path := range map[string][]any{
		`false`:              {"source_config", "build_on_push"},
		`3`:                  {"source_config", "resource_spec", "cpu"},
		`2048`:               {"source_config", "resource_spec", "memory_mb"},
		`"IfNotPresent"`:     {"source_config", "resource_spec", "sidecars", 0, "imagePullPolicy"},
		`"Never"`:            {"source_config", "resource_spec", "sidecars", 1, "imagePullPolicy"},
		`{"readOnly":false}`: {"source_config", "resource_spec", "sidecars", 0, "volumeMounts", 0},
		`"(absent)"`:         {"source_config", "resource_spec", "init_containers"},
	} {
		if got := compact(t, at(t, d, path...)); got != want {
			t.Errorf("%v: %s, want %s", path, got, want)
		}
	}
	if found := check(deploymentShape, d, inResponse); len(found) > 0 {
		t.Errorf("the defaults are not valid: %v", found)
	}
	none := start(t, Options{Defaults: map[string]any{}})
	if got := at(t, none.ok("POST", "/v2/deployments", body()), "source_config", "resource_spec"); got != nil {
		t.Errorf("without defaults: resource_spec %v", got)
	}
}

func TestDefaults_thatDependOnOtherValues(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct{ spec, want string }{
		"nothing": {`{}`,
			`{"cpu":1,"cpu_limit":2,"db_storage_gi":10,"max_scale":10,"memory_limit_mb":4096,"memory_mb":2048,` +
				`"min_scale":1,"queue_cpu":1,"queue_cpu_limit":2,"queue_max_scale":10,"queue_memory_limit_mb":4096,` +
				`"queue_memory_mb":2048,"queue_min_scale":1}`},
		"requests": {`{"cpu":0.25,"memory_mb":1000,"queue_cpu":8,"executor_cpu":0.1,"max_scale":3}`,
			`{"cpu":0.3,"cpu_limit":0.6,"db_storage_gi":10,"executor_cpu":0.1,"executor_cpu_limit":0.2,"max_scale":3,` +
				`"memory_limit_mb":2000,"memory_mb":1000,"min_scale":1,"queue_cpu":8,"queue_cpu_limit":16,"queue_max_scale":3,` +
				`"queue_memory_limit_mb":2000,"queue_memory_mb":1000,"queue_min_scale":1}`},
		"limits": {`{"cpu_limit":4,"memory_limit_mb":1,"queue_memory_limit_mb":null}`,
			`{"cpu":1,"cpu_limit":4,"db_storage_gi":10,"max_scale":10,"memory_limit_mb":1,"memory_mb":2048,` +
				`"min_scale":1,"queue_cpu":1,"queue_cpu_limit":4,"queue_max_scale":10,"queue_memory_limit_mb":1,` +
				`"queue_memory_mb":2048,"queue_min_scale":1}`},
	} {
		s := start(t, Options{})
		created := s.ok("POST", "/v2/deployments", body("source_config", `{"resource_spec":`+test.spec+`}`))
		patched := s.ok("PATCH", "/v2/deployments/"+s.SeedDeployment(nil),
			`{"source_config":{"resource_spec":`+test.spec+`}}`)
		for how, d := range map[string]map[string]any{"created": created, "patched": patched} {
			if got := compact(t, at(t, d, "source_config", "resource_spec")); got != test.want {
				t.Errorf("%s, %s\n got %s\nwant %s", name, how, got, test.want)
			}
		}
	}
	s := start(t, Options{})
	d := s.ok("POST", "/v2/deployments", body("source", `"codehost"`, "source_revision_config",
		`{"graph_config_path":"graph.json"}`))
	if got := at(t, d, "source_config", "custom_url"); got != "https://shop.apps.example" {
		t.Errorf("custom_url %v", got)
	}
}

func TestResolveRefs(t *testing.T) {
	t.Parallel()
	s := start(t, Options{ResolveRefs: true})
	d := s.ok("POST", "/v2/deployments", body("source", `"codehost"`,
		"source_revision_config", `{"repo_ref":"main","graph_config_path":"graph.json"}`))
	ref, commit := at(t, d, "source_revision_config", "repo_ref"), at(t, d, "source_revision_config", "repo_commit_sha")
	if ref != commit || ref == "main" {
		t.Errorf("repo_ref %v, commit %v", ref, commit)
	}
	if got := at(t, s.Deployment(d["id"].(string)), "source_revision_config", "repo_ref"); got != "main" {
		t.Errorf("stored %v", got)
	}
}

const empties = `{"resource_spec":{"labels":{},"sidecars":[],"volumes":[{"name":"v","emptyDir":{}}],"cpu":1}}`

func TestNullForEmpty(t *testing.T) {
	t.Parallel()
	s := start(t, Options{NullForEmpty: true, Defaults: map[string]any{}})
	d := s.ok("POST", "/v2/deployments", body("source_config", empties))
	const want = `{"cpu":1,"labels":null,"sidecars":null,"volumes":[{"emptyDir":null,"name":"v"}]}`
	if got := compact(t, at(t, d, "source_config", "resource_spec")); got != want {
		t.Errorf("resource_spec %s", got)
	}
	if got := at(t, d, "secrets"); got != nil {
		t.Errorf("secrets %v", got)
	}
	if got := s.ok("GET", "/v2/deployments?offset=9", ""); compact(t, got["resources"]) != "[]" {
		t.Errorf("the envelope keeps its array, got %v", got)
	}
}

func TestOmitEmpty(t *testing.T) {
	t.Parallel()
	s := start(t, Options{OmitEmpty: true, Defaults: map[string]any{}})
	d := s.ok("POST", "/v2/deployments", body("source_config", empties, "source_revision_config", "{}"))
	if got := compact(t, at(t, d, "source_config")); got != `{"resource_spec":{"cpu":1,"volumes":[{"name":"v"}]}}` {
		t.Errorf("source_config %s", got)
	}
	if got := compact(t, at(t, d, "source_revision_config")); got != `{}` {
		t.Errorf("source_revision_config %s", got)
	}
	if at(t, d, "secrets") != "(absent)" || at(t, d, "secret_references") != "(absent)" ||
		at(t, d, "image_version") != nil {
		t.Errorf("deployment %v", d)
	}
}

func TestExtraFields(t *testing.T) {
	t.Parallel()
	s := start(t, Options{ExtraFields: true})
	s.SeedDemo()
	d := s.ok("POST", "/v2/deployments", body("source_config",
		`{"resource_spec":{"sidecars":[{"resources":{},"env":[{}],"volumeMounts":[{}]}],`+
			`"volumes":[{"configMap":{}}],"volume_mounts":[{}],"labels":{}}}`))
	spec := at(t, d, "source_config", "resource_spec")
	for _, path := range [][]any{{"sidecars", 0}, {"sidecars", 0, "resources"}, {"sidecars", 0, "env", 0},
		{"sidecars", 0, "volumeMounts", 0},
		{"volumes", 0}, {"volume_mounts", 0}, {}} {
		if at(t, spec, append(path, "undocumented_text")...) == "(absent)" {
			t.Errorf("no extra fields at resource_spec %v", path)
		}
	}
	if got := compact(t, at(t, spec, "labels")); got != "{}" {
		t.Errorf("labels %s, want none added", got)
	}
	if got := compact(t, at(t, spec, "volumes", 0, "configMap")); got != "{}" {
		t.Errorf("configMap %s, want no member added", got)
	}
	if list := s.ok("GET", "/v2/deployments", ""); at(t, list, "undocumented_list") == "(absent)" {
		t.Error("no extra fields in the envelope")
	}
	for _, path := range []string{"/v2/auth/providers",
		"/v1/integrations/forge/codehost/" + DemoIntegrationID + "/repos"} {
		if got := s.do("GET", path, ""); !strings.Contains(got.body, "undocumented_object") {
			t.Errorf("no extra fields in %s", path)
		}
	}
	if strings.Contains(compact(t, s.Deployments()), "undocumented") {
		t.Error("extra fields are stored")
	}
}

func TestIntegersAsFloats(t *testing.T) {
	t.Parallel()
	s := start(t, Options{IntegersAsFloats: true, Defaults: map[string]any{}})
	got := s.do("POST", "/v2/deployments", body("source_config",
		`{"resource_spec":{"cpu":0.5,"memory_mb":2048,"sidecars":[{"securityContext":{"runAsUser":0}}]}}`))
	for _, want := range []string{`"cpu":0.5`, `"memory_mb":2048.0`, `"runAsUser":0.0`} {
		if !strings.Contains(got.body, want) {
			t.Errorf("no %s: %s", want, got.body)
		}
	}
}
