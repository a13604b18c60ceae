package fakeserver

import (
	"fmt"
	"time"

	"github.com/google/uuid"
)

// Counts are how much SeedMany seeds.
type Counts struct {
	Deployments  int
	Repositories int // of the integration DemoIntegrationID
	Secrets      int // in each deployment
}

// SeedMany adds deployments of the five sources in turn, and repositories of
// the integration DemoIntegrationID, which those of source codehost share.
// Names, ids and times depend on n only, so that a state outlives the server.
// It panics when called twice, as the ids exist then.
func (s *Server) SeedMany(n Counts) {
	repos := make([]Repository, n.Repositories)
	for i := range repos {
		team, role, _ := nameParts(i)
		repos[i] = Repository{Owner: team, Name: role}
		if round := i / (len(teams) * len(roles)); round > 0 {
			repos[i].Name = fmt.Sprintf("%s-%d", role, round+1)
		}
		repos[i].URL = "https://codehost.example/" + repos[i].Owner + "/" + repos[i].Name
	}
	s.SeedRepositories(DemoIntegrationID, repos...)
	for i := range n.Deployments {
		s.SeedDeployment(numberedDeployment(i, n.Secrets, repos))
	}
}

var (
	teams = []string{"billing", "catalog", "checkout", "data", "fraud", "growth", "identity", "legal",
		"logistics", "marketing", "payments", "platform", "pricing", "research", "search", "support"}
	roles = []string{"agent", "api", "assistant", "classifier", "crawler", "docs", "evaluator", "extractor",
		"forecaster", "gateway", "indexer", "planner", "ranker", "router", "summarizer", "worker"}
	stages = []string{"dev", "staging", "prod"}
)

func nameParts(i int) (team, role, stage string) {
	return teams[i%len(teams)], roles[i/len(teams)%len(roles)], stages[i/(len(teams)*len(roles))%len(stages)]
}

func numberedDeployment(i, secrets int, repos []Repository) map[string]any {
	team, role, stage := nameParts(i)
	name := fmt.Sprintf("%s-%s-%s", team, role, stage)
	if round := i / (len(teams) * len(roles) * len(stages)); round > 0 {
		name = fmt.Sprintf("%s-%d", name, round+1)
	}
	created := timestamp(time.Date(2025, 1, 1, 0, 0, 0, 0, time.UTC).Add(time.Duration(i) * time.Minute))
	d := map[string]any{
		"name":               name,
		"id":                 stableID("deployment", name),
		"latest_revision_id": stableID("revision", name),
		"created_at":         created,
		"updated_at":         created,
	}
	config := map[string]any{
		"resource_spec": map[string]any{
			"min_scale": 1, "max_scale": 1 + i%4, "cpu": []float64{0.5, 1, 2}[i%3], "memory_mb": 1024 << (i % 3),
			"labels": map[string]string{"team": team, "stage": stage},
		},
	}
	revision := map[string]any{}
	switch i % 5 {
	case 0:
		d["source"] = "codehost"
		config["build_on_push"] = stage != "prod"
		if len(repos) > 0 {
			config["repo_url"] = repos[i/5%len(repos)].URL
		}
	case 1:
		d["source"] = "external_docker"
		revision["image_uri"] = fmt.Sprintf("registry.example/%s/%s:1.%d", team, role, i%20)
	case 2:
		d["source"] = "internal_docker"
		revision["image_uri"] = fmt.Sprintf("registry.internal/%s:1.%d", name, i%20)
	case 3:
		d["source"] = "internal_source"
		config["install_command"], config["build_command"] = "npm ci", "npm run build"
		revision["source_tarball_path"] = "uploads/" + name + ".tar.gz"
	default:
		d["source"] = "internal_template"
		config["custom_url"] = "https://" + name + ".apps.example"
	}
	d["source_config"], d["source_revision_config"] = config, revision
	list := make([]any, secrets)
	for k := range list {
		value := fmt.Sprintf("not-a-real-secret-%s-%d", name, k+1)
		list[k] = map[string]any{"name": fmt.Sprintf("SECRET_%d", k+1), "value": value}
	}
	d["secrets"] = list
	return d
}

// stableID returns the id of a thing of a kind, the same in every run.
func stableID(kind, name string) string {
	return uuid.NewSHA1(uuid.NameSpaceOID, []byte(kind+"/"+name)).String()
}
