package provider

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"

	"github.com/graphdeploy/terraform-provider-graphdeploy/internal/client"
)

// replacement is what the plan of a replacement knows of the new deployment, for the Delete of the old one.
type replacement struct {
	NewName string `json:"new_name"` // empty if it is known only after apply
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

// rejectNewName reports that the create of a replacement would fail, because a deployment has its name: one of the
// holders that this run has not created, or the old deployment, if that keeps running. The name is empty if it is known
// only after apply.
func (r *deploymentResource) rejectNewName(state attributes, name string, holders []*client.Deployment,
	diags *diag.Diagnostics,
) (rejected bool) {
	isOld := func(d *client.Deployment) bool { return strings.EqualFold(d.ID, state.text("id")) }
	other := slices.IndexFunc(holders, func(d *client.Deployment) bool { return !isOld(d) && !r.client.CreatedHere(d.ID) })
	keepsName := client.SameName(name, state.text("name")) || slices.ContainsFunc(holders, isOld)
	switch {
	case state.abandons() && name == "":
		r.report(diags).errorf(path.Empty(), "Replacement needs a known name", "Deployment %s has deletion_policy = %q, so "+
			"it keeps running and keeps its name when it is replaced. The new name is known only after apply, and may be the "+
			"same. Set a name that is known at plan.",
			describe(state), deletionAbandon)
	case state.abandons() && keepsName:
		r.report(diags).errorf(path.Empty(), "Replacement needs a new name", "Replacing deployment %s creates another one, "+
			"but with deletion_policy = %q this one keeps running and keeps its name. Options:\n"+
			"  - Choose a new name, too.\n"+
			"  - To delete it, first apply deletion_policy = %q, without replacing it.\n"+
			"  - For terraform destroy, which plans first, add -refresh=false.", describe(state), deletionAbandon,
			deletionDelete)
	case other >= 0:
		r.report(diags).errorf(path.Empty(), summaryNameTaken, "Replacing deployment %s creates one named %q, but the "+
			"service already has a deployment of that name (id %s, status %s). Nothing was changed. Options:\n"+
			"  - Choose another name.\n"+
			"  - For terraform destroy, which plans first, add -refresh=false.",
			describe(state), name, holders[other].ID, statusOf(holders[other]))
	default:
		return false
	}
	return true
}
