package fakeserver

import (
	"encoding/json"
	"net/http"
	"strconv"
	"strings"
)

// Repository is a repository of a code-hosting integration (section 2.6). Empty
// fields are filled in: an ID, a URL from owner and name, and the default branch
// main.
type Repository struct {
	ID            int64
	Name          string
	Owner         string
	URL           string
	DefaultBranch string
}

// SeedRepositories adds repositories to an integration. Without any, the
// integration exists and has none. It panics when integrationID is not a UUID.
func (s *Server) SeedRepositories(integrationID string, repos ...Repository) {
	if !isUUID(integrationID) {
		panic("fakeserver: the integration ID is not a UUID: " + integrationID)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	key := strings.ToLower(integrationID)
	list := s.repositories[key]
	for _, repo := range repos {
		s.seeded++
		if repo.ID == 0 {
			repo.ID = int64(1000 + s.seeded)
		}
		if repo.URL == "" {
			repo.URL = "https://codehost.example/" + repo.Owner + "/" + repo.Name
		}
		if repo.DefaultBranch == "" {
			repo.DefaultBranch = "main"
		}
		list = append(list, repo)
	}
	s.repositories[key] = list
}

// listRepositories lists the repositories of an integration (section 4.3).
func (s *Server) listRepositories(c call) response {
	if !isUUID(c.param) {
		return invalid(problem{[]any{"path", "integration_id"}, "should be a valid UUID", "uuid_parsing"})
	}
	if found := checkNoQuery(c.query); len(found) > 0 {
		return invalid(found...)
	}
	key := strings.ToLower(c.param)
	repos, known := s.repositories[key]
	if !known {
		return reject(http.StatusNotFound, "no integration has id %s", c.param)
	}
	out := []any{}
	for _, repo := range repos {
		item := map[string]any{
			"host_integration_id": key,
			"id":                  json.Number(strconv.FormatInt(repo.ID, 10)),
			"name":                repo.Name,
			"owner":               repo.Owner,
			"url":                 repo.URL,
			"default_branch":      repo.DefaultBranch,
		}
		if s.opts.ExtraFields {
			addExtraFields(item)
		}
		out = append(out, item)
	}
	return jsonResponse(http.StatusOK, out)
}
