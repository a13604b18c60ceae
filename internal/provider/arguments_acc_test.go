//go:build unix

package provider_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/graphdeploy/terraform-provider-graphdeploy/internal/fakeserver"
)

// TestAccEveryArgument tries each argument of a deployment in one workspace, many in
// each deployment: so few runs of Terraform try them all. Changed in the
// configuration, they are rejected with documented_operations_only; otherwise, one
// request changes the keys that they belong to. Changed in the service, it is drift
// of these arguments.
func TestAccEveryArgument(t *testing.T) {
	t.Parallel()
	except := regexp.MustCompile(`^$`)
	if !terraformIs(t).since(1, 11) {
		except = regexp.MustCompile(`^secrets_wo`)
	}
	a := argumentTest{t, groupedCases(except, 18), // a message lists 30 differences
		newService(t, fakeserver.Options{KeepUnknown: true, DocumentedRulesOnly: true}), newWorkspace(t, buildProvider(t))}
	before := func(c argumentCase) map[string]any { return c.before }
	after := func(c argumentCase) map[string]any { return c.after }

	a.configure("", before)
	a.w.succeed("apply", "-auto-approve")
	had := a.stored()

	a.configure(documentedOnly, after)
	a.s.ResetRequests()
	a.assertRejected("changed in the configuration")
	assertDocumentedOperationsOnly(t, a.s)

	a.configure("", after)
	a.s.ResetRequests()
	a.w.succeed("apply", "-auto-approve")
	a.assertSent(had)
	a.w.succeed("plan", "-detailed-exitcode")

	has := a.stored()
	a.configure(documentedOnly, after)
	a.edit(has, func(c argumentCase, d map[string]any) { c.clear(d) })
	a.assertRejected("cleared in the service")
	a.edit(has, func(c argumentCase, d map[string]any) { restore(d, had[c.name]) })
	a.assertRejected("changed back in the service")

	a.configure("", after)
	a.assertPlanned()
}

type argumentTest struct {
	*testing.T
	cases []argumentCase
	s     *service
	w     *workspace
}

// configure writes a deployment for each case.
func (a argumentTest) configure(setting string, arguments func(argumentCase) map[string]any) {
	a.Helper()
	var text strings.Builder
	text.WriteString(a.s.provider(setting))
	for _, c := range a.cases {
		fmt.Fprintf(&text, "resource %q %q {\n  name = %[2]q\n  source = \"external_docker\"\n", typeName, c.name)
		for name, value := range arguments(c) {
			encoded, err := json.Marshal(value) // a valid expression
			a.w.must(err)
			fmt.Fprintf(&text, "  %s = %s\n", name, encoded)
		}
		text.WriteString("}\n")
	}
	a.w.configure(text.String())
}

// stored is what the service has, by name.
func (a argumentTest) stored() map[string]map[string]any {
	stored := map[string]map[string]any{}
	for _, d := range a.s.Deployments() {
		stored[d["name"].(string)] = d
	}
	return stored
}

// edit changes each deployment outside Terraform, from what it was.
func (a argumentTest) edit(from map[string]map[string]any, change func(argumentCase, map[string]any)) {
	for _, c := range a.cases {
		a.s.Edit(from[c.name]["id"].(string), func(d map[string]any) {
			restore(d, from[c.name])
			change(c, d)
		})
	}
}

// assertRejected plans, which has to fail with one error for each deployment that
// differs, of its argument only.
func (a argumentTest) assertRejected(how string) {
	a.Helper()
	out, status := a.w.run("plan", "-json")
	if status != 1 {
		a.Errorf("%s: the plan ended with %d, want 1", how, status)
	}
	reported := map[string][]string{}
	for line := range strings.Lines(out) {
		var message struct {
			Diagnostic struct{ Severity, Summary, Detail, Address string }
		}
		if json.Unmarshal([]byte(line), &message) != nil || message.Diagnostic.Severity != "error" {
			continue
		}
		d := message.Diagnostic
		name := strings.TrimPrefix(d.Address, typeName+".")
		list, options, _ := strings.Cut(d.Detail, "Options:")
		if d.Summary != "Deployment cannot be updated" || !strings.Contains(list, fmt.Sprintf("Deployment %q", name)) || !regexp.MustCompile(`(?s)`+updateOptions).MatchString(options) {
			a.Errorf("%s: %s: %s: %s", how, name, d.Summary, d.Detail)
		}
		if strings.Contains(d.Detail, "planted") {
			a.Errorf("%s: %s: a value is shown: %s", how, name, d.Detail)
		}
		for _, found := range regexp.MustCompile(`(?m)^  - (.*)$`).FindAllStringSubmatch(list, -1) {
			reported[name] = append(reported[name], found[1])
		}
	}
	for _, c := range a.cases {
		assertWithin(a.T, how+": "+c.name, c.places(false), reported[c.name])
		delete(reported, c.name)
	}
	for name, lines := range reported {
		a.Errorf("%s: %q is reported for %q", how, lines, name)
	}
}

// assertPlanned plans, which has to undo the drift of each deployment, and nothing
// else.
func (a argumentTest) assertPlanned() {
	a.Helper()
	a.w.succeed("plan", "-out=planned")
	type change struct {
		Address string
		Change  struct {
			Actions       []string
			Before, After map[string]any
			AfterUnknown  map[string]any `json:"after_unknown"`
		}
	}
	var plan struct {
		Changes []change `json:"resource_changes"`
		Drift   []change `json:"resource_drift"`
	}
	a.w.must(json.Unmarshal([]byte(a.w.succeed("show", "-json", "planned")), &plan))
	actions, planned, drift := map[string]string{}, map[string][]string{}, map[string][]string{}
	for _, r := range plan.Changes {
		name := strings.TrimPrefix(r.Address, typeName+".")
		actions[name] = strings.Join(r.Change.Actions, " ")
		planned[name] = changedPlaces("", r.Change.Before, r.Change.After, r.Change.AfterUnknown)
	}
	for _, r := range plan.Drift {
		drift[strings.TrimPrefix(r.Address, typeName+".")] = changedPlaces("", r.Change.Before, r.Change.After, nil)
	}
	for _, c := range a.cases {
		want := "update"
		if c.at == "" {
			want = "no-op"
		}
		if actions[c.name] != want {
			a.Errorf("%s is planned as %s, want %s", c.name, actions[c.name], want)
		}
		assertWithin(a.T, "planned for "+c.name, c.places(true), planned[c.name])
		assertWithin(a.T, "drift of "+c.name, c.places(true), drift[c.name], "updated_at", "latest_revision_id", "active_revision_id")
	}
}

// places are where a change is reported, or planned.
func (c argumentCase) places(planned bool) (places []string) {
	for _, part := range c.parts {
		switch {
		case part.at == "":
		case planned && part.argument == "additional_properties":
			places = append(places, part.argument)
		default:
			places = append(places, part.at)
		}
	}
	return places
}

// assertWithin verifies that something is found at every place or in it, and nothing
// elsewhere, with some exceptions.
func assertWithin(t *testing.T, what string, places, found []string, except ...string) {
	t.Helper()
	missing := slices.Clone(places)
	for _, at := range found {
		within := func(place string) bool {
			rest, ok := strings.CutPrefix(at, place)
			return ok && (rest == "" || strings.ContainsAny(rest[:1], ".[: "))
		}
		missing = slices.DeleteFunc(missing, within)
		if !slices.ContainsFunc(places, within) && !slices.Contains(except, at) {
			t.Errorf("%s: %s is not one of %s", what, at, places)
		}
	}
	for _, place := range missing {
		t.Errorf("%s: %s is missing among %s", what, place, found)
	}
}

// changedPlaces are the innermost places where two values differ, except for what
// is unknown.
func changedPlaces(at string, before, after, unknown any) (places []string) {
	if unknown == true || reflect.DeepEqual(before, after) && !hasTrue(unknown) {
		return nil
	}
	beforeMembers, ok1 := before.(map[string]any)
	afterMembers, ok2 := after.(map[string]any)
	if ok1 && ok2 {
		unknown, _ := unknown.(map[string]any)
		names := map[string]bool{}
		for _, members := range []map[string]any{beforeMembers, afterMembers} {
			for name := range members {
				names[name] = true
			}
		}
		for name := range names {
			places = append(places, changedPlaces(strings.TrimPrefix(at+"."+name, "."), beforeMembers[name], afterMembers[name], unknown[name])...)
		}
		return places
	}
	beforeItems, ok1 := before.([]any)
	afterItems, ok2 := after.([]any)
	if ok1 && ok2 && len(beforeItems) == len(afterItems) {
		unknown, _ := unknown.([]any)
		for i := range beforeItems {
			var inner any
			if i < len(unknown) {
				inner = unknown[i]
			}
			places = append(places, changedPlaces(fmt.Sprintf("%s[%d]", at, i), beforeItems[i], afterItems[i], inner)...)
		}
		return places
	}
	return []string{at}
}

func hasTrue(v any) bool {
	encoded, _ := json.Marshal(v)
	return strings.Contains(string(encoded), "true")
}

// assertSent compares the updates that were sent with what the service had, and
// what it has now: one for each case, with the keys that differ.
func (a argumentTest) assertSent(before map[string]map[string]any) {
	a.Helper()
	sent, name := map[string][]any{}, map[string]string{}
	for _, d := range before {
		name[d["id"].(string)] = d["name"].(string)
	}
	for _, r := range a.s.Requests() {
		switch r.Method {
		case http.MethodPatch:
			var body any
			a.w.must(json.Unmarshal(r.Body, &body))
			of := name[filepath.Base(r.Path)]
			sent[of] = append(sent[of], body)
		case http.MethodGet:
		default:
			a.Errorf("sent %s %s", r.Method, r.Path)
		}
	}
	now := a.stored()
	for _, c := range a.cases {
		had, wanted := decoded(before[c.name]), decoded(before[c.name])
		c.change(wanted)
		wanted = decoded(wanted)
		var want []any
		if c.at != "" {
			want = []any{changedKeys(had, wanted)}
		}
		if !reflect.DeepEqual(sent[c.name], want) {
			got, _ := json.Marshal(sent[c.name])
			expected, _ := json.Marshal(want)
			a.Errorf("%s: sent %s, want %s", c.name, got, expected)
		}
		if !satisfies(now[c.name], changedKeys(had, wanted)) {
			a.Errorf("%s: the service has %v, want %v", c.name, now[c.name], changedKeys(had, wanted))
		}
	}
}
