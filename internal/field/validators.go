package field

import (
	"context"
	"fmt"
	"maps"
	"math"
	"math/big"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/hashicorp/terraform-plugin-framework/attr"
	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/schema/validator"
	"github.com/hashicorp/terraform-plugin-framework/types"
)

// Rule validates values in a configuration: those that are known and not null. It implements the framework's validators
// for all types of values. Each of its messages begins with the complete path of the attribute, because older Terraform
// versions show no line within one.
type Rule struct {
	Must     string // what a value must be; nothing shows it
	Validate func(at path.Path, value attr.Value, diags *diag.Diagnostics)
}

// Description states what a value must be.
func (r Rule) Description(context.Context) string { return r.Must }

// MarkdownDescription states what a value must be.
func (r Rule) MarkdownDescription(context.Context) string { return r.Must }

func (r Rule) run(at path.Path, value attr.Value, diags *diag.Diagnostics) {
	if !value.IsNull() && !value.IsUnknown() {
		r.Validate(at, value, diags)
	}
}

// ValidateString validates a string.
func (r Rule) ValidateString(_ context.Context, req validator.StringRequest, resp *validator.StringResponse) {
	r.run(req.Path, req.ConfigValue, &resp.Diagnostics)
}

// ValidateNumber validates a number.
func (r Rule) ValidateNumber(_ context.Context, req validator.NumberRequest, resp *validator.NumberResponse) {
	r.run(req.Path, req.ConfigValue, &resp.Diagnostics)
}

// ValidateList validates a list.
func (r Rule) ValidateList(_ context.Context, req validator.ListRequest, resp *validator.ListResponse) {
	r.run(req.Path, req.ConfigValue, &resp.Diagnostics)
}

// ValidateSet validates a set.
func (r Rule) ValidateSet(_ context.Context, req validator.SetRequest, resp *validator.SetResponse) {
	r.run(req.Path, req.ConfigValue, &resp.Diagnostics)
}

// ValidateMap validates a map.
func (r Rule) ValidateMap(_ context.Context, req validator.MapRequest, resp *validator.MapResponse) {
	r.run(req.Path, req.ConfigValue, &resp.Diagnostics)
}

// textRule returns a rule for strings. In must, VALUE stands for the string.
func textRule(summary, must string, valid func(string) bool) Rule {
	return Rule{must, func(at path.Path, value attr.Value, diags *diag.Diagnostics) {
		s, _ := value.(types.String)
		if text := s.ValueString(); !valid(text) {
			problem := strings.ReplaceAll(must, "VALUE", strconv.Quote(shortened(text)))
			if _, inSet := at.Steps()[len(at.Steps())-1].(path.PathStepElementKeyValue); inSet {
				diags.AddError(summary, fmt.Sprintf("%s %s.", at.ParentPath(), problem)) // Terraform would print all of the set
				return
			}
			diags.AddAttributeError(at, summary, fmt.Sprintf("%s %s.", at, problem))
		}
	}}
}

// shortened bounds a value in a message.
func shortened(text string) string {
	const most = 200
	if runes := []rune(text); len(runes) > most {
		return string(runes[:most]) + " […]"
	}
	return text
}

// OneOf rejects every string except the given ones.
func OneOf(values ...string) Rule {
	return textRule("Invalid value", "must be one of: "+strings.Join(values, ", ")+"; got VALUE",
		func(text string) bool { return slices.Contains(values, text) })
}

// NotEmpty rejects "".
func NotEmpty() Rule {
	return textRule("Empty value", "must not be empty", func(text string) bool { return text != "" })
}

// NoCommas rejects a comma, which separates values in a query.
func NoCommas() Rule {
	return textRule("Comma in a value", "must not contain a value with a comma: write VALUE as separate values",
		func(text string) bool { return !strings.Contains(text, ",") })
}

// Duration rejects what is not a duration of at least zero.
func Duration() Rule {
	return textRule("Invalid duration", "must be a duration such as 45s, 30m or 1h30m, and not negative; got VALUE",
		func(text string) bool { length, err := time.ParseDuration(text); return err == nil && length >= 0 })
}

// ExampleUUID shows in messages what a UUID looks like.
const ExampleUUID = "123e4567-e89b-12d3-a456-426614174000"

// UUIDString rejects what is not a UUID. It is not a custom type because the framework would check responses with that,
// too, and one unexpected value there would make the complete deployment unreadable.
func UUIDString() Rule {
	return textRule("Invalid UUID", "must be a UUID such as "+ExampleUUID+"; got VALUE",
		func(text string) bool { return len(text) == 36 && uuid.Validate(text) == nil }) // which alone takes four forms
}

// JSONObject rejects what is not a JSON object, and one with a number that cannot be read. It never shows the text,
// which may contain anything.
func JSONObject() Rule {
	return Rule{"must be a JSON object", func(at path.Path, value attr.Value, diags *diag.Diagnostics) {
		text, _ := value.(types.String)
		tree, _ := ReadJSON([]byte(text.ValueString()))
		problem := ""
		if _, ok := tree.(map[string]any); !ok {
			problem = "must be a JSON object. Write it with jsonencode({ … })"
		} else if checkNumbers(tree) != nil {
			problem = "must not contain a number outside the range of a 64-bit float"
		}
		if problem != "" {
			diags.AddAttributeError(at, "Invalid JSON", fmt.Sprintf("%s %s.", at, problem))
		}
	}}
}

// Integer rejects numbers with a fraction, and those out of bounds.
func Integer(least, most int64) Rule {
	return numberRule(fmt.Sprintf("must be an integer from %d to %d", least, most), func(n *big.Float) string {
		switch {
		case !n.IsInt():
			return "must be an integer"
		case n.Cmp(new(big.Float).SetInt64(least)) < 0:
			return fmt.Sprintf("must be at least %d", least)
		case n.Cmp(new(big.Float).SetInt64(most)) > 0:
			return fmt.Sprintf("must be at most %d", most)
		}
		return ""
	})
}

// Float rejects numbers that a 64-bit float is not near.
func Float() Rule {
	const must = "must be in the range of a 64-bit float"
	return numberRule(must, func(n *big.Float) string {
		if float, _ := n.Float64(); math.IsInf(float, 0) || float == 0 && n.Sign() != 0 {
			return must
		}
		return ""
	})
}

// numberRule returns a rule for numbers. Problem states what is wrong with one, "" if nothing is.
func numberRule(must string, problem func(*big.Float) string) Rule {
	return Rule{must, func(at path.Path, value attr.Value, diags *diag.Diagnostics) {
		n, _ := value.(types.Number)
		if text := problem(n.ValueBigFloat()); text != "" {
			number := n.ValueBigFloat().Text('g', 20)
			diags.AddAttributeError(at, "Invalid number", fmt.Sprintf("%s %s, got %s.", at, text, number))
		}
	}}
}

// NoNulls rejects null among the items of a list or set, and among the values of a map. The message is at the item only
// where Terraform prints no more than that.
func NoNulls() Rule {
	return Rule{"must not contain null", func(at path.Path, value attr.Value, diags *diag.Diagnostics) {
		switch value := value.(type) {
		case types.List:
			_, ofObjects := value.ElementType(context.Background()).(types.ObjectType)
			for i, item := range value.Elements() {
				switch {
				case !item.IsNull():
				case ofObjects:
					diags.AddError("Null value", fmt.Sprintf("%s must not be null.", at.AtListIndex(i)))
				default:
					diags.AddAttributeError(at.AtListIndex(i), "Null value", fmt.Sprintf("%s must not be null.", at.AtListIndex(i)))
				}
			}
		case types.Set:
			if slices.ContainsFunc(value.Elements(), attr.Value.IsNull) {
				diags.AddError("Null value", fmt.Sprintf("%s must not contain null.", at))
			}
		case types.Map:
			for _, name := range slices.Sorted(maps.Keys(value.Elements())) {
				if value.Elements()[name].IsNull() {
					diags.AddAttributeError(at.AtMapKey(name), "Null value", fmt.Sprintf("%s must not be null.", at.AtMapKey(name)))
				}
			}
		}
	}}
}
