package field

import (
	"strings"

	"github.com/hashicorp/terraform-plugin-framework-validators/listvalidator"
	"github.com/hashicorp/terraform-plugin-framework/attr"
	datasource "github.com/hashicorp/terraform-plugin-framework/datasource/schema"
	resource "github.com/hashicorp/terraform-plugin-framework/resource/schema"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/planmodifier"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/stringplanmodifier"
	"github.com/hashicorp/terraform-plugin-framework/schema/validator"
	"github.com/hashicorp/terraform-plugin-framework/types"
)

// ResourceAttributes are the attributes as a resource has them: what is Shared
// is optional and computed.
func (fs Fields) ResourceAttributes() map[string]resource.Attribute {
	attributes := make(map[string]resource.Attribute, len(fs))
	for _, f := range fs {
		attributes[f.Name] = f.resourceAttribute()
	}
	return attributes
}

func (f Field) resourceAttribute() resource.Attribute {
	required, optional, computed := f.Access == Required, f.Access == Shared, f.Access != Required
	words := f.words(true)
	switch f.Kind {
	case Whole:
		// A number that is checked, as the framework tells of a fraction in an
		// integer as of a mistake in the provider.
		return resource.NumberAttribute{Required: required, Optional: optional, Computed: computed, MarkdownDescription: words,
			Validators: []validator.Number{WholeNumber()}}
	case Number:
		return resource.NumberAttribute{Required: required, Optional: optional, Computed: computed, MarkdownDescription: words}
	case Flag:
		return resource.BoolAttribute{Required: required, Optional: optional, Computed: computed, MarkdownDescription: words}
	case TextMap:
		return resource.MapAttribute{Required: required, Optional: optional, Computed: computed, MarkdownDescription: words,
			ElementType: types.StringType, Validators: []validator.Map{NoNulls()}}
	case List:
		return resource.ListAttribute{Required: required, Optional: optional, Computed: computed, MarkdownDescription: words,
			ElementType: types.StringType, Validators: f.listValidators()}
	case Object:
		// The type is given, as the framework would make it anew wherever it asks.
		return resource.SingleNestedAttribute{Required: required, Optional: optional, Computed: computed, MarkdownDescription: words,
			CustomType: f.Fields.AttrType(), Attributes: f.Fields.ResourceAttributes()}
	case Objects:
		item := f.Fields.AttrType()
		return resource.ListNestedAttribute{Required: required, Optional: optional, Computed: computed, MarkdownDescription: words,
			CustomType:   types.ListType{ElemType: item},
			NestedObject: resource.NestedAttributeObject{CustomType: item, Attributes: f.Fields.ResourceAttributes()}, Validators: f.listValidators()}
	default:
		return resource.StringAttribute{Required: required, Optional: optional, Computed: computed, MarkdownDescription: words,
			Validators: f.stringValidators(), PlanModifiers: f.stringPlanModifiers()}
	}
}

// DataSourceAttributes are the attributes as a data source shows them: all
// computed.
func (fs Fields) DataSourceAttributes() map[string]datasource.Attribute {
	attributes := make(map[string]datasource.Attribute, len(fs))
	for _, f := range fs {
		attributes[f.Name] = f.dataSourceAttribute()
	}
	return attributes
}

func (f Field) dataSourceAttribute() datasource.Attribute {
	words := f.words(false)
	switch f.Kind {
	case Whole, Number:
		return datasource.NumberAttribute{Computed: true, MarkdownDescription: words}
	case Flag:
		return datasource.BoolAttribute{Computed: true, MarkdownDescription: words}
	case TextMap:
		return datasource.MapAttribute{Computed: true, MarkdownDescription: words, ElementType: types.StringType}
	case List:
		return datasource.ListAttribute{Computed: true, MarkdownDescription: words, ElementType: types.StringType}
	case Object:
		return datasource.SingleNestedAttribute{Computed: true, MarkdownDescription: words, Attributes: f.Fields.DataSourceAttributes()}
	case Objects:
		return datasource.ListNestedAttribute{Computed: true, MarkdownDescription: words,
			NestedObject: datasource.NestedAttributeObject{Attributes: f.Fields.DataSourceAttributes()}}
	default:
		return datasource.StringAttribute{Computed: true, MarkdownDescription: words}
	}
}

// AttrType is the framework's type of an object with these attributes.
func (fs Fields) AttrType() types.ObjectType {
	return once(&attrTypes, fs, func() types.ObjectType {
		attributes := make(map[string]attr.Type, len(fs))
		for name, attribute := range fs.DataSourceAttributes() {
			attributes[name] = attribute.GetType()
		}
		return types.ObjectType{AttrTypes: attributes}
	})
}

func (f Field) stringValidators() []validator.String {
	var validators []validator.String
	if f.NotEmpty {
		validators = append(validators, NotEmpty())
	}
	if len(f.OneOf) > 0 {
		validators = append(validators, OneOf(f.OneOf...))
	}
	switch f.Kind {
	case JSON:
		validators = append(validators, JSONObject())
	case UUID:
		validators = append(validators, UUIDText())
	}
	return validators
}

func (f Field) listValidators() []validator.List {
	validators := []validator.List{NoNulls()}
	switch f.Elem {
	case JSON:
		validators = append(validators, listvalidator.ValueStringsAre(JSONObject()))
	case UUID:
		validators = append(validators, listvalidator.ValueStringsAre(UUIDText()))
	}
	return validators
}

func (f Field) stringPlanModifiers() []planmodifier.String {
	if !f.Immutable {
		return nil
	}
	return []planmodifier.String{stringplanmodifier.RequiresReplace()}
}

// words are the description: what the field is, then what follows from the
// rest of it.
func (f Field) words(resource bool) string {
	words := []string{f.Doc}
	switch {
	case f.Kind == JSON:
		words = append(words, "A JSON object, written with `jsonencode`.")
	case f.Kind == List && f.Elem == JSON:
		words = append(words, "Each item is a JSON object, written with `jsonencode`.")
	}
	if resource && len(f.OneOf) > 0 {
		words = append(words, "One of "+Quoted(f.OneOf)+".")
	}
	if resource && f.Immutable {
		words = append(words, "A change replaces the deployment.")
	}
	return strings.Join(words, " ")
}

// Quoted lists words for a description: `a`, `b`, `c`.
func Quoted(words []string) string {
	return "`" + strings.Join(words, "`, `") + "`"
}
