//go:build unix

package provider_test

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/graphdeploy/terraform-provider-graphdeploy/internal/fakeserver"
)

// Configuration that Terraform generates for deployments that exist, of each
// source and with everything set, imports them and plans empty.
func TestAccGeneratedConfiguration_plansEmpty(t *testing.T) {
	if is := terraformIs(t); is.tofu && !is.since(1, 10) || !is.since(1, 9) {
		t.Skipf("Terraform before 1.9 and OpenTofu before 1.10 reject what they generate, as it lacks nested read-only "+
			"attributes; this is %s", is)
	}
	testGenerated(t, "from import blocks", func(w *workspace, s *service, ids []string) {
		imports := ""
		for i, id := range ids {
			imports += fmt.Sprintf("import {\n  to = %s.d%d\n  id = %q\n}\n", typeName, i, id)
		}
		w.configure(s.provider(), imports)
		w.succeed("plan", "-generate-config-out=generated.tf")
	})
}

func testGenerated(t *testing.T, how string, generate func(w *workspace, s *service, ids []string)) {
	t.Helper()
	built := buildProvider(t)
	t.Parallel()
	for name, options := range map[string]fakeserver.Options{
		"fills in":       {ResolveRefs: true, ExtraFields: true, IntegersAsFloats: true, ServiceMembers: managedBy},
		"null for empty": {NullForEmpty: true},
		"omits empty":    {OmitEmpty: true, Secrets: fakeserver.OmitSecrets},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, w := newService(t, options), newWorkspace(t, built)
			ids := seedOfEachKind(t, s)
			generate(w, s, ids)
			text, err := os.ReadFile(filepath.Join(w.dir, "generated.tf"))
			w.must(err)
			assertAllOfResourceSpec(t, string(text))
			if strings.Contains(string(text), "quoted") {
				t.Errorf("%s: a secret is in the configuration", how)
			}
			want := fmt.Sprintf("%d to import, 0 to add, 0 to change, 0 to destroy", len(ids))
			if out := w.succeed("plan"); !strings.Contains(out, want) {
				t.Errorf("%s: want %s:\n%s", how, want, out)
			}
			w.succeed("apply", "-auto-approve")
			w.succeed("plan", "-detailed-exitcode")
			if managed := w.managed(); len(managed) != len(ids) {
				t.Errorf("%s: %d deployments are in the state, want %d", how, len(managed), len(ids))
			}
			if n := s.sent(http.MethodPost, ""); n != 0 {
				t.Errorf("%s: %d creates were sent, want none", how, n)
			}
		})
	}
}

// seedOfEachKind adds a deployment of each source, and one with everything set. It
// returns their ids.
func seedOfEachKind(t *testing.T, s *service) (ids []string) {
	t.Helper()
	for _, source := range []string{"codehost", "external_docker", "internal_docker", "internal_source",
		"internal_template"} {
		ids = append(ids, s.SeedDeployment(map[string]any{"name": "a-" + source, "source": source}))
	}
	// Text that must be escaped, and numbers that may come back in another form.
	odd := "echo ${HOME} %{if} \"$(x)\" \\ é\n\tnext: \u2028 <&>"
	ids = append(ids,
		s.SeedDeployment(map[string]any{"name": odd, "source": "external_docker", "source_config": map[string]any{
			"build_command": odd, "custom_url": "", "resource_spec": map[string]any{
				"cpu": 1.0 / 3, "db_cpu": 1e-7, "memory_mb": 1 << 40, "labels": map[string]any{odd: odd, "": "empty"},
				"annotations": map[string]any{},
				"volumes": []any{map[string]any{"name": odd,
					"csi": map[string]any{odd: []any{odd, 1e300, nil, true, map[string]any{}}}},
					map[string]any{"emptyDir": map[string]any{}}},
				"sidecars": []any{map[string]any{"name": "a", "command": []any{odd, ""},
					"env": []any{map[string]any{"name": odd, "value": odd}}}, map[string]any{}},
			}}}))
	everything, _ := readJSON(t, "testdata/everything.json").(map[string]any)
	return append(ids, s.SeedDeployment(everything))
}

// assertAllOfResourceSpec verifies that all that the service reports in resource_spec has a value in a generated
// configuration.
func assertAllOfResourceSpec(t *testing.T, text string) {
	t.Helper()
	set := map[string]bool{}
	for line := range strings.Lines(text) {
		if name, value, ok := strings.Cut(strings.TrimSpace(line), "="); ok && strings.TrimSpace(value) != "null" {
			set[strings.TrimSpace(name)] = true
		}
	}
	everything := asMap(readJSON(t, "testdata/everything.json"))
	for name := range asMap(asMap(everything["source_config"])["resource_spec"]) {
		if !set[name] {
			t.Errorf("%s has no value in the generated configuration", name)
		}
	}
}
