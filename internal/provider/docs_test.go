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

	"github.com/graphdeploy/terraform-provider-graphdeploy/internal/fakeserver"
)

// What the docs show is copied: these tests verify that it is valid, and that the
// examples at the top of the pages work.

var (
	blocks      = regexp.MustCompile("(?ms)^```terraform\n(.*?)^```$")
	usedOf      = regexp.MustCompile(`\bvar\.(\w+)`)
	importedTo  = regexp.MustCompile(`(?m)^  to += graphdeploy_deployment\.(\w+)$`)
	declaration = `(?m)^(?:variable|resource "graphdeploy_deployment"|data "graphdeploy_codehost_repo") "%s"`
)

// completed adds what a code block refers to.
func completed(block string) string {
	declared := func(name string) bool {
		return regexp.MustCompile(fmt.Sprintf(declaration, name)).MatchString(block)
	}
	if !strings.Contains(block, "required_providers") {
		block = fromOurSource + block
	}
	for _, match := range usedOf.FindAllStringSubmatch(block, -1) {
		if !declared(match[1]) {
			block += fmt.Sprintf("variable %q {}\n", match[1])
		}
	}
	for _, match := range importedTo.FindAllStringSubmatch(block, -1) {
		if !declared(match[1]) {
			block += fmt.Sprintf("resource \"graphdeploy_deployment\" %q {\n  name = \"x\"\n  source = \"codehost\"\n}\n",
				match[1])
		}
	}
	// Terraform validates the settings of a provider only where something uses it.
	return block + "\ndata \"graphdeploy_oauth_providers\" \"completes\" {}\n"
}

func TestAccDocs_codeBlocksAreValid(t *testing.T) {
	terraformSince(t, 1, 11)
	is := terraformIs(t)
	built := buildProvider(t)
	t.Parallel()
	n := 0
	for path, text := range pages(t) {
		for i, match := range blocks.FindAllStringSubmatch(text, -1) {
			block, file, args := match[1], "main.tf", []string{"validate"}
			switch {
			case strings.Contains(block, "  # ...\n"):
				continue // a part of a resource
			case strings.Contains(block, "  identity = ") && !is.since(1, 12):
				continue
			case (strings.Contains(block, "\naction \"") || strings.Contains(block, "action_trigger")) &&
				(is.tofu || !is.since(1, 14)):
				continue
			case strings.HasPrefix(block, "list "):
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
					block = completed(block)
				} else {
					w.configure()
				}
				w.must(os.WriteFile(filepath.Join(w.dir, file), []byte(block), 0o600))
				w.succeed(args...)
			})
		}
	}
	if n < 20 {
		t.Errorf("%d code blocks were validated", n)
	}
}

// newDocsService has what the examples on the pages read.
func newDocsService(t *testing.T) *service {
	t.Helper()
	s := newService(t, fakeserver.Options{})
	s.SeedRepositories("6f2c8a9e-3b1d-4c7f-9a52-0d8e4b6f1c37",
		fakeserver.Repository{Owner: "acme", Name: "shop"}, fakeserver.Repository{Owner: "globex", Name: "search"})
	s.SeedOAuthProviders(map[string]any{"provider_id": "calendar", "name": "Calendar"},
		map[string]any{"provider_id": "mail", "name": "Mail"})
	return s
}

func TestAccDataSourceExamples_outputs(t *testing.T) {
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
				t.Errorf("the outputs lack %s, or contain too much:\n%s", want, out)
			}
		})
	}
	entries, err := os.ReadDir(filepath.Join(examplesFolder, "data-sources"))
	if err != nil || len(entries) != 5 {
		t.Errorf("there are %d examples of data sources (%v)", len(entries), err)
	}
}

func TestAccProviderAndResourceExamples_applyAndPlanEmpty(t *testing.T) {
	terraformSince(t, 1, 11)
	built := buildProvider(t)
	t.Parallel()
	for file, want := range map[string][]string{
		"provider/provider.tf":                         {"hello"},
		"resources/graphdeploy_deployment/resource.tf": {"shop"},
		"resources/graphdeploy_deployment/image.tf":    {"worker"},
		"resources/graphdeploy_deployment/secrets.tf":  {"payments"},
		"resources/graphdeploy_deployment/redeploy.tf": {"docs"},
		"resources/graphdeploy_deployment/gate.tf":     {"search"},
	} {
		t.Run(file, func(t *testing.T) {
			t.Parallel()
			s := newDocsService(t)
			w := newWorkspace(t, built, "GRAPHDEPLOY_BASE_URL="+s.url, "GRAPHDEPLOY_API_KEY=planted",
				"TF_VAR_payment_key=planted", "TF_VAR_commit=0123456789abcdef0123456789abcdef01234567")
			text, err := os.ReadFile(filepath.Join(examplesFolder, file))
			w.must(err)
			// Its base_url is an example, too.
			block := strings.ReplaceAll(string(text), `"https://deploy.example.com/api"`, fmt.Sprintf("%q", s.url))
			w.must(os.WriteFile(filepath.Join(w.dir, "main.tf"), []byte(completed(block)), 0o600))
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

// Terraform silently ignores unknown names in nested objects.
func TestAccMisspelledNestedName_isAWarning(t *testing.T) {
	built := buildProvider(t)
	t.Parallel()
	s := newService(t, fakeserver.Options{})
	w := newWorkspace(t, built)
	w.configure(s.provider(),
		deployment("app", "codehost", `source_config = { repo_urll = "https://codehost.example.com/acme/app" }
  source_revision_config = { graph_config_path = "graph.json" }`))
	out := unwrapped(w.succeed("apply", "-auto-approve"))
	if !strings.Contains(out, "Warning: Names may be misspelled") || !strings.Contains(out, "source_config.repo_url") {
		t.Errorf("there is no warning about the spelling:\n%s", out)
	}
	w.succeed("plan", "-detailed-exitcode")
	if sent := s.body(t)["source_config"]; !jsonEqual(sent, map[string]any{}) {
		t.Errorf("sent %v", sent)
	}
}
