package provider

import (
	"fmt"
	"math/big"

	"github.com/hashicorp/terraform-plugin-go/tftypes"

	"github.com/graphdeploy/terraform-provider-graphdeploy/internal/field"
)

// attributes are the attributes of a configuration, plan or state.
type attributes map[string]tftypes.Value

func attributesOf(object tftypes.Value) attributes { return field.Members(object) }

// text returns a string attribute; "" when it is null, unknown, or not a string.
func (a attributes) text(name string) string { return field.Text(a[name]) }

// optional returns a string attribute; nil when it is null.
func (a attributes) optional(name string) *string {
	if a[name].IsNull() {
		return nil
	}
	return new(a.text(name))
}

// texts returns the strings of a set; nil when it is null.
func (a attributes) texts(name string) []string {
	if a[name].IsNull() {
		return nil
	}
	all := []string{}
	for _, item := range field.Items(a[name]) {
		all = append(all, field.Text(item))
	}
	return all
}

// boolean returns a boolean attribute; false when it is null or unknown.
func (a attributes) boolean(name string) (value bool) {
	if a[name].IsKnown() && !a[name].IsNull() {
		_ = a[name].As(&value)
	}
	return value
}

// integer returns an integer attribute, or otherwise when it is null.
func (a attributes) integer(name string, otherwise int64) int64 {
	if a[name].IsNull() {
		return otherwise
	}
	number := new(big.Float)
	_ = a[name].As(&number)
	integer, _ := number.Int64()
	return integer
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
