package field

import (
	"slices"
	"strings"
	"testing"
)

// The cases of this file are single clauses of the rules that no generated life is likely to need.

func TestRefresh_scalarInPlaceOfAListOrObjectInJSON(t *testing.T) {
	t.Parallel()
	for _, config := range []string{`[1]`, `[]`, `{}`, `{"b":1}`} {
		s := &stage{T: t}
		s.create(`{"json":{"a":` + config + `}}`)
		s.refresh(`{"json":{"a":"x"}}`)
		if got := shown(t, s.state); got != `{"json":{"a":"x"}}` {
			t.Errorf("%s: the state is %s", config, got)
		}
	}
}

// What was imported stays as it is while the service reports the same in another form.
func TestRefresh_importedEmptyValueStays(t *testing.T) {
	t.Parallel()
	const imported = `{"args":[],"labels":{}}`
	s := &stage{T: t}
	s.importIt(imported)
	s.refresh(`{"labels":null}`)
	if got := shown(t, s.state); got != imported {
		t.Errorf("the state is %s", got)
	}
}

// {} is a value: that another kind of volume has taken its place is drift, and an apply brings it back.
func TestRefresh_emptyObjectThatASiblingReplacedIsDrift(t *testing.T) {
	t.Parallel()
	const config, live = `{"volumes":[{"emptyDir":{},"name":"x"}]}`, `{"volumes":[{"configMap":{"a":1},"name":"x"}]}`
	s := &stage{T: t}
	s.create(config)
	s.refresh(live)
	if got, want := shown(t, s.state), `{"volumes":[{"name":"x"}]}`; got != want {
		t.Errorf("the state is %s, want %s", got, want)
	}
	planned := s.plan(config)
	if got := shown(t, planned); got != config {
		t.Errorf("planned %s", got)
	}
	if c := s.compare(config, planned, live); body(c) != config {
		t.Errorf("sends %s", body(c))
	}
}

// A branch that somebody set elsewhere stays drift once the service shows it as the commit, and does not become the ref
// of the record with the second refresh.
func TestRefresh_refThatWasChangedElsewhereStaysDrift(t *testing.T) {
	t.Parallel()
	s := &stage{T: t}
	s.create(`{"ref":"main"}`)
	for _, commit := range []string{commitOne, commitTwo, commitTwo} {
		s.refresh(`{"ref":"` + commitTwo + `","commit":"` + commit + `"}`)
		if got, want := shown(t, s.state), `{"commit":"`+commit+`","ref":"`+commitTwo+`"}`; got != want {
			t.Errorf("the state is %s, want %s", got, want)
		}
	}
}

// An exclusive sibling that was imported is dropped when another one is newly set. It does not stay in the service.
func TestCompare_importedExclusiveSiblingIsNotLeft(t *testing.T) {
	t.Parallel()
	for live, config := range map[string]string{
		`{"env":[{"name":"A","value":"x"}]}`:             `{"env":[{"name":"A","valueFrom":{"k":1}}]}`,
		`{"volumes":[{"configMap":{"a":1},"name":"x"}]}`: `{"volumes":[{"emptyDir":{},"name":"x"}]}`,
	} {
		s := &stage{T: t}
		s.importIt(live)
		c := s.compare(config, s.plan(config), live)
		if body(c) != config || len(c.Left) > 0 || len(c.Dropped) > 0 {
			t.Errorf("%s is sent, %s dropped, and %s left", body(c), c.Dropped, c.Left)
		}
	}
}

func TestCompare_clausesOfLists(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ before, config, live, body, set string }{
		"an item without a name is added, though the plan does not change it": {
			`{"volumes":[{"size":1},{"name":"x","size":1}]}`, `{"volumes":[{"size":1},{"name":"x","size":2}]}`,
			`{"volumes":[{"name":"x","size":1}]}`, `{"volumes":[{"size":1},{"name":"x","size":2}]}`,
			"volumes (missing in the service: [0]), volumes[1].size",
		},
		"each item of JSON counts as newly set in a list of another length": {
			`{"env_from":[{"a":1}]}`, `{"env_from":[{"a":1},{"b":1}]}`, `{"env_from":[{"a":2,"z":1},{"c":1}]}`,
			`{"env_from":[{"a":1,"z":1},{"b":1,"c":1}]}`, "env_from[0] (a), env_from[1] (b)",
		},
		"a label that is absent is not null as text": {
			`{"labels":{"b":"x"}}`, `{"labels":{"a":"null","b":"x"}}`, `{"labels":{"b":"x"}}`,
			`{"labels":{"a":"null","b":"x"}}`, `labels["a"]`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := &stage{T: t}
			s.create(c.before)
			compared := s.compare(c.config, s.plan(c.config), c.live)
			var set []string
			for _, d := range compared.Set {
				set = append(set, strings.TrimPrefix(d.String(), "source_config."))
			}
			slices.Sort(set)
			if got := strings.Join(set, ", "); got != c.set || body(compared) != c.body {
				t.Errorf("set %s, want %s; sends %s, want %s", got, c.set, body(compared), c.body)
			}
		})
	}
}

func TestRequest_emptyListIsSent(t *testing.T) {
	t.Parallel()
	want := `{"source_config":{"int":1,"volumes":[]}}`
	if got := jsonOf(resourceFields.Request(readObject(t, want))); got != want {
		t.Errorf("sends %s", got)
	}
}
