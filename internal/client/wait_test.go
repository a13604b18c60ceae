package client

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"
)

func withStatus(status string) http.HandlerFunc {
	return respondJSON(pageJSON(1, strings.Replace(deploymentJSON(idA, "bot"), `"READY"`, `"`+status+`"`, 1)))
}

func isReady(d *Deployment) bool { return d.Status == StatusReady }

func first() *Deployment { return &Deployment{ID: idA, Name: "bot", Status: "created"} }

func TestWait(t *testing.T) {
	t.Parallel()
	waiting, ready, none := withStatus(StatusAwaitingDatabase), withStatus(StatusReady), respondJSON(pageJSON(0))
	for name, test := range map[string]struct {
		responses []http.HandlerFunc
		reads     int
		check     func(t *testing.T, last *Deployment, err error)
	}{
		"done at the first read": {[]http.HandlerFunc{ready}, 1, endsWith(StatusReady)},
		"several reads": {[]http.HandlerFunc{waiting, waiting, waiting, ready}, 4,
			endsWith(StatusReady)},
		"an unknown status": {[]http.HandlerFunc{withStatus("DREAMING"), ready}, 2, endsWith(StatusReady)},
		"temporary failures": {[]http.HandlerFunc{respond(500, ""), waiting, cut, respond(429, ""),
			respond(200, "<html>"), truncated, ready}, 7, endsWith(StatusReady)},
		"an unusable response": {[]http.HandlerFunc{respondJSON(`{"resources":null,"offset":0}`), ready}, 2,
			endsWith(StatusReady)},
		"not listed yet": {[]http.HandlerFunc{none, none, waiting, ready}, 4, endsWith(StatusReady)},
		"no longer listed": {[]http.HandlerFunc{waiting, none}, 2,
			fails(ErrNotFound, StatusAwaitingDatabase)},
		"no longer listed after being late": {[]http.HandlerFunc{none, waiting, respond(500, ""), none}, 4,
			fails(ErrNotFound, StatusAwaitingDatabase)},
		"rejected at the first read": {[]http.HandlerFunc{respond(401, `{}`)}, 1, rejected(401, "created")},
		"rejected later": {[]http.HandlerFunc{waiting, respond(403, `{}`)}, 2,
			rejected(403, StatusAwaitingDatabase)},
		"404 of the list is not ErrNotFound": {[]http.HandlerFunc{waiting, respond(404, `{}`)}, 2,
			rejected(404, StatusAwaitingDatabase)},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := serve(t, inTurn(test.responses...))
			last, err := s.client(t, func(config *Config) { config.MaxRetries = 0 }).Wait(t.Context(), first(), isReady)
			test.check(t, last, err)
			equal(t, "reads", s.count(""), test.reads)
		})
	}
}

func endsWith(status string) func(*testing.T, *Deployment, error) {
	return func(t *testing.T, last *Deployment, err error) {
		if err != nil || last.Status != status {
			t.Errorf("got %v, %v", last, err)
		}
	}
}

func fails(want error, status string) func(*testing.T, *Deployment, error) {
	return func(t *testing.T, last *Deployment, err error) {
		if !errors.Is(err, want) || last.Status != status {
			t.Errorf("got %v, %v", last, err)
		}
	}
}

func rejected(code int, status string) func(*testing.T, *Deployment, error) {
	return func(t *testing.T, last *Deployment, err error) {
		if asType[*Error](t, err).Status != code || errors.Is(err, ErrNotFound) || last.Status != status {
			t.Errorf("got %v, %v", last, err)
		}
	}
}

func TestWait_endsWithItsContext(t *testing.T) {
	t.Parallel()
	t.Run("before it begins", func(t *testing.T) {
		t.Parallel()
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		s := serve(t, withStatus(StatusReady))
		last, err := s.client(t).Wait(ctx, first(), isReady)
		if err != context.Canceled || last.Status != "created" || s.count("") != 0 {
			t.Errorf("got %v, %v", last, err)
		}
	})
	t.Run("while it reads", func(t *testing.T) {
		t.Parallel()
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		ended := make(chan struct{})
		defer close(ended)
		s := serve(t, inTurn(withStatus(StatusAwaitingDatabase), func(http.ResponseWriter, *http.Request) {
			cancel()
			<-ended
		}))
		last, err := s.client(t).Wait(ctx, first(), isReady)
		if err != context.Canceled || last.Status != StatusAwaitingDatabase {
			t.Errorf("got %v, %v", last, err)
		}
	})
	t.Run("between reads", func(t *testing.T) {
		t.Parallel()
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		s := serve(t, withStatus(StatusAwaitingDatabase))
		c := s.client(t, func(config *Config) { config.PollInterval, config.PollIntervalMax = time.Hour, time.Hour })
		last, err := c.Wait(ctx, first(), func(*Deployment) bool { cancel(); return false })
		if err != context.Canceled || last.Status != StatusAwaitingDatabase || s.count("") != 1 {
			t.Errorf("got %v, %v", last, err)
		}
	})
	t.Run("at a deadline", func(t *testing.T) {
		t.Parallel()
		ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
		defer cancel()
		s := serve(t, withStatus(StatusAwaitingDatabase))
		last, err := s.client(t).Wait(ctx, first(), isReady)
		if err != context.DeadlineExceeded || last == nil {
			t.Errorf("got %v, %v", last, err)
		}
	})
}

// The bound is Config.ConsistencyTimeout, and begins again after each response that can be decoded.
func TestWait_endsWhenResponsesCannotBeDecoded(t *testing.T) {
	t.Parallel()
	page := respond(200, "<html>")
	s := serve(t, inTurn(withStatus(StatusAwaitingDatabase), page))
	last, err := s.client(t).Wait(t.Context(), first(), isReady)
	if asType[*Error](t, err).Cause != CauseMalformed || last.Status != StatusAwaitingDatabase {
		t.Errorf("got %v, %v", last, err)
	}
	if n := s.count(""); n < 3 {
		t.Errorf("%d requests, want some more", n)
	}
	s = serve(t, inTurn(page, withStatus(StatusReady)))
	_, err = s.client(t, func(c *Config) { c.ConsistencyTimeout = 1 }).Wait(t.Context(), first(), isReady)
	if err != nil {
		t.Error(err)
	}
}

func TestWait_deadlineNamesTheLastFailure(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	s := serve(t, respond(500, `{"detail":"down"}`))
	_, err := s.client(t, func(config *Config) { config.MaxRetries = 0 }).Wait(ctx, first(), isReady)
	if !errors.Is(err, context.DeadlineExceeded) {
		t.Error(err)
	}
	if failed, ok := errors.AsType[*Error](err); ok {
		equal(t, "status", failed.Status, 500)
	}
}

func TestWaitConsistent(t *testing.T) {
	t.Parallel()
	stale, fresh, none := withStatus(StatusAwaitingDatabase), withStatus(StatusReady), respondJSON(pageJSON(0))
	const short, long = 100 * time.Millisecond, time.Minute // long is not used up
	for name, test := range map[string]struct {
		limit     time.Duration
		responses []http.HandlerFunc
		check     func(t *testing.T, last *Deployment, err error)
	}{
		"at once":                {long, []http.HandlerFunc{fresh}, endsWith(StatusReady)},
		"later":                  {long, []http.HandlerFunc{stale, stale, fresh}, endsWith(StatusReady)},
		"never":                  {short, []http.HandlerFunc{stale}, endsWith(StatusAwaitingDatabase)},
		"no longer listed":       {long, []http.HandlerFunc{none}, fails(ErrNotFound, "created")},
		"failures, then success": {long, []http.HandlerFunc{respond(500, ""), fresh}, endsWith(StatusReady)},
		"rejected":               {long, []http.HandlerFunc{respond(401, `{}`)}, rejected(401, "created")},
		"nothing but failures":   {short, []http.HandlerFunc{respond(500, "")}, fails(context.DeadlineExceeded, "created")},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := serve(t, inTurn(test.responses...))
			c := s.client(t, func(config *Config) { config.MaxRetries, config.ConsistencyTimeout = 0, test.limit })
			last, err := c.WaitConsistent(t.Context(), first(), isReady)
			test.check(t, last, err)
		})
	}
}

// A deployment that is not listed yet when the wait ends was created: that it no longer exists would lose it.
func TestWait_endsBeforeTheDeploymentIsListed(t *testing.T) {
	t.Parallel()
	s := serve(t, respondJSON(`{"resources":[],"offset":0}`))
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	created := first()
	last, err := s.client(t).Wait(ctx, created, func(*Deployment) bool { return true })
	if last != created || !errors.Is(err, context.DeadlineExceeded) || errors.Is(err, ErrNotFound) {
		t.Errorf("got %v, %v", last, err)
	}
}
