package client

import (
	"bytes"
	"compress/gzip"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"errors"
	"fmt"
	"io"
	"log"
	"math"
	"math/big"
	"net"
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
		s := serve(t, respondJSON(`[]`))
		c := s.client(t, func(config *Config) { config.BaseURL = parse(t, s.url.String()+base) })
		if _, err := c.OAuthProviders(t.Context(), unchecked); err != nil {
			t.Error(base, err)
			continue
		}
		equal(t, base, s.requests("")[0].path, want)
	}
}

func TestBaseURLIsNotChanged(t *testing.T) {
	t.Parallel()
	s := serve(t, respondJSON(pageJSON(0)))
	c := s.client(t)
	before := *c.config.BaseURL
	if _, err := collect(t.Context(), c, DeploymentFilter{Status: ptr("READY")}); err != nil {
		t.Fatal(err)
	}
	equal(t, "base URL", *c.config.BaseURL, before)
}

func TestHeadersOfReadsAndWrites(t *testing.T) {
	t.Parallel()
	s := serve(t, byMethod(respondJSON(pageJSON(0)), respondJSON(deploymentJSON(idA, "n"))))
	c := s.client(t, func(config *Config) {
		config.UserAgent = "tester/1.0"
		config.Header = http.Header{"X-Api-Key": {apiKey}, "X-Tenant": {"one", "two"}}
	})
	if _, _, err := c.CreateDeployment(t.Context(), Tree{"name": "n", "source": "external_docker"},
		satisfiedByAll); err != nil {
		t.Fatal(err)
	}
	for _, r := range s.requests("") {
		for name, want := range map[string][]string{"X-Api-Key": {apiKey}, "X-Tenant": {"one", "two"},
			"User-Agent": {"tester/1.0"}, "Accept": {"application/json"}} {
			equal(t, r.method+" "+name, r.header[name], want)
		}
	}
	get, post := s.requests("GET")[0], s.requests("POST")[0]
	equal(t, "content type of the GET", get.header["Content-Type"], nil)
	equal(t, "body of the GET", get.body, "")
	equal(t, "length of the GET", get.header["Content-Length"], nil)
	equal(t, "content type of the POST", post.header["Content-Type"], []string{"application/json"})
}

func TestReadIsRetried(t *testing.T) {
	t.Parallel()
	for name, bad := range map[string]http.HandlerFunc{
		"408": respond(408, ""), "429": respond(429, ""), "500": respond(500, ""), "502": respond(502, "<html>"),
		"503": respond(503, ""), "504": respond(504, ""), "599": respond(599, ""),
		"429 with Retry-After": respond(429, "", "Retry-After", "0"),
		"a cut connection":     cut, "a truncated body": truncated,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := serve(t, inTurn(bad, bad, respondJSON(`[`+fullOAuthProvider+`]`)))
			got, err := s.client(t).OAuthProviders(t.Context(), unchecked)
			if err != nil || len(got) != 1 || s.count("") != 3 {
				t.Errorf("got %v, %v after %d requests", got, err, s.count(""))
			}
			s = serve(t, bad)
			got, err = s.client(t).OAuthProviders(t.Context(), unchecked)
			if err == nil || got != nil || s.count("") != 3 {
				t.Errorf("always: got %v, %v after %d requests", got, err, s.count(""))
			}
			s = serve(t, bad)
			_, err = s.client(t, func(config *Config) { config.MaxRetries = 0 }).OAuthProviders(t.Context(), unchecked)
			if err == nil || s.count("") != 1 {
				t.Errorf("no retries: %v after %d requests", err, s.count(""))
			}
		})
	}
}

func TestReadThatTimesOutIsRetried(t *testing.T) {
	t.Parallel()
	// Half a response and then silence is a timeout too.
	half := func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.WriteString(w, "[")
		_ = http.NewResponseController(w).Flush()
		silent(w, r)
	}
	for name, bad := range map[string]http.HandlerFunc{"no response": silent, "half a response": half} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := serve(t, bad)
			_, err := s.client(t, func(config *Config) { config.RequestTimeout = time.Second }).OAuthProviders(t.Context(),
				unchecked)
			if failed := asType[*Error](t, err); s.count("") != 3 || !strings.Contains(err.Error(),
				"no response within 1s (request_timeout)") || failed.Status != 0 || failed.notSent {
				t.Errorf("after %d requests: %v", s.count(""), err)
			}
			s = serve(t, inTurn(bad, respondJSON(`[]`)))
			_, err = s.client(t, func(config *Config) {
				config.RequestTimeout, config.MaxRetries = time.Second, 3
			}).OAuthProviders(t.Context(), unchecked)
			if err != nil || s.count("") < 2 {
				t.Errorf("once: after %d requests: %v", s.count(""), err)
			}
		})
	}
}

func TestReadIsNotRetriedWhenThatWouldNotHelp(t *testing.T) {
	t.Parallel()
	for _, status := range []int{300, 304, 400, 401, 403, 404, 405, 409, 410, 418, 422, 501} {
		s := serve(t, respond(status, `{"detail":"no"}`))
		_, err := s.client(t).OAuthProviders(t.Context(), unchecked)
		if failed := asType[*Error](t, err); failed.Status != status || s.count("") != 1 {
			t.Errorf("%d: %v after %d requests", status, err, s.count(""))
		}
	}
}

func TestRefusedConnectionIsRetriedAndNotSent(t *testing.T) {
	t.Parallel()
	s := serve(t, respondJSON(`[]`))
	unused := httptest.NewServer(http.NotFoundHandler())
	unused.Close()
	var attempts counter
	c := s.client(t, func(config *Config) {
		config.BaseURL = parse(t, unused.URL)
		config.Log = attempts.log
	})
	_, err := c.OAuthProviders(t.Context(), unchecked)
	if failed := asType[*Error](t, err); !failed.notSent || attempts.count() != 3 ||
		!strings.Contains(err.Error(), "refused") {
		t.Errorf("%v after %d attempts", err, attempts.count())
	}
}

// counter counts attempts by their log, and keeps it.
type counter struct {
	mu     sync.Mutex
	logged []map[string]any
}

func (c *counter) log(_ context.Context, _ string, fields map[string]any) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.logged = append(c.logged, fields)
}

func (c *counter) count() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.logged)
}

func TestCanceledReadStopsAtOnce(t *testing.T) {
	t.Parallel()
	for name, handler := range map[string]http.HandlerFunc{
		"while it waits to retry":      respond(503, "", "Retry-After", "300"),
		"while it waits for responses": silent,
		"as the response comes":        respondJSON(`[]`),
		"as the connection is cut":     cut,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			s := serve(t, func(w http.ResponseWriter, r *http.Request) { cancel(); handler(w, r) })
			got, err := s.client(t).OAuthProviders(ctx, unchecked)
			if name == "as the response comes" && err == nil {
				return // it came first
			}
			if got != nil || err != context.Canceled || s.count("") != 1 {
				t.Errorf("got %v, %v (%T) after %d requests", got, err, err, s.count(""))
			}
		})
	}
	t.Run("between two attempts", func(t *testing.T) {
		t.Parallel()
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		s := serve(t, respond(503, "", "Retry-After", "300"))
		c := s.client(t, func(config *Config) {
			config.Log = func(context.Context, string, map[string]any) { cancel() }
		})
		if _, err := c.OAuthProviders(ctx, unchecked); err != context.Canceled || s.count("") != 1 {
			t.Errorf("%v after %d requests", err, s.count(""))
		}
	})
	t.Run("before it begins", func(t *testing.T) {
		t.Parallel()
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		s := serve(t, respondJSON(`[]`))
		if _, err := s.client(t).OAuthProviders(ctx, unchecked); err != context.Canceled || s.count("") != 0 {
			t.Errorf("%v after %d requests", err, s.count(""))
		}
	})
	t.Run("at a deadline", func(t *testing.T) {
		t.Parallel()
		ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
		defer cancel()
		s := serve(t, silent)
		if _, err := s.client(t).OAuthProviders(ctx, unchecked); err != context.DeadlineExceeded {
			t.Errorf("%v (%T)", err, err)
		}
	})
}

func TestRetryAfter(t *testing.T) {
	t.Parallel()
	now := time.Date(2030, 1, 2, 3, 4, 5, 0, time.UTC)
	for text, want := range map[string]time.Duration{
		"0": 0, "7": 7 * time.Second, "1.5": 1500 * time.Millisecond, "-3": 0, "-1e300": 0, "-Inf": 0,
		"301": maxPauses, "99999999999999999999": maxPauses, "1e300": maxPauses, "Inf": maxPauses,
		"Wed, 02 Jan 2030 03:04:35 GMT":     30 * time.Second,
		"Wednesday, 02-Jan-30 03:04:35 GMT": 30 * time.Second,
		"Wed, 02 Jan 2030 03:04:05 GMT":     0,
		"Tue, 01 Jan 2030 00:00:00 GMT":     0,
		"Wed, 02 Jan 2040 03:04:05 GMT":     maxPauses,
		"Fri, 31 Dec 9999 23:59:59 GMT":     maxPauses,
	} {
		got, ok := retryAfter(http.Header{"Retry-After": {text}}, now)
		if !ok || got != want {
			t.Errorf("%s: %v, %v, want %v", text, got, ok, want)
		}
	}
	for _, text := range []string{"", "soon", "NaN", "7s", "2030-01-02T03:04:35Z", "7, 8"} {
		if got, ok := retryAfter(http.Header{"Retry-After": {text}}, now); ok || got != 0 {
			t.Errorf("%s: %v, %v", text, got, ok)
		}
	}
	if _, ok := retryAfter(nil, now); ok {
		t.Error("no response: asks to wait")
	}
}

func TestBackoffDoublesWithinBounds(t *testing.T) {
	t.Parallel()
	const shortest, longest = 100 * time.Millisecond, 3 * time.Second
	for attempt, full := range map[int]time.Duration{
		0: shortest, 1: 2 * shortest, 2: 4 * shortest, 4: 16 * shortest, 5: longest, 6: longest, 29: longest, 30: longest,
		63: longest, 64: longest, 1000: longest,
	} {
		different := map[time.Duration]bool{}
		for range 200 {
			got := backoff(shortest, longest, attempt)
			if got < full/2 || got > full {
				t.Fatalf("attempt %d: %v is not within %v and %v", attempt, got, full/2, full)
			}
			different[got] = true
		}
		if len(different) < 2 {
			t.Errorf("attempt %d: no jitter", attempt)
		}
	}
	if got := backoff(time.Duration(math.MaxInt64/2), math.MaxInt64, 3); got < 0 {
		t.Errorf("overflow: %v", got)
	}
	if got := backoff(longest, shortest, 0); got > shortest {
		t.Errorf("a longest below the shortest: %v", got)
	}
}

func TestJitterIsWithinBounds(t *testing.T) {
	t.Parallel()
	for _, d := range []time.Duration{-1, 0} {
		equal(t, "jitter", jitter(d), 0)
	}
	for range 100 {
		if got := jitter(3); got < 0 || got > 3 {
			t.Fatal(got)
		}
	}
}

func TestReadHonorsRetryAfter(t *testing.T) {
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
			respond(503, "", "Retry-After", fmt.Sprint(wait.Seconds()))(w, r)
		} else {
			respondJSON(`[]`)(w, r)
		}
	})
	if _, err := s.client(t).OAuthProviders(t.Context(), unchecked); err != nil {
		t.Fatal(err)
	}
	if got := times[1].Sub(times[0]); got < wait {
		t.Errorf("came back after %v", got)
	}
}

func TestRedirectToAnotherOriginIsRejectedBeforeAnythingIsSentThere(t *testing.T) {
	t.Parallel()
	for _, method := range []string{"GET", "POST"} {
		for _, status := range []int{301, 302, 303, 307, 308} {
			t.Run(fmt.Sprint(method, " ", status), func(t *testing.T) {
				t.Parallel()
				other := serve(t, respondJSON(`[]`))
				away := respond(status, "", "Location", other.url.String()+"/v2/auth/providers")
				s := serve(t, byMethod(away, away))
				err := s.client(t).call(t.Context(), request{operation: "try", method: method, path: "/x"}, nil)
				if !errors.Is(err, errRedirect) || !strings.Contains(err.Error(), "another origin, "+other.url.String()) {
					t.Error(err)
				}
				equal(t, "requests there", other.count(""), 0)
				equal(t, "requests here", s.count(""), 1)
			})
		}
	}
}

func TestRedirects_followedAndRejected(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ base, from, to, want string }{
		{"https://a.example", "https://a.example/x", "https://a.example/y", ""},
		{"https://a.example", "https://a.example/x", "https://A.example:443/y", ""},
		{"http://a.example:80", "http://a.example:80/x", "http://a.example/y", ""},
		{"https://a.example", "https://a.example/x", "https://b.example/x", "another origin, https://b.example:443,"},
		{"https://a.example", "https://a.example/x", "https://sub.a.example/x", "another origin"},
		{"https://a.example", "https://a.example/x", "https://a.example.evil.example/x", "another origin"},
		{"https://a.example", "https://a.example/x", "https://a.example:8443/x", "another origin"},
		{"https://a.example", "https://a.example/x", "http://a.example/x", "another origin"},
		{"http://a.example", "http://a.example/x", "https://a.example/x", "another origin"},
		{"http://a.example:443", "http://a.example:443/x", "https://a.example:443/x", "another origin"},
		{"https://a.example", "https://a.example/x", "https://a.example@b.example/x", "another origin"},
		{"https://a.example", "https://a.example/x", "https://user@a.example/x", "user info"},
		{"https://a.example", "https://a.example/x", "https://user:pass@a.example/x", "user info"},
		{"https://a.example/api/", "https://a.example/api/x", "https://a.example/api/y", ""},
		{"https://a.example/api", "https://a.example/api/x", "https://a.example/api", ""},
		{"https://a.example/api", "https://a.example/api/x", "https://a.example/y", "out of the path"},
		{"https://a.example/api", "https://a.example/api/x", "https://a.example/apis/x", "out of the path"},
		{"https://a.example/api", "https://a.example/api/x", "https://a.example/API/x", "out of the path"},
		{"https://a.example/api", "https://a.example/api/x", "https://a.example/api/../y", "out of the path"},
		{"https://a.example/api", "https://a.example/api/x", "https://a.example/api/%2e%2E/y", "out of the path"},
		{"https://a.example/api", "https://a.example/api/x", "https://a.example/api%2F..%2Fy", "out of the path"},
		{"https://a.example/a%2Fb", "https://a.example/a%2Fb/x", "https://a.example/a/b/x", "out of the path"},
		{"https://a.example/a%2Fb", "https://a.example/a%2Fb/x", "https://a.example/a%2Fb/y", ""},
		{"https://a.example", "https://a.example/x?ids=1%2C2&limit=3", "https://a.example/y?limit=3&ids=1,2", ""},
		{"https://a.example", "https://a.example/x?ids=1", "https://a.example/y", "the query"},
		{"https://a.example", "https://a.example/x?ids=1", "https://a.example/y?ids=2", "the query"},
		{"https://a.example", "https://a.example/x?ids=1", "https://a.example/y?ids=1&ids=2", "the query"},
		{"https://a.example", "https://a.example/x?ids=1", "https://a.example/y?ids=1&x=%zz", "the query"},
		{"https://a.example", "https://a.example/x", "https://a.example/y?ids=1", "the query"},
	} {
		c := New(Config{BaseURL: parse(t, test.base)})
		err := c.checkRedirect(&http.Request{Method: "GET", URL: parse(t, test.to)},
			[]*http.Request{{Method: "GET", URL: parse(t, test.from)}})
		if test.want == "" && err != nil || test.want != "" && (!errors.Is(err, errRedirect) || !strings.Contains(err.Error(),
			test.want)) {
			t.Errorf("%s to %s: %v", test.from, test.to, err)
		}
	}
}

func TestReadFollowsARedirectWithinTheOrigin(t *testing.T) {
	t.Parallel()
	for _, status := range []int{301, 302, 307, 308} {
		s := serve(t, func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path == "/moved" {
				respondJSON(`[`+fullOAuthProvider+`]`)(w, r)
			} else {
				respond(status, "", "Location", "/moved")(w, r)
			}
		})
		got, err := s.client(t).OAuthProviders(t.Context(), unchecked)
		if err != nil || len(got) != 1 || s.count("") != 2 {
			t.Errorf("%d: %v, %v", status, got, err)
			continue
		}
		equal(t, "credential", s.requests("")[1].header.Get("X-Api-Key"), apiKey)
	}
}

func TestRedirectsInACircleAreRejected(t *testing.T) {
	t.Parallel()
	s := serve(t, func(w http.ResponseWriter, r *http.Request) { respond(302, "", "Location", r.URL.Path)(w, r) })
	_, err := s.client(t).OAuthProviders(t.Context(), unchecked)
	if !errors.Is(err, errRedirect) || s.count("") != 10 {
		t.Errorf("%v after %d requests", err, s.count(""))
	}
}

func TestWriteNeverFollowsARedirect(t *testing.T) {
	t.Parallel()
	for _, status := range []int{301, 302, 303, 307, 308} {
		s := serve(t, respond(status, "", "Location", "/moved"))
		err := s.client(t).call(t.Context(), request{operation: "try", method: "POST", path: "/x", body: 1}, nil)
		if !errors.Is(err, errRedirect) || !strings.Contains(err.Error(), "it would repeat a POST") || s.count("") != 1 {
			t.Errorf("%d: %v after %d requests", status, err, s.count(""))
		}
	}
}

func TestResponseOverTheLimitIsRejected(t *testing.T) {
	t.Parallel()
	chunk := bytes.Repeat([]byte(" "), 1<<20)
	s := serve(t, func(w http.ResponseWriter, _ *http.Request) {
		for { // ends when the client has had enough
			if _, err := w.Write(chunk); err != nil {
				return
			}
		}
	})
	_, err := s.client(t).OAuthProviders(t.Context(), unchecked)
	if !errors.Is(err, errBodyTooLarge) || !strings.Contains(err.Error(), "larger than 32 MiB") || s.count("") != 1 {
		t.Errorf("%v after %d requests", err, s.count(""))
	}
}

func TestLimitIsOnTheByte(t *testing.T) {
	inLongRuns(t)
	t.Parallel()
	for size, want := range map[int64]error{maxBody: nil, maxBody + 1: errBodyTooLarge} {
		body, err := readBody(&http.Response{StatusCode: 200, Body: io.NopCloser(io.LimitReader(endless{}, size))})
		if err != want || err == nil && int64(len(body)) != size {
			t.Errorf("%d: %d, %v", size, len(body), err)
		}
	}
}

// The limit is that of the decompressed body.
func TestCompressedResponseOverTheLimitIsRejected(t *testing.T) {
	inLongRuns(t)
	t.Parallel()
	var body bytes.Buffer
	zipped := gzip.NewWriter(&body)
	_, _ = io.CopyN(zipped, endless{}, maxBody+1)
	_ = zipped.Close()
	s := serve(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Encoding", "gzip")
		_, _ = w.Write(body.Bytes())
	})
	c := s.client(t, func(config *Config) { config.RequestTimeout = time.Hour }) // a busy machine is slow
	_, err := c.OAuthProviders(t.Context(), unchecked)
	if !errors.Is(err, errBodyTooLarge) || s.count("") != 1 {
		t.Errorf("%v after %d requests", err, s.count(""))
	}
}

// The connection stays open after a 101: reading on would wait for ever.
func TestSwitchingProtocolsIsAFailedAttempt(t *testing.T) {
	t.Parallel()
	for method, attempts := range map[string]int{"GET": 3, "POST": 1} {
		s := serve(t, func(w http.ResponseWriter, _ *http.Request) {
			connection, _, err := http.NewResponseController(w).Hijack()
			if err != nil {
				t.Error(err)
				return
			}
			_, _ = io.WriteString(connection, "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: x\r\n\r\n")
			_, _ = io.Copy(io.Discard, connection) // until the client closes it
			_ = connection.Close()
		})
		c := s.client(t, func(config *Config) { config.RequestTimeout = time.Hour })
		err := c.call(t.Context(), request{operation: "try", method: method, path: "/x"}, nil)
		failed := asType[*Error](t, err)
		equal(t, method+" message", failed.Message, errSwitchedProtocols.Error())
		equal(t, method+" outcome unknown", failed.Outcome(), Unknown)
		equal(t, method+" attempts", s.count(""), attempts)
	}
}

// A wait that would last longer than the caller has is not begun.
func TestRetryAfterBeyondTheDeadlineIsTheErrorAtOnce(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	s := serve(t, respond(503, `{"detail":"later"}`, "Retry-After", "300"))
	c := s.client(t)
	_, err := c.OAuthProviders(ctx, unchecked)
	equal(t, "status", asType[*Error](t, err).Status, 503)
	equal(t, "requests", s.count(""), 1)
	equal(t, "pause", c.pause(ctx, newBudget(), 0, err), context.DeadlineExceeded)
	equal(t, "context", ctx.Err(), nil)
}

func TestPauseHonorsRetryAfter(t *testing.T) {
	t.Parallel()
	c := New(Config{BaseURL: &url.URL{}, RetryWait: time.Hour, RetryWaitMax: time.Hour})
	equal(t, "of no time", c.pause(t.Context(), newBudget(), 0, &Error{retryAfterSet: true}), nil)
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	for name, err := range map[string]error{"longer than the deadline": &Error{retryAfterSet: true, retryAfter: time.Hour},
		"not set": &Error{}, "another error": io.EOF} {
		equal(t, name, c.pause(ctx, newBudget(), 0, err), context.DeadlineExceeded)
	}
}

// tlsServer starts a service that asks for a client certificate that the authority has issued.
func tlsServer(t *testing.T, authority *x509.Certificate, h http.HandlerFunc) (s *service, roots *x509.CertPool) {
	t.Helper()
	server := httptest.NewUnstartedServer(h)
	server.Config.ErrorLog = log.New(io.Discard, "", 0)
	server.EnableHTTP2 = true
	clients := x509.NewCertPool()
	clients.AddCert(authority)
	server.TLS = &tls.Config{MinVersion: tls.VersionTLS12, ClientAuth: tls.RequireAndVerifyClientCert, ClientCAs: clients}
	server.StartTLS()
	t.Cleanup(server.Close)
	roots = x509.NewCertPool()
	roots.AddCert(server.Certificate())
	return &service{url: parse(t, server.URL)}, roots
}

// selfSigned is a client certificate that is its own authority.
func selfSigned(t *testing.T) tls.Certificate {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "client"},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth}, IsCA: true, BasicConstraintsValid: true,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	leaf, err := x509.ParseCertificate(der)
	if err != nil {
		t.Fatal(err)
	}
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key, Leaf: leaf}
}

func TestClientCertificate(t *testing.T) {
	t.Parallel()
	accepted, other := selfSigned(t), selfSigned(t)
	s, roots := tlsServer(t, accepted.Leaf, func(w http.ResponseWriter, r *http.Request) {
		equal(t, "certificate", r.TLS.PeerCertificates[0].Equal(accepted.Leaf), true)
		respondJSON(`[]`)(w, r)
	})
	for name, certificates := range map[string][]tls.Certificate{"accepted": {accepted}, "of another authority": {other},
		"none": nil} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := s.client(t, func(config *Config) {
				config.RootCAs, config.Certificates = roots,
					certificates
			}).OAuthProviders(t.Context(), unchecked)
			if name == "accepted" {
				equal(t, "error", err, nil)
				return
			}
			equal(t, "the service's certificate is not trusted", asType[*Error](t, err).Cause == CauseUntrusted, false)
		})
	}
}

// What a service that rejects the client certificate sends, unless its closing of the connection is seen first.
func TestTLSAlertIsNotRetried(t *testing.T) {
	t.Parallel()
	s := serve(t, respondJSON(`[]`))
	c, attempts := s.client(t), 0
	c.http.Transport = roundTripper(func(*http.Request) (*http.Response, error) {
		attempts++
		return nil, &net.OpError{Op: "remote error", Err: errors.New("tls: certificate required")}
	})
	_, err := c.OAuthProviders(t.Context(), unchecked)
	equal(t, "message", asType[*Error](t, err).Message, "remote error: tls: certificate required")
	equal(t, "attempts", attempts, 1)
}

// endless reads as zeros.
type endless struct{}

func (endless) Read(p []byte) (int, error) { return len(p), nil }

func TestResponseThatIsNotJSONIsAnError(t *testing.T) {
	t.Parallel()
	html := []string{"Content-Type", "text/html; charset=utf-8", "X-Request-Id", "req-7"}
	for name, test := range map[string]struct {
		handler http.HandlerFunc
		want    string
	}{
		"HTML": {respond(200, "<html><body>Sign in</body></html>", html...),
			"it is an HTML page, not JSON, probably of a proxy, a login or a website (request id req-7)"},
		"empty HTML":            {respond(200, "", html...), "it is an HTML page"},
		"empty":                 {respond(200, ""), "it is empty"},
		"blank":                 {respond(200, " \n"), "it is empty"},
		"no content":            {respond(204, ""), "it is empty"},
		"text":                  {respond(200, "OK", "Content-Type", "text/plain"), "it is not JSON"},
		"half":                  {respond(200, `[{"id":`), "it is not JSON: unexpected end"},
		"garbage after it":      {respond(200, `[]garbage`), "it is not JSON: invalid character"},
		"a second value":        {respond(200, `[][]`), "it is not JSON: invalid character"},
		"binary":                {respond(200, "\x00\x01\xff"), "it is not JSON"},
		"JSON with a wrong end": {respond(200, `[}`), "it is not JSON"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := serve(t, test.handler)
			got, err := s.client(t).OAuthProviders(t.Context(), unchecked)
			if got != nil || err == nil || !strings.Contains(err.Error(), "the response cannot be used: "+test.want) ||
				strings.Contains(err.Error(), "<") {
				t.Errorf("got %v, %v", got, err)
			}
			equal(t, "malformed", asType[*Error](t, err).Cause, CauseMalformed)
			equal(t, "requests", s.count(""), 1)
		})
	}
}

func TestAnyStatusOfSuccessIsFine(t *testing.T) {
	t.Parallel()
	for _, status := range []int{200, 201, 202, 299} {
		s := serve(t, respond(status, `[]`))
		if _, err := s.client(t).OAuthProviders(t.Context(), unchecked); err != nil {
			t.Error(status, err)
		}
	}
}

func TestLog_showsAttemptsButNoSecrets(t *testing.T) {
	t.Parallel()
	var logged counter
	s := serve(t, byMethod(
		inTurn(cut, respond(200, pageJSON(0), "X-Request-Id", "req-"+url.QueryEscape(apiKey))),
		respond(422, `{"detail":"`+apiKey+`"}`)))
	c := s.client(t, func(config *Config) { config.Log = logged.log })
	_, _, err := c.CreateDeployment(t.Context(), Tree{"name": "n", "source": "s", "secrets": []Secret{{"A", "hush-hush"}}},
		satisfiedByAll)
	if err == nil {
		t.Fatal("no error")
	}
	equal(t, "attempts", len(logged.logged), 3)
	for i, want := range []map[string]any{{"method": "GET", "path": "/v2/deployments"}, {"method": "GET", "status": 200},
		{"method": "POST", "status": 422}} {
		for name, value := range want {
			equal(t, fmt.Sprint(i, " ", name), logged.logged[i][name], value)
		}
	}
	if _, ok := logged.logged[0]["error"]; !ok {
		t.Errorf("no error is logged: %v", logged.logged[0])
	}
	if text := fmt.Sprint(logged.logged); strings.Contains(text, "k3y") || strings.Contains(text, "hush") {
		t.Errorf("logged: %s", text)
	}
}

func TestAuthorityThatIsNotTrusted(t *testing.T) {
	t.Parallel()
	server := httptest.NewUnstartedServer(respondJSON(`[]`))
	server.Config.ErrorLog = log.New(io.Discard, "", 0)
	server.StartTLS()
	t.Cleanup(server.Close)
	s := &service{url: parse(t, server.URL)}

	var logged counter
	_, err := s.client(t, func(config *Config) { config.Log = logged.log }).OAuthProviders(t.Context(), unchecked)
	if failed := asType[*Error](t, err); !failed.notSent || logged.count() != 1 || failed.Cause != CauseUntrusted ||
		failed.Outcome() != Rejected {
		t.Errorf("%v after %d attempts", err, logged.count())
	}
	_, err = s.client(t, func(config *Config) {
		config.RootCAs = x509.NewCertPool()
		config.RootCAs.AddCert(server.Certificate())
	}).OAuthProviders(t.Context(), unchecked)
	if err != nil {
		t.Errorf("trusted: %v", err)
	}
}

func TestDefaultsOfTheConfiguration(t *testing.T) {
	t.Parallel()
	got := New(Config{BaseURL: &url.URL{}, RequestTimeout: time.Minute}).config
	equal(t, "retry wait", got.RetryWait, 500*time.Millisecond)
	equal(t, "longest retry wait", got.RetryWaitMax, 30*time.Second)
	equal(t, "poll interval", got.PollInterval, time.Second)
	equal(t, "longest poll interval", got.PollIntervalMax, 15*time.Second)
	equal(t, "consistency timeout", got.ConsistencyTimeout, time.Minute)
	equal(t, "request timeout", New(Config{BaseURL: &url.URL{}}).config.RequestTimeout, 30*time.Second)
}

func TestRequestThatCannotBeMadeIsAnError(t *testing.T) {
	t.Parallel()
	s := serve(t, respondJSON(`{}`))
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
	equal(t, "requests", s.count(""), 0)
}
