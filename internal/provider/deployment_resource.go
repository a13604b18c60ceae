package provider

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/hashicorp/terraform-plugin-framework-timeouts/resource/timeouts"
	"github.com/hashicorp/terraform-plugin-framework-validators/int64validator"
	"github.com/hashicorp/terraform-plugin-framework-validators/mapvalidator"
	"github.com/hashicorp/terraform-plugin-framework-validators/stringvalidator"
	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema"
	"github.com/hashicorp/terraform-plugin-framework/schema/validator"
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
)

// deploymentResource is graphdeploy_deployment. What the interface says of a
// deployment is in deploymentFields; here is what Terraform adds to it.
type deploymentResource struct{ *providerData }

func newDeploymentResource() resource.Resource { return &deploymentResource{} }

func (r *deploymentResource) Metadata(_ context.Context, _ resource.MetadataRequest, resp *resource.MetadataResponse) {
	resp.TypeName = "graphdeploy_deployment"
}

// What a create waits for.
const (
	waitCreated = "created"
	waitReady   = "ready"
	waitActive  = "active"
)

const (
	deletionAbandon = "abandon"
	deletionDelete  = "delete"
)

const defaultWaitTimeout = 20 * time.Minute

func (r *deploymentResource) Schema(ctx context.Context, _ resource.SchemaRequest, resp *resource.SchemaResponse) {
	attributes := deploymentFields.ResourceAttributes()
	attributes["secrets"] = schema.MapAttribute{
		Optional: true, Sensitive: true, ElementType: types.StringType,
		Validators: secretsValidators("secrets_wo"),
		MarkdownDescription: "Secrets of the deployment, from name to value. The values stand in the state, which must be kept as safe as they are; " +
			"`secrets_wo` avoids that. What the service echoes of secrets never reaches the state.",
	}
	attributes["secrets_wo"] = schema.MapAttribute{
		Optional: true, Sensitive: true, WriteOnly: true, ElementType: types.StringType,
		Validators: secretsValidators("secrets"),
		MarkdownDescription: "Like `secrets`, as a write-only argument (Terraform 1.11, OpenTofu 1.11): the values are in no state and no plan. " +
			"Conflicts with `secrets`.",
	}
	attributes["secrets_wo_version"] = schema.Int64Attribute{
		Optional:            true,
		Validators:          []validator.Int64{int64validator.AlsoRequires(path.MatchRoot("secrets_wo"))},
		MarkdownDescription: "Number that says which `secrets_wo` are meant: as Terraform does not remember those, a change of this number is what sends them again.",
	}
	attributes["deletion_policy"] = schema.StringAttribute{
		Optional: true, Validators: []validator.String{stringvalidator.OneOf(deletionAbandon, deletionDelete)},
		MarkdownDescription: "What destroying does: `abandon` takes the deployment out of the state and never deletes it; `delete` insists on deleting, which is refused at plan as the interface shows no operation for it. " +
			"Left out, it deletes where it can, and abandons otherwise.",
	}
	attributes["wait_until"] = schema.StringAttribute{
		Optional: true, Validators: []validator.String{stringvalidator.OneOf(waitCreated, waitReady, waitActive)},
		MarkdownDescription: "What a create waits for: `created` for nothing; `ready`, the default, until `status` is `READY` or `UNUSED`; `active` also until `active_revision_id` equals `latest_revision_id`. " +
			"At the time limit the apply ends with a warning, not an error, as an error would have a deployment that is merely slow replaced. For a hard gate, use a `postcondition` on `status`.",
	}
	attributes["timeouts"] = timeouts.Attributes(ctx, timeouts.Opts{
		Create: true, CreateDescription: "Time to wait for what `wait_until` says after a create, such as `45s` or `30m`. Default `20m`.",
		Update: true, UpdateDescription: "Time to wait for what `wait_until` says after a change, such as `45s` or `30m`. Default `20m`.",
	})
	resp.Schema = schema.Schema{
		MarkdownDescription: "A deployment of a hosted application. A change of `name` or `source` replaces it. " +
			"What the configuration leaves out belongs to the service: the state shows it, and no plan proposes to change it.",
		Attributes: attributes,
	}
}

func secretsValidators(other string) []validator.Map {
	return []validator.Map{
		mapvalidator.NoNullValues(),
		mapvalidator.KeysAre(stringvalidator.LengthAtLeast(1)),
		mapvalidator.ConflictsWith(path.MatchRoot(other)),
	}
}

func (r *deploymentResource) Configure(_ context.Context, req resource.ConfigureRequest, resp *resource.ConfigureResponse) {
	r.providerData = configured(req.ProviderData, &resp.Diagnostics)
}

func (r *deploymentResource) ValidateConfig(_ context.Context, req resource.ValidateConfigRequest, resp *resource.ValidateConfigResponse) {
	config := attributesOf(req.Config.Raw)
	source, references := config.text("source"), config["secret_references"]
	if source != "" && source != client.SourceExternalDocker && !references.IsNull() && !isEmptyList(references) {
		resp.Diagnostics.AddAttributeError(path.Root("secret_references"), "Secret references do not go with this source",
			fmt.Sprintf("The service takes secret_references only with source %q; this one has source %q. Use secrets, or take them out.", client.SourceExternalDocker, source))
	}
}

// Create makes the deployment, waits for it, and saves what the service made
// of it.
func (r *deploymentResource) Create(ctx context.Context, req resource.CreateRequest, resp *resource.CreateResponse) {
	plan, config := attributesOf(req.Plan.Raw), attributesOf(req.Config.Raw)
	name := plan.text("name")
	var request client.DeploymentRequest
	if err := deploymentFields.Encode(req.Plan.Raw, &request); err != nil {
		resp.Diagnostics.AddError("Mistake in the provider", fmt.Sprintf("Deployment %q cannot be written as a request: %s. Please report this.", name, err))
		return
	}
	wanted := configuredSecrets(config)
	request.Secrets = wanted.sorted()

	made, err := r.client.CreateDeployment(ctx, request)
	if err != nil {
		r.addCreateFailure(&resp.Diagnostics, name, err, request.Secrets)
		return
	}
	limit := waitLimit(ctx, plan, req.Plan, "create", &resp.Diagnostics)
	memory := newSecretsMemory()
	made, gone := r.waitFor(ctx, made, plan.text("wait_until"), limit, memory.see, &resp.Diagnostics)
	if gone {
		return
	}

	answer, err := deploymentFields.Decode(made)
	if err != nil {
		resp.Diagnostics.AddError("Mistake in the provider", fmt.Sprintf("Deployment %q (%s) was created, but cannot be written to the state: %s. Import it, and please report this.", name, made.ID, err))
		return
	}
	resp.State.Raw = field.With(req.Plan.Raw, deploymentFields.Settle(req.Plan.Raw, answer))
	for _, at := range deploymentFields.Differences(req.Plan.Raw, answer) {
		resp.Diagnostics.AddAttributeWarning(at, "The service reports another value",
			fmt.Sprintf("Deployment %q (%s) was created, but the service does not report the value that was sent. If that stays, the next plan shows it as drift.", name, made.ID))
	}
	saveOwned(ctx, resp.Private, deploymentFields.Owned(req.Config.Raw), &resp.Diagnostics)
	memory.see(made)
	memory.apply(wanted)
	memory.save(ctx, resp.Private, &resp.Diagnostics)
}

// addCreateFailure tells why a deployment was not made.
func (r *deploymentResource) addCreateFailure(diags *diag.Diagnostics, name string, err error, secrets []client.Secret) {
	var exists *client.ExistsError
	var lost *client.LostError
	switch summary := fmt.Sprintf("Cannot create deployment %q", name); {
	case errors.As(err, &exists):
		diags.AddAttributeError(path.Root("name"), fmt.Sprintf("Deployment %q exists already", name), fmt.Sprintf(
			"The service has a deployment of that name, with id %s. Nothing was created. To manage that one, import it:\n\n  terraform import ADDRESS %[1]s\n\nwhere ADDRESS is the address of this resource; or choose another name.", exists.Existing.ID))
	case errors.As(err, &lost):
		r.access.addFailure(diags, summary, lost.Err, nil)
		diags.AddError(fmt.Sprintf("Deployment %q may come up later", name),
			"The answer to the request was lost, and no deployment of that name is listed. It was most likely not made. Apply again: before anything is created, the provider looks for the name, and if the deployment has come up by then, says how to import it.")
	default:
		r.access.addFailure(diags, summary, err, requestPlaces(secrets))
	}
}

// requestPlaces locates places in the body of a create.
func requestPlaces(secrets []client.Secret) locate {
	return func(loc []any) (path.Path, bool) {
		if len(loc) > 0 && loc[0] == "body" {
			loc = loc[1:]
		}
		if len(loc) > 0 && loc[0] == "secrets" {
			at := path.Root("secrets")
			if len(loc) > 1 {
				if i, ok := loc[1].(int); ok && i >= 0 && i < len(secrets) {
					at = at.AtMapKey(secrets[i].Name)
				}
			}
			return at, true
		}
		return deploymentFields.Path(loc)
	}
}

// Read takes the service's values into the state. A deployment that is no
// longer listed leaves the state; a reading that fails changes nothing.
func (r *deploymentResource) Read(ctx context.Context, req resource.ReadRequest, resp *resource.ReadResponse) {
	state := attributesOf(req.State.Raw)
	id, importing := state.text("id"), state["name"].IsNull()
	found, err := r.client.Deployment(ctx, id)
	switch {
	case errors.Is(err, client.ErrNotFound) && importing:
		resp.Diagnostics.AddError("No such deployment", fmt.Sprintf("The service lists no deployment with id %s. Check the id, and that the credential may see it.", id))
		return
	case errors.Is(err, client.ErrNotFound):
		resp.State.RemoveResource(ctx)
		return
	case err != nil:
		r.access.addFailure(&resp.Diagnostics, fmt.Sprintf("Cannot read deployment %s", describe(state)), err, nil)
		return
	}
	answer, err := deploymentFields.Decode(found)
	if err != nil {
		resp.Diagnostics.AddError("Mistake in the provider", fmt.Sprintf("Deployment %s cannot be written to the state: %s. Please report this.", describe(state), err))
		return
	}
	refreshed := deploymentFields.Refresh(req.State.Raw, answer, loadOwned(ctx, req.Private, &resp.Diagnostics))
	memory := loadSecretsMemory(ctx, req.Private, &resp.Diagnostics)
	memory.see(found)
	if drifted := memory.drifted(); len(drifted) > 0 {
		forgetSecrets(state, drifted, refreshed, &resp.Diagnostics)
	}
	memory.save(ctx, resp.Private, &resp.Diagnostics)
	resp.State.Raw = field.With(req.State.Raw, refreshed)
}

// Update saves what lives in Terraform alone; a plan that would change the
// service does not get here, but for values that were not known at plan.
func (r *deploymentResource) Update(ctx context.Context, req resource.UpdateRequest, resp *resource.UpdateResponse) {
	memory := loadSecretsMemory(ctx, req.Private, &resp.Diagnostics)
	r.refuseChanges(req.Plan.Raw, req.State.Raw, req.Config.Raw, memory, &resp.Diagnostics)
	if resp.Diagnostics.HasError() {
		return
	}
	resp.State.Raw = field.With(req.Plan.Raw, deploymentFields.Settle(req.Plan.Raw, req.State.Raw))
	saveOwned(ctx, resp.Private, deploymentFields.Owned(req.Config.Raw), &resp.Diagnostics)
	memory.apply(configuredSecrets(attributesOf(req.Config.Raw)))
	memory.save(ctx, resp.Private, &resp.Diagnostics)
}

// Delete takes the deployment out of the state. The interface shows no
// operation that would remove it from the service.
func (r *deploymentResource) Delete(_ context.Context, req resource.DeleteRequest, resp *resource.DeleteResponse) {
	addAbandoned(&resp.Diagnostics, attributesOf(req.State.Raw), "was")
}

// ImportState takes an id or an exact name. Read does the rest.
func (r *deploymentResource) ImportState(ctx context.Context, req resource.ImportStateRequest, resp *resource.ImportStateResponse) {
	id := req.ID
	if !field.IsUUID(id) {
		found, err := r.client.DeploymentsNamed(ctx, req.ID)
		if err != nil {
			r.access.addFailure(&resp.Diagnostics, fmt.Sprintf("Cannot look for deployment %q", req.ID), err, nil)
			return
		}
		if len(found) != 1 {
			addNotOne(&resp.Diagnostics, req.ID, found)
			return
		}
		id = found[0].ID
	}
	resp.Diagnostics.Append(resp.State.SetAttribute(ctx, path.Root("id"), id)...)
}

// addNotOne tells that a name fits no deployment, or several.
func addNotOne(diags *diag.Diagnostics, name string, found []*client.Deployment) {
	if len(found) == 0 {
		diags.AddError("No such deployment", fmt.Sprintf("The service lists no deployment named exactly %q. Give the exact name, or the id, which is a UUID such as 123e4567-e89b-12d3-a456-426614174000.", name))
		return
	}
	detail := fmt.Sprintf("The service lists %d deployments named %q. Give the id of one of them:\n", len(found), name)
	for _, d := range found {
		detail += fmt.Sprintf("\n  %s (source %s, status %s)", d.ID, d.Source, d.Status)
	}
	diags.AddError("Several deployments of that name", detail)
}

// attributes are the attributes of a whole configuration, plan or state.
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
	if name := state.text("name"); name != "" {
		return fmt.Sprintf("%q (%s)", name, state.text("id"))
	}
	return state.text("id")
}

func isEmptyList(v tftypes.Value) bool {
	var items []tftypes.Value
	return v.IsKnown() && v.As(&items) == nil && len(items) == 0
}

// newObject is an object of a schema's type.
func newObject(typ tftypes.Type, values attributes) tftypes.Value {
	return tftypes.NewValue(typ, map[string]tftypes.Value(values))
}
