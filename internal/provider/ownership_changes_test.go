package provider_test

import (
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/hashicorp/terraform-plugin-go/tftypes"

	"github.com/graphdeploy/terraform-provider-graphdeploy/internal/fakeserver"
)

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
		"a label": {spec(`{"labels": {"a": "1", "b": "2"}}`), spec(`{"labels": {"a": "1"}}`), `{"resource_spec":{"labels":{"a":"1"}}}`,
			nil, []string{`source_config.resource_spec.labels["b"]`}},
		"a label with dots": {spec(`{"labels": {"example.com/team": "1", "b": "2"}}`), spec(`{"labels": {"b": "2"}}`), `{"resource_spec":{"labels":{"b":"2"}}}`,
			nil, []string{`source_config.resource_spec.labels["example.com/team"]`}},
		"the last label": {spec(`{"labels": {"a": "1"}}`), spec(`{"labels": {}}`), `{"resource_spec":{"labels":{}}}`,
			nil, []string{`source_config.resource_spec.labels["a"]`}},
		"all labels": {spec(`{"labels": {"a": "1"}, "cpu": 1}`), spec(`{"cpu": 1}`), `{"resource_spec":{"cpu":1,"labels":{}}}`,
			nil, []string{`source_config.resource_spec.labels["a"]`}},
		"an item": {spec(`{"sidecars": [{"name": "a"}, {"name": "b"}]}`), spec(`{"sidecars": [{"name": "b"}]}`), `{"resource_spec":{"sidecars":[{"name":"b"}]}}`,
			[]string{"source_config.resource_spec.sidecars (only in the service: a)"}, nil},
		"the last item": {spec(`{"sidecars": [{"name": "a"}]}`), spec(`{"sidecars": []}`), `{"resource_spec":{"sidecars":[]}}`,
			[]string{"source_config.resource_spec.sidecars (only in the service: a)"}, nil},
		"a list": {spec(`{"sidecars": [{"name": "a"}], "cpu": 1}`), spec(`{"cpu": 1}`), `{"resource_spec":{"cpu":1}}`,
			nil, []string{"source_config.resource_spec.sidecars"}},
		"a variable": {sidecar(`, "env": [{"name": "A", "value": "1"}, {"name": "B", "value": "2"}]`), sidecar(`, "env": [{"name": "A", "value": "1"}]`),
			`{"resource_spec":{"sidecars":[{"env":[{"name":"A","value":"1"}],"name":"a"}]}}`, []string{"source_config.resource_spec.sidecars[0].env (only in the service: B)"}, nil},
		"a value for value_from": {sidecar(`, "env": [{"name": "A", "value": "1"}]`), sidecar(`, "env": [{"name": "A", "value_from": "{\"fieldRef\":{\"fieldPath\":\"x\"}}"}]`),
			`{"resource_spec":{"sidecars":[{"env":[{"name":"A","valueFrom":{"fieldRef":{"fieldPath":"x"}}}],"name":"a"}]}}`,
			[]string{"source_config.resource_spec.sidecars[0].env[0].value_from (fieldRef.fieldPath)"}, nil},
		"value_from for a value": {sidecar(`, "env": [{"name": "A", "value_from": "{\"fieldRef\":{}}"}]`), sidecar(`, "env": [{"name": "A", "value": "1"}]`),
			`{"resource_spec":{"sidecars":[{"env":[{"name":"A","value":"1"}],"name":"a"}]}}`, []string{"source_config.resource_spec.sidecars[0].env[0].value"}, nil},
		"config_map for empty_dir": {volume(`, "config_map": "{\"name\":\"c\"}"`), volume(`, "empty_dir": "{}"`),
			`{"resource_spec":{"volumes":[{"emptyDir":{},"name":"v"}]}}`, []string{"source_config.resource_spec.volumes[0].empty_dir"}, nil},
		"a member of JSON": {sidecar(`, "security_context": "{\"runAsUser\":1,\"capabilities\":{\"add\":[\"A\"],\"drop\":[\"B\"]}}"`), sidecar(`, "security_context": "{\"capabilities\":{\"add\":[\"A\"]}}"`),
			`{"resource_spec":{"sidecars":[{"name":"a","securityContext":{"capabilities":{"add":["A"]}}}]}}`,
			nil, []string{"source_config.resource_spec.sidecars[0].security_context (capabilities.drop)", "source_config.resource_spec.sidecars[0].security_context (runAsUser)"}},
		"a nested object": {sidecar(`, "resources": {"limits": "{\"cpu\":\"1\"}", "requests": "{\"cpu\":\"1\"}"}, "image": "i"`), sidecar(`, "image": "i"`),
			`{"resource_spec":{"sidecars":[{"image":"i","name":"a","resources":{"limits":{},"requests":{}}}]}}`,
			nil, []string{"source_config.resource_spec.sidecars[0].resources.limits (cpu)", "source_config.resource_spec.sidecars[0].resources.requests (cpu)"}},
		"everything": {`{"source_config": {"build_command": "make", "listener_config": {"k8s_namespace": "n"}, "resource_spec": {"cpu": 1, "volume_mounts": [{"name": "v", "mount_path": "/v"}]}}}`, `{}`,
			`{"listener_config":{},"resource_spec":{}}`,
			nil, []string{"source_config.resource_spec.cpu", "source_config.resource_spec.volume_mounts", "source_config.listener_config.k8s_namespace", "source_config.build_command"}},
		"a string for an empty one": {`{"source_config": {"build_command": "make", "install_command": "deps"}}`, `{"source_config": {"build_command": "", "install_command": "deps"}}`, `{"install_command":"deps"}`,
			nil, []string{"source_config.build_command"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for patch, kind := range patchKinds {
				s := newService(t, fakeserver.Options{KeepUnknown: true, Defaults: map[string]any{}, Patch: kind})
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
				if lines := bullets(text); !strings.HasPrefix(text, "Deployment cannot be updated: ") || !slices.Equal(lines[:min(len(lines), len(want))], want) {
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
				if got := inJSON(withoutNull(withoutPlanted(now)["source_config"])); got != c.want && kind != fakeserver.PatchReplaceConfig {
					t.Errorf("%s: the service has %s, want %s", patch, got, c.want)
				}
				if at := missingPlanted("source_config", before["source_config"], now["source_config"]); at != "" && kind != fakeserver.PatchReplaceConfig {
					t.Errorf("%s: what others added at %s was dropped: %s", patch, at, inJSON(now["source_config"]))
				}
				next := newRun(t, s, allOperations)
				next.refresh(i)
				if planned := next.plan(i, arguments(t, c.after)); kind != fakeserver.PatchReplaceConfig && (!planned.isNoop(i) || len(planned.diagnostics) > 0) {
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
		"no entries of mine": {`{}`, `{"source_config": {"resource_spec": {"labels": {"theirs": "1"}}}}`, `{"source_config": {"resource_spec": {"labels": {}}}}`},
		"an empty string":    {`{}`, `{"source_config": {"install_command": "make", "custom_url": "https://a.example.com"}}`, `{"source_config": {"install_command": "", "custom_url": ""}}`},
		"the same value":     {`{"source_config": {"build_on_push": true}}`, `{"source_config": {"install_command": "make"}}`, `{"source_config": {"build_on_push": true, "install_command": "make"}}`},
		"the same item": {`{}`, `{"source_config": {"resource_spec": {"sidecars": [{"name": "b", "restartPolicy": "Always"}, {"name": "a"}]}}}`,
			`{"source_config": {"resource_spec": {"sidecars": [{"name": "a"}, {"name": "b"}]}}}`},
		"JSON with less":    {`{}`, `{"source_config": {"resource_spec": {"volumes": [{"name": "v", "secret": {"a": 1, "b": 2}}]}}}`, `{"source_config": {"resource_spec": {"volumes": [{"name": "v", "secret": "{\"b\": 2.0}"}]}}}`},
		"an ID in capitals": {`{}`, `{"source_config": {"listener_id": "aaaaaaaa-bbbb-4ccc-8ddd-000000000001"}}`, `{"source_config": {"listener_id": "AAAAAAAA-bbbb-4ccc-8ddd-000000000001"}}`},
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
		"an empty list": {`{"source_config": {"resource_spec": {"volumes": [{"name": "theirs"}]}}}`, `{"source_config": {"resource_spec": {"volumes": []}}}`,
			`[{"source_config":{"resource_spec":{"volumes":[]}}}]`},
		"an empty object": {`{"source_config": {"resource_spec": {"sidecars": [{"name": "a"}]}}}`, `{"source_config": {"resource_spec": {"sidecars": [{"name": "a", "security_context": "{}"}]}}}`,
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
