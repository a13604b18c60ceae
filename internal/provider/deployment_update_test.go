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

const extended = "extended_operations = true"

// patches are the bodies of the changes that were sent.
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

// A change is sent with what belongs to it, and without what stays. That each
// argument alone can change is in TestAccEveryArgument.
func TestAccChangeIsSentWithoutWhatStays(t *testing.T) {
	t.Parallel()
	resourceSpec := func(argument string) string {
		return "source_config = { build_command = \"make\", resource_spec = { cpu_limit = 2, " + argument + " } }"
	}
	for _, c := range []struct{ attribute, before, after, sent string }{
		{"source_config.integration_id", `source_config = { integration_id = "aaaaaaaa-bbbb-4ccc-8ddd-000000000001" }`, `source_config = { integration_id = "AAAAAAAA-bbbb-4ccc-8ddd-000000000002" }`, `{"source_config":{"integration_id":"AAAAAAAA-bbbb-4ccc-8ddd-000000000002"}}`},
		{"source_config.resource_spec.cpu", resourceSpec("cpu = 0.1"), resourceSpec("cpu = 0.2"), `{"source_config":{"resource_spec":{"cpu":0.2}}}`},
		{"source_config.resource_spec.labels", resourceSpec(`labels = { a = "1" }`), resourceSpec(`labels = { a = "2" }`), `{"source_config":{"resource_spec":{"labels":{"a":"2","managed-by":"service"}}}}`},
		{"source_config.resource_spec.sidecars", resourceSpec(`sidecars = [{ name = "a", image = "a:1" }]`), resourceSpec(`sidecars = [{ name = "b", image = "b:1" }, { name = "a", image = "a:1" }]`),
			`{"source_config":{"resource_spec":{"sidecars":[{"name":"b","image":"b:1"},{"name":"a","image":"a:1","imagePullPolicy":"IfNotPresent","restartPolicy":"Always"}]}}}`},
		{"secrets", `secrets = { A = "one", B = "two" }`, `secrets = { B = "three", C = "four" }`, `{"secrets":[{"name":"B","value":"three"},{"name":"C","value":"four"}]}`},
	} {
		t.Run(c.attribute, func(t *testing.T) {
			t.Parallel()
			s := newService(t, fakeserver.Options{Extended: true, ExtraLabels: map[string]string{"managed-by": "service"}})
			config := func(setting, argument string) string {
				return s.provider(setting) + deployment("app", "external_docker", argument)
			}
			after := config(extended, c.after)
			check(t,
				resource.TestStep{Config: config("", c.before)},
				resource.TestStep{Config: config("", c.after), ExpectError: regexp.MustCompile(`(?s)The service cannot be changed.*` + fourWaysOut)},
				resource.TestStep{Config: config("", c.before), PostApplyFunc: func() { assertDocumentedOperationsOnly(t, s) }},
				resource.TestStep{Config: after, ConfigPlanChecks: updates},
				planIsEmpty(after),
			)
			sent := s.patches(t)
			var want any
			if err := json.Unmarshal([]byte(c.sent), &want); err != nil {
				t.Fatal(err)
			}
			if len(sent) != 1 || !jsonEqual(sent[0], want) {
				got, _ := json.Marshal(sent)
				t.Errorf("sent %s, want %s", got, c.sent)
			}
			if n := s.sent(http.MethodDelete, ""); n != 1 {
				t.Errorf("%d deletions were sent, want one at the end", n)
			}
			if len(s.Deployments()) != 0 {
				t.Error("the deployment was not deleted")
			}
		})
	}
}

const fourWaysOut = `take over.*ignore_changes.*new[\s│]+name.*extended_operations[\s│]+=[\s│]+true`

func TestAccChangePlansOnlyWhatTheServiceMayChange(t *testing.T) {
	t.Parallel()
	s := newService(t, fakeserver.Options{Extended: true, ResolveRefs: true})
	config := func(path string) string {
		return s.provider(extended) + deployment("app", "codehost", `source_revision_config = { repo_ref = "main", graph_config_path = "`+path+`" }`)
	}
	unknown := []tfjsonpath.Path{
		tfjsonpath.New("updated_at"), tfjsonpath.New("status"), tfjsonpath.New("latest_revision_id"), tfjsonpath.New("active_revision_id"), tfjsonpath.New("image_version"),
		tfjsonpath.New("source_revision_config").AtMapKey("image_uri"), tfjsonpath.New("source_revision_config").AtMapKey("repo_commit_sha"),
	}
	known := []tfjsonpath.Path{
		tfjsonpath.New("id"), tfjsonpath.New("tenant_id"), tfjsonpath.New("created_at"), tfjsonpath.New("source_config").AtMapKey("resource_spec").AtMapKey("cpu"),
		tfjsonpath.New("source_revision_config").AtMapKey("repo_ref"),
	}
	var checks []plancheck.PlanCheck
	for _, at := range unknown {
		checks = append(checks, plancheck.ExpectUnknownValue(this, at))
	}
	for _, at := range known {
		checks = append(checks, plancheck.ExpectKnownValue(this, at, knownvalue.NotNull()))
	}
	check(t,
		resource.TestStep{Config: config("a.json")},
		resource.TestStep{Config: config("b.json"), ConfigPlanChecks: resource.ConfigPlanChecks{PreApply: checks}},
		planIsEmpty(config("b.json")),
		// A removed argument leaves the service's value.
		planIsEmpty(strings.Replace(config("b.json"), `, graph_config_path = "b.json"`, "", 1)),
	)
}

// A service that reports commits in place of refs shows no difference between
// two of them. A change is sent all the same, and judged by what moved.
func TestAccChangeOfARefThatIsResolved(t *testing.T) {
	t.Parallel()
	s := newService(t, fakeserver.Options{Extended: true, ResolveRefs: true})
	config := func(setting, ref, path string) string {
		return s.provider(setting) + deployment("app", "codehost", `source_revision_config = { repo_ref = "`+ref+`", graph_config_path = "`+path+`" }`)
	}
	commit := func() string {
		return s.stored(t)["source_revision_config"].(map[string]any)["repo_commit_sha"].(string)
	}
	var first string
	check(t,
		resource.TestStep{Config: config("", "main", "a.json")},
		resource.TestStep{Config: config("", "dev", "a.json"), ExpectError: regexp.MustCompile(`(?s)The service cannot be changed.*` + flexible(`is "main" in the service and "dev" in the configuration`))},
		resource.TestStep{Config: config(extended, "dev", "a.json"), ConfigPlanChecks: updates, Check: resource.TestCheckResourceAttr(this, "source_revision_config.repo_ref", "dev")},
		planIsEmpty(config(extended, "dev", "a.json")),
		resource.TestStep{Config: config(extended, "next", "b.json"), ConfigPlanChecks: updates},
		planIsEmpty(config(extended, "next", "b.json")),
		// Another branch may be at the same commit.
		resource.TestStep{Config: config(extended, "twin", "b.json"), ConfigPlanChecks: updates, PreConfig: func() {
			first = commit()
			s.Fail(fakeserver.UpdateDeployment, 1, fakeserver.Fault{AfterWork: true, Reached: func() { s.edit(t, "source_revision_config.repo_commit_sha", first)() }})
		}, Check: func(*terraform.State) error {
			if now := commit(); now != first {
				return fmt.Errorf("the commit is %s, want %s still", now, first)
			}
			return nil
		}},
		planIsEmpty(config(extended, "twin", "b.json")),
	)
	got, _ := json.Marshal(s.patches(t))
	if want := `[{"source_revision_config":{"repo_ref":"dev"}},{"source_revision_config":{"graph_config_path":"b.json","repo_ref":"next"}},{"source_revision_config":{"repo_ref":"twin"}}]`; string(got) != want {
		t.Errorf("sent %s, want %s", got, want)
	}
}

func TestAccRefOfAPinnedCommit(t *testing.T) {
	t.Parallel()
	s := newService(t, fakeserver.Options{Extended: true, ResolveRefs: true})
	config := func(ref string) string {
		return s.provider(extended) + deployment("app", "codehost", `source_revision_config = { repo_ref = "`+ref+`" }`)
	}
	pinned := strings.Repeat("0123456789", 4)
	// The service builds that very commit, as the fake one does not.
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

func TestAccServiceThatIgnoresARef(t *testing.T) {
	t.Parallel()
	s := newService(t, fakeserver.Options{Extended: true, ResolveRefs: true, IgnorePatch: true})
	config := func(ref string) string {
		return s.provider(extended) + deployment("app", "codehost", `source_revision_config = { repo_ref = "`+ref+`" }`)
	}
	ignored := regexp.MustCompile(`(?s)The change did not take.*` + flexible(`is still "main" in the service; it should be "dev"`))
	check(t,
		resource.TestStep{Config: config("main")},
		resource.TestStep{Config: config("dev"), ExpectError: ignored},
		resource.TestStep{Config: config("dev"), ExpectError: ignored}, // it is not in the state
		planIsEmpty(config("main")),
	)
}

// The commit of an imported deployment may be of any branch: the configured one
// plans empty, goes into the state with the first apply, without a request, and
// counts from there on.
func TestAccRefOfAnImportedDeployment(t *testing.T) {
	t.Parallel()
	s := newService(t, fakeserver.Options{Extended: true, ResolveRefs: true})
	id := s.SeedDeployment(map[string]any{"name": "app", "source": "codehost", "source_revision_config": map[string]any{"repo_ref": "main"}})
	config := func(setting, ref string) string {
		return s.provider(setting) + deployment("app", "codehost", `source_revision_config = { repo_ref = "`+ref+`" }`)
	}
	commit := s.stored(t)["source_revision_config"].(map[string]any)["repo_commit_sha"].(string)
	check(t,
		resource.TestStep{Config: config("", "main"), ResourceName: this, ImportState: true, ImportStateId: id, ImportStatePersist: true},
		resource.TestStep{Config: config("", commit), ConfigPlanChecks: resource.ConfigPlanChecks{
			PreApply: []plancheck.PlanCheck{plancheck.ExpectResourceAction(this, plancheck.ResourceActionNoop)},
		}},
		resource.TestStep{Config: config("", "main"), ConfigPlanChecks: resource.ConfigPlanChecks{
			PreApply: []plancheck.PlanCheck{plancheck.ExpectResourceAction(this, plancheck.ResourceActionNoop)},
		}},
		resource.TestStep{Config: strings.Replace(config("", "main"), "source_revision_config", "deletion_policy = \"abandon\"\n  source_revision_config", 1),
			Check: resource.TestCheckResourceAttr(this, "source_revision_config.repo_ref", "main"), PostApplyFunc: func() {
				assertDocumentedOperationsOnly(t, s)
			}},
		resource.TestStep{Config: config("", "main")},
		planIsEmpty(config("", "main")),
		resource.TestStep{Config: config("", "dev"), ExpectError: regexp.MustCompile(`The service cannot be changed`)},
		resource.TestStep{Config: config(extended, "dev"), ConfigPlanChecks: updates},
		planIsEmpty(config(extended, "dev")),
	)
	got, _ := json.Marshal(s.patches(t))
	if want := `[{"source_revision_config":{"repo_ref":"dev"}}]`; string(got) != want {
		t.Errorf("sent %s, want %s", got, want)
	}
}

// The plan may be old when it is applied: what is sent is what differs then.
func TestAccChangeIsMadeToWhatTheServiceHasNow(t *testing.T) {
	t.Parallel()
	s := newService(t, fakeserver.Options{Extended: true})
	config := func(url, command string) string {
		return s.provider(extended) + deployment("app", "internal_docker", fmt.Sprintf(`source_config = { custom_url = %q, build_command = %q }`, url, command))
	}
	check(t,
		resource.TestStep{Config: config("https://a.example.com", "make")},
		resource.TestStep{PreConfig: s.edit(t, "source_config.custom_url", "https://b.example.com"), Config: config("https://b.example.com", "make"),
			ConfigPlanChecks: resource.ConfigPlanChecks{PreApply: []plancheck.PlanCheck{plancheck.ExpectResourceAction(this, plancheck.ResourceActionNoop)}}},
		planIsEmpty(config("https://b.example.com", "make")),
	)
	if sent := s.patches(t); len(sent) != 0 {
		t.Errorf("sent %v, want nothing", sent)
	}
}

func TestAccServiceThatIgnoresAChange(t *testing.T) {
	t.Parallel()
	s := newService(t, fakeserver.Options{Extended: true, IgnorePatch: true})
	config := func(arguments string) string {
		return s.provider(extended) + deployment("app", "internal_docker", arguments)
	}
	before := `source_config = { custom_url = "https://a.example.com" }` + "\n" + `secrets = { A = "planted-one" }`
	check(t,
		resource.TestStep{Config: config(before)},
		resource.TestStep{Config: config(strings.Replace(before, "//a", "//b", 1)),
			ExpectError: regexp.MustCompile(`(?s)The change did not take.*source_config\.custom_url[\s│]+is[\s│]+still[\s│]+"https://a\.example\.com"[\s│]+in[\s│]+the[\s│]+service;[\s│]+it[\s│]+should[\s│]+be[\s│]+"https://b\.example\.com"`)},
		// The state holds what the service has.
		resource.TestStep{Config: config(before), ConfigPlanChecks: resource.ConfigPlanChecks{PreApply: []plancheck.PlanCheck{plancheck.ExpectEmptyPlan()}}},
		resource.TestStep{Config: config(strings.Replace(before, `" }`, `", resource_spec = { labels = { a = "1" }, sidecars = [{ name = "a" }] } }`, 1)),
			ExpectError: regexp.MustCompile(`(?s)labels[\s│]+is[\s│]+still[\s│]+not[\s│]+set[\s│]+in[\s│]+the[\s│]+service;[\s│]+it[\s│]+should[\s│]+be[\s│]+\{"a":"1"\}.*sidecars[\s│]+is[\s│]+still[\s│]+not[\s│]+set[\s│]+in[\s│]+the[\s│]+service;[\s│]+it[\s│]+should[\s│]+be[\s│]+\["a"\]`)},
		resource.TestStep{Config: config(strings.Replace(before, "planted-one", "planted-two", 1)), ExpectError: regexp.MustCompile(`(?s)The change did not take.*former[\s│]+value[\s│]+of[\s│]+secret[\s│]+"A"`)},
	)
}

// A service answers 405 or 404 to what it does not have. While it lists the
// deployment, neither means that this is gone.
func TestAccServiceWithoutExtendedOperations(t *testing.T) {
	t.Parallel()
	for _, status := range []int{http.StatusMethodNotAllowed, http.StatusNotFound} {
		t.Run(fmt.Sprint(status), func(t *testing.T) {
			t.Parallel()
			s := newService(t, fakeserver.Options{})
			for _, operation := range []fakeserver.Route{fakeserver.UpdateDeployment, fakeserver.DeleteDeployment} {
				s.Fail(operation, -1, fakeserver.Fault{Status: status})
			}
			config := func(setting, url string) string {
				return s.provider(setting) + deployment("app", "internal_docker", `source_config = { custom_url = "`+url+`" }`)
			}
			before := config(extended, "https://a.example.com")
			check(t,
				resource.TestStep{Config: before},
				resource.TestStep{Config: config(extended, "https://b.example.com"), ExpectError: regexp.MustCompile(`(?s)The service does not offer changes.*` + fmt.Sprint(status))},
				resource.TestStep{Config: before, Destroy: true, ExpectError: regexp.MustCompile(`(?s)The service does not offer deletion.*` + fmt.Sprint(status))},
				// It is still in the state.
				resource.TestStep{Config: before, ConfigPlanChecks: resource.ConfigPlanChecks{
					PreApply: []plancheck.PlanCheck{plancheck.ExpectResourceAction(this, plancheck.ResourceActionNoop)},
				}},
				resource.TestStep{Config: config("", "https://a.example.com")},
			)
			s.stored(t)
			if n := s.sent(http.MethodPatch, "") + s.sent(http.MethodDelete, ""); n != 2 {
				t.Errorf("%d requests were sent to change or delete, want one each: they cannot succeed", n)
			}
		})
	}
}

// A deployment that goes while it is being changed is no failure of the
// service: the next plan creates it.
func TestAccGoneWhileItIsChanged(t *testing.T) {
	t.Parallel()
	s := newService(t, fakeserver.Options{Extended: true})
	config := func(url string) string {
		return s.provider(extended) + deployment("app", "internal_docker", `source_config = { custom_url = "`+url+`" }`)
	}
	after := config("https://b.example.com")
	check(t,
		resource.TestStep{Config: config("https://a.example.com")},
		resource.TestStep{Config: after, ExpectError: regexp.MustCompile(flexible("The service lists it no more: somebody has deleted it. Plan again")), PreConfig: func() {
			s.Fail(fakeserver.UpdateDeployment, 1, fakeserver.Fault{Reached: func() { s.Remove(s.stored(t)["id"].(string)) }})
		}},
		resource.TestStep{Config: after, ConfigPlanChecks: resource.ConfigPlanChecks{PreApply: []plancheck.PlanCheck{plancheck.ExpectResourceAction(this, plancheck.ResourceActionCreate)}}},
		planIsEmpty(after),
	)
}

func TestAccDeletion(t *testing.T) {
	t.Parallel()
	t.Run("a lost answer, then gone", func(t *testing.T) {
		t.Parallel()
		s := newService(t, fakeserver.Options{Extended: true})
		config := s.provider(extended) + deployment("app", "internal_docker", `deletion_policy = "delete"`)
		check(t,
			resource.TestStep{Config: config, PostApplyFunc: func() { s.Fail(fakeserver.DeleteDeployment, 1, fakeserver.Fault{AfterWork: true, Cut: true}) }},
			resource.TestStep{Config: config, Destroy: true},
		)
		if len(s.Deployments()) != 0 {
			t.Error("the deployment is still there")
		}
	})
	t.Run("abandoned", func(t *testing.T) {
		t.Parallel()
		s := newService(t, fakeserver.Options{Extended: true})
		config := s.provider(extended) + deployment("app", "internal_docker", `deletion_policy = "abandon"`)
		check(t,
			resource.TestStep{Config: config},
			resource.TestStep{Config: s.provider(extended) + deployment("app", "internal_source", `deletion_policy = "abandon"`), ExpectError: regexp.MustCompile(`A replacement needs a new name`)},
			resource.TestStep{Config: config, Destroy: true},
		)
		s.stored(t)
		if n := s.sent(http.MethodDelete, ""); n != 0 {
			t.Errorf("%d deletions were sent, want none", n)
		}
	})
	t.Run("goes on being listed", func(t *testing.T) {
		t.Parallel()
		s := newService(t, fakeserver.Options{Extended: true, KeepDeleted: true})
		config := s.provider(extended) + deployment("app", "internal_docker", `timeouts = { delete = "20ms" }`)
		check(t,
			resource.TestStep{Config: config},
			resource.TestStep{Config: config, Destroy: true, ExpectError: regexp.MustCompile(`(?s)Deployment "app" is still there.*after[\s│]+20ms`)},
			resource.TestStep{Config: config, ConfigPlanChecks: resource.ConfigPlanChecks{ // it is still in the state
				PreApply: []plancheck.PlanCheck{plancheck.ExpectResourceAction(this, plancheck.ResourceActionNoop)},
			}},
			resource.TestStep{Config: s.provider(), PreConfig: func() { s.Remove(s.stored(t)["id"].(string)) }},
		)
	})
	t.Run("goes on being listed for a while", func(t *testing.T) {
		t.Parallel()
		s := newService(t, fakeserver.Options{Extended: true, KeepDeleted: true})
		looks := 0
		s.Fail(fakeserver.DeleteDeployment, 1, fakeserver.Fault{AfterWork: true, Reached: func() {
			s.edit(t, "status", "AWAITING_DELETE")()
			s.Fail(fakeserver.ListDeployments, 5, fakeserver.Fault{Reached: func() {
				if looks++; looks == 5 {
					s.Remove(s.stored(t)["id"].(string))
				}
			}})
		}})
		check(t, resource.TestStep{Config: s.provider(extended) + deployment("app", "internal_docker")}) // and destroyed at the end
		if n := s.sent(http.MethodDelete, ""); n != 1 || looks != 5 || len(s.Deployments()) != 0 {
			t.Errorf("%d deletions were sent and %d looks taken, want 1 and 5", n, looks)
		}
	})
	t.Run("replaced under its name", func(t *testing.T) {
		t.Parallel()
		s := newService(t, fakeserver.Options{Extended: true})
		check(t,
			resource.TestStep{Config: s.provider(extended) + deployment("app", "internal_docker")},
			resource.TestStep{Config: s.provider(extended) + deployment("app", "internal_source"), Check: resource.TestCheckResourceAttr(this, "source", "internal_source")},
		)
	})
	t.Run("removed block", func(t *testing.T) {
		t.Parallel()
		s := newService(t, fakeserver.Options{Extended: true})
		resource.UnitTest(t, resource.TestCase{
			ProtoV6ProviderFactories: factories(),
			// Terraform has such a block from 1.7 on, OpenTofu with a lifecycle from 1.10 on.
			TerraformVersionChecks: []tfversion.TerraformVersionCheck{tfversion.SkipBelow(tfversion.Version1_10_0)},
			Steps: []resource.TestStep{
				{Config: s.provider(extended) + deployment("app", "internal_docker")},
				{Config: s.provider(extended) + "removed {\n  from = " + this + "\n  lifecycle {\n    destroy = false\n  }\n}"},
			},
		})
		s.stored(t)
	})
}

func TestAccMovedBlock(t *testing.T) {
	t.Parallel()
	s := newService(t, fakeserver.Options{})
	before, _, _ := strings.Cut(s.provider()+deployment("app", "internal_docker"), "output ")
	after := strings.ReplaceAll(before, `"this"`, `"that"`) + "moved {\n  from = " + this + "\n  to = graphdeploy_deployment.that\n}"
	check(t, resource.TestStep{Config: before}, planIsEmpty(after))
}

func TestAccUnknownAtPlanIsJudgedAtApply(t *testing.T) {
	t.Parallel()
	s := newService(t, fakeserver.Options{})
	config := func(input string) string {
		return s.provider() + "resource \"terraform_data\" \"late\" {\n  input = \"" + input + "\"\n}\n" +
			deployment("app", "internal_docker", `source_config = { custom_url = terraform_data.late.output }`)
	}
	check(t,
		resource.TestStep{Config: config("https://a.example.com")},
		planIsEmpty(config("https://a.example.com")),
		resource.TestStep{Config: config("https://b.example.com"), ExpectError: regexp.MustCompile(`(?s)The service cannot be changed.*` + fourWaysOut)},
	)
	assertDocumentedOperationsOnly(t, s)
}

func TestAccWriteOnlySecretsAreSentAgainWithTheirVersion(t *testing.T) {
	t.Parallel()
	s := newService(t, fakeserver.Options{Extended: true, Secrets: fakeserver.MaskSecrets})
	config := func(version int, values string) string {
		return s.provider(extended) + deployment("app", "internal_docker", secretsArgument(true, version, values))
	}
	checkSecrets(t,
		resource.TestStep{Config: config(1, `A = "one"`)},
		planIsEmpty(config(1, `A = "two"`)),
		resource.TestStep{Config: config(2, `A = "two"`), ConfigPlanChecks: updates},
		planIsEmpty(config(2, `A = "two"`)),
	)
	if sent := s.patches(t); len(sent) != 1 || !slices.Equal([]string{fmt.Sprint(sent[0])}, []string{"map[secrets:[map[name:A value:two]]]"}) {
		t.Errorf("sent %v, want secret A once", sent)
	}
}
