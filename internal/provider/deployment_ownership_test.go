package provider_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/graphdeploy/terraform-provider-graphdeploy/internal/fakeserver"
)

// Whatever the service does with what the configuration omits, no plan proposes
// to change it.
func TestOmittedArguments_changeInServiceIsNotDrift(t *testing.T) {
	t.Parallel()
	const config = `{"source": "external_docker", "source_config": {"resource_spec": {"cpu": 0.5, ` +
		`"labels": {"team": "web"},
		"volumes": [{"name": "v", "config_map": "{\"name\":\"settings\"}"}], "sidecars": [{"name": "proxy", ` +
		`"image": "envoy:1"}]}}}`
	m := create(t, fakeserver.Options{}, config)
	changed := map[string]any{
		"source_config.resource_spec.max_scale": 7,
		"source_config.custom_url":              "https://elsewhere.example.com",
		"source_config.build_on_push":           true,
		"source_revision_config.image_uri":      "registry.example.com/app:9",
		"status":                                "SOMETHING_NEW",
		"image_version":                         "9",
		"source_config.resource_spec.labels":    map[string]any{"team": "web", "added": "there"},
		"source_config.resource_spec.volumes": []any{map[string]any{"name": "v",
			"configMap": map[string]any{"name": "settings", "defaultMode": 420}}},
		"source_config.resource_spec.sidecars": []any{map[string]any{"name": "proxy", "image": "envoy:1",
			"imagePullPolicy": "Never"}},
		"source_config.resource_spec.db_cpu":     2.5,
		"secrets":                                []any{map[string]any{"name": "SERVICE", "value": "own"}},
		"source_config.listener_config":          map[string]any{"k8s_namespace": "there"},
		"source_config.resource_spec.brand_new":  map[string]any{"unknown": true},
		"secret_references":                      []any{map[string]any{"name": "X"}},
		"source_config.resource_spec.annotation": nil,
	}
	for member, value := range changed {
		m.s.edit(t, member, value)()
	}
	m.expectNoop(allOperations, config)
}

// Name and source cannot change. A difference is planned as a replacement; one
// that would leave the name taken is rejected.
func TestImmutable_driftIsReplacement(t *testing.T) {
	t.Parallel()
	const config = `{"source": "external_docker", "deletion_policy": "abandon"}`
	m := create(t, fakeserver.Options{}, config)
	m.s.edit(t, "source", "internal_docker")()
	m.apply(allOperations, config, "Replacement needs a new name: ")
	m.s.edit(t, "source", "external_docker")()
	m.s.edit(t, "name", "renamed")()
	m.apply(allOperations, config, "Deployment keeps running: ")
	if n := len(m.s.Deployments()); n != 2 {
		t.Errorf("the service has %d deployments, want both", n)
	}
}

func TestCodehost_builtImageAndResolvedRefAreNotDrift(t *testing.T) {
	t.Parallel()
	m := create(t, fakeserver.Options{ResolveRefs: true}, refConfig("main"))
	config := m.values()["source_revision_config"].(object)
	if config["image_uri"] == nil ||
		!regexp.MustCompile("^[0-9a-f]{40}$").MatchString(config["repo_commit_sha"].(string)) ||
		config["repo_ref"] != "main" {
		t.Errorf("the state has %s", inJSON(config))
	}
	m.expectNoop(allOperations, refConfig("main"))
	m.s.NewRevision(m.s.stored(t)["id"].(string))
	m.expectNoop(allOperations, refConfig("main"))
}

func TestDeployment_deletedInServiceIsCreatedAgain(t *testing.T) {
	t.Parallel()
	m := create(t, fakeserver.Options{}, `{}`)
	m.s.Remove(m.s.stored(t)["id"].(string))
	m.apply(allOperations, `{}`, "")
	m.expectNoop(allOperations, `{}`)
	m.s.stored(t)
}

func TestNumbersAndIDs_keepTheirForm(t *testing.T) {
	t.Parallel()
	const config = `{"source": "codehost", "source_revision_config": {"graph_config_path": "graph.json"},
		"source_config": {"integration_id": "ABCDEFAB-0000-4000-8000-000000000000", "resource_spec": {"cpu": 0.1, ` +
		`"memory_mb": 2048,
			"volumes": [{"name": "v", "secret": "{ \"b\": 1.0,  \"a\": [2] }"}]}}}`
	m := create(t, fakeserver.Options{IntegersAsFloats: true}, config)
	if got := m.values()["source_config"].(object)["integration_id"]; got != "ABCDEFAB-0000-4000-8000-000000000000" {
		t.Errorf("integration_id is %s", got)
	}
	m.expectNoop(allOperations, config)
	m.expectNoop(allOperations, strings.Replace(config, "ABCDEFAB", "abcdefab", 1))
}

// A service may report null, nothing or its defaults in place of what is empty or
// omitted.
func TestOwnership_emptyNullAndAbsentAreEqual(t *testing.T) {
	t.Parallel()
	for name, options := range map[string]fakeserver.Options{
		"responds null": {NullForEmpty: true, Defaults: map[string]any{}},
		"omits":         {OmitEmpty: true, Defaults: map[string]any{}}, "fills in": {},
	} {
		for written, text := range map[string]string{
			"empty": `{"source_config": {"custom_url": "", "resource_spec": {"labels": {}, "volumes": [], ` +
				`"sidecars": [{"name": "s", "command": [], "resources": {}, "security_context": "{}"}]}},
				"source_revision_config": {}, "secrets": {}, "secret_references": []}`,
			"absent": `{}`,
			"null": `{"source_config": {"custom_url": null, "resource_spec": {"labels": null, "volumes": null}}, ` +
				`"source_revision_config": null, "secrets": null, "secret_references": null}`,
		} {
			t.Run(name+", configured "+written, func(t *testing.T) {
				t.Parallel()
				m := create(t, options, text)
				m.expectNoop(onlyDocumented, text)
				m.expectNoop(allOperations, text)
			})
		}
	}
}

// A value that differs already when the deployment is created cannot be in the state,
// which has what was planned: a warning reports it, and the next plan shows the drift.
func TestCreate_otherValueIsReported(t *testing.T) {
	t.Parallel()
	s := newService(t, fakeserver.Options{ReadyAfter: time.Nanosecond})
	i := newInstance(t, nil)
	m := managed{t, s, i}
	const config = `{"source_config": {"resource_spec": {"cpu": 0.1}}}`
	run := newRun(t, s, allOperations)
	planned := run.plan(i, arguments(t, config))
	s.Fail(fakeserver.CreateDeployment, 1, fakeserver.Fault{AfterWork: true, Reached: func() {
		s.edit(t, "source_config.resource_spec.cpu", 1)()
	}})
	got := messages(run.apply(i, planned))
	if !strings.HasPrefix(got, "Service reports other values: ") ||
		!strings.Contains(got, "source_config.resource_spec.cpu: 1 in the service, 0.1 in the configuration") {
		t.Errorf("the create reports %q", got)
	}
	if got := m.apply(onlyDocumented, config,
		"Deployment cannot be updated: "); fmt.Sprint(bullets(got)) != "[source_config.resource_spec.cpu: 1 in the "+
		"service, 0.1 in the configuration]" {
		t.Errorf("the next plan reports %q", got)
	}
	m.apply(allOperations, config, "")
	m.expectNoop(allOperations, config)
}

// TestOwnership_removalsAndSwaps changes what a configuration sets, while others
// have added members everywhere, against every kind of PATCH.
func TestOwnership_removalsAndSwaps(t *testing.T) {
	t.Parallel()
	spec := func(text string) string { return `{"source_config": {"resource_spec": ` + text + `}}` }
	sidecar := func(text string) string { return spec(`{"sidecars": [{"name": "a"` + text + `}]}`) }
	volume := func(text string) string { return spec(`{"volumes": [{"name": "v"` + text + `}]}`) }
	for name, c := range map[string]struct {
		before, after string
		// want is the source_config that the service has then, without null and what others added.
		want string
		// differ and removed are reported with documented_operations_only.
		differ, removed []string
	}{
		"a label": {spec(`{"labels": {"a": "1", "b": "2"}}`), spec(`{"labels": {"a": "1"}}`),
			`{"resource_spec":{"labels":{"a":"1"}}}`, nil, []string{`source_config.resource_spec.labels["b"]`}},
		"a label with dots": {spec(`{"labels": {"example.com/team": "1", "b": "2"}}`), spec(`{"labels": {"b": "2"}}`),
			`{"resource_spec":{"labels":{"b":"2"}}}`, nil, []string{`source_config.resource_spec.labels["example.com/team"]`}},
		"the last label": {spec(`{"labels": {"a": "1"}}`), spec(`{"labels": {}}`), `{"resource_spec":{"labels":{}}}`,
			nil, []string{`source_config.resource_spec.labels["a"]`}},
		"all labels": {spec(`{"labels": {"a": "1"}, "cpu": 1}`), spec(`{"cpu": 1}`),
			`{"resource_spec":{"cpu":1,"labels":{}}}`, nil, []string{`source_config.resource_spec.labels["a"]`}},
		"an item": {spec(`{"sidecars": [{"name": "a"}, {"name": "b"}]}`), spec(`{"sidecars": [{"name": "b"}]}`),
			`{"resource_spec":{"sidecars":[{"name":"b"}]}}`,
			[]string{"source_config.resource_spec.sidecars (only in the service: a)"}, nil},
		"the last item": {spec(`{"sidecars": [{"name": "a"}]}`), spec(`{"sidecars": []}`),
			`{"resource_spec":{"sidecars":[]}}`, []string{"source_config.resource_spec.sidecars (only in the service: a)"}, nil},
		"a list": {spec(`{"sidecars": [{"name": "a"}], "cpu": 1}`), spec(`{"cpu": 1}`), `{"resource_spec":{"cpu":1}}`,
			nil, []string{"source_config.resource_spec.sidecars"}},
		"a variable": {sidecar(`, "env": [{"name": "A", "value": "1"}, {"name": "B", "value": "2"}]`),
			sidecar(`, "env": [{"name": "A", "value": "1"}]`),
			`{"resource_spec":{"sidecars":[{"env":[{"name":"A","value":"1"}],"name":"a"}]}}`,
			[]string{"source_config.resource_spec.sidecars[0].env (only in the service: B)"}, nil},
		"a value for value_from": {sidecar(`, "env": [{"name": "A", "value": "1"}]`),
			sidecar(`, "env": [{"name": "A", "value_from": "{\"fieldRef\":{\"fieldPath\":\"x\"}}"}]`),
			`{"resource_spec":{"sidecars":[{"env":[{"name":"A","valueFrom":{"fieldRef":{"fieldPath":"x"}}}],"name":"a"}]}}`,
			[]string{"source_config.resource_spec.sidecars[0].env[0].value_from (fieldRef.fieldPath)"}, nil},
		"value_from for a value": {sidecar(`, "env": [{"name": "A", "value_from": "{\"fieldRef\":{}}"}]`),
			sidecar(`, "env": [{"name": "A", "value": "1"}]`),
			`{"resource_spec":{"sidecars":[{"env":[{"name":"A","value":"1"}],"name":"a"}]}}`,
			[]string{"source_config.resource_spec.sidecars[0].env[0].value"}, nil},
		"config_map for empty_dir": {volume(`, "config_map": "{\"name\":\"c\"}"`), volume(`, "empty_dir": "{}"`),
			`{"resource_spec":{"volumes":[{"emptyDir":{},"name":"v"}]}}`,
			[]string{"source_config.resource_spec.volumes[0].empty_dir"}, nil},
		"a member of JSON": {sidecar(`, "security_context": "{\"runAsUser\":1,\"capabilities\":{\"add\":[\"A\"],` +
			`\"drop\":[\"B\"]}}"`), sidecar(`, "security_context": "{\"capabilities\":{\"add\":[\"A\"]}}"`),
			`{"resource_spec":{"sidecars":[{"name":"a","securityContext":{"capabilities":{"add":["A"]}}}]}}`,
			nil, []string{"source_config.resource_spec.sidecars[0].security_context (capabilities.drop)",
				"source_config.resource_spec.sidecars[0].security_context (runAsUser)"}},
		"a nested object": {sidecar(`, "resources": {"limits": "{\"cpu\":\"1\"}", "requests": "{\"cpu\":\"1\"}"}, ` +
			`"image": "i"`), sidecar(`, "image": "i"`),
			`{"resource_spec":{"sidecars":[{"image":"i","name":"a","resources":{"limits":{},"requests":{}}}]}}`,
			nil, []string{"source_config.resource_spec.sidecars[0].resources.limits (cpu)",
				"source_config.resource_spec.sidecars[0].resources.requests (cpu)"}},
		"everything": {`{"source_config": {"build_command": "make", "listener_config": {"k8s_namespace": "n"}, ` +
			`"resource_spec": {"cpu": 1, "volume_mounts": [{"name": "v", "mount_path": "/v"}]}}}`, `{}`,
			`{"listener_config":{},"resource_spec":{}}`,
			nil, []string{"source_config.resource_spec.cpu", "source_config.resource_spec.volume_mounts",
				"source_config.listener_config.k8s_namespace", "source_config.build_command"}},
		"a string for an empty one": {`{"source_config": {"build_command": "make", "install_command": "deps"}}`,
			`{"source_config": {"build_command": "", "install_command": "deps"}}`, `{"install_command":"deps"}`, nil,
			[]string{"source_config.build_command"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for _, patch := range []string{"merges deep", "replaces keys"} {
				s := newService(t, fakeserver.Options{KeepUnknown: true, Defaults: map[string]any{}, Patch: patchKinds[patch]})
				i := newInstance(t, nil)
				create := newRun(t, s, allOperations)
				if text := messages(create.apply(i, create.plan(i, arguments(t, c.before)))); text != "" {
					t.Fatalf("the create reports %s", text)
				}
				id := s.stored(t)["id"].(string)
				s.Edit(id, plantMembers)
				before := decoded(s.stored(t))

				documented := newRun(t, s, onlyDocumented)
				documented.refresh(i)
				text, want := messages(documented.plan(i, arguments(t, c.after)).diagnostics), slices.Clone(c.differ)
				for _, line := range c.removed {
					want = append(want, line+": removed from the configuration")
				}
				if lines := bullets(text); !strings.HasPrefix(text, "Deployment cannot be updated: ") ||
					!slices.Equal(lines[:min(len(lines), len(want))], want) {
					t.Errorf("%s: without operations, the plan reports %s, want an error of %q", patch, text, want)
				}

				run := newRun(t, s, allOperations)
				run.refresh(i)
				planned := run.plan(i, arguments(t, c.after))
				if text := messages(planned.diagnostics); text != "" || planned.isNoop(i) {
					t.Errorf("%s: the plan proposes a change: %t, and reports %s", patch, !planned.isNoop(i), text)
				}
				if text := messages(run.apply(i, planned), "Service changed other properties"); text != "" {
					t.Errorf("%s: the apply reports %s", patch, text)
				}
				now := decoded(s.stored(t))
				if got := inJSON(withoutNull(withoutPlanted(now)["source_config"])); got != c.want {
					t.Errorf("%s: the service has %s, want %s", patch, got, c.want)
				}
				if at := missingPlanted("source_config", before["source_config"], now["source_config"]); at != "" {
					t.Errorf("%s: what others added at %s was dropped: %s", patch, at, inJSON(now["source_config"]))
				}
				next := newRun(t, s, allOperations)
				next.refresh(i)
				if planned := next.plan(i, arguments(t, c.after)); !planned.isNoop(i) || len(planned.diagnostics) > 0 {
					t.Errorf("%s: the next plan proposes %s", patch, difference(i.state, planned.planned))
				}
			}
		})
	}
}

// TestOwnership_nothingToSend sets what asks for nothing, or what the service has
// already: nothing is sent, and the next plan is empty.
func TestOwnership_nothingToSend(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ before, live, after string }{
		"no entries of mine": {`{}`, `{"source_config": {"resource_spec": {"labels": {"theirs": "1"}}}}`,
			`{"source_config": {"resource_spec": {"labels": {}}}}`},
		"an empty string": {`{}`, `{"source_config": {"install_command": "make", "custom_url": "https://a.example.com"}}`,
			`{"source_config": {"install_command": "", "custom_url": ""}}`},
		"the same value": {`{"source_config": {"build_on_push": true}}`, `{"source_config": {"install_command": "make"}}`,
			`{"source_config": {"build_on_push": true, "install_command": "make"}}`},
		"the same item": {`{}`,
			`{"source_config": {"resource_spec": {"sidecars": [{"name": "b", "restartPolicy": "Always"}, {"name": "a"}]}}}`,
			`{"source_config": {"resource_spec": {"sidecars": [{"name": "a"}, {"name": "b"}]}}}`},
		"JSON with less": {`{}`, `{"source_config": {"resource_spec": {"volumes": [{"name": "v", "secret": {"a": 1, ` +
			`"b": 2}}]}}}`, `{"source_config": {"resource_spec": {"volumes": [{"name": "v", "secret": "{\"b\": 2.0}"}]}}}`},
		"an ID in capitals": {`{}`, `{"source_config": {"listener_id": "aaaaaaaa-bbbb-4ccc-8ddd-000000000001"}}`,
			`{"source_config": {"listener_id": "AAAAAAAA-bbbb-4ccc-8ddd-000000000001"}}`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for _, documentedOnly := range []bool{allOperations, onlyDocumented} {
				s := newService(t, fakeserver.Options{})
				i := newInstance(t, nil)
				run := newRun(t, s, documentedOnly)
				run.apply(i, run.plan(i, arguments(t, c.before)))
				s.Edit(s.stored(t)["id"].(string), func(d map[string]any) {
					var live map[string]any
					_ = json.Unmarshal([]byte(c.live), &live)
					for name, value := range live {
						d[name] = mergedJSON(d[name], value)
					}
				})
				s.ResetRequests()
				// Without a refresh, the plan reads the deployment itself.
				run = newRun(t, s, documentedOnly)
				planned := run.plan(i, arguments(t, c.after))
				if text := messages(planned.diagnostics); text != "" || planned.isNoop(i) {
					t.Fatalf("the plan proposes a change: %t, and reports %s", !planned.isNoop(i), text)
				}
				if text := messages(run.apply(i, planned)); text != "" {
					t.Errorf("the apply reports %s", text)
				}
				for _, r := range s.Requests() {
					if r.Method != http.MethodGet {
						t.Errorf("sent %s %s: %s", r.Method, r.Path, r.Body)
					}
				}
				next := newRun(t, s, documentedOnly)
				next.refresh(i)
				if planned := next.plan(i, arguments(t, c.after)); !planned.isNoop(i) || len(planned.diagnostics) > 0 {
					t.Errorf("the next plan proposes %s", difference(i.state, planned.planned))
				}
			}
		})
	}
}

// TestOwnership_emptyValuesAreValues verifies that what the service has beside [] and
// jsonencode({}) is a change.
func TestOwnership_emptyValuesAreValues(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ live, after, sent string }{
		"an empty list": {`{"source_config": {"resource_spec": {"volumes": [{"name": "theirs"}]}}}`,
			`{"source_config": {"resource_spec": {"volumes": []}}}`, `[{"source_config":{"resource_spec":{"volumes":[]}}}]`},
		"an empty object": {`{"source_config": {"resource_spec": {"sidecars": [{"name": "a"}]}}}`,
			`{"source_config": {"resource_spec": {"sidecars": [{"name": "a", "security_context": "{}"}]}}}`,
			`[{"source_config":{"resource_spec":{"sidecars":[{"name":"a","securityContext":{}}]}}}]`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newService(t, fakeserver.Options{Defaults: map[string]any{}})
			i := newInstance(t, nil)
			run := newRun(t, s, allOperations)
			run.apply(i, run.plan(i, arguments(t, `{}`)))
			s.Edit(s.stored(t)["id"].(string), func(d map[string]any) {
				var live map[string]any
				_ = json.Unmarshal([]byte(c.live), &live)
				d["source_config"] = live["source_config"]
			})
			run = newRun(t, s, allOperations)
			run.refresh(i)
			if text := messages(run.apply(i, run.plan(i, arguments(t, c.after)))); text != "" {
				t.Errorf("the apply reports %s", text)
			}
			if got := inJSON(s.patches(t)); got != c.sent {
				t.Errorf("sent %s, want %s", got, c.sent)
			}
			next := newRun(t, s, allOperations)
			next.refresh(i)
			if planned := next.plan(i, arguments(t, c.after)); !planned.isNoop(i) {
				t.Errorf("the next plan proposes %s", difference(i.state, planned.planned))
			}
		})
	}
}
