package field

import (
	"slices"

	"github.com/hashicorp/terraform-plugin-go/tftypes"
)

// Record is what the last apply set, as a tree. A nil Record means that nothing was applied yet, as after an import:
// nothing is owned.
type Record map[string]any

// UnmarshalJSON keeps the text of numbers, as all trees do.
func (r *Record) UnmarshalJSON(text []byte) error {
	tree, err := ReadJSON(text)
	*r, _ = tree.(map[string]any)
	return err
}

// Record returns the record of an apply: what the configuration sets, with the values that were planned for it, which
// ignore_changes may have replaced. Config is the configuration that Terraform passes to the apply.
func (fs Fields) Record(config, planned tftypes.Value) Record {
	return asObject(fs.root().part(fs.Encode(planned), fs.Encode(config)))
}

// owned returns the values in a state that the last apply set, or that a refresh has found in their place.
func (fs Fields) owned(state map[string]any, record Record) map[string]any {
	return asObject(fs.root().part(state, map[string]any(record)))
}

// part returns the part of a tree that another one sets: as it was set where that is satisfied, and the tree's own
// value elsewhere. It always looks into objects and lists of objects. Items of a list that cannot be matched are part
// of it, because lists are set as a whole. A value that the service may choose is part of it only as it was set.
// Nothing is part of nil, and nil sets nothing.
func (f Field) part(of, set any) any {
	switch {
	case of == nil, set == nil:
		return nil
	case of == Unknown:
		return of
	case !is[Object](f) && !is[ObjectList](f) && f.satisfies(of, set):
		return set
	}
	switch f.shape(set) {
	case members:
		if of, ok := of.(map[string]any); ok {
			return f.partOfMembers(of, asObject(set))
		}
	case items:
		if of, ok := of.([]any); ok {
			return f.partOfItems(of, asList(set))
		}
	}
	return of
}

func (f Field) partOfMembers(of, set map[string]any) map[string]any {
	result := make(map[string]any, len(set))
	for name, value := range set {
		member := f.member(name)
		part := member.part(of[name], value)
		switch {
		case member.Access == OptionalComputed && !member.equal(of[name], value):
			continue
		case of[name] == nil && !is[Object](f) && member.satisfies(nil, value):
			part = value // of a map or JSON: empty and absent are one thing
		}
		if part != nil {
			result[name] = part
		}
	}
	return result
}

func (f Field) partOfItems(of, set []any) []any {
	result := slices.Clone(of)
	for i, j := range f.partners(of, set) {
		if j >= 0 {
			result[i] = f.item().part(of[i], set[j])
		}
	}
	return result
}

// partners returns for each item of a list the index of its partner in another one, or -1: of objects by key, of JSON
// by position if both are equally long.
func (f Field) partners(list, other []any) []int {
	if objects, ok := f.Kind.(ObjectList); ok {
		return objects.match(list, other)
	}
	partners := make([]int, len(list))
	for i := range partners {
		partners[i] = -1
		if f.isJSONList() && len(list) == len(other) {
			partners[i] = i
		}
	}
	return partners
}

// isJSONList reports whether the items of a list are JSON.
func (f Field) isJSONList() bool { return is[JSON](f.item()) || is[free](f.item()) }
