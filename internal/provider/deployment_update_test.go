package provider_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/hashicorp/terraform-plugin-testing/helper/resource"
	"github.com/hashicorp/terraform-plugin-testing/knownvalue"
	"github.com/hashicorp/terraform-plugin-testing/plancheck"
	"github.com/hashicorp/terraform-plugin-testing/terraform"
	"github.com/hashicorp/terraform-plugin-testing/tfjsonpath"
	"github.com/hashicorp/terraform-plugin-testing/tfversion"

	"github.com/graphdeploy/terraform-provider-graphdeploy/internal/fakeserver"
)

const documentedOnly = "documented_operations_only = true"

// patches are the bodies of the updates that were sent.
func (s *service) patches(t *testing.T) []map[string]any {
	t.Helper()
	var bodies []map[string]any
	for _, r := range s.Requests() {
		if r.Method == http.MethodPatch {
			var body map[string]any
			if err := json.Unmarshal(r.Body, &body); err != nil {
				t.Fatal(err)
			}
			bodies = append(bodies, body)
		}
	}
	return bodies
}

// Each key that changes is sent whole, with what the service has beside. That each
// argument can change is in TestAccEveryArgument.
func TestAccUpdate_sendsChangedKeysUnlessOnlyDocumentedOperationsAreAllowed(t *testing.T) {
	t.Parallel()
	s := newService(t, fakeserver.Options{KeepUnknown: true, Defaults: map[string]any{}, ServiceMembers: map[string]any{
		"source_config.resource_spec.zone": "z1", "source_config.resource_spec.labels.managed-by": "service"}})
	config := func(setting, label string) string {
		return s.provider(setting) + deployment("app", "internal_docker", `source_config = { build_command = "make", resource_spec = { cpu_limit = 2, labels = { a = "`+label+`" } } }`)
	}
	after := config("", "2")
	check(t,
		resource.TestStep{Config: config("", "1")},
		resource.TestStep{Config: config(documentedOnly, "2"), ExpectError: regexp.MustCompile(`(?s)Deployment cannot be updated.*source_config\.resource_spec\.labels\["a"\]\s.*` + updateOptions)},
		resource.TestStep{Config: config(documentedOnly, "1"), PostApplyFunc: func() { assertDocumentedOperationsOnly(t, s) }},
		resource.TestStep{Config: after, ConfigPlanChecks: updates},
		planIsEmpty(after),
	)
	got, _ := json.Marshal(s.patches(t))
	if want := `[{"source_config":{"resource_spec":{"cpu_limit":2,"labels":{"a":"2","managed-by":"service"},"zone":"z1"}}}]`; string(got) != want {
		t.Errorf("sent %s, want %s", got, want)
	}
	if n := s.sent(http.MethodDelete, ""); n != 1 {
		t.Errorf("%d deletions were sent, want one at the end", n)
	}
	if len(s.Deployments()) != 0 {
		t.Error("the deployment was not deleted")
	}
}

const updateOptions = `remove[\s│]+documented_operations_only.*ignore_changes.*deletion_policy.*new[\s│]+name.*-refresh=false`

// Section 2.2 needs no new revision, section 2.3 does.
func TestAccUpdate_plansUnknownOnlyWhatTheServiceMayChange(t *testing.T) {
	t.Parallel()
	s := newService(t, fakeserver.Options{ResolveRefs: true})
	config := func(path, command string) string {
		return s.provider() + deployment("app", "codehost", `source_config = { build_command = "`+command+`" }
  source_revision_config = { repo_ref = "main", graph_config_path = "`+path+`" }`)
	}
	root := tfjsonpath.New[string]
	revision := []tfjsonpath.Path{root("status"), root("latest_revision_id"), root("active_revision_id"),
		root("source_revision_config").AtMapKey("image_uri"), root("source_revision_config").AtMapKey("repo_commit_sha")}
	always := []plancheck.PlanCheck{plancheck.ExpectUnknownValue(this, root("updated_at"))}
	for _, at := range []tfjsonpath.Path{root("id"), root("tenant_id"), root("created_at"), root("source_config").AtMapKey("build_command"), root("source_revision_config").AtMapKey("repo_ref")} {
		always = append(always, plancheck.ExpectKnownValue(this, at, knownvalue.NotNull()))
	}
	withRevision, without := append(slices.Clone(always), plancheck.ExpectUnknownValue(this, root("image_version"))), slices.Clone(always)
	for _, at := range revision {
		withRevision = append(withRevision, plancheck.ExpectUnknownValue(this, at))
		without = append(without, plancheck.ExpectKnownValue(this, at, knownvalue.NotNull()))
	}
	check(t,
		resource.TestStep{Config: config("a.json", "make")},
		resource.TestStep{Config: config("b.json", "make"), ConfigPlanChecks: resource.ConfigPlanChecks{PreApply: withRevision}},
		planIsEmpty(config("b.json", "make")),
		resource.TestStep{Config: config("b.json", "make all"), ConfigPlanChecks: resource.ConfigPlanChecks{PreApply: without}},
		planIsEmpty(config("b.json", "make all")),
	)
}

// A service that reports commits in place of refs shows no difference between two
// branches. A change is sent all the same, and verified by the new revision.
func TestAccUpdate_resolvedRef(t *testing.T) {
	t.Parallel()
	s := newService(t, fakeserver.Options{ResolveRefs: true})
	config := func(setting, ref, path string) string {
		return s.provider(setting) + deployment("app", "codehost", `source_revision_config = { repo_ref = "`+ref+`", graph_config_path = "`+path+`" }`)
	}
	commit := func() string {
		return s.stored(t)["source_revision_config"].(map[string]any)["repo_commit_sha"].(string)
	}
	var first string
	check(t,
		resource.TestStep{Config: config("", "main", "a.json")},
		resource.TestStep{Config: config(documentedOnly, "dev", "a.json"), ExpectError: regexp.MustCompile(`(?s)Deployment cannot be updated.*repo_ref: "[0-9a-f]{40}" in the service, "dev" in the configuration`)},
		resource.TestStep{Config: config("", "dev", "a.json"), ConfigPlanChecks: updates, Check: resource.TestCheckResourceAttr(this, "source_revision_config.repo_ref", "dev")},
		planIsEmpty(config("", "dev", "a.json")),
		resource.TestStep{Config: config("", "next", "b.json"), ConfigPlanChecks: updates},
		planIsEmpty(config("", "next", "b.json")),
		// Another branch may be at the same commit.
		resource.TestStep{Config: config("", "twin", "b.json"), ConfigPlanChecks: updates, PreConfig: func() {
			first = commit()
			s.Fail(fakeserver.UpdateDeployment, 1, fakeserver.Fault{AfterWork: true, Reached: func() { s.edit(t, "source_revision_config.repo_commit_sha", first)() }})
		}, Check: func(*terraform.State) error {
			if now := commit(); now != first {
				return fmt.Errorf("the commit is %s, want %s still", now, first)
			}
			return nil
		}},
		planIsEmpty(config("", "twin", "b.json")),
	)
	got, _ := json.Marshal(s.patches(t))
	if want := `[{"source_revision_config":{"repo_ref":"dev"}},{"source_revision_config":{"graph_config_path":"b.json","repo_ref":"next"}},{"source_revision_config":{"repo_ref":"twin"}}]`; string(got) != want {
		t.Errorf("sent %s, want %s", got, want)
	}
}

func TestAccUpdate_refToCommitAndBack(t *testing.T) {
	t.Parallel()
	s := newService(t, fakeserver.Options{ResolveRefs: true})
	config := func(ref string) string {
		return s.provider() + deployment("app", "codehost", `source_revision_config = { repo_ref = "`+ref+`", graph_config_path = "graph.json" }`)
	}
	pinned := strings.Repeat("0123456789", 4)
	// A service builds that commit; the fake one chooses another.
	pin := func() { s.edit(t, "source_revision_config.repo_commit_sha", pinned)() }
	check(t,
		resource.TestStep{Config: config("main")},
		resource.TestStep{Config: config(pinned), ConfigPlanChecks: updates, PreConfig: func() {
			s.Fail(fakeserver.UpdateDeployment, 1, fakeserver.Fault{AfterWork: true, Reached: pin})
		}},
		planIsEmpty(config(pinned)),
		resource.TestStep{Config: config("main"), ConfigPlanChecks: updates},
		planIsEmpty(config("main")),
	)
	got, _ := json.Marshal(s.patches(t))
	if want := `[{"source_revision_config":{"repo_ref":"` + pinned + `"}},{"source_revision_config":{"repo_ref":"main"}}]`; string(got) != want {
		t.Errorf("sent %s, want %s", got, want)
	}
}

func TestAccUpdate_ignoredRefIsError(t *testing.T) {
	t.Parallel()
	s := newService(t, fakeserver.Options{ResolveRefs: true, IgnorePatch: true})
	config := func(ref string) string {
		return s.provider() + deployment("app", "codehost", `source_revision_config = { repo_ref = "`+ref+`", graph_config_path = "graph.json" }`)
	}
	ignored := regexp.MustCompile(`(?s)Update was not applied.*source_revision_config\.repo_ref: "[0-9a-f]{40}" in the service, "dev" in the configuration`)
	check(t,
		resource.TestStep{Config: config("main")},
		resource.TestStep{Config: config("dev"), ExpectError: ignored},
		resource.TestStep{Config: config("dev"), ExpectError: ignored}, // it is not in the state
		planIsEmpty(config("main")),
	)
}

// The commit of an imported deployment may be of any branch: the configured one is
// set without a request.
func TestAccImport_refOfResolvedCommit(t *testing.T) {
	t.Parallel()
	s := newService(t, fakeserver.Options{ResolveRefs: true})
	id := s.SeedDeployment(map[string]any{"name": "app", "source": "codehost", "source_revision_config": map[string]any{"repo_ref": "main"}})
	config := func(setting, ref string) string {
		return s.provider(setting) + deployment("app", "codehost", `source_revision_config = { repo_ref = "`+ref+`", graph_config_path = "graph.json" }`)
	}
	check(t,
		resource.TestStep{Config: config("", "main"), ResourceName: this, ImportState: true, ImportStateId: id, ImportStatePersist: true},
		resource.TestStep{Config: config("", "main"), ConfigPlanChecks: updates, PostApplyFunc: func() { assertDocumentedOperationsOnly(t, s) }},
		planIsEmpty(config("", "main")),
		resource.TestStep{Config: config(documentedOnly, "dev"), ExpectError: rejected},
		resource.TestStep{Config: config("", "dev"), ConfigPlanChecks: updates},
		planIsEmpty(config("", "dev")),
	)
	got, _ := json.Marshal(s.patches(t))
	if want := `[{"source_revision_config":{"repo_ref":"dev"}}]`; string(got) != want {
		t.Errorf("sent %s, want %s", got, want)
	}
}

func TestAccUpdate_ignoredChangesAreErrors(t *testing.T) {
	t.Parallel()
	s := newService(t, fakeserver.Options{IgnorePatch: true})
	config := func(arguments string) string {
		return s.provider() + deployment("app", "external_docker", arguments)
	}
	before := `source_config = { custom_url = "https://a.example.com" }` + "\n" + `secrets = { A = "planted-one" }`
	after := strings.NewReplacer("//a", "//b", `" }`+"\n", `", resource_spec = { cpu = 7, labels = { a = "1" }, sidecars = [{ name = "a" }] } }`+"\n", "planted-one", "planted-two").Replace(before)
	check(t,
		resource.TestStep{Config: config(before)},
		resource.TestStep{Config: config(after), ExpectError: regexp.MustCompile(`(?s)Update was not applied.*- source_config\.custom_url\s+` +
			`- source_config\.resource_spec\.cpu: 1 in the service, 7 in the configuration\s+` +
			`- source_config\.resource_spec\.labels\["a"\]\s+` +
			`- source_config\.resource_spec\.sidecars \(missing in the service: a\)\s+` +
			`- secret "A" still has its former value\s`)},
		// The state has what the service has.
		planIsEmpty(config(before)),
	)
}

// Nothing is changed, and the deployment stays in the state.
func TestAccService_withoutUpdateAndDelete(t *testing.T) {
	t.Parallel()
	s := newService(t, fakeserver.Options{Documented: true})
	config := func(url, more string) string {
		return s.provider() + deployment("app", "external_docker", `source_config = { custom_url = "`+url+`" }`, more)
	}
	before := config("https://a.example.com", "")
	check(t,
		resource.TestStep{Config: before},
		resource.TestStep{Config: config("https://b.example.com", ""),
			ExpectError: regexp.MustCompile(`(?s)Service does not support updates.*ignore_changes.*documented_operations_only.*405`)},
		planIsEmpty(before),
		resource.TestStep{Config: before, Destroy: true,
			ExpectError: regexp.MustCompile(`(?s)Service does not support deletion.*abandon.*documented_operations_only.*405`)},
		resource.TestStep{Config: before, ConfigPlanChecks: resource.ConfigPlanChecks{
			PreApply: []plancheck.PlanCheck{plancheck.ExpectResourceAction(this, plancheck.ResourceActionNoop)},
		}},
		resource.TestStep{Config: config("https://a.example.com", `deletion_policy = "abandon"`)},
	)
	s.stored(t)
	if n := s.sent(http.MethodPatch, "") + s.sent(http.MethodDelete, ""); n != 2 {
		t.Errorf("%d updates and deletions were sent, want one each", n)
	}
}

// A deployment that is deleted while it is updated is no failure of the service:
// the next plan creates it.
func TestAccUpdate_deletedMeanwhile(t *testing.T) {
	t.Parallel()
	s := newService(t, fakeserver.Options{})
	config := func(url string) string {
		return s.provider() + deployment("app", "external_docker", `source_config = { custom_url = "`+url+`" }`)
	}
	after := config("https://b.example.com")
	check(t,
		resource.TestStep{Config: config("https://a.example.com")},
		resource.TestStep{Config: after, ExpectError: regexp.MustCompile(`(?s)Deployment no longer exists.*` + flexible("probably deleted outside Terraform. Plan again")), PreConfig: func() {
			s.Fail(fakeserver.UpdateDeployment, 1, fakeserver.Fault{Reached: func() { s.Remove(s.stored(t)["id"].(string)) }})
		}},
		resource.TestStep{Config: after, ConfigPlanChecks: resource.ConfigPlanChecks{PreApply: []plancheck.PlanCheck{plancheck.ExpectResourceAction(this, plancheck.ResourceActionCreate)}}},
		planIsEmpty(after),
	)
}

func TestAccDestroy(t *testing.T) {
	t.Parallel()
	t.Run("lost response", func(t *testing.T) {
		t.Parallel()
		s := newService(t, fakeserver.Options{})
		config := s.provider() + deployment("app", "internal_docker", `deletion_policy = "delete"`)
		check(t,
			resource.TestStep{Config: config, PostApplyFunc: func() { s.Fail(fakeserver.DeleteDeployment, 1, fakeserver.Fault{AfterWork: true, Cut: true}) }},
			resource.TestStep{Config: config, Destroy: true},
		)
		if len(s.Deployments()) != 0 {
			t.Error("the deployment was not deleted")
		}
	})
	t.Run("still listed", func(t *testing.T) {
		t.Parallel()
		s := newService(t, fakeserver.Options{})
		s.Fail(fakeserver.DeleteDeployment, -1, fakeserver.Fault{Status: http.StatusNoContent})
		config := s.provider() + deployment("app", "internal_docker", `timeouts = { delete = "20ms" }`)
		check(t,
			resource.TestStep{Config: config},
			resource.TestStep{Config: config, Destroy: true, ExpectError: regexp.MustCompile(`(?s)Deployment still exists.*` + flexible("after 20ms"))},
			resource.TestStep{Config: config, ConfigPlanChecks: resource.ConfigPlanChecks{ // it is still in the state
				PreApply: []plancheck.PlanCheck{plancheck.ExpectResourceAction(this, plancheck.ResourceActionNoop)},
			}},
			resource.TestStep{Config: s.provider(), PreConfig: func() { s.Remove(s.stored(t)["id"].(string)) }},
		)
	})
	t.Run("still listed for a while", func(t *testing.T) {
		t.Parallel()
		s := newService(t, fakeserver.Options{})
		reads := 0
		s.Fail(fakeserver.DeleteDeployment, 1, fakeserver.Fault{Status: http.StatusNoContent, Reached: func() {
			s.edit(t, "status", "AWAITING_DELETE")()
			s.Fail(fakeserver.ListDeployments, 5, fakeserver.Fault{Reached: func() {
				if reads++; reads == 5 {
					s.Remove(s.stored(t)["id"].(string))
				}
			}})
		}})
		check(t, resource.TestStep{Config: s.provider() + deployment("app", "internal_docker")}) // and destroyed at the end
		if n := s.sent(http.MethodDelete, ""); n != 1 || reads != 5 || len(s.Deployments()) != 0 {
			t.Errorf("%d deletions and %d reads were sent, want 1 and 5", n, reads)
		}
	})
	t.Run("removed block", func(t *testing.T) {
		t.Parallel()
		s := newService(t, fakeserver.Options{})
		resource.UnitTest(t, resource.TestCase{
			ProtoV6ProviderFactories: factories(),
			// Terraform 1.7 has such a block, OpenTofu 1.10 one with a lifecycle.
			TerraformVersionChecks: []tfversion.TerraformVersionCheck{tfversion.SkipBelow(tfversion.Version1_10_0)},
			Steps: []resource.TestStep{
				{Config: s.provider() + deployment("app", "internal_docker")},
				{Config: s.provider() + "removed {\n  from = " + this + "\n  lifecycle {\n    destroy = false\n  }\n}"},
			},
		})
		s.stored(t)
	})
}

func TestAccMoved_planIsEmpty(t *testing.T) {
	t.Parallel()
	s := newService(t, fakeserver.Options{})
	before, _, _ := strings.Cut(s.provider()+deployment("app", "internal_docker"), "output ")
	after := strings.ReplaceAll(before, `"this"`, `"that"`) + "moved {\n  from = " + this + "\n  to = graphdeploy_deployment.that\n}"
	check(t, resource.TestStep{Config: before}, planIsEmpty(after))
}

func TestAccUnknownValue_isComparedAtApply(t *testing.T) {
	t.Parallel()
	s := newService(t, fakeserver.Options{})
	config := func(input string) string {
		return s.provider(documentedOnly) + "resource \"terraform_data\" \"late\" {\n  input = \"" + input + "\"\n}\n" +
			deployment("app", "external_docker", `source_config = { custom_url = terraform_data.late.output }`, `deletion_policy = "abandon"`)
	}
	check(t,
		resource.TestStep{Config: config("https://a.example.com")},
		planIsEmpty(config("https://a.example.com")),
		resource.TestStep{Config: config("https://b.example.com"), ExpectError: regexp.MustCompile(`(?s)Deployment cannot be updated.*source_config\.custom_url\s.*` + updateOptions)},
	)
	assertDocumentedOperationsOnly(t, s)
}
