//go:build unix

package provider_test

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/hashicorp/terraform-plugin-testing/helper/resource"
	"github.com/hashicorp/terraform-plugin-testing/plancheck"
	"github.com/hashicorp/terraform-plugin-testing/tfjsonpath"

	"github.com/graphdeploy/terraform-provider-graphdeploy/internal/fakeserver"
)

// What the docs show is copied. These tests hold that it is valid, and that the
// examples that the pages begin with do what the pages say.

var (
	blocks      = regexp.MustCompile("(?ms)^```terraform\n(.*?)^```$")
	usedOf      = regexp.MustCompile(`\bvar\.(\w+)`)
	importedTo  = regexp.MustCompile(`(?m)^  to += graphdeploy_deployment\.(\w+)$`)
	declaration = `(?m)^(?:variable|resource "graphdeploy_deployment"|data "graphdeploy_codehost_repo") "%s"`
)

// completed adds what a piece of a page takes from elsewhere.
func completed(piece string) string {
	declared := func(name string) bool {
		return regexp.MustCompile(fmt.Sprintf(declaration, name)).MatchString(piece)
	}
	if !strings.Contains(piece, "required_providers") {
		piece = fromOurSource + piece
	}
	for _, match := range usedOf.FindAllStringSubmatch(piece, -1) {
		if !declared(match[1]) {
			piece += fmt.Sprintf("variable %q {}\n", match[1])
		}
	}
	for _, match := range importedTo.FindAllStringSubmatch(piece, -1) {
		if !declared(match[1]) {
			piece += fmt.Sprintf("resource \"graphdeploy_deployment\" %q {\n  name = \"x\"\n  source = \"codehost\"\n}\n", match[1])
		}
	}
	// Terraform looks at the settings of a provider only where something uses it.
	return piece + "\ndata \"graphdeploy_oauth_providers\" \"completes\" {}\n"
}

func TestAccWhatTheDocsShowIsValid(t *testing.T) {
	terraformSince(t, 1, 11)
	is := terraformIs(t)
	built := buildProvider(t)
	t.Parallel()
	n := 0
	for path, text := range pages(t) {
		for i, match := range blocks.FindAllStringSubmatch(text, -1) {
			piece, file, args := match[1], "main.tf", []string{"validate"}
			switch {
			case strings.Contains(piece, "  # ...\n"):
				continue // a part of a resource
			case strings.Contains(piece, "  identity = ") && !is.since(1, 12):
				continue
			case strings.HasPrefix(piece, "list "):
				if is.tofu || !is.since(1, 14) {
					continue
				}
				file, args = "these.tfquery.hcl", append(args, "-query")
			}
			n++
			t.Run(fmt.Sprintf("%s %d", path, i+1), func(t *testing.T) {
				t.Parallel()
				w := newWorkspace(t, built)
				if file == "main.tf" {
					piece = completed(piece)
				} else {
					w.configure()
				}
				w.must(os.WriteFile(filepath.Join(w.dir, file), []byte(piece), 0o600))
				w.succeed(args...)
			})
		}
	}
	if n < 20 {
		t.Errorf("%d pieces were looked at", n)
	}
}

// newDocsService has what the examples of the pages look for.
func newDocsService(t *testing.T) *service {
	t.Helper()
	s := newService(t, fakeserver.Options{})
	s.SeedRepositories("6f2c8a9e-3b1d-4c7f-9a52-0d8e4b6f1c37",
		fakeserver.Repository{Owner: "acme", Name: "shop"}, fakeserver.Repository{Owner: "globex", Name: "search"})
	s.SeedOAuthProviders(map[string]any{"provider_id": "calendar", "name": "Calendar"}, map[string]any{"provider_id": "mail", "name": "Mail"})
	return s
}

func TestAccExamplesOfTheDataSourcesWork(t *testing.T) {
	built := buildProvider(t)
	t.Parallel()
	for name, want := range map[string]string{
		"graphdeploy_codehost_repo":   `default_branch = "main"`,
		"graphdeploy_codehost_repos":  `"shop" = "https://`,
		"graphdeploy_deployment":      `shop_status = "READY"`,
		"graphdeploy_deployments":     `"shop" = "registry.example/shop:1"`,
		"graphdeploy_oauth_providers": `"Mail"`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newDocsService(t)
			s.SeedDeployment(map[string]any{"name": "shop", "deployment_type": "prod"})
			s.SeedDeployment(map[string]any{"name": "shop-old", "deployment_type": "dev"})
			w := newWorkspace(t, built, "GRAPHDEPLOY_BASE_URL="+s.url)
			w.configure()
			w.copy(filepath.Join(examplesFolder, "data-sources", name))
			if out := w.succeed("apply", "-auto-approve"); !strings.Contains(out, want) || strings.Contains(out, "shop-old") {
				t.Errorf("the outputs do not have %s, or have too much:\n%s", want, out)
			}
		})
	}
	entries, err := os.ReadDir(filepath.Join(examplesFolder, "data-sources"))
	if err != nil || len(entries) != 5 {
		t.Errorf("there are %d examples of data sources (%v)", len(entries), err)
	}
}

func TestAccExamplesOfTheProviderAndTheResourceWork(t *testing.T) {
	terraformSince(t, 1, 11)
	built := buildProvider(t)
	t.Parallel()
	for file, want := range map[string][]string{
		"provider/provider.tf":                         {"hello"},
		"resources/graphdeploy_deployment/resource.tf": {"payments", "shop"},
	} {
		t.Run(file, func(t *testing.T) {
			t.Parallel()
			s := newDocsService(t)
			w := newWorkspace(t, built, "GRAPHDEPLOY_BASE_URL="+s.url, "GRAPHDEPLOY_API_KEY=planted", "TF_VAR_payment_key=planted")
			text, err := os.ReadFile(filepath.Join(examplesFolder, file))
			w.must(err)
			// Its service is an example, too.
			piece := strings.ReplaceAll(string(text), `"https://deploy.example.com/api"`, fmt.Sprintf("%q", s.url))
			w.must(os.WriteFile(filepath.Join(w.dir, "main.tf"), []byte(completed(piece)), 0o600))
			w.succeed("apply", "-auto-approve")
			w.succeed("plan", "-detailed-exitcode") // it ends with 2 if there are changes
			var names []string
			for _, d := range s.Deployments() {
				names = append(names, d["name"].(string))
			}
			if slices.Sort(names); !slices.Equal(names, want) {
				t.Errorf("the service has %v, want %v", names, want)
			}
		})
	}
}

// What the guides warn of is Terraform's doing, and none of the provider's.
func TestAccTypoInANestedNameIsDropped(t *testing.T) {
	t.Parallel()
	s := newService(t, fakeserver.Options{})
	config := s.provider() + deployment("app", "codehost", `source_config = { repo_urll = "https://codehost.example.com/acme/app" }`)
	check(t,
		resource.TestStep{Config: s.provider() + deployment("app", "codehost", `sorce_config = {}`), ExpectError: regexp.MustCompile(`Unsupported argument`)},
		resource.TestStep{Config: config, ConfigPlanChecks: resource.ConfigPlanChecks{PreApply: []plancheck.PlanCheck{
			plancheck.ExpectUnknownValue(this, tfjsonpath.New("source_config").AtMapKey("repo_url")),
		}}},
		planIsEmpty(config),
	)
	if sent := s.body(t)["source_config"]; !jsonEqual(sent, map[string]any{}) {
		t.Errorf("sent %v", sent)
	}
}
