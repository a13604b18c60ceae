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
)

// Validators of single values. Each message begins with the complete path of the
// attribute because older Terraform versions show no line within one.

// describer describes a validator; nothing shows it.
type describer string

func (d describer) Description(context.Context) string         { return string(d) }
func (d describer) MarkdownDescription(context.Context) string { return string(d) }

// stringValidator rejects strings for which problem returns a summary.
type stringValidator struct {
	describer
	problem func(at path.Path, text string) (summary, detail string)
}

func (v stringValidator) ValidateString(_ context.Context, req validator.StringRequest, resp *validator.StringResponse) {
	if req.ConfigValue.IsNull() || req.ConfigValue.IsUnknown() {
		return
	}
	if summary, detail := v.problem(withoutElement(req.Path), req.ConfigValue.ValueString()); summary != "" {
		resp.Diagnostics.AddAttributeError(req.Path, summary, detail)
	}
}

// withoutElement is a path that users write: an element of a set has no name but
// its value.
func withoutElement(at path.Path) path.Path {
	if steps := at.Steps(); len(steps) > 0 {
		if _, ok := steps[len(steps)-1].(path.PathStepElementKeyValue); ok {
			return at.ParentPath()
		}
	}
	return at
}

// OneOf rejects every string except the given ones.
func OneOf(values ...string) validator.String {
	list := strings.Join(values, ", ")
	return stringValidator{describer("must be one of: " + list), func(at path.Path, text string) (string, string) {
		if slices.Contains(values, text) {
			return "", ""
		}
		return "Invalid value", fmt.Sprintf("%s must be one of: %s; got %q.", at, list, text)
	}}
}

// NotEmpty rejects "".
func NotEmpty() validator.String {
	return stringValidator{"must not be empty", func(at path.Path, text string) (string, string) {
		if text != "" {
			return "", ""
		}
		return "Empty value", fmt.Sprintf("%s must not be empty.", at)
	}}
}

// Duration rejects what is not a duration of at least zero.
func Duration() validator.String {
	return stringValidator{"must be a duration", func(at path.Path, text string) (string, string) {
		if length, err := time.ParseDuration(text); err == nil && length >= 0 {
			return "", ""
		}
		return "Invalid duration", fmt.Sprintf("%s must be a duration such as 45s, 30m or 1h30m, and not negative; got %q.", at, text)
	}}
}

// ExampleUUID shows in messages what a UUID looks like.
const ExampleUUID = "123e4567-e89b-12d3-a456-426614174000"

// IsUUID reports whether s is a UUID in the usual form of 36 characters.
func IsUUID(s string) bool { return len(s) == 36 && uuid.Validate(s) == nil }

// UUIDString rejects what is not a UUID. It is not a custom type because the
// framework would check responses with that, too, and one unexpected value
// there would make the complete deployment unreadable.
func UUIDString() validator.String {
	return stringValidator{"must be a UUID", func(at path.Path, text string) (string, string) {
		if IsUUID(text) {
			return "", ""
		}
		return "Invalid UUID", fmt.Sprintf("%s must be a UUID such as %s; got %q.", at, ExampleUUID, text)
	}}
}

// JSONObject rejects what is not a JSON object. It never shows the text, which
// may contain anything.
func JSONObject() validator.String {
	return stringValidator{"must be a JSON object", func(at path.Path, text string) (string, string) {
		tree, err := ReadJSON([]byte(text))
		if err != nil || !json.Valid([]byte(text)) {
			return "Invalid JSON", fmt.Sprintf("%s must be a JSON object. Write it with jsonencode({ … }).", at)
		}
		if _, ok := tree.(map[string]any); ok {
			return "", ""
		}
		return "Invalid JSON", fmt.Sprintf("%s must be a JSON object, got %s. Write it with jsonencode({ … }).", at, jsonTypeName(tree))
	}}
}

func jsonTypeName(tree any) string {
	switch tree.(type) {
	case nil:
		return "null"
	case []any:
		return "a list"
	case string:
		return "a string"
	case bool:
		return "a boolean"
	default:
		return "a number"
	}
}

// Integer rejects numbers with a fraction, and those beyond 64 bits.
func Integer() validator.Number { return integerValidator{describer: "must be an integer"} }

// IntegerBetween rejects those out of bounds, too.
func IntegerBetween(least, most int64) validator.Number {
	return integerValidator{describer(fmt.Sprintf("must be an integer from %d to %d", least, most)), &[2]int64{least, most}}
}

type integerValidator struct {
	describer
	bounds *[2]int64
}

func (v integerValidator) ValidateNumber(_ context.Context, req validator.NumberRequest, resp *validator.NumberResponse) {
	if req.ConfigValue.IsNull() || req.ConfigValue.IsUnknown() {
		return
	}
	number := req.ConfigValue.ValueBigFloat()
	value, accuracy := number.Int64()
	reject := func(format string, args ...any) {
		resp.Diagnostics.AddAttributeError(req.Path, "Invalid number",
			fmt.Sprintf("%s "+format+", got %s.", append(append([]any{req.Path}, args...), number.Text('g', 20))...))
	}
	switch {
	case !number.IsInt():
		reject("must be an integer")
	case v.bounds != nil && number.Cmp(new(big.Float).SetInt64(v.bounds[0])) < 0:
		reject("must be at least %d", v.bounds[0])
	case v.bounds != nil && (accuracy != big.Exact || value > v.bounds[1]):
		reject("must be at most %d", v.bounds[1])
	case accuracy != big.Exact:
		reject("must fit into 64 bits")
	}
}

// NoNulls rejects null among the items of a list or set, and among the values
// of a map.
func NoNulls() interface {
	validator.List
	validator.Map
	validator.Set
} {
	return noNulls{"must not contain null"}
}

type noNulls struct{ describer }

func (noNulls) ValidateList(_ context.Context, req validator.ListRequest, resp *validator.ListResponse) {
	for i, item := range req.ConfigValue.Elements() {
		rejectNull(item, req.Path.AtListIndex(i), &resp.Diagnostics)
	}
}

func (noNulls) ValidateSet(_ context.Context, req validator.SetRequest, resp *validator.SetResponse) {
	for _, item := range req.ConfigValue.Elements() {
		if item.IsNull() {
			resp.Diagnostics.AddAttributeError(req.Path, "Null value", fmt.Sprintf("%s must not contain null.", req.Path))
		}
	}
}

func (noNulls) ValidateMap(_ context.Context, req validator.MapRequest, resp *validator.MapResponse) {
	values := req.ConfigValue.Elements()
	for _, name := range slices.Sorted(maps.Keys(values)) {
		rejectNull(values[name], req.Path.AtMapKey(name), &resp.Diagnostics)
	}
}

func rejectNull(v attr.Value, at path.Path, diags *diag.Diagnostics) {
	if v.IsNull() {
		diags.AddAttributeError(at, "Null value", fmt.Sprintf("%s must not be null.", at))
	}
}

// NoEmptyNames rejects "" as a name in a map.
func NoEmptyNames() validator.Map { return noEmptyNames{"must not contain an empty name"} }

type noEmptyNames struct{ describer }

func (noEmptyNames) ValidateMap(_ context.Context, req validator.MapRequest, resp *validator.MapResponse) {
	if _, found := req.ConfigValue.Elements()[""]; found {
		resp.Diagnostics.AddAttributeError(req.Path, "Empty name", fmt.Sprintf("%s must not contain an empty name.", req.Path))
	}
}

// NoCommas rejects a comma, which separates values in a query.
func NoCommas() validator.String {
	return stringValidator{"must not contain a comma", func(at path.Path, text string) (string, string) {
		if !strings.Contains(text, ",") {
			return "", ""
		}
		return "Comma in a value", fmt.Sprintf("%s must not contain a value with a comma: write %q as separate values.", at, text)
	}}
}
