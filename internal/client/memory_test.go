package client

import (
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httptrace"
	"net/url"
	"time"
)

// inMemory returns a client whose requests h serves in this process, so that tests in a synctest bubble have their
// own time.
func inMemory(h http.HandlerFunc, changes ...func(*Config)) *Client {
	config := Config{BaseURL: &url.URL{Scheme: "http", Host: "service.example"}, MaxRetries: 4}
	for _, change := range changes {
		change(&config)
	}
	c := New(config)
	c.http.Transport = roundTripper(func(r *http.Request) (*http.Response, error) {
		if trace := httptrace.ContextClientTrace(r.Context()); trace != nil {
			trace.GotConn(httptrace.GotConnInfo{})
		}
		if r.Body == nil {
			r.Body = http.NoBody
		}
		recorder := httptest.NewRecorder()
		recorder.Header().Set("Date", time.Now().UTC().Format(http.TimeFormat))
		finished := make(chan bool, 1)
		go func() {
			complete := false
			defer func() {
				if !complete {
					_ = recover() // http.ErrAbortHandler: the connection is cut
				}
				finished <- complete
			}()
			h(recorder, r)
			complete = true
		}()
		select {
		case complete := <-finished:
			if !complete {
				return nil, io.ErrUnexpectedEOF
			}
			return recorder.Result(), nil
		case <-r.Context().Done():
			return nil, r.Context().Err()
		}
	})
	return c
}

func satisfiedByAll(*Deployment) bool { return true }

// createdJSON is a deployment that the service created at a time.
func createdJSON(id, name, createdAt string) string {
	return deploymentJSON(id, name)[:len(deploymentJSON(id, name))-1] + `,"created_at":"` + createdAt + `"}`
}
