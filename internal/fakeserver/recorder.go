package fakeserver

import (
	"net/http"
	"net/url"
	"slices"
	"sync"
	"time"
)

// Request is a request that the server received.
type Request struct {
	Method string
	Path   string // as received, escapes kept
	Query  url.Values
	Header http.Header
	Body   []byte
	Status int       // of the response; 0 while there is none, and when none was sent
	Time   time.Time // of arrival, on Options.Clock
}

type recorder struct {
	mu      sync.Mutex
	entries []*Request
	remotes map[string]bool
}

func (rec *recorder) add(r *http.Request, body []byte, now time.Time) *Request {
	entry := &Request{
		Method: r.Method,
		Path:   r.URL.EscapedPath(),
		Query:  r.URL.Query(),
		Header: r.Header.Clone(),
		Body:   body,
		Time:   now,
	}
	rec.mu.Lock()
	defer rec.mu.Unlock()
	rec.entries = append(rec.entries, entry)
	if rec.remotes == nil {
		rec.remotes = map[string]bool{}
	}
	rec.remotes[r.RemoteAddr] = true
	return entry
}

func (rec *recorder) setStatus(entry *Request, status int) {
	rec.mu.Lock()
	defer rec.mu.Unlock()
	entry.Status = status
}

// Requests returns what the server received so far, in the order of arrival,
// requests in progress included.
func (s *Server) Requests() []Request {
	s.recorder.mu.Lock()
	defer s.recorder.mu.Unlock()
	out := make([]Request, len(s.recorder.entries))
	for i, entry := range s.recorder.entries {
		out[i] = *entry
		out[i].Query = url.Values(http.Header(entry.Query).Clone())
		out[i].Header = entry.Header.Clone()
		out[i].Body = slices.Clone(entry.Body)
	}
	return out
}

// Connections returns how many remote addresses requests came from, which is
// the number of connections that were used.
func (s *Server) Connections() int {
	s.recorder.mu.Lock()
	defer s.recorder.mu.Unlock()
	return len(s.recorder.remotes)
}

// ResetRequests discards the recorded requests and connections.
func (s *Server) ResetRequests() {
	s.recorder.mu.Lock()
	defer s.recorder.mu.Unlock()
	s.recorder.entries = nil
	s.recorder.remotes = nil
}
