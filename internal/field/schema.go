package field

import (
	"context"
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

// ResourceAttributes are the attributes as a resource has them. What is optional is computed, too: after an import, the
// state holds what the service reports.
func (fs Fields) ResourceAttributes() map[string]schema.Attribute { return fs.attributes(false) }

// DataSourceAttributes are the attributes as a data source shows them: all computed.
func (fs Fields) DataSourceAttributes() map[string]datasource.Attribute {
	attributes := make(map[string]datasource.Attribute, len(fs))
	for name, attribute := range fs.attributes(true) {
		attributes[name] = attribute
	}
	return attributes
}

func (fs Fields) attributes(dataSource bool) map[string]schema.Attribute {
	attributes := make(map[string]schema.Attribute, len(fs))
	for _, f := range fs {
		c := common{computed: true, sensitive: f.Sensitive, dataSource: true, description: f.describe(false)}
		if !dataSource {
			c = common{required: f.Access == Required, optional: f.Access == Optional || f.Access == Computed,
				computed: f.Access != Required, description: f.describe(true)}
		}
		attributes[f.Name] = kinds[f.Kind].attribute(f, c)
	}
	return attributes
}

// AttrType is the framework's type of an object with these attributes.
func (fs Fields) AttrType() types.ObjectType {
	return once(&attrTypes, fs, func() types.ObjectType {
		attributes := make(map[string]attr.Type, len(fs))
		for _, f := range fs {
			attributes[f.Name] = f.attrType()
		}
		return types.ObjectType{AttrTypes: attributes}
	})
}

func (f Field) attrType() attr.Type { return kinds[f.Kind].attribute(f, common{}).GetType() }

// common is what attributes of all kinds have.
type common struct {
	required, optional, computed, sensitive bool
	dataSource                              bool
	description                             string
}

func stringAttribute(f Field, c common) schema.Attribute {
	return schema.StringAttribute{Required: c.required, Optional: c.optional, Computed: c.computed, Sensitive: c.sensitive,
		MarkdownDescription: c.description, Validators: f.stringValidators(), PlanModifiers: f.stringPlanModifiers()}
}

// numberAttribute is for integers, too: the framework's own reports a fraction as a bug of the provider.
func numberAttribute(f Field, c common) schema.Attribute {
	a := schema.NumberAttribute{Required: c.required, Optional: c.optional, Computed: c.computed,
		MarkdownDescription: c.description}
	if rule := kinds[f.Kind].rule; rule != nil {
		a.Validators = []validator.Number{rule}
	}
	return a
}

func boolAttribute(_ Field, c common) schema.Attribute {
	return schema.BoolAttribute{Required: c.required, Optional: c.optional, Computed: c.computed,
		MarkdownDescription: c.description}
}

func mapAttribute(_ Field, c common) schema.Attribute {
	return schema.MapAttribute{Required: c.required, Optional: c.optional, Computed: c.computed,
		MarkdownDescription: c.description, ElementType: types.StringType,
		Validators: []validator.Map{NoNulls()}}
}

func listAttribute(f Field, c common) schema.Attribute {
	return schema.ListAttribute{Required: c.required, Optional: c.optional, Computed: c.computed,
		MarkdownDescription: c.description, ElementType: f.elem().attrType(),
		Validators: f.listValidators()}
}

// objectAttribute states the type because the framework would build it each time it asks; objectListAttribute does as
// well.
func objectAttribute(f Field, c common) schema.Attribute {
	return schema.SingleNestedAttribute{Required: c.required, Optional: c.optional, Computed: c.computed,
		MarkdownDescription: c.description, CustomType: f.Fields.AttrType(), Attributes: f.Fields.attributes(c.dataSource)}
}

func objectListAttribute(f Field, c common) schema.Attribute {
	item := f.Fields.AttrType()
	return schema.ListNestedAttribute{Required: c.required, Optional: c.optional, Computed: c.computed,
		MarkdownDescription: c.description, CustomType: types.ListType{ElemType: item}, Validators: f.listValidators(),
		NestedObject: schema.NestedAttributeObject{CustomType: item, Attributes: f.Fields.attributes(c.dataSource)}}
}

func (f Field) stringValidators() []validator.String {
	var validators []validator.String
	if f.Access == ReadOnly {
		return nil // Terraform rejects any value
	}
	if f.NotEmpty {
		validators = append(validators, NotEmpty())
	}
	if len(f.OneOf) > 0 {
		validators = append(validators, OneOf(f.OneOf...))
	}
	if rule := kinds[f.Kind].rule; rule != nil {
		validators = append(validators, rule)
	}
	return validators
}

func (f Field) listValidators() []validator.List {
	validators := []validator.List{NoNulls()}
	if rule := kinds[f.Elem].rule; rule != nil {
		validators = append(validators, listvalidator.ValueStringsAre(rule))
	}
	return validators
}

// stringPlanModifiers replace the resource when an immutable value changes. One that is unknown may turn out to be the
// same: Terraform plans again at apply, and stops if it is not.
func (f Field) stringPlanModifiers() []planmodifier.String {
	if !f.Immutable {
		return nil
	}
	return []planmodifier.String{stringplanmodifier.RequiresReplaceIf(
		func(_ context.Context, req planmodifier.StringRequest, resp *stringplanmodifier.RequiresReplaceIfFuncResponse) {
			resp.RequiresReplace = !req.PlanValue.IsUnknown()
		}, "Changing this forces a new resource.", "Changing this forces a new resource.")}
}

// describe is the description: what the attribute is, then what follows from the rest of the field.
func (f Field) describe(resource bool) string {
	sentences := []string{f.Description}
	if resource && f.Usage != "" {
		sentences = append(sentences, f.Usage)
	}
	switch {
	case f.Kind == JSON && resource:
		sentences = append(sentences, "A JSON object, written with `jsonencode`.")
	case f.Kind == JSON:
		sentences = append(sentences, "A JSON object.")
	case f.Kind == List && f.Elem == JSON && resource:
		sentences = append(sentences, "Each item is a JSON object, written with `jsonencode`.")
	case f.Kind == List && f.Elem == JSON:
		sentences = append(sentences, "Each item is a JSON object.")
	}
	if resource && len(f.Key) > 0 && !f.Ordered {
		sentences = append(sentences, "The order is not significant.")
	}
	if resource && len(f.OneOf) > 0 && !strings.Contains(f.Description, "`"+f.OneOf[0]+"`") {
		sentences = append(sentences, "Valid values are "+Quoted(f.OneOf)+".")
	}
	if resource && f.Immutable {
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
