package provider

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/hashicorp/terraform-plugin-framework-timeouts/resource/timeouts"
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

// deploymentResource is graphdeploy_deployment. What the interface says of a
// deployment is in deploymentFields; here is what Terraform adds to it.
type deploymentResource struct{ *providerData }

const deploymentType = "graphdeploy_deployment"

func newDeploymentResource() resource.Resource { return &deploymentResource{} }

func (r *deploymentResource) Metadata(_ context.Context, _ resource.MetadataRequest, resp *resource.MetadataResponse) {
	resp.TypeName = deploymentType
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
		Validators: secretsValidators(),
		MarkdownDescription: "Secrets of the deployment, from name to value. The values are in the state, so keep it as safe as they are; " +
			"`secrets_wo` avoids that. Conflicts with it. Left out, a new deployment has none. What the service echoes of secrets never reaches the state.",
	}
	attributes["secrets_wo"] = schema.MapAttribute{
		Optional: true, Sensitive: true, WriteOnly: true, ElementType: types.StringType,
		Validators: secretsValidators(),
		MarkdownDescription: "Like `secrets`, as a write-only argument (Terraform 1.11, OpenTofu 1.11): the values are in no state and no plan. " +
			"Set `secrets_wo_version` too, as a change of the values is not seen without it. Conflicts with `secrets`.",
	}
	attributes["secrets_wo_version"] = schema.NumberAttribute{
		Optional:            true,
		Validators:          []validator.Number{field.WholeNumber()},
		MarkdownDescription: "Whole number that says which `secrets_wo` are meant: as Terraform does not remember those, a change of this number is what sends them again. Any other number works: 1, then 2, for example. Needs `secrets_wo`.",
	}
	attributes["deletion_policy"] = schema.StringAttribute{
		Optional: true, Validators: []validator.String{field.OneOf(deletionAbandon, deletionDelete)},
		MarkdownDescription: "What destroying does: `abandon` takes the deployment out of the state and never deletes it; `delete` insists on deleting, which is refused at plan unless the provider has `extended_operations`. " +
			"Left out, it deletes where it can: with `extended_operations`, and otherwise it abandons. It counts once it is in the state, by an apply.",
	}
	attributes["wait_until"] = schema.StringAttribute{
		Optional: true, Validators: []validator.String{field.OneOf(waitCreated, waitReady, waitActive)},
		MarkdownDescription: "What a create or a change waits for: `created` for nothing; `ready`, the default, until `status` is `READY` or `UNUSED`; `active` also until `active_revision_id` equals `latest_revision_id`. " +
			"A change waits for its own revision. `timeouts` has the limit, at which the apply ends with a warning, not an error, as an error would make Terraform replace a new deployment that is merely slow. For a hard gate, use a `postcondition` on `status`.",
	}
	attributes["timeouts"] = waitTimeouts(ctx, "How long to wait after each operation. A change of these needs no request to the service.", timeouts.Opts{
		Create: true, CreateDescription: "Time to wait for what `wait_until` says after a create, such as `45s` or `30m`. Default `20m`.",
		Update: true, UpdateDescription: "Time to wait for what `wait_until` says after a change, such as `45s` or `30m`. Default `20m`.",
		Delete: true, DeleteDescription: "Time to wait until a deleted deployment is no longer listed, such as `45s` or `30m`. Default `20m`. It must be in the state, by an apply, before the destroy.",
	})
	resp.Schema = schema.Schema{
		MarkdownDescription: "A deployment of a hosted application. A change of `name` or `source` replaces it. " +
			"What the configuration leaves out belongs to the service: the state shows it, and no plan proposes to change it.",
		Attributes: attributes,
	}
}

// IdentitySchema is what tells a deployment from all others (Terraform 1.12).
func (r *deploymentResource) IdentitySchema(_ context.Context, _ resource.IdentitySchemaRequest, resp *resource.IdentitySchemaResponse) {
	resp.IdentitySchema = identityschema.Schema{Attributes: map[string]identityschema.Attribute{
		"id": identityschema.StringAttribute{RequiredForImport: true, Description: "Id of the deployment, a UUID."},
	}}
}

// identify sets the identity that belongs to a state.
func identify(ctx context.Context, identity *tfsdk.ResourceIdentity, state tftypes.Value, diags *diag.Diagnostics) {
	if identity != nil {
		diags.Append(identity.SetAttribute(ctx, path.Root("id"), attributesOf(state).text("id"))...)
	}
}

func secretsValidators() []validator.Map { return []validator.Map{field.NoNulls(), field.Named()} }

func (r *deploymentResource) Configure(_ context.Context, req resource.ConfigureRequest, resp *resource.ConfigureResponse) {
	r.providerData = configured(req.ProviderData, &resp.Diagnostics)
}

func (r *deploymentResource) ValidateConfig(_ context.Context, req resource.ValidateConfigRequest, resp *resource.ValidateConfigResponse) {
	config := attributesOf(req.Config.Raw)
	switch values, unseen, version := config["secrets"], config["secrets_wo"], config["secrets_wo_version"]; {
	case !values.IsNull() && values.IsKnown() && !unseen.IsNull() && unseen.IsKnown():
		resp.Diagnostics.AddAttributeError(path.Root("secrets_wo"), "Both secrets and secrets_wo",
			"The two arguments set the same secrets. Keep one of them: secrets_wo, if the values are to be in no state.")
	case unseen.IsNull() && !version.IsNull() && version.IsKnown():
		resp.Diagnostics.AddAttributeError(path.Root("secrets_wo_version"), "No secrets_wo",
			"secrets_wo_version says which secrets_wo are meant, and there are none. Set secrets_wo, or take the version out.")
	case !unseen.IsNull() && version.IsNull():
		resp.Diagnostics.AddAttributeWarning(path.Root("secrets_wo"), "Secrets without a version",
			"Terraform does not remember secrets_wo: without secrets_wo_version, a change of the values is not noticed and not sent. Set secrets_wo_version to a number, and raise it whenever the values change.")
	}
	source, references := config.text("source"), config["secret_references"]
	if source != "" && source != client.SourceExternalDocker && !references.IsNull() && !isEmptyList(references) {
		resp.Diagnostics.AddAttributeError(path.Root("secret_references"), "Secret references do not go with this source",
			fmt.Sprintf("The service takes secret_references with source %q alone, and deployment %q has source %q. Use secrets, or take secret_references out.", client.SourceExternalDocker, config.text("name"), source))
	}
}

// Create makes the deployment, waits for it, and saves what the service made
// of it.
func (r *deploymentResource) Create(ctx context.Context, req resource.CreateRequest, resp *resource.CreateResponse) {
	plan, config := attributesOf(req.Plan.Raw), attributesOf(req.Config.Raw)
	r.hideSecrets(plan, config)
	name := plan.text("name")
	var request client.DeploymentRequest
	if err := deploymentFields.Encode(req.Plan.Raw, &request); err != nil {
		addMistake(&resp.Diagnostics, fmt.Sprintf("Deployment %q cannot be written as a request, and was not created", name), err)
		return
	}
	wanted := configuredSecrets(config)
	request.Secrets = wanted.sorted()

	made, err := r.client.CreateDeployment(ctx, request)
	if err != nil {
		r.addCreateFailure(&resp.Diagnostics, name, err, requestPlaces(config, request.Secrets))
		return
	}
	memory := newSecretsMemory()
	// A first look, by which masks that differ each time are known; not at
	// values, which a service may show once and mask from then on.
	if memory.see(made); memory.holds(wanted, nil) {
		memory.Seen = nil
	}
	made, gone := r.waitFor(ctx, made, wait{
		until: plan.text("wait_until"), limit: waitLimit(ctx, req.Plan.GetAttribute, timeouts.Value.Create, &resp.Diagnostics),
		done: "created", setting: "timeouts.create", see: memory.see,
	}, &resp.Diagnostics)
	if gone {
		return
	}

	answer, err := deploymentFields.Decode(made)
	if err != nil {
		addMistake(&resp.Diagnostics, fmt.Sprintf("Deployment %q (%s) was created, but cannot be written to the state", name, made.ID), err)
		return
	}
	resp.State.Raw = field.With(req.Plan.Raw, deploymentFields.Settle(req.Plan.Raw, answer))
	identify(ctx, resp.Identity, resp.State.Raw, &resp.Diagnostics)
	for _, d := range deploymentFields.Differences(req.Plan.Raw, deploymentFields.Named(answer, req.Plan.Raw)) {
		resp.Diagnostics.AddAttributeWarning(d.At, "The service reports another value",
			fmt.Sprintf("Deployment %q (%s) was created, but %s %s. If that stays, the next plan shows it as drift: set what the service has, or take the attribute out.", name, made.ID, d.At, disagreement(d)))
	}
	saveOwned(ctx, resp.Private, deploymentFields.Owned(req.Config.Raw), &resp.Diagnostics)
	memory.see(made)
	memory.apply(wanted)
	memory.save(ctx, resp.Private, &resp.Diagnostics)
}

// addCreateFailure tells why a deployment was not made.
func (r *deploymentResource) addCreateFailure(diags *diag.Diagnostics, name string, err error, places locate) {
	var exists *client.ExistsError
	var lost *client.LostError
	switch summary := fmt.Sprintf("Cannot create deployment %q", name); {
	case errors.As(err, &exists):
		diags.AddAttributeError(path.Root("name"), fmt.Sprintf("Deployment %q exists already", name), fmt.Sprintf(
			"The service has a deployment named %q, with id %s. Nothing was created. Choose another name; or, to manage that deployment here, %s", name, exists.Existing.ID, howToImport(exists.Existing.ID)))
	case errors.As(err, &lost):
		r.access.addFailure(diags, summary, lost.Err, nil)
		found := "No deployment of that name is listed: most likely, it was not created."
		if lost.ID != "" {
			found = "No deployment of that name is listed yet."
		}
		if lost.Look != nil {
			found = "Whether it was created could not be found out: " + sentence(lost.Look.Error())
		}
		if lost.ID != "" {
			diags.AddError(fmt.Sprintf("Deployment %q may exist", name), fmt.Sprintf(
				"The service answered the request to create deployment %q with success and id %s, but the rest of the answer cannot be used. %s It is not in the state. To manage it here, %s", name, lost.ID, found, howToImport(lost.ID)))
			return
		}
		diags.AddError(fmt.Sprintf("Deployment %q may come up later", name), fmt.Sprintf(
			"The request to create deployment %q was sent, and no usable answer came. %s It is not in the state. Apply again: the provider first looks for the name, and if the deployment is there by then, says how to import it.", name, found))
	default:
		r.access.addFailure(diags, summary, err, places)
	}
}

// requestPlaces locates places in the body of a create or a change.
func requestPlaces(config attributes, secrets []client.Secret) locate {
	return func(loc []any) (path.Path, bool) {
		if len(loc) > 0 && loc[0] == "body" {
			loc = loc[1:]
		}
		if len(loc) > 0 && loc[0] == "secrets" {
			at := path.Root("secrets")
			if !config["secrets_wo"].IsNull() {
				at = path.Root("secrets_wo")
			}
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
	r.hideSecrets(state)
	id, importing := state.text("id"), state["name"].IsNull()
	found, err := r.deployment(ctx, id)
	switch {
	case errors.Is(err, client.ErrNotFound) && importing:
		resp.Diagnostics.AddError("No such deployment", noSuchID(id))
		return
	case errors.Is(err, client.ErrNotFound):
		// A state of before Terraform 1.12 has no identity yet, and needs one
		// even now.
		identify(ctx, resp.Identity, req.State.Raw, &resp.Diagnostics)
		resp.State.RemoveResource(ctx)
		return
	case err != nil:
		r.access.addFailure(&resp.Diagnostics, fmt.Sprintf("Cannot read deployment %s", describe(state)), err, nil)
		return
	}
	answer, err := deploymentFields.Decode(found)
	if err != nil {
		addMistake(&resp.Diagnostics, fmt.Sprintf("Deployment %s cannot be written to the state", describe(state)), err)
		return
	}
	if !r.deletes(state) {
		r.kept.Store(found.Name, found.ID)
	}
	refreshed := deploymentFields.Refresh(req.State.Raw, answer, loadOwned(ctx, req.Private, &resp.Diagnostics))
	memory := loadSecretsMemory(ctx, req.Private, &resp.Diagnostics)
	memory.see(found)
	if drifted := memory.drifted(); len(drifted) > 0 {
		forgetSecrets(state, drifted, refreshed, &resp.Diagnostics)
	}
	memory.save(ctx, resp.Private, &resp.Diagnostics)
	resp.State.Raw = field.With(req.State.Raw, refreshed)
	identify(ctx, resp.Identity, resp.State.Raw, &resp.Diagnostics)
}

// ImportState takes an id, an exact name, or an identity. Read does the rest.
func (r *deploymentResource) ImportState(ctx context.Context, req resource.ImportStateRequest, resp *resource.ImportStateResponse) {
	id := req.ID
	var identity types.String
	if id == "" && req.Identity != nil {
		resp.Diagnostics.Append(req.Identity.GetAttribute(ctx, path.Root("id"), &identity)...)
		id = identity.ValueString()
	}
	switch {
	case resp.Diagnostics.HasError():
	case id == "":
		resp.Diagnostics.AddError("No import id", fmt.Sprintf("The id to import is empty, as where a variable of a shell is not set. Give the id of the deployment, a UUID such as %s, or its exact name.", field.ExampleUUID))
	case !identity.IsNull():
		if !field.IsUUID(id) {
			resp.Diagnostics.AddAttributeError(path.Root("id"), "Not a UUID", fmt.Sprintf("The identity has id %q. Give the id of the deployment, a UUID such as %s; to import by name, use id in place of identity.", id, field.ExampleUUID))
		}
	case !field.IsUUID(id):
		id = r.idOfName(ctx, id, &resp.Diagnostics)
	}
	if resp.Diagnostics.HasError() {
		return
	}
	resp.Diagnostics.Append(resp.State.SetAttribute(ctx, path.Root("id"), id)...)
	identify(ctx, resp.Identity, resp.State.Raw, &resp.Diagnostics)
}

// idOfName finds the one deployment of exactly that name.
func (r *deploymentResource) idOfName(ctx context.Context, name string, diags *diag.Diagnostics) string {
	found, err := r.client.DeploymentsNamed(ctx, name)
	switch {
	case err != nil:
		r.access.addFailure(diags, fmt.Sprintf("Cannot look for deployment %q", name), err, nil)
	case len(found) != 1:
		diags.AddError(notOne(name, found))
	default:
		return found[0].ID
	}
	return ""
}

// notOne tells that a name fits no deployment, or several.
func notOne(name string, found []*client.Deployment) (summary, detail string) {
	if len(found) == 0 {
		return "No such deployment", fmt.Sprintf("The service lists no deployment named exactly %q, in these letters. Check the name, and that the credential may see the deployment; or give its id, a UUID such as %s.", name, field.ExampleUUID)
	}
	var candidates []string
	for _, d := range found {
		candidates = append(candidates, fmt.Sprintf("%s (source %s, status %s)", d.ID, ofTheService(d.Source), ofTheService(d.Status)))
	}
	return "Several deployments of that name", fmt.Sprintf("The service lists %d deployments named %q. Give the id of one of them:\n%s", len(found), name, listed(candidates))
}

// noSuchID tells that an id fits no deployment.
func noSuchID(id string) string {
	return fmt.Sprintf("The service lists no deployment with id %s. Check the id, and that the credential may see the deployment.", id)
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
	name, id := state.text("name"), state.text("id")
	switch {
	case name == "":
		return id
	case id == "": // not created yet
		return fmt.Sprintf("%q", name)
	}
	return fmt.Sprintf("%q (%s)", name, id)
}

func isEmptyList(v tftypes.Value) bool {
	var items []tftypes.Value
	return v.IsKnown() && v.As(&items) == nil && len(items) == 0
}

// newObject is an object of a schema's type.
func newObject(typ tftypes.Type, values attributes) tftypes.Value {
	return tftypes.NewValue(typ, map[string]tftypes.Value(values))
}
