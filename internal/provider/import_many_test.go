//go:build unix

package provider_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/graphdeploy/terraform-provider-graphdeploy/internal/fakeserver"
)

// 250 deployments are imported with one import block: the plan reads them with few
// requests and changes nothing, and the apply writes nothing to the service.
func TestAccImport_forEachNeedsFewRequests(t *testing.T) {
	terraformSince(t, 1, 7) // for_each in import blocks
	t.Parallel()
	s := newService(t, fakeserver.Options{})
	ids := map[string]string{}
	for i := range 250 {
		name := fmt.Sprintf("app-%03d", i)
		ids[name] = s.SeedDeployment(map[string]any{"name": name})
	}
	encoded, err := json.Marshal(ids)
	w := newWorkspace(t, buildProvider(t))
	w.must(err)
	w.configure(s.provider(), `
locals {
  existing = `+string(encoded)+`
}
import {
  for_each = local.existing
  to       = graphdeploy_deployment.existing[each.key]
  id       = each.value
}
resource "graphdeploy_deployment" "existing" {
  for_each = local.existing
  name     = each.key
  source   = "external_docker"
}`)
	if out, want := w.succeed("plan", "-out=planned"), "250 to import, 0 to add, 0 to change, "+
		"0 to destroy"; !strings.Contains(out, want) {
		t.Errorf("want %s:\n%s", want, out)
	}
	n := len(s.Requests())
	// How many reads share a request depends on how fast Terraform sends them: 25 at
	// most if ten do, and fewer with pages that are read ahead. A busy machine needs more.
	if n > 60 {
		t.Errorf("the plan took %d requests, want 60 at most", n)
	}
	w.succeed("apply", "planned")
	if managed := w.managed(); len(managed) != 250 {
		t.Errorf("%d deployments are in the state, want 250", len(managed))
	}
	for _, r := range s.Requests() {
		if r.Method != http.MethodGet {
			t.Errorf("sent %s %s", r.Method, r.Path)
		}
	}
	t.Logf("%d requests for the plan, %d with the apply", n, len(s.Requests()))
}
