package client

import (
	"errors"
	"fmt"
	"net/http"
	"testing"
)

const idRevision = "dddddddd-0000-4000-8000-000000000004"

func revisionJSON(status string) string {
	return fmt.Sprintf(`{"id":%q,"status":%s}`, idRevision, status)
}

func TestRevisionStatus(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		response http.HandlerFunc
		reads    int
		status   string
		offered  bool // whether it is asked for again
	}{
		"a status":                    {respondJSON(revisionJSON(`"BUILDING"`)), 1, "BUILDING", true},
		"an unknown one":              {respondJSON(revisionJSON(`"DREAMING"`)), 1, "DREAMING", true},
		"control characters":          {respondJSON(revisionJSON(`"A\u001b[31mB"`)), 1, `A\u001b[31mB`, true},
		"null":                        {respondJSON(revisionJSON(`null`)), 1, "", true},
		"another type":                {respondJSON(revisionJSON(`7`)), 1, "", true},
		"without the member":          {respondJSON(`{"Status":"DEPLOYED"}`), 1, "", false},
		"of something else":           {respondJSON(deploymentJSON(idA, "bot")), 1, "", false},
		"no object":                   {respondJSON(`["DEPLOYED"]`), 1, "", false},
		"a web page":                  {respond(200, "<html>"), 1, "", false},
		"403":                         {respond(403, `{}`), 1, "", false},
		"405":                         {respond(405, `{}`), 1, "", false},
		"501":                         {respond(501, `{}`), 1, "", false},
		"404 after one read":          {respond(404, `{}`), 1, "", true},
		"404 after two reads":         {respond(404, `{}`), 2, "", false},
		"401":                         {respond(401, `{}`), 2, "", true},
		"422":                         {respond(422, `{}`), 2, "", true},
		"429":                         {respond(429, `{}`, "Retry-After", "60"), 2, "", true},
		"503":                         {respond(503, `{}`), 2, "", true},
		"a connection that is closed": {cut, 2, "", true},
		"cut short":                   {truncated, 2, "", true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := serve(t, test.response)
			c := s.client(t)
			status, err := c.RevisionStatus(t.Context(), idA, idRevision, test.reads)
			if status != test.status || (err == nil) != (status != "") || errors.Is(err, ErrNotSupported) == test.offered {
				t.Errorf("got %q, %v", status, err)
			}
			equal(t, "requests", s.count(""), 1)
			_, _ = c.RevisionStatus(t.Context(), idA, idRevision, test.reads)
			if again := s.count("") == 2; again != test.offered {
				t.Errorf("asked again: %t", again)
			}
			equal(t, "path", s.requests("GET")[0].path, "/v2/deployments/"+idA+"/revisions/"+idRevision)
		})
	}
}

func TestRevisionStatus_isNotSent(t *testing.T) {
	t.Parallel()
	s := serve(t, respondJSON(revisionJSON(`"DEPLOYED"`)))
	for _, id := range []string{"", "..", "../" + idRevision} {
		if _, err := s.client(t).RevisionStatus(t.Context(), idA, id, 2); !errors.Is(err, ErrNotSupported) {
			t.Errorf("%q: %v", id, err)
		}
	}
	documented := s.client(t, func(c *Config) { c.DocumentedOnly = true })
	if _, err := documented.RevisionStatus(t.Context(), idA, idRevision, 2); !errors.Is(err, ErrNotSupported) {
		t.Error(err)
	}
	equal(t, "requests", s.count(""), 0)
}

func TestRevisionFailed(t *testing.T) {
	t.Parallel()
	for status, want := range map[string]bool{"CREATE_FAILED": true, "BUILD_FAILED": true, "DEPLOY_FAILED": true,
		"NEW_FAILED": true, "SKIPPED": true, "INTERRUPTED": true, "DEPLOYED": false, "BUILDING": false, "UNKNOWN": false,
		"FAILED_OVER": false, "": false} {
		equal(t, status, RevisionFailed(status), want)
	}
}
