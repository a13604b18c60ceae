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
	"time"

	"github.com/graphdeploy/terraform-provider-graphdeploy/internal/fakeserver"
)

func botRequest() DeploymentRequest {
	return DeploymentRequest{Name: "bot", Source: SourceExternalDocker,
		SourceRevisionConfig: SourceRevisionConfig{ImageURI: ptr("registry.example/bot:1")}}
}

// careless is a service that would make two of one name, and reports times by
// the real clock.
func careless(t *testing.T, options fakeserver.Options) (*fakeserver.Server, *service) {
	t.Helper()
	options.AllowDuplicateNames = true
	fake := fakeserver.New(options)
	return fake, serve(t, fake.ServeHTTP)
}

// madeIDs are the ids of the deployments that the service has.
func madeIDs(fake *fakeserver.Server) []string {
	var ids []string
	for _, d := range fake.Deployments() {
		ids = append(ids, d["id"].(string))
	}
	return ids
}

func TestCreate(t *testing.T) {
	t.Parallel()
	for _, status := range []int{200, 201} {
		fake, s := careless(t, fakeserver.Options{CreateStatus: status, ExtraFields: true})
		r := botRequest()
		d, err := s.client(t).CreateDeployment(t.Context(), r)
		if err != nil {
			t.Fatal(status, err)
		}
		same(t, "ids", madeIDs(fake), []string{d.ID})
		same(t, "name", d.Name, "bot")
		post := s.requests("POST")
		same(t, "POSTs", len(post), 1)
		same(t, "path", post[0].path, "/v2/deployments")
		sameJSON(t, post[0].body, `{"name":"bot","source":"external_docker","source_config":{},"source_revision_config":{"image_uri":"registry.example/bot:1"},"secrets":[]}`)
		same(t, "the caller's request", r.Secrets, nil)
	}
}

func TestCreateSendsSecretsAndReferences(t *testing.T) {
	t.Parallel()
	fake, s := careless(t, fakeserver.Options{})
	r := botRequest()
	r.Secrets = []Secret{{"B", "2"}, {"A", "1"}}
	r.SecretReferences = []SecretReference{{Name: ptr("R"), SecretName: ptr("s"), SecretKey: ptr("k")}}
	if _, err := s.client(t).CreateDeployment(t.Context(), r); err != nil {
		t.Fatal(err)
	}
	same(t, "made", len(fake.Deployments()), 1)
	sameJSON(t, s.requests("POST")[0].body, `{"name":"bot","source":"external_docker","source_config":{},"source_revision_config":{"image_uri":"registry.example/bot:1"},
		"secrets":[{"name":"B","value":"2"},{"name":"A","value":"1"}],"secret_references":[{"name":"R","secret_name":"s","secret_key":"k"}]}`)
}

func TestCreateOfANameThatExistsMakesNothing(t *testing.T) {
	t.Parallel()
	fake, s := careless(t, fakeserver.Options{MaxPage: 1})
	fake.SeedDeployment(map[string]any{"name": "bot-2"})
	id := fake.SeedDeployment(map[string]any{"name": "bot"})
	_, err := s.client(t).CreateDeployment(t.Context(), botRequest())
	var exists *ExistsError
	if !errors.As(err, &exists) || exists.Existing.ID != id || !strings.Contains(err.Error(), id) || !strings.Contains(err.Error(), `"bot"`) {
		t.Errorf("got %v", err)
	}
	same(t, "POSTs", s.count("POST"), 0)
}

func TestCreateBesideASimilarName(t *testing.T) {
	t.Parallel()
	fake, s := careless(t, fakeserver.Options{})
	fake.SeedDeployment(map[string]any{"name": "Bot"})
	fake.SeedDeployment(map[string]any{"name": "bot-2"})
	if _, err := s.client(t).CreateDeployment(t.Context(), botRequest()); err != nil {
		t.Error(err)
	}
}

func TestCreateMakesNothingWhenItCannotLook(t *testing.T) {
	t.Parallel()
	fake, s := careless(t, fakeserver.Options{})
	fake.Fail(fakeserver.ListDeployments, -1, fakeserver.Fault{Status: 503})
	_, err := s.client(t).CreateDeployment(t.Context(), botRequest())
	same(t, "status", asError(t, err).Status, 503)
	same(t, "POSTs", s.count("POST"), 0)
}

// What may become of a create whose answer is lost: one deployment, which is
// returned, or none and an error that says so.
func TestCreateWhoseAnswerIsLost(t *testing.T) {
	t.Parallel()
	const html = "<html>gateway</html>"
	for name, test := range map[string]struct {
		fault fakeserver.Fault
		made  bool
	}{
		"cut before the work":           {fakeserver.Fault{Cut: true}, false},
		"cut after the work":            {fakeserver.Fault{Cut: true, AfterWork: true}, true},
		"408 before the work":           {fakeserver.Fault{Status: 408}, false},
		"408 after the work":            {fakeserver.Fault{Status: 408, AfterWork: true}, true},
		"500 before the work":           {fakeserver.Fault{Status: 500}, false},
		"500 after the work":            {fakeserver.Fault{Status: 500, AfterWork: true}, true},
		"502 before the work":           {fakeserver.Fault{Status: 502, Body: html}, false},
		"502 after the work":            {fakeserver.Fault{Status: 502, Body: html, AfterWork: true}, true},
		"503 before the work":           {fakeserver.Fault{Status: 503}, false},
		"503 after the work":            {fakeserver.Fault{Status: 503, AfterWork: true}, true},
		"503 with a wait, after it":     {fakeserver.Fault{Status: 503, Header: http.Header{"Retry-After": {"0.001"}}, AfterWork: true}, true},
		"504 before the work":           {fakeserver.Fault{Status: 504}, false},
		"504 after the work":            {fakeserver.Fault{Status: 504, AfterWork: true}, true},
		"a truncated answer":            {fakeserver.Fault{Truncate: true}, true},
		"HTML before the work":          {fakeserver.Fault{Body: html, ContentType: "text/html"}, false},
		"HTML after the work":           {fakeserver.Fault{Body: html, ContentType: "text/html", AfterWork: true}, true},
		"an empty answer":               {fakeserver.Fault{Status: 204, AfterWork: true}, true},
		"JSON garbage":                  {fakeserver.Fault{Body: `{"id":`, AfterWork: true}, true},
		"JSON of something else":        {fakeserver.Fault{Body: `{"ok":true}`, AfterWork: true}, true},
		"a list":                        {fakeserver.Fault{Body: `[]`, AfterWork: true}, true},
		"null":                          {fakeserver.Fault{Body: `null`, AfterWork: true}, true},
		"JSON garbage, nothing is made": {fakeserver.Fault{Body: `null`}, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			fake, s := careless(t, fakeserver.Options{})
			fake.Fail(fakeserver.CreateDeployment, 1, test.fault)
			d, err := s.client(t).CreateDeployment(t.Context(), botRequest())
			same(t, "POSTs", s.count("POST"), 1)
			if test.made {
				if err != nil {
					t.Fatal(err)
				}
				same(t, "ids", madeIDs(fake), []string{d.ID})
				return
			}
			same(t, "ids", madeIDs(fake), nil)
			var lost *LostError
			if d != nil || !errors.As(err, &lost) || lost.Name != "bot" || lost.Look != nil || asError(t, lost.Err).Operation != "create deployment" ||
				!strings.Contains(err.Error(), `"bot" was lost, and no deployment of that name is listed since: create deployment failed (POST /v2/deployments)`) {
				t.Errorf("got %v, %v", d, err)
			}
			if s.count("GET") < 2 {
				t.Error("not looked for")
			}
		})
	}
}

func TestLostCreateTellsTheIDThatTheAnswerHas(t *testing.T) {
	t.Parallel()
	const (
		unreadable = `,"source_config":{"resource_spec":{"memory_mb":2048.5}}}`
		hiddenID   = "3f2b8c1d-9e47-4a6b-b5d0-7c1e8f2a9d36" // unlike idA, in all parts
	)
	for name, test := range map[string]struct{ body, want string }{
		"a UUID":      {`{"id":"` + idA + `"` + unreadable, idA},
		"a text":      {`{"id":"not-an-id"` + unreadable, ""},
		"a number":    {`{"id":7` + unreadable, ""},
		"none":        {`{"name":"bot"` + unreadable, ""},
		"not JSON":    {`{"id":"` + idA + `"`, ""},
		"a secret":    {`{"id":"` + hiddenID + `"` + unreadable, ""},
		"also listed": {`{"id":"` + idA + `","name":"bot","source":"external_docker"` + unreadable, idA},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			listed := answerJSON(pageJSON(0))
			if name == "also listed" {
				listed = answerJSON(pageJSON(1, test.body))
			}
			s := serve(t, byMethod(inTurn(answerJSON(pageJSON(0)), listed), answerJSON(test.body)))
			c := s.client(t)
			c.Hide(hiddenID)
			_, err := c.CreateDeployment(t.Context(), botRequest())
			var lost *LostError
			if !errors.As(err, &lost) || lost.ID != test.want {
				t.Errorf("%v: id %q, want %q", err, lost.ID, test.want)
			}
		})
	}
}

func TestCreateThatTimesOutAfterTheWork(t *testing.T) {
	t.Parallel()
	fake, s := careless(t, fakeserver.Options{})
	fake.Fail(fakeserver.CreateDeployment, 1, fakeserver.Fault{AfterWork: true, Hold: make(chan struct{})})
	c := s.client(t, func(config *Config) {
		config.RequestTimeout, config.MaxRetries = 500*time.Millisecond, 20
	})
	d, err := c.CreateDeployment(t.Context(), botRequest())
	if err != nil {
		t.Fatal(err)
	}
	same(t, "ids", madeIDs(fake), []string{d.ID})
	same(t, "POSTs", s.count("POST"), 1)
}

func TestCreateThatTimesOutBeforeTheWork(t *testing.T) {
	t.Parallel()
	fake, s := careless(t, fakeserver.Options{})
	fake.Fail(fakeserver.CreateDeployment, 1, fakeserver.Fault{Hold: make(chan struct{})})
	c := s.client(t, func(config *Config) {
		config.RequestTimeout, config.MaxRetries = 500*time.Millisecond, 20
	})
	_, err := c.CreateDeployment(t.Context(), botRequest())
	var lost *LostError
	if !errors.As(err, &lost) || !strings.Contains(err.Error(), "no response within 500ms") {
		t.Error(err)
	}
	same(t, "ids", madeIDs(fake), nil)
	same(t, "POSTs", s.count("POST"), 1)
}

func TestLostCreateIsLookedForUntilItIsListed(t *testing.T) {
	t.Parallel()
	none := answerJSON(pageJSON(0))
	s := serve(t, byMethod(
		inTurn(none, none, answer(503, ""), none, answerJSON(pageJSON(0, deploymentJSON(idA, "bot")))), cut))
	d, err := s.client(t, func(config *Config) { config.ConsistencyTimeout = time.Minute }).CreateDeployment(t.Context(), botRequest())
	if err != nil || d.ID != idA {
		t.Errorf("got %v, %v", d, err)
	}
	same(t, "POSTs", s.count("POST"), 1)
	same(t, "GETs", s.count("GET"), 5)
}

func TestLostCreateThatCannotBeLookedForSaysSo(t *testing.T) {
	t.Parallel()
	s := serve(t, byMethod(inTurn(answerJSON(pageJSON(0)), answer(401, `{"detail":"expired"}`)), answer(502, "")))
	d, err := s.client(t).CreateDeployment(t.Context(), botRequest())
	var lost *LostError
	if d != nil || !errors.As(err, &lost) {
		t.Fatalf("got %v, %v", d, err)
	}
	same(t, "how it was lost", asError(t, lost.Err).Status, 502)
	same(t, "why not looked for", asError(t, lost.Look).Status, 401)
	for _, part := range []string{"cannot be found out", "502", "expired"} {
		if !strings.Contains(err.Error(), part) {
			t.Errorf("no %s in %v", part, err)
		}
	}
	same(t, "what errors.As finds", asError(t, err).Operation, "create deployment")
}

// refuseDials makes the client dial for each request, and refuses the next n
// once the service was first asked.
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

func TestCreateIsRepeatedAfterARefusedConnection(t *testing.T) {
	t.Parallel()
	fake, s := careless(t, fakeserver.Options{})
	c := s.client(t)
	refused := refuseDials(t, s, c, 2)
	d, err := c.CreateDeployment(t.Context(), botRequest())
	if err != nil {
		t.Fatal(err)
	}
	same(t, "ids", madeIDs(fake), []string{d.ID})
	same(t, "refused", refused.Load(), 2)
	same(t, "GETs", s.count("GET"), 1) // nothing was lost: nothing is looked for
}

func TestCreateEndsWhenConnectionsStayRefused(t *testing.T) {
	t.Parallel()
	fake, s := careless(t, fakeserver.Options{})
	c := s.client(t)
	refused := refuseDials(t, s, c, 1000)
	_, err := c.CreateDeployment(t.Context(), botRequest())
	if failed := asError(t, err); !failed.NotSent || failed.Operation != "create deployment" || errors.As(err, new(*LostError)) {
		t.Error(err)
	}
	same(t, "ids", madeIDs(fake), nil)
	same(t, "attempts", refused.Load(), 3)
}

func TestCreateWaitsWhenTheServiceIsBusy(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		fault fakeserver.Fault
		gets  int // looks before and between
	}{
		"429":                  {fakeserver.Fault{Status: 429}, 1},
		"429 with Retry-After": {fakeserver.Fault{Status: 429, Header: http.Header{"Retry-After": {"0.01"}}}, 1},
		"503 with Retry-After": {fakeserver.Fault{Status: 503, Header: http.Header{"Retry-After": {"0.01"}}}, 3},
		"503 with a date":      {fakeserver.Fault{Status: 503, Header: http.Header{"Retry-After": {"Wed, 02 Jan 2030 03:04:35 GMT"}}}, 3},
	} {
		if strings.Contains(name, "date") {
			test.fault.Header = http.Header{"Retry-After": {time.Now().UTC().Format(http.TimeFormat)}}
		}
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			fake, s := careless(t, fakeserver.Options{})
			fake.Fail(fakeserver.CreateDeployment, 2, test.fault)
			began := time.Now()
			d, err := s.client(t).CreateDeployment(t.Context(), botRequest())
			if err != nil {
				t.Fatal(err)
			}
			if waited := time.Since(began); test.fault.Header.Get("Retry-After") == "0.01" && waited < 20*time.Millisecond {
				t.Errorf("waited for %v only", waited)
			}
			same(t, "ids", madeIDs(fake), []string{d.ID})
			same(t, "POSTs", s.count("POST"), 3)
			same(t, "GETs", s.count("GET"), test.gets)
		})
		t.Run(name+" always", func(t *testing.T) {
			t.Parallel()
			fake, s := careless(t, fakeserver.Options{})
			fake.Fail(fakeserver.CreateDeployment, -1, test.fault)
			_, err := s.client(t).CreateDeployment(t.Context(), botRequest())
			if failed := asError(t, err); failed.Status != test.fault.Status || errors.As(err, new(*LostError)) {
				t.Error(err)
			}
			same(t, "ids", madeIDs(fake), nil)
			same(t, "POSTs", s.count("POST"), 3)
		})
	}
}

func TestRefusedCreateIsNotRepeated(t *testing.T) {
	t.Parallel()
	for _, status := range []int{400, 401, 402, 403, 404, 405, 409, 413, 415, 422} {
		fake, s := careless(t, fakeserver.Options{})
		fake.Fail(fakeserver.CreateDeployment, -1, fakeserver.Fault{Status: status})
		_, err := s.client(t).CreateDeployment(t.Context(), botRequest())
		same(t, "status", asError(t, err).Status, status)
		same(t, "POSTs", s.count("POST"), 1)
		same(t, "GETs", s.count("GET"), 1)
	}
}

func TestRedirectedCreateIsRefused(t *testing.T) {
	t.Parallel()
	other := serve(t, answerJSON(deploymentJSON(idA, "bot")))
	for _, location := range []string{"/v2/deployments/", other.url.String()} {
		for _, status := range []int{301, 302, 303, 307, 308} {
			s := serve(t, byMethod(answerJSON(pageJSON(0)), answer(status, "", "Location", location)))
			_, err := s.client(t).CreateDeployment(t.Context(), botRequest())
			if !errors.Is(err, errRedirect) || errors.As(err, new(*LostError)) {
				t.Errorf("%d to %s: %v", status, location, err)
			}
			same(t, "POSTs", s.count("POST"), 1)
			same(t, "looks for the name", s.count("GET"), 2)
		}
	}
	same(t, "requests there", other.count(""), 0)
}

func TestRedirectedCreateThatWasMadeIsFound(t *testing.T) {
	t.Parallel()
	for _, status := range []int{301, 302, 303, 307, 308} {
		s := serve(t, byMethod(inTurn(answerJSON(pageJSON(0)), answerJSON(pageJSON(1, deploymentJSON(idA, "bot")))), answer(status, "", "Location", "/v2/deployments/"+idA)))
		d, err := s.client(t).CreateDeployment(t.Context(), botRequest())
		if err != nil || d.ID != idA {
			t.Errorf("%d: %v, %v", status, d, err)
		}
		same(t, "POSTs", s.count("POST"), 1)
	}
}

func TestDeploymentOfAnotherIsNotTakenOver(t *testing.T) {
	t.Parallel()
	none := answerJSON(pageJSON(0))
	t.Run("with another source", func(t *testing.T) {
		t.Parallel()
		theirs := strings.Replace(deploymentJSON(idA, "bot"), "external_docker", "codehost", 1)
		s := serve(t, byMethod(inTurn(none, answerJSON(pageJSON(0, theirs))), cut))
		notTakenOver(t, s.client(t))
	})
	t.Run("one of two", func(t *testing.T) {
		t.Parallel()
		s := serve(t, byMethod(inTurn(none, answerJSON(pageJSON(0, deploymentJSON(idA, "bot"), deploymentJSON(idB, "bot")))), cut))
		notTakenOver(t, s.client(t))
	})
	t.Run("made by another call", func(t *testing.T) {
		t.Parallel()
		// The service lists the first one late, and in another case.
		s := serve(t, byMethod(
			inTurn(none, none, answerJSON(pageJSON(0, deploymentJSON(strings.ToUpper(idA), "bot")))),
			inTurn(answerJSON(deploymentJSON(idA, "bot")), cut)))
		c := s.client(t)
		if d, err := c.CreateDeployment(t.Context(), botRequest()); err != nil || d.ID != idA {
			t.Fatal(d, err)
		}
		notTakenOver(t, c)
	})
	t.Run("found by another call", func(t *testing.T) {
		t.Parallel()
		mine := answerJSON(pageJSON(0, deploymentJSON(idA, "bot")))
		s := serve(t, byMethod(inTurn(none, mine, none, mine), cut))
		c := s.client(t)
		if d, err := c.CreateDeployment(t.Context(), botRequest()); err != nil || d.ID != idA {
			t.Fatal(d, err)
		}
		notTakenOver(t, c)
	})
}

func notTakenOver(t *testing.T, c *Client) {
	t.Helper()
	d, err := c.CreateDeployment(t.Context(), botRequest())
	var exists *ExistsError
	if d != nil || !errors.As(err, &exists) || !strings.EqualFold(exists.Existing.ID, idA) {
		t.Errorf("got %v, %v", d, err)
	}
}

func TestTwoCreatesOfOneNameMakeOne(t *testing.T) {
	t.Parallel()
	for name, fault := range map[string]fakeserver.Fault{"answered": {Delay: time.Millisecond}, "lost": {AfterWork: true, Cut: true}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			fake, s := careless(t, fakeserver.Options{})
			fake.Fail(fakeserver.CreateDeployment, -1, fault)
			c := s.client(t)
			var wg sync.WaitGroup
			var made, exist atomic.Int32
			for range 8 {
				wg.Go(func() {
					_, err := c.CreateDeployment(t.Context(), botRequest())
					switch {
					case err == nil:
						made.Add(1)
					case errors.As(err, new(*ExistsError)):
						exist.Add(1)
					default:
						t.Error(err)
					}
				})
			}
			wg.Wait()
			same(t, "made", made.Load(), 1)
			same(t, "exist", exist.Load(), 7)
			same(t, "in the service", len(madeIDs(fake)), 1)
			same(t, "locks that are left", len(c.names.locks), 0)
		})
	}
}

func TestCreatesOfDifferentNamesDoNotWaitForEachOther(t *testing.T) {
	t.Parallel()
	both := make(chan struct{})
	var reached atomic.Int32
	fake, s := careless(t, fakeserver.Options{})
	// Neither is answered before both are there.
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
			r.Name = name
			if _, err := c.CreateDeployment(t.Context(), r); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
}

func TestManyCreatesThroughAServiceThatLosesAnswers(t *testing.T) {
	t.Parallel()
	for seed := range int64(3) {
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) {
			t.Parallel()
			fake, s := careless(t, fakeserver.Options{MaxPage: 20})
			fake.FailRandomly(seed, 0.2,
				fakeserver.Fault{Cut: true}, fakeserver.Fault{Cut: true, AfterWork: true}, fakeserver.Fault{Truncate: true},
				fakeserver.Fault{Status: 500, AfterWork: true}, fakeserver.Fault{Status: 502}, fakeserver.Fault{Status: 429},
				fakeserver.Fault{Status: 503, AfterWork: true, Header: http.Header{"Retry-After": {"0"}}})
			c := s.client(t, func(config *Config) { config.MaxRetries = 20 })
			type outcome struct {
				made *Deployment
				err  error
			}
			outcomes := make([]outcome, 50)
			var wg sync.WaitGroup
			for i := range outcomes {
				wg.Go(func() {
					r := botRequest()
					r.Name = fmt.Sprint("agent-", i)
					outcomes[i].made, outcomes[i].err = c.CreateDeployment(t.Context(), r)
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
					t.Errorf("%d: made %d times", i, len(ids))
				case o.err == nil:
					succeeded++
					same(t, fmt.Sprint(i, ": ids"), ids, []string{o.made.ID})
				case len(ids) == 1:
					t.Errorf("%d: made, and nobody knows: %v", i, o.err)
				}
			}
			if succeeded < 25 {
				t.Errorf("only %d of 50 succeeded", succeeded)
			}
		})
	}
}

func TestCreateIsNotBegunOnceCancelled(t *testing.T) {
	t.Parallel()
	t.Run("before it begins", func(t *testing.T) {
		t.Parallel()
		_, s := careless(t, fakeserver.Options{})
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		_, err := s.client(t).CreateDeployment(ctx, botRequest())
		if !errors.Is(err, context.Canceled) || s.count("") != 0 {
			t.Errorf("%v after %d requests", err, s.count(""))
		}
	})
	t.Run("while it looks", func(t *testing.T) {
		t.Parallel()
		fake, s := careless(t, fakeserver.Options{})
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		fake.Fail(fakeserver.ListDeployments, 1, fakeserver.Fault{Reached: cancel})
		_, err := s.client(t).CreateDeployment(ctx, botRequest())
		if !errors.Is(err, context.Canceled) || s.count("POST") != 0 {
			t.Errorf("%v after %d POSTs", err, s.count("POST"))
		}
	})
}

func TestCreateThatIsUnderWayIsSeenThroughThoughCancelled(t *testing.T) {
	t.Parallel()
	for name, fault := range map[string]fakeserver.Fault{
		"answered":     {},
		"cut after":    {AfterWork: true, Cut: true},
		"500 after":    {AfterWork: true, Status: 500},
		"truncated":    {Truncate: true},
		"busy but did": {AfterWork: true, Status: 503, Header: http.Header{"Retry-After": {"300"}}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			fake, s := careless(t, fakeserver.Options{})
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			fault.Reached = cancel
			fake.Fail(fakeserver.CreateDeployment, 1, fault)
			d, err := s.client(t).CreateDeployment(ctx, botRequest())
			if err != nil {
				t.Fatal(err)
			}
			same(t, "ids", madeIDs(fake), []string{d.ID})
		})
	}
}

func TestCreateStopsBetweenRepetitionsWhenCancelled(t *testing.T) {
	t.Parallel()
	for _, status := range []int{429, 503} {
		fake, s := careless(t, fakeserver.Options{})
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		fake.Fail(fakeserver.CreateDeployment, -1, fakeserver.Fault{Status: status, Header: http.Header{"Retry-After": {"300"}}, Reached: cancel})
		d, err := s.client(t).CreateDeployment(ctx, botRequest())
		if d != nil || asError(t, err).Status != status || s.count("POST") != 1 || len(madeIDs(fake)) != 0 {
			t.Errorf("got %v, %v after %d POSTs", d, err, s.count("POST"))
		}
	}
}

func TestCreateThatCannotBeWrittenIsAnError(t *testing.T) {
	t.Parallel()
	_, s := careless(t, fakeserver.Options{})
	r := botRequest()
	r.SourceConfig.ResourceSpec = &ResourceSpec{Volumes: []Volume{{CSI: []byte("{hush-hush")}}}
	_, err := s.client(t).CreateDeployment(t.Context(), r)
	if err == nil || s.count("POST") != 0 || strings.Contains(err.Error(), "hush") {
		t.Errorf("%v after %d POSTs", err, s.count("POST"))
	}
}
