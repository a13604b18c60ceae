package fakeserver

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"
)

func TestFaultsQueueUp(t *testing.T) {
	t.Parallel()
	s := start(t, Options{})
	s.Fail(ListDeployments, 2, Fault{Status: 503, Header: http.Header{"Retry-After": {"7"}}})
	s.Fail(ListOAuthProviders, 1, Fault{Status: 500, Body: "<html>", ContentType: "text/html"})
	s.Fail(AnyRoute, 1, Fault{Status: 404})
	s.Fail(ListDeployments, -1, Fault{Status: 502})
	var got []int
	for range 5 {
		got = append(got, s.do("GET", "/v2/deployments", "").status)
	}
	if fmt.Sprint(got) != "[503 503 404 502 502]" {
		t.Errorf("statuses %v", got)
	}
	if o := s.do("GET", "/v2/auth/providers", ""); o.status != 500 || o.body != "<html>" ||
		o.header.Get("Content-Type") != "text/html" {
		t.Errorf("provider list: %+v", o)
	}
	if o := s.do("GET", "/v2/auth/providers", ""); o.status != 200 {
		t.Errorf("provider list later: %+v", o)
	}
	s.ClearFaults()
	if o := s.do("GET", "/v2/deployments", ""); o.status != 200 {
		t.Errorf("cleared: %+v", o)
	}
}

func TestFaultResponse(t *testing.T) {
	t.Parallel()
	s := start(t, Options{})
	s.Fail(ListDeployments, 1, Fault{Status: 503, Header: http.Header{"Retry-After": {"7"}}})
	o := s.do("GET", "/v2/deployments", "")
	if o.header.Get("Retry-After") != "7" || o.header.Get("Content-Type") != "application/json" ||
		at(t, o.object(t), "detail") == "(absent)" {
		t.Errorf("default body: %+v", o)
	}
	s.Fail(ListDeployments, 1, Fault{Body: "{}"})
	if o := s.do("GET", "/v2/deployments", ""); o.status != 200 || o.body != "{}" {
		t.Errorf("body only: %+v", o)
	}
	s.Fail(ListDeployments, 1, Fault{Header: http.Header{"X-Notice": {"hi"}}})
	if o := s.do("GET", "/v2/deployments", ""); o.status != 200 || o.header.Get("X-Notice") != "hi" ||
		!strings.Contains(o.body, "resources") {
		t.Errorf("header only: %+v", o)
	}
}

func TestFaultsBeforeAndAfterTheWork(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		fault  Fault
		count  int
		status int // 0: no complete response
	}{
		"a status":                {Fault{Status: 500}, 0, 500},
		"a status after the work": {Fault{Status: 500, AfterWork: true}, 1, 500},
		"a cut":                   {Fault{Cut: true}, 0, 0},
		"a cut after the work":    {Fault{Cut: true, AfterWork: true}, 1, 0},
		"half a response":         {Fault{Truncate: true}, 1, 0},
		"a wait":                  {Fault{Delay: time.Nanosecond}, 1, 200},
		"a wait after the work":   {Fault{Delay: time.Nanosecond, AfterWork: true}, 1, 200},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := start(t, Options{})
			s.Fail(CreateDeployment, 1, test.fault)
			o, err := s.try("POST", "/v2/deployments", body())
			if (err != nil) != (test.status == 0) || err == nil && o.status != test.status {
				t.Errorf("status %d, error %v, want status %d", o.status, err, test.status)
			}
			if n := len(s.Deployments()); n != test.count {
				t.Errorf("%d deployments, want %d", n, test.count)
			}
		})
	}
}

func TestTruncateAnnouncesTheFullLength(t *testing.T) {
	t.Parallel()
	s := start(t, Options{})
	s.SeedDeployment(nil)
	full := s.do("GET", "/v2/deployments", "").body
	s.Fail(ListDeployments, 1, Fault{Truncate: true})
	o, err := s.try("GET", "/v2/deployments", "")
	if err != io.ErrUnexpectedEOF || o.status != 200 || o.header.Get("Content-Length") != fmt.Sprint(len(full)) ||
		o.body != full[:len(full)/2] {
		t.Errorf("error %v, status %d, length %s of %d, %d bytes", err, o.status, o.header.Get("Content-Length"), len(full),
			len(o.body))
	}
}

// The client disconnects while the request is held: before the work nothing is
// created, after it the deployment is.
func TestHoldUntilTheClientDisconnects(t *testing.T) {
	t.Parallel()
	for _, afterWork := range []bool{false, true} {
		t.Run(fmt.Sprint("after the work ", afterWork), func(t *testing.T) {
			t.Parallel()
			s := start(t, Options{})
			ctx, disconnect := context.WithCancel(t.Context())
			s.Fail(CreateDeployment, 1, Fault{Hold: make(chan struct{}), Reached: disconnect, AfterWork: afterWork})
			req, err := http.NewRequestWithContext(ctx, "POST", s.url+"/v2/deployments", strings.NewReader(body()))
			if err != nil {
				t.Fatal(err)
			}
			req.Header.Set("Content-Type", "application/json")
			if resp, err := s.http.Do(req); err == nil {
				_ = resp.Body.Close()
				t.Errorf("got a response with status %d", resp.StatusCode)
			}
			if created := len(s.Deployments()) == 1; created != afterWork {
				t.Errorf("created %t, want %t", created, afterWork)
			}
			if r := s.Requests(); len(r) != 1 || r[0].Status != 0 {
				t.Errorf("requests %+v", r)
			}
		})
	}
}

func TestHoldUntilReleased(t *testing.T) {
	t.Parallel()
	s := start(t, Options{})
	release, reached := make(chan struct{}), make(chan struct{})
	s.Fail(CreateDeployment, 1, Fault{Hold: release, Reached: func() { close(reached) }})
	status := make(chan int)
	go func() {
		o, _ := s.try("POST", "/v2/deployments", body())
		status <- o.status
	}()
	<-reached
	if len(s.Requests()) != 1 || len(s.Deployments()) != 0 {
		t.Error("a held request is not recorded, or was handled")
	}
	close(release)
	if got := <-status; got != 200 {
		t.Errorf("status %d", got)
	}
}

func TestFailRandomlyFollowsFromTheSeed(t *testing.T) {
	t.Parallel()
	statuses := func(seed int64) string {
		s := start(t, Options{})
		s.FailRandomly(seed, 0.5, Fault{Status: 500}, Fault{Status: 503})
		var out []int
		for range 40 {
			out = append(out, s.do("GET", "/v2/deployments", "").status)
		}
		return fmt.Sprint(out)
	}
	one := statuses(1)
	if again := statuses(1); again != one {
		t.Errorf("the same seed:\n%s\n%s", one, again)
	}
	if other := statuses(2); other == one {
		t.Error("another seed draws the same")
	}
	for _, want := range []string{"200", "500", "503"} {
		if !strings.Contains(one, want) {
			t.Errorf("no %s in %s", want, one)
		}
	}
}

func TestLatencyEndsWhenTheClientDisconnects(t *testing.T) {
	t.Parallel()
	s := New(Options{Latency: 1 << 62})
	ctx, disconnect := context.WithCancel(t.Context())
	disconnect()
	defer func() {
		if got := recover(); got != http.ErrAbortHandler {
			t.Errorf("ended with %v", got)
		}
		if len(s.Deployments()) != 0 {
			t.Error("the work was done")
		}
	}()
	req := httptest.NewRequestWithContext(ctx, "POST", "/v2/deployments", strings.NewReader(body()))
	s.ServeHTTP(httptest.NewRecorder(), req)
}
