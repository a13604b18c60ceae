package client

import (
	"net/http"
	"strings"
	"testing"
)

func TestRepositories(t *testing.T) {
	t.Parallel()
	s := serve(t, respondJSON(`[`+fullRepository+`,{"id":2.0,"name":"second","owner":"","url":"v","extra":1},{},null]`))
	got, err := s.client(t).Repositories(t.Context(), idA)
	if err != nil {
		t.Fatal(err)
	}
	equal(t, "repositories", got, []Repository{
		{HostIntegrationID: "h", ID: 9007199254740993, Name: "n", Owner: "o", URL: "u", DefaultBranch: "b"},
		{ID: 2, Name: "second", URL: "v"},
		{},
		{},
	})
	r := s.requests("")[0]
	equal(t, "request", r.method+" "+r.path, "GET /v1/integrations/forge/codehost/"+idA+"/repos")
	equal(t, "query", len(r.query), 0)
}

func TestRepositoriesOfAnIntegrationWithoutAny(t *testing.T) {
	t.Parallel()
	s := serve(t, respondJSON(`[]`))
	got, err := s.client(t).Repositories(t.Context(), idA)
	if err != nil || got == nil || len(got) != 0 {
		t.Errorf("got %#v, %v", got, err)
	}
}

func TestIntegrationIDIsEscapedOnce(t *testing.T) {
	t.Parallel()
	s := serve(t, respondJSON(`[]`))
	if _, err := s.client(t).Repositories(t.Context(), "a/b?c d%2F#é"); err != nil {
		t.Fatal(err)
	}
	r := s.requests("")[0]
	equal(t, "path", r.path, "/v1/integrations/forge/codehost/a%2Fb%3Fc%20d%252F%23%C3%A9/repos")
	equal(t, "query", len(r.query), 0)
}

func TestUnreadableRepositoriesAreAnError(t *testing.T) {
	t.Parallel()
	for body, want := range map[string]string{
		`null`:                "null instead of a list",
		`{}`:                  "the whole response: object is not a list",
		`{"resources":[]}`:    "the whole response: object is not a list",
		`["hush"]`:            "the whole response: string is not an object",
		`[{"id":"7"}]`:        "id: its value is not an integer",
		`[{"id":1.5}]`:        "id: number 1.5 is not an integer",
		`[{"id":1,"name":7}`:  "it is not JSON",
		`[{"id":1,"name":7}]`: "name: number is not a string",
	} {
		s := serve(t, respondJSON(body))
		got, err := s.client(t).Repositories(t.Context(), idA)
		if got != nil || err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), "list repositories failed (GET /v1/integrations/forge/codehost/"+idA+"/repos)") {
			t.Errorf("%s: %v, %v", body, got, err)
		}
	}
}

func TestOAuthProviders(t *testing.T) {
	t.Parallel()
	s := serve(t, respondJSON(`[`+fullOAuthProvider+`,
		{"id":"absent","provider_id":"p","uses_pkce":false},
		{"id":"null","provider_id":"p","code_challenge_method":null,"provider_type":null,"mcp_server_url":null,"token_endpoint_auth_method":null,"is_dynamic_client":null,"extra":{}}]`))
	got, err := s.client(t).OAuthProviders(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	equal(t, "providers", got, []OAuthProvider{
		{ID: "i", OrganizationID: "o", ProviderID: "p", Name: "n", ClientID: "c", AuthURL: "a", TokenURL: "t", UsesPKCE: true,
			CodeChallengeMethod: ptr("S256"), CreatedAt: "c", UpdatedAt: "u", ProviderType: ptr("y"), MCPServerURL: ptr("m"),
			TokenEndpointAuthMethod: "none", IsDynamicClient: true},
		// The defaults of section 2.7.
		{ID: "absent", ProviderID: "p", TokenEndpointAuthMethod: "client_secret_post"},
		{ID: "null", ProviderID: "p", TokenEndpointAuthMethod: "client_secret_post"},
	})
	r := s.requests("")[0]
	equal(t, "request", r.method+" "+r.path, "GET /v2/auth/providers")
	equal(t, "query", len(r.query), 0)
}

func TestUnreadableOAuthProvidersAreAnError(t *testing.T) {
	t.Parallel()
	for body, want := range map[string]string{
		`null`:                   "null instead of a list",
		`{"items":[]}`:           "the whole response: object is not a list",
		`[7]`:                    "the whole response: number is not an object",
		`[{"client_id":7}]`:      "client_id: number is not a string",
		`[{"uses_pkce":"hush"}]`: "uses_pkce: string is not a bool",
	} {
		s := serve(t, respondJSON(body))
		got, err := s.client(t).OAuthProviders(t.Context())
		if got != nil || err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), "list OAuth providers failed (GET /v2/auth/providers)") {
			t.Errorf("%s: %v, %v", body, got, err)
		}
	}
}

func TestRejectedListsAreErrors(t *testing.T) {
	t.Parallel()
	s := serve(t, respond(http.StatusForbidden, `{"detail":"not yours"}`))
	c := s.client(t)
	if got, err := c.Repositories(t.Context(), idA); got != nil || asType[*Error](t, err).Status != 403 {
		t.Error(got, err)
	}
	if got, err := c.OAuthProviders(t.Context()); got != nil || asType[*Error](t, err).Status != 403 {
		t.Error(got, err)
	}
}
