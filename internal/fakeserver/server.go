// Package fakeserver is the deployment management service in memory, for
// acceptance tests with a real Terraform and for a demonstration.
//
// It is written from the interface document, and from what is known of services
// with this API, and shares no type with the client, so that one misreading cannot
// hide in both. Where the document is strict, so is the fake; where it is silent,
// the fake is like the services that are known, and [Options] take that away.
package fakeserver

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
)

// Server is the service in memory. It is an http.Handler, and safe for
// concurrent use.
type Server struct {
	opts     Options
	defaults []defaultValue
	derives  bool // there are no Options.Defaults: some depend on other values
	tenant   string

	recorder recorder
	faults   faults

	mu           sync.Mutex
	deployments  []*deployment // oldest first
	byID         map[string]*deployment
	created      int
	repositories map[string][]Repository
	providers    []map[string]any
	seeded       int
	outcomes     []string // of the next revisions, set by EndNextRevision
}

// New returns a service without any deployment, repository or OAuth provider.
// It panics when a path in opts.Defaults or opts.ServiceMembers is malformed.
func New(opts Options) *Server {
	if opts.CredentialHeader == "" {
		opts.CredentialHeader = "X-Api-Key"
	}
	if opts.Clock == nil {
		opts.Clock = time.Now
	}
	if opts.CreateStatus == 0 {
		opts.CreateStatus = http.StatusOK
	}
	derives := opts.Defaults == nil
	if derives {
		opts.Defaults = DefaultDefaults()
	}
	opts.PathPrefix = strings.TrimRight(opts.PathPrefix, "/")
	if opts.PathPrefix != "" && opts.PathPrefix[0] != '/' {
		opts.PathPrefix = "/" + opts.PathPrefix
	}
	return &Server{
		opts:         opts,
		defaults:     newDefaults(opts),
		derives:      derives,
		tenant:       stableID("tenant", "own"),
		byID:         map[string]*deployment{},
		repositories: map[string][]Repository{},
	}
}

// PathPrefix returns Options.PathPrefix in the form "/api", or nothing.
func (s *Server) PathPrefix() string { return s.opts.PathPrefix }

// Route names an operation of the service.
type Route string

// The operations of section 4, those that the interface does not document, and
// AnyRoute, which means every request, also to unknown paths.
const (
	CreateDeployment   Route = "create deployment"
	ListDeployments    Route = "list deployments"
	ListRepositories   Route = "list repositories"
	ListOAuthProviders Route = "list OAuth providers"
	ReadDeployment     Route = "read deployment"
	UpdateDeployment   Route = "update deployment"
	DeleteDeployment   Route = "delete deployment"
	ListRevisions      Route = "list revisions"
	ReadRevision       Route = "read revision"
	AnyRoute           Route = "any"
)

// A call is a request on its way through the server.
type call struct {
	route    Route
	param    string // the id of an integration or a deployment
	revision string // the id of a revision
	query    url.Values
	body     []byte
	json     bool     // the body is declared as application/json
	allow    []string // with no route: the methods of this path
	known    bool     // the path is one of the service
}

// route finds the operation of a request by section 4.
func (s *Server) route(r *http.Request) call {
	c := call{}
	path, below := strings.CutPrefix(r.URL.Path, s.opts.PathPrefix+"/")
	if !below {
		return c
	}
	var methods map[string]Route
	parts := strings.Split(path, "/")
	switch {
	case slices.Equal(parts, []string{"v2", "deployments"}):
		methods = map[string]Route{http.MethodPost: CreateDeployment, http.MethodGet: ListDeployments}
		c.allow = []string{http.MethodGet, http.MethodPost}
	case slices.Equal(parts, []string{"v2", "auth", "providers"}):
		methods = map[string]Route{http.MethodGet: ListOAuthProviders}
		c.allow = []string{http.MethodGet}
	case len(parts) == 6 && strings.HasPrefix(path, "v1/integrations/forge/codehost/") && parts[5] == "repos":
		methods = map[string]Route{http.MethodGet: ListRepositories}
		c.allow = []string{http.MethodGet}
		c.param = parts[4]
	case len(parts) == 3 && strings.HasPrefix(path, "v2/deployments/") && parts[2] != "":
		if !s.opts.Documented {
			methods = map[string]Route{
				http.MethodGet: ReadDeployment, http.MethodPatch: UpdateDeployment, http.MethodDelete: DeleteDeployment,
			}
			c.allow = []string{http.MethodDelete, http.MethodGet, http.MethodPatch}
		}
		c.param = parts[2]
	case len(parts) >= 4 && strings.HasPrefix(path, "v2/deployments/") && parts[3] == "revisions" && s.hasRevisions():
		c.allow = []string{http.MethodGet}
		c.param = parts[2]
		switch len(parts) {
		case 4:
			methods = map[string]Route{http.MethodGet: ListRevisions}
		case 5:
			methods = map[string]Route{http.MethodGet: ReadRevision}
			c.revision = parts[4]
		default:
			return c
		}
	default:
		return c
	}
	c.known = true
	c.route = methods[r.Method]
	return c
}

func (s *Server) hasRevisions() bool {
	return !s.opts.Documented && !s.opts.NoRevisionStatus && !s.opts.NoRevisions
}

// ServeHTTP responds to a request as section 4 documents, after the faults that
// apply to it.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	// Read to the end first: only then does net/http notice that a client
	// disconnects.
	body, err := io.ReadAll(r.Body)
	c := s.route(r)
	c.query, c.body = r.URL.Query(), body
	c.json = isJSON(r.Header.Get("Content-Type"))
	entry := s.recorder.add(r, body, s.opts.Clock())
	fault := s.faults.next(c.route)

	if err != nil || !wait(r.Context(), s.opts.Latency, nil) {
		cut() // there is no client to respond to
	}
	if !fault.needsWork() {
		if !fault.wait(r.Context()) || fault.Cut {
			cut()
		}
		if a, ok := fault.response(); ok {
			s.write(w, entry, a, fault.Truncate)
			return
		}
	}

	a := s.work(r, c)
	if fault.needsWork() {
		if !fault.wait(r.Context()) || fault.Cut {
			cut()
		}
		if own, ok := fault.response(); ok && !fault.Truncate {
			a = own
		}
	}
	maps.Copy(a.header, fault.Header)
	s.write(w, entry, a, fault.Truncate)
}

// work performs the operation of a request.
func (s *Server) work(r *http.Request, c call) response {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := s.now()

	if s.opts.Credential != "" {
		given := r.Header.Values(s.opts.CredentialHeader)
		if len(given) != 1 || given[0] != s.opts.Credential {
			return reject(http.StatusUnauthorized, "the credential in header %s is missing or wrong", s.opts.CredentialHeader)
		}
	}
	if !c.known {
		return reject(http.StatusNotFound, "path not found: %s", r.URL.Path)
	}
	if c.route == "" {
		a := reject(http.StatusMethodNotAllowed, "method %s is not allowed here", r.Method)
		a.header.Set("Allow", strings.Join(c.allow, ", "))
		return a
	}
	s.applyTransitions(now)
	switch c.route {
	case CreateDeployment:
		return s.create(c, now)
	case ListDeployments:
		return s.list(c)
	case ReadDeployment:
		return s.read(c)
	case UpdateDeployment:
		return s.update(c, now)
	case DeleteDeployment:
		return s.delete(c)
	case ListRevisions:
		return s.listRevisions(c, now)
	case ReadRevision:
		return s.readRevision(c, now)
	case ListRepositories:
		return s.listRepositories(c)
	default:
		return s.listOAuthProviders(c)
	}
}

// now returns the time in the precision of responses.
func (s *Server) now() time.Time {
	return s.opts.Clock().UTC().Truncate(time.Microsecond)
}

// write sends a response. It records the status first, so that whoever has the
// response finds it in Requests.
func (s *Server) write(w http.ResponseWriter, entry *Request, a response, truncate bool) {
	s.recorder.setStatus(entry, a.status)
	w.Header().Set("Date", s.opts.Clock().UTC().Format(http.TimeFormat))
	maps.Copy(w.Header(), a.header)
	if a.status == http.StatusNoContent || a.status == http.StatusNotModified {
		w.WriteHeader(a.status)
		return
	}
	w.Header().Set("Content-Length", strconv.Itoa(len(a.body)))
	w.WriteHeader(a.status)
	if !truncate {
		_, _ = w.Write(a.body)
		return
	}
	_, _ = w.Write(a.body[:len(a.body)/2])
	_ = http.NewResponseController(w).Flush()
	cut()
}

// wait waits for d and hold. It returns false when the client disconnects first.
func wait(ctx context.Context, d time.Duration, hold <-chan struct{}) bool {
	if d > 0 {
		timer := time.NewTimer(d)
		defer timer.Stop()
		select {
		case <-timer.C:
		case <-ctx.Done():
			return false
		}
	}
	if hold != nil {
		select {
		case <-hold:
		case <-ctx.Done():
			return false
		}
	}
	return true
}

// readBody decodes the body of a request and checks it.
func (s *Server) readBody(c call, of *shape) (map[string]any, *response) {
	if !c.json {
		a := reject(http.StatusUnsupportedMediaType, "Content-Type should be application/json")
		return nil, &a
	}
	value, err := decodeJSON(c.body)
	if err != nil {
		a := reject(http.StatusBadRequest, "the body is not valid JSON: %v", err)
		return nil, &a
	}
	found := slices.DeleteFunc(check(of, value, inRequest, "body"), s.permits)
	if len(found) > 0 {
		a := invalid(found...)
		return nil, &a
	}
	lowerUUIDs(of, value)
	if !s.opts.DocumentedRulesOnly {
		roundCPU(of, value)
	}
	return value.(map[string]any), nil
}

// permits reports whether Options permit a problem.
func (s *Server) permits(p problem) bool {
	switch p.Type {
	case unknownField:
		return s.opts.KeepUnknown
	case knownRule:
		return s.opts.DocumentedRulesOnly
	case nullInMap:
		return s.opts.DocumentedRulesOnly || s.opts.Patch == PatchMergeDeep
	}
	return false
}

// decodeJSON reads exactly one JSON value, and keeps the text of numbers.
func decodeJSON(data []byte) (any, error) {
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.UseNumber()
	var value any
	if err := dec.Decode(&value); err != nil {
		if errors.Is(err, io.EOF) {
			return nil, errors.New("it is empty")
		}
		return nil, err
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return nil, errors.New("something follows the value")
	}
	return value, nil
}

func isJSON(contentType string) bool {
	media, _, _ := strings.Cut(contentType, ";")
	return strings.EqualFold(strings.TrimSpace(media), "application/json")
}

func sortedKeys[V any](m map[string]V) []string {
	return slices.Sorted(maps.Keys(m))
}
