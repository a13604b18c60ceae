package provider_test

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/hashicorp/terraform-plugin-testing/helper/resource"

	"github.com/graphdeploy/terraform-provider-graphdeploy/internal/fakeserver"
)

func TestAccDeploymentsDataSource(t *testing.T) {
	t.Parallel()
	s := newService(t, fakeserver.Options{MaxPage: 7, RepeatLast: 1, ExtraFields: true})
	var ids []string
	for i := range 105 {
		ids = append(ids, s.SeedDeployment(map[string]any{"name": fmt.Sprintf("app-%03d", i), "image_version": strconv.Itoa(i % 2),
			"secrets": []any{map[string]any{"name": "KEY", "value": "planted"}}}))
	}
	quoted := `"` + strings.ToUpper(strings.Join(ids, `", "`)) + `"`
	const at = "data.graphdeploy_deployments."
	check(t, resource.TestStep{
		Config: s.provider() + `
data "graphdeploy_deployments" "all" {}
data "graphdeploy_deployments" "first" { max_results = 3 }
data "graphdeploy_deployments" "named" { name_contains = "APP-00" }
data "graphdeploy_deployments" "none" { deployment_ids = [] }
data "graphdeploy_deployments" "untagged" { tag_value_ids = [] }
data "graphdeploy_deployments" "by_id" { deployment_ids = [` + quoted + `] }
data "graphdeploy_deployments" "filtered" {
  status            = "READY"
  remote_reconciled = false
  image_version     = "1"
}
data "graphdeploy_deployments" "typed" {
  tag_value_ids   = ["b", "a"]
  deployment_type = "prod"
}`,
		Check: resource.ComposeAggregateTestCheckFunc(
			resource.TestCheckResourceAttr(at+"all", "deployments.#", "105"),
			resource.TestCheckResourceAttr(at+"all", "deployments.0.name", "app-000"),
			resource.TestCheckResourceAttr(at+"all", "deployments.104.name", "app-104"),
			resource.TestCheckResourceAttr(at+"all", "deployments.0.secret_names.0", "KEY"),
			resource.TestCheckNoResourceAttr(at+"all", "deployments.0.secrets"),
			resource.TestCheckResourceAttr(at+"first", "deployments.#", "3"),
			resource.TestCheckResourceAttr(at+"named", "deployments.#", "10"),
			resource.TestCheckResourceAttr(at+"none", "deployments.#", "0"),
			resource.TestCheckResourceAttr(at+"untagged", "deployments.#", "0"),
			resource.TestCheckResourceAttr(at+"by_id", "deployments.#", "105"),
			resource.TestCheckResourceAttr(at+"filtered", "deployments.#", "52"),
			resource.TestCheckResourceAttr(at+"typed", "deployments.#", "0"),
		),
	})
	for _, r := range s.Requests() {
		if r.Status != 200 {
			t.Errorf("%s?%s was answered with %d", r.Path, r.Query.Encode(), r.Status)
		}
	}
	assertDocumentedOperationsOnly(t, s)
}

func TestAccDeploymentsDataSourceMistakes(t *testing.T) {
	t.Parallel()
	for arguments, want := range map[string]string{
		`max_results = 0`:              `max_results is 0.*from 1 to`,
		`max_results = -5`:             `max_results is -5.*from 1 to`,
		`deployment_ids = ["x"]`:       `Not a UUID`,
		`deployment_ids = [null]`:      `(?i)null`,
		`deployment_type = "staging"`:  `deployment_type is "staging". It can be one of: dev_free, dev, prod`,
		`tag_value_ids = [""]`:         `tag_value_ids has an empty value`,
		`remote_reconciled = "maybe"`:  `(?i)bool`,
		"name = \"not an argument\"\n": `Unsupported argument`,
	} {
		t.Run(arguments, func(t *testing.T) {
			t.Parallel()
			s := newService(t, fakeserver.Options{})
			check(t, resource.TestStep{Config: s.provider() + "data \"graphdeploy_deployments\" \"x\" {\n" + arguments + "\n}", ExpectError: regexp.MustCompile(want)})
		})
	}
}

func TestAccDeploymentDataSource(t *testing.T) {
	t.Parallel()
	s := newService(t, fakeserver.Options{AllowDuplicateNames: true})
	id := s.SeedDeployment(map[string]any{"name": "app", "source": "codehost", "secrets": []any{map[string]any{"name": "KEY", "value": "planted"}}})
	s.SeedDeployment(map[string]any{"name": "app-2"})
	s.SeedDeployment(map[string]any{"name": "twin"})
	s.SeedDeployment(map[string]any{"name": "twin"})
	config := func(arguments string) string {
		return s.provider() + "data \"graphdeploy_deployment\" \"this\" {\n" + arguments + "\n}"
	}
	const at = "data.graphdeploy_deployment.this"
	found := resource.ComposeAggregateTestCheckFunc(
		resource.TestCheckResourceAttr(at, "name", "app"), resource.TestCheckResourceAttr(at, "source", "codehost"),
		resource.TestCheckResourceAttr(at, "secret_names.0", "KEY"), resource.TestCheckNoResourceAttr(at, "secrets.KEY"))
	check(t,
		resource.TestStep{Config: config(`id = "` + id + `"`), Check: found},
		resource.TestStep{Config: config(`id = "` + strings.ToUpper(id) + `"`), Check: found},
		resource.TestStep{Config: config(`name = "app"`), Check: resource.ComposeAggregateTestCheckFunc(found, resource.TestCheckResourceAttr(at, "id", id))},
		resource.TestStep{Config: config(`name = "ap"`), ExpectError: regexp.MustCompile(`No such deployment`)},
		resource.TestStep{Config: config(`name = "twin"`), ExpectError: regexp.MustCompile(`Several deployments of that name`)},
		resource.TestStep{Config: config(`id = "99999999-9999-4999-8999-999999999999"`), ExpectError: regexp.MustCompile(`No such deployment`)},
		resource.TestStep{Config: config(`id = "app"`), ExpectError: regexp.MustCompile(`Not a UUID`)},
		resource.TestStep{Config: config(``), ExpectError: regexp.MustCompile(`Neither id nor name`)},
		resource.TestStep{Config: config(`id = "` + id + `"` + "\n" + `name = "app"`), ExpectError: regexp.MustCompile(`Both id and name`)},
		resource.TestStep{Config: config(`name = "app"`)}, // destroying needs a valid one
	)
}

func TestAccCodehostDataSources(t *testing.T) {
	t.Parallel()
	s := newService(t, fakeserver.Options{ExtraFields: true})
	const integration = "ABCDEF00-2222-4333-8444-555555555555"
	s.SeedRepositories(strings.ToLower(integration),
		fakeserver.Repository{ID: 9007199254740993, Owner: "acme", Name: "web", URL: "https://code.example.com/acme/web", DefaultBranch: "main"},
		fakeserver.Repository{Owner: "acme", Name: "website", DefaultBranch: "trunk"},
		fakeserver.Repository{Owner: "globex", Name: "web"},
	)
	config := func(kind, arguments string) string {
		return s.provider() + "data \"" + kind + "\" \"this\" {\n  integration_id = \"" + integration + "\"\n" + arguments + "\n}"
	}
	const repos, repo = "data.graphdeploy_codehost_repos.this", "data.graphdeploy_codehost_repo.this"
	check(t,
		resource.TestStep{Config: config("graphdeploy_codehost_repos", ""), Check: resource.ComposeAggregateTestCheckFunc(
			resource.TestCheckResourceAttr(repos, "repos.#", "3"),
			resource.TestCheckResourceAttr(repos, "repos.0.id", "9007199254740993"),
			resource.TestCheckResourceAttr(repos, "repos.1.default_branch", "trunk"),
		)},
		resource.TestStep{Config: config("graphdeploy_codehost_repos", `owner = "acme"`+"\n"+`name_contains = "site"`), Check: resource.ComposeAggregateTestCheckFunc(
			resource.TestCheckResourceAttr(repos, "repos.#", "1"), resource.TestCheckResourceAttr(repos, "repos.0.name", "website"))},
		resource.TestStep{Config: config("graphdeploy_codehost_repos", `owner = "nobody"`), Check: resource.TestCheckResourceAttr(repos, "repos.#", "0")},
		resource.TestStep{Config: config("graphdeploy_codehost_repo", `owner = "acme"`+"\n"+`name = "web"`), Check: resource.ComposeAggregateTestCheckFunc(
			resource.TestCheckResourceAttr(repo, "url", "https://code.example.com/acme/web"),
			resource.TestCheckResourceAttr(repo, "default_branch", "main"),
			resource.TestCheckResourceAttr(repo, "host_integration_id", strings.ToLower(integration)),
		)},
		resource.TestStep{Config: config("graphdeploy_codehost_repo", `owner = "ACME"`+"\n"+`name = "web"`), ExpectError: regexp.MustCompile(`(?s)No such repository.*acme/web`)},
		resource.TestStep{Config: config("graphdeploy_codehost_repo", `owner = "acme"`), ExpectError: regexp.MustCompile(`"name" is required`)},
		resource.TestStep{Config: s.provider() + "data \"graphdeploy_codehost_repos\" \"x\" {\n  integration_id = \"42\"\n}", ExpectError: regexp.MustCompile(`Not a UUID`)},
		resource.TestStep{Config: s.provider() + "data \"graphdeploy_codehost_repos\" \"x\" {\n  integration_id = \"99999999-2222-4333-8444-555555555555\"\n}", ExpectError: regexp.MustCompile(`(?s)404.*Check integration_id`)},
	)
	assertDocumentedOperationsOnly(t, s)
}

func TestAccOAuthProvidersDataSource(t *testing.T) {
	t.Parallel()
	s := newService(t, fakeserver.Options{ExtraFields: true})
	s.SeedOAuthProviders(
		map[string]any{"id": "1", "provider_id": "codehost", "name": "Code host", "uses_pkce": true, "code_challenge_method": "S256", "token_endpoint_auth_method": "none", "is_dynamic_client": true, "mcp_server_url": "https://mcp.example.com"},
		map[string]any{"id": "2", "provider_id": "chat", "name": "Chat"},
	)
	const at = "data.graphdeploy_oauth_providers.this"
	check(t,
		resource.TestStep{Config: s.provider() + `data "graphdeploy_oauth_providers" "this" {}`, Check: resource.ComposeAggregateTestCheckFunc(
			resource.TestCheckResourceAttr(at, "oauth_providers.#", "2"),
			resource.TestCheckResourceAttr(at, "oauth_providers.0.token_endpoint_auth_method", "none"),
			resource.TestCheckResourceAttr(at, "oauth_providers.0.is_dynamic_client", "true"),
			resource.TestCheckResourceAttr(at, "oauth_providers.0.mcp_server_url", "https://mcp.example.com"),
			resource.TestCheckResourceAttr(at, "oauth_providers.1.token_endpoint_auth_method", "client_secret_post"),
			resource.TestCheckResourceAttr(at, "oauth_providers.1.is_dynamic_client", "false"),
			resource.TestCheckNoResourceAttr(at, "oauth_providers.1.mcp_server_url"),
		)},
		resource.TestStep{Config: s.provider() + "data \"graphdeploy_oauth_providers\" \"this\" {\n  provider_id = \"chat\"\n}", Check: resource.ComposeAggregateTestCheckFunc(
			resource.TestCheckResourceAttr(at, "oauth_providers.#", "1"), resource.TestCheckResourceAttr(at, "oauth_providers.0.id", "2"))},
	)
	assertDocumentedOperationsOnly(t, s)
}
