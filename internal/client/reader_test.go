package client_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/graphdeploy/terraform-provider-graphdeploy/internal/client"
	"github.com/graphdeploy/terraform-provider-graphdeploy/internal/fakeserver"
)

// manyDeployments is a service with n deployments, and a client of it.
func manyDeployments(t *testing.T, n int, options fakeserver.Options) (*fakeserver.Server, *client.Client, []string) {
	t.Helper()
	fake := fakeserver.New(options)
	ids := make([]string, n)
	for i := range ids {
		ids[i] = fake.SeedDeployment(map[string]any{"name": fmt.Sprintf("app-%d", i)})
	}
	server := httptest.NewServer(fake)
	t.Cleanup(server.Close)
	base, err := url.Parse(server.URL)
	if err != nil {
		t.Fatal(err)
	}
	c := client.New(client.Config{BaseURL: base, RetryWait: time.Microsecond, RetryWaitMax: time.Millisecond,
		PollInterval: time.Millisecond, PollIntervalMax: time.Millisecond, MaxRetries: 4})
	t.Cleanup(c.CloseIdleConnections)
	return fake, c, ids
}

// readAll reads as Terraform does: ten at once, in no order.
func readAll(t *testing.T, c *client.Client, ids []string, visit func(id string, d *client.Deployment, err error)) {
	t.Helper()
	queue := make(chan string)
	var group sync.WaitGroup
	for range 10 {
		group.Go(func() {
			for id := range queue {
				d, err := c.Deployment(context.Background(), id)
				visit(id, d, err)
			}
		})
	}
	for _, id := range ids {
		queue <- id
	}
	close(queue)
	group.Wait()
}

// shuffled is some of ids in an order that is always the same.
func shuffled(ids []string, n int) []string {
	all := slices.Clone(ids)
	slices.Sort(all) // ids are random: this order has nothing to do with the service's
	return all[:n]
}

func TestReadsOfManyTakeFewRequests(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ state, service, most int }{
		{1000, 1000, 60}, // some 20 on an idle machine
		{20, 3000, 6},
		{300, 6000, 2 * 30}, // ten at once by id would take 30
		{1, 3000, 1},
	} {
		t.Run(fmt.Sprintf("%d of %d", c.state, c.service), func(t *testing.T) {
			t.Parallel()
			fake, cl, ids := manyDeployments(t, c.service, fakeserver.Options{Latency: 50 * time.Millisecond})
			readAll(t, cl, shuffled(ids, c.state), func(id string, d *client.Deployment, err error) {
				if err != nil || d.ID != id {
					t.Errorf("read %s: %v, %v", id, d, err)
				}
			})
			if n := len(fake.Requests()); n > c.most {
				t.Errorf("%d requests, want at most %d", n, c.most)
			} else {
				t.Logf("%d requests", n)
			}
			if n := fake.Connections(); n > 12 {
				t.Errorf("%d connections", n)
			}
		})
	}
}

func TestDisableBatchingIsOneRequestEach(t *testing.T) {
	t.Parallel()
	fake, _, ids := manyDeployments(t, 30, fakeserver.Options{})
	server := httptest.NewServer(fake)
	t.Cleanup(server.Close)
	base, _ := url.Parse(server.URL)
	cl := client.New(client.Config{BaseURL: base, DisableBatching: true})
	t.Cleanup(cl.CloseIdleConnections)
	readAll(t, cl, ids, func(_ string, _ *client.Deployment, err error) {
		if err != nil {
			t.Error(err)
		}
	})
	if n := len(fake.Requests()); n != 30 {
		t.Errorf("%d requests, want 30", n)
	}
}

func TestMergedReadOfSomeThatAreGone(t *testing.T) {
	t.Parallel()
	fake, cl, ids := manyDeployments(t, 200, fakeserver.Options{MaxPage: 3})
	gone := map[string]bool{}
	for i, id := range ids {
		if i%7 == 0 {
			fake.Remove(id)
			gone[id] = true
		}
	}
	readAll(t, cl, ids, func(id string, d *client.Deployment, err error) {
		switch {
		case gone[id] && !errors.Is(err, client.ErrNotFound):
			t.Errorf("gone %s: %v, %v", id, d, err)
		case !gone[id] && (err != nil || d.ID != id):
			t.Errorf("read %s: %v, %v", id, d, err)
		}
	})
}

// An answer to many ids that lacks some is not believed at once.
func TestIDsMissingFromAnAnswerAreAskedForAgain(t *testing.T) {
	t.Parallel()
	fake, _, ids := manyDeployments(t, 10, fakeserver.Options{})
	var lacked atomic.Bool
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		// On a busy machine, the first request may be for one alone.
		if strings.Contains(r.URL.Query().Get("deployment_ids"), ",") && lacked.CompareAndSwap(false, true) {
			_, _ = io.WriteString(w, `{"resources": [], "offset": 0}`)
			return
		}
		fake.ServeHTTP(w, r)
	}))
	t.Cleanup(server.Close)
	base, err := url.Parse(server.URL)
	if err != nil {
		t.Fatal(err)
	}
	cl := client.New(client.Config{BaseURL: base})
	t.Cleanup(cl.CloseIdleConnections)
	for !lacked.Load() {
		readAll(t, cl, ids, func(id string, d *client.Deployment, err error) {
			if err != nil || d.ID != id {
				t.Errorf("read %s: %v, %v", id, d, err)
			}
		})
	}
}

func TestErrorOfAMergedReadReachesEveryReader(t *testing.T) {
	t.Parallel()
	fake, cl, ids := manyDeployments(t, 10, fakeserver.Options{})
	fake.Fail(fakeserver.ListDeployments, -1, fakeserver.Fault{Status: 403})
	failed := 0
	var mu sync.Mutex
	readAll(t, cl, ids, func(_ string, _ *client.Deployment, err error) {
		mu.Lock()
		defer mu.Unlock()
		var refused *client.Error
		if errors.As(err, &refused) && refused.Status == 403 {
			failed++
		}
	})
	if failed != 10 {
		t.Errorf("%d reads failed, want all 10", failed)
	}
}

// One id that the service chokes on does not spoil the others.
func TestRefusedIDDoesNotSpoilTheOthers(t *testing.T) {
	t.Parallel()
	_, cl, ids := manyDeployments(t, 9, fakeserver.Options{})
	const bad = "not-an-id"
	readAll(t, cl, append(ids, bad), func(id string, d *client.Deployment, err error) {
		if id == bad {
			return // refused, or found out not to exist
		}
		var refused *client.Error
		if err != nil && !errors.As(err, &refused) || d != nil && d.ID != id {
			t.Errorf("read %s: %v, %v", id, d, err)
		}
	})
	for _, id := range ids {
		if d, err := cl.Deployment(context.Background(), id); err != nil || d.ID != id {
			t.Errorf("read %s afterwards: %v, %v", id, d, err)
		}
	}
}

func TestCancelledReadCancelsNoOther(t *testing.T) {
	t.Parallel()
	fake, cl, ids := manyDeployments(t, 2, fakeserver.Options{})
	hold, reached := make(chan struct{}), make(chan struct{})
	fake.Fail(fakeserver.ListDeployments, 1, fakeserver.Fault{Status: 0, Hold: hold, Reached: func() { close(reached) }})
	ctx, cancel := context.WithCancel(context.Background())
	var group sync.WaitGroup
	group.Go(func() {
		if _, err := cl.Deployment(ctx, ids[0]); !errors.Is(err, context.Canceled) {
			t.Errorf("cancelled read: %v", err)
		}
	})
	group.Go(func() {
		if d, err := cl.Deployment(context.Background(), ids[1]); err != nil || d.ID != ids[1] {
			t.Errorf("other read: %v, %v", d, err)
		}
	})
	<-reached
	cancel()
	close(hold)
	group.Wait()
}

func TestWaitsPollTogether(t *testing.T) {
	t.Parallel()
	fake, cl, ids := manyDeployments(t, 100, fakeserver.Options{})
	polls := map[string]int{}
	var mu sync.Mutex
	var group sync.WaitGroup
	for _, id := range ids {
		group.Go(func() {
			_, err := cl.Wait(context.Background(), &client.Deployment{ID: id}, func(*client.Deployment) bool {
				mu.Lock()
				defer mu.Unlock()
				polls[id]++
				return polls[id] >= 5
			})
			if err != nil {
				t.Error(err)
			}
		})
	}
	group.Wait()
	// 100 waits of 5 readings each: 500 requests if each went alone.
	if n := len(fake.Requests()); n > 60 {
		t.Errorf("%d requests for 500 readings", n)
	} else {
		t.Logf("%d requests for 500 readings", n)
	}
}

// Reads go on while deployments are made, changed and removed: each is right
// as of some moment of the run, and gone is gone.
func TestReadsWhileTheServiceChanges(t *testing.T) {
	t.Parallel()
	fake, cl, ids := manyDeployments(t, 300, fakeserver.Options{})
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
			if _, err := cl.CreateDeployment(context.Background(), client.DeploymentRequest{Name: fmt.Sprintf("new-%d", i), Source: "internal_docker"}); err != nil {
				t.Error(err)
			}
		}
	})
	readAll(t, cl, shuffled(ids, 300), func(id string, d *client.Deployment, err error) {
		if err != nil && !errors.Is(err, client.ErrNotFound) || err == nil && d.ID != id {
			t.Errorf("read %s: %v, %v", id, d, err)
		}
		if errors.Is(err, client.ErrNotFound) && fake.Deployment(id) != nil {
			t.Errorf("%s was taken for gone and is there", id)
		}
	})
	close(stop)
	changes.Wait()
}
