package provider

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/hashicorp/terraform-plugin-framework/attr"
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

// deploymentResource is graphdeploy_deployment. What the API has of a deployment is in deploymentFields; here is what
// Terraform adds to it.
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
		Optional: true, Sensitive: true, ElementType: types.StringType, Validators: secretsValidators(),
		MarkdownDescription: "Secrets, as a map from name to value. Services usually pass them to the application as " +
			"environment variables. The values are stored in the state; use `secrets_wo` to avoid that. `{}` removes all " +
			"secrets. Conflicts with `secrets_wo`.",
	}
	attributes["secrets_wo"] = schema.MapAttribute{
		Optional: true, Sensitive: true, WriteOnly: true, ElementType: types.StringType, Validators: secretsValidators(),
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
		Optional: true, Validators: []validator.String{field.JSONObject(), additionalRule},
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

// IdentitySchema is what identifies a deployment (Terraform 1.12).
func (r *deploymentResource) IdentitySchema(_ context.Context, _ resource.IdentitySchemaRequest,
	resp *resource.IdentitySchemaResponse,
) {
	resp.IdentitySchema = identityschema.Schema{Attributes: map[string]identityschema.Attribute{
		"id": identityschema.StringAttribute{RequiredForImport: true, Description: "ID of the deployment, a UUID."},
	}}
}

// identify sets the identity that belongs to a state.
func identify(ctx context.Context, identity *tfsdk.ResourceIdentity, state tftypes.Value, diags *diag.Diagnostics) {
	if identity != nil {
		diags.Append(identity.SetAttribute(ctx, path.Root("id"), attributesOf(state).text("id"))...)
	}
}

func secretsValidators() []validator.Map {
	return []validator.Map{field.Rule{Must: "must not contain null or an empty name",
		Validate: func(at path.Path, value attr.Value, diags *diag.Diagnostics) {
			secrets, _ := value.(types.Map)
			report := (*providerData)(nil).report(diags)
			for _, name := range slices.Sorted(maps.Keys(secrets.Elements())) {
				if secrets.Elements()[name].IsNull() {
					report.errorf(at, "Null value", "%s must not be null.", at.AtMapKey(name))
				}
				if name == "" {
					report.errorf(at, "Empty name", "%s must not contain an empty name.", at)
				}
			}
		}}}
}

func (r *deploymentResource) Configure(_ context.Context, req resource.ConfigureRequest,
	resp *resource.ConfigureResponse,
) {
	r.providerData = configured(req.ProviderData, &resp.Diagnostics)
}

func (r *deploymentResource) ValidateConfig(_ context.Context, req resource.ValidateConfigRequest,
	resp *resource.ValidateConfigResponse,
) {
	config, report := attributesOf(req.Config.Raw), r.report(&resp.Diagnostics)
	switch values, writeOnly, version := config["secrets"], config["secrets_wo"], config["secrets_wo_version"]; {
	case !values.IsNull() && values.IsKnown() && !writeOnly.IsNull() && writeOnly.IsKnown():
		report.errorf(path.Root("secrets_wo"), "Conflicting arguments", "Only one of secrets and secrets_wo can be set.")
	case writeOnly.IsNull() && !version.IsNull() && version.IsKnown():
		report.errorf(path.Root("secrets_wo_version"), "Missing secrets_wo", "secrets_wo_version requires secrets_wo.")
	}
	if writeOnly, version := config["secrets_wo"], config["secrets_wo_version"]; !writeOnly.IsNull() && version.IsNull() {
		report.warnf(path.Empty(), "Missing secrets_wo_version",
			"Terraform does not store secrets_wo: without secrets_wo_version, a change of the values is neither detected nor "+
				"sent. Set secrets_wo_version, and change it with the values.")
	}
	source, references := config.text("source"), config["secret_references"]
	if source != "" && source != client.SourceExternalDocker && len(field.Items(references)) > 0 {
		report.errorf(path.Root("secret_references"), "Unsupported argument",
			"secret_references is supported only for source %q; deployment %q has source %q. Use secrets instead.",
			client.SourceExternalDocker, config.text("name"), source)
	}
}

// additionalRule rejects properties that have an argument or an attribute of their own, at every depth.
var additionalRule = field.Rule{Must: "must not contain properties that have an argument",
	Validate: func(at path.Path, value attr.Value, diags *diag.Diagnostics) {
		text, _ := value.(types.String)
		properties, _ := field.ReadJSON([]byte(text.ValueString()))
		tree, _ := properties.(map[string]any)
		report := (*providerData)(nil).report(diags)
		conflicts := documentedFields.Conflicts(tree)
		for _, name := range slices.Sorted(maps.Keys(conflicts)) {
			if conflicts[name].Access == field.ReadOnly {
				report.errorf(at, "Read-only property", "%s must not contain %s. The service sets it. Remove it.", at, name)
				continue
			}
			report.errorf(at, "Property with its own argument", "%s must not contain %s. Use the argument %[2]s instead.", at,
				name)
		}
	}}

// Create creates the deployment, waits for it, and saves it.
func (r *deploymentResource) Create(ctx context.Context, req resource.CreateRequest, resp *resource.CreateResponse) {
	plan, config, diags := attributesOf(req.Plan.Raw), attributesOf(req.Config.Raw), &resp.Diagnostics
	r.hideSecrets(plan, config)
	name, source := plan.text("name"), plan.text("source")
	request, want, err := newRequest(req.Config.Raw)
	if err != nil {
		r.report(diags).bug(r.format("Deployment %q cannot be written as a request, and was not created", name), err)
		return
	}
	secrets := configuredSecrets(config)
	request["secrets"] = secrets.sorted()
	created, recovered, err := r.client.CreateDeployment(ctx, request, func(d *client.Deployment) bool {
		return deploymentFields.Satisfies(d.Tree, want, source) && secrets.createdWith(d)
	})
	if err != nil {
		r.addCreateFailure(diags, name, err, requestLocations(config, secrets.sorted()))
		return
	}
	if recovered {
		r.report(diags).warnf(path.Empty(), "Response to the create was lost",
			"Deployment %q (%s) was found after the response to the create request was lost. It matches the request. If "+
				"somebody else created an identical deployment at the same time, it may be theirs: check it before you destroy it.",
			name, created.ID)
	}
	rollout, response := r.rolloutOf(plan, nil), created
	if created = rollout.wait(ctx, created, diags); created == nil {
		return
	}
	if created.Source != source || !client.SameName(created.Name, name) {
		r.addOther(diags, name, created)
		return
	}
	live := liveTree(created, false)
	values, err := resourceFields.AfterApply(req.Plan.Raw, live)
	if err != nil {
		r.report(diags).bug(r.format("Deployment %q (%s) was created, but cannot be written to the state", name, created.ID),
			err)
		return
	}
	resp.State.Raw = field.With(req.Plan.Raw, values)
	identify(ctx, resp.Identity, resp.State.Raw, diags)
	if differs := describeDifferences(deploymentFields.Missing(live, want, source)); len(differs) > 0 {
		r.report(diags).warnf(path.Empty(), "Service reports other values",
			"Deployment %q (%s) was created, but differs from the configuration:%s\n\n"+
				"If the differences remain, the next plan shows them as drift. If the service chose the values, write them into "+
				"the configuration.",
			name, created.ID, differs)
	}
	savePrivate(ctx, resp.Private, privateRecord, resourceFields.Record(req.Config.Raw, resp.State.Raw), diags)
	savePrivate(ctx, resp.Private, privateReplacement, (*replacement)(nil), diags)
	rollout.savePending(ctx, resp.Private, diags)
	if secrets != nil {
		shows := created
		if created == response { // not read since: reads may show less than the response to a create
			shows = r.readAgain(ctx, created)
		}
		sent := newSentSecrets(secrets, shows, r.credentialKey)
		if !config["secrets_wo"].IsNull() {
			sent.addDigests()
		}
		savePrivate(ctx, resp.Private, privateSecrets, sent, diags)
	}
}

// addCreateFailure reports why a deployment was not created.
func (r *deploymentResource) addCreateFailure(diags *diag.Diagnostics, name string, err error, at locate) {
	var taken *client.NameTakenError
	var lost *client.LostError
	switch {
	case errors.As(err, &taken):
		r.report(diags).errorf(path.Root("name"), summaryNameTaken, "%s", r.nameTaken(name, taken.Existing))
	case errors.As(err, &lost):
		r.addLost(diags, name, lost)
	default:
		r.report(diags).failure(fmt.Sprintf("Cannot create deployment %q", name), err, at)
	}
}

// addOther reports that what the service lists under the id in the response to a create is another deployment.
func (r *deploymentResource) addOther(diags *diag.Diagnostics, name string, other *client.Deployment) {
	r.report(diags).errorf(path.Empty(), "Outcome of the create is unknown", "The service responded that it created "+
		"deployment %q with the id %s, but that is deployment %q with source %q. It is not taken into the state. Contact "+
		"the service operator.", name, other.ID, other.Name, other.Source)
}

// addLost reports that the response to a create was lost, and what is known of the deployment.
func (r *deploymentResource) addLost(diags *diag.Diagnostics, name string, lost *client.LostError) {
	outcome := trusted("The service does not list a deployment with that name, so it was probably not created. Apply " +
		"again: the provider looks up the name first.")
	id := lost.ID
	switch {
	case lost.Candidate != nil:
		id = lost.Candidate.ID
		outcome = r.format("The service lists deployment %s with that name, but it may not be the created one: %s.", id,
			lost.Reason)
	case lost.Lookup != nil:
		outcome = "The provider could not find out whether it was created: " + r.sentence(lost.Lookup)
	case id != "":
		outcome = "The service does not list it yet."
	}
	var remedy trusted
	if client.IsUUID(id) {
		remedy = r.format(" If it is yours, import it (replace NAME with the name of the resource):\n\n%s\n\n"+
			"  or: terraform import %s.NAME %s", importBlock(id), deploymentType, id)
	}
	r.report(diags).errorf(path.Empty(), "Outcome of the create is unknown",
		"The response to the request to create deployment %q was lost. %s\n"+
			"The deployment is not in the state.%s\n\n%s", name, outcome, remedy, r.sentence(lost.Err))
}

// requestLocations maps locations in the body of a create or update, which a service names in errors, to attributes.
func requestLocations(config attributes, secrets []client.Secret) locate {
	return func(loc []any) (path.Path, bool) {
		if len(loc) > 0 && loc[0] == "body" {
			loc = loc[1:]
		}
		if len(loc) == 0 || loc[0] != "secrets" {
			return deploymentFields.Path(loc)
		}
		if !config["secrets_wo"].IsNull() {
			return path.Root("secrets_wo"), true
		}
		at := path.Root("secrets")
		if len(loc) > 1 {
			if i, ok := loc[1].(int); ok && i >= 0 && i < len(secrets) {
				if _, ours := attributesOf(config["secrets"])[secrets[i].Name]; ours {
					at = at.AtMapKey(secrets[i].Name)
				}
			}
		}
		return at, true
	}
}

// Read refreshes the state. It removes a deployment that is no longer listed from the state. A read that fails changes
// nothing.
func (r *deploymentResource) Read(ctx context.Context, req resource.ReadRequest, resp *resource.ReadResponse) {
	state, diags := attributesOf(req.State.Raw), &resp.Diagnostics
	r.hideSecrets(state)
	if r.client == nil && req.ClientCapabilities.DeferralAllowed {
		resp.Deferred = &resource.Deferred{Reason: resource.DeferredReasonProviderConfigUnknown}
		return
	}
	if !r.requireClient(diags, "Reading deployment "+describe(state)) {
		return
	}
	id, importing := state.text("id"), state["name"].IsNull()
	found, err := r.read(ctx, id)
	switch {
	case errors.Is(err, client.ErrNotFound) && importing:
		r.report(diags).errorf(path.Empty(), "No such deployment", noSuchID, id)
		return
	case errors.Is(err, client.ErrNotFound):
		// A state from before Terraform 1.12 has no identity yet, and needs one even now.
		identify(ctx, resp.Identity, req.State.Raw, diags)
		resp.State.RemoveResource(ctx)
		return
	case err != nil:
		r.report(diags).failure("Cannot read deployment "+describe(state), err, nil)
		return
	}
	r.state.saw(found)
	record := loadRecord(ctx, req.Private, diags)
	refreshed, err := resourceFields.Refresh(req.State.Raw, liveTree(found, !state[additionalField.Name].IsNull()),
		found.Source, record)
	if err != nil {
		r.report(diags).bug(r.format("Deployment %s cannot be written to the state", describe(state)), err)
		return
	}
	r.refreshSecrets(state, r.loadSentSecrets(ctx, req.Private, state, diags), found, refreshed, diags)
	resp.State.Raw = field.With(req.State.Raw, refreshed)
	r.state.hold(attributesOf(resp.State.Raw))
	identify(ctx, resp.Identity, resp.State.Raw, diags)
}

// ImportState takes an ID, an exact name, or an identity. Read does the rest.
func (r *deploymentResource) ImportState(ctx context.Context, req resource.ImportStateRequest,
	resp *resource.ImportStateResponse,
) {
	diags, id := &resp.Diagnostics, req.ID
	if r.client == nil && req.ClientCapabilities.DeferralAllowed {
		resp.Deferred = &resource.Deferred{Reason: resource.DeferredReasonProviderConfigUnknown}
		resp.State.Raw = tftypes.NewValue(resp.State.Raw.Type(), tftypes.UnknownValue)
		return
	}
	if !r.requireClient(diags, "Importing a deployment") {
		return
	}
	var identity types.String
	if id == "" && req.Identity != nil {
		diags.Append(req.Identity.GetAttribute(ctx, path.Root("id"), &identity)...)
		id = identity.ValueString()
	}
	var found *client.Deployment
	switch {
	case diags.HasError():
	case id == "":
		r.report(diags).errorf(path.Empty(), "Missing import ID", "The import ID must be the ID of the deployment, a UUID "+
			"such as %s, or its exact name.", field.ExampleUUID)
	case client.IsUUID(id):
		found = r.byID(ctx, id, identity.IsNull(), path.Empty(), diags)
	case !identity.IsNull():
		r.report(diags).errorf(path.Root("id"), "Invalid UUID", "id in the identity must be a UUID such as %s, got %q. To "+
			"import by name, use id instead of identity.", field.ExampleUUID, id)
	default:
		found = r.byName(ctx, id, path.Empty(), diags)
	}
	if found == nil {
		return
	}
	r.state.saw(found) // Read, which comes next, need not ask again
	if !strings.EqualFold(id, found.ID) {
		id = found.ID // of a name
	}
	diags.Append(resp.State.SetAttribute(ctx, path.Root("id"), id)...)
	identify(ctx, resp.Identity, resp.State.Raw, diags)
}

// byID reads a deployment, or, with orName, the one whose name is that ID. What is wrong is reported at an attribute,
// if there is one, and then the result is nil.
func (p *providerData) byID(ctx context.Context, id string, orName bool, at path.Path,
	diags *diag.Diagnostics,
) *client.Deployment {
	found, err := p.client.Deployment(ctx, id)
	if errors.Is(err, client.ErrNotFound) && orName {
		var named []*client.Deployment
		if named, err = p.client.DeploymentsNamed(ctx, id); len(named) > 0 {
			return p.only(named, at, diags)
		}
		if err == nil {
			err = client.ErrNotFound
		}
	}
	switch {
	case errors.Is(err, client.ErrNotFound):
		p.report(diags).errorf(at, "No such deployment", noSuchID, id)
	case err != nil:
		p.report(diags).failure("Cannot read deployment "+id, err, nil)
	}
	return found
}

// byName reads the one deployment of exactly that name. What is wrong is reported like that of byID.
func (p *providerData) byName(ctx context.Context, name string, at path.Path,
	diags *diag.Diagnostics,
) *client.Deployment {
	found, err := p.client.DeploymentsNamed(ctx, name)
	switch {
	case err != nil:
		p.report(diags).failure(fmt.Sprintf("Cannot look up deployment %q", name), err, nil)
	case len(found) == 0:
		p.report(diags).errorf(at, "No such deployment", "The service lists no deployment named %q (case-sensitive). Check "+
			"the name, and that the credential has access to the deployment.", name)
	default:
		return p.only(found, at, diags)
	}
	return nil
}

// only is the one deployment of a name; nil if there are several, which is reported.
func (p *providerData) only(found []*client.Deployment, at path.Path, diags *diag.Diagnostics) *client.Deployment {
	if len(found) == 1 {
		return found[0]
	}
	var candidates []string
	for _, d := range found {
		candidates = append(candidates, fmt.Sprintf("%s (source %s, status %s)", d.ID, d.Source, statusOf(d)))
	}
	p.report(diags).errorf(at, "Multiple deployments with that name",
		"The service lists %d deployments named %q. Use the ID of one of them:%s", len(found), found[0].Name, candidates)
	return nil
}

const noSuchID = "The service lists no deployment with ID %s. Check the ID, and that the credential has access to " +
	"the deployment."
