//go:build unix

package provider_test

import (
	"encoding/json"
	"flag"
	"fmt"
	"math/rand/v2"
	"net/http"
	"reflect"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/graphdeploy/terraform-provider-graphdeploy/internal/fakeserver"
)

// soak is how many rounds TestLoad_randomFailuresCreateNoneTwice runs; each takes some seconds.
var soak = flag.Int("soak", 2, "rounds of the soak test")

// lossy are the ways in which a response to a create is lost.
var lossy = []fakeserver.Fault{
	{AfterWork: true, Cut: true}, {AfterWork: true, Status: 502}, {Truncate: true},
	{AfterWork: true, Status: 200, ContentType: "text/html", Body: "<html></html>"},
}

func many(n int, more ...string) string {
	return fmt.Sprintf(`
resource "graphdeploy_deployment" "this" {
  count  = %d
  name   = "app-${count.index}"
  source = "internal_docker"
  %s
}
`, n, strings.Join(more, "\n  "))
}

// 200 creates at once, through a service that loses one response in five: there
// are 200 deployments, all of them in the state, and none twice.
func TestLoad_lostResponsesCreateNoneTwice(t *testing.T) {
	built := buildProvider(t)
	t.Parallel()
	s := newService(t, fakeserver.Options{AllowDuplicateNames: true})
	w := newWorkspace(t, built)
	w.configure(s.provider(), many(200))
	s.FailRandomly(7, 0.2, lossy...)
	out, status := w.run("apply", "-auto-approve", "-parallelism=50")
	s.ClearFaults()
	posts := s.sent(http.MethodPost, "/v2/deployments")
	if status != 0 {
		t.Logf("a second apply is needed:\n%s", regexp.MustCompile(`(?m)^.*Error: .*$`).FindString(out))
		w.succeed("apply", "-auto-approve", "-parallelism=50")
	}
	t.Logf("%d requests, of which %d creates before any second apply; %d connections", len(s.Requests()), posts,
		s.Connections())
	names := s.names()
	if len(names) != 200 || len(s.Deployments()) != 200 {
		t.Errorf("%d deployments of %d names, want 200 of each", len(s.Deployments()), len(names))
	}
	managed := w.managed()
	for _, d := range s.Deployments() {
		if i, known := managed[d["id"].(string)]; !known || i.Status == "tainted" {
			t.Errorf("deployment %s is in the state: %t, with status %q", d["name"], known, i.Status)
		}
	}
	w.succeed("plan", "-detailed-exitcode")
}

// Applies, plans, changes and destroys in turn, through a service that fails in
// every way at random: whatever an apply reports, nothing is created twice, and
// every deployment is in the state, or the next apply names it for an import.
func TestLoad_randomFailuresCreateNoneTwice(t *testing.T) {
	built := buildProvider(t)
	t.Parallel()
	s := newService(t, fakeserver.Options{AllowDuplicateNames: true})
	w := newWorkspace(t, built)
	settings := s.provider(`request_timeout = "2s"`, `max_retries = 2`)
	faults := append([]fakeserver.Fault{
		{Cut: true}, {Status: 500}, {Status: 503, Header: http.Header{"Retry-After": {"0"}}}, {Status: 429,
			Header: http.Header{"Retry-After": {"0"}}},
		{Status: 200, Body: "not JSON"}, {Delay: 20 * time.Millisecond},
	}, lossy...)
	choose := rand.New(rand.NewPCG(1, 2))
	applies, failures, imports := 0, 0, 0
	for round := range *soak {
		s.FailRandomly(int64(round), 0.15, faults...)
		n := 5 + choose.IntN(20)
		// One of the faults accepts a deletion and does not delete.
		w.configure(settings, many(n, `timeouts = { delete = "10s" }`))
		steps := [][]string{{"apply", "-auto-approve"}, {"plan"}}
		if choose.IntN(3) == 0 {
			steps = append(steps, []string{"destroy", "-auto-approve"})
		}
		for _, step := range steps {
			applies++
			if _, status := w.run(step...); status != 0 {
				failures++
			}
			for name, times := range s.names() {
				if times > 1 {
					t.Fatalf("round %d: after %s there are %d deployments named %s", round, step[0], times, name)
				}
			}
		}
		// Without failures, one apply corrects everything; what the state lacks, it
		// names.
		s.ClearFaults()
		out, status := w.run("apply", "-auto-approve")
		for _, found := range regexp.MustCompile(`has a deployment named "(app-(\d+))"`).FindAllStringSubmatch(unwrapped(out),
			-1) {
			imports++
			w.succeed("import", fmt.Sprintf("graphdeploy_deployment.this[%s]", found[2]), found[1])
		}
		if status != 0 {
			w.succeed("apply", "-auto-approve")
		}
		if names, managed := s.names(), w.managed(); len(names) != n || len(managed) != n || len(s.Deployments()) != n {
			t.Fatalf("round %d: %d deployments, %d names, %d in the state; want %d of each", round, len(s.Deployments()),
				len(names), len(managed), n)
		}
		w.succeed("plan", "-detailed-exitcode")
	}
	w.succeed("destroy", "-auto-approve")
	if n := len(s.Deployments()); n != 0 {
		t.Errorf("%d deployments are left", n)
	}
	t.Logf("%d rounds: %d runs under faults, of which %d failed; %d requests; %d imports needed", *soak, applies, failures,
		len(s.Requests()), imports)
}

// What a plan finds does not depend on how often the service failed meanwhile:
// it is the same as without failures, or an error.
func TestAccPlan_failuresDoNotChangeIt(t *testing.T) {
	built := buildProvider(t)
	t.Parallel()
	s := newService(t, fakeserver.Options{})
	w := newWorkspace(t, built)
	w.configure(s.provider(`max_retries = 20`), many(100))
	w.succeed("apply", "-auto-approve", "-parallelism=50")
	// The plan is to find something: changes by the service, and deployments that
	// no longer exist.
	for i, d := range s.Deployments() {
		switch id := d["id"].(string); i % 50 {
		case 3, 4, 5:
			s.Edit(id, func(d map[string]any) { d["image_version"] = fmt.Sprint(i) })
		case 6:
			s.Remove(id)
		}
	}
	// found is what a plan shows, and how many requests it took.
	found := func() (all map[string]any, requests, status int) {
		s.ResetRequests()
		if _, status = w.run("plan", "-out=found.tfplan"); status != 0 {
			return nil, len(s.Requests()), status
		}
		requests = len(s.Requests())
		if err := json.Unmarshal([]byte(w.succeed("show", "-json", "found.tfplan")), &all); err != nil {
			t.Fatal(err)
		}
		delete(all, "timestamp")
		return all, requests, status
	}
	healthy, requests, status := found()
	if status != 0 || len(healthy["resource_drift"].([]any)) != 8 {
		t.Fatalf("the plan with a healthy service ended with %d; drift: %v", status, healthy["resource_drift"])
	}
	transient := []fakeserver.Fault{
		{Cut: true}, {AfterWork: true, Cut: true}, {Truncate: true}, {Status: 408}, {Status: 500}, {Status: 502},
		{Status: 504},
		{Status: 503, Header: http.Header{"Retry-After": {"0"}}}, {Status: 429, Header: http.Header{"Retry-After": {"0"}}},
	}
	t.Logf("healthy: %d requests", requests)
	for seed, faults := range [][]fakeserver.Fault{transient, lossy} {
		s.FailRandomly(int64(seed), 0.4, faults...)
		faulty, requests, status := found()
		s.ClearFaults()
		t.Logf("with faults: %d requests, status %d", requests, status)
		switch {
		case status != 0 && seed == 0:
			t.Errorf("seed %d: the plan failed, although retries help", seed)
		case status != 0: // a response that is not JSON is not requested again
		case !reflect.DeepEqual(faulty, healthy):
			t.Errorf("seed %d: the plan differs from the one without failures", seed)
		}
	}
	if again, _, _ := found(); !reflect.DeepEqual(again, healthy) {
		t.Error("a plan that failed has changed what the next one finds")
	}
}

// What make bench measures in full, here in requests. How many there are depends
// on how close together reads come, and so on the machine; the bound is for a slow
// one.
func TestAccManyDeployments_takeFewRequests(t *testing.T) {
	built := buildProvider(t)
	t.Parallel()
	for _, c := range []struct {
		name              string
		managed, existing int // deployments in the state, and in the service beside them
	}{
		{"most of the service", 150, 0},
		{"a few of a large service", 20, 3000},
		{"many of a large service", 150, 3000},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s := newService(t, fakeserver.Options{})
			w := newWorkspace(t, built)
			// No name contains another: a lookup finds nothing, in one request.
			w.configure(s.provider(),
				strings.Replace(many(c.managed), `"app-${count.index}"`, `format("app-%03d", count.index)`, 1))
			w.succeed("apply", "-auto-approve")
			// The plans look few names up by themselves.
			if all := s.kinds(); all["create"] != c.managed || all["name"] >= 2*c.managed {
				t.Errorf("%d creates took %v, want one POST and about one lookup of the name each", c.managed, all)
			}
			for i := range c.existing {
				s.SeedDeployment(map[string]any{"name": fmt.Sprintf("other-%d", i)})
			}
			s.ResetRequests()
			w.succeed("plan", "-detailed-exitcode")
			all := s.kinds()
			if n := len(s.Requests()); n >= c.managed {
				t.Errorf("the plan of %d took %d requests: %v", c.managed, n, all)
			}
			if n := s.Connections(); n > 10 {
				t.Errorf("%d connections, want at most 10", n)
			}
			t.Logf("the plan took %v", all)
		})
	}
}
