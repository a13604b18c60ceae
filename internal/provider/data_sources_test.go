package provider_test

import (
	"fmt"
	"reflect"
	"strconv"
	"strings"
	"testing"

	"github.com/hashicorp/terraform-plugin-testing/helper/resource"

	"github.com/graphdeploy/terraform-provider-graphdeploy/internal/fakeserver"
	"github.com/graphdeploy/terraform-provider-graphdeploy/internal/protocoltest"
)

const (
	deploymentsType = "graphdeploy_deployments"
	reposType       = "graphdeploy_codehost_repos"
	repoType        = "graphdeploy_codehost_repo"
)

// mustRead reads a data source, which may not report anything.
func (p *protocol) mustRead(typ string, config object) object {
	p.t.Helper()
	state, diags := p.ReadData(typ, config)
	p.ExpectNone(diags)
	if state == nil {
		p.t.FailNow()
	}
	return state
}

// column is an attribute of each item of a list.
func column(items any, name string) (values list) {
	for _, item := range items.(list) {
		values = append(values, item.(object)[name])
	}
	return values
}

func TestDeployments_filters(t *testing.T) {
	t.Parallel()
	s := newService(t, fakeserver.Options{MaxPage: 7, RepeatLast: 1, ExtraFields: true})
	var ids, names list
	for i := range 105 {
		names = append(names, fmt.Sprintf("app-%03d", i))
		ids = append(ids,
			strings.ToUpper(s.SeedDeployment(map[string]any{"name": names[i], "image_version": strconv.Itoa(i % 2),
				"secrets": []any{map[string]any{"name": "KEY", "value": "planted"}}})))
	}
	var odd list
	for i := 1; i < 105; i += 2 {
		odd = append(odd, names[i])
	}
	p := newProtocol(t, s)
	for name, c := range map[string]struct {
		config object
		want   list
	}{
		"all":      {object{}, names},
		"maximum":  {object{"max_results": 3}, names[:3]},
		"name":     {object{"name_contains": "APP-00"}, names[:10]},
		"no ids":   {object{"deployment_ids": list{}}, nil},
		"no tags":  {object{"tag_value_ids": list{}}, nil},
		"ids":      {object{"deployment_ids": ids}, names},
		"filtered": {object{"status": "READY", "remote_reconciled": false, "image_version": "1"}, odd},
		"tags":     {object{"tag_value_ids": list{"b", "a"}, "deployment_type": "prod"}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			state := p.mustRead(deploymentsType, c.config)
			if got := column(state["deployments"], "name"); !reflect.DeepEqual(got, c.want) {
				t.Errorf("deployments: %v, want %v", got, c.want)
			}
			for _, secrets := range column(state["deployments"], "secret_names") {
				if !reflect.DeepEqual(secrets, list{"KEY"}) {
					t.Errorf("secret_names: %v", secrets)
				}
			}
			if strings.Contains(fmt.Sprint(state), "planted") {
				t.Error("a value of a secret is shown")
			}
		})
	}
	for _, r := range s.Requests() {
		if r.Status != 200 {
			t.Errorf("%s?%s has status %d", r.Path, r.Query.Encode(), r.Status)
		}
	}
}

func TestDataSources_invalidArgumentIsAnErrorAtTheAttribute(t *testing.T) {
	t.Parallel()
	s := newService(t, fakeserver.Options{})
	p := newProtocol(t, s)
	for name, c := range map[string]struct {
		typ    string
		config object
		want   protocoltest.Message
	}{
		"max_results": {deploymentsType, object{"max_results": 0},
			protocoltest.Error("Invalid number", "max_results", "max_results must be", "got 0.")},
		"negative max_results": {deploymentsType, object{"max_results": -5},
			protocoltest.Error("Invalid number", "max_results", "got -5.")},
		"deployment_ids": {deploymentsType, object{"deployment_ids": list{"x"}},
			protocoltest.Error("Invalid UUID", "", "deployment_ids", `got "x"`)},
		"null in deployment_ids": {deploymentsType, object{"deployment_ids": list{nil}},
			protocoltest.Error("Null value", "", "deployment_ids")},
		"deployment_type": {deploymentsType, object{"deployment_type": "staging"},
			protocoltest.Error("Invalid value", "deployment_type", `must be one of: dev_free, dev, prod; got "staging"`)},
		"empty tag": {deploymentsType, object{"tag_value_ids": list{""}},
			protocoltest.Error("Empty value", "", "tag_value_ids")},
		"tag with a comma": {deploymentsType, object{"tag_value_ids": list{"a,b"}},
			protocoltest.Error("Comma in a value", "", "tag_value_ids", `"a,b"`)},
		"neither id nor name": {typeName, object{}, protocoltest.Error("Missing Attribute Configuration", "", "[id,name]")},
		"id and name": {typeName, object{"id": fakeserver.DemoIntegrationID, "name": "app"},
			protocoltest.Error("Invalid Attribute Combination", "id", "[id,name]")},
		"id":         {typeName, object{"id": "app"}, protocoltest.Error("Invalid UUID", "id", `got "app"`)},
		"empty name": {typeName, object{"name": ""}, protocoltest.Error("Empty value", "name")},
		"integration_id": {reposType, object{"integration_id": "42"},
			protocoltest.Error("Invalid UUID", "integration_id", `got "42"`)},
		"empty owner": {repoType, object{"integration_id": fakeserver.DemoIntegrationID, "owner": "", "name": "x"},
			protocoltest.Error("Empty value", "owner")},
	} {
		t.Run(name, func(t *testing.T) {
			_, diags := p.ReadData(c.typ, c.config)
			protocoltest.Expect(t, diags, c.want)
		})
	}
	if n := len(s.Requests()); n != 0 {
		t.Errorf("%d requests were sent, want none", n)
	}
}

func TestDeployment_isReadByIDOrExactName(t *testing.T) {
	t.Parallel()
	s := newService(t, fakeserver.Options{})
	id := s.SeedDeployment(map[string]any{"name": "app", "source": "codehost",
		"secrets": []any{map[string]any{"name": "KEY", "value": "planted"}}})
	s.SeedDeployment(map[string]any{"name": "app-2"})
	twins := []string{s.SeedDeployment(map[string]any{"name": "twin"}),
		s.SeedDeployment(map[string]any{"name": "twin", "status": "UNUSED"})}
	p := newProtocol(t, s)
	for _, config := range []object{{"id": id}, {"id": strings.ToUpper(id)}, {"name": "app"}} {
		state := p.mustRead(typeName, config)
		if state["name"] != "app" || state["source"] != "codehost" || !strings.EqualFold(state["id"].(string), id) ||
			!reflect.DeepEqual(state["secret_names"], list{"KEY"}) {
			t.Errorf("%v: %v", config, state)
		}
		for argument, value := range config {
			if state[argument] != value {
				t.Errorf("%s is %v, want %v, as it was written", argument, state[argument], value)
			}
		}
	}
	for name, c := range map[string]struct {
		config object
		want   protocoltest.Message
	}{
		"part of a name": {object{"name": "ap"}, protocoltest.Error("No such deployment", "name", `"ap" (case-sensitive)`)},
		"other case":     {object{"name": "APP"}, protocoltest.Error("No such deployment", "name", `"APP" (case-sensitive)`)},
		"two": {object{"name": "twin"}, protocoltest.Error("Multiple deployments with that name", "name", twins[0], twins[1],
			"status UNUSED")},
		"unknown id": {object{"id": "99999999-9999-4999-8999-999999999999"},
			protocoltest.Error("No such deployment", "id", "99999999-9999-4999-8999-999999999999")},
	} {
		t.Run(name, func(t *testing.T) {
			_, diags := p.ReadData(typeName, c.config)
			protocoltest.Expect(t, diags, c.want)
		})
	}
}

// id and name may be unknown while the configuration is validated.
func TestAccDeploymentDataSource_checksIDAndNameOnceTheyAreKnown(t *testing.T) {
	t.Parallel()
	s := newService(t, fakeserver.Options{})
	id := s.SeedDeployment(map[string]any{"name": "app"})
	check(t, resource.TestStep{
		Config: s.provider() + fmt.Sprintf(`
resource "terraform_data" "known" {
  input = { id = %q, name = "app" }
}
data "graphdeploy_deployment" "this" {
  id   = terraform_data.known.output.id
  name = terraform_data.known.output.name
}`, id),
		ExpectError: errorPattern("Invalid Attribute Combination",
			"Exactly one of these attributes must be configured: [id,name]"),
	})
}

func TestDeploymentDataSources_showUnknownProperties(t *testing.T) {
	t.Parallel()
	s := newService(t, fakeserver.Options{KeepUnknown: true})
	id := s.SeedDeployment(map[string]any{"name": "app", "app_url": "https://app.example.com",
		"source_config": map[string]any{"deployment_type": "prod",
			"resource_spec": map[string]any{"gpu": 1, "sidecars": []any{map[string]any{"name": "s", "tty": true}}}}})
	p := newProtocol(t, s)
	one := p.mustRead(typeName, object{"id": id})["additional_properties"]
	all := column(p.mustRead(deploymentsType, object{})["deployments"], "additional_properties")
	for _, got := range append(all, one) {
		var want any = map[string]any{"app_url": "https://app.example.com",
			"source_config": map[string]any{"deployment_type": "prod",
				"resource_spec": map[string]any{"gpu": 1.0, "sidecars": []any{map[string]any{"tty": true}}}}}
		if tree := parseJSON(t, got.(string)); !jsonEqual(tree, want) {
			t.Errorf("additional_properties is %s, want %v", got, want)
		}
	}
	other := newService(t, fakeserver.Options{})
	other.SeedDeployment(map[string]any{"name": "app"})
	if got := newProtocol(t, other).mustRead(typeName, object{"name": "app"})["additional_properties"]; got != "{}" {
		t.Errorf("additional_properties is %v, want {} if there are none", got)
	}
}

// The interface calls labels an object: a value may be of any type.
func TestDeploymentDataSources_labelThatIsNoString(t *testing.T) {
	t.Parallel()
	s := newService(t, fakeserver.Options{})
	s.SeedDeployment(map[string]any{"name": "app", "source_config": map[string]any{"resource_spec": map[string]any{
		"labels": map[string]any{"number": 42, "flag": true, "none": nil, "list": []any{"a"}, "text": "x"}}}})
	p := newProtocol(t, s)
	want := object{"number": "42", "flag": "true", "list": `["a"]`, "text": "x"}
	for _, config := range column(p.mustRead(deploymentsType, object{})["deployments"], "source_config") {
		if got := config.(object)["resource_spec"].(object)["labels"]; !reflect.DeepEqual(got, want) {
			t.Errorf("labels: %v, want %v", got, want)
		}
	}
	p.MustApply(typeName, nil, object{"name": "other", "source": "internal_docker"}) // is not impeded
}

func TestDeploymentDataSources_unreadableDeploymentIsNamedAndImpedesNoOther(t *testing.T) {
	t.Parallel()
	s := newService(t, fakeserver.Options{})
	bad := s.SeedDeployment(map[string]any{"name": "bad",
		"source_config": map[string]any{"resource_spec": map[string]any{"memory_mb": 0.5}}})
	good := s.SeedDeployment(map[string]any{"name": "bad-2"})
	p := newProtocol(t, s)
	p.mustRead(typeName, object{"id": good})
	p.mustRead(typeName, object{"name": "bad-2"})
	p.MustApply(typeName, nil, object{"name": "ba", "source": "internal_docker"})
	_, diags := p.ReadData(deploymentsType, object{})
	protocoltest.Expect(t, diags, protocoltest.Error("Cannot list deployments", "", bad, "memory_mb", "0.5",
		"GET /v2/deployments"))
	_, diags = p.ReadData(typeName, object{"name": "bad"})
	protocoltest.Expect(t, diags, protocoltest.Error(`Cannot look up deployment "bad"`, "", bad, "memory_mb"))
}

// Text of the service reaches a terminal without control characters.
// What the service chooses reaches the state of data sources and of the resource
// without what a terminal would act on, and bounded: Terraform prints heredocs raw.
func TestDeployment_chosenValuesAreFitForATerminal(t *testing.T) {
	t.Parallel()
	const hostile, escaped = "a\x1b[2Jb\u009bc\u202ed\re", `a\u001b[2Jb\u009bc\u202ed\re`
	long := strings.Repeat("x", 10_000)
	s := newService(t, fakeserver.Options{})
	id := s.SeedDeployment(map[string]any{"name": hostile, "status": "READY\n" + hostile, "image_version": hostile + long,
		"source_config": map[string]any{"custom_url": hostile + "\n" + long,
			"resource_spec": map[string]any{"labels": map[string]any{hostile: hostile}}},
		"source_revision_config": map[string]any{"image_uri": hostile + long}})
	p := newProtocol(t, s)
	chosen := []string{"status", "image_version", "source_config.custom_url", "source_revision_config.image_uri"}
	check := func(where string, state object, names ...string) {
		t.Helper()
		for _, name := range names {
			var value any = state
			for _, step := range strings.Split(name, ".") {
				value = value.(object)[step]
			}
			if text := value.(string); strings.ContainsAny(text, "\x1b\u009b\u202e\r") || !strings.Contains(text, escaped) ||
				len(text) > 2100 {
				t.Errorf("%s of the %s is %q", name, where, text)
			}
		}
	}
	data := p.mustRead(typeName, object{"id": id})
	check("data source", data, append(chosen, "name")...)
	spec := data["source_config"].(object)["resource_spec"].(object)
	if labels := spec["labels"].(object); len(labels) != 1 || labels[escaped] != escaped {
		t.Errorf("the labels are %q", labels)
	}
	r, diags := p.Import(typeName, id)
	p.ExpectNone(diags)
	check("resource", p.Values(r), chosen...)
	results := p.list(-1, 0, false, nil)
	if len(results) != 1 || results[0].DisplayName != escaped {
		t.Errorf("display name is %q, want %q", results[0].DisplayName, escaped)
	}
	_, diags = p.Plan(typeName, nil, object{"name": hostile, "source": "internal_docker"})
	assertHidden(t, diags, "\x1b", "\u009b", "\u202e", "\r")
	protocoltest.Expect(t, diags, protocoltest.Warning("Deployment name is in use", "name", id))
}

func TestDeploymentDataSources_showNoMemberNamedSecrets(t *testing.T) {
	t.Parallel()
	s := newService(t, fakeserver.Options{KeepUnknown: true})
	id := s.SeedDeployment(map[string]any{"name": "app", "extra": map[string]any{
		"url": "u", "secrets": "planted",
		"list": []any{map[string]any{"Secrets": map[string]any{"A": "planted"}, "b": "c"}}}})
	state := newProtocol(t, s).mustRead(typeName, object{"id": id})
	if got, want := state["additional_properties"], `{"extra":{"list":[{"b":"c"}],"url":"u"}}`; got != want {
		t.Errorf("additional_properties is %s, want %s", got, want)
	}
}

func TestDeployments_unknownStatusIsRejected(t *testing.T) {
	t.Parallel()
	_, diags := newProtocol(t, newService(t, fakeserver.Options{})).ReadData("graphdeploy_deployments",
		object{"status": "ready"})
	protocoltest.Expect(t, diags, protocoltest.Error("Invalid value", "status", `"ready"`,
		"AWAITING_DATABASE, READY, UNUSED, AWAITING_DELETE, UNKNOWN"))
}

// An outage during an import by name does not read as if there was no deployment.
func TestImport_outageDuringALookupIsReported(t *testing.T) {
	t.Parallel()
	s := newService(t, fakeserver.Options{})
	p := newProtocol(t, s, object{"max_retries": 0})
	const name = "123e4567-e89b-12d3-a456-426614174000" // looks like an ID
	s.Fail(fakeserver.ListDeployments, 1, fakeserver.Fault{})
	s.Fail(fakeserver.ListDeployments, -1, fakeserver.Fault{Status: 503})
	_, diags := p.Import(typeName, name)
	protocoltest.Expect(t, diags, protocoltest.Error("Cannot read deployment "+name, "", "503 Service Unavailable"))
}

func TestRepositories(t *testing.T) {
	t.Parallel()
	s := newService(t, fakeserver.Options{ExtraFields: true})
	const integration = "ABCDEF00-2222-4333-8444-555555555555"
	s.SeedRepositories(strings.ToLower(integration),
		fakeserver.Repository{ID: 4503599627370497, Owner: "acme", Name: "web", URL: "https://code.example.com/acme/web",
			DefaultBranch: "main"},
		fakeserver.Repository{Owner: "acme", Name: "website", DefaultBranch: "trunk"},
		fakeserver.Repository{Owner: "globex", Name: "web"},
	)
	p := newProtocol(t, s)
	for name, c := range map[string]struct {
		config object
		want   list
	}{
		"all":      {object{}, list{"web", "website", "web"}},
		"filtered": {object{"owner": "acme", "name_contains": "site"}, list{"website"}},
		"nobody":   {object{"owner": "nobody"}, nil},
	} {
		c.config["integration_id"] = integration
		if got := column(p.mustRead(reposType, c.config)["repos"], "name"); !reflect.DeepEqual(got, c.want) {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
	}
	config := func(owner, name string) object {
		return object{"integration_id": integration, "owner": owner, "name": name}
	}
	want := object{"integration_id": integration, "host_integration_id": strings.ToLower(integration),
		"id": 4503599627370497.0, "owner": "acme", "name": "web",
		"url": "https://code.example.com/acme/web", "default_branch": "main"}
	if got := p.mustRead(repoType, config("acme", "web")); !reflect.DeepEqual(got, want) {
		t.Errorf("the repository is %v, want %v", got, want)
	}
	_, diags := p.ReadData(repoType, config("ACME", "web"))
	protocoltest.Expect(t, diags, protocoltest.Error("No such repository", "name", "case-sensitive", "acme/web"))
	_, diags = p.ReadData(repoType, config("nobody", "web"))
	protocoltest.Expect(t, diags, protocoltest.Error("No such repository", "owner", "Check the owner", "globex/web"))
	const other = "99999999-2222-4333-8444-555555555555"
	_, diags = p.ReadData(reposType, object{"integration_id": other})
	protocoltest.Expect(t, diags, protocoltest.Error("Cannot list the repositories of integration "+other, "",
		"404 Not Found", "Check integration_id"))
}

func TestRepositories_emptyOwnerImpedesNoOther(t *testing.T) {
	t.Parallel()
	s := newService(t, fakeserver.Options{})
	s.Fail(fakeserver.ListRepositories, -1, fakeserver.Fault{Body: `[
  {"host_integration_id": "` + fakeserver.DemoIntegrationID + `", "id": 1, "name": "orphan", "owner": "",
   "url": "https://x.example/orphan", "default_branch": ""},
  {"host_integration_id": "` + fakeserver.DemoIntegrationID + `", "id": 2, "name": "web", "owner": "acme",
   "url": "https://x.example/web", "default_branch": "main"}]`})
	p := newProtocol(t, s)
	if got := column(p.mustRead(reposType, object{"integration_id": fakeserver.DemoIntegrationID})["repos"],
		"owner"); !reflect.DeepEqual(got, list{"", "acme"}) {
		t.Errorf("owners: %v", got)
	}
	if got := p.mustRead(repoType, object{"integration_id": fakeserver.DemoIntegrationID, "owner": "acme",
		"name": "web"})["id"]; got != 2.0 {
		t.Errorf("id is %v, want 2", got)
	}
}

func TestOAuthProviders(t *testing.T) {
	t.Parallel()
	s := newService(t, fakeserver.Options{ExtraFields: true})
	s.SeedOAuthProviders(
		map[string]any{"id": "1", "provider_id": "codehost", "name": "Code host", "uses_pkce": true,
			"code_challenge_method": "S256", "token_endpoint_auth_method": "none", "is_dynamic_client": true,
			"mcp_server_url": "https://mcp.example.com"},
		map[string]any{"id": "2", "provider_id": "chat", "name": "Chat"},
	)
	p := newProtocol(t, s)
	all := p.mustRead(oauthProviders, object{})["oauth_providers"]
	for attribute, want := range map[string]list{
		"token_endpoint_auth_method": {"none", "client_secret_post"},
		"is_dynamic_client":          {true, false},
		"mcp_server_url":             {"https://mcp.example.com", nil},
		"code_challenge_method":      {"S256", nil},
	} {
		if got := column(all, attribute); !reflect.DeepEqual(got, want) {
			t.Errorf("%s: %v, want %v", attribute, got, want)
		}
	}
	if got := column(p.mustRead(oauthProviders, object{"provider_id": "chat"})["oauth_providers"],
		"id"); !reflect.DeepEqual(got, list{"2"}) {
		t.Errorf("ids of chat: %v", got)
	}
}
