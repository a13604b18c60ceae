package provider

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"

	"github.com/graphdeploy/terraform-provider-graphdeploy/internal/client"
)

// nameHolders lists the deployments that have a name, if it is known, and reports a failure.
func (r *deploymentResource) nameHolders(
	ctx context.Context, name string, diags *diag.Diagnostics,
) []*client.Deployment {
	if name == "" || r.client == nil {
		return nil
	}
	holders, err := r.client.NameHolders(ctx, name)
	if failed, ok := errors.AsType[*client.Error](err); ok && failed.Cause == client.CauseUnreachable {
		r.report(diags).warnf(path.Empty(), "Service is unreachable", "The provider could not check whether the name %q "+
			"is free: %s If the service is created in this run, do nothing. Otherwise, correct base_url "+
			"(%s).", name, r.sentence(failed), r.access.baseURL)
	} else if err != nil {
		r.report(diags).failure(fmt.Sprintf("Cannot check the name %q", name), err, nil)
	}
	return holders
}

const summaryNameTaken = "Deployment name already taken"

// nameTaken states that a deployment has the name already, and the ways out.
func (r *deploymentResource) nameTaken(name string, existing *client.Deployment) trusted {
	what := r.format("The service has a deployment named %q (id %s, status %s).", name, existing.ID, statusOf(existing))
	switch {
	case r.client.CreatedHere(existing.ID):
		return what + " Another resource of this run has created it. Give each resource its own name."
	case existing.Status == client.StatusAwaitingDelete:
		return what + " It is being deleted. Apply again once it no longer exists, or choose another name."
	}
	var toImport trusted
	if client.IsUUID(existing.ID) { // nothing else is part of what a message offers to copy
		toImport = "  - Import it (replace NAME with the name of the resource):\n\n" + importBlock(existing.ID) + "\n\n"
	}
	return what + " Options:\n" + toImport +
		"  - If it is in this state under another address, add a moved block; if it is tainted, run terraform untaint.\n" +
		"  - Choose another name. With create_before_destroy, a replacement needs a new name.\n" +
		"  - For terraform destroy, which plans first, add -refresh=false."
}

// importBlock returns a block to copy.
func importBlock(uuid string) trusted {
	return trusted(fmt.Sprintf("      import {\n        to = %s.NAME\n        id = %q\n      }", deploymentType, uuid))
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
