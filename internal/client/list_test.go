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

func TestListSendsAllParameters(t *testing.T) {
	t.Parallel()
	s := serve(t, answerJSON(pageJSON(0)))
	_, err := collect(t.Context(), s.client(t), DeploymentFilter{
		NameContains: ptr("a&b=c/ü"), Status: ptr("READY"), RemoteReconciled: ptr(false), TagValueIDs: []string{"t1", "t2"},
		ImageVersion: ptr("0.1"), DeploymentType: ptr("dev_free"), DeploymentIDs: []string{idA, idB}, PageSize: 7,
	})
	if err != nil {
		t.Fatal(err)
	}
	r := s.requests("")[0]
	same(t, "path", r.method+" "+r.path, "GET /v2/deployments")
	same(t, "query", r.query, url.Values{
		"name_contains": {"a&b=c/ü"}, "status": {"READY"}, "remote_reconciled": {"false"}, "tag_value_ids": {"t1,t2"},
		"image_version": {"0.1"}, "deployment_type": {"dev_free"}, "deployment_ids": {idA + "," + idB}, "limit": {"7"}, "offset": {"0"},
	})
}

func TestListWithoutFilterAsksForFullPages(t *testing.T) {
	t.Parallel()
	s := serve(t, answerJSON(pageJSON(0)))
	if _, err := collect(t.Context(), s.client(t), DeploymentFilter{}); err != nil {
		t.Fatal(err)
	}
	same(t, "query", s.requests("")[0].query, url.Values{"limit": {"100"}, "offset": {"0"}})
}

func TestListSendsEmptyTextsThatAreSet(t *testing.T) {
	t.Parallel()
	s := serve(t, answerJSON(pageJSON(0)))
	if _, err := collect(t.Context(), s.client(t), DeploymentFilter{NameContains: ptr(""), RemoteReconciled: ptr(true)}); err != nil {
		t.Fatal(err)
	}
	same(t, "query", s.requests("")[0].query, url.Values{"name_contains": {""}, "remote_reconciled": {"true"}, "limit": {"100"}, "offset": {"0"}})
}

func TestListWalksPages(t *testing.T) {
	t.Parallel()
	a, b, c := deploymentJSON(idA, "a"), deploymentJSON(idB, "b"), deploymentJSON(idC, "c")
	for name, test := range map[string]struct {
		pages   []string
		want    []string
		offsets []string
	}{
		"by the returned offset":              {[]string{pageJSON(17, a), pageJSON(40, b), pageJSON(40)}, []string{idA, idB}, []string{"0", "17", "40"}},
		"short pages are not the end":         {[]string{pageJSON(1, a), pageJSON(2, b), pageJSON(3, c), pageJSON(3)}, []string{idA, idB, idC}, []string{"0", "1", "2", "3"}},
		"a page that overlaps":                {[]string{pageJSON(2, a, b), pageJSON(3, b, c), pageJSON(3)}, []string{idA, idB, idC}, []string{"0", "2", "3"}},
		"a page of what came before":          {[]string{pageJSON(1, a), pageJSON(2, a), pageJSON(3, b), pageJSON(3)}, []string{idA, idB}, []string{"0", "1", "2", "3"}},
		"the same twice on one page":          {[]string{pageJSON(0, a, deploymentJSON(strings.ToUpper(idA), "a"))}, []string{idA}, []string{"0"}},
		"an offset that stays":                {[]string{pageJSON(1, a), pageJSON(1, b)}, []string{idA, idB}, []string{"0", "1"}},
		"an offset that goes back":            {[]string{pageJSON(5, a), pageJSON(4, b)}, []string{idA, idB}, []string{"0", "5"}},
		"an offset below zero":                {[]string{pageJSON(-1, a)}, []string{idA}, []string{"0"}},
		"an empty page, though it advances":   {[]string{pageJSON(1, a), pageJSON(9)}, []string{idA}, []string{"0", "1"}},
		"none":                                {[]string{pageJSON(0)}, nil, []string{"0"}},
		"an offset written with a fraction":   {[]string{strings.Replace(pageJSON(1, a), `"offset":1`, `"offset":1.0`, 1), pageJSON(1)}, []string{idA}, []string{"0", "1"}},
		"the service's order is kept":         {[]string{pageJSON(2, c, a), pageJSON(3, b), pageJSON(3)}, []string{idC, idA, idB}, []string{"0", "2", "3"}},
		"unknown fields around the resources": {[]string{`{"total":1,"resources":[` + a + `],"offset":0,"next":null}`}, []string{idA}, []string{"0"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var handlers []http.HandlerFunc
			for _, page := range test.pages {
				handlers = append(handlers, answerJSON(page))
			}
			s := serve(t, inTurn(handlers...))
			got, err := collect(t.Context(), s.client(t), DeploymentFilter{})
			if err != nil {
				t.Fatal(err)
			}
			same(t, "ids", got, test.want)
			same(t, "offsets", offsets(s), test.offsets)
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

func TestListStopsWhereTheLoopStops(t *testing.T) {
	t.Parallel()
	for name, filter := range map[string]DeploymentFilter{"all": {}, "by id": {DeploymentIDs: []string{idA, idB}}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := serve(t, answerJSON(pageJSON(1, deploymentJSON(idA, "a"))))
			for d, err := range s.client(t).Deployments(t.Context(), filter) {
				if err != nil || d.ID != idA {
					t.Error(d, err)
				}
				break
			}
			same(t, "requests", s.count(""), 1)
		})
	}
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

func TestListOfAServiceWithQuirks(t *testing.T) {
	t.Parallel()
	for name, options := range map[string]fakeserver.Options{
		"none":          {},
		"small pages":   {MaxPage: 7},
		"overlap":       {MaxPage: 9, RepeatLast: 4},
		"extra fields":  {ExtraFields: true},
		"null":          {NullForEmpty: true},
		"left out":      {OmitEmpty: true},
		"2048.0":        {IntegersAsFloats: true},
		"no id filter":  {IgnoreIDFilter: true, MaxPage: 50},
		"below a path":  {PathPrefix: "/api"},
		"no secrets":    {Secrets: fakeserver.OmitSecrets},
		"newest first":  {NewestFirst: true, MaxPage: 11},
		"all of it":     {MaxPage: 13, RepeatLast: 3, ExtraFields: true, OmitEmpty: true, IntegersAsFloats: true, IgnoreIDFilter: true},
		"with defaults": {Defaults: fakeserver.DefaultDefaults()},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, ids := paged(t, 60, options)
			c := s.client(t, func(config *Config) { config.BaseURL = s.url.JoinPath(options.PathPrefix) })
			for what, filter := range map[string]DeploymentFilter{"all": {}, "by id": {DeploymentIDs: ids}, "in pages of 7": {PageSize: 7}} {
				got, err := collect(t.Context(), c, filter)
				if err != nil {
					t.Fatalf("%s: %v", what, err)
				}
				if options.NewestFirst {
					slices.Reverse(got)
				}
				same(t, what, got, ids)
			}
		})
	}
}

func TestListByIDAsksForAHundredAtATime(t *testing.T) {
	t.Parallel()
	s, ids := paged(t, 250, fakeserver.Options{})
	got, err := collect(t.Context(), s.client(t), DeploymentFilter{DeploymentIDs: ids})
	if err != nil {
		t.Fatal(err)
	}
	same(t, "ids", got, ids)
	var asked []int
	for _, r := range s.requests("") {
		asked = append(asked, len(strings.Split(r.query.Get("deployment_ids"), ",")))
	}
	// One page each: all are found then, and an empty page is not asked for.
	same(t, "ids in a request", asked, []int{100, 100, 50})
}

func TestListByIDGivesEachOnceThoughAskedTwice(t *testing.T) {
	t.Parallel()
	s, ids := paged(t, 101, fakeserver.Options{})
	again := slices.Concat(ids, []string{strings.ToUpper(ids[0]), ids[100]})
	got, err := collect(t.Context(), s.client(t), DeploymentFilter{DeploymentIDs: again})
	if err != nil {
		t.Fatal(err)
	}
	same(t, "ids", got, ids)
	same(t, "the ids given", again[101], strings.ToUpper(ids[0])) // not changed
}

func TestListByIDReadsOnUntilAllAreFound(t *testing.T) {
	t.Parallel()
	s := serve(t, inTurn(
		answerJSON(pageJSON(1, deploymentJSON(idA, "a"))),
		answerJSON(pageJSON(2, deploymentJSON(idC, "c"))), // not asked for
		answerJSON(pageJSON(3, deploymentJSON(idB, "b"))),
		answer(http.StatusBadRequest, `{}`), // one too many
	))
	got, err := collect(t.Context(), s.client(t), DeploymentFilter{DeploymentIDs: []string{idA, idB}})
	if err != nil {
		t.Fatal(err)
	}
	same(t, "ids", got, []string{idA, idB})
	same(t, "requests", s.count(""), 3)
}

func TestIDsAreEqualWhateverTheirCase(t *testing.T) {
	t.Parallel()
	s := serve(t, answerJSON(pageJSON(1, deploymentJSON(strings.ToUpper(idA), "a"))))
	d, err := s.client(t).Deployment(t.Context(), idA)
	if err != nil {
		t.Fatal(err)
	}
	same(t, "id", d.ID, strings.ToUpper(idA))
}

func TestListOfNoIDsAsksNothing(t *testing.T) {
	t.Parallel()
	s := serve(t, answerJSON(pageJSON(1, deploymentJSON(idA, "a"))))
	got, err := collect(t.Context(), s.client(t), DeploymentFilter{DeploymentIDs: []string{}})
	if len(got) != 0 || err != nil || s.count("") != 0 {
		t.Errorf("got %v, %v after %d requests", got, err, s.count(""))
	}
}

func TestUnreadablePageIsAnError(t *testing.T) {
	t.Parallel()
	good := deploymentJSON(idA, "a")
	for name, test := range map[string]struct{ body, want string }{
		"no resources":         {`{"offset":0}`, `no "resources"`},
		"no offset":            {`{"resources":[]}`, `no "offset"`},
		"no offset, but items": {`{"resources":[` + good + `]}`, `no "offset"`},
		"null resources":       {`{"resources":null,"offset":0}`, `no "resources"`},
		"null offset":          {`{"resources":[],"offset":null}`, `no "offset"`},
		"an array":             {`[` + good + `]`, "the whole response: array is not an object"},
		"null":                 {`null`, `no "resources"`},
		"a text":               {`"hello"`, "the whole response: string is not an object"},
		"object for resources": {`{"resources":{"a":` + good + `},"offset":0}`, "resources: object is not a list"},
		"text for offset":      {`{"resources":[],"offset":"0"}`, "offset: its value is not an integer"},
		"fraction for offset":  {`{"resources":[],"offset":0.5}`, "offset: number 0.5 is not an integer"},
		"a null item":          {`{"resources":[` + good + `,null],"offset":0}`, "resources[1]: null instead of a deployment"},
		"a text as an item":    {`{"resources":["` + idA + `"],"offset":0}`, "resources: string is not an object"},
		"an item without name": {`{"resources":[{"id":"` + idA + `","source":"s"}],"offset":0}`, "resources[0]: a deployment without a name"},
		"without source":       {`{"resources":[{"id":"` + idA + `","name":"n"}],"offset":0}`, "resources[0]: a deployment without a source"},
		"without id":           {`{"resources":[{"name":"n","source":"s"}],"offset":0}`, `resources[0]: "" as the id of a deployment is not a UUID`},
		"id is no UUID":        {`{"resources":[` + deploymentJSON("17", "n") + `],"offset":0}`, `"17" as the id of a deployment is not a UUID`},
		"id in braces":         {`{"resources":[` + deploymentJSON("{"+idA+"}", "n") + `],"offset":0}`, "is not a UUID"},
		"half of it":           {pageJSON(1, good)[:40], "it is not JSON"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			first, second := serve(t, answerJSON(test.body)), serve(t, inTurn(answerJSON(pageJSON(1, deploymentJSON(idC, "c"))), answerJSON(test.body)))
			for where, s := range map[string]*service{"first page": first, "second page": second} {
				for what, filter := range map[string]DeploymentFilter{"all": {}, "by id": {DeploymentIDs: []string{idA, idC}}} {
					if where == "second page" && what == "by id" {
						continue // the second round begins with the bad page
					}
					_, err := collect(t.Context(), s.client(t), filter)
					if err == nil || !strings.Contains(err.Error(), "list deployments failed (GET /v2/deployments): the response cannot be used: ") || !strings.Contains(err.Error(), test.want) {
						t.Errorf("%s, %s: %v", where, what, err)
					}
				}
			}
		})
	}
}

func TestErrorOnALaterPageIsAnError(t *testing.T) {
	t.Parallel()
	for name, filter := range map[string]DeploymentFilter{"all": {}, "by id": {DeploymentIDs: []string{idA, idB}}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := serve(t, inTurn(answerJSON(pageJSON(1, deploymentJSON(idA, "a"))), answer(http.StatusForbidden, `{"detail":"no"}`)))
			got, err := collect(t.Context(), s.client(t), filter)
			same(t, "before it", got, []string{idA})
			same(t, "status", asError(t, err).Status, http.StatusForbidden)
		})
	}
	t.Run("by name", func(t *testing.T) {
		t.Parallel()
		s := serve(t, inTurn(answerJSON(pageJSON(1, deploymentJSON(idA, "a"))), answer(http.StatusForbidden, `{"detail":"no"}`)))
		got, err := s.client(t).DeploymentsNamed(t.Context(), "a")
		if got != nil || asError(t, err).Status != http.StatusForbidden {
			t.Errorf("got %v, %v", got, err)
		}
	})
}

func TestDeploymentReadsOneByID(t *testing.T) {
	t.Parallel()
	s, ids := paged(t, 3, fakeserver.Options{IgnoreIDFilter: true, MaxPage: 1})
	d, err := s.client(t).Deployment(t.Context(), ids[1])
	if err != nil {
		t.Fatal(err)
	}
	same(t, "id", d.ID, ids[1])
	same(t, "asked for", s.requests("")[0].query.Get("deployment_ids"), ids[1])
}

func TestDeploymentThatIsNotListedIsNotFound(t *testing.T) {
	t.Parallel()
	s, _ := paged(t, 3, fakeserver.Options{IgnoreIDFilter: true})
	d, err := s.client(t).Deployment(t.Context(), idA)
	if d != nil || !errors.Is(err, ErrNotFound) || !strings.Contains(err.Error(), idA) {
		t.Errorf("got %v, %v", d, err)
	}
}

func TestDeploymentThatCannotBeReadIsNotNotFound(t *testing.T) {
	t.Parallel()
	s := serve(t, answer(http.StatusNotFound, `{"detail":"no such path"}`))
	d, err := s.client(t).Deployment(t.Context(), idA)
	if d != nil || errors.Is(err, ErrNotFound) || asError(t, err).Status != http.StatusNotFound {
		t.Errorf("got %v, %v", d, err)
	}
}

func TestDeploymentsNamedComparesNamesItself(t *testing.T) {
	t.Parallel()
	s := serve(t, inTurn(
		answerJSON(pageJSON(2, deploymentJSON(idA, "Bot"), deploymentJSON(idB, "bot"))),
		answerJSON(pageJSON(3, deploymentJSON(idC, "bot-2"))),
		answerJSON(pageJSON(4, deploymentJSON("dddddddd-0000-4000-8000-000000000004", "bot"))),
		answerJSON(pageJSON(4)),
	))
	found, err := s.client(t).DeploymentsNamed(t.Context(), "bot")
	if err != nil {
		t.Fatal(err)
	}
	var ids []string
	for _, d := range found {
		ids = append(ids, d.ID)
	}
	same(t, "ids", ids, []string{idB, "dddddddd-0000-4000-8000-000000000004"})
	same(t, "filter", s.requests("")[0].query.Get("name_contains"), "bot")
}

func TestListOfThousandsCountsEachOnce(t *testing.T) {
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
		answerJSON(pageJSON(end, items...))(w, r)
	})
	got, err := collect(t.Context(), s.client(t), DeploymentFilter{})
	if err != nil {
		t.Fatal(err)
	}
	same(t, "number", len(got), total)
}

func TestListEndsWithItsContext(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	s := serve(t, inTurn(
		answerJSON(pageJSON(1, deploymentJSON(idA, "a"))),
		func(w http.ResponseWriter, r *http.Request) { cancel(); silent(w, r) },
	))
	got, err := collect(ctx, s.client(t), DeploymentFilter{})
	same(t, "before it", got, []string{idA})
	same(t, "error", err, context.Canceled)
}

// What is deleted before the place where a list is being read has the rest move
// up. None of those that stay may be passed over.
func TestListThatShrinksWhileItIsPaged(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		remove [][]int // of 250 deployments, by their number, after each page
		pages  int
	}{
		"the first":                    {[][]int{{0}}, 6},
		"the last of the page":         {[][]int{{99}}, 6},
		"the next":                     {[][]int{{100}}, 4},
		"some of the page":             {[][]int{{3, 50, 98}}, 6},
		"the whole page":               {[][]int{numbers(0, 100)}, 5},
		"all of the page but one":      {[][]int{numbers(1, 100)}, 5},
		"page by page":                 {[][]int{{1}, {2}, {3}, {4}, {5}, {6}}, 10},
		"on the last page":             {[][]int{nil, nil, {10}}, 4},
		"all that is left":             {[][]int{numbers(100, 250)}, 3},
		"all":                          {[][]int{numbers(0, 250)}, 3},
		"what was read and is to come": {[][]int{{20, 120}, {220}}, 6},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			fake := fakeserver.New(fakeserver.Options{})
			var ids []string
			for i := range 250 {
				ids = append(ids, fake.SeedDeployment(map[string]any{"name": fmt.Sprintf("agent-%03d", i)}))
			}
			removed := map[string]bool{}
			page := 0
			s := serve(t, func(w http.ResponseWriter, r *http.Request) {
				fake.ServeHTTP(w, r)
				if page < len(test.remove) {
					for _, i := range test.remove[page] {
						fake.Remove(ids[i])
						removed[ids[i]] = true
					}
				}
				page++
			})
			got, err := collect(t.Context(), s.client(t), DeploymentFilter{})
			if err != nil {
				t.Fatal(err)
			}
			gone := func(id string) bool { return removed[id] }
			// In the service's order, and those that were there throughout.
			same(t, "ids", slices.DeleteFunc(got, gone), slices.DeleteFunc(slices.Clone(ids), gone))
			same(t, "pages", page, test.pages)
		})
	}
	t.Run("without an end", func(t *testing.T) {
		t.Parallel()
		next := 0
		s := serve(t, func(w http.ResponseWriter, r *http.Request) {
			offset, _ := strconv.Atoi(r.URL.Query().Get("offset"))
			var items []string
			for range MaxPageSize { // none of them was there before
				items = append(items, deploymentJSON(fmt.Sprintf("00000000-0000-4000-8000-%012d", next), "n"))
				next++
			}
			answerJSON(pageJSON(offset+len(items), items...))(w, r)
		})
		for what, read := range map[string]func() error{
			"a list":    func() error { _, err := collect(t.Context(), s.client(t), DeploymentFilter{}); return err },
			"by a name": func() error { _, err := s.client(t).DeploymentsNamed(t.Context(), "n"); return err },
		} {
			if err := read(); !errors.Is(err, errRestlessList) {
				t.Errorf("%s: %v", what, err)
			}
		}
	})
}

func numbers(from, to int) []int {
	var all []int
	for i := from; i < to; i++ {
		all = append(all, i)
	}
	return all
}
