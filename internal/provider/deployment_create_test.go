package provider_test

import (
	"fmt"
	"net/http"
	"regexp"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/hashicorp/terraform-plugin-testing/helper/resource"

	"github.com/graphdeploy/terraform-provider-graphdeploy/internal/fakeserver"
	"github.com/graphdeploy/terraform-provider-graphdeploy/internal/protocoltest"
)

// assertHidden verifies that no message shows a value.
func assertHidden(t *testing.T, diags protocoltest.Diagnostics, values ...string) {
	t.Helper()
	for _, value := range values {
		if strings.Contains(diags.String(), value) {
			t.Errorf("%q is shown in:\n%s", value, diags)
		}
	}
}

func TestPlan_takenNameIsAWarningWithTheImportBlock(t *testing.T) {
	t.Parallel()
	s := newService(t, fakeserver.Options{})
	id := s.SeedDeployment(map[string]any{"name": "app", "status": "UNUSED"})
	s.SeedDeployment(map[string]any{"name": "app-2"}) // name_contains finds it, too
	s.SeedDeployment(map[string]any{"name": "APP"})
	_, diags := newProtocol(t, s).Plan(typeName, nil, appConfig("internal_docker"))
	protocoltest.Expect(t, diags, protocoltest.Warning("Deployment name already taken", "name", `"app"`, "id "+id,
		"status UNUSED", "import {\n        to = graphdeploy_deployment.NAME\n        id = \""+id+"\"\n      }",
		"moved block", "untaint", "-refresh=false"))
}

func TestPlan_nameOfADeploymentThatIsBeingDeletedSuggestsNoImport(t *testing.T) {
	t.Parallel()
	s := newService(t, fakeserver.Options{})
	id := s.SeedDeployment(map[string]any{"name": "app", "status": "AWAITING_DELETE"})
	_, diags := newProtocol(t, s).Plan(typeName, nil, appConfig("internal_docker"))
	protocoltest.Expect(t, diags, protocoltest.Warning("Deployment name already taken", "name", id,
		"status AWAITING_DELETE", "It is being deleted. Apply again once it no longer exists"))
	assertHidden(t, diags, "import", "moved", "untaint")
}

func TestPlan_failedNameCheckFailsTheCreate(t *testing.T) {
	t.Parallel()
	s := newService(t, fakeserver.Options{PathPrefix: "/api", Credential: "right"})
	wrongPath := &service{url: strings.TrimSuffix(s.url, "/api")}
	_, diags := newProtocol(t, wrongPath, object{"api_key": "right"}).Plan(typeName, nil, appConfig("internal_docker"))
	protocoltest.Expect(t, diags, protocoltest.Error(`Cannot check the name "app"`, "", "GET /v2/deployments",
		"404 Not Found", "Set base_url ("+wrongPath.url+")"))
	_, diags = newProtocol(t, s, object{"api_key": "wrong"}).Plan(typeName, nil, appConfig("internal_docker"))
	protocoltest.Expect(t, diags, protocoltest.Error(`Cannot check the name "app"`, "", "GET /v2/deployments",
		"401 Unauthorized", "api_key", "X-Api-Key"))
}

func TestPlan_failedNameChecksOfManyCreatesTakeFewRequests(t *testing.T) {
	t.Parallel()
	s := newService(t, fakeserver.Options{Credential: "right"})
	p := newProtocol(t, s)
	for i := range 20 {
		_, diags := p.Plan(typeName, nil, object{"name": fmt.Sprintf("app-%d", i), "source": "internal_docker"})
		protocoltest.Expect(t, diags, protocoltest.Error(fmt.Sprintf(`Cannot check the name "app-%d"`, i), "",
			"401 Unauthorized"))
	}
	if n := len(s.Requests()); n != 21 {
		t.Errorf("%d requests, want one for each create and one for the list of names", n)
	}
}

// The service may be created in the same run.
func TestPlan_unreachableServiceIsAWarning(t *testing.T) {
	t.Parallel()
	p := newProtocol(t, &service{url: "http://127.0.0.1:1"}, object{"max_retries": 0})
	plan, diags := p.Plan(typeName, nil, appConfig("internal_docker"))
	protocoltest.Expect(t, diags, protocoltest.Warning("Service is unreachable", "", `"app"`, "connection refused",
		"created in this run"))
	if plan == nil {
		t.Error("there is no plan")
	}
}

func TestPlan_namesOfManyCreatesTakeFewRequests(t *testing.T) {
	t.Parallel()
	s := newService(t, fakeserver.Options{})
	for i := range 150 {
		s.SeedDeployment(map[string]any{"name": fmt.Sprintf("other-%d", i)})
	}
	p := newProtocol(t, s)
	for i := range 60 {
		_, diags := p.Plan(typeName, nil, object{"name": fmt.Sprintf("app-%d", i), "source": "internal_docker"})
		p.ExpectNone(diags)
	}
	_, diags := p.Plan(typeName, nil, object{"name": "other-120", "source": "internal_docker"})
	protocoltest.Expect(t, diags, protocoltest.Warning("Deployment name already taken", "name", "other-120"))
	// Two lookups, a list of 150 with the empty page after it, and another lookup of the name that is taken, with that
	// page.
	if n := len(s.Requests()); n != 7 {
		t.Errorf("%d requests, want 7", n)
	}
}

// A deployment of the state may be about to be deleted.
func TestPlan_nameHeldByADeploymentOfTheStateIsAWarning(t *testing.T) {
	t.Parallel()
	s := newService(t, fakeserver.Options{})
	config := appConfig("internal_docker")
	p := newProtocol(t, s)
	r := p.MustApply(typeName, nil, config)
	p = newProtocol(t, s)
	r, diags := p.Read(r)
	p.ExpectNone(diags)
	// The same name at another address, and the deployment at its own is destroyed.
	create, diags := p.Plan(typeName, nil, config)
	protocoltest.Expect(t, diags, protocoltest.Warning("Deployment name is in use", "name", p.Values(r)["id"].(string),
		"deletes that one first", "moved block"))
	p.MustApply(typeName, r, nil)
	_, diags = p.Apply(create)
	p.ExpectNone(diags)
	s.stored(t)
}

// Where destroying that deployment would not free the name, the create of its replacement fails.
func TestPlan_nameHeldByADeploymentOfTheStateThatIsKeptIsAnError(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		config, settings object
		want             protocoltest.Message
	}{
		"abandon": {object{"deletion_policy": "abandon"}, object{},
			protocoltest.Error("Replacement needs a new name", "", "app")},
		"prevent": {object{"deletion_policy": "prevent"}, object{}, protocoltest.Error("Destroying is prevented", "", "app")},
		"documented operations only": {object{}, object{"documented_operations_only": true},
			protocoltest.Error("Deployment cannot be deleted", "", "app", `deletion_policy = "abandon"`, "removed block",
				"terraform state rm", "-refresh=false")},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newService(t, fakeserver.Options{})
			config := appConfig("internal_docker", c.config)
			r := newProtocol(t, s).MustApply(typeName, nil, config)
			p := newProtocol(t, s, c.settings)
			r, diags := p.Read(r)
			p.ExpectNone(diags)
			_, diags = p.Plan(typeName, nil, config)
			protocoltest.Expect(t, diags, protocoltest.Warning("Deployment name is in use", "name", p.Values(r)["id"].(string)),
				c.want)
			assertHidden(t, diags, "import {")
		})
	}
}

func TestCreate_secondResourceOfANameIsNotToldToImportTheFirst(t *testing.T) {
	t.Parallel()
	s := newService(t, fakeserver.Options{})
	p := newProtocol(t, s)
	first, diags := p.Plan(typeName, nil, appConfig("internal_docker"))
	p.ExpectNone(diags)
	second, diags := p.Plan(typeName, nil, appConfig("internal_docker"))
	p.ExpectNone(diags)
	_, diags = p.Apply(first)
	p.ExpectNone(diags)
	r, diags := p.Apply(second)
	protocoltest.Expect(t, diags, protocoltest.Error("Deployment name already taken", "name",
		"Another resource of this run has created it. Give each resource its own name."))
	assertHidden(t, diags, "import")
	if r != nil {
		t.Error("the second resource is in the state")
	}
	s.stored(t)
}

// The check is repeated at apply, before anything is created.
func TestCreate_nameTakenSinceThePlanIsAnError(t *testing.T) {
	t.Parallel()
	s := newService(t, fakeserver.Options{AllowDuplicateNames: true})
	p := newProtocol(t, s)
	plan, diags := p.Plan(typeName, nil, appConfig("internal_docker"))
	p.ExpectNone(diags)
	id := s.SeedDeployment(map[string]any{"name": "app"})
	_, diags = p.Apply(plan)
	protocoltest.Expect(t, diags, protocoltest.Error("Deployment name already taken", "name", id, "import {"))
	if n := s.sent("POST", "/v2/deployments"); n != 0 {
		t.Errorf("%d creates were sent, want none", n)
	}
}

// Whatever becomes of the response, there is one deployment and it is in the
// state.
func TestCreate_lostResponseIsRecovered(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		fault     fakeserver.Fault
		recovered bool
	}{
		"cut after the work": {fakeserver.Fault{AfterWork: true, Cut: true}, true},
		"500 after the work": {fakeserver.Fault{AfterWork: true, Status: 500}, true},
		"502 after the work": {fakeserver.Fault{AfterWork: true, Status: 502}, true},
		"503 after the work": {fakeserver.Fault{AfterWork: true, Status: 503}, true},
		"504 after the work": {fakeserver.Fault{AfterWork: true, Status: 504}, true},
		"truncated response": {fakeserver.Fault{Truncate: true}, true},
		"HTML response": {fakeserver.Fault{AfterWork: true, Status: 200, ContentType: "text/html",
			Body: "<html><h1>Welcome</h1></html>"}, true},
		"429 before the work":   {fakeserver.Fault{Status: 429, Header: http.Header{"Retry-After": {"0"}}}, false},
		"503 that asks to wait": {fakeserver.Fault{Status: 503, Header: http.Header{"Retry-After": {"0"}}}, false},
		"503 that worked and asks": {fakeserver.Fault{AfterWork: true, Status: 503,
			Header: http.Header{"Retry-After": {"0"}}}, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newService(t, fakeserver.Options{AllowDuplicateNames: true})
			s.Fail(fakeserver.CreateDeployment, 1, c.fault)
			p := newProtocol(t, s)
			config := appConfig("internal_docker", object{"secrets": object{"A": "one"}})
			plan, diags := p.Plan(typeName, nil, config)
			p.ExpectNone(diags)
			r, diags := p.Apply(plan)
			id := s.stored(t)["id"].(string)
			var want []protocoltest.Message
			if c.recovered {
				want = append(want, protocoltest.Warning("Response to the create was lost", "", id, "identical deployment"))
			}
			protocoltest.Expect(t, diags, want...)
			if got := p.Values(r)["id"]; got != id {
				t.Errorf("the state has id %v, want %s", got, id)
			}
			if plan, diags := p.Plan(typeName, r, config); len(diags) > 0 || plan.HasChanges {
				t.Errorf("the next plan is not empty: %s", diags)
			}
		})
	}
}

func TestCreate_lostResponseWithoutADeploymentIsAnError(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		fault fakeserver.Fault
		want  protocoltest.Message
	}{
		"cut before the work": {fakeserver.Fault{Cut: true},
			protocoltest.Error("Outcome of the create is unknown", "", "was probably not created", "POST /v2/deployments")},
		"500 without work": {fakeserver.Fault{Status: 500},
			protocoltest.Error("Outcome of the create is unknown", "", "was probably not created", "500 Internal Server Error")},
		"422": {fakeserver.Fault{Status: 422},
			protocoltest.Error(`Cannot create deployment "app"`, "", "422 Unprocessable Entity")},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newService(t, fakeserver.Options{})
			s.Fail(fakeserver.CreateDeployment, 1, c.fault)
			p := newProtocol(t, s)
			plan, diags := p.Plan(typeName, nil, appConfig("internal_docker"))
			p.ExpectNone(diags)
			r, diags := p.Apply(plan)
			protocoltest.Expect(t, diags, c.want)
			if r != nil || s.sent("POST", "/v2/deployments") != 1 {
				t.Errorf("%d creates were sent, want 1; in the state: %v", s.sent("POST", "/v2/deployments"), r)
			}
			p.MustApply(typeName, nil, appConfig("internal_docker"))
			s.stored(t)
		})
	}
}

// A deployment of somebody else that appears meanwhile is never taken.
func TestCreate_lostResponseAdoptsNoDeploymentOfSomebodyElse(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		theirs map[string]any
		header http.Header // of lists
		reason string
	}{
		"created in 2020": {map[string]any{"created_at": "2020-01-01T00:00:00Z"}, nil,
			"it was created before the request, at 2020-01-01T00:00:00Z"},
		"of the future": {map[string]any{"created_at": "2999-01-01T00:00:00Z"}, nil,
			"its created_at is in the future: 2999-01-01T00:00:00Z"},
		"other source": {map[string]any{"source": "internal_source"}, nil, `its source is "internal_source"`},
		"other secrets": {map[string]any{"secrets": []any{map[string]any{"name": "B", "value": "x"}}}, nil,
			"it does not have everything that was requested"},
		"no Date header": {nil, http.Header{"Date": nil}, "the service sends no Date header"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newService(t, fakeserver.Options{})
			s.Fail(fakeserver.ListDeployments, -1, fakeserver.Fault{Header: c.header})
			p := newProtocol(t, s)
			p.MustApply(typeName, nil, object{"name": "first", "source": "internal_docker"})
			theirs := map[string]any{"name": "app", "source": "internal_docker",
				"secrets": []any{map[string]any{"name": "A", "value": "one"}}}
			for member, value := range c.theirs {
				theirs[member] = value
			}
			var id string
			s.Fail(fakeserver.CreateDeployment, 1, fakeserver.Fault{Cut: true, Reached: func() {
				id = s.SeedDeployment(theirs)
			}})
			plan, diags := p.Plan(typeName, nil, appConfig("internal_docker", object{"secrets": object{"A": "one"}}))
			p.ExpectNone(diags)
			r, diags := p.Apply(plan)
			protocoltest.Expect(t, diags, protocoltest.Error("Outcome of the create is unknown", "", id, c.reason,
				"terraform import graphdeploy_deployment.NAME "+id))
			if r != nil {
				t.Error("the deployment is in the state")
			}
		})
	}
}

// clock is a second later each time: deployments become ready after some
// requests, whatever the machine does.
func clock() func() time.Time {
	var seconds atomic.Int64
	return func() time.Time {
		return time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC).Add(time.Duration(seconds.Add(1)) * time.Second)
	}
}

func TestCreate_waitUntil(t *testing.T) {
	t.Parallel()
	for until, c := range map[string]struct {
		status string
		active bool
	}{"": {"READY", true}, "ready": {"READY", false}, "created": {"AWAITING_DATABASE", false}, "active": {"READY", true}} {
		t.Run("until "+until, func(t *testing.T) {
			t.Parallel()
			s := newService(t, fakeserver.Options{Clock: clock(), ReadyAfter: 10 * time.Second, ActiveAfter: 60 * time.Second})
			p := newProtocol(t, s)
			config := appConfig("internal_docker")
			if until != "" {
				config["wait_until"] = until
			}
			r := p.MustApply(typeName, nil, config)
			values := p.Values(r)
			if active := values["active_revision_id"] == values["latest_revision_id"]; values["status"] != c.status ||
				active != c.active {
				t.Errorf("status %v, active %t; want %s, %t", values["status"], active, c.status, c.active)
			}
			plan, diags := p.Plan(typeName, r, config)
			if plan.HasChanges {
				t.Error("the next plan is not empty")
			}
			var pending []protocoltest.Message
			if !c.active {
				pending = append(pending, protocoltest.Warning("Revision does not run", "", values["latest_revision_id"].(string),
					"No revision is active"))
			}
			protocoltest.Expect(t, diags, pending...)
		})
	}
}

func TestCreate_waitUntilCreatedDoesNotRead(t *testing.T) {
	t.Parallel()
	s := newService(t, fakeserver.Options{ReadyAfter: 1000 * time.Hour})
	p := newProtocol(t, s)
	plan, diags := p.Plan(typeName, nil, appConfig("internal_docker", object{"wait_until": "created"}))
	p.ExpectNone(diags)
	s.ResetRequests()
	s.Fail(fakeserver.ListDeployments, 1, fakeserver.Fault{Reached: func() {}}) // the lookup of the name
	s.Fail(fakeserver.ListDeployments, -1, fakeserver.Fault{Status: 500})
	r, diags := p.Apply(plan)
	p.ExpectNone(diags)
	if r == nil || len(s.Requests()) != 2 {
		t.Errorf("%d requests, want the lookup of the name and the create", len(s.Requests()))
	}
}

func TestCreate_waitUntilActiveComparesIDsCaseInsensitively(t *testing.T) {
	t.Parallel()
	s := newService(t, fakeserver.Options{ReadyAfter: 1000 * time.Hour, ActiveAfter: 1000 * time.Hour})
	p := newProtocol(t, s)
	config := appConfig("internal_docker", object{"wait_until": "active", "timeouts": object{"create": "1h"}})
	plan, diags := p.Plan(typeName, nil, config)
	p.ExpectNone(diags)
	s.Fail(fakeserver.ListDeployments, 2, fakeserver.Fault{Reached: func() {
		for _, d := range s.Deployments() {
			s.Edit(d["id"].(string), func(d map[string]any) {
				d["status"], d["active_revision_id"] = "READY", strings.ToUpper(d["latest_revision_id"].(string))
			})
		}
	}})
	r, diags := p.Apply(plan)
	p.ExpectNone(diags)
	r, diags = p.Read(r)
	p.ExpectNone(diags)
	if plan, diags := p.Plan(typeName, r, config); len(diags) > 0 || plan.HasChanges {
		t.Errorf("the next plan is not empty: %s", diags)
	}
}

// An error would taint the resource, and the next apply would replace a
// deployment that is merely slow.
func TestCreate_waitThatReachesItsLimitIsAWarning(t *testing.T) {
	t.Parallel()
	s := newService(t, fakeserver.Options{ReadyAfter: 1000 * time.Hour})
	p := newProtocol(t, s)
	config := appConfig("internal_docker", object{"timeouts": object{"create": "20ms"}})
	plan, diags := p.Plan(typeName, nil, config)
	p.ExpectNone(diags)
	r, diags := p.Apply(plan)
	protocoltest.Expect(t, diags,
		protocoltest.Warning("Deployment is not ready yet", "", s.stored(t)["id"].(string), "20ms",
			"AWAITING_DATABASE", "timeouts.create"))
	if plan, diags := p.Plan(typeName, r, config); len(diags) > 0 || plan.HasChanges {
		t.Errorf("the next plan is not empty: %s", diags)
	}
}

func TestCreate_deploymentDeletedWhileWaitingIsAnError(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		change func(s *service, id string)
		want   protocoltest.Message
	}{
		"being deleted": {func(s *service, id string) {
			s.Edit(id, func(d map[string]any) { d["status"] = "AWAITING_DELETE" })
		}, protocoltest.Error("Deployment is being deleted", "", "app", "AWAITING_DELETE")},
		"deleted": {func(s *service, id string) {
			s.Remove(id)
		}, protocoltest.Error("Deployment no longer exists", "", "app", "disappeared")},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newService(t, fakeserver.Options{ReadyAfter: 1000 * time.Hour})
			p := newProtocol(t, s)
			plan, diags := p.Plan(typeName, nil, appConfig("internal_docker"))
			p.ExpectNone(diags)
			s.Fail(fakeserver.ListDeployments, 2, fakeserver.Fault{Reached: func() {}}) // the lookup of the name, the first read
			s.Fail(fakeserver.ListDeployments, 1, fakeserver.Fault{Reached: func() {
				c.change(s, s.Deployments()[0]["id"].(string))
			}})
			_, diags = p.Apply(plan)
			protocoltest.Expect(t, diags, c.want)
		})
	}
}

// Values of free text, maps, lists and JSON may be those of sensitive variables.
func TestUpdate_valuesThatMayBeSensitiveAreNotShown(t *testing.T) {
	t.Parallel()
	config := func(value string) object {
		return appConfig("internal_docker", object{"source_config": object{"install_command": value, "resource_spec": object{
			"cpu": 1, "labels": object{"a": value}, "service_account_name": value,
			"sidecars": list{object{"name": "p", "image": "i", "args": list{value},
				"security_context": fmt.Sprintf(`{"a":%q}`, value), "env": list{object{"name": "E", "value": value}}}},
		}}})
	}
	places := []string{"source_config.install_command", "labels", "service_account_name", "args",
		"security_context", "env"}
	s := newService(t, fakeserver.Options{IgnorePatch: true})
	r := newProtocol(t, s).MustApply(typeName, nil, config("planted-old"))
	p := newProtocol(t, s, object{"documented_operations_only": true})
	_, diags := p.Plan(typeName, r, config("planted-new"))
	protocoltest.Expect(t, diags, protocoltest.Error("Deployment cannot be updated", "", places...))
	assertHidden(t, diags, "planted-old", "planted-new")

	p = newProtocol(t, s)
	plan, diags := p.Plan(typeName, r, config("planted-new"))
	p.ExpectNone(diags)
	_, diags = p.Apply(plan)
	if len(diags) != 1 || !diags.HasError() {
		t.Errorf("want one error, got:\n%s", diags)
	}
	for _, place := range places {
		if !strings.Contains(diags.String(), place) {
			t.Errorf("%s is not named in:\n%s", place, diags)
		}
	}
	assertHidden(t, diags, "planted-old", "planted-new")
}

func TestAccPostcondition_isAHardGate(t *testing.T) {
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
}

func TestStateOnlyArguments_changeWithoutARequest(t *testing.T) {
	t.Parallel()
	const set = `{"deletion_policy": "abandon", "wait_until": "created", "timeouts": {"create": "1m", "update": "1m", ` +
		`"delete": "1m"}}`
	m := create(t, fakeserver.Options{}, `{}`)
	for _, config := range []string{set, `{}`} {
		before := m.i.state
		m.apply(onlyDocumented, config, "")
		if m.i.state.Equal(before) {
			t.Errorf("%s changes nothing in the state", config)
		}
		m.expectNoop(onlyDocumented, config)
	}
	m.expectSent("null")
}

// What the response to a create is about is not taken into the state if it is another deployment.
func TestCreate_responseAboutAnotherDeployment(t *testing.T) {
	t.Parallel()
	s := newService(t, fakeserver.Options{})
	id := s.SeedDeployment(map[string]any{"name": "other", "source": "internal_docker"})
	p := newProtocol(t, s)
	plan, diags := p.Plan(typeName, nil, appConfig("internal_docker"))
	p.ExpectNone(diags)
	s.Fail(fakeserver.CreateDeployment, 1, fakeserver.Fault{Status: http.StatusOK, Body: asJSON(t, s.stored(t))})
	r, diags := p.Apply(plan)
	protocoltest.Expect(t, diags, protocoltest.Error("Outcome of the create is unknown", "", `"other"`, id,
		"another name"))
	if r != nil {
		t.Errorf("the state has %v", p.Values(r))
	}
}

// The response may be about another deployment although it has the requested name: what is listed under its id counts.
func TestCreate_responseWithTheIDOfAnotherDeployment(t *testing.T) {
	t.Parallel()
	s := newService(t, fakeserver.Options{})
	s.SeedDeployment(map[string]any{"name": "other", "source": "internal_docker"})
	p := newProtocol(t, s)
	plan, diags := p.Plan(typeName, nil, appConfig("internal_docker"))
	p.ExpectNone(diags)
	claimed := strings.ReplaceAll(asJSON(t, s.stored(t)), `"other"`, `"app"`)
	s.Fail(fakeserver.CreateDeployment, 1, fakeserver.Fault{Status: http.StatusOK, Body: claimed})
	r, diags := p.Apply(plan)
	protocoltest.Expect(t, diags, protocoltest.Error("Outcome of the create is unknown", "", `"app"`, `"other"`))
	if r != nil {
		t.Errorf("the state has %v", p.Values(r))
	}
}
