package client

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/graphdeploy/terraform-provider-graphdeploy/internal/fakeserver"
)

// manyDeployments is a service with n deployments, and a client of it.
func manyDeployments(n int, options fakeserver.Options, changes ...func(*Config)) (*fakeserver.Server, *Client,
	[]string) {
	fake := fakeserver.New(options)
	ids := make([]string, n)
	for i := range ids {
		ids[i] = fake.SeedDeployment(map[string]any{"name": fmt.Sprintf("app-%d", i)})
	}
	return fake, inMemory(fake.ServeHTTP, changes...), ids
}

// numberedID is the id of a deployment of manySmall.
func numberedID(i int) string { return fmt.Sprintf("00000000-0000-4000-8000-%012d", i) }

// manySmall is a service with n small deployments, that responds after some time; requests counts its requests.
func manySmall(n int, latency time.Duration, requests *int) http.HandlerFunc {
	var mu sync.Mutex
	return func(w http.ResponseWriter, r *http.Request) {
		time.Sleep(latency)
		mu.Lock()
		*requests++
		mu.Unlock()
		query := r.URL.Query()
		if ids := query.Get("deployment_ids"); ids != "" {
			var items []string
			for id := range strings.SplitSeq(ids, ",") {
				items = append(items, deploymentJSON(id, "n"))
			}
			respondJSON(pageJSON(len(items), items...))(w, r)
			return
		}
		var offset int
		_, _ = fmt.Sscan(query.Get("offset"), &offset)
		var items []string
		for i := offset; i < min(offset+MaxPageSize, n); i++ {
			items = append(items, deploymentJSON(numberedID(i), "n"))
		}
		respondJSON(pageJSON(offset+len(items), items...))(w, r)
	}
}

// load is how a run reads deployments.
type load struct {
	ids      []string
	parallel int           // reads at once
	apart    time.Duration // at least, from one read to the next, as Terraform needs the processor
}

// run reads, calls visit for each result, and returns how long that took.
func (l load) run(c *Client, visit func(id string, d *Deployment, err error)) time.Duration {
	began := time.Now()
	queue := make(chan string)
	var group sync.WaitGroup
	for range l.parallel {
		group.Go(func() {
			for id := range queue {
				d, err := c.Deployment(context.Background(), id)
				visit(id, d, err)
			}
		})
	}
	for _, id := range l.ids {
		time.Sleep(l.apart)
		queue <- id
	}
	close(queue)
	group.Wait()
	return time.Since(began)
}

// readAll reads as Terraform does, ten at once, and waits for pages that are read ahead. It needs a bubble.
func readAll(c *Client, ids []string, visit func(id string, d *Deployment, err error)) {
	load{ids: ids, parallel: 10}.run(c, visit)
	time.Sleep(time.Hour)
}

// spread are n ids of a service of total deployments, in no order.
func spread(n, total int) []string {
	ids := make([]string, n)
	for i := range ids {
		ids[i] = numberedID((i*7919 + i/total) % total) // 7919 is prime: each number once
	}
	return ids
}

// Reads take few requests and, within one and a half batch windows, no more time than one request for each. That is
// not so for few of many deployments (1,000 of 100,000) that are read a few milliseconds apart: gathering them takes
// time that no page makes up for. So those are only here without a distance.
func TestReads_requestsAndTime(t *testing.T) {
	t.Parallel()
	const ms = time.Millisecond
	for _, test := range []struct {
		state, service, parallel int
		latency, apart           time.Duration
		most                     int
	}{
		{1000, 1000, 10, 50 * ms, 0, 30},
		{1000, 1000, 10, 50 * ms, 3 * ms, 30},
		{5000, 5000, 10, 50 * ms, 3 * ms, 150},
		{5000, 5000, 10, 50 * ms, 30 * ms, 150}, // a slow machine
		{5000, 5000, 10, 50 * ms, 60 * ms, 150},
		{20, 100_000, 10, 50 * ms, 0, 6},
		{20, 100_000, 10, 50 * ms, 3 * ms, 6},
		{1000, 100_000, 10, 50 * ms, 0, 130},
		{1000, 10_000, 10, 50 * ms, 0, 130},
		{300, 6000, 10, 50 * ms, 0, 45},
		{1, 3000, 10, 50 * ms, 0, 1},
		{100, 1000, 1, 50 * ms, 0, 60}, // one after the other
		{100, 1000, 2, 50 * ms, 3 * ms, 60},
		{300, 1000, 5, 50 * ms, 3 * ms, 60},
		{1000, 1000, 10, 2 * ms, 3 * ms, 300},
	} {
		t.Run(fmt.Sprintf("%d of %d, %d at once, %v, %v apart", test.state, test.service, test.parallel, test.latency,
			test.apart), func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				l := load{spread(test.state, test.service), test.parallel, test.apart}
				visit := func(id string, d *Deployment, err error) {
					if err != nil || d.ID != id {
						t.Errorf("read %s: %v, %v", id, d, err)
					}
				}
				var batched, single int
				took := l.run(inMemory(manySmall(test.service, test.latency, &batched)), visit)
				alone := l.run(inMemory(manySmall(test.service, test.latency, &single), func(c *Config) { c.BatchSize = 1 }), visit)
				time.Sleep(time.Hour) // pages that are read ahead may still be under way
				t.Logf("%d requests in %v, one by one %v", batched, took, alone)
				equal(t, "requests one by one", single, test.state)
				if batched > test.most {
					t.Errorf("%d requests, want at most %d", batched, test.most)
				}
				if took > alone+3*batchWindow/2 {
					t.Errorf("%v, one by one %v", took, alone)
				}
			})
		})
	}
}

func TestBatchSizeOne_isOneRequestForEachRead(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		fake, c, ids := manyDeployments(30, fakeserver.Options{}, func(c *Config) { c.BatchSize = 1 })
		readAll(c, ids, func(_ string, _ *Deployment, err error) {
			if err != nil {
				t.Error(err)
			}
		})
		equal(t, "requests", len(fake.Requests()), 30)
	})
}

func TestBatch_someNoLongerExist(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		fake, c, ids := manyDeployments(200, fakeserver.Options{MaxPage: 3})
		deleted := map[string]bool{}
		for i, id := range ids {
			if i%7 == 0 {
				fake.Remove(id)
				deleted[id] = true
			}
		}
		readAll(c, ids, func(id string, d *Deployment, err error) {
			switch {
			case deleted[id] && !errors.Is(err, ErrNotFound):
				t.Errorf("deleted %s: %v, %v", id, d, err)
			case !deleted[id] && (err != nil || d.ID != id):
				t.Errorf("read %s: %v, %v", id, d, err)
			}
		})
	})
}

// readTogether reads deployments in one batch, as after a batch of as many: otherwise the first read would be sent at
// once.
func readTogether(t *testing.T, c *Client, ids []string) map[string]readResult {
	t.Helper()
	c.reader.mu.Lock()
	c.reader.last = len(ids)
	c.reader.mu.Unlock()
	results := map[string]readResult{}
	var mu sync.Mutex
	load{ids: ids, parallel: len(ids)}.run(c, func(id string, d *Deployment, err error) {
		mu.Lock()
		defer mu.Unlock()
		results[id] = readResult{d, err}
	})
	return results
}

// A response to many ids that lacks some is not believed at once.
func TestBatch_missingIDsAreRequestedAgain(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		fake, _, ids := manyDeployments(5, fakeserver.Options{})
		requests := 0
		c := inMemory(func(w http.ResponseWriter, r *http.Request) {
			if requests++; requests == 1 {
				_, _ = io.WriteString(w, `{"resources": [], "offset": 0}`)
				return
			}
			fake.ServeHTTP(w, r)
		})
		for id, got := range readTogether(t, c, ids) {
			if got.err != nil || got.deployment.ID != id {
				t.Errorf("read %s: %v", id, got)
			}
		}
		equal(t, "requests", requests, 2)
	})
}

func TestBatch_errorReachesEveryRead(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		fake, c, ids := manyDeployments(5, fakeserver.Options{})
		fake.Fail(fakeserver.ListDeployments, -1, fakeserver.Fault{Status: 403})
		for _, got := range readTogether(t, c, ids) {
			equal(t, "status", asType[*Error](t, got.err).Status, 403)
		}
		equal(t, "requests", len(fake.Requests()), 1)
	})
}

// One id that the service rejects, or whose deployment spoils the response, fails the read of that deployment only.
func TestBatch_rejectedIDFailsAlone(t *testing.T) {
	t.Parallel()
	const bad = "ffffffff-0000-4000-8000-00000000000f"
	for name, reject := range map[string]http.HandlerFunc{
		"400": respond(400, `{"detail":"no"}`), "404": respond(404, `{}`), "413": respond(413, ""), "414": respond(414,
			""), "422": respond(422, `{}`), "431": respond(431, ""),
		"a null item": respondJSON(`{"resources":[null],"offset":0}`), "not JSON": respondJSON(`{"resources":[`),
		"too large": func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write(make([]byte, maxBody+1)) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				fake, _, ids := manyDeployments(8, fakeserver.Options{})
				var requests []string
				var mu sync.Mutex
				c := inMemory(func(w http.ResponseWriter, r *http.Request) {
					mu.Lock()
					requests = append(requests, r.URL.Query().Get("deployment_ids"))
					mu.Unlock()
					if strings.Contains(r.URL.Query().Get("deployment_ids"), bad) {
						reject(w, r)
						return
					}
					fake.ServeHTTP(w, r)
				})
				for id, got := range readTogether(t, c, append(ids, bad)) {
					switch {
					case id == bad:
						if _ = asType[*Error](t, got.err); errors.Is(got.err, ErrNotFound) || got.deployment != nil {
							t.Errorf("rejected: %v", got)
						}
					case got.err != nil || got.deployment.ID != id:
						t.Errorf("read %s: %v", id, got)
					}
				}
				equal(t, "requests", len(requests), 1+9) // together, then each alone
			})
		})
	}
}

func TestBatch_canceledReadCancelsNoOther(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		fake, c, ids := manyDeployments(3, fakeserver.Options{Latency: time.Second})
		ctx, cancel := context.WithCancel(t.Context())
		c.reader.last = 3
		var group sync.WaitGroup
		// Before and after the request is sent, for an id of its own and for one that another reads.
		for _, canceledAt := range []time.Duration{batchWindow / 2, batchWindow + time.Millisecond} {
			for _, id := range ids[:2] {
				group.Go(func() {
					ctx, cancel := context.WithTimeout(ctx, canceledAt)
					defer cancel()
					if _, err := c.Deployment(ctx, id); !errors.Is(err, context.DeadlineExceeded) {
						t.Errorf("canceled read: %v", err)
					}
				})
			}
		}
		for _, id := range ids[1:] {
			group.Go(func() {
				if d, err := c.Deployment(t.Context(), id); err != nil || d.ID != id {
					t.Errorf("other read: %v, %v", d, err)
				}
			})
		}
		group.Wait()
		equal(t, "requests", len(fake.Requests()), 1)
		cancel()
		if _, err := c.Deployment(ctx, ids[0]); err != context.Canceled {
			t.Errorf("read with an ended context: %v", err)
		}
	})
}

// Reads that need the present state are served by a request that begins after they do, also when they share an id
// with others.
func TestDeploymentNow_neverFromAnEarlierRequest(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var mu sync.Mutex
		began := map[string]time.Time{} // by the version that the response has
		c := inMemory(func(w http.ResponseWriter, r *http.Request) {
			mu.Lock()
			mine := fmt.Sprint(len(began))
			began[mine] = time.Now()
			mu.Unlock()
			time.Sleep(100 * time.Millisecond)
			item := strings.Replace(deploymentJSON(idA, "a"), `"READY"`, `"`+mine+`"`, 1)
			respondJSON(pageJSON(0, item))(w, r)
		})
		var group sync.WaitGroup
		for i := range 40 {
			group.Go(func() {
				time.Sleep(time.Duration(i) * 7 * time.Millisecond)
				called := time.Now()
				read := c.DeploymentNow
				if i%2 == 0 {
					read = c.Deployment
				}
				d, err := read(t.Context(), idA)
				mu.Lock()
				defer mu.Unlock()
				if err != nil || began[d.Status].Before(called) {
					t.Errorf("read at %v by the request of %v: %v", called, began[d.Status], err)
				}
			})
		}
		group.Wait()
		if len(began) > 14 {
			t.Errorf("%d requests", len(began))
		}
		time.Sleep(time.Hour)
	})
}

func TestPolls_shareRequests(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		fake, c, ids := manyDeployments(10, fakeserver.Options{Latency: 50 * time.Millisecond})
		var group sync.WaitGroup
		for i, id := range ids {
			group.Go(func() {
				time.Sleep(time.Duration(i) * 30 * time.Millisecond) // they do not begin together
				reads := 0
				_, err := c.Wait(t.Context(), &Deployment{ID: id}, func(*Deployment) bool { reads++; return reads >= 10 })
				if err != nil {
					t.Error(err)
				}
			})
		}
		group.Wait()
		if n := len(fake.Requests()); n > 25 {
			t.Errorf("%d requests for 100 reads", n)
		} else {
			t.Logf("%d requests for 100 reads", n)
		}
	})
}

// Reads go on while deployments are created, changed and deleted: each result is that of some moment of the run.
func TestReads_whileTheServiceChanges(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		fake, c, ids := manyDeployments(300, fakeserver.Options{Latency: 10 * time.Millisecond})
		stop := make(chan struct{})
		var changes sync.WaitGroup
		changes.Go(func() {
			for i := 0; ; i++ {
				select {
				case <-stop:
					return
				default:
				}
				fake.Edit(ids[i%200], func(d map[string]any) { d["image_version"] = fmt.Sprint(i) })
				fake.Remove(ids[200+i%100])
				if _, _, err := c.CreateDeployment(t.Context(), Tree{"name": fmt.Sprintf("new-%d", i), "source": "internal_docker"},
					satisfiedByAll); err != nil {
					t.Error(err)
				}
			}
		})
		load{ids: slices.Concat(ids, ids), parallel: 10}.run(c, func(id string, d *Deployment, err error) {
			if err != nil && !errors.Is(err, ErrNotFound) || err == nil && d.ID != id {
				t.Errorf("read %s: %v, %v", id, d, err)
			}
			if errors.Is(err, ErrNotFound) && fake.Deployment(id) != nil {
				t.Errorf("%s was not found and exists", id)
			}
		})
		close(stop)
		changes.Wait()
		time.Sleep(time.Hour)
	})
}
