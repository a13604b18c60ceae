package provider

import (
	"context"
	"strings"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"

	"github.com/graphdeploy/terraform-provider-graphdeploy/internal/client"
)

// Private state has the revision of an apply that ended before it ran. Plans warn of it: the next apply has nothing to
// wait for.

// savePending records the latest revision if it does not run, and forgets a former one if it does.
func savePending(ctx context.Context, private privateState, last observation, diags *diag.Diagnostics) {
	switch {
	case last.LatestRevisionID != "" && !last.runs():
		savePrivate(ctx, private, privateRevision, last.LatestRevisionID, diags)
	case loadPrivate[string](ctx, private, privateRevision, diags) != "":
		clearPrivate(ctx, private, privateRevision, diags)
	}
}

// addPending warns of a revision that an earlier apply has made, if it is the latest one and does not run. Live is what
// was read of the deployment; nil if nothing was.
func (r *deploymentResource) addPending(ctx context.Context, private privateState, plan, state attributes,
	live *client.Deployment, diags *diag.Diagnostics,
) {
	pending := loadPrivate[string](ctx, private, privateRevision, diags)
	if pending == "" || r.client == nil || !strings.EqualFold(pending, state.text("latest_revision_id")) {
		return
	}
	live, err := r.orRead(ctx, live, state.text("id"))
	if err != nil {
		return // whoever needs it reports this
	}
	now := observation{Deployment: live}
	if !strings.EqualFold(pending, live.LatestRevisionID) || now.active() {
		return
	}
	const readByApplyAndPlan = 2
	now.revisionStatus, _ = r.client.RevisionStatus(ctx, live.ID, live.LatestRevisionID, readByApplyAndPlan)
	reported := now.revisionStatus != "" || live.ActiveRevisionID != "" || plan.text("wait_until") == waitActive
	if !reported || now.runs() {
		return
	}
	remedy := trusted("Plan again later to see whether it runs.")
	if now.failed() {
		remedy = "Correct the configuration, or change redeploy_triggers to try the same again."
	}
	r.report(diags).warnf(path.Empty(), "Revision does not run", "An earlier apply made a revision of deployment %q (%s) "+
		"that does not run. %s This plan makes no new revision, so its apply does not wait for it.\n"+
		"  - %s\n"+
		"  - To roll back, set the former values.", live.Name, live.ID, now.situation(r.providerData), remedy)
}
