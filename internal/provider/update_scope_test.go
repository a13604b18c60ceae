package provider_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/graphdeploy/terraform-provider-graphdeploy/internal/fakeserver"
)

// TestUpdate_changesOnlyWhatItsPlanChanges: what others change between a plan and its apply stays, in every key that is sent whole.
func TestUpdate_changesOnlyWhatItsPlanChanges(t *testing.T) {
	t.Parallel()
	const spec = `{"source_config": {"resource_spec": {"cpu": %s, "min_scale": 3, "labels": {"a": "1"}, "sidecars": [{"name": "s", "image": "i"}],
		"volumes": [{"name": "v", "config_map": "{\"name\":\"c\"}"}]}}}`
	m := create(t, fakeserver.Options{Defaults: map[string]any{}}, fmt.Sprintf(spec, "1"))
	run := newRun(t, m.s, allOperations)
	run.refresh(m.i)
	planned := run.plan(m.i, arguments(t, fmt.Sprintf(spec, "2")))
	m.s.Edit(m.s.stored(t)["id"].(string), func(d map[string]any) {
		spec := d["source_config"].(map[string]any)["resource_spec"].(map[string]any)
		spec["min_scale"], spec["labels"] = 9, map[string]any{"a": "9", "b": "9"}
		spec["sidecars"] = []any{map[string]any{"name": "injected"}, map[string]any{"name": "s", "image": "i:9"}}
		spec["volumes"] = []any{map[string]any{"name": "v", "configMap": map[string]any{"name": "c", "defaultMode": 9}}}
	})
	run.plans.ExpectNone(run.apply(m.i, planned))
	m.expectSent(`[{"source_config":{"resource_spec":{"cpu":2,"labels":{"a":"9","b":"9"},"min_scale":9,"sidecars":[{"name":"injected"},{"image":"i:9","name":"s"}],` +
		`"volumes":[{"configMap":{"defaultMode":9,"name":"c"},"name":"v"}]}}}]`)

	// The next plan shows the drift.
	run = newRun(t, m.s, allOperations)
	run.refresh(m.i)
	if planned := run.plan(m.i, arguments(t, fmt.Sprintf(spec, "2"))); planned.isNoop(m.i) {
		t.Error("the next plan is empty")
	}
}

// TestUpdate_stringsThatBeginWithJSON: a string is compared as a string.
func TestUpdate_stringsThatBeginWithJSON(t *testing.T) {
	t.Parallel()
	const spec = `{"source_config": {"resource_spec": {"sidecars": [{"name": "s", "args": ["%s"], "env": [{"name": "A", "value": "%[1]s"}]}]}}}`
	m := create(t, fakeserver.Options{Defaults: map[string]any{}}, fmt.Sprintf(spec, "{}-blue"))
	m.apply(allOperations, fmt.Sprintf(spec, "{}-green"), "")
	m.expectSent(`[{"source_config":{"resource_spec":{"sidecars":[{"args":["{}-green"],"env":[{"name":"A","value":"{}-green"}],"name":"s"}]}}}]`)
	m.expectNoop(allOperations, fmt.Sprintf(spec, "{}-green"))
}

// TestImport_removedObjectStaysNull: an object that was set after an import and is removed is null as a whole, and stays so.
func TestImport_removedObjectStaysNull(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ after, sent, left string }{
		"resource_spec": {`{"source_config": {"build_command": "make"}}`, `[{"source_config":{"resource_spec":{"cpu":null,"labels":{"a":"1"},"min_scale":3}}}]`,
			"[source_config.resource_spec.min_scale source_config.resource_spec.labels[\"a\"]]"},
		"source_config": {`{}`, `[{"source_config":{"build_command":null,"resource_spec":{"cpu":null,"labels":{"a":"1"},"min_scale":3}}}]`,
			"[source_config.resource_spec.min_scale source_config.resource_spec.labels[\"a\"] source_config.install_command]"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newService(t, fakeserver.Options{Defaults: map[string]any{}})
			s.SeedDeployment(arguments(t, `{"source_config":{"build_command":"make","install_command":"deps","resource_spec":{"cpu":1,"min_scale":3,"labels":{"a":"1"}}}}`))
			m := imported(t, s, "app")
			m.apply(allOperations, `{"source_config": {"build_command": "make", "resource_spec": {"cpu": 2}}}`, "")
			m.s.ResetRequests()
			got := m.apply(allOperations, c.after, "Removed values stay in the service: ")
			if lines := fmt.Sprint(bullets(got)); lines != c.left {
				t.Errorf("the plan names %s, want %s", lines, c.left)
			}
			m.expectSent(c.sent)
			for range 2 {
				m.expectNoop(allOperations, c.after)
			}
		})
	}
}

// TestAccUpdate_ignoreChangesInsideResourceSpec: what is ignored is the service's, with the line in the configuration, without it,
// and with a saved plan.
func TestAccUpdate_ignoreChangesInsideResourceSpec(t *testing.T) {
	built := buildProvider(t)
	t.Parallel()
	s, w := newService(t, fakeserver.Options{Defaults: map[string]any{}}), newWorkspace(t, built)
	configure := func(spec string) {
		t.Helper()
		resource, _, _ := strings.Cut(deployment("app", "internal_docker", `source_config = { resource_spec = { `+spec+` } }
  lifecycle { ignore_changes = [source_config.resource_spec.min_scale, source_config.resource_spec.sidecars] }`), "output ")
		w.configure(s.provider(), resource)
	}
	expectSent := func(want string) {
		t.Helper()
		if got := inJSON(s.patches(t)); got != want {
			t.Errorf("sent %s, want %s", got, want)
		}
		s.ResetRequests()
	}
	scale := func(to int) {
		s.edit(t, "source_config.resource_spec.min_scale", to)()
		s.edit(t, "source_config.resource_spec.sidecars", []any{map[string]any{"name": "injected"}, map[string]any{"name": "s"}})()
	}
	configure(`cpu = 1, min_scale = 3, sidecars = [{ name = "s" }]`)
	w.succeed("apply", "-auto-approve")

	configure(`cpu = 2, min_scale = 3, sidecars = [{ name = "s" }]`)
	w.succeed("plan", "-out=planned")
	scale(9)
	w.succeed("apply", "planned")
	expectSent(`[{"source_config":{"resource_spec":{"cpu":2,"min_scale":9,"sidecars":[{"name":"injected"},{"name":"s"}]}}}]`)

	configure("cpu = 2")
	w.succeed("plan", "-detailed-exitcode")
	configure("cpu = 4")
	w.succeed("apply", "-auto-approve")
	expectSent(`[{"source_config":{"resource_spec":{"cpu":4,"min_scale":9,"sidecars":[{"name":"injected"},{"name":"s"}]}}}]`)
	w.succeed("plan", "-detailed-exitcode")
	w.assertNothingBroke()
}
