package fakeserver

import (
	"fmt"
	"strings"
	"time"

	"github.com/google/uuid"
)

// SeedDeployment adds a deployment that is READY and active, and returns its
// id. The given fields, of any JSON kinds, are merged over a valid deployment
// of source external_docker, or of codehost if they say so. Nothing is checked:
// fields, statuses and sources that the interface does not document are kept, and
// a status does not change by itself. So a seed can have another tenant_id, or have
// been created earlier (created_at, and updated_at, which otherwise are now). The
// members tag_value_ids, remote_reconciled and deployment_type are matched by the
// filters of the list, and omitted from responses. It panics when the id already
// exists.
func (s *Server) SeedDeployment(fields map[string]any) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.seeded++
	now := s.now()
	name := fmt.Sprintf("seeded-%d", s.seeded)
	if given, ok := fields["name"].(string); ok {
		name = given
	}
	base := map[string]any{
		"name":                   name,
		"source":                 "external_docker",
		"source_config":          map[string]any{},
		"source_revision_config": map[string]any{},
		"secrets":                []any{},
		"secret_references":      nil,
		"id":                     uuid.NewString(),
		"tenant_id":              s.tenant,
		"created_at":             timestamp(now),
		"updated_at":             timestamp(now),
		"status":                 "READY",
		"image_version":          nil,
	}
	d := &deployment{tree: base}
	if fields["source"] == "codehost" {
		d.built = true
		base["source"] = "codehost"
		base["source_config"] = map[string]any{
			"integration_id": DemoIntegrationID,
			"repo_url":       "https://codehost.example/acme/" + name,
		}
		base["source_revision_config"] = map[string]any{"repo_ref": "main", "graph_config_path": "graph.json"}
	} else {
		base["source_revision_config"] = map[string]any{"image_uri": "registry.example/" + name + ":1"}
	}
	completeConfigs(base)
	s.revise(d, now)
	if fields != nil {
		merge(deploymentShape, base, tree(fields).(map[string]any))
	}
	if _, given := fields["active_revision_id"]; !given {
		base["active_revision_id"] = base["latest_revision_id"]
	}
	d.latest().id, _ = base["latest_revision_id"].(string)
	d.latest().end("DEPLOYED", now)
	d.activating = false
	if s.find(d.id()) != nil {
		panic("fakeserver: a deployment already exists with id " + d.id())
	}
	s.add(d)
	return d.id()
}

// Deployment returns a copy of what the service stores of a deployment, with
// its real secrets, or nil when there is none of that id. Numbers are
// json.Number.
func (s *Server) Deployment(id string) map[string]any {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.applyTransitions(s.now())
	if d := s.find(id); d != nil {
		return cloneObject(d.tree)
	}
	return nil
}

// Deployments returns copies of all deployments, oldest first, like Deployment.
func (s *Server) Deployments() []map[string]any {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.applyTransitions(s.now())
	out := make([]map[string]any, len(s.deployments))
	for i, d := range s.deployments {
		out[i] = cloneObject(d.tree)
	}
	return out
}

// Edit changes a deployment as somebody else than the client does. Nothing is
// checked. updated_at advances unless change sets it. A status or an
// active_revision_id that change sets is final. A latest_revision_id that it sets
// is that of a new revision, which is DEPLOYED if it is the active one, too, and
// otherwise DEPLOYING. It panics when there is no deployment of that id.
// change must not call the server.
func (s *Server) Edit(id string, change func(d map[string]any)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := s.now()
	s.applyTransitions(now)
	d := s.must(id)
	edited := cloneObject(d.tree)
	change(edited)
	before := d.tree
	d.tree = tree(edited).(map[string]any)
	if d.tree["status"] != before["status"] {
		d.readyAt = time.Time{}
	}
	latest, _ := d.tree["latest_revision_id"].(string)
	if latest != "" && latest != before["latest_revision_id"] {
		d.revisions = append(d.revisions, &revision{id: latest, created: now, final: "DEPLOYING"})
		d.latest().config = cloneObject(d.revisionConfig())
		d.activating = false
	}
	if active, _ := d.tree["active_revision_id"].(string); d.tree["active_revision_id"] != before["active_revision_id"] {
		d.activating = false
		if strings.EqualFold(active, latest) {
			d.latest().end("DEPLOYED", now)
		}
	}
	if d.tree["updated_at"] == before["updated_at"] {
		d.touch(now)
	}
}

// Remove deletes a deployment as somebody else than the client does. It does
// nothing if there is none.
func (s *Server) Remove(id string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if d := s.find(id); d != nil {
		s.remove(d)
	}
}

func (s *Server) must(id string) *deployment {
	d := s.find(id)
	if d == nil {
		panic("fakeserver: there is no deployment with id " + id)
	}
	return d
}

// DemoIntegrationID is the code-hosting integration that SeedDemo seeds.
const DemoIntegrationID = "11111111-2222-4333-8444-555555555555"

// SeedDemo adds what a demonstration needs: repositories of the integration
// DemoIntegrationID, two OAuth providers, and the deployment legacy-bot.
func (s *Server) SeedDemo() {
	s.SeedRepositories(DemoIntegrationID,
		Repository{Owner: "acme", Name: "storefront"},
		Repository{Owner: "acme", Name: "agent-api"},
		Repository{Owner: "acme", Name: "docs", DefaultBranch: "trunk"},
		Repository{Owner: "globex", Name: "search", DefaultBranch: "trunk"},
	)
	s.SeedOAuthProviders(
		map[string]any{
			"provider_id": "codehost", "name": "Code host", "uses_pkce": true, "code_challenge_method": "S256",
			"provider_type": "oauth2", "token_endpoint_auth_method": "client_secret_basic", "is_dynamic_client": false,
		},
		map[string]any{"provider_id": "calendar", "name": "Calendar"},
	)
	s.SeedDeployment(map[string]any{
		"name":   "legacy-bot",
		"source": "external_docker",
		"source_config": map[string]any{
			"resource_spec": map[string]any{"min_scale": 1, "max_scale": 2, "cpu": 0.5, "memory_mb": 1024},
		},
		"source_revision_config": map[string]any{"image_uri": "registry.example/legacy-bot:4.2"},
		"secrets":                []any{map[string]any{"name": "BOT_TOKEN", "value": "not-a-real-token"}},
	})
}
