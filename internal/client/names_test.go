package client

import (
	"context"
	"fmt"
	"net/http"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/graphdeploy/terraform-provider-graphdeploy/internal/fakeserver"
)

// holders looks names up, ten at once as Terraform does, and returns the ids of the holders by name.
func holders(t *testing.T, c *Client, names []string) map[string][]string {
	t.Helper()
	found := map[string][]string{}
	queue := make(chan string)
	var mu sync.Mutex
	var group sync.WaitGroup
	for range 10 {
		group.Go(func() {
			for name := range queue {
				all, err := c.NameHolders(t.Context(), name)
				if err != nil {
					t.Error(err)
				}
				mu.Lock()
				for _, d := range all {
					equal(t, "name", d.Name, name)
					found[name] = append(found[name], d.ID)
				}
				mu.Unlock()
			}
		})
	}
	for _, name := range names {
		queue <- name
	}
	close(queue)
	group.Wait()
	return found
}

func TestNameHolders_requests(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ deployments, names, requests int }{ // two more for each name that is taken
		{250, 1, 2},                         // a page and the empty one
		{250, 2, 4},                         //
		{250, 3, 4 + 4 + 2},                 // and three pages of all, with the empty one
		{0, 100, 2 + 1},                     //
		{3, 3, 4 + 2 + 2},                   //
		{MaxPageSize, 100, 4 + 2 + 98*2},    //
		{MaxPageSize * 19, 50, 4 + 20 + 96}, // the longest list
		{2100, 100, 4 + 20 + 98*2},          // longer than that
		{MaxPageSize * 20, 50, 4 + 20 + 96}, // the end does not show within the bound
	} {
		t.Run(fmt.Sprintf("%d names, %d deployments", test.names, test.deployments), func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				fake, c, ids := manyDeployments(0, fakeserver.Options{Latency: time.Millisecond})
				for i := range test.deployments {
					ids = append(ids, fake.SeedDeployment(map[string]any{"name": fmt.Sprintf("app-%05d", i)}))
				}
				want := map[string][]string{}
				var names []string
				for i := range test.names {
					if i < test.deployments {
						want[fmt.Sprintf("app-%05d", i)] = []string{ids[i]}
					}
					names = append(names, fmt.Sprintf("app-%05d", i))
				}
				equal(t, "holders", holders(t, c, names), want)
				equal(t, "requests", len(fake.Requests()), test.requests)
			})
		})
	}
}

func TestNameHolders_listIsUsedForHalfAMinute(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		fake, c, _ := manyDeployments(3, fakeserver.Options{})
		holders(t, c, []string{"a", "b", "c"})
		id := fake.SeedDeployment(map[string]any{"name": "new"})
		time.Sleep(30 * time.Second)
		equal(t, "half a minute later", holders(t, c, []string{"new"}), map[string][]string{})
		time.Sleep(time.Second)
		equal(t, "later", holders(t, c, []string{"new"}), map[string][]string{"new": {id}})
	})
}

// A name that was taken when the names were listed, and is free now, is free.
func TestNameHolders_takenNameIsLookedUpAgain(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		fake, c, ids := manyDeployments(3, fakeserver.Options{})
		holders(t, c, []string{"a", "b", "c"})
		equal(t, "taken", holders(t, c, []string{"app-0", "app-1"}), map[string][]string{"app-0": ids[:1], "app-1": ids[1:2]})
		fake.Remove(ids[0])
		requests := len(fake.Requests())
		equal(t, "free", holders(t, c, []string{"app-0"}), map[string][]string{})
		equal(t, "requests", len(fake.Requests())-requests, 1)
	})
}

// A list that fails, or whose caller gives up, leaves the others their own lookups.
func TestNameHolders_listThatFails(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		lists := 0
		c := inMemory(func(w http.ResponseWriter, r *http.Request) {
			if !r.URL.Query().Has("name_contains") {
				if lists++; lists == 1 {
					time.Sleep(time.Second)
					cancel()
				}
			}
			respondJSON(pageJSON(0, deploymentJSON(idA, "a"), deploymentJSON("17", "b"), `{"id":"`+idC+`","name":7}`))(w, r)
		})
		holders(t, c, []string{"x", "y"})
		var group sync.WaitGroup
		group.Go(func() {
			_, err := c.NameHolders(ctx, "a")
			equal(t, "error", err, context.Canceled)
		})
		synctest.Wait()
		group.Go(func() {
			ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
			defer cancel()
			_, err := c.NameHolders(ctx, "a")
			equal(t, "error", err, context.DeadlineExceeded)
		})
		equal(t, "another", holders(t, c, []string{"a"}), map[string][]string{"a": {idA}})
		group.Wait()
		equal(t, "lists", lists, 1)
		equal(t, "the next one", holders(t, c, []string{"a"}), map[string][]string{"a": {idA}})
		equal(t, "lists, after one that failed", lists, 1)
		_, err := c.NameHolders(t.Context(), "b")
		if err == nil || asType[*Error](t, err).Cause != CauseMalformed {
			t.Errorf("a holder without a usable id: %v", err)
		}
		time.Sleep(time.Hour)
	})
}
