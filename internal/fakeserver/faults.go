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

// A Fault is something that goes wrong with a request. One that only waits
// (Delay, Hold) lets the request be answered as usual afterwards.
type Fault struct {
	Status      int         // answer with this status; 200 when only Body is set
	Header      http.Header // of that answer; added to the usual answer when there is none
	Body        string      // of that answer; a JSON detail by default
	ContentType string      // of that answer; application/json by default

	Delay   time.Duration   // wait this long first; ends when the client goes away
	Hold    <-chan struct{} // then wait until this is closed; ends when the client goes away
	Reached func()          // called before the wait, so that a test knows the request is here

	// AfterWork does the work first, such as to create the deployment, and only
	// then waits and fails. The work is done even if the client goes away.
	// Without it, nothing is done when the fault answers, cuts, or waits for
	// longer than the client.
	AfterWork bool

	// Cut closes the connection without an answer.
	Cut bool

	// Truncate does the work, announces the full length of the answer, sends
	// half of it and closes the connection. It implies AfterWork.
	Truncate bool
}

func (f Fault) needsWork() bool { return f.AfterWork || f.Truncate }

// wait returns false when the client has gone away.
func (f Fault) wait(ctx context.Context) bool {
	if f.Reached != nil {
		f.Reached()
	}
	return wait(ctx, f.Delay, f.Hold)
}

// answer returns what the fault answers, if it does.
func (f Fault) answer() (answer, bool) {
	if f.Status == 0 && f.Body == "" {
		return answer{}, false
	}
	a := answer{f.Status, f.Header.Clone(), []byte(f.Body)}
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

// cut closes the connection of the current request: that is what net/http does
// at this panic, without a word in the log.
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

// Fail makes the next n requests of a route meet f, or every one from now on
// when n is negative. Calls queue up: the next fault of a route, or of
// AnyRoute, begins when those before it are used up.
func (s *Server) Fail(route Route, n int, f Fault) {
	s.faults.mu.Lock()
	defer s.faults.mu.Unlock()
	s.faults.queue = append(s.faults.queue, &queued{route, n, f})
}

// FailRandomly makes every request meet one of the faults with probability
// rate; without any fault given, a 503. The sequence of draws follows from
// seed; each request takes the next one. Faults of Fail come first. A rate of
// zero ends it.
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

// ClearFaults forgets all faults of Fail and FailRandomly.
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
		// Both draws are made for every request, so that a request's fault
		// depends on its place in the sequence only.
		meets, which := fs.random.Float64() < fs.rate, fs.random.Intn(len(fs.chance))
		if meets {
			drawn = fs.chance[which]
		}
	}
	for _, q := range fs.queue {
		if q.left == 0 || q.route != AnyRoute && q.route != route {
			continue
		}
		if q.left > 0 {
			q.left--
		}
		return q.fault
	}
	return drawn
}
