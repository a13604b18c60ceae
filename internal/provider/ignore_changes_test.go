package provider_test

import (
	"strings"
	"testing"

	"github.com/graphdeploy/terraform-provider-graphdeploy/internal/fakeserver"
)

// TestAccUpdate_ignoreChangesInsideResourceSpec: what is ignored is the service's, with the line in the configuration,
// without it, and with a saved plan.
func TestAccUpdate_ignoreChangesInsideResourceSpec(t *testing.T) {
	built := buildProvider(t)
	t.Parallel()
	s, w := newService(t, fakeserver.Options{Defaults: map[string]any{}}), newWorkspace(t, built)
	configure := func(spec string) {
		t.Helper()
		resource, _, _ := strings.Cut(deployment("app", "internal_docker", `source_config = { resource_spec = { `+spec+` } }
  lifecycle { ignore_changes = [source_config.resource_spec.min_scale, source_config.resource_spec.sidecars] }`),
			"output ")
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
		s.edit(t, "source_config.resource_spec.sidecars",
			[]any{map[string]any{"name": "injected"}, map[string]any{"name": "s"}})()
	}
	configure(`cpu = 1, min_scale = 3, sidecars = [{ name = "s" }]`)
	w.succeed("apply", "-auto-approve")

	configure(`cpu = 2, min_scale = 3, sidecars = [{ name = "s" }]`)
	w.succeed("plan", "-out=planned")
	scale(9)
	w.succeed("apply", "planned")
	expectSent(`[{"source_config":{"resource_spec":{"cpu":2,"min_scale":9,"sidecars":[{"name":"injected"},` +
		`{"name":"s"}]}}}]`)

	configure("cpu = 2")
	w.succeed("plan", "-detailed-exitcode")
	configure("cpu = 4")
	w.succeed("apply", "-auto-approve")
	expectSent(`[{"source_config":{"resource_spec":{"cpu":4,"min_scale":9,"sidecars":[{"name":"injected"},` +
		`{"name":"s"}]}}}]`)
	w.succeed("plan", "-detailed-exitcode")
	w.assertNothingBroke()
}
