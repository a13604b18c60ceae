package client

import (
	"encoding/json"
	"errors"
	"net/http"
	"strings"
	"testing"
)

func unchecked(Tree) error { return nil }

func TestRepositories(t *testing.T) {
	t.Parallel()
	s := serve(t, respondJSON(`[`+fullRepository+`,{"id":2.0,"name":"second","owner":"","url":"v","extra":1},{}]`))
	got, err := s.client(t).Repositories(t.Context(), idA, unchecked)
	if err != nil {
		t.Fatal(err)
	}
	equal(t, "repositories", got, []Tree{
		{"host_integration_id": "h", "id": json.Number("9007199254740993"), "name": "n", "owner": "o", "url": "u",
			"default_branch": "b"},
		{"id": json.Number("2.0"), "name": "second", "owner": "", "url": "v", "extra": json.Number("1")},
		{},
	})
	r := s.requests("")[0]
	equal(t, "request", r.method+" "+r.path, "GET /v1/integrations/forge/codehost/"+idA+"/repos")
	equal(t, "query", len(r.query), 0)
}

func TestRepositoriesOfAnIntegrationWithoutAny(t *testing.T) {
	t.Parallel()
	s := serve(t, respondJSON(`[]`))
	got, err := s.client(t).Repositories(t.Context(), idA, unchecked)
	if err != nil || got == nil || len(got) != 0 {
		t.Errorf("got %#v, %v", got, err)
	}
}

func TestIntegrationIDIsEscapedOnce(t *testing.T) {
	t.Parallel()
	s := serve(t, respondJSON(`[]`))
	if _, err := s.client(t).Repositories(t.Context(), "a/b?c d%2F#é", unchecked); err != nil {
		t.Fatal(err)
	}
	r := s.requests("")[0]
	equal(t, "path", r.path, "/v1/integrations/forge/codehost/a%2Fb%3Fc%20d%252F%23%C3%A9/repos")
	equal(t, "query", len(r.query), 0)
}

func TestUnreadableRepositoriesAreAnError(t *testing.T) {
	t.Parallel()
	for body, want := range map[string]string{
		`null`:               "null instead of a list",
		`{}`:                 "the whole response: object is not a list",
		`{"resources":[]}`:   "the whole response: object is not a list",
		`["hush"]`:           "[0]: it is not an object",
		`[{},null]`:          "[1]: it is not an object",
		`[{"id":1,"name":7}`: "it is not JSON",
		`[{},{"id":1}]`:      "[1]: it has an id",
	} {
		s := serve(t, respondJSON(body))
		check := func(repo Tree) error {
			if _, ok := repo["id"]; ok {
				return errors.New("it has an id")
			}
			return nil
		}
		got, err := s.client(t).Repositories(t.Context(), idA, check)
		if got != nil || err == nil || !strings.Contains(err.Error(), want) ||
			!strings.Contains(err.Error(), "list repositories failed (GET /v1/integrations/forge/codehost/"+idA+"/repos)") {
			t.Errorf("%s: %v, %v", body, got, err)
		}
	}
}

func TestOAuthProviders(t *testing.T) {
	t.Parallel()
	s := serve(t, respondJSON(`[`+fullOAuthProvider+`,
		{"id":"absent","provider_id":"p","uses_pkce":false},
		{"id":"null","provider_id":"p","code_challenge_method":null,"provider_type":null,"mcp_server_url":null,`+
		`"token_endpoint_auth_method":null,"is_dynamic_client":null,"extra":{}}]`))
	got, err := s.client(t).OAuthProviders(t.Context(), unchecked)
	if err != nil {
		t.Fatal(err)
	}
	equal(t, "complete", len(got[0]), 15)
	equal(t, "with defaults", got[1:], []Tree{
		{"id": "absent", "provider_id": "p", "uses_pkce": false, "token_endpoint_auth_method": "client_secret_post",
			"is_dynamic_client": false},
		{"id": "null", "provider_id": "p", "code_challenge_method": nil, "provider_type": nil, "mcp_server_url": nil,
			"token_endpoint_auth_method": "client_secret_post", "is_dynamic_client": false, "extra": Tree{}},
	})
	r := s.requests("")[0]
	equal(t, "request", r.method+" "+r.path, "GET /v2/auth/providers")
	equal(t, "query", len(r.query), 0)
}

func TestUnreadableOAuthProvidersAreAnError(t *testing.T) {
	t.Parallel()
	for body, want := range map[string]string{
		`null`:         "null instead of a list",
		`{"items":[]}`: "the whole response: object is not a list",
		`[7]`:          "[0]: it is not an object",
	} {
		s := serve(t, respondJSON(body))
		got, err := s.client(t).OAuthProviders(t.Context(), unchecked)
		if got != nil || err == nil || !strings.Contains(err.Error(), want) ||
			!strings.Contains(err.Error(), "list OAuth providers failed (GET /v2/auth/providers)") {
			t.Errorf("%s: %v, %v", body, got, err)
		}
	}
}

func TestRejectedListsAreErrors(t *testing.T) {
	t.Parallel()
	s := serve(t, respond(http.StatusForbidden, `{"detail":"not yours"}`))
	c := s.client(t)
	if got, err := c.Repositories(t.Context(), idA, unchecked); got != nil || asType[*Error](t, err).Status != 403 {
		t.Error(got, err)
	}
	if got, err := c.OAuthProviders(t.Context(), unchecked); got != nil || asType[*Error](t, err).Status != 403 {
		t.Error(got, err)
	}
}
