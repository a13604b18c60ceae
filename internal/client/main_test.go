package client

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"net/url"
	"reflect"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// inLongRuns skips a test of large amounts in short runs, which are those with the
// race detector: it tests no concurrency, and would take ten times as long.
func inLongRuns(t *testing.T) {
	t.Helper()
	if testing.Short() {
		t.Skip("tests large amounts")
	}
}

const (
	idA = "aaaaaaaa-0000-4000-8000-000000000001"
	idB = "bbbbbbbb-0000-4000-8000-000000000002"
	idC = "cccccccc-0000-4000-8000-000000000003"
)

// apiKey is the credential of every client here; it must show nowhere.
const apiKey = "lsv2_k3y/with+odd=chars"

// A service is a handler with a URL, which keeps what it is asked.
type service struct {
	url  *url.URL
	mu   sync.Mutex
	seen []seen
}

type seen struct {
	method, path string // the path as received, escapes kept
	query        url.Values
	header       http.Header
	body         string
}

// serve starts a service whose requests h serves.
func serve(t *testing.T, h http.HandlerFunc) *service {
	t.Helper()
	s := &service{}
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		// Read to the end: only then is a client noticed that goes away.
		body, _ := io.ReadAll(r.Body)
		s.mu.Lock()
		s.seen = append(s.seen, seen{r.Method, r.URL.EscapedPath(), r.URL.Query(), r.Header.Clone(), string(body)})
		s.mu.Unlock()
		r.Body = io.NopCloser(bytes.NewReader(body))
		h(w, r)
	}))
	server.Config.ErrorLog = log.New(io.Discard, "", 0)
	server.Start()
	t.Cleanup(server.Close)
	s.url = parse(t, server.URL)
	return s
}

// requests are those seen so far; of one method if it is given.
func (s *service) requests(method string) []seen {
	s.mu.Lock()
	defer s.mu.Unlock()
	var found []seen
	for _, r := range s.seen {
		if method == "" || r.method == method {
			found = append(found, r)
		}
	}
	return found
}

func (s *service) count(method string) int { return len(s.requests(method)) }

// client returns a client of the service that hurries, and repeats twice.
func (s *service) client(t *testing.T, changes ...func(*Config)) *Client {
	t.Helper()
	config := Config{
		BaseURL:            s.url,
		Header:             http.Header{"X-Api-Key": {apiKey}},
		MaxRetries:         2,
		RetryWait:          time.Millisecond,
		RetryWaitMax:       2 * time.Millisecond,
		PollInterval:       time.Millisecond,
		PollIntervalMax:    2 * time.Millisecond,
		ConsistencyTimeout: 5 * time.Millisecond,
	}
	for _, change := range changes {
		change(&config)
	}
	c := New(config)
	t.Cleanup(c.CloseIdleConnections)
	return c
}

func httpTransport(c *Client) *http.Transport {
	return c.http.Transport.(*http.Transport)
}

func parse(t *testing.T, text string) *url.URL {
	t.Helper()
	u, err := url.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	return u
}

// inTurn serves each request with the next handler, and from then on with the last one.
func inTurn(handlers ...http.HandlerFunc) http.HandlerFunc {
	var mu sync.Mutex
	next := 0
	return func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		h := handlers[min(next, len(handlers)-1)]
		next++
		mu.Unlock()
		h(w, r)
	}
}

// byMethod serves what reads with get, and what creates with post.
func byMethod(get, post http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodPost {
			post(w, r)
		} else {
			get(w, r)
		}
	}
}

func respond(status int, body string, header ...string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		for i := 0; i < len(header); i += 2 {
			w.Header().Set(header[i], header[i+1])
		}
		w.WriteHeader(status)
		_, _ = io.WriteString(w, body)
	}
}

func respondJSON(body string) http.HandlerFunc { return respond(http.StatusOK, body) }

// cut closes the connection without a response.
func cut(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }

// truncated announces more than it sends.
func truncated(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Length", "1000")
	_, _ = io.WriteString(w, "[")
	_ = http.NewResponseController(w).Flush()
	panic(http.ErrAbortHandler)
}

// silent never responds.
func silent(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }

// deploymentJSON is the least that passes for a deployment.
func deploymentJSON(id, name string) string {
	return fmt.Sprintf(`{"id":%q,"name":%q,"source":"external_docker","status":"READY"}`, id, name)
}

func pageJSON(next int, deployments ...string) string {
	resources := "["
	for i, d := range deployments {
		if i > 0 {
			resources += ","
		}
		resources += d
	}
	return fmt.Sprintf(`{"resources":%s],"offset":%d}`, resources, next)
}

// collect lists deployments and returns the ids.
func collect(ctx context.Context, c *Client, filter DeploymentFilter) ([]string, error) {
	var ids []string
	for d, err := range c.Deployments(ctx, filter) {
		if err != nil {
			return ids, err
		}
		ids = append(ids, d.ID)
	}
	return ids, nil
}

// asType fails unless err is, or wraps, an E.
func asType[E error](t *testing.T, err error) E {
	t.Helper()
	found, ok := errors.AsType[E](err)
	if !ok {
		t.Fatalf("got %v (%T), want a %T", err, err, found)
	}
	return found
}

// equalJSON compares JSON texts as trees.
func equalJSON(t *testing.T, got, want string) {
	t.Helper()
	var g, w any
	if err := json.Unmarshal([]byte(got), &g); err != nil {
		t.Fatalf("%v: %s", err, got)
	}
	if err := json.Unmarshal([]byte(want), &w); err != nil {
		t.Fatalf("%v: %s", err, want)
	}
	if !reflect.DeepEqual(g, w) {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

func equal[T any](t *testing.T, what string, got, want T) {
	t.Helper()
	if !reflect.DeepEqual(got, want) {
		t.Errorf("%s: got %v, want %v", what, got, want)
	}
}
