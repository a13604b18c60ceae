//go:build unix

package provider_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"path"
	"path/filepath"
	"reflect"
	"regexp"
	"strings"
	"testing"

	"github.com/graphdeploy/terraform-provider-graphdeploy/internal/fakeserver"
)

// Each argument of a deployment, on its own, with one deployment for each case
// in one workspace: so few runs of Terraform try them all. Changed in the
// configuration, it is refused at its attribute without extended_operations;
// with them, one request changes that argument and no more. Changed in the
// service, that shows at its attribute.
func TestAccEveryArgument(t *testing.T) {
	t.Parallel()
	a := argumentTest{t, argumentCases(terraformIs(t).since(1, 11)), newService(t, fakeserver.Options{Extended: true}), newWorkspace(t, buildWithoutRaceDetector(t))}
	before := func(c argumentCase) map[string]any { return c.before }
	after := func(c argumentCase) map[string]any { return c.after }

	a.configure("", before)
	a.w.succeed("apply", "-auto-approve")
	had := a.stored()

	a.configure("", after)
	a.s.ResetRequests()
	a.assertRefused("changed in the configuration")
	assertDocumentedOperationsOnly(t, a.s)

	a.configure(extended, after)
	a.s.ResetRequests()
	a.w.succeed("apply", "-auto-approve")
	a.assertSent(had)
	a.w.succeed("plan", "-detailed-exitcode")

	has := a.stored()
	a.configure("", after)
	a.edit(has, func(c argumentCase, d map[string]any) { c.clear(d) })
	a.assertRefused("cleared in the service")
	a.edit(has, func(c argumentCase, d map[string]any) { restore(d, had[c.name]) })
	a.assertRefused("changed back in the service")

	a.configure(extended, after)
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
			encoded, err := json.Marshal(value) // which is an expression of the language as well
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

// restore gives a deployment what another has of what can be changed.
func restore(d, from map[string]any) {
	copied := decoded(from)
	for _, name := range []string{"source_config", "source_revision_config", "secrets", "secret_references"} {
		d[name] = copied[name]
	}
}

// edit changes each deployment behind Terraform's back, from what it was.
func (a argumentTest) edit(from map[string]map[string]any, change func(argumentCase, map[string]any)) {
	for _, c := range a.cases {
		a.s.Edit(from[c.name]["id"].(string), func(d map[string]any) {
			restore(d, from[c.name])
			change(c, d)
		})
	}
}

// assertRefused plans, which has to fail at the attribute of each case and
// nowhere else.
func (a argumentTest) assertRefused(how string) {
	a.Helper()
	out, status := a.w.run("plan", "-json")
	if status != 1 {
		a.Errorf("%s: the plan ended with %d, want 1", how, status)
	}
	told := map[string]string{}
	for line := range strings.Lines(out) {
		var message struct {
			Diagnostic struct {
				Severity, Summary, Detail, Address string
				Snippet                            struct{ Code string }
			}
		}
		if json.Unmarshal([]byte(line), &message) != nil || message.Diagnostic.Severity != "error" {
			continue
		}
		d := message.Diagnostic
		name := strings.TrimPrefix(d.Address, typeName+".")
		root, _, _ := strings.Cut(strings.TrimSpace(d.Snippet.Code), " ")
		attribute := root
		if named := regexp.MustCompile(`^(\S+) of deployment "(\S+)"`).FindStringSubmatch(d.Detail); named != nil {
			attribute = named[1]
			if named[2] != name {
				a.Errorf("%s: told of %s: %s", how, name, d.Detail)
			}
			hidden := path.Base(strings.ReplaceAll(attribute, ".", "/")) == "value"
			if strings.Contains(d.Detail, "is not in the service what it is in the configuration") != hidden {
				a.Errorf("%s: %s: the values are shown: %t, want %t: %s", how, name, hidden, !hidden, d.Detail)
			}
		}
		if d.Summary != "The service cannot be changed" || !regexp.MustCompile(`(?s)`+fourWaysOut).MatchString(d.Detail) || strings.Contains(d.Detail, "planted") {
			a.Errorf("%s: %s: %s: %s", how, name, d.Summary, d.Detail)
		}
		if before, twice := told[name]; twice {
			attribute = before + " and " + attribute
		}
		told[name] = attribute
	}
	for _, c := range a.cases {
		if told[c.name] != c.at {
			a.Errorf("%s: %s is told at %q, want %q", how, c.name, told[c.name], c.at)
		}
		delete(told, c.name)
	}
	for name, at := range told {
		a.Errorf("%s: %q is told at %q", how, name, at)
	}
}

// assertPlanned plans, which has to undo the drift of each deployment: at its
// attribute and nowhere else.
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
		assertWithin(a.T, "planned for "+c.name, c.at, planned[c.name])
		assertWithin(a.T, "drift of "+c.name, c.at, drift[c.name], "updated_at", "latest_revision_id", "active_revision_id")
	}
}

// assertWithin wants all places to be the attribute or in it, but for some. No
// attribute means no place.
func assertWithin(t *testing.T, what, attribute string, places []string, but ...string) {
	t.Helper()
	found := 0
	for _, place := range places {
		if place == attribute || strings.HasPrefix(place, attribute+".") || strings.HasPrefix(place, attribute+"[") {
			found++
		} else if !strings.Contains(" "+strings.Join(but, " ")+" ", " "+place+" ") {
			t.Errorf("%s: %s, want %s alone", what, place, attribute)
		}
	}
	if found == 0 && attribute != "" {
		t.Errorf("%s: nothing at %s, but at %s", what, attribute, places)
	}
}

// changedPlaces are the innermost places where two values differ, but for what
// is not known yet.
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

// assertSent compares the changes that were sent with what the service had,
// and what it has to have now: one each, of the parts that differ.
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
			want = []any{changedParts(had, wanted)}
		}
		if !reflect.DeepEqual(sent[c.name], want) {
			got, _ := json.Marshal(sent[c.name])
			expected, _ := json.Marshal(want)
			a.Errorf("%s: sent %s, want %s", c.name, got, expected)
		}
		for part := range changedParts(had, wanted) {
			if !covers(now[c.name][part], wanted[part]) {
				a.Errorf("%s: the service has %v, want %v", c.name, now[c.name][part], wanted[part])
			}
		}
	}
}

func decoded(d map[string]any) (copied map[string]any) {
	encoded, _ := json.Marshal(d)
	_ = json.Unmarshal(encoded, &copied)
	return copied
}

// changedParts are the members of an object of the interface that differ. What
// the interface describes by its members differs by these; a list or a
// free-form object does as a whole.
func changedParts(before, after map[string]any) map[string]any {
	parts := map[string]any{}
	for name, value := range after {
		switch {
		case reflect.DeepEqual(before[name], value):
		case name == "source_config" || name == "source_revision_config" || name == "resource_spec" || name == "listener_config":
			had, _ := before[name].(map[string]any)
			parts[name] = changedParts(had, value.(map[string]any))
		default:
			parts[name] = value
		}
	}
	return parts
}

// covers reports whether has is what wanted is, in objects perhaps with more.
func covers(has, wanted any) bool {
	switch wanted := wanted.(type) {
	case map[string]any:
		members, ok := has.(map[string]any)
		for name, value := range wanted {
			ok = ok && covers(members[name], value)
		}
		return ok
	case []any:
		items, ok := has.([]any)
		ok = ok && len(items) == len(wanted)
		for i := range wanted {
			ok = ok && covers(items[i], wanted[i])
		}
		return ok
	default:
		return jsonEqual(has, wanted)
	}
}
