package client

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/graphdeploy/terraform-provider-graphdeploy/internal/fakeserver"
)

// ahead is a service of 200 deployments of which a client has read ahead all pages, after reading 50 deployments by id.
type ahead struct {
	fake   *fakeserver.Server
	client *Client
	left   []string // ids that were read ahead and not used yet
}

func readSomeAhead(t *testing.T) ahead {
	t.Helper()
	fake, c, ids := manyDeployments(200, fakeserver.Options{})
	load{ids: ids[:50], parallel: 10}.run(c, func(_ string, _ *Deployment, err error) {
		if err != nil {
			t.Error(err)
		}
	})
	synctest.Wait()
	for _, id := range ids[50:] {
		if _, ok := c.reader.ahead.found[id]; !ok {
			t.Fatalf("%s was not read ahead", id)
		}
	}
	return ahead{fake, c, ids[50:]}
}

// read reads a deployment and returns in how many requests.
func (a ahead) read(t *testing.T, id string) (d *Deployment, requests int, err error) {
	t.Helper()
	before := len(a.fake.Requests())
	d, err = a.client.Deployment(t.Context(), id)
	synctest.Wait()
	return d, len(a.fake.Requests()) - before, err
}

// Changes made elsewhere after a page was read ahead show at the next read at the latest, and what was read ahead
// never means that a deployment does not exist.
func TestReadAhead_changesAfterwards(t *testing.T) {
	t.Parallel()
	edit := func(a ahead, id string) {
		a.fake.Edit(id, func(d map[string]any) { d["image_version"] = "new" })
	}
	isNew := func(d *Deployment) bool { return d != nil && d.Tree["image_version"] == "new" }
	for name, test := range map[string]func(t *testing.T, a ahead, id string){
		"none": func(t *testing.T, a ahead, id string) {
			d, requests, err := a.read(t, strings.ToUpper(id))
			if err != nil || d.ID != id || requests != 0 {
				t.Errorf("got %v, %v in %d requests; want it from the page", d, err, requests)
			}
		},
		"edited elsewhere": func(t *testing.T, a ahead, id string) {
			edit(a, id)
			if d, requests, err := a.read(t, id); err != nil || requests != 0 || isNew(d) {
				t.Errorf("%v in %d requests", err, requests)
			}
			if d, requests, err := a.read(t, id); err != nil || !isNew(d) || requests != 1 { // a page is used once
				t.Errorf("got %v, %v in %d requests; want the present state", d, err, requests)
			}
		},
		"edited elsewhere and needed now": func(t *testing.T, a ahead, id string) {
			edit(a, id)
			if d, err := a.client.DeploymentNow(t.Context(), id); err != nil || !isNew(d) {
				t.Errorf("got %v, %v; want the present state", d, err)
			}
		},
		"edited elsewhere and the page is old": func(t *testing.T, a ahead, id string) {
			edit(a, id)
			time.Sleep(readAheadMaxAge + time.Second)
			d, requests, err := a.read(t, id)
			equal(t, "error", err, nil)
			equal(t, "present state", isNew(d), true)
			equal(t, "requests: by id, and the list again", requests, 1+3)
			_, requests, _ = a.read(t, a.left[1])
			equal(t, "requests of the next read", requests, 0)
		},
		"deleted elsewhere": func(t *testing.T, a ahead, id string) {
			a.fake.Remove(id)
			if _, requests, err := a.read(t, id); err != nil || requests != 0 {
				t.Errorf("as of the page it existed: %v in %d requests", err, requests)
			}
			_, requests, err := a.read(t, id)
			equal(t, "no longer exists", errors.Is(err, ErrNotFound), true)
			equal(t, "requests", requests, 1)
			all := a.fake.Requests()
			equal(t, "requested", all[len(all)-1].Query.Get("deployment_ids"), id)
		},
		"created elsewhere": func(t *testing.T, a ahead, _ string) {
			id := a.fake.SeedDeployment(map[string]any{"name": "new"})
			if d, requests, err := a.read(t, id); err != nil || d.ID != id || requests != 1 {
				t.Errorf("got %v, %v in %d requests", d, err, requests)
			}
		},
		"changed by this client": func(t *testing.T, a ahead, id string) {
			if _, err := updating(t.Context(), a.client, id, changed); err != nil {
				t.Fatal(err)
			}
			if d, requests, err := a.read(t, id); err != nil || requests != 1 || customURL(d) != "https://new.example.com" {
				t.Errorf("got %v, %v in %d requests; want the present state", d, err, requests)
			}
		},
		"deleted by this client": func(t *testing.T, a ahead, id string) {
			if err := a.client.DeleteDeployment(t.Context(), id); err != nil {
				t.Fatal(err)
			}
			if _, _, err := a.read(t, id); !errors.Is(err, ErrNotFound) {
				t.Errorf("got %v, want ErrNotFound", err)
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				a := readSomeAhead(t)
				// Time has to pass between the page and what happens next.
				time.Sleep(time.Millisecond)
				test(t, a, a.left[0])
			})
		})
	}
}

// A deployment that cannot be read on a page is read by id, which reports what is wrong with it.
func TestReadAhead_unreadableDeployment(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		a := readSomeAhead(t)
		item := a.client.reader.ahead.found[a.left[0]]
		item.raw = []byte(`{"id":7}`)
		a.client.reader.ahead.found[a.left[0]] = item
		d, requests, err := a.read(t, a.left[0])
		if err != nil || d.ID != a.left[0] || requests != 1 {
			t.Errorf("got %v, %v in %d requests", d, err, requests)
		}
	})
}

// A page that fails, or that is odd, costs only itself: reads go on by id, and no more pages are requested.
func TestReadAhead_pageThatFails(t *testing.T) {
	t.Parallel()
	for name, odd := range map[string]http.HandlerFunc{
		"rejected": respond(http.StatusForbidden, `{}`), "down": respond(http.StatusServiceUnavailable,
			`{}`), "cut": cut, "not JSON": respondJSON(`<html>`),
		"no resources": respondJSON(`{}`), "empty": respondJSON(pageJSON(0)), "the same offset": respondJSON(pageJSON(0,
			deploymentJSON(idA, "a"))),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				fake, _, ids := manyDeployments(120, fakeserver.Options{})
				pages := 0
				c := inMemory(func(w http.ResponseWriter, r *http.Request) {
					if !r.URL.Query().Has("deployment_ids") {
						pages++
						odd(w, r)
						return
					}
					fake.ServeHTTP(w, r)
				})
				readAll(c, ids, func(id string, d *Deployment, err error) {
					if err != nil || d.ID != id {
						t.Errorf("read %s: %v, %v", id, d, err)
					}
				})
				equal(t, "pages", pages, 1)
			})
		})
	}
}

// Pages that serve no read end with the trial: a large service is not read for a small state.
func TestReadAhead_stopsWhereNothingIsRead(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		pages := int64(0)
		a := newReadAhead(func(_ context.Context, offset int64) (listPage, error) {
			pages++
			var items []listItem
			for i := range MaxPageSize {
				items = append(items, listItem{id: numberedID(int(offset) + i)})
			}
			return listPage{items: items, next: offset + MaxPageSize}, nil
		})
		read := func(from, to int) {
			for i := from; i < to; i++ {
				a.take(t.Context(), numberedID(i))
				if i%10 == 0 {
					a.countBatch()
				}
				synctest.Wait()
			}
		}
		read(1_000_000, 1_000_000+readAheadAfter-1)
		equal(t, "pages", pages, 0)
		read(2_000_000, 2_001_000)
		equal(t, "trial pages", pages, trialPages)
		read(0, 100)
		equal(t, "pages after those that served ten batches", pages, trialPages+10)
	})
}

// What is kept for reads to come is bounded.
func TestReadAhead_keepsABoundedAmount(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		pages := int64(0)
		a := newReadAhead(func(_ context.Context, offset int64) (listPage, error) {
			pages++
			return listPage{items: []listItem{{id: numberedID(int(offset)), raw: make([]byte, 10<<20)}}, next: offset + 1}, nil
		})
		for i := range readAheadAfter {
			a.take(t.Context(), numberedID(1_000_000+i))
		}
		synctest.Wait()
		equal(t, "pages", pages, 4)
		a.take(t.Context(), numberedID(0))
		synctest.Wait()
		equal(t, "pages when one was used", pages, 5)
	})
}
