package fakeserver

import (
	"strings"
	"testing"
)

func TestSeedMany(t *testing.T) {
	t.Parallel()
	s := start(t, Options{})
	s.SeedMany(Counts{Deployments: 2000, Repositories: 300, Secrets: 3})
	all := s.Deployments()
	names, counts := map[string]bool{}, map[string]int{}
	for _, d := range all {
		names[d["name"].(string)] = true
		counts[d["source"].(string)]++
		if found := check(deploymentShape, any(d), inResponse); len(found) > 0 {
			t.Fatalf("%v: %v", d["name"], found)
		}
		if n := len(d["secrets"].([]any)); n != 3 {
			t.Fatalf("%v: %d secrets, want 3", d["name"], n)
		}
	}
	if len(all) != 2000 || len(names) != 2000 {
		t.Errorf("%d deployments with %d names, want 2000 of each", len(all), len(names))
	}
	for _, source := range sources {
		if counts[source] != 400 {
			t.Errorf("%d of source %s, want 400", counts[source], source)
		}
	}
	repos := s.do("GET", "/v1/integrations/forge/codehost/"+DemoIntegrationID+"/repos", "").body
	if n := strings.Count(repos, `"url":`); n != 300 {
		t.Errorf("%d repositories, want 300", n)
	}
	if url := at(t, all[0], "source_config", "repo_url").(string); !strings.Contains(repos, `"`+url+`"`) {
		t.Errorf("%s is not listed", url)
	}

	again := start(t, Options{})
	again.clock.advance(1e12)
	again.SeedMany(Counts{Deployments: 10, Repositories: 300, Secrets: 3})
	if got, want := compact(t, again.Deployments()), compact(t, all[:10]); got != want {
		t.Errorf("another server seeds\n%s\nwant\n%s", got, want)
	}
}

func TestSeedManyOfNothing(t *testing.T) {
	t.Parallel()
	s := start(t, Options{})
	s.SeedMany(Counts{Deployments: 1})
	if got := s.do("GET", "/v1/integrations/forge/codehost/"+DemoIntegrationID+"/repos", ""); got.status != 200 ||
		strings.TrimSpace(got.body) != "[]" {
		t.Errorf("status %d: %s", got.status, got.body)
	}
	if n := len(s.Deployments()[0]["secrets"].([]any)); n != 0 {
		t.Errorf("%d secrets, want none", n)
	}
}
