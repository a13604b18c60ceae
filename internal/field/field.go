// Package field describes the attributes of the service's shapes once, and
// derives from the description what Terraform needs of them: schemas of
// resources and data sources, the way from a client type to a Terraform value
// and back, and the rules of who owns a value.
//
// A value travels as a [tftypes.Value], the form in which the plugin framework
// holds a whole configuration, plan or state, so that the rules are written
// once for every attribute instead of once for each.
package field

import (
	"maps"
	"slices"
	"sync"

	"github.com/hashicorp/terraform-plugin-go/tftypes"
)

// Kind is the kind of an attribute's value.
type Kind int

// The kinds. A free-form object of the interface is JSON: a string written
// with jsonencode.
const (
	Text    Kind = iota
	UUID         // a string, equal whatever its case
	Time         // an RFC 3339 string, equal when the instant is
	Whole        // a number without a fraction
	Number       // a number with a fraction
	Flag         // a boolean
	JSON         // a string that holds a JSON object, equal when it means the same
	TextMap      // a map of strings
	List         // a list of scalars, of kind Elem
	Object       // an object of Fields
	Objects      // a list of objects of Fields
)

// Access says who sets an attribute in a resource.
type Access int

// The accesses. What is Shared belongs to the configuration where that sets
// it, and to the service where not.
const (
	Shared   Access = iota
	Required        // always set by the configuration
	ReadOnly        // never set by the configuration
)

// Field is one attribute: the one place where its name, kind and meaning stand.
type Field struct {
	Name   string // in HCL
	Wire   string // in JSON, where it differs from Name
	Kind   Kind
	Access Access
	Doc    string // Markdown: what it is; who owns it is added by the schema

	Elem   Kind   // of List
	Fields Fields // of Object and Objects

	// Key names the fields that tell the items of Objects apart. The order of
	// items with keys has no meaning unless Ordered.
	Key     []string
	Ordered bool

	OneOf     []string // the values that a configuration may set
	Immutable bool     // a change replaces the resource
	NotEmpty  bool     // "" is refused
	Hidden    bool     // messages do not show the value

	// ResolvesTo names the sibling that holds what the service resolved this
	// value to. The service may report that in place of the value.
	ResolvesTo string
}

// Fields are the attributes of an object, in the order of the interface.
type Fields []Field

// wire is the name in JSON.
func (f Field) wire() string {
	if f.Wire != "" {
		return f.Wire
	}
	return f.Name
}

// Type is the Terraform type of the attribute.
func (f Field) Type() tftypes.Type {
	switch f.Kind {
	case Whole, Number:
		return tftypes.Number
	case Flag:
		return tftypes.Bool
	case TextMap:
		return tftypes.Map{ElementType: tftypes.String}
	case List:
		return tftypes.List{ElementType: f.elem().Type()}
	case Object:
		return f.Fields.sharedType()
	case Objects:
		return tftypes.List{ElementType: f.Fields.sharedType()}
	default:
		return tftypes.String
	}
}

// elem describes one item of a List.
func (f Field) elem() Field { return Field{Name: f.Name, Kind: f.Elem} }

// item describes one item of Objects.
func (f Field) item() Field { return Field{Name: f.Name, Kind: Object, Fields: f.Fields} }

// Type is the Terraform type of an object with these attributes.
func (fs Fields) Type() tftypes.Object {
	return tftypes.Object{AttributeTypes: maps.Clone(fs.sharedType().AttributeTypes)}
}

// sharedType is Type, made once: it must not be changed.
func (fs Fields) sharedType() tftypes.Object {
	return once(&tfTypes, fs, func() tftypes.Object {
		types := make(map[string]tftypes.Type, len(fs))
		for _, f := range fs {
			types[f.Name] = f.Type()
		}
		return tftypes.Object{AttributeTypes: types}
	})
}

// The types that follow from fields are made once: each is a tree as wide as
// the schema, and every value refers to one.
var tfTypes, attrTypes sync.Map

// fieldsKey tells descriptions apart; they do not change.
type fieldsKey struct {
	first *Field
	n     int
}

func once[T any](made *sync.Map, fs Fields, build func() T) T {
	if len(fs) == 0 {
		return build()
	}
	key := fieldsKey{&fs[0], len(fs)}
	if found, ok := made.Load(key); ok {
		return found.(T) //nolint:forcetypeassert // each map has one type
	}
	value := build()
	made.Store(key, value)
	return value
}

// Without returns the fields but for those of the given names.
func (fs Fields) Without(names ...string) Fields {
	var rest Fields
	for _, f := range fs {
		if !slices.Contains(names, f.Name) {
			rest = append(rest, f)
		}
	}
	return rest
}
