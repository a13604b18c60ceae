package field

import (
	"encoding/json"
	"testing"

	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-go/tftypes"
)

// of makes an object of the fields from what JSON would hold of it; what is
// left out is null.
func of(t testing.TB, fs Fields, tree map[string]any) tftypes.Value {
	t.Helper()
	v, err := fs.Decode(tree)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

type object = map[string]any

func jsonNumber(text string) json.Number { return json.Number(text) }

// TestAnswerThatCoversTheConfiguration creates, reads and plans again: nothing
// changes between the apply and the reading, and nothing is planned.
func TestAnswerThatCoversTheConfiguration(t *testing.T) {
	t.Parallel()
	f := func(fields ...Field) Fields { return fields }
	whole, num := Field{Name: "v", Kind: Whole}, Field{Name: "v", Kind: Number}
	txt, obj := Field{Name: "v", Kind: Text}, Field{Name: "v", Kind: Object, Fields: f(Field{Name: "a", Kind: Text}, Field{Name: "b", Kind: Whole})}
	list, texts := Field{Name: "v", Kind: Objects, Key: []string{"name"}, Fields: f(Field{Name: "name", Kind: Text}, Field{Name: "a", Kind: Text})}, Field{Name: "v", Kind: List, Elem: Text}
	mounts := Field{Name: "v", Kind: Objects, Key: []string{"name", "at"}, Fields: f(Field{Name: "name", Kind: Text}, Field{Name: "at", Kind: Text})}
	labels, free := Field{Name: "v", Kind: TextMap}, Field{Name: "v", Kind: JSON}
	frees := Field{Name: "v", Kind: List, Elem: JSON}
	for name, c := range map[string]struct {
		field          Field
		config, answer any
	}{
		"service fills in fields that were not sent": {obj, object{"a": "x"}, object{"a": "x", "b": 1}},
		"service fills in an object left out":        {obj, nil, object{"a": "x", "b": 1}},
		"service fills in an empty object":           {obj, object{}, object{"a": "x", "b": 1}},
		"empty object comes back as null":            {obj, object{}, nil},
		"object of nothing comes back as null":       {obj, object{"a": ""}, nil},
		"null object comes back empty":               {obj, nil, object{}},
		"empty list comes back as null":              {texts, []any{}, nil},
		"null list comes back empty":                 {texts, nil, []any{}},
		"empty list of objects comes back as null":   {list, []any{}, nil},
		"null list of objects comes back empty":      {list, nil, []any{}},
		"empty map comes back as null":               {labels, object{}, nil},
		"null map comes back empty":                  {labels, nil, object{}},
		"empty text comes back as null":              {txt, "", nil},
		"null text comes back empty":                 {txt, nil, ""},
		"empty JSON comes back as null":              {free, object{}, nil},
		"null JSON comes back empty":                 {free, nil, object{}},
		"labels added by the service":                {labels, object{"a": "1"}, object{"a": "1", "b": "2"}},
		"empty text filled in":                       {txt, "", "x"},
		"empty text of an object filled in":          {obj, object{"a": ""}, object{"a": "x", "b": 1}},
		"empty text of an item filled in":            {list, []any{object{"name": "x", "a": ""}}, []any{object{"name": "x", "a": "1"}}},
		"empty UUID filled in":                       {Field{Name: "v", Kind: UUID}, "", uuids[0]},
		"empty list filled in":                       {texts, []any{}, []any{"x"}},
		"empty list of objects filled in":            {list, []any{}, []any{object{"name": "x"}}},
		"empty map filled in":                        {labels, object{}, object{"a": "1"}},
		"empty JSON filled in":                       {free, object{}, object{"a": "1"}},
		"label of nothing dropped":                   {labels, object{"a": "1", "b": ""}, object{"a": "1"}},
		"only label of nothing dropped":              {labels, object{"b": ""}, nil},
		"JSON members added by the service":          {free, object{"a": object{"b": 1}}, object{"a": object{"b": 1, "c": 2}, "d": 3}},
		"JSON members added within a list":           {free, object{"a": []any{object{"b": 1}}}, object{"a": []any{object{"b": 1, "c": 2}}}},
		"JSON null filled in":                        {free, object{"a": nil}, object{"a": 1}},
		"JSON null left out":                         {free, object{"a": nil}, object{}},
		"JSON empties left out":                      {free, object{"a": []any{}, "b": object{"c": ""}, "d": 1}, object{"d": 1}},
		"JSON null comes back empty":                 {free, object{"a": nil, "d": 1}, object{"a": []any{}, "d": 1}},
		"JSON in a list, members added":              {frees, []any{object{"a": 1}}, []any{object{"a": 1, "b": 2}}},
		"items in another order":                     {list, []any{object{"name": "x"}, object{"name": "y", "a": "1"}}, []any{object{"name": "y", "a": "1"}, object{"name": "x", "a": "2"}}},
		"items whose keys the service completes":     {mounts, []any{object{"name": "x"}, object{"name": "y"}}, []any{object{"name": "y", "at": "/y"}, object{"name": "x", "at": "/x"}}},
		"items without names, filled in":             {list, []any{object{"a": "1"}, object{"a": "2"}}, []any{object{"name": "x", "a": "1"}, object{"name": "y", "a": "2"}}},
		"UUID in capitals":                           {Field{Name: "v", Kind: UUID}, "abcdefab-cdef-abcd-efab-cdefabcdefab", "ABCDEFAB-CDEF-ABCD-EFAB-CDEFABCDEFAB"},
		"time in another zone":                       {Field{Name: "v", Kind: Time}, "2025-01-02T03:04:05Z", "2025-01-02T04:04:05+01:00"},
		"time with a fraction of nothing":            {Field{Name: "v", Kind: Time}, "2025-01-02T03:04:05Z", "2025-01-02T03:04:05.000000+00:00"},
		"whole number with a fraction of nothing":    {whole, 2048, jsonNumber("2048.0")},
		"whole number with an exponent":              {whole, 2048, jsonNumber("2.048e3")},
		"a tenth":                                    {num, jsonNumber("0.1"), jsonNumber("0.1")},
		"a tenth written longer":                     {num, jsonNumber("0.1"), jsonNumber("0.10000000000000001")},
		"a third":                                    {num, "third", jsonNumber("0.3333333333333333")},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			fs := f(c.field)
			var config tftypes.Value
			if c.config == "third" {
				config = tftypes.NewValue(fs.Type(), Values{"v": aThird()})
			} else {
				config = of(t, fs, object{"v": c.config})
			}
			answer := of(t, fs, object{"v": c.answer})
			planned := With(config, fs.Plan(config, tftypes.NewValue(fs.Type(), nil)))
			assertPlanValid(t, fs, config, tftypes.NewValue(fs.Type(), nil), planned)
			state := With(planned, fs.Settle(planned, answer))
			assertApplyValid(t, planned, state)
			owned := fs.Owned(config)
			for _, what := range []string{"first", "second"} {
				refreshed := With(state, fs.Refresh(state, answer, owned))
				if !refreshed.Equal(state) && c.config != nil {
					t.Errorf("the %s reading changes the state: %s", what, diff(state, refreshed))
				}
				state = refreshed
				assertNoPlan(t, fs, config, state)
			}
			if found := fs.Differences(planned, answer); len(found) > 0 {
				t.Errorf("differences at %s", found)
			}

			// The same answer, come upon by an import.
			blank := of(t, fs, object{})
			imported := With(blank, fs.Refresh(blank, answer, nil))
			if found := fs.Differences(config, imported); len(found) > 0 {
				t.Errorf("after an import: differences at %s", found)
			}
			if !members(imported)["v"].IsNull() {
				assertNoPlan(t, fs, config, imported)
			}
		})
	}
}

// TestAnswerThatDoesNot has what the service holds against the configuration:
// drift, at exactly that attribute, and a plan to put it right.
func TestAnswerThatDoesNot(t *testing.T) {
	t.Parallel()
	list := Field{Kind: Objects, Key: []string{"name"}, Fields: Fields{{Name: "name", Kind: Text}, {Name: "a", Kind: Text}}}
	ordered := list
	ordered.Ordered = true
	two, twisted := []any{object{"name": "x"}, object{"name": "y"}}, []any{object{"name": "y"}, object{"name": "x"}}
	obj := Field{Kind: Object, Fields: Fields{{Name: "a", Kind: Text}}}
	for name, c := range map[string]struct {
		field          Field
		config, answer any
		at             string
	}{
		"another text":                     {Field{Kind: Text}, "x", "y", "v"},
		"text in other letters":            {Field{Kind: Text}, "x", "X", "v"},
		"text gone":                        {Field{Kind: Text}, "x", nil, "v"},
		"text of an object":                {obj, object{"a": "x"}, object{"a": "y"}, "v.a"},
		"object gone":                      {obj, object{"a": "x"}, nil, "v.a"},
		"zero instead of null":             {Field{Kind: Whole}, 0, nil, "v"},
		"another big number":               {Field{Kind: Whole}, jsonNumber("9007199254740993"), jsonNumber("9007199254740992"), "v"},
		"another fraction":                 {Field{Kind: Number}, jsonNumber("0.1"), jsonNumber("0.2"), "v"},
		"flag":                             {Field{Kind: Flag}, false, true, "v"},
		"flag gone":                        {Field{Kind: Flag}, false, nil, "v"},
		"another instant":                  {Field{Kind: Time}, "2025-01-02T03:04:05Z", "2025-01-02T03:04:05+01:00", "v"},
		"what is no time at all":           {Field{Kind: Time}, "2025-01-02T03:04:05Z", "yesterday", "v"},
		"another UUID":                     {Field{Kind: UUID}, uuids[0], uuids[1], "v"},
		"label changed":                    {Field{Kind: TextMap}, object{"a": "1"}, object{"a": "2"}, "v"},
		"label gone":                       {Field{Kind: TextMap}, object{"a": "1"}, object{"b": "1"}, "v"},
		"labels gone":                      {Field{Kind: TextMap}, object{"a": "1"}, nil, "v"},
		"JSON member changed":              {Field{Kind: JSON}, object{"a": 1}, object{"a": 2}, "v"},
		"JSON member of another kind":      {Field{Kind: JSON}, object{"a": 1}, object{"a": "1"}, "v"},
		"JSON list instead of object":      {Field{Kind: JSON}, object{"a": object{"b": 1}}, object{"a": []any{"b"}}, "v"},
		"JSON object instead of list":      {Field{Kind: JSON}, object{"a": []any{"b"}}, object{"a": object{"b": 1}}, "v"},
		"JSON list in another order":       {Field{Kind: JSON}, object{"a": []any{1, 2}}, object{"a": []any{2, 1}}, "v"},
		"JSON false instead of null":       {Field{Kind: JSON}, object{"a": false}, object{}, "v"},
		"JSON gone":                        {Field{Kind: JSON}, object{"a": 1}, nil, "v"},
		"JSON in a list changed":           {Field{Kind: List, Elem: JSON}, []any{object{"a": 1}}, []any{object{"a": 2}}, "v"},
		"empty item of a list filled in":   {Field{Kind: List}, []any{"a", ""}, []any{"a", "b"}, "v"},
		"list longer":                      {Field{Kind: List}, []any{"a"}, []any{"a", "b"}, "v"},
		"list in another order":            {Field{Kind: List}, []any{"a", "b"}, []any{"b", "a"}, "v"},
		"item changed":                     {list, []any{object{"name": "x", "a": "1"}}, []any{object{"name": "x", "a": "2"}}, "v[0].a"},
		"item changed and moved":           {list, []any{object{"name": "x", "a": "1"}, object{"name": "y", "a": "1"}}, []any{object{"name": "y", "a": "1"}, object{"name": "x", "a": "2"}}, "v[0].a"},
		"item renamed":                     {list, []any{object{"name": "x"}}, []any{object{"name": "z"}}, "v"},
		"item added":                       {list, []any{object{"name": "x"}}, two, "v"},
		"item gone":                        {list, two, []any{object{"name": "y"}}, "v"},
		"items gone":                       {list, two, nil, "v"},
		"ordered items in another order":   {ordered, two, twisted, "v"},
		"twins, of whom one has changed":   {list, []any{object{"name": "x", "a": "1"}, object{"name": "x", "a": "2"}}, []any{object{"name": "x", "a": "1"}, object{"name": "x", "a": "3"}}, "v[1].a"},
		"items of which one is now a twin": {list, two, []any{object{"name": "x"}, object{"name": "x"}}, "v[1].name"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c.field.Name = "v"
			fs := Fields{c.field}
			config, answer := of(t, fs, object{"v": c.config}), of(t, fs, object{"v": c.answer})
			state := With(config, fs.Settle(With(config, fs.Plan(config, tftypes.NewValue(fs.Type(), nil))), config))
			refreshed := With(state, fs.Refresh(state, answer, fs.Owned(config)))
			planned := With(config, fs.Plan(config, refreshed))
			assertPlanValid(t, fs, config, refreshed, planned)
			if planned.Equal(refreshed) {
				t.Errorf("nothing is planned against the drift: %s", planned)
			}
			for what, found := range map[string][]Difference{"plan": fs.Differences(planned, refreshed), "answer": fs.Differences(config, answer)} {
				if len(found) != 1 || !within(found[0].At.String(), c.at) && !within(c.at, found[0].At.String()) {
					t.Errorf("%s: differences at %s, want %s", what, found, c.at)
				}
			}
		})
	}
}

// TestChangeToAnEmptyValue asks for nothing, as if the attribute were taken out.
func TestChangeToAnEmptyValue(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		field       Field
		full, empty any
	}{
		{Field{Kind: Text}, "x", ""},
		{Field{Kind: List}, []any{"x"}, []any{}},
		{Field{Kind: Objects, Key: []string{"name"}, Fields: Fields{{Name: "name", Kind: Text}}}, []any{object{"name": "x"}}, []any{}},
		{Field{Kind: TextMap}, object{"a": "1"}, object{}},
		{Field{Kind: JSON}, object{"a": "1"}, object{}},
		{Field{Kind: Object, Fields: Fields{{Name: "a", Kind: Text}}}, object{"a": "1"}, object{"a": ""}},
	} {
		c.field.Name = "v"
		fs := Fields{c.field}
		state, config := of(t, fs, object{"v": c.full}), of(t, fs, object{"v": c.empty})
		assertNoPlan(t, fs, config, state)
		assertNoPlan(t, fs, config, With(state, fs.Refresh(state, state, fs.Owned(config))))
	}
}

// TestRefOfARepository is the branch that comes back as a commit.
func TestRefOfARepository(t *testing.T) {
	t.Parallel()
	fs := Fields{
		{Name: "repo_ref", Kind: Text, ResolvesTo: "repo_commit_sha"},
		{Name: "image_uri", Kind: Text},
		{Name: "repo_commit_sha", Kind: Text, Access: ReadOnly},
	}
	shown := func(ref, commit, image any) tftypes.Value {
		return of(t, fs, object{"repo_ref": ref, "repo_commit_sha": commit, "image_uri": image})
	}
	set := func(ref any) tftypes.Value { return shown(ref, nil, nil) }
	create := func(t *testing.T, config, answer tftypes.Value) tftypes.Value {
		t.Helper()
		planned := With(config, fs.Plan(config, tftypes.NewValue(fs.Type(), nil)))
		state := With(planned, fs.Settle(planned, answer))
		assertApplyValid(t, planned, state)
		return state
	}
	refresh := func(state, answer tftypes.Value) tftypes.Value { return With(state, fs.Refresh(state, answer, nil)) }
	drifts := func(t *testing.T, config, state tftypes.Value, want string) {
		t.Helper()
		planned := With(config, fs.Plan(config, state))
		assertPlanValid(t, fs, config, state, planned)
		found := fs.Differences(planned, state)
		if len(found) != 1 || found[0].At.String() != "repo_ref" || text(members(planned)["repo_ref"]) != want {
			t.Errorf("differences at %s, planned %s", found, planned)
		}
	}

	t.Run("branch comes back as the commit, and as the next", func(t *testing.T) {
		t.Parallel()
		state := create(t, set("main"), shown(commitOne, commitOne, "image:1"))
		if text(members(state)["repo_ref"]) != "main" || text(members(state)["image_uri"]) != "image:1" {
			t.Errorf("after the create: %s", state)
		}
		assertNoPlan(t, fs, set("main"), state)
		for commit, image := range map[string]string{commitOne: "image:1", commitTwo: "image:2"} {
			state = refresh(state, shown(commit, commit, image))
			if !state.Equal(shown("main", commit, image)) {
				t.Errorf("after a reading: %s", state)
			}
			assertNoPlan(t, fs, set("main"), state)
		}
	})
	t.Run("service that reports the branch after all", func(t *testing.T) {
		t.Parallel()
		state := refresh(create(t, set("main"), shown("main", commitOne, nil)), shown("main", commitTwo, nil))
		assertNoPlan(t, fs, set("main"), state)
		drifts(t, set("main"), refresh(state, shown("develop", commitTwo, nil)), "main")
	})
	t.Run("imported commit may be of any branch, until one goes into the state", func(t *testing.T) {
		t.Parallel()
		state := refresh(set(nil), shown(commitOne, commitOne, nil))
		state = refresh(state, shown(commitTwo, commitTwo, nil))
		if !state.Equal(shown(commitTwo, commitTwo, nil)) {
			t.Errorf("after a reading: %s", state)
		}
		assertNoPlan(t, fs, set(nil), state)
		assertNoPlan(t, fs, set(commitTwo), state)
		planned := With(set("main"), fs.Plan(set("main"), state))
		assertPlanValid(t, fs, set("main"), state, planned)
		if text(members(planned)["repo_ref"]) != "main" {
			t.Errorf("planned %s", planned)
		}
		if found := fs.Differences(planned, fs.Named(state, planned)); len(found) > 0 {
			t.Errorf("differences at %s", found)
		}
		state = refresh(With(planned, fs.Settle(planned, state)), shown(commitOne, commitOne, nil))
		assertNoPlan(t, fs, set("main"), state)
		drifts(t, set("develop"), state, "develop")
	})
	t.Run("commit stands for the branch that was asked for, and for no other", func(t *testing.T) {
		t.Parallel()
		state := refresh(create(t, set("main"), shown(commitOne, commitOne, nil)), shown(commitTwo, commitTwo, nil))
		now := fs.Named(shown(commitOne, commitOne, nil), state)
		if !now.Equal(shown("main", commitOne, nil)) {
			t.Errorf("the service has %s", now)
		}
		if changes, err := fs.Changes(set("main"), now); err != nil || len(changes) > 0 {
			t.Errorf("for the same branch, would send %v, %v", changes, err)
		}
		for _, other := range []string{"develop", commitOne} {
			drifts(t, set(other), state, other)
			if changes, err := fs.Changes(set(other), now); err != nil || changes["repo_ref"] != other {
				t.Errorf("for %s, would send %v, %v", other, changes, err)
			}
		}
	})
	t.Run("pinned commit does not stand for a branch", func(t *testing.T) {
		t.Parallel()
		state := refresh(create(t, set(commitOne), shown(commitOne, commitOne, nil)), shown(commitOne, commitOne, nil))
		drifts(t, set("main"), state, "main")
		for _, now := range []tftypes.Value{shown(commitOne, commitOne, nil), shown(commitTwo, commitTwo, nil), shown("main", commitTwo, nil)} {
			if named := fs.Named(now, state); !named.Equal(now) {
				t.Errorf("the service has %s, which is taken for %s", now, named)
			}
		}
	})
	t.Run("pinned commit, and another is drift", func(t *testing.T) {
		t.Parallel()
		state := create(t, set(commitOne), shown(commitOne, commitOne, nil))
		state = refresh(state, shown(commitOne, commitOne, nil))
		assertNoPlan(t, fs, set(commitOne), state)
		drifts(t, set(commitOne), refresh(state, shown(commitTwo, commitTwo, nil)), commitOne)
	})
	t.Run("pinned commit in capitals", func(t *testing.T) {
		t.Parallel()
		pinned := set("ABCDEF0123456789ABCDEF0123456789ABCDEF01")
		state := create(t, pinned, shown(commitTwo, commitTwo, nil))
		if refreshed := refresh(state, shown(commitTwo, commitTwo, nil)); !refreshed.Equal(state) {
			t.Errorf("after a reading: %s", refreshed)
		}
		assertNoPlan(t, fs, pinned, state)
	})
	t.Run("another branch is a change", func(t *testing.T) {
		t.Parallel()
		drifts(t, set("develop"), shown("main", commitOne, nil), "develop")
	})
	t.Run("commit that the service does not explain is drift", func(t *testing.T) {
		t.Parallel()
		state := create(t, set("main"), shown(commitOne, nil, nil))
		drifts(t, set("main"), refresh(state, shown(commitOne, nil, nil)), "main")
	})
	t.Run("left out, it is the service's", func(t *testing.T) {
		t.Parallel()
		state := create(t, set(nil), shown(commitOne, commitOne, nil))
		assertNoPlan(t, fs, set(nil), refresh(state, shown("main", commitTwo, nil)))
	})
	t.Run("image that was configured is not to change", func(t *testing.T) {
		t.Parallel()
		config := shown(nil, nil, "image:1")
		state := refresh(create(t, config, shown(nil, nil, "image:1")), shown(nil, nil, "image:2"))
		if found := fs.Differences(With(config, fs.Plan(config, state)), state); len(found) != 1 || found[0].At.String() != "image_uri" {
			t.Errorf("differences at %s", found)
		}
	})
}

// TestPlanOfWhatIsNotKnown: what depends on other resources counts as no
// difference, and nothing is promised that the final plan could not keep.
func TestPlanOfWhatIsNotKnown(t *testing.T) {
	t.Parallel()
	fs := Fields{
		{Name: "map", Kind: TextMap},
		{Name: "list", Kind: List},
		{Name: "items", Kind: Objects, Key: []string{"name"}, Fields: Fields{{Name: "name", Kind: Text}, {Name: "a", Kind: Text}, {Name: "b", Kind: Text}}},
	}
	unknown := tftypes.NewValue(tftypes.String, tftypes.UnknownValue)
	state := of(t, fs, object{
		"map":   object{"a": "1", "b": "2"},
		"list":  []any{"1", "2"},
		"items": []any{object{"name": "x", "a": "1", "b": "of x"}, object{"name": "y", "a": "2", "b": "of y"}},
	})
	config := func(value tftypes.Value, last string, x tftypes.Value) tftypes.Value {
		item := func(name tftypes.Value, a string) tftypes.Value {
			return tftypes.NewValue(fs[2].Fields.Type(), Values{"name": name, "a": str(a), "b": tftypes.NewValue(tftypes.String, nil)})
		}
		return tftypes.NewValue(fs.Type(), Values{
			"map":   tftypes.NewValue(fs[0].Type(), Values{"a": value, "b": str(last)}),
			"list":  tftypes.NewValue(fs[1].Type(), []tftypes.Value{value, str(last)}),
			"items": tftypes.NewValue(fs[2].Type(), []tftypes.Value{item(x, "1"), item(str("y"), last)}),
		})
	}

	early := With(state, fs.Plan(config(unknown, "2", unknown), state))
	assertPlanValid(t, fs, config(unknown, "2", unknown), state, early)
	if found := fs.Differences(early, state); len(found) > 0 {
		t.Errorf("what is not known counts as a difference at %s", found)
	}
	if found := fs.Differences(With(state, fs.Plan(config(unknown, "3", unknown), state)), state); len(found) != 3 {
		t.Errorf("what is known beside it counts only at %s", found)
	}
	for name, final := range map[string]tftypes.Value{
		"the same":   config(str("1"), "2", str("x")),
		"another":    config(str("3"), "2", str("z")),
		"its sister": config(str("1"), "2", str("y")),
	} {
		planned := With(state, fs.Plan(final, state))
		assertPlanValid(t, fs, final, state, planned)
		if mistake := applyMistake(early, planned, name); mistake != "" {
			t.Errorf("the final plan goes back on the first: %s", mistake)
		}
	}
}

// TestKnownLimits are the places where core's rules leave no way to keep to
// the contract. They are written down here so that a change of them is seen.
func TestKnownLimits(t *testing.T) {
	t.Parallel()
	null := func(kind tftypes.Type) tftypes.Value { return tftypes.NewValue(kind, nil) }
	t.Run("an explicit empty is written to a state that has null", func(t *testing.T) {
		t.Parallel()
		fs := Fields{{Name: "v", Kind: Text}}
		config, state := of(t, fs, object{"v": ""}), of(t, fs, object{})
		planned := With(config, fs.Plan(config, state))
		assertPlanValid(t, fs, config, state, planned) // core takes only ""
		if planned.Equal(state) || len(fs.Differences(planned, state)) > 0 {
			t.Errorf("planned %s, differences at %s", planned, fs.Differences(planned, state))
		}
		settled := With(planned, fs.Settle(planned, state))
		assertNoPlan(t, fs, config, With(settled, fs.Refresh(settled, state, nil)))
	})
	t.Run("a map with an unknown value does not know that the state's has more", func(t *testing.T) {
		t.Parallel()
		fs := Fields{{Name: "v", Kind: TextMap}}
		state, config := of(t, fs, object{"v": object{"a": "1", "b": "2"}}), of(t, fs, object{"v": object{"a": "1"}})
		assertNoPlan(t, fs, config, state)
		unknown := tftypes.NewValue(fs.Type(), Values{"v": tftypes.NewValue(fs[0].Type(), Values{"a": tftypes.NewValue(tftypes.String, tftypes.UnknownValue)})})
		early := With(state, fs.Plan(unknown, state))
		assertPlanValid(t, fs, unknown, state, early)
		if applyMistake(early, With(state, fs.Plan(config, state)), "") == "" {
			t.Error("the final plan keeps to the first: this limit is gone")
		}
	})
	t.Run("an empty beside an unknown does not know that the object stays", func(t *testing.T) {
		t.Parallel()
		fs := Fields{{Name: "v", Kind: Object, Fields: Fields{{Name: "a", Kind: Text}, {Name: "b", Kind: Text}}}}
		state, config := of(t, fs, object{"v": object{"b": "1"}}), of(t, fs, object{"v": object{"a": "", "b": "1"}})
		assertNoPlan(t, fs, config, state)
		unknown := tftypes.NewValue(fs.Type(), Values{"v": tftypes.NewValue(fs[0].Type(), Values{"a": str(""), "b": tftypes.NewValue(tftypes.String, tftypes.UnknownValue)})})
		early := With(state, fs.Plan(unknown, state))
		assertPlanValid(t, fs, unknown, state, early)
		if applyMistake(early, With(state, fs.Plan(config, state)), "") == "" {
			t.Error("the final plan keeps to the first: this limit is gone")
		}
	})
	t.Run("a moved item with an unknown key may be written another way", func(t *testing.T) {
		t.Parallel()
		fs := Fields{{Name: "v", Kind: Objects, Key: []string{"name"}, Fields: Fields{{Name: "name", Kind: Text}, {Name: "id", Kind: UUID}}}}
		upper := "ABCDEFAB-CDEF-ABCD-EFAB-CDEFABCDEFAB"
		state := of(t, fs, object{"v": []any{object{"name": "x", "id": upper}, object{"name": "y", "id": uuids[0]}}})
		config := of(t, fs, object{"v": []any{object{"name": "y", "id": uuids[1]}, object{"name": "z", "id": uuids[0]}}})
		first := members(items(members(config)["v"])[0])
		unknown := tftypes.NewValue(fs.Type(), Values{"v": tftypes.NewValue(fs[0].Type(), []tftypes.Value{
			With(tftypes.NewValue(fs[0].Fields.Type(), first), Values{"name": tftypes.NewValue(tftypes.String, tftypes.UnknownValue)}),
			items(members(config)["v"])[1],
		})})
		early := With(state, fs.Plan(unknown, state))
		assertPlanValid(t, fs, unknown, state, early)
		if applyMistake(early, With(state, fs.Plan(config, state)), "") == "" {
			t.Error("the final plan keeps to the first: this limit is gone")
		}
	})
	t.Run("items without a key take over what stood at their place", func(t *testing.T) {
		t.Parallel()
		fs := Fields{{Name: "v", Kind: Objects, Key: []string{"name"}, Fields: Fields{{Name: "name", Kind: Text}, {Name: "a", Kind: Text}}}}
		config, state := of(t, fs, object{"v": []any{object{"a": "2"}}}), of(t, fs, object{"v": []any{object{"name": "x", "a": "1"}}})
		planned := With(config, fs.Plan(config, state))
		assertPlanValid(t, fs, config, state, planned)
		if name := members(items(members(planned)["v"])[0])["name"]; !name.Equal(str("x")) || name.Equal(null(tftypes.String)) {
			t.Errorf("planned %s", planned)
		}
	})
}

func TestRefreshShowsWhatIsTheServices(t *testing.T) {
	t.Parallel()
	fs := Fields{{Name: "free", Kind: JSON}, {Name: "frees", Kind: List, Elem: JSON}, {Name: "map", Kind: TextMap}, {Name: "items", Kind: Objects, Key: []string{"name"}, Fields: Fields{{Name: "name", Kind: Text}, {Name: "a", Kind: Text}}},
		{Name: "ordered", Kind: Objects, Key: []string{"name"}, Ordered: true, Fields: Fields{{Name: "name", Kind: Text}}}}
	one := func(names ...string) []any {
		var list []any
		for _, name := range names {
			list = append(list, object{"name": name})
		}
		return list
	}
	for name, c := range map[string]struct {
		prior, answer, want object
		owned               []string
	}{
		"members added, where no configuration sets any": {
			object{"free": object{"a": 1}, "map": object{"a": "1"}}, object{"free": object{"a": 1, "b": 2}, "map": object{"a": "1", "b": "2"}},
			object{"free": object{"a": 1, "b": 2}, "map": object{"a": "1", "b": "2"}}, nil},
		"members added beside configured ones stay out": {
			object{"free": object{"a": 1}, "map": object{"a": "1"}}, object{"free": object{"a": 1, "b": 2}, "map": object{"a": "1", "b": "2"}},
			object{"free": object{"a": 1}, "map": object{"a": "1"}}, []string{"free", "map"}},
		"configured members changed": {
			object{"free": object{"a": 1}, "map": object{"a": "1"}}, object{"free": object{"a": 2, "b": 2}, "map": object{"b": "2"}},
			object{"free": object{"a": 2, "b": 2}, "map": object{"b": "2"}}, []string{"free", "map"}},
		"configured ones gone":                    {object{"free": object{"a": 1}, "map": object{"a": "1"}}, object{}, object{"free": object{}, "map": object{}}, []string{"free", "map"}},
		"configured list of JSON gone":            {object{"frees": []any{object{"a": 1}}}, object{}, object{"frees": []any{}}, []string{"frees"}},
		"gone, where no configuration sets any":   {object{"free": object{"a": 1}, "map": object{"a": "1"}}, object{}, object{}, nil},
		"an empty directory is something":         {object{}, object{"free": object{}}, object{"free": object{}}, nil},
		"items in the order known, new ones last": {object{"items": one("b", "a", "c")}, object{"items": one("d", "a", "b")}, object{"items": one("b", "a", "d")}, nil},
		"ordered items in the service's order":    {object{"ordered": one("b", "a")}, object{"ordered": one("d", "a", "b")}, object{"ordered": one("d", "a", "b")}, nil},
		"items where none were":                   {object{}, object{"items": one("b")}, object{"items": one("b")}, nil},
		"twins in the service's order":            {object{"items": one("a", "a")}, object{"items": one("b", "a", "a")}, object{"items": one("b", "a", "a")}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			prior, want := of(t, fs, c.prior), of(t, fs, c.want)
			if got := With(prior, fs.Refresh(prior, of(t, fs, c.answer), c.owned)); !got.Equal(want) {
				t.Errorf("got %s, want %s", got, want)
			}
		})
	}
}

func TestSettleTakesFromTheAnswerOnlyWhatWasOpen(t *testing.T) {
	t.Parallel()
	fs := Fields{{Name: "map", Kind: TextMap}, {Name: "text", Kind: Text}, {Name: "none", Kind: Text},
		{Name: "items", Kind: Objects, Key: []string{"name"}, Fields: Fields{{Name: "name", Kind: Text}, {Name: "a", Kind: Text}}}}
	unknown := tftypes.NewValue(tftypes.String, tftypes.UnknownValue)
	item := func(name string) tftypes.Value {
		return tftypes.NewValue(fs[3].Fields.Type(), Values{"name": str(name), "a": unknown})
	}
	planned := tftypes.NewValue(fs.Type(), Values{
		"map":   tftypes.NewValue(fs[0].Type(), Values{"a": unknown, "b": str("2"), "c": unknown}),
		"text":  str("mine"),
		"none":  tftypes.NewValue(tftypes.String, nil),
		"items": tftypes.NewValue(fs[3].Type(), []tftypes.Value{item("x"), item("y"), item("z")}),
	})
	before := planned.Copy()
	answer := of(t, fs, object{"map": object{"a": "1", "b": "3", "d": "4"}, "text": "theirs", "none": "theirs", "items": []any{object{"name": "y", "a": "of y"}, object{"name": "x", "a": "of x"}}})
	want := Values{
		"map":   tftypes.NewValue(fs[0].Type(), Values{"a": str("1"), "b": str("2"), "c": tftypes.NewValue(tftypes.String, nil)}),
		"text":  str("mine"),
		"none":  tftypes.NewValue(tftypes.String, nil),
		"items": of(t, fs, object{"items": []any{object{"name": "x", "a": "of x"}, object{"name": "y", "a": "of y"}, object{"name": "z"}}}),
	}
	want["items"] = members(want["items"])["items"]
	got := With(planned, fs.Settle(planned, answer))
	if !got.Equal(tftypes.NewValue(fs.Type(), want)) {
		t.Errorf("got %s, want %s", got, want)
	}
	assertApplyValid(t, before, got)
	if !planned.Equal(before) {
		t.Error("the plan itself was changed")
	}
}

func TestWithKeepsTheRestAndTheOriginal(t *testing.T) {
	t.Parallel()
	original := tftypes.NewValue(tftypes.Object{AttributeTypes: map[string]tftypes.Type{"a": tftypes.String, "b": tftypes.String}}, Values{"a": str("1"), "b": str("2")})
	before := original.Copy()
	got := members(With(original, Values{"a": str("3")}))
	if !got["a"].Equal(str("3")) || !got["b"].Equal(str("2")) {
		t.Errorf("got %s", got)
	}
	if !original.Equal(before) {
		t.Errorf("the original is now %s", original)
	}
}

func TestOwnedNamesMapsAndJSONThatAreSet(t *testing.T) {
	t.Parallel()
	config := of(t, kinds, object{
		"json": object{}, "map": object{"a": "1"}, "texts": []any{"a"}, "jsons": []any{object{}},
		"object": object{"inner": object{"json": object{"a": 1}}},
		"keyed":  []any{object{"name": "x"}, object{"name": "y", "map": object{}}},
	})
	want := path.Paths{
		path.Root("json"), path.Root("map"), path.Root("jsons"),
		path.Root("object").AtName("inner").AtName("json"),
		path.Root("keyed").AtListIndex(1).AtName("map"),
	}
	got := kinds.Owned(config)
	if len(got) != len(want) {
		t.Fatalf("got %q, want %s", got, want)
	}
	for i := range got {
		if got[i] != want[i].String() {
			t.Errorf("got %q, want %q", got[i], want[i])
		}
	}
	unknown := With(of(t, kinds, object{}), Values{"json": tftypes.NewValue(tftypes.String, tftypes.UnknownValue)})
	if got := kinds.Owned(unknown); len(got) > 0 {
		t.Errorf("what is not known is at %q", got)
	}
}
