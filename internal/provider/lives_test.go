package provider_test

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"net/http"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/graphdeploy/terraform-provider-graphdeploy/internal/fakeserver"
)

// A life is a random sequence of what users, other clients and the service do with
// a deployment, from its create to its end. After each step it verifies what the
// provider promises:
//   - after a successful apply, the next plan is empty and no output changes
//   - the service has what the configuration sets, and no longer what was removed
//   - what the plan did not show is as it was, whatever others have changed
//   - there is one deployment, and it is in the state
type life struct {
	*testing.T
	random  *rand.Rand
	options fakeserver.Options
	s       *service
	player
	source string
	shape  *shape
	log    []string

	name    string
	config  map[string]any
	ignored []string // paths of attributes in ignore_changes
	owned   leaves   // what the last apply that changed the resource set
}

// A player runs Terraform for a life, or does what it would do.
type player interface {
	// plan refreshes and plans, and keeps the plan for applySaved.
	plan(name, source string, arguments map[string]any, ignored []string) outcomeOfRun
	// apply refreshes, plans and applies.
	apply(name, source string, arguments map[string]any, ignored []string) outcomeOfRun
	applySaved() outcomeOfRun
	destroy() outcomeOfRun
	forget()              // removes the deployment from the state
	importID(id string)   // imports it
	managedIDs() []string // the deployments in the state
}

type outcomeOfRun struct {
	failed bool
	noop   bool // nothing is, or was, to be changed
	clean  bool // neither are outputs
	text   string
}

// playLife plays the life of a seed.
func playLife(t *testing.T, seed uint64, steps int, start func(*testing.T, *service) player) {
	t.Helper()
	r := rand.New(rand.NewPCG(seed, 0))
	l := &life{T: t, random: r, owned: leaves{}, name: "app",
		source: pick(r, []string{"external_docker", "external_docker", "codehost"})}
	l.shape = sourceShapes[l.source]
	l.options = fakeserver.Options{KeepUnknown: true, Defaults: map[string]any{}, NullForEmpty: r.IntN(4) == 0,
		OmitEmpty: r.IntN(4) == 0, IntegersAsFloats: r.IntN(4) == 0,
		Patch: pick(r, []fakeserver.PatchKind{fakeserver.PatchMergeSpec, fakeserver.PatchMergeDeep,
			fakeserver.PatchReplaceKeys})}
	l.s = newService(t, l.options)
	l.player = start(t, l.s)
	bystander := l.s.SeedDeployment(map[string]any{"name": "bystander"})
	before := decoded(l.s.Deployment(bystander))
	defer func() {
		if t.Failed() {
			t.Logf("SEED=%d, %s\n%s", seed, fmt.Sprintf("%+v", l.options), strings.Join(l.log, "\n"))
		}
	}()
	l.create()
	for range steps {
		if t.Failed() {
			return
		}
		pick(r, []func(){l.edit, l.edit, l.additions, l.additions, l.drift, l.ignore, l.savedPlan, l.failure, l.importAgain,
			l.rename})()
	}
	if t.Failed() {
		return
	}
	l.note("destroy")
	if out := l.destroy(); out.failed || len(l.managedIDs()) > 0 {
		l.wrong("the destroy failed, or left the deployment in the state: %s", out.text)
	}
	if now := l.s.Deployments(); len(now) != 1 || !reflect.DeepEqual(decoded(now[0]), before) {
		l.wrong("the service has %s, want the bystander only, as it was", inJSON(now))
	}
}

// wrong reports that a promise was broken.
func (l *life) wrong(format string, args ...any) {
	l.Helper()
	l.note("broken: "+format, args...)
	l.Fail()
}

func (l *life) note(format string, args ...any) {
	l.log = append(l.log, fmt.Sprintf("- "+format, args...))
}

// stored is the deployment in the service.
func (l *life) stored() map[string]any {
	l.Helper()
	for _, d := range l.s.Deployments() {
		if d["name"] == l.name {
			return d
		}
	}
	return nil
}

// live is what the service has, but for what it chooses itself.
func (l *life) live() leaves {
	all := leaves{}
	all.addWire(l.shape, "", l.stored())
	delete(all, "source_revision_config.!repo_commit_sha")
	delete(all, "source_revision_config.!image_uri") // built for codehost
	return all
}

func (l *life) wanted() leaves {
	all := leaves{}
	all.add(l.shape, "", l.config)
	return all
}

func (l *life) arguments() map[string]any {
	m := asMap(l.shape.arguments(l.config))
	return m
}

func (l *life) create() {
	l.Helper()
	l.config = l.shape.chooseObject(l.random, nil)
	l.note("create %s with %s, while the service fails with %s", l.source, inJSON(l.config), l.failCreate())
	out := l.apply(l.name, l.source, l.arguments(), nil)
	l.verify(out, nil, nil)
}

// failCreate has the next create fail sometimes, in a way that the provider recovers
// from.
func (l *life) failCreate() string {
	if l.random.IntN(3) > 0 {
		return "nothing"
	}
	fault := pick(l.random, []fakeserver.Fault{
		{AfterWork: true, Cut: true}, {AfterWork: true, Status: http.StatusBadGateway}, {Truncate: true},
		{Status: http.StatusTooManyRequests, Header: http.Header{"Retry-After": {"0"}}},
		{Status: http.StatusServiceUnavailable, Header: http.Header{"Retry-After": {"0"}}},
	})
	l.s.Fail(fakeserver.CreateDeployment, 1, fault)
	return fmt.Sprintf("%+v", fault)
}

// edit changes the configuration, and applies it.
func (l *life) edit() {
	l.Helper()
	l.change()
	l.note("apply %s, ignoring %s", inJSON(l.config), l.ignored)
	before := l.live()
	l.verify(l.apply(l.name, l.source, l.arguments(), l.ignored), before, nil)
}

func (l *life) change() {
	for range 1 + l.random.IntN(3) {
		l.config = l.shape.editObject(l.random, maps.Clone(l.config))
	}
	l.ignored = slices.DeleteFunc(l.ignored, func(at string) bool { return !l.hasParents(at) })
}

// hasParents reports whether the configuration has the objects that an attribute
// is in: Terraform ignores its changes only then.
func (l *life) hasParents(at string) bool {
	steps := strings.Split(at, ".")
	m := l.config
	for _, step := range steps[:len(steps)-1] {
		if m = asMap(m[step]); m == nil {
			return false
		}
	}
	return true
}

// additions are what others add beside what the configuration sets: no plan shows
// it, and it stays.
func (l *life) additions() {
	l.Helper()
	added := l.addSomething()
	l.note("others add %s", added)
	if out := l.plan(l.name, l.source, l.arguments(), l.ignored); out.failed || !out.noop {
		l.wrong("after others have added %s, the plan is not empty: %s", added, out.text)
	}
}

func (l *life) addSomething() (added []string) {
	r, wanted := l.random, l.wanted()
	before := l.live()
	l.s.Edit(l.stored()["id"].(string), func(d map[string]any) {
		spec := asMap(asMap(d["source_config"])["resource_spec"])
		if spec != nil && r.IntN(2) == 0 {
			name := pick(r, []string{"labels", "annotations"})
			if spec[name] == nil {
				spec[name] = map[string]any{}
			}
			spec[name].(map[string]any)["theirs"+fmt.Sprint(r.IntN(3))] = pick(r, mapValues)
		}
		if r.IntN(2) == 0 {
			plantSome(r, d["source_config"])
		}
		for _, at := range []string{"source_config.install_command", "source_config.resource_spec.max_scale",
			"source_config.resource_spec.sidecars"} {
			f, omitted := l.shape.at(at), !slices.ContainsFunc(slices.Collect(maps.Keys(wanted)), func(p string) bool {
				return within(p, at)
			})
			owned := slices.ContainsFunc(slices.Collect(maps.Keys(l.owned)), func(p string) bool { return within(p, at) })
			object, name := parentOf(d, at)
			if f != nil && omitted && !owned && object != nil && r.IntN(3) == 0 {
				object[name] = f.toWire(f.choose(r))
			}
		}
	})
	now := l.live()
	for _, at := range slices.Sorted(maps.Keys(now)) {
		if !reflect.DeepEqual(now[at], before[at]) {
			added = append(added, at)
		}
	}
	return added
}

// plantSome adds members that the API does not document to some objects.
func plantSome(r *rand.Rand, tree any) {
	switch tree := tree.(type) {
	case map[string]any:
		for _, name := range slices.Sorted(maps.Keys(tree)) {
			plantSome(r, tree[name])
		}
		if r.IntN(3) == 0 {
			tree[plantedName] = pick(r, mapValues)
		}
	case []any:
		for _, item := range tree {
			plantSome(r, item)
		}
	}
}

// drift is a change by others to what the configuration sets: a plan shows it, and
// an apply restores it, unless it is ignored.
func (l *life) drift() {
	l.Helper()
	at := l.driftSomewhere(l.ownedSettings())
	if at == "" {
		return
	}
	ignored := l.ignores(at)
	before := l.live()
	l.note("others change %s to %v; ignored: %t", at, before[at], ignored)
	out := l.plan(l.name, l.source, l.arguments(), l.ignored)
	if out.failed || out.noop != ignored {
		l.wrong("after others have changed %s, the plan is empty: %t, failed: %t; %s", at, out.noop, out.failed, out.text)
	}
	if ignored {
		return
	}
	l.verify(l.apply(l.name, l.source, l.arguments(), l.ignored), before, nil)
}

// ownedSettings are the places of what the configuration sets, and the last apply
// set so.
func (l *life) ownedSettings() (places []string) {
	for at, value := range l.wanted() {
		if reflect.DeepEqual(l.owned[at], value) && value != "item" && value != "list" && !strings.HasPrefix(at, "secrets") {
			places = append(places, at)
		}
	}
	slices.Sort(places)
	return places
}

// driftSomewhere changes one of the leaves in the service, and returns which;
// empty if it cannot.
func (l *life) driftSomewhere(places []string) string {
	var able []string
	d := l.stored()
	for _, at := range places {
		if object, name := parentOf(d, at); object != nil && object[name] != nil &&
			!slices.Contains([]string{"repo_url", "listener_id"}, name) {
			able = append(able, at)
		}
	}
	if len(able) == 0 {
		return ""
	}
	at := pick(l.random, able)
	l.s.Edit(d["id"].(string), func(d map[string]any) {
		object, name := parentOf(d, at)
		switch v := object[name].(type) {
		case string:
			object[name] = v + "x"
		case bool:
			object[name] = !v
		default:
			object[name] = 7
		}
	})
	return at
}

// parentOf is the object that has the value of a simple path, one without items,
// and its name there.
func parentOf(d map[string]any, at string) (object map[string]any, name string) {
	if strings.ContainsAny(at, "[#") {
		return nil, ""
	}
	steps := strings.Split(at, ".")
	for _, step := range steps[:len(steps)-1] {
		if d = asMap(d[step]); d == nil {
			return nil, ""
		}
	}
	return d, steps[len(steps)-1]
}

func (l *life) ignores(at string) bool {
	return slices.ContainsFunc(l.ignored, func(ignored string) bool {
		return within(at, ignored) && l.hasParents(ignored)
	})
}

// ignore adds an attribute to ignore_changes, or removes one, and applies that.
func (l *life) ignore() {
	l.Helper()
	if len(l.ignored) > 0 && l.random.IntN(2) == 0 {
		l.ignored = l.ignored[1:]
	} else if places := l.ownedSettings(); len(places) > 0 {
		at, _, _ := strings.Cut(pick(l.random, places), "[")
		at, _, _ = strings.Cut(at, "#")
		l.ignored = append(slices.Clone(l.ignored), at)
	}
	l.edit()
}

// savedPlan saves a plan, lets others work, and applies the plan then.
func (l *life) savedPlan() {
	l.Helper()
	old := l.config
	l.change()
	l.note("save a plan of %s, ignoring %s", inJSON(l.config), l.ignored)
	if out := l.plan(l.name, l.source, l.arguments(), l.ignored); out.failed {
		l.wrong("the plan failed: %s", out.text)
		return
	}
	had := leaves{}
	had.add(l.shape, "", old)
	var unplanned []string
	wanted := l.wanted()
	for _, at := range l.ownedSettings() {
		if reflect.DeepEqual(had[at], wanted[at]) && l.random.IntN(2) == 0 {
			unplanned = append(unplanned, at)
		}
	}
	if at := l.driftSomewhere(unplanned); at != "" {
		unplanned = []string{at}
	} else {
		unplanned = nil
	}
	before := l.live()
	l.note("others change %s; apply the saved plan", unplanned)
	out := l.applySaved()
	l.verify(out, before, unplanned)
	if len(unplanned) > 0 && !l.Failed() {
		l.note("apply again")
		before := l.live()
		l.verify(l.apply(l.name, l.source, l.arguments(), l.ignored), before, nil)
	}
}

// failure applies a change while the service fails, and then again.
func (l *life) failure() {
	l.Helper()
	l.change()
	fault := pick(l.random, []fakeserver.Fault{{Status: http.StatusInternalServerError}, {Cut: true},
		{AfterWork: true, Cut: true},
		{AfterWork: true, Status: http.StatusBadGateway},
		{Status: http.StatusTooManyRequests, Header: http.Header{"Retry-After": {"0"}}},
		{Status: http.StatusConflict}, {AfterWork: true, Status: http.StatusNoContent}, {Truncate: true}})
	before := l.live()
	l.s.Fail(fakeserver.UpdateDeployment, 1, fault)
	l.note("apply %s, ignoring %s, while the service fails with %+v", inJSON(l.config), l.ignored, fault)
	out := l.apply(l.name, l.source, l.arguments(), l.ignored)
	l.s.ClearFaults()
	if !out.failed {
		l.verify(out, before, nil)
		return
	}
	l.note("it failed: apply again")
	between := l.live()
	for at, value := range before {
		// The change either took or did not; nothing else happened.
		if _, ours := l.owned[at]; !ours && l.wanted()[at] == nil && !reflect.DeepEqual(between[at], value) &&
			!l.removedWith(at, before) {
			l.wrong("an apply that failed changed %s from %v to %v", at, value, between[at])
		}
	}
	l.verify(l.apply(l.name, l.source, l.arguments(), l.ignored), between, nil)
}

// importAgain removes the deployment from the state, and imports it: the
// configuration matches, and nothing is owned before an apply.
func (l *life) importAgain() {
	l.Helper()
	l.note("import")
	before := l.live()
	id := l.stored()["id"].(string)
	l.forget()
	l.importID(id)
	l.owned = leaves{}
	l.verify(l.apply(l.name, l.source, l.arguments(), l.ignored), before, nil)
	if now := l.live(); !reflect.DeepEqual(now, before) {
		for at := range l.differences(before, now) {
			l.wrong("an import and an apply of the same configuration changed %s from %v to %v", at, before[at], now[at])
		}
	}
}

func (l *life) differences(a, b leaves) map[string]bool {
	found := map[string]bool{}
	for at, value := range a {
		found[at] = !reflect.DeepEqual(value, b[at])
	}
	for at, value := range b {
		found[at] = !reflect.DeepEqual(value, a[at])
	}
	maps.DeleteFunc(found, func(_ string, differs bool) bool { return !differs })
	return found
}

// rename replaces the deployment.
func (l *life) rename() {
	l.Helper()
	old := l.stored()["id"].(string)
	l.name += "x"
	l.note("rename to %s, while the service fails with %s", l.name, l.failCreate())
	out := l.apply(l.name, l.source, l.arguments(), l.ignored)
	l.owned = leaves{}
	l.verify(out, nil, nil)
	if l.s.Deployment(old) != nil {
		l.wrong("the old deployment was not deleted")
	}
}

// verify verifies what holds after a successful apply. Before is what the service
// had when the apply began, nil for a create; unplanned is what others had changed
// after the plan.
func (l *life) verify(out outcomeOfRun, before leaves, unplanned []string) {
	l.Helper()
	if out.failed {
		l.wrong("the apply failed: %s", out.text)
		return
	}
	d := l.stored()
	if all := l.s.Deployments(); len(all) != 2 || d == nil || !slices.Equal(l.managedIDs(), []string{d["id"].(string)}) {
		l.wrong("%d deployments, want 2; the state has %s", len(all), l.managedIDs())
		return
	}
	now, wanted := l.live(), l.wanted()
	for at, value := range wanted {
		expected := value
		if before != nil && (l.ignores(at) || slices.Contains(unplanned, at)) {
			expected = before[at]
		}
		if value != "list" && !reflect.DeepEqual(now[at], expected) {
			l.wrong("%s is %v in the service, want %v", at, now[at], expected)
		}
	}
	for at, value := range now {
		if value == "item" && wanted[at] == nil && wanted[at[:strings.LastIndex(at, "[")]] == "list" && !l.ignores(at) {
			l.wrong("%s is in the service, but not in the configuration", at)
		}
	}
	if before != nil {
		l.verifyRest(before, now, wanted, out)
	}
	if !out.noop {
		l.owned = wanted
	}
	if len(unplanned) > 0 {
		return
	}
	// what is ignored follows the service
	if next := l.plan(l.name, l.source, l.arguments(), l.ignored); !next.clean && !(next.noop && len(l.ignored) > 0) {
		l.wrong("the next plan is not empty: %s", next.text)
	}
}

// verifyRest verifies what the configuration does not set: what it has set is
// deleted, the rest is as it was.
func (l *life) verifyRest(before, now, wanted leaves, out outcomeOfRun) {
	l.Helper()
	for at, value := range l.owned {
		_, stays := wanted[at]
		if value == "list" || stays || out.noop || l.ignores(at) || strings.HasPrefix(at, "secrets") &&
			l.config["secrets"] == nil {
			continue
		}
		if chosen := []string{"source_config.custom_url", "source_revision_config.image_uri"}; slices.Contains(chosen, at) &&
			!reflect.DeepEqual(before[at], value) {
			continue // what the service may choose is its own once it has another value
		}
		if now[at] != nil && !wanted.inside(at) {
			l.wrong("%s was removed, but the service still has %v", at, now[at])
		}
	}
	for at := range l.differences(before, now) {
		_, owned := l.owned[at]
		_, set := wanted[at]
		if strings.HasPrefix(at, "secrets[") && (!l.owned.inside("secrets") || l.options.Secrets != fakeserver.EchoSecrets) {
			continue // those of others are sent again only where the provider sees that the service shows values
		}
		if !l.ignores(at) && (owned && !out.noop || set || l.removedWith(at, before) || wanted.contains(at) ||
			l.owned.contains(at)) {
			continue
		}
		if l.ignores(at) || now[at] != "item" || !wanted.inside(at) {
			l.wrong("%s changed from %v to %v, which the plan does not show", at, before[at], now[at])
		}
	}
}

// inside reports whether a leaf is within a place.
func (l leaves) inside(at string) bool {
	for other := range l {
		if other != at && within(other, at) {
			return true
		}
	}
	return false
}

// contains reports whether a place is within a leaf that is neither a list nor an
// item.
func (l leaves) contains(at string) bool {
	for other, value := range l {
		if other != at && value != "item" && value != "list" && within(at, other) {
			return true
		}
	}
	return false
}

// removedWith reports whether a place is in an item that was removed, in a list
// that was, or beside what excludes it.
func (l *life) removedWith(at string, before leaves) bool {
	wanted := l.wanted()
	for i := range at {
		if at[i] != '[' && at[i] != '.' && at[i] != '#' && i != len(at)-1 {
			continue
		}
		above := at[:i]
		if i == len(at)-1 {
			above = at
		}
		listed := wanted[above] == "list" || l.owned[above] == "list"
		if before[above] == "item" && wanted[above] == nil &&
			(wanted[listOfItem(above)] == "list" || l.owned[listOfItem(above)] == "list") {
			return true
		}
		if listed && wanted[above] == nil {
			return true
		}
		if l.excluded(above) {
			return true
		}
	}
	return false
}

func listOfItem(at string) string { return at[:max(strings.LastIndex(at, "["), 0)] }

// excluded reports whether a sibling that excludes the place is set.
func (l *life) excluded(at string) bool {
	i := strings.LastIndex(at, ".")
	if i < 0 {
		return false
	}
	above, name := at[:i], at[i+1:]
	for _, group := range [][]string{{"value", "value_from"}, {"config_map", "secret", "empty_dir"}} {
		if slices.Contains(group, name) {
			for _, other := range group {
				wanted := l.wanted()
				if _, set := wanted[above+"."+other]; other != name && (set || wanted.inside(above+"."+other)) {
					return true
				}
			}
		}
	}
	return false
}
