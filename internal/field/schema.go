package field

import (
	"context"
	"math"
	"strings"

	"github.com/hashicorp/terraform-plugin-framework-validators/listvalidator"
	"github.com/hashicorp/terraform-plugin-framework/attr"
	datasource "github.com/hashicorp/terraform-plugin-framework/datasource/schema"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/planmodifier"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/stringplanmodifier"
	"github.com/hashicorp/terraform-plugin-framework/schema/validator"
	"github.com/hashicorp/terraform-plugin-framework/types"
)

// ResourceAttributes returns the attributes as a resource has them. What is optional is computed, too: after an import,
// the state has what the service reports.
func (fs Fields) ResourceAttributes() map[string]schema.Attribute { return fs.attributes(ofResource) }

// DataSourceAttributes returns the attributes as a data source shows them: all computed.
func (fs Fields) DataSourceAttributes() map[string]datasource.Attribute {
	attributes := make(map[string]datasource.Attribute, len(fs))
	for name, attribute := range fs.attributes(ofDataSource) {
		attributes[name] = attribute
	}
	return attributes
}

// schemaType is the type of a schema.
type schemaType int

const (
	ofResource schemaType = iota
	ofDataSource
)

func (fs Fields) attributes(of schemaType) map[string]schema.Attribute {
	attributes := make(map[string]schema.Attribute, len(fs))
	for _, f := range fs {
		c := common{schemaType: of, computed: true, sensitive: f.Sensitive, description: f.describe(of)}
		if of == ofResource {
			c.required, c.optional = f.Access == Required, f.Access == Optional || f.Access == OptionalComputed
			c.computed, c.sensitive = f.Access != Required, false // a plan shows what the configuration sets
		}
		attributes[f.Name] = f.Kind.attribute(c)
	}
	return attributes
}

// AttrType returns the framework's type of an object with these attributes.
func (fs Fields) AttrType() types.ObjectType {
	return once(&attrTypes, fs, func() types.ObjectType {
		attributes := make(map[string]attr.Type, len(fs))
		for _, f := range fs {
			attributes[f.Name] = f.Kind.attribute(common{}).GetType()
		}
		return types.ObjectType{AttrTypes: attributes}
	})
}

// common is what attributes of all kinds have.
type common struct {
	schemaType
	required, optional, computed, sensitive bool
	description                             string
}

func (s String) attribute(c common) schema.Attribute {
	var rules []validator.String
	if s.NotEmpty {
		rules = append(rules, NotEmpty())
	}
	if len(s.OneOf) > 0 {
		rules = append(rules, OneOf(s.OneOf...))
	}
	a := stringAttribute(c, rules...)
	if s.Immutable {
		a.PlanModifiers = []planmodifier.String{replaceIfKnown()}
	}
	return a
}

func (text) attribute(c common) schema.Attribute { return stringAttribute(c) }
func (UUID) attribute(c common) schema.Attribute { return stringAttribute(c, UUIDString()) }
func (JSON) attribute(c common) schema.Attribute { return stringAttribute(c, JSONObject()) }

func stringAttribute(c common, rules ...validator.String) schema.StringAttribute {
	a := schema.StringAttribute{Required: c.required, Optional: c.optional, Computed: c.computed,
		Sensitive: c.sensitive, MarkdownDescription: c.description}
	if c.required || c.optional { // of others, Terraform rejects any value
		a.Validators = rules
	}
	return a
}

// attribute of an integer is that of a number: the framework's own reports a fraction as a bug of the provider.
func (Int64) attribute(c common) schema.Attribute {
	return numberAttribute(c, Integer(math.MinInt64, math.MaxInt64))
}

func (Float64) attribute(c common) schema.Attribute { return numberAttribute(c, Float()) }

func numberAttribute(c common, rules ...validator.Number) schema.Attribute {
	return schema.NumberAttribute{Required: c.required, Optional: c.optional, Computed: c.computed,
		Sensitive: c.sensitive, MarkdownDescription: c.description, Validators: rules}
}

func (Bool) attribute(c common) schema.Attribute {
	return schema.BoolAttribute{Required: c.required, Optional: c.optional, Computed: c.computed,
		Sensitive: c.sensitive, MarkdownDescription: c.description}
}

func (StringMap) attribute(c common) schema.Attribute {
	return schema.MapAttribute{Required: c.required, Optional: c.optional, Computed: c.computed,
		Sensitive: c.sensitive, MarkdownDescription: c.description, ElementType: types.StringType,
		Validators: []validator.Map{NoNulls()}}
}

func (l List) attribute(c common) schema.Attribute {
	rules := []validator.List{NoNulls()}
	item := l.Of.attribute(c)
	if text, ok := item.(schema.StringAttribute); ok && len(text.Validators) > 0 {
		rules = append(rules, listvalidator.ValueStringsAre(text.Validators...))
	}
	return schema.ListAttribute{Required: c.required, Optional: c.optional, Computed: c.computed,
		Sensitive: c.sensitive, MarkdownDescription: c.description, ElementType: item.GetType(), Validators: rules}
}

// attribute states the type because the framework would build it each time it asks, as that of a list of objects does.
func (o Object) attribute(c common) schema.Attribute {
	return schema.SingleNestedAttribute{Required: c.required, Optional: c.optional, Computed: c.computed,
		Sensitive: c.sensitive, MarkdownDescription: c.description, CustomType: o.Fields.AttrType(),
		Attributes: o.Fields.attributes(c.schemaType)}
}

func (l ObjectList) attribute(c common) schema.Attribute {
	item := l.Fields.AttrType()
	return schema.ListNestedAttribute{Required: c.required, Optional: c.optional, Computed: c.computed,
		Sensitive: c.sensitive, MarkdownDescription: c.description, CustomType: types.ListType{ElemType: item},
		Validators:   []validator.List{NoNulls()},
		NestedObject: schema.NestedAttributeObject{CustomType: item, Attributes: l.Fields.attributes(c.schemaType)}}
}

// replaceIfKnown replaces the resource when a value changes. One that is unknown may turn out to be the same: Terraform
// plans again at apply, and stops if it is not.
func replaceIfKnown() planmodifier.String {
	return stringplanmodifier.RequiresReplaceIf(
		func(_ context.Context, req planmodifier.StringRequest, resp *stringplanmodifier.RequiresReplaceIfFuncResponse) {
			resp.RequiresReplace = !req.PlanValue.IsUnknown()
		}, "Changing this forces a new resource.", "Changing this forces a new resource.")
}

// describe describes what the attribute is, and then what follows from the rest of the field.
func (f Field) describe(of schemaType) string {
	sentences, text := []string{f.Description}, kind[String](f)
	if of == ofResource && f.Usage != "" {
		sentences = append(sentences, f.Usage)
	}
	written := "."
	if of == ofResource {
		written = ", written with `jsonencode`."
	}
	switch k := f.Kind.(type) {
	case JSON:
		sentences = append(sentences, "A JSON object"+written)
	case List:
		if is[JSON](k.item()) {
			sentences = append(sentences, "Each item is a JSON object"+written)
		}
	case ObjectList:
		if of == ofResource && len(k.Key) > 0 && !k.Ordered {
			sentences = append(sentences, "The order is not significant.")
		}
	}
	if of == ofResource && len(text.OneOf) > 0 && !strings.Contains(f.Description, "`"+text.OneOf[0]+"`") {
		sentences = append(sentences, "Valid values are "+Quoted(text.OneOf)+".")
	}
	if of == ofResource && text.Immutable {
		sentences = append(sentences, "Changing this forces a new resource.")
	}
	return strings.Join(sentences, " ")
}

// Quoted lists values for a description: `a`, `b` and `c`.
func Quoted(values []string) string {
	last := len(values) - 1
	if last < 1 {
		return "`" + strings.Join(values, "") + "`"
	}
	return "`" + strings.Join(values[:last], "`, `") + "` and `" + values[last] + "`"
}
