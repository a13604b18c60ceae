// Package fakeserver is the deployment management service in memory, for
// acceptance tests with a real Terraform and for a demonstration.
//
// It is written from the interface document alone and shares no type with the
// client, so that one misreading cannot hide in both. Where the document is
// strict, so is the fake; where it is silent, [Options] choose among what a
// service may do.
package fakeserver

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/google/uuid"
)

// Options say how the service behaves. The zero value is a service that
// answers at once, fills in realistic defaults and offers the four documented
// operations only.
type Options struct {
	// PathPrefix is the path below which the service lives, such as "/api".
	PathPrefix string

	// Credential, when set, has to be the value of CredentialHeader
	// (X-Api-Key by default) in every request; others are answered 401.
	CredentialHeader, Credential string

	// Latency is a wait before each request is worked on. When the client goes
	// away meanwhile, the work is not done.
	Latency time.Duration

	// Clock tells the time; time.Now by default. Times in answers, ReadyAfter,
	// ActiveAfter and RateLimit are measured on it.
	Clock func() time.Time

	// ReadyAfter is how long after its creation a deployment turns from
	// AWAITING_DATABASE to READY (section 3). Zero: it is READY in the answer
	// to the create. The turn does not move updated_at.
	ReadyAfter time.Duration

	// ActiveAfter is how long after a revision was made active_revision_id
	// follows latest_revision_id. Zero: at once.
	ActiveAfter time.Duration

	// CreateStatus is the status of a create that succeeded, 200 by default.
	CreateStatus int

	// AllowDuplicateNames accepts a create with a name that exists already,
	// which is otherwise answered 409. It serves to prove that a client never
	// makes two.
	AllowDuplicateNames bool

	// NewestFirst turns the order of the list, which is oldest first.
	NewestFirst bool

	// MaxPage, when positive, is the most items a page holds whatever limit
	// says.
	MaxPage int

	// RepeatLast makes pages overlap: each page after the first begins with
	// this many items of the page before. A page still has no more items than
	// limit, and still advances by one at least.
	RepeatLast int

	// IgnoreIDFilter makes the list ignore deployment_ids.
	IgnoreIDFilter bool

	// Secrets says what answers show of secrets.
	Secrets SecretsMode

	// ExtraSecrets are secrets of the service's own, shown in every answer in
	// the way that Secrets says.
	ExtraSecrets map[string]string

	// ExtraFields puts members that the interface does not document into every
	// object that it describes by its fields, into the envelope of the list,
	// into repositories and OAuth providers.
	ExtraFields bool

	// NullForEmpty answers null for every member of a deployment that is an
	// empty array or object.
	NullForEmpty bool

	// OmitEmpty leaves such members out, and those that are null. Members that
	// section 2.1 requires stay, but for secrets.
	OmitEmpty bool

	// Defaults are what the service fills in where a create sends nothing or
	// null: a path in the deployment, such as
	// "source_config.resource_spec.cpu", and a value. "[]" after a name stands
	// for every item of that array; objects inside of items are not created.
	// Nil means [DefaultDefaults], an empty map none. A PATCH fills them in
	// within what it sends only: members sent as null, and objects and array
	// items that it adds or replaces.
	Defaults map[string]any

	// ServiceMembers are members that the service adds by itself, documented or
	// not: labels, members of array items and of free-form objects. Paths, values
	// and times are those of Defaults, in addition to which they apply. An
	// undocumented one is reported in responses and still rejected in requests,
	// unless KeepUnknown is set.
	ServiceMembers map[string]any

	// ExtraLabels are ServiceMembers in resource_spec.labels, whose names may
	// contain dots.
	ExtraLabels map[string]string

	// KeepUnknown accepts members that the interface does not document, in
	// creates and PATCHes and at every depth, stores and returns them, as a
	// service newer than the documentation does. What can be seeded for the
	// filters of the list is then returned, too. Otherwise a request with an unknown member is
	// rejected with 422, and a loc for each.
	KeepUnknown bool

	// ResolveRefs shows repo_ref of a codehost deployment as the commit that it
	// resolved to.
	ResolveRefs bool

	// WholeNumbersAsFloats writes every whole number in resource_spec like
	// 2048.0, in free-form objects too.
	WholeNumbersAsFloats bool

	// Extended offers PATCH and DELETE of /v2/deployments/{id}, which the
	// interface does not show. Without it they are answered 405.
	Extended bool

	// Patch is how a PATCH changes a deployment, and Null what null does in it.
	Patch PatchKind
	Null  NullKind

	// ReviseAlways creates a new revision for every PATCH, also for one that
	// changes source_config only.
	ReviseAlways bool

	// IgnorePatch answers a PATCH with 200 and changes nothing.
	IgnorePatch bool

	// KeepDeleted answers a DELETE with 204 and keeps the deployment as it is.
	KeepDeleted bool

	// RateLimit, when positive, is the most requests served in a minute. More
	// are answered 429 with Retry-After in seconds.
	RateLimit int
}

// Server is the service in memory. It is an http.Handler, and safe for
// concurrent use.
type Server struct {
	opts     Options
	defaults []defaultValue
	tenant   string

	recorder recorder
	faults   faults

	mu           sync.Mutex
	deployments  []*deployment // oldest first
	byID         map[string]*deployment
	created      int
	repositories map[string][]Repository
	providers    []map[string]any
	served       []time.Time // of the last minute, for RateLimit
	seeded       int
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
	if opts.Defaults == nil {
		opts.Defaults = DefaultDefaults()
	}
	opts.PathPrefix = strings.TrimRight(opts.PathPrefix, "/")
	if opts.PathPrefix != "" && opts.PathPrefix[0] != '/' {
		opts.PathPrefix = "/" + opts.PathPrefix
	}
	return &Server{
		opts:         opts,
		defaults:     newDefaults(opts),
		tenant:       uuid.NewString(),
		byID:         map[string]*deployment{},
		repositories: map[string][]Repository{},
	}
}

// PathPrefix returns Options.PathPrefix in the form "/api", or nothing.
func (s *Server) PathPrefix() string { return s.opts.PathPrefix }

// Route names an operation of the service.
type Route string

// The operations of section 4, the two that Options.Extended adds, and
// AnyRoute, which stands for every request, to unknown paths too.
const (
	CreateDeployment   Route = "create deployment"
	ListDeployments    Route = "list deployments"
	ListRepositories   Route = "list repositories"
	ListOAuthProviders Route = "list OAuth providers"
	UpdateDeployment   Route = "update deployment"
	DeleteDeployment   Route = "delete deployment"
	AnyRoute           Route = "any"
)

// A call is a request on its way through the server.
type call struct {
	route Route
	param string // the last parameter of the path, if it has one
	query url.Values
	body  []byte
	json  bool     // the body is declared as application/json
	allow []string // with no route: the methods of this path
	known bool     // the path is one of the service
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
	case len(parts) == 6 && slices.Equal(parts[:4], []string{"v1", "integrations", "forge", "codehost"}) && parts[5] == "repos":
		methods = map[string]Route{http.MethodGet: ListRepositories}
		c.allow = []string{http.MethodGet}
		c.param = parts[4]
	case len(parts) == 3 && slices.Equal(parts[:2], []string{"v2", "deployments"}) && parts[2] != "":
		methods = map[string]Route{http.MethodPatch: UpdateDeployment, http.MethodDelete: DeleteDeployment}
		if s.opts.Extended {
			c.allow = []string{http.MethodDelete, http.MethodPatch}
		}
		c.param = parts[2]
	default:
		return c
	}
	c.known = true
	c.route = methods[r.Method]
	return c
}

// ServeHTTP answers a request as section 4 says, after the faults and quirks
// that were asked for.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	// Read to the end first: only then does net/http notice that a client
	// goes away.
	body, err := io.ReadAll(r.Body)
	c := s.route(r)
	c.query, c.body = r.URL.Query(), body
	c.json = isJSON(r.Header.Get("Content-Type"))
	entry := s.recorder.add(r, body, s.opts.Clock())
	fault := s.faults.next(c.route)

	if err != nil || !wait(r.Context(), s.opts.Latency, nil) {
		cut() // nobody is there to answer
	}
	if !fault.needsWork() {
		if !fault.wait(r.Context()) || fault.Cut {
			cut()
		}
		if a, ok := fault.answer(); ok {
			s.write(w, entry, a, false)
			return
		}
	}

	a := s.work(r, c)
	if fault.needsWork() {
		if !fault.wait(r.Context()) || fault.Cut {
			cut()
		}
		if own, ok := fault.answer(); ok && !fault.Truncate {
			a = own
		}
	}
	maps.Copy(a.header, fault.Header)
	s.write(w, entry, a, fault.Truncate)
}

// work does what a request asks for.
func (s *Server) work(r *http.Request, c call) answer {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := s.now()

	if s.opts.Credential != "" {
		given := r.Header.Values(s.opts.CredentialHeader)
		if len(given) != 1 || given[0] != s.opts.Credential {
			return refuse(http.StatusUnauthorized, "the credential in header %s is missing or wrong", s.opts.CredentialHeader)
		}
	}
	if wait := s.overLimit(now); wait > 0 {
		a := refuse(http.StatusTooManyRequests, "more than %d requests in a minute", s.opts.RateLimit)
		a.header.Set("Retry-After", strconv.Itoa(int(math.Ceil(wait.Seconds()))))
		return a
	}
	if !c.known {
		return refuse(http.StatusNotFound, "no such path: %s", r.URL.Path)
	}
	extended := c.route == UpdateDeployment || c.route == DeleteDeployment
	if c.route == "" || extended && !s.opts.Extended {
		a := refuse(http.StatusMethodNotAllowed, "method %s is not allowed here", r.Method)
		a.header.Set("Allow", strings.Join(c.allow, ", "))
		return a
	}
	s.settle(now)
	switch c.route {
	case CreateDeployment:
		return s.create(c, now)
	case ListDeployments:
		return s.list(c)
	case UpdateDeployment:
		return s.update(c, now)
	case DeleteDeployment:
		return s.delete(c)
	case ListRepositories:
		return s.listRepositories(c)
	default:
		return s.listOAuthProviders()
	}
}

// now is the time in the precision that answers show.
func (s *Server) now() time.Time {
	return s.opts.Clock().UTC().Truncate(time.Microsecond)
}

// overLimit counts a request against RateLimit. It returns how long to wait
// when there were too many.
func (s *Server) overLimit(now time.Time) time.Duration {
	if s.opts.RateLimit <= 0 {
		return 0
	}
	s.served = slices.DeleteFunc(s.served, func(t time.Time) bool { return now.Sub(t) >= time.Minute })
	if len(s.served) >= s.opts.RateLimit {
		return s.served[0].Add(time.Minute).Sub(now)
	}
	s.served = append(s.served, now)
	return 0
}

// An answer is what goes back to the client.
type answer struct {
	status int
	header http.Header
	body   []byte
}

// reply answers with a JSON body.
func reply(status int, value any) answer {
	var body bytes.Buffer
	enc := json.NewEncoder(&body)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(value); err != nil {
		panic(fmt.Sprintf("fakeserver: %v", err)) // all values come from decoded JSON
	}
	return answer{status, http.Header{"Content-Type": {"application/json"}}, body.Bytes()}
}

// refuse answers with {"detail": "…"}.
func refuse(status int, format string, args ...any) answer {
	return reply(status, map[string]any{"detail": fmt.Sprintf(format, args...)})
}

// invalid answers 422 with {"detail": [{"loc": …, "msg": …, "type": …}]}.
func invalid(found ...problem) answer {
	return reply(http.StatusUnprocessableEntity, map[string]any{"detail": found})
}

// write sends an answer. The status is recorded first, so that whoever has
// the answer finds it in Requests.
func (s *Server) write(w http.ResponseWriter, entry *Request, a answer, truncate bool) {
	s.recorder.setStatus(entry, a.status)
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

// wait waits for d and hold. It returns false when the client goes away first.
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
func (s *Server) readBody(c call, of *shape) (map[string]any, *answer) {
	if !c.json {
		a := refuse(http.StatusUnsupportedMediaType, "Content-Type should be application/json")
		return nil, &a
	}
	value, err := decodeJSON(c.body)
	if err != nil {
		a := refuse(http.StatusBadRequest, "the body is not valid JSON: %v", err)
		return nil, &a
	}
	found := check(of, value, request, "body")
	if s.opts.KeepUnknown {
		found = slices.DeleteFunc(found, func(p problem) bool { return p.Type == unknownField })
	}
	if len(found) > 0 {
		a := invalid(found...)
		return nil, &a
	}
	lowerUUIDs(of, value)
	return value.(map[string]any), nil
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
