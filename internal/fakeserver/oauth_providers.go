package fakeserver

import (
	"fmt"
	"maps"
	"net/http"

	"github.com/google/uuid"
)

// SeedOAuthProviders adds OAuth providers (section 2.7). Required fields that
// are omitted get a value; the others, such as token_endpoint_auth_method, are
// omitted from the response too. Values may be of any kind.
func (s *Server) SeedOAuthProviders(providers ...map[string]any) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, fields := range providers {
		s.seeded++
		now := timestamp(s.now())
		provider := map[string]any{
			"id":                    uuid.NewString(),
			"organization_id":       s.tenant,
			"provider_id":           fmt.Sprintf("provider-%d", s.seeded),
			"name":                  fmt.Sprintf("Provider %d", s.seeded),
			"client_id":             fmt.Sprintf("client-%d", s.seeded),
			"auth_url":              "https://auth.example/authorize",
			"token_url":             "https://auth.example/token",
			"uses_pkce":             false,
			"code_challenge_method": nil,
			"created_at":            now,
			"updated_at":            now,
		}
		maps.Copy(provider, tree(fields).(map[string]any))
		s.providers = append(s.providers, provider)
	}
}

// listOAuthProviders lists the OAuth providers (section 4.4).
func (s *Server) listOAuthProviders(c call) response {
	if found := checkNoQuery(c.query); len(found) > 0 {
		return invalid(found...)
	}
	out := []any{}
	for _, provider := range s.providers {
		item := cloneObject(provider)
		if s.opts.ExtraFields {
			addExtraFields(item)
		}
		out = append(out, item)
	}
	return jsonResponse(http.StatusOK, out)
}
