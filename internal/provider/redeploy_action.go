package provider

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/hashicorp/terraform-plugin-framework/action"
	"github.com/hashicorp/terraform-plugin-framework/action/schema"
	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/schema/validator"

	"github.com/graphdeploy/terraform-provider-graphdeploy/internal/client"
	"github.com/graphdeploy/terraform-provider-graphdeploy/internal/field"
)

var (
	_ action.ActionWithConfigure  = (*redeployAction)(nil)
	_ action.ActionWithModifyPlan = (*redeployAction)(nil)
)

// redeployAction is graphdeploy_redeploy: it makes a new revision of the same configuration, once.
type redeployAction struct{ *providerData }

func newRedeployAction() action.Action { return &redeployAction{} }

// Metadata names the action.
func (a *redeployAction) Metadata(_ context.Context, _ action.MetadataRequest, resp *action.MetadataResponse) {
	resp.TypeName = "graphdeploy_redeploy"
}

// Schema describes the configuration of the action.
func (a *redeployAction) Schema(_ context.Context, _ action.SchemaRequest, resp *action.SchemaResponse) {
	resp.Schema = schema.Schema{
		MarkdownDescription: "Makes a new revision of a deployment with the same configuration: a new commit of the same " +
			"branch is built, and a tag that points to a new image is pulled. Waits until the new revision runs. Requires " +
			"Terraform 1.14 or later.",
		Attributes: map[string]schema.Attribute{
			"id": schema.StringAttribute{Required: true, Validators: []validator.String{field.UUIDString()},
				MarkdownDescription: "ID of the deployment, a UUID."},
			"repo_ref": schema.StringAttribute{Optional: true, Validators: []validator.String{field.NotEmpty()},
				MarkdownDescription: "Branch, tag or commit to deploy. Defaults to the one that the service shows. Set it where " +
					"the service shows only the commit of a branch: otherwise that commit is deployed again."},
			"wait_until": schema.StringAttribute{Optional: true, Validators: []validator.String{field.OneOf(waitCreated,
				waitReady, waitActive)},
				MarkdownDescription: "What to wait for, as `wait_until` of the resource `graphdeploy_deployment`."},
			"timeout": schema.StringAttribute{Optional: true, Validators: []validator.String{field.Duration()},
				MarkdownDescription: "Time limit of the wait, such as `45s` or `30m`. Defaults to `20m`."},
		},
	}
}

// Configure takes the configured provider.
func (a *redeployAction) Configure(_ context.Context, req action.ConfigureRequest, resp *action.ConfigureResponse) {
	a.providerData = configured(req.ProviderData, &resp.Diagnostics)
}

// ModifyPlan rejects what cannot be sent.
func (a *redeployAction) ModifyPlan(_ context.Context, _ action.ModifyPlanRequest, resp *action.ModifyPlanResponse) {
	if a.providerData != nil && a.documentedOnly {
		a.rejectRedeploy(&resp.Diagnostics)
	}
}

// Invoke asks for a new revision, and waits for it.
func (a *redeployAction) Invoke(ctx context.Context, req action.InvokeRequest, resp *action.InvokeResponse) {
	config, diags := attributesOf(req.Config.Raw), &resp.Diagnostics
	id, ref := config.text("id"), config.text("repo_ref")
	if !a.requireClient(diags, "Redeploying deployment "+id) {
		return
	}
	progress := progressOf(resp)
	sent, err := a.client.UpdateDeployment(ctx, id, func(live *client.Deployment) (client.Tree, error) {
		progress(string(a.format("Redeploying deployment %q (%s)", live.Name, live.ID)))
		return client.Tree{"source_revision_config": redeployedConfig(live, ref, "")}, nil
	})
	if err != nil {
		a.addRedeployFailure(diags, id, err)
		return
	}
	if ref == "" && showsOnlyCommit(sent.Before) {
		a.report(diags).warnf(path.Empty(), "Commit is redeployed", "The service shows only the commit of deployment %q "+
			"(%s), not the branch or tag: commit %s is deployed again. To deploy a newer one, set repo_ref.", sent.Before.Name,
			id, commitOf(sent.Before))
	}
	// Terraform's interrupt ends the wait until it runs only.
	visible, err := a.client.WaitConsistent(context.WithoutCancel(ctx), sent.Before,
		func(d *client.Deployment) bool { return !awaitsRevision(sent.Before, d) })
	if err != nil {
		a.report(diags).failure(fmt.Sprintf("Cannot read deployment %q back", sent.Before.Name), err, nil)
		return
	}
	switch {
	case newRevision(sent, visible):
	case sent.Lost != nil:
		a.report(diags).errorf(path.Empty(), "Outcome of the redeployment is unknown", "The response to the update of "+
			"deployment %q (%s) was lost, and it has no new revision: %s", visible.Name, visible.ID, a.sentence(sent.Lost))
		return
	default:
		redeploying.verifyRevision(a.report(diags), visible)
		return
	}
	rollout := &rollout{providerData: a.providerData, operation: redeploying, until: config.text("wait_until"),
		limit: config.limit("timeout"), before: sent.Before, progress: progress}
	rollout.wait(ctx, visible, diags)
}

// progressOf returns a function that reports progress, each message once in a row.
func progressOf(resp *action.InvokeResponse) func(message string) {
	last := ""
	return func(message string) {
		if message != last {
			resp.SendProgress(action.InvokeProgressEvent{Message: message})
		}
		last = message
	}
}

// showsOnlyCommit reports whether the service shows, in place of a ref, the commit that it has resolved it to.
func showsOnlyCommit(d *client.Deployment) bool {
	ref, _ := revisionConfig(d)["repo_ref"].(string)
	return ref != "" && strings.EqualFold(ref, commitOf(d))
}

// addRedeployFailure reports why the service was not asked for a new revision, or rejected that.
func (a *redeployAction) addRedeployFailure(diags *diag.Diagnostics, id string, err error) {
	switch {
	case errors.Is(err, client.ErrNotAllowed):
		a.rejectRedeploy(diags)
	case errors.Is(err, client.ErrNotFound):
		a.addLookupFailure(diags, id, err, path.Root("id"))
	case errors.Is(err, client.ErrNotSupported):
		a.report(diags).errorf(path.Empty(), "Service does not support updates", "The service lists deployment %s but "+
			"rejects PATCH for it. Nothing was changed.\n\n%s", id, a.sentence(err))
	default:
		a.report(diags).failure("Cannot redeploy deployment "+id, err, nil)
	}
}

// rejectRedeploy reports that documented_operations_only forbids a redeployment.
func (a *redeployAction) rejectRedeploy(diags *diag.Diagnostics) {
	a.report(diags).errorf(path.Empty(), "Deployment cannot be redeployed", "The provider has documented_operations_only "+
		"= true, and the API documents no operation that redeploys. Remove the action, or set documented_operations_only to "+
		"false if the service supports PATCH for deployments.")
}
