package fakeserver

import (
	"fmt"
	"testing"
	"time"
)

// revisionOf reads the revision that d has as its latest.
func (s *service) revisionOf(d map[string]any) map[string]any {
	s.t.Helper()
	return s.ok("GET", fmt.Sprintf("/v2/deployments/%v/revisions/%v", d["id"], d["latest_revision_id"]), "")
}

func TestRevision_statusFollowsTheClock(t *testing.T) {
	t.Parallel()
	s := start(t, Options{ActiveAfter: 6 * time.Second})
	d := s.ok("POST", "/v2/deployments", body())
	for _, step := range []struct {
		after           time.Duration
		status, updated string
	}{
		{0, "QUEUED", "2030-01-02T03:04:05.678Z"},
		{1999 * time.Millisecond, "QUEUED", "2030-01-02T03:04:05.678Z"},
		{time.Millisecond, "BUILDING", "2030-01-02T03:04:07.678Z"},
		{2 * time.Second, "DEPLOYING", "2030-01-02T03:04:09.678Z"},
		{2 * time.Second, "DEPLOYED", "2030-01-02T03:04:11.678Z"},
		{time.Hour, "DEPLOYED", "2030-01-02T03:04:11.678Z"},
	} {
		s.clock.advance(step.after)
		got := s.revisionOf(d)
		want := map[string]any{
			"id": d["latest_revision_id"], "created_at": d["created_at"], "updated_at": step.updated, "status": step.status,
			"source": "external_docker", "source_revision_config": d["source_revision_config"],
		}
		if compact(t, got) != compact(t, want) {
			t.Errorf("revision\n got %s\nwant %s", compact(t, got), compact(t, want))
		}
	}
}

func TestRevision_withoutActiveAfterIsDeployedAtOnce(t *testing.T) {
	t.Parallel()
	s := start(t, Options{})
	created := s.ok("POST", "/v2/deployments", body())
	seeded := s.Deployment(s.SeedDeployment(map[string]any{"latest_revision_id": "7c9e6679-7425-40de-944b-e07fc1f90ae7"}))
	for what, d := range map[string]map[string]any{"created": created, "seeded": seeded} {
		if got := s.revisionOf(d)["status"]; got != "DEPLOYED" {
			t.Errorf("%s: status %v", what, got)
		}
	}
}

func TestRevision_thatFailsNeverBecomesActive(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		source, version string
		end             []string
		want            string
	}{
		"an image": {"external_docker", `{"image_uri":"registry.example/shop:broken"}`, nil, "DEPLOY_FAILED"},
		"a branch": {"codehost", `{"repo_ref":"broken","graph_config_path":"g.json"}`, nil, "BUILD_FAILED"},
		"a tarball": {"internal_source", `{"source_tarball_path":"broken.tgz","graph_config_path":"g.json"}`, nil,
			"BUILD_FAILED"},
		"one that is skipped": {"external_docker", `{"image_uri":"registry.example/shop:1"}`, []string{"SKIPPED"}, "SKIPPED"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := start(t, Options{ActiveAfter: time.Second, FailingVersions: "broken"})
			for _, status := range test.end {
				s.EndNextRevision(status)
			}
			d := s.ok("POST", "/v2/deployments", body("source", `"`+test.source+`"`, "source_revision_config", test.version))
			if got := s.revisionOf(d)["status"]; got != "QUEUED" {
				t.Errorf("status %v at first", got)
			}
			s.clock.advance(time.Second)
			d = s.Deployment(d["id"].(string))
			if got := s.revisionOf(d)["status"]; got != test.want || d["active_revision_id"] != nil || d["status"] != "READY" {
				t.Errorf("status %v, want %s; deployment %v", got, test.want, d)
			}
			s.ok("PATCH", "/v2/deployments/"+d["id"].(string),
				`{"source_revision_config":{"image_uri":"registry.example/shop:2","repo_ref":"main",`+
					`"source_tarball_path":"fixed.tgz"}}`)
			s.clock.advance(time.Second)
			fixed := s.Deployment(d["id"].(string))
			if got := s.revisionOf(fixed)["status"]; got != "DEPLOYED" ||
				fixed["active_revision_id"] != fixed["latest_revision_id"] {
				t.Errorf("the next revision is %v: %v", got, fixed)
			}
		})
	}
}

func TestRevision_isInterruptedByTheNext(t *testing.T) {
	t.Parallel()
	s := start(t, Options{ActiveAfter: time.Minute})
	d := s.ok("POST", "/v2/deployments", body())
	s.clock.advance(time.Second)
	s.NewRevision(d["id"].(string))
	s.clock.advance(time.Minute)
	now := s.Deployment(d["id"].(string))
	first, second := s.revisionOf(d)["status"], s.revisionOf(now)["status"]
	if first != "INTERRUPTED" || second != "DEPLOYED" ||
		now["active_revision_id"] != now["latest_revision_id"] {
		t.Errorf("the first is %v, the second %v: %v", first, second, now)
	}
}

func TestEndRevision(t *testing.T) {
	t.Parallel()
	for status, active := range map[string]bool{"BUILD_FAILED": false, "SOMETHING_NEWER": false, "DEPLOYED": true} {
		s := start(t, Options{ActiveAfter: time.Hour})
		d := s.ok("POST", "/v2/deployments", body())
		s.clock.advance(time.Second)
		s.EndRevision(d["id"].(string), status)
		s.clock.advance(2 * time.Hour)
		now := s.Deployment(d["id"].(string))
		if got := s.revisionOf(d)["status"]; got != status ||
			(now["active_revision_id"] == d["latest_revision_id"]) != active {
			t.Errorf("status %v, want %s; active %v", got, status, now["active_revision_id"])
		}
	}
}

func TestEdit_ofRevisionIDs(t *testing.T) {
	t.Parallel()
	const id = "7c9e6679-7425-40de-944b-e07fc1f90ae7"
	for name, test := range map[string]struct {
		members []string
		want    string
	}{
		"a new one":                 {[]string{"latest_revision_id"}, "DEPLOYING"},
		"a new one that is running": {[]string{"latest_revision_id", "active_revision_id"}, "DEPLOYED"},
	} {
		s := start(t, Options{})
		deployment := s.SeedDeployment(nil)
		s.Edit(deployment, func(d map[string]any) {
			for _, member := range test.members {
				d[member] = id
			}
		})
		if got := s.revisionOf(s.Deployment(deployment))["status"]; got != test.want {
			t.Errorf("%s: status %v, want %s", name, got, test.want)
		}
	}
}

func TestListRevisions(t *testing.T) {
	t.Parallel()
	s := start(t, Options{})
	id := s.SeedDeployment(nil)
	var ids []any
	for i := range 3 {
		ids = append([]any{s.Deployment(id)["latest_revision_id"]}, ids...)
		if i == 1 {
			s.EndNextRevision("BUILD_FAILED")
		}
		s.NewRevision(id)
	}
	ids = append([]any{s.Deployment(id)["latest_revision_id"]}, ids...)
	for query, want := range map[string]struct {
		ids    []any
		offset string
	}{
		"":                                  {ids, "4"},
		"?limit=3":                          {ids[:3], "3"},
		"?limit=3&offset=3":                 {ids[3:], "4"},
		"?offset=4":                         {[]any{}, "4"},
		"?offset=9":                         {[]any{}, "9"},
		"?status=BUILD_FAILED":              {ids[1:2], "1"},
		"?status=DEPLOYED&limit=1&offset=1": {ids[2:3], "2"},
		"?status=deployed":                  {[]any{}, "0"},
	} {
		page := s.ok("GET", "/v2/deployments/"+id+"/revisions"+query, "")
		got := []any{}
		for _, r := range page["resources"].([]any) {
			got = append(got, at(t, r, "id"))
		}
		if compact(t, got) != compact(t, want.ids) || compact(t, page["offset"]) != want.offset {
			t.Errorf("%s: %v and offset %v, want %v and %s", query, got, page["offset"], want.ids, want.offset)
		}
	}
	for _, query := range []string{"?limit=0", "?limit=101", "?offset=-1", "?limit=x", "?order=asc"} {
		if got := s.do("GET", "/v2/deployments/"+id+"/revisions"+query, ""); got.status != 422 {
			t.Errorf("%s: status %d, want 422", query, got.status)
		}
	}
}

func TestServiceWithoutRevisions(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		opts           Options
		status         int
		latest, active bool
	}{
		"with all of it":         {Options{}, 200, true, true},
		"without the status":     {Options{NoRevisionStatus: true}, 404, true, true},
		"without the active one": {Options{NoActiveRevision: true}, 200, true, false},
		"without any revision":   {Options{NoRevisions: true}, 404, false, false},
	} {
		s := start(t, test.opts)
		d := s.ok("POST", "/v2/deployments", body())
		latest, active := d["latest_revision_id"] != nil, d["active_revision_id"] != nil
		if latest != test.latest || active != test.active {
			t.Errorf("%s: latest %v, active %v", name, d["latest_revision_id"], d["active_revision_id"])
		}
		stored := s.Deployment(d["id"].(string))
		path := fmt.Sprintf("/v2/deployments/%v/revisions/%v", d["id"], stored["latest_revision_id"])
		if got := s.do("GET", path, ""); got.status != test.status {
			t.Errorf("%s: status %d, want %d", name, got.status, test.status)
		}
	}
}

func TestReadDeployment(t *testing.T) {
	t.Parallel()
	s := start(t, Options{Secrets: MaskSecrets})
	d := s.ok("POST", "/v2/deployments", body("secrets", `[{"name":"A","value":"1"}]`))
	if got := s.ok("GET", "/v2/deployments/"+d["id"].(string), ""); compact(t, got) != compact(t, d) {
		t.Errorf("read\n got %s\nwant %s", compact(t, got), compact(t, d))
	}
}
