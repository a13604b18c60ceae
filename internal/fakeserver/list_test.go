package fakeserver

import (
	"fmt"
	"strings"
	"testing"
)

func TestListPages(t *testing.T) {
	t.Parallel()
	type page struct {
		names string
		next  string
	}
	for name, test := range map[string]struct {
		opts  Options
		limit int
		pages []page
	}{
		"plain":        {Options{}, 2, []page{{"a b", "2"}, {"c d", "4"}, {"e", "5"}, {"", "5"}}},
		"newest first": {Options{NewestFirst: true}, 3, []page{{"e d c", "3"}, {"b a", "5"}, {"", "5"}}},
		"short pages":  {Options{MaxPage: 2}, 100, []page{{"a b", "2"}, {"c d", "4"}, {"e", "5"}, {"", "5"}}},
		"overlapping":  {Options{RepeatLast: 1}, 3, []page{{"a b c", "3"}, {"c d e", "5"}, {"e", "5"}}},
		"overlap too wide": {Options{RepeatLast: 9}, 2,
			[]page{{"a b", "2"}, {"b c", "3"}, {"c d", "4"}, {"d e", "5"}, {"e", "5"}}},
		"overlap of one": {Options{RepeatLast: 9}, 1,
			[]page{{"a", "1"}, {"b", "2"}, {"c", "3"}, {"d", "4"}, {"e", "5"}, {"", "5"}}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := start(t, test.opts)
			for _, name := range []string{"a", "b", "c", "d", "e"} {
				s.SeedDeployment(map[string]any{"name": name})
			}
			offset := "0"
			for i, want := range test.pages {
				got := s.ok("GET", fmt.Sprintf("/v2/deployments?limit=%d&offset=%s", test.limit, offset), "")
				var names []string
				for _, d := range got["resources"].([]any) {
					names = append(names, at(t, d, "name").(string))
				}
				offset = fmt.Sprint(got["offset"])
				if strings.Join(names, " ") != want.names || offset != want.next {
					t.Errorf("page %d: %v next %s, want %s next %s", i, names, offset, want.names, want.next)
				}
			}
		})
	}
}

func TestListDefaultsTo20FromTheStart(t *testing.T) {
	t.Parallel()
	s := start(t, Options{})
	for range 25 {
		s.SeedDeployment(nil)
	}
	got := s.ok("GET", "/v2/deployments", "")
	if n := len(got["resources"].([]any)); n != 20 || fmt.Sprint(got["offset"]) != "20" {
		t.Errorf("%d items, offset %v", n, got["offset"])
	}
	if got := s.ok("GET", "/v2/deployments?offset=70", ""); len(got["resources"].([]any)) != 0 ||
		fmt.Sprint(got["offset"]) != "70" {
		t.Errorf("beyond the end: %v", got)
	}
}

func TestListFilters(t *testing.T) {
	t.Parallel()
	const (
		one = "00000000-0000-4000-8000-000000000001"
		two = "00000000-0000-4000-8000-000000000002"
	)
	for query, want := range map[string]string{
		"":                                   "Agent-API web",
		"name_contains=agent":                "Agent-API",
		"name_contains=":                     "Agent-API web",
		"name_contains=%25":                  "",
		"status=UNUSED":                      "web",
		"status=NEWER":                       "",
		"image_version=0.1.1":                "Agent-API",
		"deployment_type=prod":               "web",
		"deployment_type=dev":                "",
		"remote_reconciled=true":             "web",
		"remote_reconciled=false":            "Agent-API",
		"tag_value_ids=t9,t2":                "web",
		"tag_value_ids=t9":                   "",
		"deployment_ids=" + two:              "web",
		"deployment_ids=" + two + "," + one:  "Agent-API web",
		"status=READY&deployment_ids=" + two: "",
		"deployment_ids=7c9e6679-7425-40de-944b-e07fc1f90ae7": "",
	} {
		t.Run(query, func(t *testing.T) {
			t.Parallel()
			s := start(t, Options{})
			s.SeedDeployment(map[string]any{"id": one, "name": "Agent-API", "source": "codehost"})
			s.SeedDeployment(map[string]any{
				"id": two, "name": "web", "status": "UNUSED",
				"deployment_type": "prod", "remote_reconciled": true, "tag_value_ids": []string{"t1", "t2"},
			})
			got := s.ok("GET", "/v2/deployments?"+query, "")
			var names []string
			for _, d := range got["resources"].([]any) {
				names = append(names, at(t, d, "name").(string))
				if at(t, d, "deployment_type") != "(absent)" {
					t.Error("a member that only filters use is in the response")
				}
			}
			if strings.Join(names, " ") != want {
				t.Errorf("%v, want %s", names, want)
			}
		})
	}
}

func TestListRejects(t *testing.T) {
	t.Parallel()
	s := start(t, Options{})
	for query, param := range map[string]string{
		"limit=0":               "limit",
		"limit=101":             "limit",
		"limit=ten":             "limit",
		"limit=":                "limit",
		"offset=-1":             "offset",
		"offset=1.5":            "offset",
		"deployment_type=Prod":  "deployment_type",
		"deployment_type=":      "deployment_type",
		"remote_reconciled=yes": "remote_reconciled",
		"deployment_ids=":       "deployment_ids",
		"deployment_ids=x":      "deployment_ids",
		"name=x":                "name",
		"status=A&status=B":     "status",
	} {
		got := s.do("GET", "/v2/deployments?"+query, "")
		if got.status != 422 {
			t.Errorf("%.40s: status %d, want 422", query, got.status)
			continue
		}
		if loc := compact(t, at(t, got.object(t), "detail", 0, "loc")); loc != `["query","`+param+`"]` {
			t.Errorf("%.40s: loc %s", query, loc)
		}
	}
}

func TestIgnoreIDFilter(t *testing.T) {
	t.Parallel()
	s := start(t, Options{IgnoreIDFilter: true})
	s.SeedDeployment(nil)
	if got := s.ok("GET", "/v2/deployments?deployment_ids="+DemoIntegrationID, ""); len(got["resources"].([]any)) != 1 {
		t.Errorf("filtered: %v", got)
	}
}

func TestListTakesAnyNumberOfIDs(t *testing.T) {
	t.Parallel()
	s := start(t, Options{})
	var ids []string
	for range 150 {
		ids = append(ids, s.SeedDeployment(nil))
	}
	got := s.ok("GET", "/v2/deployments?limit=100&deployment_ids="+strings.Join(ids, ","), "")
	if n := len(got["resources"].([]any)); n != 100 || fmt.Sprint(got["offset"]) != "100" {
		t.Errorf("%d items, offset %v, want 100 and 100", n, got["offset"])
	}
}

func TestPlainListsRejectQueryParameters(t *testing.T) {
	t.Parallel()
	s := start(t, Options{})
	s.SeedDemo()
	for _, path := range []string{"/v2/auth/providers",
		"/v1/integrations/forge/codehost/" + DemoIntegrationID + "/repos"} {
		got := s.do("GET", path+"?limit=100", "")
		if got.status != 422 || compact(t, at(t, got.object(t), "detail", 0, "loc")) != `["query","limit"]` {
			t.Errorf("%s: status %d: %s", path, got.status, got.body)
		}
	}
}
