package field

import (
	"encoding/json"
	"errors"
	"maps"
	"slices"
	"strings"
)

// Check reports why a response cannot be read, as a [TypeError]: the error of [Fields.Decode], a number that is none of
// 64 bits in any member, or a member whose name differs from a described one only in case. It builds no values, because
// lists of thousands are checked.
func (fs Fields) Check(tree map[string]any) error {
	described := 0
	for _, f := range fs {
		value, found := tree[f.wire()]
		if err := f.named(f.check(value)); err != nil {
			return err
		}
		if found {
			described++
		}
	}
	if described == len(tree) {
		return nil
	}
	return fs.checkUndescribed(tree)
}

func (fs Fields) checkUndescribed(tree map[string]any) error {
	for _, name := range slices.Sorted(maps.Keys(tree)) {
		f, found := fs.byFold(name)
		switch {
		case !found:
			if err := (Field{Name: name}).named(checkNumbers(tree[name])); err != nil {
				return err
			}
		case f.wire() != name:
			return f.named(&TypeError{Has: "in the response with other capital letters", Want: "with exactly this name"})
		}
	}
	return nil
}

func (f Field) check(tree any) error {
	switch value := tree.(type) {
	case nil:
		return nil
	case string:
		if f.Kind == String || f.Kind == UUID || f.Kind == Time {
			return nil
		}
	case map[string]any:
		if f.Kind == Object {
			return f.Fields.Check(value)
		}
	case []any:
		if f.Kind != List && f.Kind != ObjectList {
			break
		}
		elem := f.elem()
		for _, item := range value {
			if err := elem.check(item); err != nil {
				return err
			}
		}
		return nil
	}
	if f.Kind == JSON {
		return checkNumbers(tree)
	}
	_, err := kinds[f.Kind].decode(f, tree)
	return err
}

// checkNumbers reports a number, at any depth, that is none of 64 bits: Terraform, or whoever reads the tree next, may
// take minutes for it.
func checkNumbers(tree any) error {
	switch tree := tree.(type) {
	case map[string]any:
		for name, value := range tree {
			if err := checkNumbers(value); err != nil {
				return Field{Name: name}.named(err)
			}
		}
	case []any:
		for _, item := range tree {
			if err := checkNumbers(item); err != nil {
				return err
			}
		}
	case json.Number:
		if _, ok := toNumber(tree); !ok {
			return wrongNumber(tree, "a number in the range of a 64-bit float")
		}
	}
	return nil
}

// TypeError reports a member of a response that does not have the documented type. It shows no text, which may be
// anything.
type TypeError struct {
	Member    string // in the names of the API: "source_config.resource_spec.memory_mb"
	Has, Want string // "1.5" and "an integer of at most 64 bits", "a list" and "an object"
}

func (e *TypeError) Error() string { return e.Member + " is " + e.Has + ", not " + e.Want }

// named adds the name of the field to an error about what is within it.
func (f Field) named(err error) error {
	if mismatch, ok := errors.AsType[*TypeError](err); ok {
		mismatch.Member = strings.TrimSuffix(f.wire()+"."+mismatch.Member, ".")
	}
	return err
}

func mismatch(tree any, want string) *TypeError {
	return &TypeError{Has: jsonTypeName(tree), Want: want}
}

// wrongNumber shows the number, if it is short.
func wrongNumber(tree any, want string) *TypeError {
	err := mismatch(tree, want)
	if number, ok := tree.(json.Number); ok && len(number) <= 64 {
		err.Has = number.String()
	}
	return err
}

// jsonTypeName is the type of a value in words.
func jsonTypeName(tree any) string {
	switch tree.(type) {
	case string:
		return "a string"
	case bool:
		return "a boolean"
	case []any:
		return "a list"
	case map[string]any:
		return "an object"
	default:
		return "a number"
	}
}
