package field

import (
	"testing"

	"github.com/hashicorp/terraform-plugin-go/tftypes"
)

// configWith is a configuration of source_config with other values in place of
// some attributes.
func (s *stage) configWith(config string, values Values) tftypes.Value {
	s.Helper()
	v := s.config(config)
	return With(v, Values{"source_config": With(at(v, "source_config"), values)})
}

func listOf(name string, items ...tftypes.Value) Values {
	f, _ := configFields.ByName(name)
	return Values{name: tftypes.NewValue(f.Kind.Type(), items)}
}

// TestUnknown_isUndecided: a value that is known only after apply is no
// difference, and what is known beside it is.
func TestUnknown_isUndecided(t *testing.T) {
	t.Parallel()
	const before = `{"string":"x","labels":{"a":"1","b":"2"},"json":{"a":1},"args":["1","2"],"spec":{"a":"x"},` +
		`"volumes":[{"name":"x","size":1},{"name":"y","size":2}]}`
	unknown := unknownString
	labels := func(b string) Values {
		return Values{"labels": tftypes.NewValue(tftypes.Map{ElementType: tftypes.String}, Values{"a": unknown, "b": str(b)})}
	}
	volumes, _ := configFields.ByName("volumes")
	item := func(name tftypes.Value, size string) tftypes.Value {
		return With(volumes.item().mustDecode(t, object{}), Values{"name": name, "size": num(size)})
	}
	spec, _ := configFields.ByName("spec")
	for name, c := range map[string]struct {
		values Values
		set    string
	}{
		"string":                          {Values{"string": unknown}, ""},
		"JSON":                            {Values{"json": unknown}, ""},
		"object":                          {Values{"spec": spec.unknown()}, ""},
		"list":                            {Values{"volumes": volumes.unknown()}, ""},
		"label":                           {labels("2"), ""},
		"label beside a change":           {labels("3"), `labels["b"]`},
		"item of a list":                  {listOf("args", unknown, str("2")), ""},
		"item of a list beside a change":  {listOf("args", unknown, str("3")), "args"},
		"item of a longer list":           {listOf("args", unknown, str("2"), str("3")), "args"},
		"name of an item":                 {listOf("volumes", item(unknown, "1"), item(str("y"), "2")), ""},
		"names of all items":              {listOf("volumes", item(unknown, "1"), item(unknown, "2")), ""},
		"name of an item beside a change": {listOf("volumes", item(unknown, "1"), item(str("y"), "3")), "volumes[1].size"},
		"name of an item beside another": {
			listOf("volumes", item(unknown, "1"), item(str("z"), "2")),
			"volumes (missing in the service: [0], z; only in the service: x, y)",
		},
		"name of one more item": {
			listOf("volumes", item(str("x"), "1"), item(str("y"), "2"), item(unknown, "3")),
			"volumes (missing in the service: [2])",
		},
		"name of one item less": {
			listOf("volumes", item(unknown, "1")), "volumes (missing in the service: [0]; only in the service: x, y)",
		},
		"item": {listOf("volumes", volumes.item().unknown(), item(str("y"), "2")), ""},
		"one more item": {
			listOf("volumes", item(str("x"), "1"), item(str("y"), "2"), volumes.item().unknown()),
			"volumes (missing in the service: [2])",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := &stage{T: t}
			s.create(before)
			config := s.configWith(before, c.values)
			planned := planOf(resourceFields, config, s.state, s.record)
			assertPlanValid(t, resourceFields, config, s.state, planned)
			found := resourceFields.NewChange(config, planned, s.state, s.record, "").Compare(s.live(before))
			if got := differences(found.Set); got != c.set || len(found.Dropped) > 0 {
				t.Errorf("set %q, dropped %q, want %q", got, differences(found.Dropped), c.set)
			}
		})
	}
}

// TestUnknown_finalPlan: the final plan agrees with the first one, whatever the
// unknown values turn out to be.
func TestUnknown_finalPlan(t *testing.T) {
	t.Parallel()
	const live = `{"string":"x","labels":{"a":"1"},"env":[{"name":"x","valueFrom":{"a":1}}],"volumes":[{"name":"x",` +
		`"size":1,"json":{"a":1}},{"name":"y","size":2}],"ref":"main"}`
	volumes, _ := configFields.ByName("volumes")
	item := func(name tftypes.Value) tftypes.Value {
		return With(volumes.item().mustDecode(t, object{}), Values{"name": name})
	}
	variables, _ := configFields.ByName("env")
	env := func(value tftypes.Value) tftypes.Value {
		return With(variables.item().mustDecode(t, object{"name": "x"}), Values{"value": value})
	}
	for _, imported := range []bool{false, true} {
		s := &stage{T: t}
		s.create(live)
		if imported {
			s.importIt(live)
		}
		for name, c := range map[string]struct {
			unknown Values
			finals  []Values
		}{
			"string": {
				Values{"string": unknownString},
				[]Values{{"string": str("x")}, {"string": str("y")}, {"string": nullString}},
			},
			"name": {listOf("volumes", item(unknownString), item(str("y"))),
				[]Values{listOf("volumes", item(str("x")), item(str("y"))), listOf("volumes", item(str("z")), item(str("y"))),
					listOf("volumes", item(str("y")), item(str("y")))}},
			"exclusive sibling": {
				listOf("env", env(unknownString)), []Values{listOf("env", env(str("1"))), listOf("env", env(nullString))},
			},
			"item": {
				listOf("volumes", volumes.item().unknown()),
				[]Values{listOf("volumes", item(str("x"))), listOf("volumes", item(str("z")))},
			},
		} {
			config := s.configWith(`{"ref":"main"}`, c.unknown)
			early := planOf(resourceFields, config, s.state, s.record)
			assertPlanValid(t, resourceFields, config, s.state, early)
			for _, values := range c.finals {
				config := s.configWith(`{"ref":"main"}`, values)
				planned := planOf(resourceFields, config, s.state, s.record)
				assertPlanValid(t, resourceFields, config, s.state, planned)
				if violation := applyViolation(early, planned, name); violation != "" {
					t.Errorf("imported %t: %s", imported, violation)
				}
			}
		}
	}
}

// TestKnownLimits are the places where Terraform's rules leave no way to keep to
// the contract: a plan with unknown values may have to differ from the final
// one, which Terraform reports as an inconsistent final plan. The next plan
// works. A change of these limits should be seen.
func TestKnownLimits(t *testing.T) {
	t.Parallel()
	unknown := unknownString
	volumes, _ := configFields.ByName("volumes")
	item := func(name, uuid tftypes.Value) tftypes.Value {
		return With(volumes.item().mustDecode(t, object{}), Values{"name": name, "json": uuid})
	}
	labels := func(a tftypes.Value) Values {
		return Values{"labels": tftypes.NewValue(tftypes.Map{ElementType: tftypes.String}, Values{"a": a})}
	}
	null := nullString
	for name, c := range map[string]struct {
		live, config string
		early, final Values
		imported     bool
	}{
		"imported map with an unknown value": {
			`{"labels":{"a":"1","b":"2"}}`, `{}`, labels(unknown), labels(str("1")), true,
		},
		"reordered list with an unknown value": {
			`{"volumes":[{"name":"x"},{"name":"y","json":{}}]}`, `{}`,
			listOf("volumes", item(str("y"), unknown), item(str("x"), null)),
			listOf("volumes", item(str("y"), str("{}")), item(str("x"), null)), false,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := &stage{T: t}
			s.create(c.live)
			if c.imported {
				s.importIt(c.live)
			}
			var plans []tftypes.Value
			for _, values := range []Values{c.early, c.final} {
				config := s.configWith(c.config, values)
				planned := planOf(resourceFields, config, s.state, s.record)
				assertPlanValid(t, resourceFields, config, s.state, planned)
				plans = append(plans, planned)
			}
			if applyViolation(plans[0], plans[1], "") == "" {
				t.Error("the final plan agrees with the first: this limit no longer exists")
			}
			if !plans[1].Equal(s.state) {
				t.Errorf("the final plan is not empty: %s", diff(s.state, plans[1]))
			}
		})
	}
	t.Run("image of an imported deployment from a repository", func(t *testing.T) {
		t.Parallel()
		s := &stage{T: t, source: "codehost"}
		s.importIt(`{"image":"built:1"}`)
		if got := body(s.compare(`{"image":"a"}`, s.plan(`{"image":"a"}`), `{"image":"built:1"}`)); got != `{"image":"a"}` {
			t.Errorf("sends %s", got) // the service may have been given another image
		}
	})
}

var (
	unknownString = Field{Kind: String{}}.unknown()
	nullString    = Field{Kind: String{}}.null()
)
