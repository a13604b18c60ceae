package provider

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/resource"

	"github.com/graphdeploy/terraform-provider-graphdeploy/internal/client"
)

// The values of deletion_policy.
const (
	deletionDelete  = "delete"
	deletionAbandon = "abandon"
	deletionPrevent = "prevent"
)

// deletionPolicy returns what happens to a deployment that is destroyed. What counts is the policy in the state: there
// it is also known when the configuration no longer has the deployment.
func (a attributes) deletionPolicy() string { return cmp.Or(a.text("deletion_policy"), deletionDelete) }

func (a attributes) abandons() bool { return a.deletionPolicy() == deletionAbandon }

// planDestroy rejects what Delete would reject, and warns about a deployment that keeps running. It records that no
// other one replaces it.
func (r *deploymentResource) planDestroy(ctx context.Context, state attributes, resp *resource.ModifyPlanResponse) {
	diags := &resp.Diagnostics
	r.state.hold(state)
	clearPrivate(ctx, resp.Private, privateNewName, diags)
	if !r.rejectDestroy(state, diags) && state.abandons() {
		r.addAbandoned(diags, state)
	}
}

// rejectDestroy reports why a deployment can neither be destroyed nor replaced, if that is so.
func (r *deploymentResource) rejectDestroy(state attributes, diags *diag.Diagnostics) (rejected bool) {
	switch policy := state.deletionPolicy(); {
	case policy == deletionPrevent:
		r.report(diags).errorf(path.Empty(), "Destroying is prevented", "Deployment %s has deletion_policy = %q in the "+
			"state, so it can neither be destroyed nor replaced. Options:\n"+
			"  - Keep the resource, with name = %q and source = %q.\n"+
			"  - To stop managing the deployment and keep it, use a removed block or terraform state rm.\n"+
			"  - To delete it, first apply deletion_policy = %q.",
			describe(state), deletionPrevent, state.text("name"), state.text("source"), deletionDelete)
	case policy != deletionAbandon && r.documentedOnly:
		r.report(diags).errorf(path.Empty(), "Deployment cannot be deleted", "Destroying or replacing deployment %s would "+
			"delete it, but the provider has documented_operations_only = true, and the API documents no deletion. Options:\n"+
			"  - To let the deployment keep running, first apply deletion_policy = %q.\n"+
			"  - To stop managing it, use a removed block or terraform state rm.\n"+
			"  - If the service supports DELETE for deployments, remove documented_operations_only.\n"+
			"  - For terraform destroy, which plans first, add -refresh=false.", describe(state), deletionAbandon)
	default:
		return false
	}
	return true
}

// addAbandoned warns that a deployment keeps running without Terraform.
func (r *deploymentResource) addAbandoned(diags *diag.Diagnostics, state attributes) {
	r.report(diags).warnf(path.Empty(), "Deployment keeps running", "Destroying removes deployment %s from the state "+
		"only, because its deletion_policy is %q.", describe(state), deletionAbandon)
}

// Delete deletes the deployment, and waits until it is no longer listed. With deletion_policy = "abandon", Terraform
// only removes it from the state. Neither happens for a replacement whose create would fail.
func (r *deploymentResource) Delete(ctx context.Context, req resource.DeleteRequest, resp *resource.DeleteResponse) {
	state, diags := attributesOf(req.State.Raw), &resp.Diagnostics
	r.hideSecrets(state)
	newName := loadPrivate[*string](ctx, req.Private, privateNewName, diags) // nil if nothing replaces the deployment
	if r.rejectDestroy(state, diags) {
		return
	}
	if newName != nil && r.rejectReplacement(ctx, state, *newName, diags) {
		return
	}
	if state.abandons() {
		r.addAbandoned(diags, state)
		return
	}
	r.delete(ctx, state, diags)
}

// rejectReplacement looks up the new name again, immediately before Delete, and rejects it as the plan does.
func (r *deploymentResource) rejectReplacement(ctx context.Context, state attributes, newName string,
	diags *diag.Diagnostics,
) (rejected bool) {
	var holders []*client.Deployment
	if newName != "" {
		var err error
		holders, err = r.client.DeploymentsNamed(ctx, newName)
		if err != nil {
			r.report(diags).failure(fmt.Sprintf("Cannot replace deployment %s", describe(state)), err, nil)
			return true
		}
	}
	return r.rejectNewName(state, newName, holders, diags)
}

// delete deletes the deployment in the service.
func (r *deploymentResource) delete(ctx context.Context, state attributes, diags *diag.Diagnostics) {
	who := describe(state)
	err := r.client.DeleteDeployment(ctx, state.text("id"))
	switch {
	case errors.Is(err, client.ErrNotSupported):
		r.report(diags).errorf(path.Empty(), "Service does not support deletion",
			"The service lists deployment %s but rejects DELETE for it. Nothing was changed, and the deployment stays in the "+
				"state. Options:\n"+
				"  - To remove it from the state only, use a removed block or terraform state rm, or first apply "+
				"deletion_policy = %q.\n"+
				"  - If the service supports neither updates nor deletion, set documented_operations_only = true in the "+
				"provider.\n\n%s",
			who, deletionAbandon, r.sentence(err))
		return
	case err != nil:
		r.report(diags).failure(fmt.Sprintf("Cannot delete deployment %s", who), err, nil)
		return
	}
	limit := attributesOf(state["timeouts"]).limit("delete")
	waiting, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	last, err := r.client.WaitDeleted(waiting, &client.Deployment{ID: state.text("id"), Name: state.text("name"),
		Status: state.text("status")})
	switch {
	case err == nil:
	case ctx.Err() == nil && errors.Is(err, context.DeadlineExceeded):
		r.report(diags).errorf(path.Empty(), "Deployment still exists",
			"The service accepted the deletion of deployment %s, but still lists it after %s, with status %s. It stays in "+
				"the state. Destroy again later. To wait longer, apply a larger timeouts.delete first.", who, limit, statusOf(last))
	default:
		r.report(diags).failure(fmt.Sprintf("Cannot verify the deletion of deployment %s", who), err, nil)
	}
}
