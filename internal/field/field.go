// Package field describes the attributes of the API's objects once, and derives from the description what Terraform
// needs of them: schemas, the way from JSON to Terraform's values and back, and the rules of ownership.
//
// A value has two forms. A [tftypes.Value] is what the plugin framework has of a configuration, plan or state. A tree
// is JSON as encoding/json decodes it (map[string]any, []any, string, bool, [json.Number], nil), with the API's names;
// [Unknown] stands for what is known only after apply. Under a [Field], a tree has members, has items, or is a leaf.
// Free-form JSON and members that no field describes are trees as well.
//
// Ownership compares three things, as kubectl apply does: what the configuration sets, what the last apply set (the
// [Record], in private state), and what the service has. All of it is logic on trees, in five verbs:
//
//   - equal: whether two trees mean exactly the same;
//   - satisfies: whether the service has everything that is wanted, where null, empty and absent are one thing;
//   - part: the part of a tree that another one sets, such as what is owned of a state;
//   - merge: what the service should have, from what it has, a plan and the state before;
//   - render: a tree as Terraform's values, in the form in which the user wrote what means the same.
//
// Before all of them, asWritten undoes what services make of values (the commit of a ref, an image that was built), and
// names are brought into Unicode NFC. The form is chosen last. So:
//
//   - [Fields.Plan] and [Fields.Refresh] decide per attribute between configuration, state and service.
//   - [Fields.AfterApply] is the plan, with what is unknown there from the response.
//   - [Fields.Record], the record of an apply, is the part of the plan that the configuration sets.
//   - [Fields.NewChange] is what an update has to do: [Change.Compare] merges it into what the service has, for a
//     PATCH, and [Change.Missing] is what the service did not take.
//
// A state has what the configuration sets, what the service chooses, and what was imported: what is omitted is null,
// and stays null. Null and empty are two things for equal, and one for satisfies; {} as JSON is a value. Config, plan,
// state and record are the user's; live is the service's; owned is the part of the state that the last apply set.
//
// To read: kinds, scalars and tree; equality; reported (asWritten); ownership (part); plan, refresh and render, which
// make a state; change and merge, which make a PATCH. Schema, validators and format stand alone.
package field

import (
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/hashicorp/terraform-plugin-go/tftypes"
)

// Access is who sets an attribute in a resource.
type Access int

// The accesses.
const (
	Optional Access = iota
	Required
	OptionalComputed // if it is omitted, the service chooses the value
	ReadOnly
)

// Field is one attribute: the one place where its name, kind and rules are. Nothing in a list of objects is
// OptionalComputed or ReadOnly: a list has nothing that is known only from the response to an apply.
type Field struct {
	Name        string // in HCL
	Wire        string // in JSON, where it differs from Name
	Kind        Kind
	Access      Access
	Exclusive   bool   // of several siblings with this mark, only one may be set
	Sensitive   bool   // in data sources
	Description string // Markdown: what it is; the schema adds what follows from the other members
	Usage       string // Markdown: how to set it, which data sources omit
}

// Fields are the attributes of an object, in the order of the API's documentation.
type Fields []Field

// wire returns the name in JSON.
func (f Field) wire() string {
	if f.Wire != "" {
		return f.Wire
	}
	return f.Name
}

// kind returns the kind of a field if it is a K, and the zero value of K otherwise.
func kind[K Kind](f Field) K {
	k, _ := f.Kind.(K)
	return k
}

func is[K Kind](f Field) bool {
	_, ok := f.Kind.(K)
	return ok
}

// Fields returns the attributes of an object, or of the items of a list of objects; nil for another kind.
func (f Field) Fields() Fields {
	switch k := f.Kind.(type) {
	case Object:
		return k.Fields
	case ObjectList:
		return k.Fields
	}
	return nil
}

// isChosen reports whether the service sets the value, or chooses it if it is omitted.
func (f Field) isChosen() bool { return f.Access == ReadOnly || f.Access == OptionalComputed }

// root describes an object with these attributes.
func (fs Fields) root() Field { return Field{Kind: Object{Fields: fs}} }

func (f Field) null() tftypes.Value { return tftypes.NewValue(f.Kind.Type(), nil) }

func (f Field) unknown() tftypes.Value { return tftypes.NewValue(f.Kind.Type(), tftypes.UnknownValue) }

// Type returns the Terraform type of an object with these attributes, built once: it must not be changed.
func (fs Fields) Type() tftypes.Object {
	return once(&tfTypes, fs, func() tftypes.Object {
		types := make(map[string]tftypes.Type, len(fs))
		for _, f := range fs {
			types[f.Name] = f.Kind.Type()
		}
		return tftypes.Object{AttributeTypes: types}
	})
}

// The types that follow from fields are built once: each is a tree as wide as the schema, and every value refers to
// one.
var tfTypes, attrTypes sync.Map

// fieldsKey identifies a description; descriptions do not change.
type fieldsKey struct {
	first *Field
	n     int
}

func once[T any](built *sync.Map, fs Fields, build func() T) T {
	if len(fs) == 0 {
		return build()
	}
	key := fieldsKey{&fs[0], len(fs)}
	if found, ok := built.Load(key); ok {
		return found.(T) //nolint:forcetypeassert // each map has one type
	}
	value := build()
	built.Store(key, value)
	return value
}

// Without returns the fields except those of the given names.
func (fs Fields) Without(names ...string) Fields {
	return slices.DeleteFunc(slices.Clone(fs), func(f Field) bool { return slices.Contains(names, f.Name) })
}

// ByName finds an attribute by its name in HCL.
func (fs Fields) ByName(name string) (Field, bool) {
	return fs.first(func(f Field) bool { return f.Name == name })
}

func (fs Fields) byWire(name string) (Field, bool) {
	return fs.first(func(f Field) bool { return f.wire() == name })
}

// byFold finds an attribute by its name in JSON, or else by one that differs in case.
func (fs Fields) byFold(name string) (Field, bool) {
	if f, ok := fs.byWire(name); ok {
		return f, true
	}
	return fs.first(func(f Field) bool { return strings.EqualFold(f.wire(), name) })
}

func (fs Fields) first(isIt func(Field) bool) (Field, bool) {
	if i := slices.IndexFunc(fs, isIt); i >= 0 {
		return fs[i], true
	}
	return Field{}, false
}

// Values are the attributes of an object by name.
type Values = map[string]tftypes.Value

// With returns object with the attributes in values in place of its own.
func With(object tftypes.Value, values Values) tftypes.Value {
	all := maps.Clone(Members(object)) // tftypes shares it
	maps.Copy(all, values)
	return tftypes.NewValue(object.Type(), all)
}

// Text returns a string. This function and the next two read a value of the type that its description gives it; one
// that is null or unknown yields the zero value.
func Text(v tftypes.Value) string { return as[string](v) }

// Members returns the attributes of an object, or the values of a map.
func Members(v tftypes.Value) Values { return as[Values](v) }

// Items returns the items of a list or set.
func Items(v tftypes.Value) []tftypes.Value { return as[[]tftypes.Value](v) }

func as[T any](v tftypes.Value) (value T) {
	if v.IsKnown() && !v.IsNull() {
		_ = v.As(&value)
	}
	return value
}

// isNull reports whether v is null, or was never there.
func isNull(v tftypes.Value) bool { return v.Type() == nil || v.IsNull() }
