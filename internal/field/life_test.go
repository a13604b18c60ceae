package field

import (
	"encoding/json"
	"fmt"
	"iter"
	"maps"
	"math/rand/v2"
	"os"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-go/tftypes"
)

// TestLifeOfGeneratedDeployments leads generated configurations through
// everything that Terraform does with them. A failure names its seed. LIVES=… plays
// that many, of random seeds.
func TestLifeOfGeneratedDeployments(t *testing.T) {
	t.Parallel()
	for name, described := range map[string]struct {
		fields Fields
		runs   int
	}{"deployment": {deployment, 12}, "every kind": {allKinds, 12}} {
		for part := range uint64(4) {
			start := 1 + part*uint64(described.runs)
			if lives, err := strconv.Atoi(os.Getenv("LIVES")); err == nil {
				start, described.runs = rand.Uint64(), lives/8
			}
			t.Run(fmt.Sprint(name, " from seed ", start), func(t *testing.T) {
				t.Parallel()
				for seed := start; seed < start+uint64(described.runs) && !t.Failed(); seed++ {
					live(t, seeded(seed), described.fields)
					if t.Failed() {
						t.Logf("seed %d", seed)
					}
				}
			})
		}
	}
}

// live is one life: create, additions of others, drift, two changes of the
// configuration, and an import.
func live(t testing.TB, g generator, fs Fields) {
	t.Helper()
	l := &life{T: t, g: g, fs: fs, text: oneOf(g, "", "\t")}
	for _, stage := range []struct {
		name string
		run  func()
	}{
		{"create", func() { l.configure(g.config(fs)); l.create() }},
		{"additions of others", l.additions},
		{"drift", l.drift},
		{"change by others between plan and apply", l.changeBehindThePlan},
		{"change", l.change},
		{"additions after a change", l.additions},
		{"import", l.importIt},
		{"change after an import", l.change},
		{"second change after an import", l.change},
		{"additions after an import", l.additions},
	} {
		if stage.run(); t.Failed() {
			s := l.service
			t.Fatalf("stage %q failed: configuration %s, service (%s, null keeps %t, resolves %t) %s",
				stage.name, jsonOf(l.tree), s.patching, s.nullKeeps, s.resolves, jsonOf(s.stored))
		}
	}
}

// life is a resource with its deployment.
type life struct {
	T  testing.TB
	g  generator
	fs Fields

	text     string // the indent of JSON in configurations
	tree     object // the configuration
	config   tftypes.Value
	state    tftypes.Value
	record   Record
	service  *service
	imported bool
}

func (l *life) configure(tree object) {
	l.T.Helper()
	l.tree = tree
	config, err := tftypes.Transform(resourceValue(l.T, l.fs, tree),
		func(_ *tftypes.AttributePath, v tftypes.Value) (tftypes.Value, error) {
			if v.Type().Is(tftypes.String) && strings.HasPrefix(Text(v), "{") && l.text != "" {
				tree, err := ReadJSON([]byte(Text(v)))
				indented, _ := json.MarshalIndent(tree, "", l.text)
				return str(string(indented)), err
			}
			return v, nil
		})
	if err != nil {
		l.T.Fatal(err)
	}
	l.config = config
	if l.service != nil {
		l.service.g.plain = l.g.plain || ambiguous(l.fs, tree) // items are matched by position only in the same order
	}
}

// plan plans as Terraform does: first with unknown values, then without.
func (l *life) plan(state tftypes.Value) tftypes.Value {
	l.T.Helper()
	clean := l.g.plain && !l.imported || state.IsNull() // see TestKnownLimits
	unknown := l.g.unknowns(l.fs, l.config, clean)
	early := planOf(l.fs, unknown, state, l.record)
	assertPlanValid(l.T, l.fs, unknown, state, early)
	if !state.IsNull() {
		l.fs.NewChange(unknown, early, state, l.record, "").Compare(nil)
	}

	planned := planOf(l.fs, l.config, state, l.record)
	assertPlanValid(l.T, l.fs, l.config, state, planned)
	hasRef := !isNull(at(l.config, "source_revision_config", "repo_ref")) || !isNull(at(l.config, "object_config", "ref"))
	if clean || l.g.plain && !hasRef {
		assertApplyValid(l.T, early, planned)
	}
	return planned
}

func (l *life) create() {
	l.T.Helper()
	l.state = tftypes.NewValue(resourceType(l.fs), nil)
	source, _ := l.tree["source"].(string)
	l.service = newService(l.g, l.fs, source)
	l.configure(l.tree)
	planned := l.plan(l.state)
	l.service.create(l.fs.Request(l.fs.Encode(l.config)))
	l.save(planned)
}

// save saves what a plan and the service have made of a deployment, and verifies
// that a refresh changes nothing and the next plan is empty.
func (l *life) save(planned tftypes.Value) {
	l.T.Helper()
	live := l.service.response()
	want := l.fs.Encode(l.config)
	if missing := l.fs.Missing(live, want, l.service.source); len(missing) > 0 {
		l.T.Errorf("the service did not take %s: it has %s", missing, jsonOf(live))
	}
	values, err := l.fs.AfterApply(planned, live)
	if err != nil {
		l.T.Fatal(err)
	}
	state := With(planned, values)
	assertApplyValid(l.T, planned, state)
	if !state.IsFullyKnown() || !at(state, "beside").Equal(str("beside")) {
		l.T.Errorf("the state after the apply is %s", state)
	}
	l.state, l.record = state, l.fs.Record(l.config, state)

	var restored Record
	if err := json.Unmarshal([]byte(jsonOf(l.record)), &restored); err != nil || !reflect.DeepEqual(restored, l.record) {
		l.T.Errorf("the record %v is restored as %v, %v", l.record, restored, err)
	}
	l.refresh(live)
	owned := func(state tftypes.Value) object { return l.fs.owned(l.fs.Encode(state), restored) }
	if before, after := owned(state), owned(l.state); !reflect.DeepEqual(before, after) {
		l.T.Errorf("a refresh after the apply changes what counts as applied from %s to %s", jsonOf(before), jsonOf(after))
	}
	if !l.imported && !l.state.Equal(state) {
		l.T.Errorf("a refresh after the apply changes the state:\n%s", diff(state, l.state))
	}
	l.assertNoChange()
}

func (l *life) refresh(live object) {
	l.T.Helper()
	values, err := l.fs.Refresh(l.state, live, l.service.source, l.record)
	if err != nil {
		l.T.Fatal(err)
	}
	l.state = With(l.state, values)
}

// assertNoChange verifies the central promise: the next plan is empty.
func (l *life) assertNoChange() {
	l.T.Helper()
	if planned := l.plan(l.state); !planned.Equal(l.state) {
		l.T.Errorf("the next plan is not empty:\n%s", diff(l.state, planned))
	}
}

// additions are what others add: no drift, and in no state unless the service
// chooses the value, or it was imported.
func (l *life) additions() {
	l.T.Helper()
	for range 2 {
		l.service.add(l.fs, l.service.stored, l.tree)
		l.refresh(l.service.response())
		l.assertNoChange()
	}
}

// drift is a change of others to what the configuration sets: a refresh shows
// exactly that, and the plan restores it.
func (l *life) drift() {
	l.T.Helper()
	stored := l.service.stored
	l.service.stored = clone(stored).(object)
	defer func() { l.service.stored = stored }()
	drifted, ok := l.g.drift(l.fs, l.tree, l.service.stored, path.Empty())
	if !ok || ambiguous(l.fs, l.tree) {
		return
	}
	live := l.service.response()
	values, err := l.fs.Refresh(l.state, live, l.service.source, l.record)
	if err != nil {
		l.T.Fatal(err)
	}
	refreshed := With(l.state, values)
	if refreshed.Equal(l.state) || !onlyDiffersAt(drifted, l.state, refreshed) {
		l.T.Errorf("%s has drifted, but a refresh shows:\n%s", drifted, diff(l.state, refreshed))
	}
	planned := planOf(l.fs, l.config, refreshed, l.record)
	assertPlanValid(l.T, l.fs, l.config, refreshed, planned)
	if !planned.Equal(l.state) {
		l.T.Errorf("%s has drifted, but the plan does not restore it:\n%s", drifted, diff(l.state, planned))
	}
	found := l.fs.NewChange(l.config, planned, refreshed, l.record, l.service.source).Compare(live)
	if len(found.Set) != 1 || !strings.HasPrefix(indices.ReplaceAllString(found.Set[0].At.String(), ""),
		drifted.String()) {
		l.T.Errorf("%s has drifted, but the differences are %s, %s", drifted, found.Set, found.Dropped)
	}
}

var indices = regexp.MustCompile(`\[\d+\]`)

// onlyDiffersAt reports whether two objects are equal except at a path.
func onlyDiffersAt(p path.Path, a, b tftypes.Value) bool {
	for _, step := range p.Steps() {
		valuesA, valuesB := Members(a), maps.Clone(Members(b))
		name := string(step.(path.PathStepAttributeName))
		next := valuesB[name]
		if valuesB[name] = valuesA[name]; !a.Equal(tftypes.NewValue(a.Type(), valuesB)) {
			return false
		}
		a, b = valuesA[name], next
	}
	return true
}

// change changes the configuration. Not to items without names after an import
// from a service that shuffles them: they are matched by position.
func (l *life) change() {
	l.T.Helper()
	if tree := l.g.change(l.fs, l.tree); !l.imported || l.g.plain || !ambiguous(l.fs, tree) {
		l.configure(tree)
		l.update()
	}
}

// changeBehindThePlan plans a change, and applies it after others have changed the deployment: what the plan does not
// change stays as they have left it. Nothing of it is kept.
func (l *life) changeBehindThePlan() {
	l.T.Helper()
	s, tree := l.service, l.tree
	stored, revision := s.stored, s.revision
	s.stored = clone(stored).(object)
	defer func() {
		s.stored, s.revision = stored, revision
		l.configure(tree)
	}()
	l.configure(l.g.change(l.fs, tree))
	planned := l.plan(l.state)
	_, ok := l.g.drift(l.fs, tree, s.stored, path.Empty())
	if !ok || ambiguous(l.fs, tree) || ambiguous(l.fs, l.tree) || ambiguous(l.fs, s.stored) {
		return
	}
	change := l.fs.NewChange(l.config, planned, l.state, l.record, s.source)
	compared, before := change.Compare(s.response()), clone(s.stored).(object)
	s.patch(compared.Body)
	was, has := placesOf(l.fs, before), placesOf(l.fs, s.stored)
	wanted, held := placesOf(l.fs, change.plan), placesOf(l.fs, change.state)
	for place, value := range was.leaves {
		want, set := wanted.leaves[place]
		last, wasSet := held.leaves[place]
		if set != wasSet || jsonOf(want) != jsonOf(last) || !set && wanted.replaces(place, held) ||
			wanted.without(place) || strings.Contains(place, "/[#") {
			continue
		}
		if left := has.leaves[place]; !reflect.DeepEqual(lenient(left), lenient(value)) {
			l.T.Errorf("%s was %v, which the plan does not change, and is %v", place, value, left)
		}
	}
}

// update applies a changed configuration, and verifies what the service has
// afterwards.
func (l *life) update() {
	l.T.Helper()
	planned := l.plan(l.state)
	s, live := l.service, l.service.response()
	change := l.fs.NewChange(l.config, planned, l.state, l.record, s.source)
	want, applied, compared := object(l.fs.Record(l.config, planned)), l.fs.owned(l.fs.Encode(l.state), l.record),
		change.Compare(live)
	before := clone(s.stored).(object)
	if planned.Equal(l.state) && len(compared.Set)+len(compared.Dropped) > 0 {
		l.T.Errorf("nothing is planned, but %s and %s differ", compared.Set, compared.Dropped)
	}
	if len(compared.Body) > 0 {
		s.patch(compared.Body)
		planned = markChosen(l.fs, l.config, planned, s.source)
	}
	if missing := change.Missing(s.response()); len(missing) > 0 {
		l.T.Errorf("the service did not take %s", missing)
	}
	now := s.response()
	if body := change.Nullify(now, change.Compare(now).Dropped); len(body) > 0 {
		s.patch(body)
	}
	if !ambiguous(l.fs, l.tree) && !ambiguous(l.fs, before) && !ambiguous(l.fs, applied) {
		l.assertPatched(before, want, applied, change)
	}
	l.save(planned)
}

// assertPatched verifies that what was removed is deleted, and that what others
// have added is kept.
func (l *life) assertPatched(before, want, applied object, change *Change) {
	l.T.Helper()
	s := l.service
	was, has, wanted, held := placesOf(l.fs, before), placesOf(l.fs, s.stored), placesOf(l.fs, want),
		placesOf(l.fs, applied)
	kept := slices.DeleteFunc(change.Compare(s.response()).Dropped, func(d Difference) bool { return isEmpty(d.Has) })
	if len(kept) > 0 && !s.nullKeeps {
		l.T.Errorf("the service still has %s", kept)
	}
	for place, value := range held.leaves {
		if _, stays := wanted.leaves[place]; stays || wanted.inside(place) || wanted.replaces(place, places{}) ||
			strings.Contains(place, "/[#") {
			continue
		}
		if left, found := has.leaves[place]; found && !isEmpty(value) &&
			!(s.source == "codehost" && strings.HasSuffix(place, "/image_uri")) && reflect.DeepEqual(left, value) &&
			len(kept) == 0 {
			l.T.Errorf("%s was removed, but the service still has %v", place, left)
		}
	}
	for place, value := range was.leaves {
		_, owned := held.leaves[place]
		_, set := wanted.leaves[place]
		if owned || set || strings.Contains(place, "/[#") || wanted.replaces(place, held) {
			continue
		}
		if left := has.leaves[place]; !reflect.DeepEqual(lenient(left), lenient(value)) {
			l.T.Errorf("%s was %v, which the configuration does not own, and is %v", place, value, left)
		}
	}
}

// lenient is a tree without what services report in other forms: the case of
// UUIDs, the form of numbers, empty values.
func lenient(tree any) any {
	switch tree := tree.(type) {
	case map[string]any:
		all := object{}
		for name, value := range tree {
			if !isEmpty(value) {
				all[name] = lenient(value)
			}
		}
		if len(all) > 0 {
			return all
		}
	case []any:
		var list []any
		for _, item := range tree {
			list = append(list, lenient(item))
		}
		return list
	case string:
		return strings.ToLower(tree)
	case json.Number:
		number, _ := tree.Float64()
		return number
	case bool:
		return tree
	}
	return nil
}

// inside reports whether something is set within a place.
func (p places) inside(place string) bool {
	for _, set := range []iter.Seq[string]{maps.Keys(p.leaves), maps.Keys(p.lists)} {
		for other := range set {
			if strings.HasPrefix(other, place+"/") {
				return true
			}
		}
	}
	return false
}

// replaces reports whether what is wanted, or was applied, replaces what is at a
// place: a leaf above it, a list that has no such item, or an exclusive sibling.
func (p places) replaces(place string, held places) bool {
	steps := strings.Split(place, "/")
	for i := range steps {
		above := strings.Join(steps[:i], "/")
		_, leaf := p.leaves[above]
		_, heldLeaf := held.leaves[above]
		item := (p.lists[above] || held.lists[above]) && !p.items[above+"/"+steps[i]]
		if leaf || heldLeaf || item || p.absent[above] {
			return true
		}
	}
	return p.absent[place] || p.lists[place] || held.lists[place] || p.inside(place)
}

// markChosen marks as unknown what a change may change by itself.
func markChosen(fs Fields, config, planned tftypes.Value, source string) tftypes.Value {
	values := Values{}
	for _, f := range fs {
		switch value, configured := at(planned, f.Name), at(config, f.Name); {
		case f.Access == ReadOnly, kind[String](f).BuiltFor == source && source != "" && isNull(configured):
			values[f.Name] = f.unknown()
		case is[Object](f) && !isNull(value):
			values[f.Name] = markChosen(f.Fields(), configured, value, source)
		}
	}
	return With(planned, values)
}

// importIt imports the deployment, plans the matching configuration, and applies
// it.
func (l *life) importIt() {
	l.T.Helper()
	l.imported = true
	if l.service.source == "codehost" {
		delete(asObject(l.tree["source_revision_config"]), "image_uri") // see TestKnownLimits
		l.configure(l.tree)
	}
	l.state, l.record = With(resourceValue(l.T, l.fs, object{}), Values{}), nil
	l.refresh(l.service.response())
	planned := l.plan(l.state)
	change := l.fs.NewChange(l.config, planned, l.state, l.record, l.service.source)
	if compared := change.Compare(l.service.response()); len(compared.Dropped) > 0 ||
		slices.ContainsFunc(compared.Set, func(d Difference) bool { return !isEmpty(d.Want) }) {
		l.T.Errorf("the plan after an import sends %s and %s", compared.Set, compared.Dropped)
	}
	before, after := l.fs.Encode(l.state), l.fs.Encode(planned)
	is := placesOf(l.fs, after)
	for place, value := range placesOf(l.fs, before).leaves {
		if left := is.leaves[place]; l.g.plain && !reflect.DeepEqual(lenient(value), lenient(left)) &&
			!strings.HasSuffix(place, "ref") && !is.without(place) {
			l.T.Errorf("the plan after an import changes %s from %v to %v", place, value, left)
		}
	}
	l.save(planned)
}

// diff shows where two values differ.
func diff(a, b tftypes.Value) string {
	found, err := a.Diff(b)
	if err != nil {
		return err.Error()
	}
	var lines []string
	for _, d := range found {
		if d.Value1 != nil && d.Value2 != nil &&
			(len(Members(*d.Value1)) > 0 && len(Members(*d.Value2)) > 0 || len(Items(*d.Value1)) > 0 &&
				len(Items(*d.Value2)) > 0) {
			continue // its parts are listed
		}
		lines = append(lines, d.String())
	}
	slices.Sort(lines)
	return strings.Join(lines, "\n")
}

// planOf is a plan as the provider makes it.
func planOf(fs Fields, config, state tftypes.Value, record Record) tftypes.Value {
	return With(config, fs.Plan(config, state, record))
}
