package field

import (
	"encoding/json"
	"maps"

	"github.com/hashicorp/terraform-plugin-go/tftypes"
)

// Changes is what would have to be sent so that the service, which has has,
// holds what wanted sets: the members that differ and no others, in the wire's
// names. What is sent as one piece (a list, a map, free-form JSON) is sent with
// the members that the service has there beside the wanted ones, as those are
// its own. Refs are to be [Fields.Named] in has.
func (fs Fields) Changes(wanted, has tftypes.Value) (map[string]any, error) {
	changes := map[string]any{}
	want, had := members(wanted), members(has)
	for _, f := range fs {
		value := want[f.Name]
		if value.IsNull() || !value.IsKnown() || f.covers(had[f.Name], value) {
			continue
		}
		var change any
		var err error
		if f.Kind == Object {
			change, err = f.Fields.Changes(value, had[f.Name])
		} else {
			change, err = f.whole(value, had[f.Name])
		}
		if err != nil {
			return nil, err
		}
		changes[f.wire()] = change
	}
	return changes, nil
}

// whole is a wanted value as it is sent in one piece.
func (f Field) whole(wanted, has tftypes.Value) (any, error) {
	want, err := f.encode(wanted)
	if err != nil {
		return nil, err
	}
	had, err := f.encode(has)
	if err != nil {
		return nil, err
	}
	if f.Kind != Objects {
		return overlay(f.Kind, had, want), nil
	}
	wantItems, hadItems := items(wanted), items(has)
	whole := make([]any, len(wantItems))
	for i, j := range f.match(wantItems, hadItems) {
		var before tftypes.Value
		if j >= 0 {
			before = hadItems[j]
		}
		if whole[i], err = f.item().wholeObject(wantItems[i], before); err != nil {
			return nil, err
		}
	}
	return whole, nil
}

// wholeObject is an item of a list: each of its members in one piece.
func (f Field) wholeObject(wanted, has tftypes.Value) (any, error) {
	whole := map[string]any{}
	want, had := members(wanted), members(has)
	for _, child := range f.Fields {
		value, before := want[child.Name], had[child.Name]
		if child.empty(value) && !child.empty(before) {
			value = before
		}
		if value.IsNull() || !value.IsKnown() {
			continue
		}
		var member any
		var err error
		if child.Kind == Object {
			member, err = child.wholeObject(value, before)
		} else {
			member, err = child.whole(value, before)
		}
		if err != nil {
			return nil, err
		}
		whole[child.wire()] = member
	}
	return whole, nil
}

// overlay puts the members of want over those of had, where both have members.
func overlay(kind Kind, had, want any) any {
	switch kind {
	case JSON:
		hadText, ok1 := had.(json.RawMessage)
		wantText, ok2 := want.(json.RawMessage)
		if !ok1 || !ok2 {
			return want
		}
		hadTree, err1 := readJSON(hadText)
		wantTree, err2 := readJSON(wantText)
		if err1 != nil || err2 != nil {
			return want
		}
		return overlayTree(hadTree, wantTree)
	case TextMap:
		return overlayTree(had, want)
	default:
		return want
	}
}

func overlayTree(had, want any) any {
	hadMembers, ok1 := had.(map[string]any)
	wantMembers, ok2 := want.(map[string]any)
	if !ok1 || !ok2 {
		return want
	}
	both := maps.Clone(hadMembers)
	for name, value := range wantMembers {
		if value != nil { // null leaves it to the service
			both[name] = overlayTree(hadMembers[name], value)
		}
	}
	return both
}

// Unknown returns planned with the attributes at places, paths of names, known
// only after apply, where the configuration does not set them.
func (fs Fields) Unknown(planned, config Values, places ...[]string) Values {
	unknown := maps.Clone(planned)
	for _, place := range places {
		f, ok := fs.byName(place[0])
		value := unknown[place[0]]
		switch {
		case !ok || !value.IsKnown():
		case len(place) == 1 && config[place[0]].IsNull():
			unknown[place[0]] = tftypes.NewValue(f.Type(), tftypes.UnknownValue)
		case len(place) > 1 && !value.IsNull():
			unknown[place[0]] = tftypes.NewValue(f.Type(), f.Fields.Unknown(members(value), members(config[place[0]]), place[1:]))
		}
	}
	return unknown
}

func (fs Fields) byName(name string) (Field, bool) {
	for _, f := range fs {
		if f.Name == name {
			return f, true
		}
	}
	return Field{}, false
}
