//go:build unix

package provider_test

import (
	"strings"
	"testing"

	"github.com/graphdeploy/terraform-provider-graphdeploy/internal/fakeserver"
)

// image is a resource block without an output: a failed apply does not set one, and it would show a new revision.
func image(tag string) string {
	config, _, _ := strings.Cut(deployment("app", "external_docker",
		`source_revision_config = { image_uri = "shop:`+tag+`" }`), "output ")
	return config
}

// A version that fails is a failed apply, which taints a create and not an update; a roll-back is a change back.
func TestAccRollout_failedVersions(t *testing.T) {
	built := buildProvider(t)
	t.Parallel()
	s := newService(t, fakeserver.Options{FailingVersions: "bad"})
	w := newWorkspace(t, built)
	fails := func(tag string, words ...string) {
		t.Helper()
		w.configure(s.provider(), image(tag))
		out, status := w.run("apply", "-auto-approve")
		for _, word := range append(words, "Revision failed", "DEPLOY_FAILED") {
			if !strings.Contains(out, word) || status != 1 {
				t.Errorf("status %d; no %q in\n%s", status, word, out)
			}
		}
	}
	plans := func(status int, want string) {
		t.Helper()
		if out, got := w.run("plan", "-detailed-exitcode"); got != status || !strings.Contains(out, want) {
			t.Errorf("status %d, want %d and %q in\n%s", got, status, want, out)
		}
	}
	fails("bad-1", "terraform untaint")
	plans(2, "is tainted, so")
	w.succeed("untaint", this)
	plans(0, "Revision does not run")
	w.configure(s.provider(), image("good"))
	w.succeed("apply", "-auto-approve")
	plans(0, "No changes")
	fails("bad-2")
	plans(0, "Revision does not run")
	w.configure(s.provider(), image("good"))
	w.succeed("apply", "-auto-approve")
	plans(0, "No changes")
	if n := s.sent("POST", "/v2/deployments"); n != 1 {
		t.Errorf("%d deployments were created, want 1", n)
	}
}

func TestAccRedeploy_action(t *testing.T) {
	terraformSince(t, 1, 14)
	if is := terraformIs(t); is.tofu {
		t.Skipf("needs Terraform, this is %s", is)
	}
	built := buildProvider(t)
	t.Parallel()
	s := newService(t, fakeserver.Options{})
	w := newWorkspace(t, built)
	configure := func(commit string) {
		t.Helper()
		w.configure(s.provider(), image("latest"), `
action "graphdeploy_redeploy" "this" {
  config {
    id = `+this+`.id
  }
}
resource "terraform_data" "commit" {
  input = "`+commit+`"
  lifecycle {
    action_trigger {
      events  = [after_update]
      actions = [action.graphdeploy_redeploy.this]
    }
  }
}
`)
	}
	redeploys := func(args ...string) {
		t.Helper()
		before := s.stored(t)["latest_revision_id"]
		out := w.succeed(append([]string{"apply", "-auto-approve"}, args...)...)
		d := s.stored(t)
		latest, _ := d["latest_revision_id"].(string)
		if latest == before || latest != d["active_revision_id"] ||
			!strings.Contains(out, "Its latest revision "+latest+" is active") {
			t.Errorf("latest %s, before %v\n%s", latest, before, out)
		}
		w.succeed("plan", "-detailed-exitcode")
	}
	configure("a")
	w.succeed("apply", "-auto-approve")
	redeploys("-invoke=action.graphdeploy_redeploy.this")
	configure("b")
	redeploys()
}
