package provider_test

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/hashicorp/terraform-plugin-testing/helper/resource"
	"github.com/hashicorp/terraform-plugin-testing/plancheck"
	"github.com/hashicorp/terraform-plugin-testing/tfversion"

	"github.com/graphdeploy/terraform-provider-graphdeploy/internal/fakeserver"
)

var (
	updates  = resource.ConfigPlanChecks{PreApply: []plancheck.PlanCheck{plancheck.ExpectResourceAction(this, plancheck.ResourceActionUpdate)}}
	rejected = regexp.MustCompile("Deployment cannot be updated")
)

func TestAccSecrets_areSentSortedAndNeverReadBack(t *testing.T) {
	t.Parallel()
	for name, options := range map[string]fakeserver.Options{
		"echoed": {}, "masked": {Secrets: fakeserver.MaskSecrets}, "masked at random": {Secrets: fakeserver.MaskSecretsRandomly},
		"omitted": {Secrets: fakeserver.OmitSecrets}, "with the service's own": {ExtraSecrets: map[string]string{"OWN": "x"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newService(t, options)
			config := s.provider() + deployment("app", "internal_docker", `secrets = { ZULU = "z", ALPHA = "a", MIKE = "" }`)
			check(t,
				resource.TestStep{Config: config, Check: resource.ComposeAggregateTestCheckFunc(
					resource.TestCheckResourceAttr(this, "secrets.%", "3"),
					resource.TestCheckResourceAttr(this, "secrets.ALPHA", "a"),
				)},
				planIsEmpty(config),
				resource.TestStep{RefreshState: true},
				planIsEmpty(config),
			)
			want := []any{map[string]any{"name": "ALPHA", "value": "a"}, map[string]any{"name": "MIKE", "value": ""}, map[string]any{"name": "ZULU", "value": "z"}}
			if got := s.body(t)["secrets"]; !jsonEqual(got, want) {
				t.Errorf("sent %v, want %v", got, want)
			}
		})
	}
}

// secretsArgument writes secrets either way.
func secretsArgument(writeOnly bool, version int, values string) string {
	if writeOnly {
		return fmt.Sprintf("secrets_wo = { %s }\n  secrets_wo_version = %d", values, version)
	}
	return fmt.Sprintf("secrets = { %s }", values)
}

// checkSecrets is check; steps with a write-only argument need Terraform 1.11.
func checkSecrets(t *testing.T, steps ...resource.TestStep) {
	t.Helper()
	test := resource.TestCase{ProtoV6ProviderFactories: factories(), Steps: steps}
	if slices.ContainsFunc(steps, func(s resource.TestStep) bool { return strings.Contains(s.Config, "secrets_wo") }) {
		test.TerraformVersionChecks = []tfversion.TerraformVersionCheck{tfversion.SkipBelow(tfversion.Version1_11_0)}
	}
	resource.UnitTest(t, test)
}

func TestAccSecrets_changeInServiceIsDrift(t *testing.T) {
	t.Parallel()
	for _, writeOnly := range []bool{false, true} {
		t.Run(fmt.Sprintf("write-only %t", writeOnly), func(t *testing.T) {
			t.Parallel()
			s := newService(t, fakeserver.Options{})
			config, _, _ := strings.Cut(s.provider()+deployment("app", "internal_docker", secretsArgument(writeOnly, 1, `A = "one", B = "two"`)), "output ")
			secret := func(name, value string) map[string]any { return map[string]any{"name": name, "value": value} }
			edit := func(secrets ...any) func() { return s.edit(t, "secrets", secrets) }
			empty := planIsEmpty(config)
			added := planIsEmpty(config)
			added.PreConfig = edit(secret("A", "one"), secret("B", "two"), secret("C", "the service's own"))
			reverted := planIsEmpty(config)
			reverted.PreConfig = edit(secret("A", "one"), secret("B", "two"))
			strict := strings.Replace(config, s.provider(), s.provider(documentedOnly), 1)
			checkSecrets(t,
				resource.TestStep{Config: config},
				empty,
				added,
				resource.TestStep{PreConfig: edit(secret("A", "other"), secret("B", "two")), Config: strict, ExpectError: rejected},
				resource.TestStep{PreConfig: edit(secret("A", "one")), Config: strict, ExpectError: rejected},
				reverted,
			)
			if n := len(s.patches(t)); n != 0 {
				t.Errorf("%d updates were sent, want none", n)
			}
		})
	}
}

// A service whose echo differs while the deployment is unchanged masks at random:
// that is no drift, then and later.
func TestAccSecrets_randomMasksAreNotDrift(t *testing.T) {
	t.Parallel()
	s := newService(t, fakeserver.Options{Secrets: fakeserver.MaskSecretsRandomly})
	config := s.provider() + deployment("app", "internal_docker", `secrets = { A = "one" }`)
	revised := planIsEmpty(config)
	revised.PreConfig = func() { s.NewRevision(s.stored(t)["id"].(string)) }
	withoutOutput := s.provider() + `resource "graphdeploy_deployment" "this" {
  name    = "app"
  source  = "internal_docker"
  secrets = { A = "one" }
}`
	revised.Config = withoutOutput
	check(t, resource.TestStep{Config: config}, planIsEmpty(config), resource.TestStep{Config: withoutOutput}, revised)
}

func TestAccSecrets_matchingAfterImportSendNothing(t *testing.T) {
	t.Parallel()
	for _, writeOnly := range []bool{false, true} {
		t.Run(fmt.Sprintf("write-only %t", writeOnly), func(t *testing.T) {
			t.Parallel()
			s := newService(t, fakeserver.Options{})
			id := s.SeedDeployment(map[string]any{"name": "app", "source": "internal_docker", "secrets": []any{map[string]any{"name": "A", "value": "one"}}})
			config := func(values string) string {
				return s.provider() + deployment("app", "internal_docker", "deletion_policy = \"abandon\"\n  "+secretsArgument(writeOnly, 1, values))
			}
			checkSecrets(t,
				resource.TestStep{Config: config(`A = "one"`) + fmt.Sprintf("\nimport {\n  to = %s\n  id = %q\n}", this, id),
					Check: resource.TestCheckResourceAttr(this, "id", id)},
				planIsEmpty(config(`A = "one"`)),
			)
			checkSecrets(t,
				resource.TestStep{Config: strings.Replace(config(`A = "other"`), s.provider(), s.provider(documentedOnly), 1) + fmt.Sprintf("\nimport {\n  to = %s\n  id = %q\n}", this, id), ExpectError: rejected},
			)
			if n := s.sent("POST", "/v2/deployments"); n != 0 {
				t.Errorf("%d creates were sent, want none", n)
			}
		})
	}
}

func TestAccSecrets_changeWithDocumentedOperationsOnlyIsRejected(t *testing.T) {
	t.Parallel()
	s := newService(t, fakeserver.Options{Secrets: fakeserver.MaskSecrets})
	config := func(argument string) string {
		return s.provider(documentedOnly) + deployment("app", "internal_docker", "deletion_policy = \"abandon\"\n  "+argument)
	}
	checkSecrets(t,
		resource.TestStep{Config: config(secretsArgument(false, 0, `A = "one", B = "two"`))},
		resource.TestStep{Config: config(secretsArgument(false, 0, `A = "one", B = "three"`)), ExpectError: rejected},
		resource.TestStep{Config: config(secretsArgument(false, 0, `A = "one"`)), ExpectError: rejected},
		resource.TestStep{Config: config(""), ConfigPlanChecks: updates}, // the service keeps them
		planIsEmpty(config("")),
	)
	wo := newService(t, fakeserver.Options{Secrets: fakeserver.MaskSecrets})
	config = func(argument string) string {
		return wo.provider(documentedOnly) + deployment("app", "internal_docker", "deletion_policy = \"abandon\"\n  "+argument)
	}
	checkSecrets(t,
		resource.TestStep{Config: config(secretsArgument(true, 1, `A = "one"`))},
		planIsEmpty(config(secretsArgument(true, 1, `A = "changed, with the same version"`))),
		resource.TestStep{Config: config(secretsArgument(true, 2, `A = "two"`)), ExpectError: rejected},
	)
}

// A service that echoes values shows whether it applied new ones.
func TestAccSecrets_ignoredChangeIsError(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		before, after string
		reports       []string
	}{
		"another value":     {`A = "planted-one"`, `A = "planted-two"`, []string{`secret "A" still has its former value`}},
		"one more":          {`A = "planted-one"`, `A = "planted-one", B = "planted-two"`, []string{`secret "B" still has its former value`}},
		"one less":          {`A = "planted-one", B = "planted-two"`, `A = "planted-one"`, []string{`secret "B" still exists`}},
		"another, one less": {`A = "planted-one", B = "planted-two"`, `A = "planted-three"`, []string{`secret "A" still has its former value`, `secret "B" still exists`}},
	} {
		for _, writeOnly := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s, write-only %t", name, writeOnly), func(t *testing.T) {
				t.Parallel()
				s := newService(t, fakeserver.Options{IgnorePatch: true})
				config := func(version int, values string) string {
					return s.provider() + deployment("app", "internal_docker", secretsArgument(writeOnly, version, values))
				}
				want := "(?s)Update was not applied"
				for _, line := range c.reports {
					want += ".*" + flexible(line)
				}
				checkSecrets(t,
					resource.TestStep{Config: config(1, c.before)},
					resource.TestStep{Config: config(2, c.after), ExpectError: regexp.MustCompile(want)},
					planIsEmpty(config(1, c.before)),
				)
			})
		}
	}
}

// A removal is sent, whatever the service shows of secrets.
func TestAccSecrets_removalIsSent(t *testing.T) {
	t.Parallel()
	for name, mode := range map[string]fakeserver.SecretsMode{"echoed": fakeserver.EchoSecrets, "masked": fakeserver.MaskSecrets, "omitted": fakeserver.OmitSecrets} {
		for _, writeOnly := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s, write-only %t", name, writeOnly), func(t *testing.T) {
				t.Parallel()
				s := newService(t, fakeserver.Options{Secrets: mode})
				config := func(version int, values string) string {
					return s.provider() + deployment("app", "internal_docker", secretsArgument(writeOnly, version, values))
				}
				checkSecrets(t,
					resource.TestStep{Config: config(1, `A = "one", B = "two"`)},
					resource.TestStep{Config: config(2, `A = "one"`)},
					planIsEmpty(config(2, `A = "one"`)),
					resource.TestStep{Config: config(3, ``)},
					planIsEmpty(config(3, ``)),
				)
				if sent, want := fmt.Sprint(s.patches(t)), "[map[secrets:[map[name:A value:one]]] map[secrets:[]]]"; sent != want {
					t.Errorf("sent %s, want %s", sent, want)
				}
			})
		}
	}
}

// The values are those of the last apply: nothing has to be sent, though the
// service does not show them.
func TestAccSecrets_moveToWriteOnlySendsNothing(t *testing.T) {
	t.Parallel()
	s := newService(t, fakeserver.Options{Secrets: fakeserver.MaskSecrets})
	config := func(argument string) string {
		return s.provider(documentedOnly) + deployment("app", "internal_docker", "deletion_policy = \"abandon\"\n  "+argument)
	}
	checkSecrets(t,
		resource.TestStep{Config: config(secretsArgument(false, 0, `A = "one"`))},
		resource.TestStep{Config: config(secretsArgument(true, 1, `A = "two"`)), ExpectError: rejected},
		resource.TestStep{Config: config(secretsArgument(true, 1, `A = "one"`))},
		planIsEmpty(config(secretsArgument(true, 1, `A = "one"`))),
	)
	assertDocumentedOperationsOnly(t, s)
}

// A plan does not get write-only values that are in ignore_changes: it rejects a
// new version of them, unless that is ignored, too.
func TestAccSecrets_ignoredWriteOnly(t *testing.T) {
	t.Parallel()
	s := newService(t, fakeserver.Options{Secrets: fakeserver.MaskSecrets})
	config := func(version int, ignored string) string {
		return s.provider(documentedOnly) + deployment("app", "internal_docker", "deletion_policy = \"abandon\"\n  "+secretsArgument(true, version, `A = "one"`)+"\n  lifecycle { ignore_changes = ["+ignored+"] }")
	}
	checkSecrets(t,
		resource.TestStep{Config: config(1, "")},
		resource.TestStep{Config: config(2, "secrets_wo"), PlanOnly: true, ExpectError: rejected},
		planIsEmpty(config(2, "secrets_wo_version")),
	)
}

func TestAccSecrets_unknownValuesAreSentAtApply(t *testing.T) {
	t.Parallel()
	s := newService(t, fakeserver.Options{})
	config := func(version int) string {
		return s.provider() + fmt.Sprintf("resource \"terraform_data\" \"value\" { input = \"value-%d\" }\n", version) +
			deployment("app", "internal_docker", secretsArgument(true, version, "A = terraform_data.value.output"))
	}
	checkSecrets(t, resource.TestStep{Config: config(1)}, resource.TestStep{Config: config(2)}, planIsEmpty(config(2)))
	if sent, want := fmt.Sprint(s.patches(t)), "[map[secrets:[map[name:A value:value-2]]]]"; sent != want {
		t.Errorf("sent %s, want %s", sent, want)
	}
}

func TestAccSecrets_writeOnlyAreSentWithNewVersion(t *testing.T) {
	t.Parallel()
	s := newService(t, fakeserver.Options{Secrets: fakeserver.MaskSecrets})
	config := func(version int, values string) string {
		return s.provider() + deployment("app", "internal_docker", secretsArgument(true, version, values))
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
