package field

import (
	"cmp"
	"slices"

	"github.com/hashicorp/terraform-plugin-go/tftypes"
)

// Refresh returns the values of these attributes in the state after a refresh, for [With]. Live is a response; source
// is the source of the deployment, see [String.BuiltFor]. The error is a [TypeError].
//
// What was set is replaced where the service has something else; what is null stays null; the rest, such as imported
// values, follows the service.
func (fs Fields) Refresh(prior tftypes.Value, live map[string]any, source string, record Record) (Values, error) {
	if err := fs.Check(live); err != nil {
		return nil, err
	}
	state := fs.Encode(prior)
	owned := fs.owned(state, record)
	has := fs.asWritten(normalized(live), owned, source)
	r := refresher{imported: record == nil}
	if r.imported {
		has = fs.withoutCommits(has)
	}
	return fs.render(r.object(fs, state, has, owned), Members(prior)), nil
}

type refresher struct {
	imported bool // nothing is owned, and what is null follows the service, too
}

func (r refresher) object(fs Fields, prior, live, owned map[string]any) map[string]any {
	refreshed := make(map[string]any, len(fs))
	for _, f := range fs {
		name := f.wire()
		value := r.value(f, prior[name], live[name], owned[name])
		switch {
		case fs.isReplaced(f, live, prior[name]): // by a sibling
		case value != nil:
			refreshed[name] = value
		case kind[Object](f).Present:
			refreshed[name] = map[string]any{}
		}
	}
	return refreshed
}

func (r refresher) value(f Field, prior, live, owned any) any {
	switch {
	case r.follows(f, prior, owned):
		mayStay := prior != nil || f.Access == OptionalComputed // null counts as a form of empty
		if mayStay && f.satisfies(prior, live) && f.satisfies(live, prior) {
			return prior
		}
		return live
	case prior == nil:
		return nil
	}
	switch k := f.Kind.(type) {
	case Object:
		return r.object(k.Fields, asObject(prior), asObject(live), asObject(owned))
	case ObjectList:
		return r.list(k, asList(prior), asList(live), asList(owned))
	}
	if f.satisfies(live, prior) {
		return prior
	}
	return f.part(live, prior)
}

// follows reports whether a value of the state is the service's: read-only, chosen by the service, imported, or more
// than what was set.
func (r refresher) follows(f Field, prior, owned any) bool {
	switch {
	case kind[JSON](f).Partial:
		return false
	case r.imported, f.Access == ReadOnly:
		return true
	case prior == nil: // what is omitted stays so, unless the service chooses it
		return f.Access == OptionalComputed
	case owned == nil:
		return !kind[Object](f).Present
	case is[Object](f), is[ObjectList](f):
		return false // they are compared within
	}
	return !f.satisfies(owned, prior)
}

// list refreshes a list of objects: in the prior order where order has no meaning, with the items that were added
// elsewhere last.
func (r refresher) list(l ObjectList, prior, live, owned []any) any {
	partners := l.match(live, prior)
	order := make([]int, len(live))
	for i := range order {
		order[i] = i
	}
	if !l.Ordered {
		position := func(i int) int {
			if partners[i] < 0 {
				return len(prior)
			}
			return partners[i]
		}
		slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(position(a), position(b)) })
	}
	list := make([]any, len(live))
	for i, from := range order {
		list[i] = live[from]
		if partners[from] >= 0 {
			list[i] = r.value(l.item(), prior[partners[from]], live[from], itemAt(owned, partners[from]))
		}
	}
	return list
}

// AfterApply returns the values of these attributes in the state after an apply, for [With]: the planned ones, and
// where the plan is unknown, those of the response. The error is a [TypeError].
func (fs Fields) AfterApply(planned tftypes.Value, live map[string]any) (Values, error) {
	if err := fs.Check(live); err != nil {
		return nil, err
	}
	return fs.afterApply(planned, live), nil
}

func (fs Fields) afterApply(planned tftypes.Value, live map[string]any) Values {
	values := make(Values, len(fs))
	for _, f := range fs {
		value, response := Members(planned)[f.Name], live[f.wire()]
		object, isObject := f.Kind.(Object)
		switch {
		case !value.IsKnown():
			value = f.decode(response)
		case isObject && !isNull(value) && !value.IsFullyKnown():
			value = tftypes.NewValue(object.Type(), object.Fields.afterApply(value, asObject(response)))
		}
		values[f.Name] = value
	}
	return values
}
