package client

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/graphdeploy/terraform-provider-graphdeploy/internal/fakeserver"
)

func botRequest() Tree {
	return Tree{"name": "bot", "source": SourceExternalDocker,
		"source_revision_config": Tree{"image_uri": "registry.example/bot:1"}}
}

// duplicating is a service that would create two deployments of one name.
func duplicating(t *testing.T, options fakeserver.Options) (*fakeserver.Server, *service) {
	t.Helper()
	options.AllowDuplicateNames = true
	fake := fakeserver.New(options)
	return fake, serve(t, fake.ServeHTTP)
}

// createdIDs are the ids of the deployments that the service has.
func createdIDs(fake *fakeserver.Server) []string {
	var ids []string
	for _, d := range fake.Deployments() {
		ids = append(ids, d["id"].(string))
	}
	return ids
}

func TestCreate(t *testing.T) {
	t.Parallel()
	for _, status := range []int{200, 201} {
		fake, s := duplicating(t, fakeserver.Options{CreateStatus: status, ExtraFields: true})
		r := botRequest()
		c := s.client(t)
		d, recovered, err := c.CreateDeployment(t.Context(), r, satisfiedByAll)
		if err != nil || recovered {
			t.Fatal(status, recovered, err)
		}
		equal(t, "ids", createdIDs(fake), []string{d.ID})
		equal(t, "name", d.Name, "bot")
		post := s.requests("POST")
		equal(t, "POSTs", len(post), 1)
		equal(t, "path", post[0].path, "/v2/deployments")
		equalJSON(t, post[0].body,
			`{"name":"bot","source":"external_docker","source_config":{},`+
				`"source_revision_config":{"image_uri":"registry.example/bot:1"},"secrets":[]}`)
		equal(t, "the caller's request", r["secrets"], nil)
		equal(t, "created here", []bool{c.CreatedHere(strings.ToUpper(d.ID)), c.CreatedHere(idA)}, []bool{true, false})
	}
}

func TestCreate_sendsSecretsReferencesAndAdditionalMembers(t *testing.T) {
	t.Parallel()
	fake, s := duplicating(t, fakeserver.Options{})
	r := botRequest()
	r["secrets"] = []Secret{{"B", "2"}, {"A", "1"}}
	r["secret_references"] = []any{Tree{"name": "R", "secret_name": "s", "secret_key": "k"}}
	if _, _, err := s.client(t).CreateDeployment(t.Context(), r, satisfiedByAll); err != nil {
		t.Fatal(err)
	}
	equal(t, "created", len(fake.Deployments()), 1)
	equalJSON(t, s.requests("POST")[0].body, `{"name":"bot","source":"external_docker","source_config":{},`+
		`"source_revision_config":{"image_uri":"registry.example/bot:1"},
		"secrets":[{"name":"B","value":"2"},{"name":"A","value":"1"}],"secret_references":[{"name":"R","secret_name":"s",`+
		`"secret_key":"k"}]}`)
}

func TestCreate_nameTaken(t *testing.T) {
	t.Parallel()
	fake, s := duplicating(t, fakeserver.Options{MaxPage: 1})
	fake.SeedDeployment(map[string]any{"name": "bot-2"})
	id := fake.SeedDeployment(map[string]any{"name": "bot"})
	c := s.client(t)
	_, _, err := c.CreateDeployment(t.Context(), botRequest(), satisfiedByAll)
	taken := asType[*NameTakenError](t, err)
	equal(t, "existing", taken.Existing.ID, id)
	equal(t, "text", err.Error(), fmt.Sprintf(`a deployment named "bot" already exists (id %s)`, id))
	equal(t, "POSTs", s.count("POST"), 0)

	r := botRequest()
	r["name"] = "new"
	d, _, err := c.CreateDeployment(t.Context(), r, satisfiedByAll)
	if err != nil {
		t.Fatal(err)
	}
	_, _, err = c.CreateDeployment(t.Context(), r, satisfiedByAll)
	taken = asType[*NameTakenError](t, err)
	equal(t, "existing", taken.Existing.ID, d.ID)
}

// The name is what matters, whatever is wrong with the rest.
func TestCreate_nameTakenByAnUnreadableDeployment(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct{ item, want string }{
		"a field": {`{"id":"` + idA + `","name":"bot","status":"READY","source":7}`,
			`a deployment named "bot" already exists (id ` + idA + `)`},
		"id":            {`{"id":17,"name":"bot","source":"external_docker"}`, `deployment "bot" (id "")`},
		"only its name": {`{"id":"` + idA + `","name":{},"source":"external_docker"}`, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := serve(t, byMethod(respondJSON(pageJSON(1, test.item)), respondJSON(deploymentJSON(idB, "bot"))))
			_, _, err := s.client(t).CreateDeployment(t.Context(), botRequest(), satisfiedByAll)
			if test.want == "" {
				equal(t, "error", err, nil)
			} else if err == nil || !strings.Contains(err.Error(), test.want) || s.count("POST") != 0 {
				t.Errorf("got %v after %d POSTs", err, s.count("POST"))
			}
		})
	}
}

func TestCreate_similarNamesAreNotTaken(t *testing.T) {
	t.Parallel()
	fake, s := duplicating(t, fakeserver.Options{})
	fake.SeedDeployment(map[string]any{"name": "Bot"})
	fake.SeedDeployment(map[string]any{"name": "bot-2"})
	if _, _, err := s.client(t).CreateDeployment(t.Context(), botRequest(), satisfiedByAll); err != nil {
		t.Error(err)
	}
}

func TestCreate_nothingWhenTheNameCannotBeLookedUp(t *testing.T) {
	t.Parallel()
	fake, s := duplicating(t, fakeserver.Options{})
	fake.Fail(fakeserver.ListDeployments, -1, fakeserver.Fault{Status: 503})
	_, _, err := s.client(t).CreateDeployment(t.Context(), botRequest(), satisfiedByAll)
	equal(t, "status", asType[*Error](t, err).Status, 503)
	equal(t, "POSTs", s.count("POST"), 0)
}

// After a lost response there is one deployment, which is returned, or none and an error that reports it.
func TestCreate_lostResponse(t *testing.T) {
	t.Parallel()
	const html = "<html>gateway</html>"
	for name, test := range map[string]struct {
		fault   fakeserver.Fault
		created bool
	}{
		"cut before the work": {fakeserver.Fault{Cut: true}, false},
		"cut after the work":  {fakeserver.Fault{Cut: true, AfterWork: true}, true},
		"408 before the work": {fakeserver.Fault{Status: 408}, false},
		"408 after the work":  {fakeserver.Fault{Status: 408, AfterWork: true}, true},
		"500 before the work": {fakeserver.Fault{Status: 500}, false},
		"500 after the work":  {fakeserver.Fault{Status: 500, AfterWork: true}, true},
		"502 before the work": {fakeserver.Fault{Status: 502, Body: html}, false},
		"502 after the work":  {fakeserver.Fault{Status: 502, Body: html, AfterWork: true}, true},
		"503 before the work": {fakeserver.Fault{Status: 503}, false},
		"503 after the work":  {fakeserver.Fault{Status: 503, AfterWork: true}, true},
		"503 with Retry-After, after it": {fakeserver.Fault{Status: 503, Header: http.Header{"Retry-After": {"0.001"}},
			AfterWork: true}, true},
		"504 before the work":              {fakeserver.Fault{Status: 504}, false},
		"504 after the work":               {fakeserver.Fault{Status: 504, AfterWork: true}, true},
		"truncated":                        {fakeserver.Fault{Truncate: true}, true},
		"HTML before the work":             {fakeserver.Fault{Body: html, ContentType: "text/html"}, false},
		"HTML after the work":              {fakeserver.Fault{Body: html, ContentType: "text/html", AfterWork: true}, true},
		"empty":                            {fakeserver.Fault{Status: 204, AfterWork: true}, true},
		"JSON garbage":                     {fakeserver.Fault{Body: `{"id":`, AfterWork: true}, true},
		"JSON of something else":           {fakeserver.Fault{Body: `{"ok":true}`, AfterWork: true}, true},
		"a list":                           {fakeserver.Fault{Body: `[]`, AfterWork: true}, true},
		"null":                             {fakeserver.Fault{Body: `null`, AfterWork: true}, true},
		"JSON garbage, nothing is created": {fakeserver.Fault{Body: `null`}, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				fake := fakeserver.New(fakeserver.Options{AllowDuplicateNames: true})
				fake.Fail(fakeserver.CreateDeployment, 1, test.fault)
				began := time.Now()
				d, recovered, err := inMemory(fake.ServeHTTP).CreateDeployment(t.Context(), botRequest(), satisfiedByAll)
				methods := map[string]int{}
				for _, r := range fake.Requests() {
					methods[r.Method]++
				}
				equal(t, "POSTs", methods["POST"], 1)
				if test.created {
					if err != nil || !recovered {
						t.Fatal(recovered, err)
					}
					equal(t, "ids", createdIDs(fake), []string{d.ID})
					return
				}
				equal(t, "ids", createdIDs(fake), nil)
				lost := asType[*LostError](t, err)
				equal(t, "name", lost.Name, "bot")
				equal(t, "nothing found", []any{d, lost.Lookup, lost.Candidate, lost.Reason},
					[]any{(*Deployment)(nil), error(nil), (*Deployment)(nil), ""})
				equal(t, "operation", asType[*Error](t, lost.Err).Operation, "create deployment")
				if !strings.HasPrefix(err.Error(),
					`the response to the request that creates deployment "bot" was lost, `+
						`and no deployment of that name is listed: create deployment failed (POST /v2/deployments)`) {
					t.Error(err)
				}
				equal(t, "time", time.Since(began), 30*time.Second) // the default of ConsistencyTimeout
			})
		})
	}
}

func TestLostCreate_reportsTheIDInTheResponse(t *testing.T) {
	t.Parallel()
	const secret = "12345678-9abc-4def-8123-456789abcdef" // as an API key may be
	const unreadable = `,"secrets":7}`
	for name, test := range map[string]struct{ body, want string }{
		"a UUID":      {`{"id":"` + idA + `"` + unreadable, idA},
		"a text":      {`{"id":"not-an-id"` + unreadable, ""},
		"a number":    {`{"id":7` + unreadable, ""},
		"none":        {`{"name":"bot"` + unreadable, ""},
		"not JSON":    {`{"id":"` + idA + `"`, ""},
		"a secret":    {`{"id":"` + secret + `"` + unreadable, ""},
		"also listed": {`{"id":"` + idA + `","name":"bot","source":"external_docker"` + unreadable, idA},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			listed := respondJSON(pageJSON(0))
			if name == "also listed" {
				listed = respondJSON(pageJSON(1, test.body))
			}
			s := serve(t, byMethod(inTurn(respondJSON(pageJSON(0)), listed), respondJSON(test.body)))
			c := s.client(t)
			c.Hide(secret)
			_, _, err := c.CreateDeployment(t.Context(), botRequest(), satisfiedByAll)
			lost := asType[*LostError](t, err)
			equal(t, "id", lost.ID, test.want)
			equal(t, "candidate", lost.Candidate != nil, name == "also listed")
			if lost.Candidate != nil && !strings.Contains(lost.Reason, "it cannot be read: ") {
				t.Error(lost.Reason)
			}
		})
	}
}

// What is found after a lost response is only taken if it was certainly created by this request.
func TestLostCreate_candidates(t *testing.T) {
	t.Parallel()
	// In a bubble it is midnight UTC 2000-01-01; the name is looked up half a second later.
	rejected := func(*Deployment) bool { return false }
	for name, test := range map[string]struct {
		noDate    bool
		satisfied func(*Deployment) bool
		found     []string
		reason    string // empty: the first one is taken
	}{
		"created since":      {found: []string{createdJSON(idA, "bot", "2000-01-01T00:00:01Z")}},
		"in the same second": {found: []string{createdJSON(idA, "bot", "2000-01-01T01:00:00.1+01:00")}},
		"the second before": {found: []string{createdJSON(idA, "bot", "1999-12-31T23:59:59.9Z")},
			reason: "it was created before the request, at 1999-12-31T23:59:59Z"},
		"created in 1990": {found: []string{createdJSON(idA, "bot", "1990-01-01T00:00:00Z")},
			reason: "it was created before the request, at 1990-01-01T00:00:00Z"},
		"without created_at": {found: []string{deploymentJSON(idA, "bot")},
			reason: "it has no valid created_at that would show whether it existed before the request"},
		"created_at is no time": {found: []string{createdJSON(idA, "bot", "yesterday")},
			reason: "it has no valid created_at that would show whether it existed before the request"},
		"no Date header": {noDate: true, found: []string{createdJSON(idA, "bot", "2000-01-01T00:00:01Z")},
			reason: "the service sends no Date header that would show whether it existed before the request"},
		"listed before": {found: []string{createdJSON(idC, "bot", "2000-01-01T00:00:01Z")},
			reason: "it existed before the request"},
		"not what was requested": {satisfied: rejected, found: []string{createdJSON(idA, "bot", "2000-01-01T00:00:01Z")},
			reason: "it does not have everything that was requested"},
		"of the future": {found: []string{createdJSON(idA, "bot", "2000-01-01T00:01:00Z")},
			reason: "its created_at is in the future: 2000-01-01T00:01:00Z"},
		"of this second": {found: []string{createdJSON(idA, "bot", "2000-01-01T00:00:00.9Z")}},
		"of another source": {found: []string{strings.Replace(createdJSON(idA, "bot", "2000-01-01T00:00:00Z"),
			"external_docker", "codehost", 1)}, reason: `its source is "codehost"`},
		"twins": {found: []string{createdJSON(idA, "bot", "2000-01-01T00:00:01Z"),
			createdJSON(idB, "bot", "2000-01-01T00:00:01Z")},
			reason: "deployment " + idB + " matches the request as well"},
		"beside a stranger's": {found: []string{createdJSON(idA, "bot", "2000-01-01T00:00:01Z"),
			createdJSON(idB, "bot", "1990-01-01T00:00:01Z")}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				posted := false
				c := inMemory(func(w http.ResponseWriter, r *http.Request) {
					if test.noDate {
						w.Header().Del("Date")
					}
					switch {
					case r.Method == http.MethodPost:
						posted = true
						cut(w, r)
					case !posted:
						respondJSON(pageJSON(0, deploymentJSON(idC, "old-bot")))(w, r)
					default:
						respondJSON(pageJSON(0, test.found...))(w, r)
					}
				})
				time.Sleep(500 * time.Millisecond)
				if test.satisfied == nil {
					test.satisfied = satisfiedByAll
				}
				began := time.Now()
				d, recovered, err := c.CreateDeployment(t.Context(), botRequest(), test.satisfied)
				if test.reason == "" {
					if err != nil || !recovered || d.ID != idA {
						t.Errorf("got %v, %v, %v", d, recovered, err)
					}
					return
				}
				lost := asType[*LostError](t, err)
				equal(t, "reason", lost.Reason, test.reason)
				equal(t, "lookup", lost.Lookup, nil)
				equal(t, "nothing is taken", d, nil)
				equal(t, "it is looked for until the deadline", time.Since(began), 30*time.Second)
				if want := "deployment " + lost.Candidate.ID + " has that name, but " + test.reason; !strings.HasSuffix(err.Error(),
					want) {
					t.Errorf("got %v", err)
				}
			})
		})
	}
}

// The response to a create is believed only if it is about what was asked for.
func TestCreate_responseAboutAnotherDeployment(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct{ response, reason string }{
		"another name": {deploymentJSON(idA, "other"), `deployment "other" (id ` + idA + `): it has another name`},
		"another source": {strings.Replace(deploymentJSON(idA, "bot"), "external_docker", "codehost", 1),
			`its source is "codehost"`},
		"listed before": {deploymentJSON(strings.ToUpper(idC), "bot"), "it existed before the request"},
		"listed before, unreadable": {`{"id":"` + idC + `","name":7}`,
			`deployment "" (id "` + idC + `"): name: a number is not a string`},
		"created before": {deploymentJSON(idB, "bot"), "another create of this run has created it"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				c := inMemory(byMethod(
					respondJSON(pageJSON(0, deploymentJSON(idC, "old-bot"))),
					inTurn(respondJSON(deploymentJSON(idB, "first")), respondJSON(test.response))))
				request := botRequest()
				request["name"] = "first"
				if _, _, err := c.CreateDeployment(t.Context(), request, satisfiedByAll); err != nil {
					t.Fatal(err)
				}
				d, _, err := c.CreateDeployment(t.Context(), botRequest(), satisfiedByAll)
				equal(t, "deployment", d, nil)
				lost := asType[*LostError](t, err)
				equal(t, "id to import", lost.ID, "")
				if !strings.HasSuffix(lost.Err.Error(), test.reason) {
					t.Errorf("got %v, want %s", lost.Err, test.reason)
				}
			})
		})
	}
	t.Run("the name in another form of Unicode", func(t *testing.T) {
		t.Parallel()
		c := inMemory(byMethod(respondJSON(pageJSON(0)), respondJSON(deploymentJSON(idA, "u\u0308"))))
		request := botRequest()
		request["name"] = "\u00fc"
		d, _, err := c.CreateDeployment(t.Context(), request, satisfiedByAll)
		if err != nil || d.ID != idA {
			t.Errorf("got %v, %v", d, err)
		}
	})
}

// However long Retry-After is, and however often it comes, a create and its lookups take a bounded time.
func TestCreate_retryAfterIsBoundedInTotal(t *testing.T) {
	t.Parallel()
	busy := respond(503, "", "Retry-After", "100000")
	for name, h := range map[string]http.HandlerFunc{"create": byMethod(respondJSON(pageJSON(0)), busy), "lookup": busy} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				c := inMemory(h, func(config *Config) { config.MaxRetries = 1000 })
				began := time.Now()
				_, _, err := c.CreateDeployment(t.Context(), botRequest(), satisfiedByAll)
				equal(t, "status", asType[*Error](t, err).Status, 503)
				equal(t, "time", time.Since(began), maxPauses)
			})
		})
	}
}

// listedNow lists the requested deployment as created just now.
func listedNow(id string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		respondJSON(pageJSON(0, createdJSON(id, "bot", time.Now().Format(time.RFC3339Nano))))(w, r)
	}
}

// Two creates of one client never take each other's deployment, also when the service lists it late.
func TestLostCreate_neverTakesADeploymentOfAnotherCreate(t *testing.T) {
	t.Parallel()
	none := respondJSON(pageJSON(0))
	for name, post := range map[string]http.HandlerFunc{"created": inTurn(respondJSON(deploymentJSON(idA, "bot")), cut),
		"recovered": cut} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			first := listedNow(strings.ToUpper(idA))
			get := inTurn(none, none, first)
			if name == "recovered" {
				get = inTurn(none, first, none, first)
			}
			s := serve(t, byMethod(get, post))
			c := s.client(t)
			if d, _, err := c.CreateDeployment(t.Context(), botRequest(), satisfiedByAll); err != nil ||
				!strings.EqualFold(d.ID, idA) {
				t.Fatal(d, err)
			}
			d, _, err := c.CreateDeployment(t.Context(), botRequest(), satisfiedByAll)
			equal(t, "taken", d, nil)
			equal(t, "reason", asType[*LostError](t, err).Reason, "another create of this run has created it")
		})
	}
}

func TestCreate_timeoutAfterTheWork(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		hold := make(chan struct{})
		defer close(hold)
		fake := fakeserver.New(fakeserver.Options{AllowDuplicateNames: true})
		fake.Fail(fakeserver.CreateDeployment, 1, fakeserver.Fault{AfterWork: true, Hold: hold})
		d, recovered, err := inMemory(fake.ServeHTTP).CreateDeployment(t.Context(), botRequest(), satisfiedByAll)
		if err != nil || !recovered {
			t.Fatal(recovered, err)
		}
		equal(t, "ids", createdIDs(fake), []string{d.ID})
	})
}

func TestCreate_timeoutBeforeTheWork(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		fake := fakeserver.New(fakeserver.Options{AllowDuplicateNames: true})
		fake.Fail(fakeserver.CreateDeployment, 1, fakeserver.Fault{Hold: make(chan struct{})})
		_, _, err := inMemory(fake.ServeHTTP).CreateDeployment(t.Context(), botRequest(), satisfiedByAll)
		equal(t, "timeout", asType[*Error](t, asType[*LostError](t, err).Err).Cause, CauseTimeout)
		equal(t, "ids", createdIDs(fake), nil)
	})
}

func TestLostCreate_isLookedForUntilItIsListed(t *testing.T) {
	t.Parallel()
	none := respondJSON(pageJSON(0))
	s := serve(t, byMethod(
		inTurn(none, none, respond(503, ""), none, listedNow(idA)), cut))
	d, recovered, err := s.client(t, func(config *Config) { config.ConsistencyTimeout = time.Minute }).
		CreateDeployment(t.Context(), botRequest(), satisfiedByAll)
	if err != nil || d.ID != idA || !recovered {
		t.Errorf("got %v, %v, %v", d, recovered, err)
	}
	equal(t, "POSTs", s.count("POST"), 1)
	equal(t, "GETs", s.count("GET"), 5)
}

func TestLostCreate_thatCannotBeLookedUp(t *testing.T) {
	t.Parallel()
	s := serve(t, byMethod(inTurn(respondJSON(pageJSON(0)), respond(401, `{"detail":"expired"}`)), respond(502, "")))
	d, _, err := s.client(t).CreateDeployment(t.Context(), botRequest(), satisfiedByAll)
	lost := asType[*LostError](t, err)
	equal(t, "deployment", d, nil)
	equal(t, "how it was lost", asType[*Error](t, lost.Err).Status, 502)
	equal(t, "why it was not looked up", asType[*Error](t, lost.Lookup).Status, 401)
	for _, part := range []string{"it is unknown whether the deployment was created", "502", "expired"} {
		if !strings.Contains(err.Error(), part) {
			t.Errorf("no %s in %v", part, err)
		}
	}
	equal(t, "what errors.As finds", asType[*Error](t, err).Operation, "create deployment")
}

// Whatever the service does after a lost response, and although the caller has given up, it takes a bounded time.
func TestLostCreate_takesABoundedTime(t *testing.T) {
	t.Parallel()
	newID := func() func() string {
		n := 0
		return func() string { n++; return fmt.Sprintf("00000000-0000-4000-8000-%012d", n) }
	}
	for name, test := range map[string]struct {
		get  func() http.HandlerFunc
		most time.Duration
	}{
		"Retry-After on every lookup": {func() http.HandlerFunc { return respond(503, "", "Retry-After", "300") },
			30 * time.Second},
		"lookups without a response": {func() http.HandlerFunc { return silent }, 30 * time.Second},
		"endless pages of new ids": {func() http.HandlerFunc {
			id := newID()
			offset := 0
			return func(w http.ResponseWriter, r *http.Request) {
				time.Sleep(100 * time.Millisecond)
				offset++
				respondJSON(pageJSON(offset, createdJSON(id(), "bot-2", "2099-01-01T00:00:00Z")))(w, r)
			}
		}, 60 * time.Second},
		"endless slow pages with Retry-After": {func() http.HandlerFunc {
			id := newID()
			offset := 0
			return func(w http.ResponseWriter, r *http.Request) {
				time.Sleep(29 * time.Second)
				offset++
				respond(200, pageJSON(offset, createdJSON(id(), "bot-2", "2099-01-01T00:00:00Z")), "Retry-After", "300")(w, r)
			}
		}, 60 * time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				get := test.get()
				posted := false
				c := inMemory(func(w http.ResponseWriter, r *http.Request) {
					switch {
					case r.Method == http.MethodPost:
						cancel()
						posted = true
						respond(502, "")(w, r)
					case posted:
						get(w, r)
					default:
						respondJSON(pageJSON(0))(w, r)
					}
				})
				began := time.Now()
				_, _, err := c.CreateDeployment(ctx, botRequest(), satisfiedByAll)
				if lost := asType[*LostError](t, err); lost.Lookup == nil {
					t.Error("no reason for the failed lookup")
				}
				equal(t, "time", time.Since(began), test.most)
				time.Sleep(time.Minute) // the service may still be at work
			})
		})
	}
}

// refuseDials makes the client dial for each request, and refuses the next n once the service has had a request.
func refuseDials(t *testing.T, s *service, c *Client, n int) (refused *atomic.Int32) {
	t.Helper()
	refused = new(atomic.Int32)
	dialer := net.Dialer{}
	httpTransport(c).DisableKeepAlives = true
	httpTransport(c).DialContext = func(ctx context.Context, network, address string) (net.Conn, error) {
		if s.count("GET") > 0 && int(refused.Load()) < n {
			refused.Add(1)
			return nil, &net.OpError{Op: "dial", Net: network, Err: syscall.ECONNREFUSED}
		}
		return dialer.DialContext(ctx, network, address)
	}
	return refused
}

func TestCreate_isRepeatedAfterARefusedConnection(t *testing.T) {
	t.Parallel()
	fake, s := duplicating(t, fakeserver.Options{})
	c := s.client(t)
	refused := refuseDials(t, s, c, 2)
	d, recovered, err := c.CreateDeployment(t.Context(), botRequest(), satisfiedByAll)
	if err != nil || recovered {
		t.Fatal(recovered, err)
	}
	equal(t, "ids", createdIDs(fake), []string{d.ID})
	equal(t, "refused", refused.Load(), 2)
	equal(t, "GETs", s.count("GET"), 1) // nothing was lost
}

func TestCreate_endsWhenConnectionsAreStillRefused(t *testing.T) {
	t.Parallel()
	fake, s := duplicating(t, fakeserver.Options{})
	c := s.client(t)
	refused := refuseDials(t, s, c, 1000)
	_, _, err := c.CreateDeployment(t.Context(), botRequest(), satisfiedByAll)
	if failed := asType[*Error](t, err); !failed.notSent || failed.Operation != "create deployment" ||
		errors.As(err, new(*LostError)) {
		t.Error(err)
	}
	equal(t, "ids", createdIDs(fake), nil)
	equal(t, "attempts", refused.Load(), 3)
}

func TestCreate_waitsWhileTheServiceIsBusy(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		fault  fakeserver.Fault
		gets   int           // lookups before and between
		waited time.Duration // at least; jitter adds up to a second each time
	}{
		"429 with Retry-After": {fakeserver.Fault{Status: 429, Header: http.Header{"Retry-After": {"7"}}}, 1,
			14 * time.Second},
		"503 with Retry-After": {fakeserver.Fault{Status: 503, Header: http.Header{"Retry-After": {"7"}}}, 3,
			14 * time.Second},
		"503 with a date": {fakeserver.Fault{Status: 503,
			Header: http.Header{"Retry-After": {"Sat, 01 Jan 2000 00:00:20 GMT"}}}, 3, 20 * time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				fake := fakeserver.New(fakeserver.Options{AllowDuplicateNames: true})
				fake.Fail(fakeserver.CreateDeployment, 2, test.fault)
				began := time.Now()
				d, recovered, err := inMemory(fake.ServeHTTP).CreateDeployment(t.Context(), botRequest(), satisfiedByAll)
				if err != nil || recovered {
					t.Fatal(recovered, err)
				}
				if waited := time.Since(began); waited < test.waited || waited > test.waited+2*time.Second {
					t.Errorf("waited %v, want %v", waited, test.waited)
				}
				equal(t, "ids", createdIDs(fake), []string{d.ID})
				equal(t, "requests", len(fake.Requests()), 3+test.gets)
			})
		})
		t.Run(name+" always", func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				fake := fakeserver.New(fakeserver.Options{AllowDuplicateNames: true})
				fake.Fail(fakeserver.CreateDeployment, -1, test.fault)
				_, _, err := inMemory(fake.ServeHTTP, func(c *Config) { c.MaxRetries = 2 }).CreateDeployment(t.Context(),
					botRequest(), satisfiedByAll)
				if failed := asType[*Error](t, err); failed.Status != test.fault.Status || errors.As(err, new(*LostError)) {
					t.Error(err)
				}
				equal(t, "ids", createdIDs(fake), nil)
			})
		})
	}
}

// A 503 with Retry-After promises that nothing was done. If somebody else has taken the name meanwhile, the create is
// not repeated.
func TestCreate_nameTakenWhileTheServiceWasBusy(t *testing.T) {
	t.Parallel()
	stranger := respondJSON(pageJSON(0, createdJSON(idA, "bot", "2020-01-01T00:00:00Z")))
	s := serve(t, byMethod(inTurn(respondJSON(pageJSON(0)), stranger), respond(503, "", "Retry-After", "0")))
	_, _, err := s.client(t).CreateDeployment(t.Context(), botRequest(), satisfiedByAll)
	equal(t, "candidate", asType[*LostError](t, err).Candidate.ID, idA)
	equal(t, "POSTs", s.count("POST"), 1)
}

func TestCreate_isNotRepeatedWhenRejected(t *testing.T) {
	t.Parallel()
	for _, status := range []int{400, 401, 402, 403, 404, 405, 409, 413, 415, 422} {
		fake, s := duplicating(t, fakeserver.Options{})
		fake.Fail(fakeserver.CreateDeployment, -1, fakeserver.Fault{Status: status})
		_, _, err := s.client(t).CreateDeployment(t.Context(), botRequest(), satisfiedByAll)
		equal(t, "status", asType[*Error](t, err).Status, status)
		equal(t, "POSTs", s.count("POST"), 1)
		equal(t, "GETs", s.count("GET"), 1)
	}
}

func TestCreate_redirectIsRejected(t *testing.T) {
	t.Parallel()
	other := serve(t, respondJSON(deploymentJSON(idA, "bot")))
	for _, location := range []string{"/v2/deployments/", other.url.String()} {
		for _, status := range []int{301, 302, 303, 307, 308} {
			s := serve(t, byMethod(respondJSON(pageJSON(0)), respond(status, "", "Location", location)))
			_, _, err := s.client(t).CreateDeployment(t.Context(), botRequest(), satisfiedByAll)
			if asType[*Error](t, err).Cause != CauseRedirect || errors.As(err, new(*LostError)) {
				t.Errorf("%d to %s: %v", status, location, err)
			}
			equal(t, "POSTs", s.count("POST"), 1)
			equal(t, "lookups", s.count("GET"), 2)
		}
	}
	equal(t, "requests there", other.count(""), 0)
}

func TestCreate_redirectAfterTheWork(t *testing.T) {
	t.Parallel()
	for _, status := range []int{301, 302, 303, 307, 308} {
		s := serve(t, byMethod(inTurn(respondJSON(pageJSON(0)), listedNow(idA)),
			respond(status, "", "Location", "/v2/deployments/"+idA)))
		d, recovered, err := s.client(t).CreateDeployment(t.Context(), botRequest(), satisfiedByAll)
		if err != nil || d.ID != idA || !recovered {
			t.Errorf("%d: %v, %v, %v", status, d, recovered, err)
		}
		equal(t, "POSTs", s.count("POST"), 1)
	}
}

func TestCreate_concurrentCreatesOfOneNameCreateOne(t *testing.T) {
	t.Parallel()
	for name, fault := range map[string]fakeserver.Fault{"responses": {Delay: time.Millisecond},
		"lost responses": {AfterWork: true, Cut: true}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			fake, s := duplicating(t, fakeserver.Options{})
			fake.Fail(fakeserver.CreateDeployment, -1, fault)
			c := s.client(t)
			var wg sync.WaitGroup
			var created, taken atomic.Int32
			for range 8 {
				wg.Go(func() {
					_, _, err := c.CreateDeployment(t.Context(), botRequest(), satisfiedByAll)
					if err == nil {
						created.Add(1)
					} else if existing, ok := errors.AsType[*NameTakenError](err); ok && c.CreatedHere(existing.Existing.ID) {
						taken.Add(1)
					} else {
						t.Error(err)
					}
				})
			}
			wg.Wait()
			equal(t, "created", created.Load(), 1)
			equal(t, "taken", taken.Load(), 7)
			equal(t, "in the service", len(createdIDs(fake)), 1)
		})
	}
}

func TestCreate_waitForTheNameEndsWithItsContext(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	hold := make(chan struct{})
	fake, s := duplicating(t, fakeserver.Options{})
	fake.Fail(fakeserver.CreateDeployment, 1, fakeserver.Fault{Hold: hold, Reached: cancel})
	c := s.client(t)
	var wg sync.WaitGroup
	wg.Go(func() {
		if _, _, err := c.CreateDeployment(t.Context(), botRequest(), satisfiedByAll); err != nil {
			t.Error(err)
		}
	})
	<-ctx.Done() // the first one has the name
	_, _, err := c.CreateDeployment(ctx, botRequest(), satisfiedByAll)
	equal(t, "error", err, context.Canceled)
	close(hold)
	wg.Wait()
}

func TestCreate_differentNamesDoNotWaitForEachOther(t *testing.T) {
	t.Parallel()
	both := make(chan struct{})
	var reached atomic.Int32
	fake, s := duplicating(t, fakeserver.Options{})
	// There is no response to either before both are there.
	fake.Fail(fakeserver.CreateDeployment, 2, fakeserver.Fault{Hold: both, Reached: func() {
		if reached.Add(1) == 2 {
			close(both)
		}
	}})
	c := s.client(t)
	var wg sync.WaitGroup
	for _, name := range []string{"a", "b"} {
		wg.Go(func() {
			r := botRequest()
			r["name"] = name
			if _, _, err := c.CreateDeployment(t.Context(), r, satisfiedByAll); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
}

func TestCreate_manyWithManyLostResponses(t *testing.T) {
	t.Parallel()
	for seed := range int64(3) {
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				fake := fakeserver.New(fakeserver.Options{AllowDuplicateNames: true, MaxPage: 20})
				fake.FailRandomly(seed, 0.2,
					fakeserver.Fault{Cut: true}, fakeserver.Fault{Cut: true, AfterWork: true}, fakeserver.Fault{Truncate: true},
					fakeserver.Fault{Status: 500, AfterWork: true}, fakeserver.Fault{Status: 502}, fakeserver.Fault{Status: 429},
					fakeserver.Fault{Status: 503, AfterWork: true, Header: http.Header{"Retry-After": {"0"}}})
				c := inMemory(fake.ServeHTTP, func(config *Config) { config.MaxRetries = 20 })
				type outcome struct {
					created *Deployment
					err     error
				}
				outcomes := make([]outcome, 50)
				var wg sync.WaitGroup
				for i := range outcomes {
					wg.Go(func() {
						r := botRequest()
						r["name"] = fmt.Sprint("agent-", i)
						outcomes[i].created, _, outcomes[i].err = c.CreateDeployment(t.Context(), r, satisfiedByAll)
					})
				}
				wg.Wait()

				listed := map[string][]string{}
				for _, d := range fake.Deployments() {
					listed[d["name"].(string)] = append(listed[d["name"].(string)], d["id"].(string))
				}
				succeeded := 0
				for i, o := range outcomes {
					ids := listed[fmt.Sprint("agent-", i)]
					switch {
					case len(ids) > 1:
						t.Errorf("%d: created %d times", i, len(ids))
					case o.err == nil:
						succeeded++
						equal(t, fmt.Sprint(i, ": ids"), ids, []string{o.created.ID})
					case len(ids) == 1:
						t.Errorf("%d: created, and nobody knows: %v", i, o.err)
					}
				}
				if succeeded < 25 {
					t.Errorf("only %d of 50 succeeded", succeeded)
				}
			})
		})
	}
}

func TestCreate_isNotBegunOnceCanceled(t *testing.T) {
	t.Parallel()
	t.Run("before it begins", func(t *testing.T) {
		t.Parallel()
		_, s := duplicating(t, fakeserver.Options{})
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		_, _, err := s.client(t).CreateDeployment(ctx, botRequest(), satisfiedByAll)
		if !errors.Is(err, context.Canceled) || s.count("") != 0 {
			t.Errorf("%v after %d requests", err, s.count(""))
		}
	})
	t.Run("during the lookup", func(t *testing.T) {
		t.Parallel()
		fake, s := duplicating(t, fakeserver.Options{})
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		fake.Fail(fakeserver.ListDeployments, 1, fakeserver.Fault{Reached: cancel})
		_, _, err := s.client(t).CreateDeployment(ctx, botRequest(), satisfiedByAll)
		if !errors.Is(err, context.Canceled) || s.count("POST") != 0 {
			t.Errorf("%v after %d POSTs", err, s.count("POST"))
		}
	})
	t.Run("after the lookup", func(t *testing.T) {
		t.Parallel()
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		_, s := duplicating(t, fakeserver.Options{})
		c := s.client(t, func(config *Config) {
			config.Log = func(context.Context, string, map[string]any) { cancel() }
		})
		_, _, err := c.CreateDeployment(ctx, botRequest(), satisfiedByAll)
		if !errors.Is(err, context.Canceled) || s.count("POST") != 0 {
			t.Errorf("%v after %d POSTs", err, s.count("POST"))
		}
	})
}

func TestCreate_underWayFinishesThoughCanceled(t *testing.T) {
	t.Parallel()
	for name, fault := range map[string]fakeserver.Fault{
		"response":     {},
		"cut after":    {AfterWork: true, Cut: true},
		"500 after":    {AfterWork: true, Status: 500},
		"truncated":    {Truncate: true},
		"busy but did": {AfterWork: true, Status: 503, Header: http.Header{"Retry-After": {"300"}}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			fake, s := duplicating(t, fakeserver.Options{})
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			fault.Reached = cancel
			fake.Fail(fakeserver.CreateDeployment, 1, fault)
			d, _, err := s.client(t).CreateDeployment(ctx, botRequest(), satisfiedByAll)
			if err != nil {
				t.Fatal(err)
			}
			equal(t, "ids", createdIDs(fake), []string{d.ID})
		})
	}
}

func TestCreate_stopsBetweenAttemptsWhenCanceled(t *testing.T) {
	t.Parallel()
	for _, status := range []int{429, 503} {
		fake, s := duplicating(t, fakeserver.Options{})
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		fake.Fail(fakeserver.CreateDeployment, -1, fakeserver.Fault{Status: status,
			Header: http.Header{"Retry-After": {"300"}}, Reached: cancel})
		d, _, err := s.client(t).CreateDeployment(ctx, botRequest(), satisfiedByAll)
		if d != nil || asType[*Error](t, err).Status != status || s.count("POST") != 1 || len(createdIDs(fake)) != 0 {
			t.Errorf("got %v, %v after %d POSTs", d, err, s.count("POST"))
		}
	}
}

func TestCreate_requestThatIsNoJSON(t *testing.T) {
	t.Parallel()
	_, s := duplicating(t, fakeserver.Options{})
	r := botRequest()
	r["source_config"] = Tree{"hush-hush": func() {}}
	_, _, err := s.client(t).CreateDeployment(t.Context(), r, satisfiedByAll)
	if err == nil || s.count("POST") != 0 || strings.Contains(err.Error(), "hush") {
		t.Errorf("%v after %d POSTs", err, s.count("POST"))
	}
}
