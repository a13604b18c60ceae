package provider_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"

	"github.com/hashicorp/terraform-plugin-testing/helper/resource"
	"github.com/hashicorp/terraform-plugin-testing/knownvalue"
	"github.com/hashicorp/terraform-plugin-testing/statecheck"
	"github.com/hashicorp/terraform-plugin-testing/tfjsonpath"

	"github.com/graphdeploy/terraform-provider-graphdeploy/internal/fakeserver"
)

// Gaps of the interface that no other test is about: what it does not say, the
// provider does not make up.

func TestAccReferencesOfSecretsRequireNothing(t *testing.T) {
	t.Parallel()
	for _, reference := range []string{`name = "A"`, `secret_name = "B"`, `secret_key = "C"`, ``} {
		t.Run(reference, func(t *testing.T) {
			t.Parallel()
			s := newService(t, fakeserver.Options{})
			config := s.provider() + deployment("app", "external_docker", "secret_references = [{ "+reference+" }]")
			check(t, resource.TestStep{Config: config}, planIsEmpty(config))
			want := map[string]any{}
			if name, value, found := strings.Cut(reference, " = "); found {
				want[name] = strings.Trim(value, `"`)
			}
			if sent := s.body(t)["secret_references"]; !jsonEqual(sent, []any{want}) {
				t.Errorf("sent %v, want %v alone", sent, want)
			}
		})
	}
}

func TestAccBoundsAreLeftToTheService(t *testing.T) {
	t.Parallel()
	s := newService(t, fakeserver.Options{})
	config := s.provider() + deployment("app", "internal_docker", `source_config = {
    resource_spec = { min_scale = 5, max_scale = 2, cpu = 0, cpu_limit = -0.5, memory_mb = -1, db_storage_gi = 9007199254740992 }
  }`)
	check(t, resource.TestStep{Config: config}, planIsEmpty(config))
	spec := s.body(t)["source_config"].(map[string]any)["resource_spec"]
	want := map[string]any{"min_scale": 5.0, "max_scale": 2.0, "cpu": 0.0, "cpu_limit": -0.5, "memory_mb": -1.0, "db_storage_gi": 9007199254740992.0}
	if !jsonEqual(spec, want) {
		t.Errorf("sent %v, want %v", spec, want)
	}
}

func TestAccSizeOfARequestIsLeftToTheService(t *testing.T) {
	t.Parallel()
	const size = 256 << 10
	s := newService(t, fakeserver.Options{})
	config := s.provider() + deployment("app", "internal_docker", fmt.Sprintf("source_config = { build_command = %q }", strings.Repeat("x", size)))
	s.Fail(fakeserver.CreateDeployment, 1, fakeserver.Fault{Status: 413, Body: `{"detail": "at most 1 MiB"}`})
	check(t,
		resource.TestStep{Config: config, ExpectError: regexp.MustCompile(`(?s)413.*at most 1 MiB`)},
		resource.TestStep{Config: config},
		planIsEmpty(config),
	)
	command, _ := s.stored(t)["source_config"].(map[string]any)["build_command"].(string)
	if len(command) != size {
		t.Errorf("%d bytes arrived, want %d", len(command), size)
	}
}

func TestAccOneOperationMayBeForbidden(t *testing.T) {
	t.Parallel()
	s := newService(t, fakeserver.Options{})
	forbidden := fakeserver.Fault{Status: 403, Body: `{"detail": "ask for it"}`}
	s.Fail(fakeserver.ListOAuthProviders, -1, forbidden)
	s.Fail(fakeserver.ListRepositories, -1, forbidden)
	config := s.provider() + deployment("app", "internal_docker")
	check(t,
		resource.TestStep{Config: config},
		planIsEmpty(config),
		resource.TestStep{Config: config + anyDataSource, ExpectError: regexp.MustCompile(`(?s)403 Forbidden.*ask`)},
		planIsEmpty(config),
	)
}

// What the interface calls a UUID or a time, and what is another text all the
// same, is shown as it is: an error would taint what was just created.
func TestAccTextsOfAnotherFormAreShownAsTheyAre(t *testing.T) {
	t.Parallel()
	s := newService(t, fakeserver.Options{})
	inAnswers := regexp.MustCompile(`"(created_at|updated_at|tenant_id|latest_revision_id|active_revision_id)":"[^"]*"`)
	odd := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		answer := httptest.NewRecorder()
		s.ServeHTTP(answer, r)
		w.WriteHeader(answer.Code)
		_, _ = w.Write(inAnswers.ReplaceAll(answer.Body.Bytes(), []byte(`"$1":"some $1"`)))
	}))
	t.Cleanup(odd.Close)
	s.url = odd.URL
	config := s.provider() + deployment("app", "internal_docker")
	check(t,
		resource.TestStep{Config: config, ConfigStateChecks: []statecheck.StateCheck{
			statecheck.ExpectKnownValue(this, tfjsonpath.New("created_at"), knownvalue.StringExact("some created_at")),
			statecheck.ExpectKnownValue(this, tfjsonpath.New("tenant_id"), knownvalue.StringExact("some tenant_id")),
		}},
		planIsEmpty(config),
		resource.TestStep{ResourceName: this, ImportState: true, ImportStateVerify: true},
		resource.TestStep{Config: config + `
data "graphdeploy_deployment" "app" {
  name = "app"
}
`, Check: resource.TestCheckResourceAttr("data.graphdeploy_deployment.app", "latest_revision_id", "some latest_revision_id")},
	)
}
