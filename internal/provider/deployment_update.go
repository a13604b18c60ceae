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
	owned := loadOwned(ctx, req.Private, &resp.Diagnostics)
	has := hasNow(req.State.Raw, req.Config.Raw, owned)

	answer, taken := req.State.Raw, true
	if r.extended {
		var ok bool
		u := update{deploymentResource: r, req: req, state: state, asked: has, memory: memory, diags: &resp.Diagnostics}
		if answer, taken, ok = u.run(ctx); !ok {
			return
		}
	} else if r.refuseChanges(req.Plan.Raw, has, req.Config.Raw, memory, &resp.Diagnostics); resp.Diagnostics.HasError() {
		return // a plan gets here so only for values that were not known then
	}

	if taken {
		resp.State.Raw = field.With(req.Plan.Raw, deploymentFields.Settle(req.Plan.Raw, answer))
		saveOwned(ctx, resp.Private, deploymentFields.Owned(req.Config.Raw), &resp.Diagnostics)
		memory.apply(configuredSecrets(config))
	} else {
		resp.State.Raw = field.With(req.State.Raw, deploymentFields.Refresh(req.State.Raw, answer, owned))
	}
	identify(ctx, resp.Identity, resp.State.Raw, &resp.Diagnostics)
	memory.save(ctx, resp.Private, &resp.Diagnostics)
}

// update is a change of a deployment under way.
type update struct {
	*deploymentResource
	req    resource.UpdateRequest
	state  attributes
	asked  tftypes.Value  // has the ref that a commit stands for as yet
	memory *secretsMemory // of what is read
	diags  *diag.Diagnostics

	// Set by look.
	now    *client.Deployment // what the service had before
	before secretsMemory      // of that
	// Set by request.
	secrets secretsChange
	sends   bool // whether secrets are part of the change
	// Set by send.
	unread bool // what came of the change could not be read
}

// run sends what the service does not have yet, and returns what it has then,
// and whether it has taken it all. It is not ok when there is nothing new to
// save.
func (u *update) run(ctx context.Context) (answer tftypes.Value, taken, ok bool) {
	if answer, ok = u.look(ctx); !ok {
		return answer, false, false
	}
	request, needed, ok := u.request(answer)
	if needed {
		answer, ok = u.send(ctx, request, answer)
	}
	if !ok {
		return answer, false, false
	}
	if !u.unread {
		addNotTaken(u.diags, describe(u.state), u.missing(answer))
	}
	return answer, !u.diags.HasError(), true
}

func (u *update) cannotChange() string {
	return fmt.Sprintf("Cannot change deployment %s", describe(u.state))
}

func (u *update) addGone() {
	u.diags.AddError(u.cannotChange(), "The service lists it no more: somebody has deleted it. Plan again: that proposes to create it anew.")
}

// missing is what the configuration asks for and an answer does not have.
func (u *update) missing(answer tftypes.Value) []field.Difference {
	return deploymentFields.Differences(u.req.Config.Raw, answer)
}

// look reads the deployment, as it may have changed since the plan: what
// differs now is sent.
func (u *update) look(ctx context.Context) (answer tftypes.Value, ok bool) {
	now, err := u.client.DeploymentNow(ctx, u.state.text("id"))
	switch {
	case errors.Is(err, client.ErrNotFound):
		u.addGone()
		return answer, false
	case err != nil:
		u.access.addFailure(u.diags, u.cannotChange(), err, nil)
		return answer, false
	}
	u.now = now
	u.memory.see(now)
	u.before = *u.memory
	if answer, err = deploymentFields.Decode(now); err != nil {
		addMistake(u.diags, u.cannotChange(), err)
		return answer, false
	}
	return deploymentFields.Named(answer, u.asked), true
}

// request is what to send, if anything.
func (u *update) request(has tftypes.Value) (request client.DeploymentChange, needed, ok bool) {
	request, needed, err := changeOf(u.req.Config.Raw, has)
	if err != nil {
		addMistake(u.diags, u.cannotChange(), err)
		return request, false, false
	}
	u.secrets = secretsChangeOf(attributesOf(u.req.Plan.Raw), u.state, attributesOf(u.req.Config.Raw), u.memory)
	if u.sends = u.secrets.needed && u.secrets.values != nil; u.sends {
		request.Secrets = u.secrets.values.sorted()
	}
	return request, needed || u.sends, true
}

// send sends a request, waits as the configuration says, and reads back what
// came of it. The answer stays that of before where that fails.
func (u *update) send(ctx context.Context, request client.DeploymentChange, before tftypes.Value) (answer tftypes.Value, ok bool) {
	written, err := u.client.UpdateDeployment(ctx, u.now.ID, request)
	switch {
	case errors.Is(err, client.ErrNotOffered):
		u.diags.AddError("The service does not offer changes", fmt.Sprintf(
			"The service lists deployment %s, but does not take PATCH for it, although the provider has extended_operations = true. Nothing was changed. Set that to false, and take over the values that the service has.\n\n%s", describe(u.state), sentence(err.Error())))
		return before, false
	case errors.Is(err, client.ErrNotFound):
		u.addGone()
		return before, false
	case err != nil:
		u.access.addFailure(u.diags, u.cannotChange(), err, requestPlaces(attributesOf(u.req.Config.Raw), request.Secrets))
		return before, false
	}
	var revision *string
	if written != nil {
		revision = written.LatestRevisionID
	}
	last, gone := u.waitFor(ctx, u.now, wait{
		until: attributesOf(u.req.Plan.Raw).text("wait_until"), revision: revision,
		limit: waitLimit(ctx, u.req.Plan.GetAttribute, timeouts.Value.Update, u.diags),
		done:  "changed", setting: "timeouts.update", see: u.memory.see,
	}, u.diags)
	if gone {
		return before, false
	}
	if u.awaitsRevision(written) {
		written = nil
	}
	// What was changed is read back even when Terraform is interrupted, as it
	// is to be saved then, too.
	last, err = u.client.Settled(context.WithoutCancel(ctx), last, written, u.settled)
	if err != nil {
		u.access.addFailure(u.diags, fmt.Sprintf("Cannot read deployment %s back", describe(u.state)), err, nil)
		u.unread = true
		return before, true
	}
	u.memory.see(last)
	u.addSecretsNotTaken()
	if answer, err = u.named(last); err != nil {
		addMistake(u.diags, u.cannotChange(), err)
		return before, false
	}
	return answer, true
}

// named is an answer with the ref that its commit is of: the one that was asked
// for now, if the commit or its revision has moved, as nothing else shows that
// it was taken.
func (u *update) named(d *client.Deployment) (tftypes.Value, error) {
	answer, err := deploymentFields.Decode(d)
	switch {
	case err != nil:
		return answer, err
	case revisionOf(d) != revisionOf(u.now):
		return deploymentFields.Named(answer, u.req.Config.Raw), nil
	default:
		return deploymentFields.Named(answer, u.asked), nil
	}
}

// awaitsRevision reports whether the answer to a change lacks nothing but,
// maybe, the revision of a ref, which may be yet to come.
func (u *update) awaitsRevision(written *client.Deployment) bool {
	if written == nil || revisionOf(written) != revisionOf(u.now) {
		return false
	}
	answer, err := deploymentFields.Decode(written)
	return err == nil && len(u.missing(deploymentFields.Named(answer, u.req.Config.Raw))) == 0
}

// settled reports whether a reading shows the whole change.
func (u *update) settled(d *client.Deployment) bool {
	answer, err := u.named(d)
	seen := *u.memory
	seen.see(d)
	return err == nil && len(u.missing(answer)) == 0 && !(u.sends && len(seen.notTaken(&u.before, u.secrets)) > 0)
}

func (u *update) addSecretsNotTaken() {
	if !u.sends {
		return
	}
	for _, still := range u.memory.notTaken(&u.before, u.secrets) {
		u.diags.AddAttributeError(u.secrets.at, "The change did not take", fmt.Sprintf(
			"The service accepted the change of deployment %s, but %s. The state holds what the service has. Ask those who run the service, or apply again.", describe(u.state), still))
	}
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
