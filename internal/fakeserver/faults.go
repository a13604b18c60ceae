package fakeserver

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand"
	"net/http"
	"sync"
	"time"
)

// A Fault is an injected failure of a request. After one that only waits
// (Delay, Hold), the request is handled as usual.
type Fault struct {
	Status      int         // of the response; 200 when only Body is set
	Header      http.Header // of that response, or added to the usual one; a nil value removes a header
	Body        string      // of that response; a JSON detail by default
	ContentType string      // of that response; application/json by default

	Delay   time.Duration   // wait this long first; ends when the client disconnects
	Hold    <-chan struct{} // then wait until this is closed; ends when the client disconnects
	Reached func()          // called before the wait, so that a test knows that the request has arrived

	// AfterWork does the work first, such as to create the deployment, and only
	// then waits and fails. The work is done even if the client disconnects.
	// Without it, nothing is done if the fault responds, cuts the connection, or
	// outlasts the client.
	AfterWork bool

	// Cut closes the connection without a response.
	Cut bool

	// Truncate does the work, announces the full length of the response, sends
	// half of it and closes the connection. It implies AfterWork.
	Truncate bool
}

func (f Fault) needsWork() bool { return f.AfterWork || f.Truncate }

// wait returns false when the client has disconnected.
func (f Fault) wait(ctx context.Context) bool {
	if f.Reached != nil {
		f.Reached()
	}
	return wait(ctx, f.Delay, f.Hold)
}

// response returns the response of the fault, if it has one.
func (f Fault) response() (response, bool) {
	if f.Status == 0 && f.Body == "" {
		return response{}, false
	}
	a := response{f.Status, f.Header.Clone(), []byte(f.Body)}
	if a.status == 0 {
		a.status = http.StatusOK
	}
	if a.header == nil {
		a.header = http.Header{}
	}
	if f.Body == "" {
		a.body, _ = json.Marshal(map[string]string{"detail": fmt.Sprintf("fault: %s", http.StatusText(a.status))})
	}
	if f.ContentType != "" {
		a.header.Set("Content-Type", f.ContentType)
	} else if a.header.Get("Content-Type") == "" {
		a.header.Set("Content-Type", "application/json")
	}
	return a, true
}

// cut closes the connection of the current request: net/http does so at this
// panic, and logs nothing.
func cut() { panic(http.ErrAbortHandler) }

type faults struct {
	mu     sync.Mutex
	queue  []*queued
	random *rand.Rand
	rate   float64
	chance []Fault
}

type queued struct {
	route Route
	left  int
	fault Fault
}

// Fail applies f to the next n requests of a route, or to every one from now on
// if n is negative. Calls queue up: the next fault of a route, or of AnyRoute,
// begins when those before it are used up.
func (s *Server) Fail(route Route, n int, f Fault) {
	s.faults.mu.Lock()
	defer s.faults.mu.Unlock()
	s.faults.queue = append(s.faults.queue, &queued{route, n, f})
}

// FailRandomly applies one of the faults, by default a 503, to each request
// with probability rate. The sequence of draws follows from seed; each request
// takes the next one. Faults of Fail come first. A rate of zero ends it.
func (s *Server) FailRandomly(seed int64, rate float64, fs ...Fault) {
	s.faults.mu.Lock()
	defer s.faults.mu.Unlock()
	if len(fs) == 0 {
		fs = []Fault{{Status: http.StatusServiceUnavailable}}
	}
	s.faults.random = rand.New(rand.NewSource(seed))
	s.faults.rate = rate
	s.faults.chance = fs
}

// ClearFaults removes all faults of Fail and FailRandomly.
func (s *Server) ClearFaults() {
	s.faults.mu.Lock()
	defer s.faults.mu.Unlock()
	s.faults.queue = nil
	s.faults.random = nil
}

// next takes the fault of the next request of a route.
func (fs *faults) next(route Route) Fault {
	fs.mu.Lock()
	defer fs.mu.Unlock()
	var drawn Fault
	if fs.random != nil {
		// Draw both numbers for every request, so that its fault depends only on
		// its place in the sequence.
		meets, which := fs.random.Float64() < fs.rate, fs.random.Intn(len(fs.chance))
		if meets {
			drawn = fs.chance[which]
		}
	}
	for _, q := range fs.queue {
		applies := q.route == route || q.route == AnyRoute
		if !applies || q.left == 0 {
			continue
		}
		if q.left > 0 {
			q.left--
		}
		return q.fault
	}
	return drawn
}
