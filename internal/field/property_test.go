package field

import (
	"fmt"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/hashicorp/terraform-plugin-go/tftypes"
)

// TestLifeOfGeneratedDeployments leads generated configurations through all
// that Terraform does with them. A failure names its seed.
func TestLifeOfGeneratedDeployments(t *testing.T) {
	t.Parallel()
	for name, described := range map[string]struct {
		fields Fields
		runs   int
	}{"deployment": {deployment, 8}, "every kind": {kinds, 40}} {
		for range 4 {
			start := rand.Uint64()
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

// live is one life: create, changes of the service, drift, a change of the
// configuration, and an import.
func live(t testing.TB, g generator, fs Fields) {
	t.Helper()
	config := g.config(fs)
	nothing := tftypes.NewValue(whole(fs), nil)

	state, answer, owned := apply(t, g, fs, config, nothing)
	if refreshed := With(state, fs.Refresh(state, answer, owned)); !refreshed.Equal(state) {
		t.Errorf("a reading after a create changes the state:\n%s", diff(state, refreshed))
	}
	assertNoPlan(t, fs, config, state)

	for range 2 {
		answer = g.answer(fs, config)
		state = With(state, fs.Refresh(state, answer, owned))
		if t.Failed() {
			return
		}
		assertNoPlan(t, fs, config, state)
	}
	if t.Failed() {
		t.Log("after changes that the service made on its own")
		return
	}

	if drifted, at, ok := g.drift(fs, config, answer); ok {
		refreshed := With(state, fs.Refresh(state, drifted, owned))
		planned := With(config, fs.Plan(config, refreshed))
		assertPlanValid(t, fs, config, refreshed, planned)
		found := fs.Differences(planned, refreshed)
		if len(found) != 1 || !within(at.String(), found[0].At.String()) {
			t.Errorf("%s has drifted, but the differences are at %s:\n%s", at, found, diff(refreshed, planned))
		}
		changes, err := fs.Changes(planned, refreshed)
		if err != nil || len(changes) != 1 {
			t.Errorf("%s has drifted, and what would be sent is %v, %v", at, changes, err)
		}
		if found := fs.Differences(config, fs.Named(drifted, config)); len(found) != 1 {
			t.Errorf("%s differs, but a comparison with the answer says %s", at, found)
		}
	}

	changed := g.change(fs, config)
	state, answer, owned = apply(t, g, fs, changed, state)
	state = With(state, fs.Refresh(state, answer, owned))
	assertNoPlan(t, fs, changed, state)
	if t.Failed() {
		t.Log("after a change of the configuration")
		return
	}

	empty := Values{"beside": str("beside")}
	for _, f := range fs {
		empty[f.Name] = null(f)
	}
	imported := tftypes.NewValue(whole(fs), empty)
	imported = With(imported, fs.Refresh(imported, answer, nil))
	planned := With(changed, fs.Plan(changed, imported))
	assertPlanValid(t, fs, changed, imported, planned)
	if found := fs.Differences(planned, fs.Named(imported, planned)); len(found) > 0 {
		t.Errorf("after an import, there are differences at %s", found)
	}
	state = With(planned, fs.Settle(planned, imported))
	assertApplyValid(t, planned, state)
	state = With(state, fs.Refresh(state, answer, fs.Owned(changed)))
	assertNoPlan(t, fs, changed, state)
	if t.Failed() {
		t.Log("after an import")
	}
}

// apply plans a configuration, first with parts of it unknown, and lets a
// service answer to it.
func apply(t testing.TB, g generator, fs Fields, config, state tftypes.Value) (settled, answer tftypes.Value, owned []string) {
	t.Helper()
	unknown := g.unknowns(fs, config)
	early := With(unknown, fs.Plan(unknown, state))
	assertPlanValid(t, fs, unknown, state, early)
	fs.Differences(early, orEmpty(fs, state))

	planned := With(config, fs.Plan(config, state))
	assertPlanValid(t, fs, config, state, planned)
	if g.plain || state.IsNull() {
		assertApplyValid(t, early, planned)
	}
	if t.Failed() {
		t.Logf("config with unknowns:\n%s", diff(config, unknown))
	}

	answer = g.answer(fs, config)
	settled = With(planned, fs.Settle(planned, answer))
	assertApplyValid(t, planned, settled)
	if !settled.IsFullyKnown() {
		t.Errorf("not all is known after the apply: %s", settled)
	}
	if !members(settled)["beside"].Equal(members(planned)["beside"]) {
		t.Error("an attribute beside the fields was lost")
	}
	if found := fs.Differences(config, fs.Named(answer, config)); len(found) > 0 {
		t.Errorf("the service took everything, but there are differences at %s: %s", found, diff(config, answer))
	}
	return settled, answer, fs.Owned(config)
}

func orEmpty(fs Fields, state tftypes.Value) tftypes.Value {
	if !state.IsNull() {
		return state
	}
	values := Values{"beside": str("")}
	for _, f := range fs {
		values[f.Name] = null(f)
	}
	return tftypes.NewValue(whole(fs), values)
}

// assertNoPlan checks the central promise: nothing is planned.
func assertNoPlan(t testing.TB, fs Fields, config, state tftypes.Value) {
	t.Helper()
	planned := With(config, fs.Plan(config, state))
	assertPlanValid(t, fs, config, state, planned)
	if !planned.Equal(state) {
		t.Errorf("the next plan is not empty:\n%s", diff(state, planned))
	}
	if found := fs.Differences(planned, state); len(found) > 0 {
		t.Errorf("the next plan finds differences at %s", found)
	}
	if changes, err := fs.Changes(planned, state); err != nil || len(changes) > 0 {
		t.Errorf("the next plan would send %v, %v", changes, err)
	}
}

var indices = regexp.MustCompile(`\[\d+\]`)

// within reports whether a place is found, or a list that it is in. An item
// may stand at another index by now.
func within(at, found string) bool {
	at, found = indices.ReplaceAllString(at, "[]"), indices.ReplaceAllString(found, "[]")
	return at == found || strings.HasPrefix(at, found+"[]")
}

// diff shows where two values differ.
func diff(a, b tftypes.Value) string {
	found, err := a.Diff(b)
	if err != nil {
		return err.Error()
	}
	var lines []string
	for _, d := range found {
		if v := d.Value1; v == nil || v.Type().Is(tftypes.Object{}) || v.Type().Is(tftypes.List{}) {
			if d.Value2 != nil && d.Value1 != nil && !d.Value1.IsNull() && !d.Value2.IsNull() && d.Value2.IsKnown() && d.Value1.IsKnown() {
				continue // its parts are listed
			}
		}
		lines = append(lines, d.String())
	}
	if len(lines) == 0 {
		return fmt.Sprint(a, "\n", b)
	}
	slices.Sort(lines)
	return strings.Join(lines, "\n")
}
