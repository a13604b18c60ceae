package provider

import (
	"context"
	"fmt"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-go/tftypes"

	"github.com/graphdeploy/terraform-provider-graphdeploy/internal/client"
	"github.com/graphdeploy/terraform-provider-graphdeploy/internal/field"
)

// ModifyPlan makes the plan of a deployment by the rules of package field, and rejects what an apply could not do.
func (r *deploymentResource) ModifyPlan(
	ctx context.Context, req resource.ModifyPlanRequest, resp *resource.ModifyPlanResponse,
) {
	state, config, diags := attributesOf(req.State.Raw), attributesOf(req.Config.Raw), &resp.Diagnostics
	r.hideSecrets(state, config)
	if req.Plan.Raw.IsNull() {
		r.planDestroy(ctx, state, resp)
		return
	}
	record := loadRecord(ctx, req.Private, diags)
	resp.Plan.Raw = field.With(req.Plan.Raw, resourceFields.Plan(req.Config.Raw, req.State.Raw, record))
	plan := attributesOf(resp.Plan.Raw)
	r.checkHosting(plan, diags)
	r.warnOfMisspelled(diags, plan, config)
	if req.State.Raw.IsNull() {
		r.planCreate(ctx, plan, resp)
		return
	}
	live := r.state.take(state.text("id"))
	r.state.hold(state)
	if state.text("status") == client.StatusAwaitingDelete {
		r.report(diags).warnf(path.Empty(), "Deployment is being deleted", "Deployment %s has status %s. Once "+
			"it no longer exists, the plan proposes to create it again.", describe(state), client.StatusAwaitingDelete)
	}
	if plan.replaces(state, "name") || plan.replaces(state, "source") {
		r.planReplacement(ctx, plan, state, diags)
		return
	}
	c := newChange(req.Config.Raw, resp.Plan.Raw, req.State.Raw, record,
		r.loadSentSecrets(ctx, req.Private, state, diags))
	r.planUpdate(ctx, c, live, req, resp)
	keepsRevision := attributesOf(resp.Plan.Raw)["latest_revision_id"].IsKnown()
	if keepsRevision && !diags.HasError() {
		r.addPending(ctx, req.Private, plan, state, live, diags)
	}
}

// planUpdate plans a change of a deployment. Live is what was read of it for its refresh; nil if nothing was.
func (r *deploymentResource) planUpdate(ctx context.Context, c *change, live *client.Deployment,
	req resource.ModifyPlanRequest, resp *resource.ModifyPlanResponse,
) {
	diags := &resp.Diagnostics
	if !c.concernsService() && len(c.secrets.released) == 0 {
		return
	}
	if r.client == nil && req.ClientCapabilities.DeferralAllowed {
		resp.Deferred = &resource.Deferred{Reason: resource.DeferredReasonProviderConfigUnknown}
		return
	}
	if c.concernsService() {
		if !r.requireClient(diags, fmt.Sprintf("Updating deployment %s", describe(c.state))) {
			return
		}
		live, err := r.orRead(ctx, live, c.state.text("id"))
		if err != nil {
			r.addReadFailure(diags, c.state, err)
			return
		}
		c.compare(live)
	}
	r.addTakenRef(diags, c)
	if len(c.Left) > 0 {
		r.report(diags).warnf(path.Empty(), "Removed values stay in the service", "No apply has set these values of "+
			"deployment %s, so removing them does not change them in the service:%s", describe(c.state), names(c.Left))
	}
	if r.documentedOnly && c.needsUpdate() {
		r.rejectUpdate(c, diags)
		return
	}
	c.secrets.warn(r.report(diags), describe(c.state))
	if len(c.Body) > 0 || len(c.Undecided) > 0 || c.makesRevision() {
		resp.Plan.Raw = c.markChanging(resp.Plan.Raw)
	}
}

// markChanging returns the plan with what an update may change by itself as unknown.
func (c *change) markChanging(plan tftypes.Value) tftypes.Value {
	unknown := tftypes.NewValue(tftypes.String, tftypes.UnknownValue)
	changing := field.Values{"updated_at": unknown}
	if !c.makesRevision() {
		return field.With(plan, changing)
	}
	for _, name := range []string{"status", "latest_revision_id", "active_revision_id", "image_version"} {
		changing[name] = unknown
	}
	config := c.plan["source_revision_config"]
	if c.source() == client.SourceCodehost && config.IsKnown() && !config.IsNull() {
		built, configured := field.Values{}, attributesOf(c.config["source_revision_config"])
		for _, name := range []string{"repo_commit_sha", "image_uri"} {
			if configured[name].Type() == nil || configured[name].IsNull() { // ignore_changes sets what is read-only, too
				built[name] = unknown
			}
		}
		changing["source_revision_config"] = field.With(config, built)
	}
	return field.With(plan, changing)
}

// rejectUpdate reports, as one error, an update that the provider may not send.
func (r *deploymentResource) rejectUpdate(c *change, diags *diag.Diagnostics) {
	lines := describeDifferences(c.Set)
	for _, removed := range names(c.Dropped) {
		lines = append(lines, removed+": removed from the configuration")
	}
	if line := c.secrets.difference(); line != "" {
		lines = append(lines, line)
	}
	if c.redeploys() {
		lines = append(lines, "redeploy_triggers: changed")
	}
	r.report(diags).errorf(path.Empty(), "Deployment cannot be updated", "Deployment %s differs from the "+
		"configuration:%s\n\nThe provider has documented_operations_only = true, and the API documents no updates. "+
		"Options:\n"+
		"  - To update it, remove documented_operations_only. The service must support PATCH for deployments.\n%s\n"+
		"  - For terraform destroy, which plans first, add -refresh=false.",
		describe(c.state), lines, withoutUpdate)
}

// withoutUpdate is what to do where a deployment cannot be updated.
const withoutUpdate trusted = "  - To keep the service's values, write them into the configuration, or add the " +
	"arguments to ignore_changes.\n" +
	"  - To create a second deployment, first apply deletion_policy = \"abandon\", then choose a new name. This one " +
	"keeps running."

// addTakenRef warns of a ref that goes into the state without a request, because the service does not show its own.
func (r *deploymentResource) addTakenRef(diags *diag.Diagnostics, c *change) {
	if !c.RefAssumed {
		return
	}
	planned := attributesOf(c.plan["source_revision_config"])
	r.report(diags).warnf(path.Root("source_revision_config").AtName("repo_ref"), "Imported ref cannot be verified",
		"Deployment %s was imported, and the service reports commit %s instead of a branch or tag. The provider assumes "+
			"that %q refers to this commit, and sends nothing. If the deployment follows a different branch, first set "+
			"repo_ref to that branch and apply. Then change it.", describe(c.state),
		planned.text("repo_commit_sha"), planned.text("repo_ref"))
}

// planCreate records the name for a replacement, and looks it up: a wrong credential or URL fails the plan and not the
// apply. A taken name is only a warning: something in the same run may free it, and Terraform plans again during the
// apply, where an error of a create_before_destroy would leave a deposed object behind.
func (r *deploymentResource) planCreate(ctx context.Context, plan attributes, resp *resource.ModifyPlanResponse) {
	name, diags := plan.text("name"), &resp.Diagnostics
	savePrivate(ctx, resp.Private, privateNewName, name, diags)
	holders := r.nameHolders(ctx, name, diags)
	if len(holders) == 0 {
		return
	}
	existing := holders[0]
	held := r.state.holder(existing.ID, name)
	if held == nil || existing.Status == client.StatusAwaitingDelete {
		r.report(diags).warnf(path.Root("name"), summaryNameTaken, "%s", r.nameTaken(name, existing))
		return
	}
	// Terraform drops the warnings of a replacement, and shows its errors.
	r.report(diags).warnf(path.Root("name"), "Deployment name is in use",
		"Deployment %s in this state has this name. Creating another one fails unless this run deletes that one first.\n"+
			"  - If Terraform replaces it, because it is tainted for example, do nothing.\n"+
			"  - If you renamed the resource, add a moved block. Otherwise Terraform deletes the deployment and creates it "+
			"again.\n"+
			"  - With create_before_destroy, choose a new name.", describe(held))
	if !r.rejectDestroy(held, diags) {
		r.rejectNewName(held, name, nil, diags)
	}
}

// replaces reports whether a plan replaces the deployment for an attribute. A value that is unknown may turn out to be
// the same.
func (a attributes) replaces(state attributes, name string) bool {
	return a[name].IsKnown() && !a[name].Equal(state[name])
}

// planReplacement rejects a replacement that would fail, and states what happens to the old deployment.
func (r *deploymentResource) planReplacement(ctx context.Context, plan, state attributes, diags *diag.Diagnostics) {
	if r.rejectDestroy(state, diags) {
		return
	}
	at := path.Root("name")
	if !plan.replaces(state, "name") {
		at = path.Root("source")
	}
	if policy := plan.deletionPolicy(); policy != deletionDelete && !state.abandons() {
		r.report(diags).errorf(path.Root("deletion_policy"), "Deployment would be deleted", "Changing %s replaces "+
			"deployment %s, and this deletes it: deletion_policy = %q is not applied yet. First apply deletion_policy alone, "+
			"with %[1]s = %[4]q. Then change %[1]s.",
			at, describe(state), policy, state.text(at.String()))
		return
	}
	newName := plan.text("name")
	var holders []*client.Deployment
	if plan.replaces(state, "name") {
		holders = r.nameHolders(ctx, newName, diags)
	}
	if !r.rejectNewName(state, newName, holders, diags) && state.abandons() {
		r.report(diags).warnf(at, "Deployment keeps running", "Changing %s creates a new deployment. Deployment %s is "+
			"removed from the state and keeps running, because its deletion_policy is %q.", at, describe(state),
			deletionAbandon)
	}
}

// checkHosting rejects a source that is not available where the service runs.
func (r *deploymentResource) checkHosting(plan attributes, diags *diag.Diagnostics) {
	if r.hosting == "" {
		return
	}
	for _, s := range sources {
		if s.name == plan.text("source") && s.hosting != r.hosting {
			r.report(diags).errorf(path.Root("source"), "Source not available",
				"Deployment %s has source %q (%s), but the provider has hosting = %q. Use another source, or correct hosting.",
				describe(plan), s.name, hostingNames[s.hosting], r.hosting)
		}
	}
}
