package provider

import (
	"context"
	"errors"
	"fmt"

	"github.com/hashicorp/terraform-plugin-framework-timeouts/resource/timeouts"
	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-go/tftypes"

	"github.com/graphdeploy/terraform-provider-graphdeploy/internal/client"
	"github.com/graphdeploy/terraform-provider-graphdeploy/internal/field"
)

// Update changes the deployment where the configuration asks for it, reads it
// back, and saves what the service really has. What lives in Terraform alone
// needs no request.
func (r *deploymentResource) Update(ctx context.Context, req resource.UpdateRequest, resp *resource.UpdateResponse) {
	state, config := attributesOf(req.State.Raw), attributesOf(req.Config.Raw)
	r.hideSecrets(state, attributesOf(req.Plan.Raw), config)
	memory := loadSecretsMemory(ctx, req.Private, &resp.Diagnostics)
	secrets := configuredSecrets(config)
	owned := loadOwned(ctx, req.Private, &resp.Diagnostics)
	has := hasNow(req.State.Raw, req.Config.Raw, owned)
	if !r.extended {
		// A plan that would change the service does not get here, but for
		// values that were not known at plan.
		r.refuseChanges(req.Plan.Raw, has, req.Config.Raw, memory, &resp.Diagnostics)
		if resp.Diagnostics.HasError() {
			return
		}
		resp.State.Raw = field.With(req.Plan.Raw, deploymentFields.Settle(req.Plan.Raw, req.State.Raw))
	} else {
		answer, read, ok := r.change(ctx, req, has, memory, &resp.Diagnostics)
		if !ok {
			return
		}
		var found []field.Difference
		if read {
			found = deploymentFields.Differences(req.Config.Raw, answer)
		}
		if len(found) == 0 && !resp.Diagnostics.HasError() {
			resp.State.Raw = field.With(req.Plan.Raw, deploymentFields.Settle(req.Plan.Raw, answer))
		} else {
			addNotTaken(&resp.Diagnostics, describe(state), found)
			resp.State.Raw = field.With(req.State.Raw, deploymentFields.Refresh(req.State.Raw, answer, owned))
			identify(ctx, resp.Identity, resp.State.Raw, &resp.Diagnostics)
			memory.save(ctx, resp.Private, &resp.Diagnostics)
			return
		}
	}
	identify(ctx, resp.Identity, resp.State.Raw, &resp.Diagnostics)
	saveOwned(ctx, resp.Private, deploymentFields.Owned(req.Config.Raw), &resp.Diagnostics)
	memory.apply(secrets)
	memory.save(ctx, resp.Private, &resp.Diagnostics)
}

// change sends what the service does not have yet, waits, and returns what the
// service then has; read is false when that is from before. Asked has the ref
// that a commit stands for as yet. It is not ok when there is nothing new to
// save.
func (r *deploymentResource) change(ctx context.Context, req resource.UpdateRequest, asked tftypes.Value, memory *secretsMemory, diags *diag.Diagnostics) (answer tftypes.Value, read, ok bool) {
	state := attributesOf(req.State.Raw)
	summary := fmt.Sprintf("Cannot change deployment %s", describe(state))
	const gone = "The service lists it no more: somebody has deleted it. Plan again: that proposes to create it anew."
	// The service may have changed since the plan: what differs now is sent.
	now, err := r.client.DeploymentNow(ctx, state.text("id"))
	if errors.Is(err, client.ErrNotFound) {
		diags.AddError(summary, gone)
		return answer, false, false
	}
	if err != nil {
		r.access.addFailure(diags, summary, err, nil)
		return answer, false, false
	}
	memory.see(now)
	if answer, err = deploymentFields.Decode(now); err != nil {
		addMistake(diags, summary, err)
		return answer, false, false
	}
	answer = deploymentFields.Named(answer, asked)
	change, changed, err := changeOf(req.Config.Raw, answer)
	if err != nil {
		addMistake(diags, summary, err)
		return answer, false, false
	}
	secrets := secretsChangeOf(attributesOf(req.Plan.Raw), state, attributesOf(req.Config.Raw), memory)
	sent := secrets.needed && secrets.values != nil
	if sent {
		change.Secrets = secrets.values.sorted()
	}
	if !changed && !sent {
		return answer, true, true
	}
	before := *memory
	written, err := r.client.UpdateDeployment(ctx, now.ID, change)
	switch {
	case errors.Is(err, client.ErrNotOffered):
		diags.AddError("The service does not offer changes", fmt.Sprintf(
			"The service lists deployment %s, but does not take PATCH for it, although the provider has extended_operations = true. Nothing was changed. Set that to false, and take over the values that the service has.\n\n%s", describe(state), sentence(err.Error())))
		return answer, false, false
	case errors.Is(err, client.ErrNotFound):
		diags.AddError(summary, gone)
		return answer, false, false
	case err != nil:
		r.access.addFailure(diags, summary, err, requestPlaces(attributesOf(req.Config.Raw), change.Secrets))
		return answer, false, false
	}
	var revision *string
	if written != nil {
		revision = written.LatestRevisionID
	}
	last, vanished := r.waitFor(ctx, now, wait{
		until: attributesOf(req.Plan.Raw).text("wait_until"), revision: revision,
		limit: waitLimit(ctx, req.Plan.GetAttribute, timeouts.Value.Update, diags),
		done:  "changed", setting: "timeouts.update", see: memory.see,
	}, diags)
	if vanished {
		return answer, false, false
	}
	// Which ref a commit is of shows only in that it moved, or its revision.
	answered := func(d *client.Deployment) (tftypes.Value, error) {
		decoded, err := deploymentFields.Decode(d)
		if err != nil {
			return decoded, err
		}
		if revisionOf(d) != revisionOf(now) {
			return deploymentFields.Named(decoded, req.Config.Raw), nil
		}
		return deploymentFields.Named(decoded, asked), nil
	}
	if written != nil && revisionOf(written) == revisionOf(now) {
		if decoded, err := deploymentFields.Decode(written); err == nil && len(deploymentFields.Differences(req.Config.Raw, deploymentFields.Named(decoded, req.Config.Raw))) == 0 {
			written = nil // the revision of a ref may be yet to come
		}
	}
	// What was changed is read back even when Terraform is interrupted, as it
	// is to be saved then, too.
	if last, err = r.client.Settled(context.WithoutCancel(ctx), last, written, func(d *client.Deployment) bool {
		decoded, err := answered(d)
		seen := *memory
		seen.see(d)
		return err == nil && len(deploymentFields.Differences(req.Config.Raw, decoded)) == 0 && !(sent && len(seen.notTaken(&before, secrets)) > 0)
	}); err != nil {
		r.access.addFailure(diags, fmt.Sprintf("Cannot read deployment %s back", describe(state)), err, nil)
		return answer, false, true
	}
	memory.see(last)
	if sent {
		for _, still := range memory.notTaken(&before, secrets) {
			diags.AddAttributeError(secrets.at, "The change did not take", fmt.Sprintf(
				"The service accepted the change of deployment %s, but %s. The state holds what the service has. Ask those who run the service, or apply again.", describe(state), still))
		}
	}
	if answer, err = answered(last); err != nil {
		addMistake(diags, summary, err)
		return answer, false, false
	}
	return answer, true, true
}

// revisionOf tells revisions apart.
func revisionOf(d *client.Deployment) [2]string {
	var revision, commit string
	if d.LatestRevisionID != nil {
		revision = *d.LatestRevisionID
	}
	if d.SourceRevisionConfig.RepoCommitSHA != nil {
		commit = *d.SourceRevisionConfig.RepoCommitSHA
	}
	return [2]string{revision, commit}
}

// changeOf is the request that has the service take on what a configuration
// sets, and whether there is anything in it.
func changeOf(config, has tftypes.Value) (change client.DeploymentChange, changed bool, err error) {
	tree, err := changeableFields.Changes(config, has)
	if err != nil || len(tree) == 0 {
		return change, false, err
	}
	change.SourceConfig, _ = tree["source_config"].(map[string]any)
	change.SourceRevisionConfig, _ = tree["source_revision_config"].(map[string]any)
	change.SecretReferences, _ = tree["secret_references"].([]any)
	return change, true, nil
}

// addNotTaken tells of what the service took but did not apply.
func addNotTaken(diags *diag.Diagnostics, who string, found []field.Difference) {
	for _, d := range found {
		still := fmt.Sprintf("is still %s in the service; it should be %s", d.Has, d.Wanted)
		if d.Has == d.Wanted { // the values are not to be shown
			still = "still has another value in the service"
		}
		diags.AddAttributeError(d.At, "The change did not take", fmt.Sprintf(
			"The service accepted the change of deployment %s, but %s %s. The state holds what the service has. Ask those who run the service, or set what it has.",
			who, d.At, still))
	}
}

// Delete deletes the deployment where that is wanted and possible, and waits
// until it is no longer listed. Otherwise it only leaves the state.
func (r *deploymentResource) Delete(ctx context.Context, req resource.DeleteRequest, resp *resource.DeleteResponse) {
	state := attributesOf(req.State.Raw)
	r.hideSecrets(state)
	if !r.deletes(state) {
		r.addAbandoned(&resp.Diagnostics, state, "was")
		return
	}
	summary := fmt.Sprintf("Cannot delete deployment %s", describe(state))
	switch err := r.client.DeleteDeployment(ctx, state.text("id")); {
	case errors.Is(err, client.ErrNotOffered):
		resp.Diagnostics.AddError("The service does not offer deletion", fmt.Sprintf(
			"The service lists deployment %s, but does not take DELETE for it, although the provider has extended_operations = true. The deployment stays in the state. To let it go without deleting it, apply deletion_policy = %q first, or set extended_operations = false.\n\n%s", describe(state), deletionAbandon, sentence(err.Error())))
		return
	case err != nil:
		r.access.addFailure(&resp.Diagnostics, summary, err, nil)
		return
	}
	limit := waitLimit(ctx, req.State.GetAttribute, timeouts.Value.Delete, &resp.Diagnostics)
	waiting, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	last, err := r.client.WaitGone(waiting, &client.Deployment{ID: state.text("id"), Status: state.text("status")})
	switch {
	case err == nil:
	case ctx.Err() == nil && errors.Is(err, context.DeadlineExceeded):
		resp.Diagnostics.AddError(fmt.Sprintf("Deployment %q is still there", state.text("name")), fmt.Sprintf(
			"The service agreed to delete deployment %s, but lists it still after %s, with status %s. It stays in the state. Destroy again later; to wait longer, raise timeouts.delete and apply first.", describe(state), limit, ofTheService(last.Status)))
	default:
		r.access.addFailure(&resp.Diagnostics, fmt.Sprintf("Cannot see whether deployment %s is gone", describe(state)), err, nil)
	}
}
