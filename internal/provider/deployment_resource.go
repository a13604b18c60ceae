package provider

import (
	"context"
	"maps"
	"slices"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/resource/identityschema"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema"
	"github.com/hashicorp/terraform-plugin-framework/schema/validator"
	"github.com/hashicorp/terraform-plugin-framework/tfsdk"
	"github.com/hashicorp/terraform-plugin-framework/types"
	"github.com/hashicorp/terraform-plugin-go/tftypes"

	"github.com/graphdeploy/terraform-provider-graphdeploy/internal/client"
	"github.com/graphdeploy/terraform-provider-graphdeploy/internal/field"
)

var (
	_ resource.ResourceWithConfigure      = (*deploymentResource)(nil)
	_ resource.ResourceWithValidateConfig = (*deploymentResource)(nil)
	_ resource.ResourceWithModifyPlan     = (*deploymentResource)(nil)
	_ resource.ResourceWithImportState    = (*deploymentResource)(nil)
	_ resource.ResourceWithIdentity       = (*deploymentResource)(nil)
)

// deploymentResource is graphdeploy_deployment. deploymentFields describes what the API has of a deployment; this file
// describes what Terraform adds.
type deploymentResource struct{ *providerData }

const deploymentType = "graphdeploy_deployment"

func newDeploymentResource() resource.Resource { return &deploymentResource{} }

func (r *deploymentResource) Metadata(_ context.Context, _ resource.MetadataRequest, resp *resource.MetadataResponse) {
	resp.TypeName = deploymentType
}

// The values of wait_until.
const (
	waitCreated = "created"
	waitReady   = "ready"
	waitActive  = "active"
)

func (r *deploymentResource) Schema(_ context.Context, _ resource.SchemaRequest, resp *resource.SchemaResponse) {
	attributes := deploymentFields.ResourceAttributes()
	attributes["secrets"] = schema.MapAttribute{
		Optional: true, Sensitive: true, ElementType: types.StringType,
		MarkdownDescription: "Secrets, as a map from name to value. Services usually pass them to the application as " +
			"environment variables. The values are stored in the state; use `secrets_wo` to avoid that. `{}` removes all " +
			"secrets. Conflicts with `secrets_wo`.",
	}
	attributes["secrets_wo"] = schema.MapAttribute{
		Optional: true, Sensitive: true, WriteOnly: true, ElementType: types.StringType,
		MarkdownDescription: "Like `secrets`, as a write-only argument: the values are never stored in the state or in " +
			"plans. Requires Terraform 1.11 or later, or OpenTofu 1.11 or later. Set `secrets_wo_version`, too. Conflicts " +
			"with `secrets`.",
	}
	attributes["secrets_wo_version"] = schema.StringAttribute{
		Optional: true,
		MarkdownDescription: "Version of `secrets_wo`, such as `1` or the version ID of a secret manager. Change it to " +
			"send the secrets again. Requires `secrets_wo`.",
	}
	attributes[additionalField.Name] = schema.StringAttribute{
		Optional: true, Validators: []validator.String{field.JSONObject()},
		MarkdownDescription: "JSON object, written with `jsonencode`, with [properties without an " +
			"argument](#properties-without-an-argument). It is merged into the requests that create and update the " +
			"deployment. Properties that have their own argument are rejected. Stored in the state in plain text: do not use " +
			"it for secrets.",
	}
	attributes["deletion_policy"] = schema.StringAttribute{
		Optional: true, Validators: []validator.String{field.OneOf(deletionDelete, deletionAbandon, deletionPrevent)},
		MarkdownDescription: "What happens when the deployment is destroyed or replaced. Valid values are `delete`, " +
			"`abandon` (remove it from the state only, so that it keeps running) and `prevent` (fail, also when the resource " +
			"block was removed). Defaults to `delete`. Takes effect only once it is applied: after you change it, run " +
			"`terraform apply` before `terraform destroy`.",
	}
	attributes["redeploy_triggers"] = schema.MapAttribute{
		Optional: true, ElementType: types.StringType, Validators: []validator.Map{field.NoNulls()},
		MarkdownDescription: "Map of strings. A change of it, also setting it on an existing deployment, makes a new " +
			"revision of the same configuration: a new commit of the same branch is built, and a tag that points to a new " +
			"image is pulled. It has no effect when the deployment is created, or when it is removed.",
	}
	attributes["wait_until"] = schema.StringAttribute{
		Optional: true, Validators: []validator.String{field.OneOf(waitCreated, waitReady, waitActive)},
		MarkdownDescription: "What to wait for after a create, and after an update that makes a new revision. Valid values " +
			"are `created` (do not wait), `ready` (until `status` is `READY` or `UNUSED`) and `active` (also until the new " +
			"revision runs). By default, as `active` where the service reports that a revision runs, and otherwise as " +
			"`ready`. When the time limit in `timeouts` expires, a create ends with a warning, and an update with an error. A " +
			"revision that fails is an error. See [What an apply waits for](#what-an-apply-waits-for).",
	}
	attributes["timeouts"] = timeoutsAttribute()
	resp.Schema = schema.Schema{
		MarkdownDescription: "Manages a deployment of a hosted application. Arguments that you set are managed and checked " +
			"for drift. The service chooses the values of omitted arguments. Changing `name` or `source` replaces the " +
			"deployment.",
		Attributes: attributes,
	}
}

// timeoutsAttribute has a time limit for each operation.
func timeoutsAttribute() schema.Attribute {
	limit := func(what, note string) schema.Attribute {
		return schema.StringAttribute{Optional: true, Validators: []validator.String{field.Duration()},
			MarkdownDescription: what + ", such as `45s` or `30m`. Defaults to `20m`." + note}
	}
	return schema.SingleNestedAttribute{
		Optional: true, MarkdownDescription: "Time limits of operations. Changing them updates the state only.",
		Attributes: map[string]schema.Attribute{
			"create": limit("Time to wait for `wait_until` after a create", ""),
			"update": limit("Time to wait for `wait_until` after an update", ""),
			"delete": limit("Time to wait for a deletion to complete", " Takes effect at destroy only after it was applied."),
		},
	}
}

// IdentitySchema describes what identifies a deployment (Terraform 1.12).
func (r *deploymentResource) IdentitySchema(_ context.Context, _ resource.IdentitySchemaRequest,
	resp *resource.IdentitySchemaResponse,
) {
	resp.IdentitySchema = identityschema.Schema{Attributes: map[string]identityschema.Attribute{
		"id": identityschema.StringAttribute{RequiredForImport: true, Description: "ID of the deployment, a UUID."},
	}}
}

// identify sets the identity of a state.
func identify(ctx context.Context, identity *tfsdk.ResourceIdentity, state tftypes.Value, diags *diag.Diagnostics) {
	if identity != nil {
		diags.Append(identity.SetAttribute(ctx, path.Root("id"), attributesOf(state).text("id"))...)
	}
}

func (r *deploymentResource) Configure(_ context.Context, req resource.ConfigureRequest,
	resp *resource.ConfigureResponse,
) {
	r.providerData = configured(req.ProviderData, &resp.Diagnostics)
}

// ValidateConfig rejects arguments that exclude or require each other. Terraform calls it twice for a plan: before it
// configures the provider, and after. A warning appears once, after.
func (r *deploymentResource) ValidateConfig(_ context.Context, req resource.ValidateConfigRequest,
	resp *resource.ValidateConfigResponse,
) {
	config, report := attributesOf(req.Config.Raw), r.report(&resp.Diagnostics)
	validateSecrets(config, report)
	validateAdditional(config, report)
	isConfigured := r.providerData != nil
	if isConfigured && !config["secrets_wo"].IsNull() && config["secrets_wo_version"].IsNull() {
		report.warnf(path.Empty(), "Missing secrets_wo_version",
			"Terraform does not store secrets_wo: without secrets_wo_version, a change of the values is neither detected nor "+
				"sent. Set secrets_wo_version, and change it with the values.")
	}
	source := config.text("source")
	unsupported := source != client.SourceExternalDocker && slices.Contains(sourceNames(), source)
	if unsupported && len(field.Items(config["secret_references"])) > 0 {
		report.errorf(path.Root("secret_references"), "Unsupported argument",
			"secret_references is supported only for source %q; deployment %q has source %q. Use secrets instead.",
			client.SourceExternalDocker, config.text("name"), source)
	}
}

// validateSecrets rejects secrets without a name or a value, and arguments for secrets that exclude each other.
func validateSecrets(config attributes, report report) {
	for _, argument := range []string{"secrets", "secrets_wo"} {
		secrets, at := attributesOf(config[argument]), path.Root(argument)
		for _, name := range slices.Sorted(maps.Keys(secrets)) {
			if secrets[name].IsNull() {
				report.errorf(at, "Null value", "%s must not be null.", at.AtMapKey(name))
			}
			if name == "" {
				report.errorf(at, "Empty name", "%s must not contain an empty name.", at)
			}
		}
	}
	isSet := func(name string) bool { return config[name].IsKnown() && !config[name].IsNull() }
	switch {
	case isSet("secrets") && isSet("secrets_wo"):
		report.errorf(path.Root("secrets_wo"), "Conflicting arguments", "Only one of secrets and secrets_wo can be set.")
	case isSet("secrets_wo_version") && config["secrets_wo"].IsNull():
		report.errorf(path.Root("secrets_wo_version"), "Missing secrets_wo", "secrets_wo_version requires secrets_wo.")
	}
}

// validateAdditional rejects properties that have an argument or an attribute of their own, at every depth.
func validateAdditional(config attributes, report report) {
	conflicts, at := documentedFields.Conflicts(config.additional()), path.Root(additionalField.Name)
	for _, name := range slices.Sorted(maps.Keys(conflicts)) {
		if conflicts[name].Access == field.ReadOnly {
			report.errorf(at, "Read-only property", "%s must not contain %s. The service sets it. Remove it.", at, name)
			continue
		}
		report.errorf(at, "Property with its own argument", "%s must not contain %s. Use the argument %[2]s instead.", at,
			name)
	}
}

// additional returns the properties in additional_properties; nil if it is null or unknown.
func (a attributes) additional() map[string]any {
	tree, _ := field.ReadJSON([]byte(a.text(additionalField.Name)))
	properties, _ := tree.(map[string]any)
	return properties
}
