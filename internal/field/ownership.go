package field

import (
	"maps"
	"slices"

	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-go/tftypes"
)

// Who owns a value. What the configuration sets is the user's; what it leaves
// out is the service's. Three functions hold that rule, one for each moment at
// which Terraform asks: Plan, Settle (after an apply) and Refresh. Each keeps
// the form in which a value was written for as long as it means the same, as
// Terraform takes another form for another value.
//
// They take whole objects, which may have attributes beside these fields
// (those of the resource alone); they return only the fields, for [With].

// Values are the attributes of an object by name.
type Values = map[string]tftypes.Value

// With returns object with the attributes in values put in place of its own.
func With(object tftypes.Value, values Values) tftypes.Value {
	all := maps.Clone(members(object)) // as tftypes shares it
	maps.Copy(all, values)
	return tftypes.NewValue(object.Type(), all)
}

// Plan is what a plan holds: what the configuration sets, in the state's form
// where that means the same, and for the rest what the state holds; where there
// is no state yet, it is known after apply. A null state means a create.
func (fs Fields) Plan(config, state tftypes.Value) Values {
	p := planner{updating: !state.IsNull()}
	return p.object(fs, members(config), members(state), !state.IsNull(), false)
}

type planner struct{ updating bool }

// object plans the attributes of one object. There says whether the state is
// known to have that object. Exact says that the state's form must not be used,
// as the state has that object elsewhere in a list, where Terraform does not
// look for it.
func (p planner) object(fs Fields, config, state Values, there, exact bool) Values {
	planned := make(Values, len(fs))
	for _, f := range fs {
		wanted, known := config[f.Name], state[f.Name]
		switch {
		case !wanted.IsNull():
			if !exact && isFullCommit(text(wanted)) && f.resolved(wanted, state) {
				planned[f.Name] = known // in other letters
			} else {
				planned[f.Name] = p.set(f, wanted, known, there, exact)
			}
		case there:
			planned[f.Name] = known
		default:
			planned[f.Name] = tftypes.NewValue(f.Type(), tftypes.UnknownValue)
		}
	}
	return planned
}

// set plans an attribute that the configuration sets.
func (p planner) set(f Field, wanted, state tftypes.Value, there, exact bool) tftypes.Value {
	switch {
	case !wanted.IsKnown():
		return wanted
	case !exact && !state.IsNull() && f.covers(state, wanted):
		return state
	case p.updating && state.IsNull() && f.empty(wanted):
		return wanted // it asks for nothing, so nothing is to be known later
	}
	switch f.Kind {
	case Object:
		return tftypes.NewValue(f.Type(), p.object(f.Fields, members(wanted), members(state), there && !state.IsNull(), exact))
	case Objects:
		configured, known := items(wanted), items(state)
		planned := make([]tftypes.Value, len(configured))
		for i, j := range f.match(configured, known) {
			var before tftypes.Value
			if j >= 0 {
				before = known[j]
			}
			// Without its key, an item may turn out to be another one.
			there := there && !before.IsNull() && f.keysKnown(configured)
			if configured[i].IsKnown() && !configured[i].IsNull() {
				planned[i] = tftypes.NewValue(f.Fields.Type(), p.object(f.Fields, members(configured[i]), members(before), there, exact || i != j))
			} else {
				planned[i] = configured[i]
			}
		}
		return tftypes.NewValue(f.Type(), planned)
	default:
		return wanted
	}
}

// Settle is what the state holds after an apply: the plan, with what was to be
// known afterwards taken from the service's answer.
func (fs Fields) Settle(planned, answer tftypes.Value) Values {
	return settle(fs, members(planned), members(answer))
}

func settle(fs Fields, planned, answer Values) Values {
	settled := make(Values, len(fs))
	for _, f := range fs {
		settled[f.Name] = f.settle(planned[f.Name], answer[f.Name])
	}
	return settled
}

func (f Field) settle(planned, answer tftypes.Value) tftypes.Value {
	switch {
	case !planned.IsKnown() && answer.Type() == nil:
		return tftypes.NewValue(f.Type(), nil)
	case !planned.IsKnown():
		return answer
	case planned.IsNull() || planned.IsFullyKnown():
		return planned
	}
	switch f.Kind {
	case Object:
		return tftypes.NewValue(f.Type(), settle(f.Fields, members(planned), members(answer)))
	case Objects:
		wanted, answered := items(planned), items(answer)
		settled := make([]tftypes.Value, len(wanted))
		for i, j := range f.match(wanted, answered) {
			var item tftypes.Value
			if j >= 0 {
				item = answered[j]
			}
			settled[i] = f.item().settle(wanted[i], item)
		}
		return tftypes.NewValue(f.Type(), settled)
	case TextMap:
		settled := maps.Clone(members(planned))
		for name, value := range settled {
			if !value.IsKnown() {
				settled[name] = Field{Kind: Text}.settle(value, members(answer)[name])
			}
		}
		return tftypes.NewValue(f.Type(), settled)
	default:
		return planned
	}
}

// Refresh is what the state holds after a reading: the service's answer, in
// the prior state's form where that means the same. Owned are the places that
// [Fields.Owned] gave after the last apply: members that the service added to
// a map or a JSON object there, and what it has in place of an empty value, stay
// out of the state, so that what follows from it does not change between an
// apply and the next plan.
func (fs Fields) Refresh(prior, answer tftypes.Value, owned []string) Values {
	r := refresher{owned: map[string]bool{}}
	for _, place := range owned {
		r.owned[place] = true
	}
	return r.object(fs, members(prior), members(answer), path.Empty())
}

type refresher struct{ owned map[string]bool }

func (r refresher) object(fs Fields, prior, answer Values, at path.Path) Values {
	refreshed := make(Values, len(fs))
	for _, f := range fs {
		before := prior[f.Name]
		// A commit that is not of the usual form moves on with the next.
		if f.resolved(before, answer) && (text(before) != text(prior[f.ResolvesTo]) || isFullCommit(text(answer[f.ResolvesTo]))) {
			refreshed[f.Name] = before
			continue
		}
		refreshed[f.Name] = r.value(f, before, answer[f.Name], at.AtName(f.Name))
	}
	return refreshed
}

func (r refresher) value(f Field, prior, answer tftypes.Value, at path.Path) tftypes.Value {
	if answer.Type() == nil {
		answer = tftypes.NewValue(f.Type(), nil)
	}
	switch {
	case prior.Type() == nil:
		return answer
	case f.Kind == JSON && prior.IsNull():
		return answer // {} is something where nothing was
	case f.empty(prior) && f.empty(answer):
		return prior
	case !prior.IsNull() && f.empty(prior) && r.owned[at.String()]:
		return prior // which an apply put there
	case prior.IsNull():
		return answer
	case r.owned[at.String()]:
		if f.holdsMore() && f.covers(answer, prior) {
			return prior
		} else if answer.IsNull() {
			return f.nothing() // one that the configuration has, where an empty one may do
		}
	case answer.IsNull() && f.Kind != Object: // an object stays one, of nulls: a configuration may have it
		return answer
	}
	switch f.Kind {
	case Object:
		return tftypes.NewValue(f.Type(), r.object(f.Fields, members(prior), members(answer), at))
	case Objects:
		return r.items(f, items(prior), items(answer), at)
	}
	if f.same(prior, answer) {
		return prior
	}
	return answer
}

// items refreshes a list of objects: in the prior order where order has no
// meaning, with new items last.
func (r refresher) items(f Field, prior, answer []tftypes.Value, at path.Path) tftypes.Value {
	partners := f.match(answer, prior)
	refreshed := make([]tftypes.Value, len(answer))
	places := make([]int, 0, len(answer)) // indices of answer in the order to show
	if !f.Ordered {
		for i := range prior {
			for a, p := range partners {
				if p == i {
					places = append(places, a)
				}
			}
		}
		for a, p := range partners {
			if p < 0 {
				places = append(places, a)
			}
		}
	} else {
		for a := range answer {
			places = append(places, a)
		}
	}
	for i, a := range places {
		if p := partners[a]; p >= 0 {
			refreshed[i] = r.value(f.item(), prior[p], answer[a], at.AtListIndex(p))
		} else {
			refreshed[i] = answer[a]
		}
	}
	return tftypes.NewValue(f.Type(), refreshed)
}

// Named returns what the service has with the refs in asked, which it was last
// asked for, where it reports what it resolved those to. A commit stands for
// that branch and for no other: only so is another one seen to be a change.
func (fs Fields) Named(has, asked tftypes.Value) tftypes.Value {
	return fs.exchangeRefs(has, asked, asked, has)
}

// Resolved is the other way round: what is wanted, with what the service resolved
// its refs to, where it reports that.
func (fs Fields) Resolved(wanted, has tftypes.Value) tftypes.Value {
	return fs.exchangeRefs(wanted, has, wanted, has)
}

// exchangeRefs returns an object with those refs of another that are resolved,
// wanted in has.
func (fs Fields) exchangeRefs(object, other, wanted, has tftypes.Value) tftypes.Value {
	values, own, others, all, had := Values{}, members(object), members(other), members(wanted), members(has)
	for _, f := range fs {
		switch value := own[f.Name]; {
		case f.resolved(all[f.Name], had):
			values[f.Name] = others[f.Name]
		case f.Kind == Object && value.IsKnown() && !value.IsNull():
			values[f.Name] = f.Fields.exchangeRefs(value, others[f.Name], all[f.Name], had[f.Name])
		}
	}
	if len(values) == 0 {
		return object
	}
	return With(object, values)
}

// Owned lists the maps, the JSON objects and the empty values that a
// configuration sets, as places for [Fields.Refresh]. It is never nil: nil is
// that nothing was applied yet.
func (fs Fields) Owned(config tftypes.Value) []string {
	return owned(fs, members(config), path.Empty(), []string{})
}

func owned(fs Fields, config Values, at path.Path, places []string) []string {
	for _, f := range fs {
		value, here := config[f.Name], at.AtName(f.Name)
		if value.IsNull() || !value.IsKnown() {
			continue
		}
		switch {
		case f.holdsMore(), f.Kind != Object && f.empty(value):
			places = append(places, here.String())
		case f.Kind == Object:
			places = owned(f.Fields, members(value), here, places)
		case f.Kind == Objects:
			for i, item := range items(value) {
				places = owned(f.Fields, members(item), here.AtListIndex(i), places)
			}
		}
	}
	return places
}

// holdsMore reports whether the service may add members within the value.
func (f Field) holdsMore() bool {
	return f.Kind == TextMap || f.Kind == JSON || f.Kind == List && f.Elem == JSON
}

// nothing is an empty value that is not null.
func (f Field) nothing() tftypes.Value {
	switch f.Kind {
	case TextMap:
		return tftypes.NewValue(f.Type(), Values{})
	case List, Objects:
		return tftypes.NewValue(f.Type(), []tftypes.Value{})
	case JSON:
		return tftypes.NewValue(f.Type(), "{}")
	default:
		return tftypes.NewValue(f.Type(), "")
	}
}

// Difference is an attribute of which one has not what another wants.
type Difference struct {
	At          path.Path
	Wanted, Has string // both in words, short
}

// Differences lists the attributes at which has does not hold what wanted
// says: the innermost that can be named. What is not known yet does not count.
// Where has is an answer, refs are to be [Fields.Named] in it first.
func (fs Fields) Differences(wanted, has tftypes.Value) []Difference {
	var found []Difference
	differences(fs, members(wanted), members(has), path.Empty(), &found)
	return found
}

// MayDiffer reports whether has does not hold what wanted says, or may not, as
// something of it is not known yet.
func (fs Fields) MayDiffer(wanted, has tftypes.Value) bool {
	all, had := members(wanted), members(has)
	for _, f := range fs {
		value := all[f.Name]
		if !value.IsNull() && !f.covers(had[f.Name], value) {
			return true
		}
	}
	return false
}

func differences(fs Fields, wanted, has Values, at path.Path, found *[]Difference) {
	for _, f := range fs {
		value, here := wanted[f.Name], at.AtName(f.Name)
		if !value.IsNull() {
			f.differences(value, has[f.Name], here, found)
		}
	}
}

func (f Field) differences(wanted, has tftypes.Value, at path.Path, found *[]Difference) {
	if !wanted.IsKnown() || f.covers(has, wanted) {
		return
	}
	switch f.Kind {
	case Object:
		differences(f.Fields, members(wanted), members(has), at, found)
		return
	case Objects:
		wanted, has := items(wanted), items(has)
		partners := f.match(wanted, has)
		if len(wanted) == len(has) && !slices.Contains(partners, -1) && (!f.Ordered || slices.IsSorted(partners)) {
			for i, j := range partners {
				f.item().differences(wanted[i], has[j], at.AtListIndex(i), found)
			}
			return
		}
	case List:
		if slices.EqualFunc(items(has), items(wanted), func(has, wanted tftypes.Value) bool {
			return !wanted.IsKnown() || f.elem().holds(has, wanted)
		}) {
			return
		}
	case TextMap:
		known := maps.Clone(members(wanted))
		maps.DeleteFunc(known, func(_ string, value tftypes.Value) bool { return !value.IsKnown() })
		if f.covers(has, tftypes.NewValue(f.Type(), known)) {
			return
		}
	}
	d := Difference{At: at}
	d.Wanted, d.Has = f.inWords(wanted, has)
	*found = append(*found, d)
}
