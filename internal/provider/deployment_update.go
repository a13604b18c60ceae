package provider

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/resource"

	"github.com/graphdeploy/terraform-provider-graphdeploy/internal/client"
	"github.com/graphdeploy/terraform-provider-graphdeploy/internal/field"
)

// Update changes the deployment where the plan asks for it, and saves what was confirmed: after an error before that,
// state, record and private state are those of before, and the next refresh shows what took. What concerns only the
// state needs no request.
func (r *deploymentResource) Update(ctx context.Context, req resource.UpdateRequest, resp *resource.UpdateResponse) {
	u := &update{deploymentResource: r, req: req, resp: resp, diags: &resp.Diagnostics}
	state := attributesOf(req.State.Raw)
	r.hideSecrets(state, attributesOf(req.Plan.Raw), attributesOf(req.Config.Raw))
	u.change = newChange(req.Config.Raw, req.Plan.Raw, req.State.Raw, loadRecord(ctx, req.Private, u.diags),
		r.loadSentSecrets(ctx, req.Private, state, u.diags))
	switch {
	case !u.concernsService() && req.Plan.Raw.IsFullyKnown():
		u.save(ctx, nil)
	case r.documentedOnly:
		u.runDocumented(ctx)
	default:
		u.run(ctx)
	}
}

// update is an update of a deployment in progress.
type update struct {
	*deploymentResource
	*change
	req   resource.UpdateRequest
	resp  *resource.UpdateResponse
	diags *diag.Diagnostics
}

// run reads, merges and sends; waits until the change is visible, and verifies it; waits until it runs; and saves.
func (u *update) run(ctx context.Context) {
	sent, ok := u.send(ctx)
	if !ok {
		return
	}
	if sent.Sent == nil {
		u.save(ctx, sent.Before) // the service has everything already
		return
	}
	// Terraform's interrupt ends the wait until it runs only: what was changed has to be confirmed, and saved.
	uninterrupted := context.WithoutCancel(ctx)
	visible, ok := u.readBack(uninterrupted, sent)
	if !ok {
		return
	}
	if !u.verify(sent, visible) {
		if newRevision(sent, visible) {
			savePending(ctx, u.resp.Private, observation{Deployment: visible}, u.diags)
		}
		return
	}
	cleaned := u.dropLeftovers(uninterrupted, visible)
	u.addKept(cleaned)
	u.addUnasked(sent, cleaned)
	running := cleaned
	if newRevision(sent, cleaned) {
		rollout := &rollout{providerData: u.providerData, operation: updating, until: u.plan.text("wait_until"),
			limit: attributesOf(u.plan["timeouts"]).limit("update"), before: sent.Before}
		running = rollout.wait(ctx, cleaned, u.diags)
		if running == nil {
			return
		}
		savePending(ctx, u.resp.Private, rollout.last, u.diags)
	}
	u.save(ctx, running)
}

// runDocumented saves the plan if documented_operations_only allows it. A plan gets here with something to send only
// for values that were unknown then.
func (u *update) runDocumented(ctx context.Context) {
	live, err := u.client.DeploymentNow(ctx, u.state.text("id"))
	if err != nil {
		u.addReadFailure(u.diags, u.state, err)
		return
	}
	u.compare(live)
	if u.needsUpdate() {
		u.rejectUpdate(u.change, u.diags)
		return
	}
	u.save(ctx, live)
}

// readBack reads the deployment until it shows what was sent, or, if the service did not take all of it, what the
// response showed. It is not ok if nothing can be read.
func (u *update) readBack(ctx context.Context, sent client.Update) (visible *client.Deployment, ok bool) {
	response := sent.Written
	isPartial := response != nil && len(u.Missing(response.Tree))+len(u.secrets.notTaken(response)) > 0
	visible, err := u.client.WaitConsistent(ctx, sent.Before, func(d *client.Deployment) bool {
		isOlder := u.isOlder(d, sent.Before, response) || u.redeploys() && awaitsRevision(sent.Before, d)
		if !isOlder && isPartial && changeableFields.Satisfies(d.Tree, response.Tree, u.source()) {
			return true
		}
		settings, secrets := u.notTaken(sent, d)
		return !isOlder && len(settings)+len(secrets) == 0
	})
	if err != nil {
		u.report(u.diags).failure(fmt.Sprintf("Cannot read deployment %q back", u.state.text("name")), err, nil)
	}
	return visible, err == nil
}

// isOlder reports whether a read is older than the response to an update, which is nil if there is none: it has the
// revision of before, or has more of what the plan removes.
func (u *update) isOlder(read, before, response *client.Deployment) bool {
	if response == nil {
		return len(u.kept(read)) > 0
	}
	return revised(before, response) && !revised(before, read) || len(u.kept(read)) > len(u.kept(response))
}

// notTaken returns the settings that a read does not show as they were sent, and states what it shows of the secrets
// that is not as sent.
func (u *update) notTaken(sent client.Update, read *client.Deployment) (settings []field.Difference, secrets []string) {
	isRevised := revised(sent.Before, read)
	settings, secrets = u.Missing(read.Tree), u.secrets.notTaken(read)
	for _, ref := range u.Set { // where the service shows only commits, another revision or commit confirms a ref
		if ref.ResolvedIn(read.Tree) && !isRevised && commitOf(read) == commitOf(sent.Before) {
			settings = append(settings, ref)
		}
	}
	unconfirmed := u.secrets.sends && !isRevised && !u.secrets.values.foundIn(secretsIn(read))
	if sent.Lost != nil && unconfirmed && len(secrets) == 0 {
		secrets = []string{"secrets: nothing shows whether the service has the new values"}
	}
	return settings, secrets
}

// verify reports what the service did not take of what is set, and, after a lost response, of what is removed. It is ok
// if it took that.
func (u *update) verify(sent client.Update, visible *client.Deployment) (ok bool) {
	r, who := u.report(u.diags), describe(u.state)
	isRedeployed := !u.redeploys() || newRevision(sent, visible)
	settings, secrets := u.notTaken(sent, visible)
	lines := slices.Concat(describeDifferences(settings), secrets)
	if sent.Lost != nil {
		lines = append(lines, names(u.kept(visible))...)
		if !isRedeployed {
			lines = append(lines, "redeploy_triggers: there is no new revision")
		}
	}
	switch {
	case sent.Lost != nil && len(lines) > 0:
		r.errorf(path.Empty(), "Update was not confirmed", "The response to the update of deployment %s was lost, and the "+
			"service does not show all of the change:%s\n\nApply again: the provider reads the deployment first, and sends "+
			"what is missing.\n\n%s",
			who, lines, u.sentence(sent.Lost))
		return false
	case len(lines) > 0:
		at := path.Empty()
		if len(settings) == 1 && len(lines) == 1 {
			at = attributeOf(settings[0])
		}
		r.errorf(at, "Update was not applied", "The service accepted the update of deployment %s, but did not apply all of "+
			"it:%s\n\n%s", who, lines, u.notAppliedAdvice(settings))
		return false
	case !isRedeployed:
		return updating.verifyRevision(r, visible)
	}
	return true
}

// notAppliedAdvice states what to do about values that the service did not take.
func (u *update) notAppliedAdvice(settings []field.Difference) trusted {
	advice := trusted("Options:")
	for _, d := range settings {
		_, wantsNumber := d.Want.(json.Number)
		if has, isNumber := d.Has.(json.Number); isNumber && wantsNumber {
			advice += u.format("\n  - Set %s = %s: the service may round or limit the value.", placeOf(d), has.String())
		}
	}
	advice += "\n  - Set the arguments to the service's values, or contact the service operator."
	if hasSettings(settings) {
		advice += "\n  - " + mayBeImmutable
	}
	return advice
}

// dropLeftovers sets members of maps and JSON objects to null that a service still has because it merges deeply. It
// returns what the service has then: reads that are older than this change would end the wait for its revision. That it
// rejects this is no failure of the update: addKept warns of what is left.
func (u *update) dropLeftovers(ctx context.Context, visible *client.Deployment) *client.Deployment {
	nulls := func(live *client.Deployment) client.Tree { return u.Nullify(live.Tree, u.kept(live)) }
	if len(nulls(visible)) == 0 {
		return visible
	}
	sent, err := u.client.UpdateDeployment(ctx, visible.ID,
		func(live *client.Deployment) (client.Tree, error) { return nulls(live), nil })
	if err != nil || sent.Sent == nil {
		return visible
	}
	isOlder := func(d *client.Deployment) bool { return u.isOlder(d, visible, sent.Written) }
	read, err := u.client.WaitConsistent(ctx, visible, func(d *client.Deployment) bool { return !isOlder(d) })
	if err == nil && (sent.Written == nil || !isOlder(read)) {
		return read
	}
	return cmp.Or(sent.Written, visible)
}

// addKept warns of what the service still has although the plan removes it.
func (u *update) addKept(d *client.Deployment) {
	if kept := u.kept(d); len(kept) > 0 {
		u.report(u.diags).warnf(path.Empty(), "Removed arguments stay in the service", "The service accepted the update of "+
			"deployment %s, but still has the former value, which may be its default, of:%s", describe(u.state), names(kept))
	}
}

// addUnasked warns of what changed although nobody asked for it, except for what the service may change by itself.
func (u *update) addUnasked(sent client.Update, after *client.Deployment) {
	var unasked []string
	for _, d := range changeableFields.Missing(after.Tree, expectedAfter(sent), u.source()) {
		object, name := d.Key()
		otherCommit := d.ResolvedIn(after.Tree) && attributesOf(u.plan[object]).text(name) != d.Want // of the same ref
		if !u.chosenByService(object, name) && !otherCommit {
			unasked = append(unasked, d.String())
		}
	}
	if len(unasked) > 0 {
		u.report(u.diags).warnf(path.Empty(), "Service changed other properties", "The update of deployment %s changed "+
			"properties that it was not meant to change:%s", describe(u.state), unasked)
	}
}

// expectedAfter returns what a deployment should have after an update, but for secrets, which are verified separately.
func expectedAfter(sent client.Update) client.Tree {
	expected := client.Tree{}
	for _, f := range changeableFields { // the service may change other members at the root at any time
		expected[f.Name] = sent.Before.Tree[f.Name]
	}
	for name, value := range sent.Sent {
		if members, isObject := value.(map[string]any); isObject {
			before, _ := expected[name].(map[string]any)
			value = field.Merge(before, members)
		}
		expected[name] = value
	}
	delete(expected, "secrets")
	return expected
}

// chosenByService reports whether the service chooses a value because the configuration omits it.
func (u *update) chosenByService(object, name string) bool {
	parent, _ := changeableFields.ByName(object)
	f, ok := parent.Fields().ByName(name)
	value := attributesOf(u.config[object])[name]
	return ok && f.Access == field.OptionalComputed && (value.Type() == nil || value.IsNull())
}

// save saves the plan as applied, with what was unknown from the service. Live is nil if nothing of it is needed.
func (u *update) save(ctx context.Context, live *client.Deployment) {
	tree := map[string]any{}
	if live != nil {
		tree = liveTree(live)
	}
	values, err := resourceFields.AfterApply(u.req.Plan.Raw, tree)
	if err != nil {
		u.report(u.diags).bug(u.format("Deployment %s cannot be written to the state", describe(u.state)), err)
		return
	}
	u.resp.State.Raw = field.With(u.req.Plan.Raw, values)
	savePrivate(ctx, u.resp.Private, privateRecord, resourceFields.Record(u.req.Config.Raw, u.resp.State.Raw), u.diags)
	savePrivate(ctx, u.resp.Private, privateSecrets, u.secrets.sentAfter(live), u.diags)
	identify(ctx, u.resp.Identity, u.resp.State.Raw, u.diags)
}
