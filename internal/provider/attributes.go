package provider

import (
	"fmt"

	"github.com/hashicorp/terraform-plugin-go/tftypes"
)

// attributes are the attributes of a configuration, plan or state.
type attributes map[string]tftypes.Value

func attributesOf(object tftypes.Value) attributes {
	var all map[string]tftypes.Value
	if object.IsKnown() && !object.IsNull() {
		_ = object.As(&all) // an object by its schema
	}
	return all
}

// text is a string attribute; "" when it is null or unknown.
func (a attributes) text(name string) string {
	var s *string
	if value := a[name]; value.IsKnown() && !value.IsNull() {
		_ = value.As(&s)
	}
	if s == nil {
		return ""
	}
	return *s
}

// describe names a deployment for a message.
func describe(state attributes) string {
	name, id := state.text("name"), state.text("id")
	switch {
	case name == "":
		return id
	case id == "": // not created yet
		return fmt.Sprintf("%q", name)
	}
	return fmt.Sprintf("%q (%s)", name, id)
}

// newObject is an object of a schema's type.
func newObject(typ tftypes.Type, values attributes) tftypes.Value {
	return tftypes.NewValue(typ, map[string]tftypes.Value(values))
}
