package client

import (
	"bytes"
	"context"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"log"
	"math"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"
)

func TestPathPrefixIsKeptAndATrailingSlashMakesNoDifference(t *testing.T) {
	t.Parallel()
	for base, want := range map[string]string{
		"":              "/v2/auth/providers",
		"/":             "/v2/auth/providers",
		"/api":          "/api/v2/auth/providers",
		"/api/":         "/api/v2/auth/providers",
		"/api/deploy//": "/api/deploy/v2/auth/providers",
		"/a%2Fb/c%20d":  "/a%2Fb/c%20d/v2/auth/providers",
		"/é":            "/%C3%A9/v2/auth/providers",
	} {
		s := serve(t, answerJSON(`[]`))
		c := s.client(t, func(config *Config) { config.BaseURL = parse(t, s.url.String()+base) })
		if _, err := c.OAuthProviders(t.Context()); err != nil {
			t.Error(base, err)
			continue
		}
		same(t, base, s.requests("")[0].path, want)
	}
}

func TestBaseURLIsNotChanged(t *testing.T) {
	t.Parallel()
	s := serve(t, answerJSON(pageJSON(0)))
	c := s.client(t)
	before := *c.config.BaseURL
	if _, err := collect(t.Context(), c, DeploymentFilter{Status: ptr("READY")}); err != nil {
		t.Fatal(err)
	}
	same(t, "base URL", *c.config.BaseURL, before)
}

func TestHeadersOfReadsAndWrites(t *testing.T) {
	t.Parallel()
	s := serve(t, byMethod(answerJSON(pageJSON(0)), answerJSON(deploymentJSON(idA, "n"))))
	c := s.client(t, func(config *Config) {
		config.UserAgent = "tester/1.0"
		config.Header = http.Header{"X-Api-Key": {apiKey}, "X-Tenant": {"one", "two"}}
	})
	if _, err := c.CreateDeployment(t.Context(), DeploymentRequest{Name: "n", Source: "external_docker"}); err != nil {
		t.Fatal(err)
	}
	for _, r := range s.requests("") {
		for name, want := range map[string][]string{"X-Api-Key": {apiKey}, "X-Tenant": {"one", "two"}, "User-Agent": {"tester/1.0"}, "Accept": {"application/json"}} {
			same(t, r.method+" "+name, r.header[name], want)
		}
	}
	get, post := s.requests("GET")[0], s.requests("POST")[0]
	same(t, "content type of the GET", get.header["Content-Type"], nil)
	same(t, "body of the GET", get.body, "")
	same(t, "length of the GET", get.header["Content-Length"], nil)
	same(t, "content type of the POST", post.header["Content-Type"], []string{"application/json"})
}

func TestReadIsRepeated(t *testing.T) {
	t.Parallel()
	for name, bad := range map[string]http.HandlerFunc{
		"408": answer(408, ""), "429": answer(429, ""), "500": answer(500, ""), "502": answer(502, "<html>"),
		"503": answer(503, ""), "504": answer(504, ""), "599": answer(599, ""),
		"429 with Retry-After": answer(429, "", "Retry-After", "0"),
		"a cut connection":     cut, "a truncated body": truncated,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := serve(t, inTurn(bad, bad, answerJSON(`[`+fullOAuthProvider+`]`)))
			got, err := s.client(t).OAuthProviders(t.Context())
			if err != nil || len(got) != 1 || s.count("") != 3 {
				t.Errorf("got %v, %v after %d requests", got, err, s.count(""))
			}
			s = serve(t, bad)
			got, err = s.client(t).OAuthProviders(t.Context())
			if err == nil || got != nil || s.count("") != 3 {
				t.Errorf("always: got %v, %v after %d requests", got, err, s.count(""))
			}
			s = serve(t, bad)
			_, err = s.client(t, func(config *Config) { config.MaxRetries = 0 }).OAuthProviders(t.Context())
			if err == nil || s.count("") != 1 {
				t.Errorf("no retries: %v after %d requests", err, s.count(""))
			}
		})
	}
}

func TestReadThatTimesOutIsRepeated(t *testing.T) {
	t.Parallel()
	// Half an answer and then silence is a timeout too.
	half := func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.WriteString(w, "[")
		_ = http.NewResponseController(w).Flush()
		silent(w, r)
	}
	for name, bad := range map[string]http.HandlerFunc{"no answer": silent, "half an answer": half} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := serve(t, bad)
			_, err := s.client(t, func(config *Config) { config.RequestTimeout = time.Second }).OAuthProviders(t.Context())
			if failed := asError(t, err); s.count("") != 3 || !strings.Contains(err.Error(), "no answer within 1s (request_timeout)") || failed.Status != 0 || failed.NotSent {
				t.Errorf("after %d requests: %v", s.count(""), err)
			}
			s = serve(t, inTurn(bad, answerJSON(`[]`)))
			_, err = s.client(t, func(config *Config) {
				config.RequestTimeout, config.MaxRetries = time.Second, 3
			}).OAuthProviders(t.Context())
			if err != nil || s.count("") < 2 {
				t.Errorf("once: after %d requests: %v", s.count(""), err)
			}
		})
	}
}

func TestReadIsNotRepeatedWhenThatWouldNotHelp(t *testing.T) {
	t.Parallel()
	for _, status := range []int{300, 304, 400, 401, 403, 404, 405, 409, 410, 418, 422, 501} {
		s := serve(t, answer(status, `{"detail":"no"}`))
		_, err := s.client(t).OAuthProviders(t.Context())
		if failed := asError(t, err); failed.Status != status || s.count("") != 1 {
			t.Errorf("%d: %v after %d requests", status, err, s.count(""))
		}
	}
}

func TestRefusedConnectionIsRepeatedAndSaidToBeNotSent(t *testing.T) {
	t.Parallel()
	s := serve(t, answerJSON(`[]`))
	unused := httptest.NewServer(http.NotFoundHandler())
	unused.Close()
	var attempts counter
	c := s.client(t, func(config *Config) {
		config.BaseURL = parse(t, unused.URL)
		config.Log = attempts.log
	})
	_, err := c.OAuthProviders(t.Context())
	if failed := asError(t, err); !failed.NotSent || attempts.count() != 3 || !strings.Contains(err.Error(), "refused") {
		t.Errorf("%v after %d attempts", err, attempts.count())
	}
}

// counter counts attempts by their log, and keeps it.
type counter struct {
	mu   sync.Mutex
	told []map[string]any
}

func (c *counter) log(_ context.Context, _ string, fields map[string]any) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.told = append(c.told, fields)
}

func (c *counter) count() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.told)
}

func TestCancelledReadStopsAtOnce(t *testing.T) {
	t.Parallel()
	for name, handler := range map[string]http.HandlerFunc{
		"while it waits to repeat":   answer(503, "", "Retry-After", "300"),
		"while it waits for answers": silent,
		"as the answer comes":        answerJSON(`[]`),
		"as the connection is cut":   cut,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			s := serve(t, func(w http.ResponseWriter, r *http.Request) { cancel(); handler(w, r) })
			got, err := s.client(t).OAuthProviders(ctx)
			if name == "as the answer comes" && err == nil {
				return // it came first
			}
			if got != nil || err != context.Canceled || s.count("") != 1 {
				t.Errorf("got %v, %v (%T) after %d requests", got, err, err, s.count(""))
			}
		})
	}
	t.Run("before it begins", func(t *testing.T) {
		t.Parallel()
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		s := serve(t, answerJSON(`[]`))
		if _, err := s.client(t).OAuthProviders(ctx); err != context.Canceled || s.count("") != 0 {
			t.Errorf("%v after %d requests", err, s.count(""))
		}
	})
	t.Run("at a deadline", func(t *testing.T) {
		t.Parallel()
		ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
		defer cancel()
		s := serve(t, silent)
		if _, err := s.client(t).OAuthProviders(ctx); err != context.DeadlineExceeded {
			t.Errorf("%v (%T)", err, err)
		}
	})
}

func TestAnswerThatComesTooLateIsClosed(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	body := &closable{Reader: strings.NewReader(`[]`)}
	c := New(Config{BaseURL: parse(t, "http://service.example")})
	c.writes.Transport = roundTripper(func(r *http.Request) (*http.Response, error) {
		cancel()
		return &http.Response{StatusCode: 200, Header: http.Header{}, Body: body, Request: r}, nil
	})
	if _, err := c.OAuthProviders(ctx); err != context.Canceled || !body.closed {
		t.Errorf("%v, closed: %v", err, body.closed)
	}
}

type closable struct {
	io.Reader
	closed bool
}

func (c *closable) Close() error { c.closed = true; return nil }

func TestRetryAfter(t *testing.T) {
	t.Parallel()
	now := time.Date(2030, 1, 2, 3, 4, 5, 0, time.UTC)
	for text, want := range map[string]time.Duration{
		"0": 0, "7": 7 * time.Second, "1.5": 1500 * time.Millisecond, "-3": 0, "-1e300": 0, "-Inf": 0,
		"301": maxRetryAfter, "99999999999999999999": maxRetryAfter, "1e300": maxRetryAfter, "Inf": maxRetryAfter,
		"Wed, 02 Jan 2030 03:04:35 GMT":     30 * time.Second,
		"Wednesday, 02-Jan-30 03:04:35 GMT": 30 * time.Second,
		"Wed, 02 Jan 2030 03:04:05 GMT":     0,
		"Tue, 01 Jan 2030 00:00:00 GMT":     0,
		"Wed, 02 Jan 2040 03:04:05 GMT":     maxRetryAfter,
		"Fri, 31 Dec 9999 23:59:59 GMT":     maxRetryAfter,
	} {
		got, ok := retryAfter(withRetryAfter(text), now)
		if !ok || got != want {
			t.Errorf("%s: %v, %v, want %v", text, got, ok, want)
		}
	}
	for _, text := range []string{"", "soon", "NaN", "7s", "2030-01-02T03:04:35Z", "7, 8"} {
		if got, ok := retryAfter(withRetryAfter(text), now); ok || got != 0 {
			t.Errorf("%s: %v, %v", text, got, ok)
		}
	}
	if _, ok := retryAfter(nil, now); ok {
		t.Error("no response: asks to wait")
	}
}

func withRetryAfter(text string) *http.Response {
	return &http.Response{Header: http.Header{"Retry-After": {text}}}
}

func TestBackoffDoublesWithinBounds(t *testing.T) {
	t.Parallel()
	const shortest, longest = 100 * time.Millisecond, 3 * time.Second
	for attempt, full := range map[int]time.Duration{
		0: shortest, 1: 2 * shortest, 2: 4 * shortest, 4: 16 * shortest, 5: longest, 6: longest, 29: longest, 30: longest, 63: longest, 64: longest, 1000: longest,
	} {
		different := map[time.Duration]bool{}
		for range 200 {
			got := backoff(shortest, longest, attempt, nil)
			if got < full/2 || got > full {
				t.Fatalf("attempt %d: %v is not within %v and %v", attempt, got, full/2, full)
			}
			different[got] = true
		}
		if len(different) < 2 {
			t.Errorf("attempt %d: no jitter", attempt)
		}
	}
	if got := backoff(time.Duration(math.MaxInt64/2), math.MaxInt64, 3, nil); got < 0 {
		t.Errorf("overflow: %v", got)
	}
	if got := backoff(longest, shortest, 0, nil); got > shortest {
		t.Errorf("a longest below the shortest: %v", got)
	}
}

func TestBackoffDoesWhatTheServiceAsks(t *testing.T) {
	t.Parallel()
	for text, bounds := range map[string][2]time.Duration{
		"0": {0, 0}, "10": {10 * time.Second, 11 * time.Second}, "100": {100 * time.Second, 101 * time.Second},
		"86400": {maxRetryAfter, maxRetryAfter + time.Second},
		"soon":  {time.Millisecond / 2, time.Millisecond},
	} {
		for range 50 {
			if got := backoff(time.Millisecond, 2*time.Millisecond, 0, withRetryAfter(text)); got < bounds[0] || got > bounds[1] {
				t.Fatalf("%s: %v is not within %v", text, got, bounds)
			}
		}
	}
}

func TestJitterIsWithinBounds(t *testing.T) {
	t.Parallel()
	for _, d := range []time.Duration{-1, 0} {
		same(t, "jitter", jitter(d), 0)
	}
	for range 100 {
		if got := jitter(3); got < 0 || got > 3 {
			t.Fatal(got)
		}
	}
}

func TestReadWaitsAsLongAsTheServiceAsks(t *testing.T) {
	t.Parallel()
	const wait = 40 * time.Millisecond
	var mu sync.Mutex
	var times []time.Time
	s := serve(t, func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		times = append(times, time.Now())
		first := len(times) == 1
		mu.Unlock()
		if first {
			answer(503, "", "Retry-After", fmt.Sprint(wait.Seconds()))(w, r)
		} else {
			answerJSON(`[]`)(w, r)
		}
	})
	if _, err := s.client(t).OAuthProviders(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got := times[1].Sub(times[0]); got < wait {
		t.Errorf("came back after %v", got)
	}
}

func TestRedirectToAnotherOriginIsRefusedBeforeAnythingIsSentThere(t *testing.T) {
	t.Parallel()
	for _, method := range []string{"GET", "POST"} {
		for _, status := range []int{301, 302, 303, 307, 308} {
			t.Run(fmt.Sprint(method, " ", status), func(t *testing.T) {
				t.Parallel()
				other := serve(t, answerJSON(`[]`))
				away := answer(status, "", "Location", other.url.String()+"/v2/auth/providers")
				s := serve(t, byMethod(away, away))
				err := s.client(t).call(t.Context(), request{operation: "try", method: method, path: "/x"}, nil)
				if !errors.Is(err, errRedirect) || !strings.Contains(err.Error(), "another origin, "+other.url.String()) {
					t.Error(err)
				}
				same(t, "requests there", other.count(""), 0)
				same(t, "requests here", s.count(""), 1)
			})
		}
	}
}

func TestWhatAnotherOriginIs(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		from, to string
		ok       bool
	}{
		{"https://a.example/x", "https://a.example/y?z=1", true},
		{"https://a.example/x", "https://a.example:443/y", true},
		{"http://a.example:80/x", "http://a.example/y", true},
		{"https://a.example/x", "https://b.example/x", false},
		{"https://a.example/x", "https://sub.a.example/x", false},
		{"https://a.example/x", "https://a.example.evil.example/x", false},
		{"https://a.example/x", "https://a.example:8443/x", false},
		{"https://a.example/x", "http://a.example/x", false},
		{"http://a.example/x", "https://a.example/x", false},
		{"http://a.example:443/x", "https://a.example:443/x", false},
		{"https://a.example/x", "https://a.example@b.example/x", false},
	} {
		next := &http.Request{Method: "GET", URL: parse(t, test.to)}
		err := checkRedirect(next, []*http.Request{{Method: "GET", URL: parse(t, test.from)}})
		if (err == nil) != test.ok || err != nil && !errors.Is(err, errRedirect) {
			t.Errorf("%s to %s: %v", test.from, test.to, err)
		}
	}
}

func TestReadFollowsARedirectWithinTheOrigin(t *testing.T) {
	t.Parallel()
	for _, status := range []int{301, 302, 307, 308} {
		s := serve(t, func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path == "/moved" {
				answerJSON(`[`+fullOAuthProvider+`]`)(w, r)
			} else {
				answer(status, "", "Location", "/moved")(w, r)
			}
		})
		got, err := s.client(t).OAuthProviders(t.Context())
		if err != nil || len(got) != 1 || s.count("") != 2 {
			t.Errorf("%d: %v, %v", status, got, err)
			continue
		}
		same(t, "credential", s.requests("")[1].header.Get("X-Api-Key"), apiKey)
	}
}

func TestRedirectsInACircleAreRefused(t *testing.T) {
	t.Parallel()
	s := serve(t, func(w http.ResponseWriter, r *http.Request) { answer(302, "", "Location", r.URL.Path)(w, r) })
	_, err := s.client(t).OAuthProviders(t.Context())
	if !errors.Is(err, errRedirect) || s.count("") != 10 {
		t.Errorf("%v after %d requests", err, s.count(""))
	}
}

func TestWriteNeverFollowsARedirect(t *testing.T) {
	t.Parallel()
	for _, status := range []int{301, 302, 303, 307, 308} {
		s := serve(t, answer(status, "", "Location", "/moved"))
		err := s.client(t).call(t.Context(), request{operation: "try", method: "POST", path: "/x", body: 1}, nil)
		if !errors.Is(err, errRedirect) || !strings.Contains(err.Error(), "it would repeat a POST") || s.count("") != 1 {
			t.Errorf("%d: %v after %d requests", status, err, s.count(""))
		}
	}
}

func TestAnswerOverTheLimitIsRefused(t *testing.T) {
	t.Parallel()
	chunk := bytes.Repeat([]byte(" "), 1<<20)
	s := serve(t, func(w http.ResponseWriter, _ *http.Request) {
		for { // ends when the client has had enough
			if _, err := w.Write(chunk); err != nil {
				return
			}
		}
	})
	_, err := s.client(t).OAuthProviders(t.Context())
	if !errors.Is(err, errBodyTooLarge) || !strings.Contains(err.Error(), "larger than 32 MiB") || s.count("") != 1 {
		t.Errorf("%v after %d requests", err, s.count(""))
	}
}

func TestLimitIsOnTheByte(t *testing.T) {
	t.Parallel()
	for size, want := range map[int64]error{maxBody: nil, maxBody + 1: errBodyTooLarge} {
		resp := &http.Response{Body: io.NopCloser(io.LimitReader(endless{}, size))}
		if err := buffer(resp); err != want {
			t.Errorf("%d: %v", size, err)
		}
	}
}

// endless reads as zeros.
type endless struct{}

func (endless) Read(p []byte) (int, error) { return len(p), nil }

func TestAnswerThatIsNotJSONIsAnError(t *testing.T) {
	t.Parallel()
	html := []string{"Content-Type", "text/html; charset=utf-8", "X-Request-Id", "req-7"}
	for name, test := range map[string]struct {
		handler http.HandlerFunc
		want    string
	}{
		"HTML":                  {answer(200, "<html><body>Sign in</body></html>", html...), "it is an HTML page, not JSON; base_url may lead to a web site instead of the service (request id req-7)"},
		"empty HTML":            {answer(200, "", html...), "it is an HTML page"},
		"empty":                 {answer(200, ""), "it is empty"},
		"blank":                 {answer(200, " \n"), "it is empty"},
		"no content":            {answer(204, ""), "it is empty"},
		"text":                  {answer(200, "OK", "Content-Type", "text/plain"), "it is not JSON"},
		"half":                  {answer(200, `[{"id":`), "it is not JSON: unexpected end"},
		"garbage after it":      {answer(200, `[]garbage`), "it is not JSON: invalid character"},
		"a second value":        {answer(200, `[][]`), "it is not JSON: invalid character"},
		"binary":                {answer(200, "\x00\x01\xff"), "it is not JSON"},
		"JSON with a wrong end": {answer(200, `[}`), "it is not JSON"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := serve(t, test.handler)
			got, err := s.client(t).OAuthProviders(t.Context())
			if got != nil || err == nil || !strings.Contains(err.Error(), "the answer cannot be used: "+test.want) || strings.Contains(err.Error(), "<") {
				t.Errorf("got %v, %v", got, err)
			}
			same(t, "malformed", asError(t, err).Malformed, true)
			same(t, "requests", s.count(""), 1)
		})
	}
}

func TestAnyStatusOfSuccessIsFine(t *testing.T) {
	t.Parallel()
	for _, status := range []int{200, 201, 202, 299} {
		s := serve(t, answer(status, `[]`))
		if _, err := s.client(t).OAuthProviders(t.Context()); err != nil {
			t.Error(status, err)
		}
	}
}

func TestLogTellsOfAttemptsButNotOfSecrets(t *testing.T) {
	t.Parallel()
	var told counter
	s := serve(t, byMethod(
		inTurn(cut, answer(200, pageJSON(0), "X-Request-Id", "req-"+url.QueryEscape(apiKey))),
		answer(422, `{"detail":"`+apiKey+`"}`)))
	c := s.client(t, func(config *Config) { config.Log = told.log })
	_, err := c.CreateDeployment(t.Context(), DeploymentRequest{Name: "n", Source: "s", Secrets: []Secret{{"A", "hush-hush"}}})
	if err == nil {
		t.Fatal("no error")
	}
	same(t, "attempts", len(told.told), 3)
	for i, want := range []map[string]any{{"method": "GET", "path": "/v2/deployments"}, {"method": "GET", "status": 200}, {"method": "POST", "status": 422}} {
		for name, value := range want {
			same(t, fmt.Sprint(i, " ", name), told.told[i][name], value)
		}
	}
	if _, ok := told.told[0]["error"]; !ok {
		t.Errorf("no error is told: %v", told.told[0])
	}
	if text := fmt.Sprint(told.told); strings.Contains(text, "k3y") || strings.Contains(text, "hush") {
		t.Errorf("told: %s", text)
	}
}

func TestAuthorityThatIsNotTrusted(t *testing.T) {
	t.Parallel()
	server := httptest.NewUnstartedServer(answerJSON(`[]`))
	server.Config.ErrorLog = log.New(io.Discard, "", 0)
	server.StartTLS()
	t.Cleanup(server.Close)
	s := &service{url: parse(t, server.URL)}

	var told counter
	_, err := s.client(t, func(config *Config) { config.Log = told.log }).OAuthProviders(t.Context())
	if failed := asError(t, err); !failed.NotSent || told.count() != 1 || !isCertificateError(err) || failed.certainlyNotDone() {
		t.Errorf("%v after %d attempts", err, told.count())
	}
	_, err = s.client(t, func(config *Config) {
		config.RootCAs = x509.NewCertPool()
		config.RootCAs.AddCert(server.Certificate())
	}).OAuthProviders(t.Context())
	if err != nil {
		t.Errorf("trusted: %v", err)
	}
}

func TestDefaultsOfTheConfiguration(t *testing.T) {
	t.Parallel()
	got := New(Config{BaseURL: &url.URL{}, RequestTimeout: time.Minute}).config
	same(t, "retry wait", got.RetryWait, 500*time.Millisecond)
	same(t, "longest retry wait", got.RetryWaitMax, 30*time.Second)
	same(t, "poll interval", got.PollInterval, time.Second)
	same(t, "longest poll interval", got.PollIntervalMax, 15*time.Second)
	same(t, "settle time", got.SettleTime, time.Minute)
	same(t, "request timeout", New(Config{BaseURL: &url.URL{}}).config.RequestTimeout, 30*time.Second)
}

func TestRequestThatCannotBeMadeIsAnError(t *testing.T) {
	t.Parallel()
	s := serve(t, answerJSON(`{}`))
	c := s.client(t)
	for name, r := range map[string]request{
		"body":   {operation: "try", method: "POST", path: "/x", body: func() {}},
		"method": {operation: "try", method: "NO METHOD", path: "/x"},
		"path":   {operation: "try", method: "GET", path: "/%zz"},
	} {
		if err := c.call(t.Context(), r, nil); err == nil || !strings.HasPrefix(err.Error(), "try") {
			t.Errorf("%s: %v", name, err)
		}
	}
	same(t, "requests", s.count(""), 0)
}
