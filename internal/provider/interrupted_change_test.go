//go:build unix

package provider_test

import (
	"strings"
	"syscall"
	"testing"

	"github.com/graphdeploy/terraform-provider-graphdeploy/internal/fakeserver"
)

// An interrupt lets an update or a deletion in progress finish, and the state has the
// result.
func TestAccInterrupt_updateAndDeletionFinish(t *testing.T) {
	built := buildProvider(t)
	t.Parallel()
	begin := func(t *testing.T, fault fakeserver.Fault,
		route fakeserver.Route) (s *service, w *workspace, hold func(args ...string)) {
		t.Helper()
		s = newService(t, fakeserver.Options{})
		w = newWorkspace(t, built)
		configure := func(url string) {
			// Without an output: it would show a new status.
			config, _, _ := strings.Cut(deployment("app", "external_docker", `source_config = { custom_url = "`+url+`" }`),
				"output ")
			w.configure(s.provider(), config)
		}
		configure("https://a.example.com")
		w.succeed("apply", "-auto-approve")
		configure("https://b.example.com")
		return s, w, func(args ...string) {
			held, reached, release := gate(fault)
			defer release()
			s.Fail(route, 1, held)
			r := w.start(args...)
			r.await(reached, "the request was sent")
			stopping := r.when("Closed all our contexts")
			if err := syscall.Kill(r.command.Process.Pid, syscall.SIGINT); err != nil {
				t.Fatal(err)
			}
			r.await(stopping, "the provider is to stop")
			release()
			r.wait()
		}
	}
	for name, fault := range map[string]fakeserver.Fault{"with a response": {AfterWork: true},
		"with a lost response": {AfterWork: true, Cut: true}} {
		t.Run("update "+name, func(t *testing.T) {
			t.Parallel()
			s, w, hold := begin(t, fault, fakeserver.UpdateDeployment)
			hold("apply", "-auto-approve")
			if url := s.stored(t)["source_config"].(map[string]any)["custom_url"]; url != "https://b.example.com" {
				t.Errorf("custom_url is %v", url)
			}
			assertOne(t, w, s)
			if out := w.printed(); strings.Contains(out, "was not applied") || strings.Contains(out, "Cannot read") {
				t.Errorf("the update was not read back:\n%s", out)
			}
			if !fault.Cut {
				w.succeed("plan", "-detailed-exitcode", "-refresh=false")
			}
			w.succeed("plan", "-detailed-exitcode")
		})
		t.Run("deletion "+name, func(t *testing.T) {
			t.Parallel()
			s, w, hold := begin(t, fault, fakeserver.DeleteDeployment)
			hold("destroy", "-auto-approve")
			if n := len(s.Deployments()); n != 0 {
				t.Errorf("the service has %d deployments", n)
			}
			// It may be in the state until the next read.
			w.succeed("destroy", "-auto-approve")
			if managed := w.managed(); len(managed) != 0 {
				t.Errorf("the state has %v", managed)
			}
		})
	}
}
