package client

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"runtime"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/graphdeploy/terraform-provider-graphdeploy/internal/fakeserver"
)

// ahead is a service of 200 deployments of which a client has read ahead all
// pages that it wants to, after reading 40 by id.
type ahead struct {
	*service
	fake   *fakeserver.Server
	client *Client
	left   []string // ids that were read ahead, and are still to be handed out
	clock  *atomic.Int64
}

func readSomeAhead(t *testing.T) ahead {
	t.Helper()
	a := ahead{fake: fakeserver.New(fakeserver.Options{Extended: true}), clock: &atomic.Int64{}}
	var ids []string
	for i := range 200 {
		ids = append(ids, a.fake.SeedDeployment(map[string]any{"name": fmt.Sprintf("app-%03d", i)}))
	}
	a.service = serve(t, a.fake.ServeHTTP)
	a.client = a.service.client(t)
	began := time.Now()
	reading := a.client.reader.ahead
	reading.now = func() time.Time { return began.Add(time.Duration(a.clock.Add(1))) }
	done := make(chan struct{})
	reading.page = lastPage(reading.page, done)
	for part := range slices.Chunk(ids[:40], 20) {
		if _, err := a.client.reader.readAll(t.Context(), part); err != nil {
			t.Fatal(err)
		}
		reading.asked(t.Context(), len(part))
	}
	<-done
	for _, id := range ids[40:] {
		reading.mu.Lock()
		_, ok := reading.found[id]
		reading.mu.Unlock()
		if !ok {
			t.Fatalf("%s was not read ahead", id)
		}
		a.left = append(a.left, id)
	}
	return a
}

type pageFunc = func(context.Context, int64) ([]*Deployment, int64, error)

// lastPage closes done when the page that ends the list has been asked for.
func lastPage(page pageFunc, done chan struct{}) pageFunc {
	return func(ctx context.Context, offset int64) ([]*Deployment, int64, error) {
		deployments, next, err := page(ctx, offset)
		if err != nil || len(deployments) == 0 {
			defer close(done)
		}
		return deployments, next, err
	}
}

// read reads a deployment, and says in how many requests.
func (a ahead) read(t *testing.T, id string) (d *Deployment, requests int, err error) {
	t.Helper()
	before := a.count("")
	d, err = a.client.Deployment(t.Context(), id)
	return d, a.count("") - before, err
}

// What somebody else does after a page was read ahead is seen by the next
// reading at the latest, and what was read ahead never says that something is
// gone.
func TestChangesAfterReadingAhead(t *testing.T) {
	t.Parallel()
	t.Run("none", func(t *testing.T) {
		t.Parallel()
		a := readSomeAhead(t)
		d, requests, err := a.read(t, a.left[0])
		if err != nil || d.ID != a.left[0] || requests != 0 {
			t.Errorf("got %v, %v in %d requests; want it from the page", d, err, requests)
		}
	})
	t.Run("edited by somebody else", func(t *testing.T) {
		t.Parallel()
		a := readSomeAhead(t)
		id := a.left[0]
		a.fake.Edit(id, func(d map[string]any) { d["image_version"] = "new" })
		if _, requests, err := a.read(t, id); err != nil || requests != 0 {
			t.Errorf("%v in %d requests", err, requests)
		}
		d, requests, err := a.read(t, id) // a page answers once
		if err != nil || d.ImageVersion == nil || *d.ImageVersion != "new" || requests != 1 {
			t.Errorf("got %v, %v in %d requests; want what it is now", d, err, requests)
		}
	})
	t.Run("edited and the page is old", func(t *testing.T) {
		t.Parallel()
		a := readSomeAhead(t)
		id := a.left[0]
		a.fake.Edit(id, func(d map[string]any) { d["image_version"] = "new" })
		a.clock.Add(int64(31 * time.Second))
		d, requests, err := a.read(t, id)
		if err != nil || d.ImageVersion == nil || *d.ImageVersion != "new" || requests != 1 {
			t.Errorf("got %v, %v in %d requests; want what it is now", d, err, requests)
		}
	})
	t.Run("removed by somebody else", func(t *testing.T) {
		t.Parallel()
		a := readSomeAhead(t)
		id := a.left[0]
		a.fake.Remove(id)
		if _, _, err := a.read(t, id); err != nil {
			t.Errorf("as of the page it was there: %v", err)
		}
		before := a.count("")
		if _, err := a.client.Deployment(t.Context(), id); !errors.Is(err, ErrNotFound) {
			t.Errorf("got %v, want that it is gone", err)
		}
		last := a.requests("")[a.count("")-1]
		if a.count("") == before || last.query.Get("deployment_ids") != id {
			t.Errorf("that it is gone was not asked for by id: %v", last.query)
		}
	})
	t.Run("created by somebody else", func(t *testing.T) {
		t.Parallel()
		a := readSomeAhead(t)
		id := a.fake.SeedDeployment(map[string]any{"name": "new"})
		d, requests, err := a.read(t, id)
		if err != nil || d.ID != id || requests != 1 {
			t.Errorf("got %v, %v in %d requests", d, err, requests)
		}
	})
	t.Run("changed by this client", func(t *testing.T) {
		t.Parallel()
		a := readSomeAhead(t)
		id := a.left[0]
		url := "https://new.example.com"
		if _, err := a.client.UpdateDeployment(t.Context(), id, DeploymentChange{SourceConfig: map[string]any{"custom_url": url}}); err != nil {
			t.Fatal(err)
		}
		d, requests, err := a.read(t, id)
		if err != nil || d.SourceConfig.CustomURL == nil || *d.SourceConfig.CustomURL != url || requests != 1 {
			t.Errorf("got %v, %v in %d requests; want what it is now", d, err, requests)
		}
	})
	t.Run("deleted by this client", func(t *testing.T) {
		t.Parallel()
		a := readSomeAhead(t)
		if err := a.client.DeleteDeployment(t.Context(), a.left[0]); err != nil {
			t.Fatal(err)
		}
		if _, _, err := a.read(t, a.left[0]); !errors.Is(err, ErrNotFound) {
			t.Errorf("got %v, want that it is gone", err)
		}
	})
}

// A page that fails, or that is odd, costs nothing but itself: reads go on by
// id, and no more pages are asked for.
func TestPageAheadThatFails(t *testing.T) {
	t.Parallel()
	for name, odd := range map[string]http.HandlerFunc{
		"refused": answer(http.StatusForbidden, `{}`), "down": answer(http.StatusServiceUnavailable, `{}`), "cut": cut, "truncated": truncated,
		"not JSON": answerJSON(`<html>`), "no resources": answerJSON(`{}`), "empty": answerJSON(pageJSON(0)), "the same offset": answerJSON(pageJSON(0, deploymentJSON(idA, "a"))),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			fake := fakeserver.New(fakeserver.Options{})
			var ids []string
			for i := range 120 {
				ids = append(ids, fake.SeedDeployment(map[string]any{"name": fmt.Sprintf("app-%03d", i)}))
			}
			s := serve(t, func(w http.ResponseWriter, r *http.Request) {
				if !r.URL.Query().Has("deployment_ids") {
					odd(w, r)
					return
				}
				fake.ServeHTTP(w, r)
			})
			c := s.client(t)
			done := make(chan struct{})
			var pages atomic.Int32 // not the requests: net/http may repeat one that was cut
			page := c.reader.ahead.page
			c.reader.ahead.page = func(ctx context.Context, offset int64) ([]*Deployment, int64, error) {
				if pages.Add(1) == 1 {
					defer close(done)
				}
				return page(ctx, offset)
			}
			for part := range slices.Chunk(ids, 20) {
				found, err := c.reader.readAll(t.Context(), part)
				if err != nil || len(found) != len(part) {
					t.Errorf("found %d of %d: %v", len(found), len(part), err)
				}
				c.reader.ahead.asked(t.Context(), len(part))
			}
			<-done
			same(t, "pages", pages.Load(), 1)
		})
	}
}

// Reading ahead waits for its pages to be of use: when all that is asked for
// is on the first ones, the rest of a large service is not read.
func TestReadingAheadStopsWhereNothingIsAskedFor(t *testing.T) {
	t.Parallel()
	a := &readAhead{maxAge: time.Minute, now: time.Now, arrive: func(context.Context) {}, found: map[string]aheadReading{}, written: map[string]time.Time{}}
	id := func(offset int64, i int) string { return fmt.Sprintf("%08d-0000-4000-8000-%012d", offset, i) }
	asked := make(chan int64, 1000)
	a.page = func(_ context.Context, offset int64) ([]*Deployment, int64, error) {
		asked <- offset
		page := make([]*Deployment, MaxPageSize)
		for i := range page {
			page[i] = &Deployment{ID: id(offset, i)}
		}
		return page, offset + MaxPageSize, nil
	}
	a.asked(t.Context(), 50)
	a.asked(t.Context(), 50)
	for i := range int64(aheadOnTrial) {
		same(t, "page", <-asked, i*MaxPageSize)
	}
	for page := range int64(5) { // each that is of use brings one more, once
		for i := range MaxPageSize {
			for a.take(t.Context(), id(page*MaxPageSize, i)) == nil {
				runtime.Gosched() // it is on its way
			}
		}
		same(t, "page", <-asked, (page+aheadOnTrial)*MaxPageSize)
	}
	for range 10 { // reads by id go on
		a.asked(t.Context(), 10)
	}
	same(t, "pages beyond", len(asked), 0)
	same(t, "pages", a.pages, 5+aheadOnTrial)
}
