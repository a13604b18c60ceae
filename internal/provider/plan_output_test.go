//go:build unix

package provider_test

import (
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/graphdeploy/terraform-provider-graphdeploy/internal/fakeserver"
)

// TestAccPlanOutput_showsWhatIsWritten limits the lines of a create plan: it shows the
// lines that the user wrote and the read-only attributes.
func TestAccPlanOutput_showsWhatIsWritten(t *testing.T) {
	built := buildProvider(t)
	t.Parallel()
	lines := func(t *testing.T, config string) int {
		t.Helper()
		s, w := newService(t, fakeserver.Options{}), newWorkspace(t, built)
		w.configure(s.provider(), config)
		out := w.succeed("plan")
		_, changes, found := strings.Cut(out, "Terraform will perform the following actions:\n")
		if !found {
			_, changes, found = strings.Cut(out, "OpenTofu will perform the following actions:\n")
		}
		changes, _, ends := strings.Cut(changes, "\nPlan: ")
		if !found || !ends {
			t.Fatalf("not a plan:\n%s", out)
		}
		n := 0
		for line := range strings.Lines(changes) {
			if strings.TrimSpace(line) != "" {
				n++
			}
		}
		return n
	}
	t.Run("a small deployment", func(t *testing.T) {
		t.Parallel()
		n := lines(t, `
resource "graphdeploy_deployment" "worker" {
  name   = "worker"
  source = "external_docker"

  source_config = {
    resource_spec = { memory_mb = 1024 }
  }
  source_revision_config = {
    image_uri = "registry.example.com/worker:1.0"
  }
}`)
		if n > 26 {
			t.Errorf("%d lines, want at most 26", n)
		}
		t.Logf("%d lines", n)
	})
	t.Run("twenty deployments", func(t *testing.T) {
		t.Parallel()
		config := ""
		for i := range 20 {
			config += fmt.Sprintf(`
resource "graphdeploy_deployment" "d%[1]d" {
  name   = "app-%[1]d"
  source = "external_docker"
  source_config = {
    build_command = "make"
    resource_spec = {
      cpu       = 0.5
      memory_mb = 1024
      labels    = { team = "web" }
      sidecars  = [{ name = "proxy", image = "envoy:1", env = [{ name = "A", value = "1" }] }]
    }
  }
  source_revision_config = { image_uri = "registry.example.com/app:%[1]d" }
}
`, i)
		}
		if n := lines(t, config); n > 20*47 {
			t.Errorf("%d lines for each deployment, want at most 47", n/20)
		} else {
			t.Logf("%d lines for each deployment", n/20)
		}
	})
}

// TestAccOwnership_story leads one deployment through what users do: removal,
// ignore_changes set and removed, a plan without refresh, a saved
// plan, a misspelled argument.
func TestAccOwnership_story(t *testing.T) {
	built := buildProvider(t)
	t.Parallel()
	s, w := newService(t, fakeserver.Options{ServiceMembers: managedBy}), newWorkspace(t, built)
	configure := func(setting, arguments string) {
		t.Helper()
		w.configure(s.provider(setting), deployment("app", "external_docker", arguments))
	}
	const image = "\n  source_revision_config = { image_uri = \"i:1\" }"
	warned := func(out, summary string, want int) {
		t.Helper()
		if n := strings.Count(unwrapped(out), "Warning: "+summary+" "); n != want {
			t.Errorf("%d warnings %q, want %d:\n%s", n, summary, want, out)
		}
	}
	empty := func(args ...string) {
		t.Helper()
		w.succeed(append([]string{"plan", "-detailed-exitcode"}, args...)...)
	}

	configure("", `source_config = { build_command = "make", resource_spec = { cpu = 1, labels = { a = "1", b = "2" }, `+
		`sidecars = [{ name = "x" }, { name = "y" }] } }`+image)
	w.succeed("apply", "-auto-approve")
	empty()
	empty("-refresh=false")

	// With documented operations only, a removal is rejected.
	const trimmed = `source_config = { resource_spec = { labels = { a = "1" }, sidecars = [{ name = "x" }, ` +
		`{ name = "y" }] } }` + image
	configure(documentedOnly, trimmed)
	w.refuse(`Deployment cannot be updated .*source_config.build_command: removed from the configuration`, "plan")
	configure(documentedOnly, strings.Replace(trimmed, `, { name = "y" }`, "", 1))
	w.refuse(`Deployment cannot be updated .*sidecars \(only in the service: y\)`, "plan")
	assertDocumentedOperationsOnly(t, s)
	configure("", trimmed)
	out := w.succeed("plan")
	for _, line := range []string{`- build_command = "make" -> null`, `- cpu = 1 -> null`, `- "b" = "2" -> null`} {
		if !strings.Contains(strings.Join(strings.Fields(out), " "), line) {
			t.Errorf("the plan does not show %s:\n%s", line, out)
		}
	}
	w.succeed("apply", "-auto-approve")
	empty()

	// A saved plan, ignore_changes, and what they leave.
	const ignoring = "\n  lifecycle { ignore_changes = [source_config.resource_spec.labels, source_config.build_command] }"
	changed := strings.Replace(trimmed, `a = "1"`, `a = "9"`, 1)
	changed = strings.Replace(changed, "source_config = {", `source_config = { install_command = "deps", `, 1)
	configure("", changed+ignoring)
	w.succeed("plan", "-out=planned", "-refresh=false")
	s.ResetRequests()
	w.succeed("apply", "planned")
	if got, want := inJSON(s.patches(t)), `[{"source_config":{"install_command":"deps"}}]`; got != want {
		t.Errorf("sent %s, want %s", got, want)
	}
	empty()
	configure("", changed)
	s.ResetRequests()
	w.succeed("apply", "-auto-approve")
	if labels := s.stored(t)["source_config"].(map[string]any)["resource_spec"].(map[string]any)["labels"]; inJSON(
		labels) != `{"a":"9","managed-by":"service"}` {
		t.Errorf("the labels are %s", inJSON(labels))
	}
	empty()

	// Drift that is ignored is not sent, and shows again without ignore_changes.
	s.edit(t, "source_config.install_command", "other")()
	configure("", changed+strings.Replace(ignoring, "build_command", "install_command", 1))
	w.succeed("apply", "-auto-approve") // outputs may change
	empty()
	configure("", changed)
	if out := w.succeed("plan"); !regexp.MustCompile(`install_command += "other" -> "deps"`).MatchString(out) {
		t.Errorf("the drift does not show:\n%s", out)
	}
	w.succeed("apply", "-auto-approve")
	w.succeed("apply", "-refresh-only", "-auto-approve")
	empty()

	// Terraform ignores the misspelled argument.
	configure("", strings.Replace(changed, "image_uri", "image_url", 1))
	warned(w.succeed("plan"), "Names may be misspelled", 1)
}

// Terraform validates a configuration twice for a plan.
func TestAccPlanOutput_warningOfTheConfigurationAppearsOnce(t *testing.T) {
	terraformSince(t, 1, 11)
	built := buildProvider(t)
	t.Parallel()
	s, w := newService(t, fakeserver.Options{}), newWorkspace(t, built)
	w.configure(s.provider(), resourceBlock("app", "internal_docker", `secrets_wo = { A = "x" }`))
	for _, args := range [][]string{{"plan"}, {"apply", "-auto-approve"}, {"plan"}} {
		out := w.succeed(args...)
		if n := strings.Count(out, "Missing secrets_wo_version"); n != 1 {
			t.Errorf("%d warnings, want 1:\n%s", n, out)
		}
	}
}
