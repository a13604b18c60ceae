package field

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"math/big"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/hashicorp/terraform-plugin-framework/attr"
	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/schema/validator"
	"github.com/hashicorp/terraform-plugin-framework/types/basetypes"
)

// Checks of single values. Each message begins with the whole path of the
// attribute, as older Terraforms show no line within one.

// said is what a check tells of itself; nothing shows it.
type said string

func (s said) Description(context.Context) string         { return string(s) }
func (s said) MarkdownDescription(context.Context) string { return string(s) }

// textCheck refuses strings; complain returns nothing for a good one.
type textCheck struct {
	said
	complain func(at path.Path, text string) (summary, detail string)
}

func (c textCheck) ValidateString(_ context.Context, req validator.StringRequest, resp *validator.StringResponse) {
	c.check(req.ConfigValue, req.Path, &resp.Diagnostics)
}

func (c textCheck) check(value basetypes.StringValue, at path.Path, diags *diag.Diagnostics) {
	if value.IsNull() || value.IsUnknown() {
		return
	}
	if summary, detail := c.complain(at, value.ValueString()); summary != "" {
		diags.AddAttributeError(at, summary, detail)
	}
}

// OneOf refuses what is none of the given words.
func OneOf(words ...string) validator.String {
	return textCheck{said("must be one of " + strings.Join(words, ", ")), func(at path.Path, text string) (string, string) {
		if slices.Contains(words, text) {
			return "", ""
		}
		return "Value not allowed", fmt.Sprintf("%s is %q. It can be one of: %s.", at, text, strings.Join(words, ", "))
	}}
}

// NotEmpty refuses "".
func NotEmpty() validator.String {
	return textCheck{"must not be empty", func(at path.Path, text string) (string, string) {
		if text != "" {
			return "", ""
		}
		if set, verb := inSet(at); verb == "has" {
			return "Empty value", fmt.Sprintf("%s has an empty value. Give it one that is not, or leave it out.", set)
		}
		return "Empty value", fmt.Sprintf("%s is empty, and must not be. Give it a value.", at)
	}}
}

// Duration refuses what is no length of time.
func Duration() validator.String {
	return textCheck{"must be a duration", func(at path.Path, text string) (string, string) {
		if length, err := time.ParseDuration(text); err == nil && length >= 0 {
			return "", ""
		}
		return "Not a duration", fmt.Sprintf("%s is %q, which is not a length of time. Write a number and a unit, such as 45s, 30m or 1h30m.", at, text)
	}}
}

// ExampleUUID shows in messages what a UUID looks like.
const ExampleUUID = "123e4567-e89b-12d3-a456-426614174000"

// IsUUID reports whether s is a UUID in the usual form of 36 characters.
func IsUUID(s string) bool { return len(s) == 36 && uuid.Validate(s) == nil }

// UUIDText refuses what is not a UUID. It is no type of its own: the framework
// would check that in what the service answers, too, and one field with another
// text in it would be in the way of the whole deployment.
func UUIDText() validator.String {
	return textCheck{"must be a UUID", func(at path.Path, text string) (string, string) {
		if IsUUID(text) {
			return "", ""
		}
		at, verb := inSet(at)
		return "Not a UUID", fmt.Sprintf("%s %s %q, which is not a UUID. One looks like this: %s.", at, verb, text, ExampleUUID)
	}}
}

// inSet gives a path that users write, and the verb that goes with it: an item
// of a set has no name but its value, in a form that nobody writes.
func inSet(at path.Path) (named path.Path, verb string) {
	if steps := at.Steps(); len(steps) > 0 {
		if _, ok := steps[len(steps)-1].(path.PathStepElementKeyValue); ok {
			return at.ParentPath(), "has"
		}
	}
	return at, "is"
}

// JSONObject refuses what is not a JSON object. It never shows the text, which
// may hold anything.
func JSONObject() validator.String {
	return textCheck{"must be a JSON object", func(at path.Path, text string) (string, string) {
		if !json.Valid([]byte(text)) {
			return "Not JSON", fmt.Sprintf("%s has to be a JSON object, and is not even JSON. Write it with jsonencode({ … }).", at)
		}
		tree, _ := readJSON([]byte(text))
		if _, ok := tree.(map[string]any); ok {
			return "", ""
		}
		return "Not a JSON object", fmt.Sprintf("%s is %s in JSON, and the service takes an object there. Write it with jsonencode({ … }).", at, jsonWord(tree))
	}}
}

func jsonWord(tree any) string {
	switch tree.(type) {
	case nil:
		return "null"
	case []any:
		return "a list"
	case string:
		return "a text"
	case bool:
		return "a boolean"
	default:
		return "a number"
	}
}

// WholeNumber refuses numbers with a fraction, and those that are too large to be
// counted with.
func WholeNumber() validator.Number { return wholeCheck{said: "must be a whole number"} }

// WholeBetween refuses those beyond bounds, too.
func WholeBetween(least, most int64) validator.Number {
	return wholeCheck{said(fmt.Sprintf("must be a whole number from %d to %d", least, most)), &[2]int64{least, most}}
}

type wholeCheck struct {
	said
	bounds *[2]int64
}

func (c wholeCheck) ValidateNumber(_ context.Context, req validator.NumberRequest, resp *validator.NumberResponse) {
	if req.ConfigValue.IsNull() || req.ConfigValue.IsUnknown() {
		return
	}
	number := req.ConfigValue.ValueBigFloat()
	whole, exact := number.Int64()
	switch {
	case !number.IsInt():
		resp.Diagnostics.AddAttributeError(req.Path, "Not a whole number", fmt.Sprintf("%s is %s, and can have no fraction. Write a whole number.", req.Path, number.Text('g', 10)))
	case c.bounds != nil && (exact != big.Exact || whole < c.bounds[0] || whole > c.bounds[1]):
		resp.Diagnostics.AddAttributeError(req.Path, "Number out of bounds", fmt.Sprintf("%s is %s. It can be from %d to %d.", req.Path, number.Text('g', 20), c.bounds[0], c.bounds[1]))
	case exact != big.Exact:
		resp.Diagnostics.AddAttributeError(req.Path, "Number out of bounds", fmt.Sprintf("%s is %s, which is more than a whole number can be. Write a smaller one.", req.Path, number.Text('g', 10)))
	}
}

// NoNulls refuses null among the items of a list or set, and among the values
// of a map: the service has no such thing.
func NoNulls() interface {
	validator.List
	validator.Map
	validator.Set
} {
	return noNulls{said: "must not contain null"}
}

type noNulls struct{ said }

func (noNulls) ValidateList(_ context.Context, req validator.ListRequest, resp *validator.ListResponse) {
	for i, item := range req.ConfigValue.Elements() {
		refuseNull(item, req.Path.AtListIndex(i), "item", &resp.Diagnostics)
	}
}

func (noNulls) ValidateSet(_ context.Context, req validator.SetRequest, resp *validator.SetResponse) {
	for _, item := range req.ConfigValue.Elements() {
		refuseNull(item, req.Path, "item", &resp.Diagnostics)
	}
}

func (noNulls) ValidateMap(_ context.Context, req validator.MapRequest, resp *validator.MapResponse) {
	values := req.ConfigValue.Elements()
	for _, name := range slices.Sorted(maps.Keys(values)) {
		refuseNull(values[name], req.Path.AtMapKey(name), "member", &resp.Diagnostics)
	}
}

func refuseNull(v attr.Value, at path.Path, what string, diags *diag.Diagnostics) {
	if v.IsNull() {
		diags.AddAttributeError(at, "Null value", fmt.Sprintf("%s holds null. Give the %s a value, or leave it out.", at, what))
	}
}

// Named refuses "" as a name in a map.
func Named() validator.Map { return named{said: "must have no empty names"} }

type named struct{ said }

func (named) ValidateMap(_ context.Context, req validator.MapRequest, resp *validator.MapResponse) {
	if _, found := req.ConfigValue.Elements()[""]; found {
		resp.Diagnostics.AddAttributeError(req.Path, "Empty name", fmt.Sprintf("%s has a member whose name is empty. Give it a name.", req.Path))
	}
}
