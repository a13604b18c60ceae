package provider

import (
	"context"
	"errors"
	"fmt"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-go/tftypes"

	"github.com/graphdeploy/terraform-provider-graphdeploy/internal/client"
	"github.com/graphdeploy/terraform-provider-graphdeploy/internal/field"
)

// Create creates the deployment, waits for it, and saves it.
func (r *deploymentResource) Create(ctx context.Context, req resource.CreateRequest, resp *resource.CreateResponse) {
	plan, config, diags := attributesOf(req.Plan.Raw), attributesOf(req.Config.Raw), &resp.Diagnostics
	r.hideSecrets(plan, config)
	name, source := plan.text("name"), plan.text("source")
	request, want := newRequest(req.Config.Raw)
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
	rollout := &rollout{providerData: r.providerData, operation: creating, until: plan.text("wait_until"),
		limit: attributesOf(plan["timeouts"]).limit("create")}
	running := rollout.wait(ctx, created, diags)
	if running == nil {
		return
	}
	if running.Source != source || !client.SameName(running.Name, name) {
		r.addOther(diags, name, running)
		return
	}
	live := liveTree(running)
	values, err := resourceFields.AfterApply(req.Plan.Raw, live)
	if err != nil {
		r.report(diags).bug(r.format("Deployment %q (%s) was created, but cannot be written to the state", name, running.ID),
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
			name, running.ID, differs)
	}
	savePrivate(ctx, resp.Private, privateRecord, resourceFields.Record(req.Config.Raw, resp.State.Raw), diags)
	clearPrivate(ctx, resp.Private, privateNewName, diags)
	savePending(ctx, resp.Private, rollout.last, diags)
	if secrets != nil {
		if running == created { // it was not read: reads may show less than the response to a create
			if read, err := r.client.Deployment(ctx, created.ID); err == nil {
				running = read
			}
		}
		sent := newSentSecrets(secrets, running, r.credentialKey)
		if !config["secrets_wo"].IsNull() {
			sent.addDigests()
		}
		savePrivate(ctx, resp.Private, privateSecrets, sent, diags)
	}
}

// newRequest returns the body of a create, but for secrets, and what it asks for.
func newRequest(config tftypes.Value) (request, want client.Tree) {
	configured := deploymentFields.Encode(config)
	additional := attributesOf(config).additional()
	return field.MergeDeep(deploymentFields.Request(configured), additional), field.MergeDeep(configured, additional)
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
