package provider_test

import (
	"net/http"
	"regexp"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/hashicorp/terraform-plugin-testing/helper/resource"
	"github.com/hashicorp/terraform-plugin-testing/plancheck"
	"github.com/hashicorp/terraform-plugin-testing/terraform"

	"github.com/graphdeploy/terraform-provider-graphdeploy/internal/fakeserver"
)

func TestAccCreateRefusesATakenName(t *testing.T) {
	t.Parallel()
	s := newService(t, fakeserver.Options{})
	id := s.SeedDeployment(map[string]any{"name": "app"})
	s.SeedDeployment(map[string]any{"name": "app-2"}) // name_contains finds it too
	check(t, resource.TestStep{
		Config:      s.provider() + deployment("app", "internal_docker"),
		ExpectError: regexp.MustCompile(`(?s)exists already.*` + id + `.*terraform import ADDRESS ` + id),
	})
	if n := s.sent("POST", "/v2/deployments"); n != 0 {
		t.Errorf("%d creates were sent, want none", n)
	}
}

// Whatever becomes of the answer, there is one deployment and it is in the
// state, or there is none and an error says so.
func TestAccLostAnswerToACreate(t *testing.T) {
	t.Parallel()
	for name, fault := range map[string]fakeserver.Fault{
		"cut after the work":       {AfterWork: true, Cut: true},
		"500 after the work":       {AfterWork: true, Status: 500},
		"502 after the work":       {AfterWork: true, Status: 502},
		"503 after the work":       {AfterWork: true, Status: 503},
		"504 after the work":       {AfterWork: true, Status: 504},
		"truncated answer":         {Truncate: true},
		"HTML answer":              {AfterWork: true, Status: 200, ContentType: "text/html", Body: "<html><h1>Welcome</h1></html>"},
		"429 before the work":      {Status: 429, Header: http.Header{"Retry-After": {"0"}}},
		"503 that asks to wait":    {Status: 503, Header: http.Header{"Retry-After": {"0"}}},
		"503 that worked and asks": {AfterWork: true, Status: 503, Header: http.Header{"Retry-After": {"0"}}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newService(t, fakeserver.Options{AllowDuplicateNames: true})
			s.Fail(fakeserver.CreateDeployment, 1, fault)
			config := s.provider() + deployment("app", "internal_docker")
			check(t, resource.TestStep{Config: config, Check: func(state *terraform.State) error {
				return resource.TestCheckResourceAttr(this, "id", s.stored(t)["id"].(string))(state)
			}}, planIsEmpty(config))
		})
	}
	for name, fault := range map[string]fakeserver.Fault{
		"cut before the work": {Cut: true},
		"500 without work":    {Status: 500},
		"422":                 {Status: 422},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newService(t, fakeserver.Options{})
			s.Fail(fakeserver.CreateDeployment, 1, fault)
			config := s.provider() + deployment("app", "internal_docker")
			check(t,
				resource.TestStep{Config: config, ExpectError: regexp.MustCompile(`Cannot create deployment "app"`)},
				resource.TestStep{Config: config, Check: resource.TestCheckResourceAttrSet(this, "id")},
			)
			s.stored(t)
		})
	}
}

func TestAccWaits(t *testing.T) {
	t.Parallel()
	// Each look at the clock is a second later, so that deployments get ready
	// after some requests, whatever the machine is doing.
	clock := func() func() time.Time {
		var seconds atomic.Int64
		return func() time.Time {
			return time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC).Add(time.Duration(seconds.Add(1)) * time.Second)
		}
	}
	for until, want := range map[string]resource.TestCheckFunc{
		"":        resource.TestCheckResourceAttr(this, "status", "READY"),
		"ready":   resource.TestCheckResourceAttr(this, "status", "READY"),
		"created": resource.TestCheckResourceAttr(this, "status", "AWAITING_DATABASE"),
		"active":  resource.TestCheckResourceAttrPair(this, "active_revision_id", this, "latest_revision_id"),
	} {
		t.Run("until "+until, func(t *testing.T) {
			t.Parallel()
			s := newService(t, fakeserver.Options{Clock: clock(), ReadyAfter: 10 * time.Second, ActiveAfter: 20 * time.Second})
			argument := ""
			if until != "" {
				argument = `wait_until = "` + until + `"`
			}
			config := s.provider() + deployment("app", "internal_docker", argument)
			config, _, _ = strings.Cut(config, "output ") // it would show the new status: rightly
			check(t, resource.TestStep{Config: config, Check: want}, planIsEmpty(config))
		})
	}
	t.Run("time limit is a warning and taints nothing", func(t *testing.T) {
		t.Parallel()
		s := newService(t, fakeserver.Options{ReadyAfter: 1000 * time.Hour})
		config := s.provider() + deployment("app", "internal_docker", `timeouts = { create = "20ms" }`)
		check(t,
			resource.TestStep{Config: config, Check: resource.TestCheckResourceAttr(this, "status", "AWAITING_DATABASE")},
			planIsEmpty(config),
		)
	})
	t.Run("hard gate", func(t *testing.T) {
		t.Parallel()
		s := newService(t, fakeserver.Options{ReadyAfter: 1000 * time.Hour})
		config := s.provider() + deployment("app", "internal_docker", `
  wait_until = "created"
  lifecycle {
    postcondition {
      condition     = self.status == "READY"
      error_message = "Deployment ${self.name} is ${self.status}."
    }
  }`)
		check(t, resource.TestStep{Config: config, ExpectError: regexp.MustCompile(`Deployment app is AWAITING_DATABASE`)})
	})
	t.Run("deleted while waited for", func(t *testing.T) {
		t.Parallel()
		s := newService(t, fakeserver.Options{ReadyAfter: 1000 * time.Hour})
		s.Fail(fakeserver.ListDeployments, 1, fakeserver.Fault{Status: 200, Body: `{"resources": [], "offset": 0}`}) // no such name yet
		s.Fail(fakeserver.ListDeployments, 3, fakeserver.Fault{Reached: func() {
			if all := s.Deployments(); len(all) == 1 {
				s.edit(t, "status", "AWAITING_DELETE")()
			}
		}})
		check(t, resource.TestStep{Config: s.provider() + deployment("app", "internal_docker"), ExpectError: regexp.MustCompile(`AWAITING_DELETE`)})
	})
}

func TestAccReplacement(t *testing.T) {
	t.Parallel()
	s := newService(t, fakeserver.Options{})
	first := s.provider() + deployment("one", "internal_docker")
	renamed := s.provider() + deployment("two", "internal_docker")
	check(t,
		resource.TestStep{Config: first},
		// The old one would still hold the name.
		resource.TestStep{Config: s.provider() + deployment("one", "internal_source"), ExpectError: regexp.MustCompile(`A replacement needs a new name`)},
		resource.TestStep{Config: renamed, ConfigPlanChecks: resource.ConfigPlanChecks{PreApply: []plancheck.PlanCheck{
			plancheck.ExpectResourceAction(this, plancheck.ResourceActionReplace),
		}}},
		planIsEmpty(renamed),
		resource.TestStep{Config: s.provider() + deployment("three", "internal_source"), Check: resource.TestCheckResourceAttr(this, "source", "internal_source")},
	)
	if n := len(s.Deployments()); n != 3 {
		t.Errorf("the service has %d deployments, want all 3: nothing deletes them", n)
	}
	assertDocumentedOperationsOnly(t, s)
}

func TestAccWhatLivesInTerraformAloneChangesFreely(t *testing.T) {
	t.Parallel()
	s := newService(t, fakeserver.Options{})
	before := s.provider() + deployment("app", "internal_docker")
	after := s.provider() + deployment("app", "internal_docker", `
  deletion_policy = "abandon"
  wait_until      = "created"
  timeouts        = { create = "1m", update = "1m", delete = "1m" }`)
	update := resource.ConfigPlanChecks{PreApply: []plancheck.PlanCheck{plancheck.ExpectResourceAction(this, plancheck.ResourceActionUpdate)}}
	check(t,
		resource.TestStep{Config: before},
		resource.TestStep{Config: after, ConfigPlanChecks: update},
		planIsEmpty(after),
		resource.TestStep{Config: before, ConfigPlanChecks: update},
		planIsEmpty(before),
	)
	assertDocumentedOperationsOnly(t, s)
	if n := s.sent("POST", "/v2/deployments"); n != 1 {
		t.Errorf("%d creates were sent, want 1", n)
	}
}
