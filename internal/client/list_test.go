package client

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/graphdeploy/terraform-provider-graphdeploy/internal/fakeserver"
)

func ptr[T any](v T) *T { return &v }

func TestList_sendsAllParameters(t *testing.T) {
	t.Parallel()
	s := serve(t, respondJSON(pageJSON(0)))
	_, err := collect(t.Context(), s.client(t), DeploymentFilter{
		NameContains: ptr("a&b=c/ü"), Status: ptr("READY"), RemoteReconciled: ptr(false), TagValueIDs: []string{"t1", "t2"},
		ImageVersion: ptr("0.1"), DeploymentType: ptr("dev_free"), DeploymentIDs: []string{idA, idB}, PageSize: 7,
	})
	if err != nil {
		t.Fatal(err)
	}
	r := s.requests("")[0]
	equal(t, "path", r.method+" "+r.path, "GET /v2/deployments")
	equal(t, "query", r.query, url.Values{
		"name_contains": {"a&b=c/ü"}, "status": {"READY"}, "remote_reconciled": {"false"}, "tag_value_ids": {"t1,t2"},
		"image_version": {"0.1"}, "deployment_type": {"dev_free"}, "deployment_ids": {idA + "," +
			idB}, "limit": {"7"}, "offset": {"0"},
	})
}

func TestList_withoutFilterRequestsFullPages(t *testing.T) {
	t.Parallel()
	s := serve(t, respondJSON(pageJSON(0)))
	if _, err := collect(t.Context(), s.client(t), DeploymentFilter{}); err != nil {
		t.Fatal(err)
	}
	equal(t, "query", s.requests("")[0].query, url.Values{"limit": {"100"}, "offset": {"0"}})
}

func TestList_sendsEmptyStringsThatAreSet(t *testing.T) {
	t.Parallel()
	s := serve(t, respondJSON(pageJSON(0)))
	if _, err := collect(t.Context(), s.client(t), DeploymentFilter{NameContains: ptr(""),
		RemoteReconciled: ptr(true)}); err != nil {
		t.Fatal(err)
	}
	equal(t, "query", s.requests("")[0].query, url.Values{"name_contains": {""}, "remote_reconciled": {"true"},
		"limit": {"100"}, "offset": {"0"}})
}

func TestList_pages(t *testing.T) {
	t.Parallel()
	a, b, c := deploymentJSON(idA, "a"), deploymentJSON(idB, "b"), deploymentJSON(idC, "c")
	for name, test := range map[string]struct {
		pages   []string
		want    []string
		offsets []string
	}{
		"by the returned offset": {[]string{pageJSON(17, a), pageJSON(40, b), pageJSON(40)}, []string{idA, idB},
			[]string{"0", "17", "40"}},
		"short pages are not the end": {[]string{pageJSON(1, a), pageJSON(2, b), pageJSON(3, c), pageJSON(3)},
			[]string{idA, idB, idC}, []string{"0", "1", "2", "3"}},
		"a page that overlaps": {[]string{pageJSON(2, a, b), pageJSON(3, b, c), pageJSON(3)},
			[]string{idA, idB, idC}, []string{"0", "2", "3"}},
		"a page of what came before": {[]string{pageJSON(1, a), pageJSON(2, a), pageJSON(3, b), pageJSON(3)},
			[]string{idA, idB}, []string{"0", "1", "2", "3"}},
		"the same twice on one page": {[]string{pageJSON(0, a, deploymentJSON(strings.ToUpper(idA), "a"))},
			[]string{idA}, []string{"0"}},
		"an offset that stays": {[]string{pageJSON(1, a), pageJSON(1, b)}, []string{idA, idB},
			[]string{"0", "1"}},
		"an offset that goes back": {[]string{pageJSON(5, a), pageJSON(4, b)}, []string{idA, idB},
			[]string{"0", "5"}},
		"an offset below zero":              {[]string{pageJSON(-1, a)}, []string{idA}, []string{"0"}},
		"an empty page, though it advances": {[]string{pageJSON(1, a), pageJSON(9)}, []string{idA}, []string{"0", "1"}},
		"none":                              {[]string{pageJSON(0)}, nil, []string{"0"}},
		"an offset written with a fraction": {[]string{strings.Replace(pageJSON(1, a), `"offset":1`, `"offset":1.0`, 1),
			pageJSON(1)}, []string{idA}, []string{"0", "1"}},
		"the service's order is kept": {[]string{pageJSON(2, c, a), pageJSON(3, b), pageJSON(3)},
			[]string{idC, idA, idB}, []string{"0", "2", "3"}},
		"unknown fields around the resources": {[]string{`{"total":1,"resources":[` + a + `],"offset":0,"next":null}`},
			[]string{idA}, []string{"0"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var handlers []http.HandlerFunc
			for _, page := range test.pages {
				handlers = append(handlers, respondJSON(page))
			}
			s := serve(t, inTurn(handlers...))
			got, err := collect(t.Context(), s.client(t), DeploymentFilter{})
			if err != nil {
				t.Fatal(err)
			}
			equal(t, "ids", got, test.want)
			equal(t, "offsets", offsets(s), test.offsets)
		})
	}
}

func offsets(s *service) []string {
	var found []string
	for _, r := range s.requests("") {
		found = append(found, r.query.Get("offset"))
	}
	return found
}

func TestList_stopsWithTheLoop(t *testing.T) {
	t.Parallel()
	for name, filter := range map[string]DeploymentFilter{"all": {}, "by id": {DeploymentIDs: []string{idA, idB}}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := serve(t, respondJSON(pageJSON(1, deploymentJSON(idA, "a"))))
			for d, err := range s.client(t).Deployments(t.Context(), filter) {
				if err != nil || d.ID != idA {
					t.Error(d, err)
				}
				break
			}
			equal(t, "requests", s.count(""), 1)
		})
	}
}

// A deployment without a usable id is an error of those only that are not found otherwise, however many there are.
func TestListByID_manyItemsWithoutID(t *testing.T) {
	t.Parallel()
	s := serve(t, respondJSON(repeated(`{"offset":0,"resources":[`+deploymentJSON(idA, "a")+",", `{"name":"b"}`, 900,
		`]}`)))
	results := s.client(t).lookUpIDs(t.Context(), []string{idA, idB})
	equal(t, "error of the one that is found", results[idA].err, nil)
	equal(t, "error of the other", asType[*Error](t, results[idB].err).Message,
		`the response cannot be used: resources[1]: deployment "b" (id ""): the id is not a UUID`)
}

// What ends a list is reported, and not what is wrong with an item before.
func TestListByID_failureAfterAnItemWithoutID(t *testing.T) {
	t.Parallel()
	s := serve(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Query().Get("offset") != "0" {
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		respondJSON(pageJSON(1, deploymentJSON(idA, "a"), `{"name":"b"}`))(w, r)
	})
	results := s.client(t).lookUpIDs(t.Context(), []string{idA, idB})
	equal(t, "error of the one that is found", results[idA].err, nil)
	equal(t, "status of the other", asType[*Error](t, results[idB].err).Status, http.StatusUnauthorized)
}

// paged is the fake with quirks, and ids of n deployments in it.
func paged(t *testing.T, n int, options fakeserver.Options) (*service, []string) {
	t.Helper()
	fake := fakeserver.New(options)
	var ids []string
	for i := range n {
		ids = append(ids, fake.SeedDeployment(map[string]any{"name": fmt.Sprintf("agent-%03d", i)}))
	}
	return serve(t, fake.ServeHTTP), ids
}

func TestList_serviceWithQuirks(t *testing.T) {
	t.Parallel()
	for name, options := range map[string]fakeserver.Options{
		"none":         {},
		"small pages":  {MaxPage: 7},
		"overlap":      {MaxPage: 9, RepeatLast: 4},
		"extra fields": {ExtraFields: true},
		"null":         {NullForEmpty: true},
		"omitted":      {OmitEmpty: true},
		"2048.0":       {IntegersAsFloats: true},
		"no id filter": {IgnoreIDFilter: true, MaxPage: 50},
		"below a path": {PathPrefix: "/api"},
		"no secrets":   {Secrets: fakeserver.OmitSecrets},
		"newest first": {NewestFirst: true, MaxPage: 11},
		"all of it": {MaxPage: 13, RepeatLast: 3, ExtraFields: true, OmitEmpty: true, IntegersAsFloats: true,
			IgnoreIDFilter: true},
		"with defaults": {Defaults: fakeserver.DefaultDefaults()},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, ids := paged(t, 60, options)
			c := s.client(t, func(config *Config) { config.BaseURL = s.url.JoinPath(options.PathPrefix) })
			for what, filter := range map[string]DeploymentFilter{"all": {}, "by id": {DeploymentIDs: ids},
				"in pages of 7": {PageSize: 7}} {
				got, err := collect(t.Context(), c, filter)
				if err != nil {
					t.Fatalf("%s: %v", what, err)
				}
				if options.NewestFirst {
					slices.Reverse(got)
				}
				equal(t, what, got, ids)
			}
		})
	}
}

func TestListByID_requestsAHundredAtATime(t *testing.T) {
	t.Parallel()
	s, ids := paged(t, 250, fakeserver.Options{})
	got, err := collect(t.Context(), s.client(t), DeploymentFilter{DeploymentIDs: ids})
	if err != nil {
		t.Fatal(err)
	}
	equal(t, "ids", slices.Sorted(slices.Values(got)), slices.Sorted(slices.Values(ids)))
	var asked []int
	for _, r := range s.requests("") {
		asked = append(asked, len(strings.Split(r.query.Get("deployment_ids"), ",")))
	}
	// One page each: all are found then, and an empty page is not asked for.
	equal(t, "ids in a request", asked, []int{100, 100, 50})
}

func TestListByID_duplicateIDs(t *testing.T) {
	t.Parallel()
	s, ids := paged(t, 101, fakeserver.Options{})
	again := slices.Concat(ids, []string{strings.ToUpper(ids[0]), ids[100]})
	got, err := collect(t.Context(), s.client(t), DeploymentFilter{DeploymentIDs: again})
	if err != nil {
		t.Fatal(err)
	}
	equal(t, "ids", slices.Sorted(slices.Values(got)), slices.Sorted(slices.Values(ids)))
	equal(t, "the ids given", again[101], strings.ToUpper(ids[0])) // not changed
}

func TestListByID_readsUntilAllAreFound(t *testing.T) {
	t.Parallel()
	s := serve(t, inTurn(
		respondJSON(pageJSON(1, deploymentJSON(idA, "a"))),
		respondJSON(pageJSON(2, deploymentJSON(idC, "c"))), // not asked for
		respondJSON(pageJSON(3, deploymentJSON(idB, "b"))),
		respond(http.StatusBadRequest, `{}`), // one too many
	))
	got, err := collect(t.Context(), s.client(t), DeploymentFilter{DeploymentIDs: []string{idA, idB}})
	if err != nil {
		t.Fatal(err)
	}
	equal(t, "ids", got, []string{idA, idB})
	equal(t, "requests", s.count(""), 3)
}

func TestIDs_areCaseInsensitive(t *testing.T) {
	t.Parallel()
	s := serve(t, respondJSON(pageJSON(1, deploymentJSON(strings.ToUpper(idA), "a"))))
	d, err := s.client(t).Deployment(t.Context(), idA)
	if err != nil {
		t.Fatal(err)
	}
	equal(t, "id", d.ID, strings.ToUpper(idA))
}

func TestListByID_noIDsNoRequest(t *testing.T) {
	t.Parallel()
	s := serve(t, respondJSON(pageJSON(1, deploymentJSON(idA, "a"))))
	got, err := collect(t.Context(), s.client(t), DeploymentFilter{DeploymentIDs: []string{}})
	if len(got) != 0 || err != nil || s.count("") != 0 {
		t.Errorf("got %v, %v after %d requests", got, err, s.count(""))
	}
}

func TestList_unreadablePage(t *testing.T) {
	t.Parallel()
	good := deploymentJSON(idA, "a")
	for name, test := range map[string]struct{ body, want string }{
		"no resources":         {`{"offset":0}`, `no "resources"`},
		"no offset":            {`{"resources":[]}`, `no "offset"`},
		"no offset, but items": {`{"resources":[` + good + `]}`, `no "offset"`},
		"null resources":       {`{"resources":null,"offset":0}`, `no "resources"`},
		"null offset":          {`{"resources":[],"offset":null}`, `no "offset"`},
		"an array":             {`[` + good + `]`, "array is not an object"},
		"null":                 {`null`, `no "resources"`},
		"a text":               {`"hello"`, "string is not an object"},
		"object for resources": {`{"resources":{"a":` + good + `},"offset":0}`, "resources: object"},
		"text for offset":      {`{"resources":[],"offset":"0"}`, "offset: string is not a number"},
		"fraction for offset":  {`{"resources":[],"offset":0.5}`, "the offset 0.5 is not an integer"},
		"a null item":          {`{"resources":[` + good + `,null],"offset":0}`, "resources[1] is not an object"},
		"a text as an item":    {`{"resources":["` + idA + `"],"offset":0}`, "resources[0] is not an object"},
		"an item without name": {`{"resources":[{"id":"` + idA + `","source":"s"}],"offset":0}`,
			`resources[0]: deployment "" (id "` + idA + `"): it has no name`},
		"without source": {`{"resources":[{"id":"` + idA + `","name":"n"}],"offset":0}`,
			`resources[0]: deployment "n" (id "` + idA + `"): it has no source`},
		"without id": {`{"resources":[{"name":"n","source":"s"}],"offset":0}`,
			`resources[0]: deployment "n" (id ""): the id is not a UUID`},
		"id is no UUID": {`{"resources":[` + deploymentJSON("17", "n") + `],"offset":0}`,
			`deployment "n" (id "17"): the id is not a UUID`},
		"id in braces": {`{"resources":[` + deploymentJSON("{"+idA+"}", "n") + `],"offset":0}`,
			"the id is not a UUID"},
		"half of it": {pageJSON(1, good)[:40], "it is not JSON"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			first, second := serve(t, respondJSON(test.body)), serve(t,
				inTurn(respondJSON(pageJSON(1, deploymentJSON(idC, "c"))), respondJSON(test.body)))
			for where, s := range map[string]*service{"first page": first, "second page": second} {
				for what, filter := range map[string]DeploymentFilter{"all": {}, "by id": {DeploymentIDs: []string{idA, idC}}} {
					if where == "second page" && what == "by id" {
						continue // the second round begins with the bad page
					}
					_, err := collect(t.Context(), s.client(t), filter)
					if err == nil || !strings.Contains(err.Error(), "list deployments failed (GET /v2/deployments): ") ||
						!strings.Contains(err.Error(), test.want) {
						t.Errorf("%s, %s: %v", where, what, err)
					}
				}
			}
		})
	}
}

func TestList_errorOnALaterPage(t *testing.T) {
	t.Parallel()
	for name, filter := range map[string]DeploymentFilter{"all": {}, "by id": {DeploymentIDs: []string{idA, idB}}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := serve(t, inTurn(respondJSON(pageJSON(1, deploymentJSON(idA, "a"))),
				respond(http.StatusForbidden, `{"detail":"no"}`)))
			got, err := collect(t.Context(), s.client(t), filter)
			equal(t, "before it", got, []string{idA})
			equal(t, "status", asType[*Error](t, err).Status, http.StatusForbidden)
		})
	}
	t.Run("by name", func(t *testing.T) {
		t.Parallel()
		s := serve(t, inTurn(respondJSON(pageJSON(1, deploymentJSON(idA, "a"))),
			respond(http.StatusForbidden, `{"detail":"no"}`)))
		got, err := s.client(t).DeploymentsNamed(t.Context(), "a")
		if got != nil || asType[*Error](t, err).Status != http.StatusForbidden {
			t.Errorf("got %v, %v", got, err)
		}
	})
}

func TestDeployment_readsOneByID(t *testing.T) {
	t.Parallel()
	s, ids := paged(t, 3, fakeserver.Options{IgnoreIDFilter: true, MaxPage: 1})
	d, err := s.client(t).Deployment(t.Context(), ids[1])
	if err != nil {
		t.Fatal(err)
	}
	equal(t, "id", d.ID, ids[1])
	equal(t, "asked for", s.requests("")[0].query.Get("deployment_ids"), ids[1])
}

func TestDeployment_notListed(t *testing.T) {
	t.Parallel()
	s, _ := paged(t, 3, fakeserver.Options{IgnoreIDFilter: true})
	d, err := s.client(t).Deployment(t.Context(), idA)
	if d != nil || !errors.Is(err, ErrNotFound) || !strings.Contains(err.Error(), idA) {
		t.Errorf("got %v, %v", d, err)
	}
}

func TestDeployment_failedReadIsNotErrNotFound(t *testing.T) {
	t.Parallel()
	s := serve(t, respond(http.StatusNotFound, `{"detail":"no such path"}`))
	d, err := s.client(t).Deployment(t.Context(), idA)
	if d != nil || errors.Is(err, ErrNotFound) || asType[*Error](t, err).Status != http.StatusNotFound {
		t.Errorf("got %v, %v", d, err)
	}
}

func TestDeploymentsNamed_comparesNames(t *testing.T) {
	t.Parallel()
	s := serve(t, inTurn(
		respondJSON(pageJSON(2, deploymentJSON(idA, "Bot"), deploymentJSON(idB, "bot"))),
		respondJSON(pageJSON(3, deploymentJSON(idC, "bot-2"))),
		respondJSON(pageJSON(4, deploymentJSON("dddddddd-0000-4000-8000-000000000004", "bot"))),
		respondJSON(pageJSON(4)),
	))
	found, err := s.client(t).DeploymentsNamed(t.Context(), "bot")
	if err != nil {
		t.Fatal(err)
	}
	var ids []string
	for _, d := range found {
		ids = append(ids, d.ID)
	}
	equal(t, "ids", ids, []string{idB, "dddddddd-0000-4000-8000-000000000004"})
	equal(t, "filter", s.requests("")[0].query.Get("name_contains"), "bot")
}

func TestList_overlappingPages(t *testing.T) {
	t.Parallel()
	const total = 2500
	s := serve(t, func(w http.ResponseWriter, r *http.Request) {
		offset, _ := strconv.Atoi(r.URL.Query().Get("offset"))
		limit, _ := strconv.Atoi(r.URL.Query().Get("limit"))
		var items []string
		end := min(offset+limit, total)
		for i := max(0, offset-10); i < end; i++ {
			items = append(items, deploymentJSON(fmt.Sprintf("00000000-0000-4000-8000-%012d", i), "n"))
		}
		respondJSON(pageJSON(end, items...))(w, r)
	})
	got, err := collect(t.Context(), s.client(t), DeploymentFilter{})
	if err != nil {
		t.Fatal(err)
	}
	equal(t, "number", len(got), total)
}

func TestList_endsWithItsContext(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	s := serve(t, inTurn(
		respondJSON(pageJSON(1, deploymentJSON(idA, "a"))),
		func(w http.ResponseWriter, r *http.Request) { cancel(); silent(w, r) },
	))
	got, err := collect(ctx, s.client(t), DeploymentFilter{})
	equal(t, "before it", got, []string{idA})
	equal(t, "error", err, context.Canceled)
}

// A service that accepts only the offsets that it has returned can be listed, in one request for each page and one
// more.
func TestList_passesTheReturnedOffset(t *testing.T) {
	t.Parallel()
	const total = 10_000
	returned := map[string]int{"0": 0}
	c := inMemory(func(w http.ResponseWriter, r *http.Request) {
		begin, ok := returned[r.URL.Query().Get("offset")]
		if !ok {
			respond(http.StatusBadRequest, `{"detail":"unknown offset"}`)(w, r)
			return
		}
		var items []string
		for i := begin; i < min(begin+MaxPageSize, total); i++ {
			items = append(items, deploymentJSON(fmt.Sprintf("00000000-0000-4000-8000-%012d", i), "n"))
		}
		next := (begin + len(items)) * 7
		returned[strconv.Itoa(next)] = begin + len(items)
		respondJSON(pageJSON(next, items...))(w, r)
	})
	requests := 0
	c.config.Log = func(context.Context, string, map[string]any) { requests++ }
	got, err := collect(t.Context(), c, DeploymentFilter{})
	equal(t, "error", err, nil)
	equal(t, "number", len(got), total)
	equal(t, "requests", requests, 101)
}

func TestList_isBounded(t *testing.T) {
	t.Parallel()
	id := 0
	for name, test := range map[string]struct {
		item  func() listItem
		err   error
		pages int64
	}{
		"new ids without end": {func() listItem { id++; return listItem{id: fmt.Sprint(id)} }, errTooManyPages, 10_000},
		"always the same":     {func() listItem { return listItem{id: idA} }, errUselessPages, 21},
		"without ids":         {func() listItem { return listItem{} }, errUselessPages, 20},
	} {
		var pages int64
		var last error
		fetch := func(offset int64) (listPage, error) {
			pages++
			return listPage{items: []listItem{test.item()}, next: offset + 1}, nil
		}
		for _, err := range walkPages(fetch, maxPages, nil) {
			last = err
		}
		equal(t, name+": error", last, test.err)
		equal(t, name+": pages", pages, test.pages)
	}
}

// A lookup by ids takes a page for the ids and a margin, whatever the service lists instead.
func TestListByID_isBounded(t *testing.T) {
	t.Parallel()
	n := 0
	s := serve(t, func(w http.ResponseWriter, r *http.Request) {
		n++
		respondJSON(pageJSON(n, deploymentJSON(fmt.Sprintf("00000000-0000-4000-8000-%012d", n), "n")))(w, r)
	})
	_, err := s.client(t).Deployment(t.Context(), idA)
	equal(t, "error", err, errUselessPages)
	equal(t, "requests", s.count(""), 20)
}

// One deployment that cannot be read leaves the others readable, and is named by its error.
func TestUnreadableDeployment_failsAlone(t *testing.T) {
	t.Parallel()
	for name, bad := range map[string]string{
		"a field":                               `{"id":"` + idB + `","name":"broken","source":"s","secrets":7}`,
		"no name":                               `{"id":"` + idB + `","source":"s"}`,
		"a name of another type, and no source": `{"id":"` + idB + `","name":7}`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := serve(t, respondJSON(pageJSON(0, deploymentJSON(idA, "a"), bad, deploymentJSON(idC, "c"))))
			c := s.client(t)
			for _, id := range []string{idA, idC} {
				if d, err := c.Deployment(t.Context(), id); err != nil || d.ID != id {
					t.Errorf("got %v, %v", d, err)
				}
			}
			found, err := c.DeploymentsNamed(t.Context(), "c")
			if err != nil || len(found) != 1 || found[0].ID != idC {
				t.Errorf("got %v, %v", found, err)
			}
			_, err = c.Deployment(t.Context(), idB)
			if _ = asType[*Error](t, err); errors.Is(err, ErrNotFound) ||
				!strings.Contains(err.Error(), `resources[1]: deployment "`) || !strings.Contains(err.Error(), `(id "`+idB+`"): `) {
				t.Errorf("got %v", err)
			}
			got, err := collect(t.Context(), c, DeploymentFilter{})
			equal(t, "before it", got, []string{idA})
			if err == nil || !strings.Contains(err.Error(), idB) {
				t.Errorf("got %v", err)
			}
		})
	}
	t.Run("by name", func(t *testing.T) {
		t.Parallel()
		s := serve(t, respondJSON(pageJSON(0, `{"id":"`+idA+`","name":"a"}`)))
		_, err := s.client(t).DeploymentsNamed(t.Context(), "a")
		if err == nil || !strings.Contains(err.Error(), `deployment "a" (id "`+idA+`"): it has no source`) {
			t.Errorf("got %v", err)
		}
	})
}

// A deployment without a usable id may be the one that is missing: it does not count as deleted.
func TestUnidentifiedDeployment_isNotTakenForMissing(t *testing.T) {
	t.Parallel()
	s := serve(t, respondJSON(pageJSON(0, deploymentJSON(idA, "a"), deploymentJSON("17", "b"))))
	c := s.client(t)
	if _, err := c.Deployment(t.Context(), idA); err != nil {
		t.Error(err)
	}
	_, err := c.Deployment(t.Context(), idB)
	if err == nil || errors.Is(err, ErrNotFound) || !strings.Contains(err.Error(),
		`deployment "b" (id "17"): the id is not a UUID`) {
		t.Errorf("got %v", err)
	}
	got, err := collect(t.Context(), c, DeploymentFilter{DeploymentIDs: []string{idA, idB}})
	equal(t, "before it", got, []string{idA})
	if err == nil || !strings.Contains(err.Error(), `(id "17")`) {
		t.Errorf("got %v", err)
	}
}
