package provider

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

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
	u := &update{deploymentResource: r, req: req, resp: resp, diags: &resp.Diagnostics,
		state: attributesOf(req.State.Raw), plan: attributesOf(req.Plan.Raw), config: attributesOf(req.Config.Raw)}
	r.hideSecrets(u.state, u.plan, u.config)
	u.change = newChange(req.Config.Raw, req.Plan.Raw, req.State.Raw, loadRecord(ctx, req.Private, u.diags))
	u.secrets = newSecretsChange(u.plan, u.state, u.config, r.loadSentSecrets(ctx, req.Private, u.state, u.diags))
	u.run(ctx)
}

// update is an update of a deployment in progress.
type update struct {
	*deploymentResource
	*change
	req   resource.UpdateRequest
	resp  *resource.UpdateResponse
	diags *diag.Diagnostics

	state, plan, config attributes
	secrets             *secretsChange
}

// run reads, merges and sends; waits until the change is visible, and until it runs; and saves.
func (u *update) run(ctx context.Context) {
	if u.concernsOnlyState() {
		u.save(ctx, nil)
		return
	}
	if u.documentedOnly {
		u.runDocumented(ctx)
		return
	}
	sent, ok := u.send(ctx)
	if !ok {
		return
	}
	before := sent.Before
	if sent.Sent == nil {
		u.save(ctx, before) // the service has everything already
		return
	}
	// Terraform's interrupt ends the wait until it runs only: what was changed has to be confirmed, and saved.
	uninterrupted := context.WithoutCancel(ctx)
	visible, ok := u.readBack(uninterrupted, sent)
	if !ok {
		return
	}
	if sent.Lost == nil {
		visible = u.dropLeftovers(uninterrupted, visible)
	}
	if !u.verify(sent, visible) {
		return
	}
	running := visible
	if revised(before, visible) || sent.Written != nil && revised(before, sent.Written) {
		rollout := u.rolloutOf(u.plan, before)
		if running = rollout.wait(ctx, visible, u.diags); running == nil {
			return
		}
		rollout.savePending(ctx, u.resp.Private, u.diags)
	}
	u.save(ctx, running)
}

// concernsOnlyState reports whether the service has nothing to do with what the plan changes.
func (u *update) concernsOnlyState() bool {
	return u.ChangesNothing() && !u.secrets.changes && !u.redeploys() && u.req.Plan.Raw.IsFullyKnown()
}

// runDocumented is run with documented_operations_only. A plan gets here with something to send only for values that
// were unknown then.
func (u *update) runDocumented(ctx context.Context) {
	live, err := u.client.DeploymentNow(ctx, u.state.text("id"))
	switch {
	case err != nil:
		u.addReadFailure(u.diags, u.state, err)
	case len(u.merge(live)) > 0:
		u.rejectChange(u.change, u.secrets, u.diags)
	default:
		u.save(ctx, live)
	}
}

// merge computes what to change of a deployment.
func (u *update) merge(live *client.Deployment) client.Tree {
	u.compare(live)
	u.secrets.compare(live)
	body := maps.Clone(u.Body)
	if u.redeploys() {
		ref := attributesOf(u.plan["source_revision_config"]).text("repo_ref")
		image := attributesOf(u.config["source_revision_config"])["image_uri"]
		body["source_revision_config"] = redeployedConfig(live, body, ref, image.Type() != nil && !image.IsNull())
	}
	if u.secrets.sends {
		body["secrets"] = u.secrets.list.sorted()
	}
	return body
}

// send sends what the plan changes. If the service rejects members that it reports itself but the provider does not
// know, it sends the change once more without them.
func (u *update) send(ctx context.Context) (sent client.Update, ok bool) {
	id := u.state.text("id")
	sent, err := u.client.UpdateDeployment(ctx, id, func(live *client.Deployment) (client.Tree, error) {
		return u.merge(live), nil
	})
	if err == nil {
		return sent, true
	}
	if foreign := u.foreign(sent.Sent); isAbout(err, foreign, sent.Sent) {
		reduced, secondErr := u.client.UpdateDeployment(ctx, id, func(live *client.Deployment) (client.Tree, error) {
			return u.withoutForeign(u.merge(live)), nil
		})
		if secondErr == nil {
			u.report(u.diags).warnf(path.Empty(), "Unknown properties were not sent", "The service reports properties of "+
				"deployment %s that this provider does not know, but rejects them in requests. The update was sent without them. "+
				"Check that the service still has:%s",
				describe(u.state), foreign)
			return reduced, true
		}
	}
	u.addSendFailure(err, sent.Sent)
	return sent, false
}

// foreign names the members of a request that the provider does not know, and that are not of additional_properties.
func (u *update) foreign(request client.Tree) []string {
	ours := field.Leaves(u.plan.additional())
	_, rest := changeableFields.Split(request)
	return slices.DeleteFunc(field.Leaves(rest), func(name string) bool {
		return name == "secrets" || slices.Contains(ours, name)
	})
}

func (u *update) withoutForeign(request client.Tree) client.Tree {
	described, _ := changeableFields.Split(request)
	reduced := field.MergeDeep(described, u.plan.additional())
	maps.DeleteFunc(reduced, func(name string, _ any) bool { _, sent := request[name]; return !sent })
	if secrets, sent := request["secrets"]; sent {
		reduced["secrets"] = secrets
	}
	return reduced
}

// isAbout reports whether a service may have rejected a request because of some members: its error names one of them,
// or names no member of the request at all.
func isAbout(err error, names []string, request client.Tree) bool {
	rejected, ok := errors.AsType[*client.Error](err)
	if !ok || !rejected.Invalid() || len(names) == 0 {
		return false
	}
	text := rejected.Message
	for _, f := range rejected.Fields {
		text += " " + f.String()
	}
	mentioned := map[string]bool{}
	for _, word := range words.FindAllString(text, -1) {
		mentioned[word] = true
	}
	mentions := func(path string) bool { return mentioned[path[strings.LastIndexByte(path, '.')+1:]] }
	return slices.ContainsFunc(names, mentions) || !slices.ContainsFunc(field.Leaves(request), mentions)
}

var words = regexp.MustCompile(`[\w-]+`)

func (u *update) addSendFailure(err error, request client.Tree) {
	r := u.report(u.diags)
	rejected, ok := errors.AsType[*client.Error](err)
	switch {
	case errors.Is(err, client.ErrNotSupported):
		r.errorf(path.Empty(), "Service does not support updates", "The service lists deployment %s but rejects PATCH for "+
			"it. Nothing was changed. Options:\n%s\n  - Set documented_operations_only = true in the provider: the plan then "+
			"reports such changes.\n\n%s",
			describe(u.state), withoutUpdate, u.sentence(err))
	case errors.Is(err, client.ErrNotFound):
		u.addReadFailure(u.diags, u.state, err)
	default:
		secrets, _ := request["secrets"].([]client.Secret)
		var notes []trusted
		config, _ := request["source_config"].(map[string]any)
		settings := slices.DeleteFunc(slices.Sorted(maps.Keys(config)),
			func(name string) bool { return name == "resource_spec" })
		if ok && rejected.Invalid() && len(settings) > 0 {
			notes = append(notes, mayBeImmutable)
		}
		u.report(u.diags).failure(fmt.Sprintf("Cannot update deployment %q", u.state.text("name")), err,
			requestLocations(u.config, secrets), notes...)
	}
}

const mayBeImmutable trusted = "Some settings of source_config cannot be changed after the create (section 2.2 " +
	"of the API document). If this is one of them, terraform apply -replace=ADDRESS, with the address of this resource, " +
	"deletes the deployment and creates it again with the new value."

// readBack reads the deployment until it shows what was sent, or what the response to that showed, if the service did
// not take all of it. It is not ok if nothing can be read.
func (u *update) readBack(ctx context.Context, sent client.Update) (*client.Deployment, bool) {
	before, written := sent.Before, sent.Written
	refused := written != nil && !u.took(sent, written)
	visible, err := u.client.WaitConsistent(ctx, before, func(d *client.Deployment) bool {
		switch {
		case written != nil && revised(before, written) && !revised(before, d):
			return false
		case u.redeploys() && before.LatestRevisionID != "" && !revised(before, d):
			return false
		case refused && changeableFields.Satisfies(d.Tree, written.Tree, u.source):
			return true
		case written != nil && len(u.leftover(d)) > len(u.leftover(written)), sent.Lost != nil && len(u.leftover(d)) > 0:
			return false
		}
		return u.took(sent, d) && len(u.unrevised(sent, d)) == 0
	})
	if err != nil {
		u.report(u.diags).failure(fmt.Sprintf("Cannot read deployment %q back", u.state.text("name")), err, nil)
		return nil, false
	}
	return visible, true
}

// took reports whether a deployment has what was sent, as far as it shows that.
func (u *update) took(sent client.Update, d *client.Deployment) bool {
	return len(u.missing(d)) == 0 && len(u.secrets.notTaken(d)) == 0 && !u.unknownSecrets(sent, d)
}

// unknownSecrets reports whether nothing shows that the service took secrets: the response was lost, there is no new
// revision, and it does not show values.
func (u *update) unknownSecrets(sent client.Update, d *client.Deployment) bool {
	return sent.Lost != nil && u.secrets.sends && !revised(sent.Before, d) && !u.secrets.values.foundIn(secretsIn(d))
}

// unrevised are refs that were changed without a new revision, where the service shows only commits.
func (u *update) unrevised(sent client.Update, d *client.Deployment) (unrevised []field.Difference) {
	if revisionOf(d) != revisionOf(sent.Before) {
		return nil
	}
	for _, changed := range u.Set {
		if changed.ResolvedIn(d.Tree) {
			unrevised = append(unrevised, changed)
		}
	}
	return unrevised
}

// revisionOf identifies a revision.
func revisionOf(d *client.Deployment) [2]string {
	config, _ := d.Tree["source_revision_config"].(map[string]any)
	commit, _ := config["repo_commit_sha"].(string)
	return [2]string{d.LatestRevisionID, commit}
}

// revised reports whether a deployment has another revision than before.
func revised(before, d *client.Deployment) bool {
	return d.LatestRevisionID != "" && !strings.EqualFold(d.LatestRevisionID, before.LatestRevisionID)
}

// dropLeftovers sets members of maps and JSON objects to null that a service still has because it merges deeply. It
// returns what the service has then: reads that are older than this change would end the wait for its revision. That it
// rejects this is no failure of the update: verify warns of what is left.
func (u *update) dropLeftovers(ctx context.Context, visible *client.Deployment) *client.Deployment {
	if len(u.nulls(visible)) == 0 {
		return visible
	}
	sent, err := u.client.UpdateDeployment(ctx, visible.ID,
		func(live *client.Deployment) (client.Tree, error) { return u.nulls(live), nil })
	if err != nil || sent.Sent == nil {
		return visible
	}
	written, kept := sent.Written, 0
	if written != nil {
		kept = len(u.leftover(written))
	}
	shows := func(d *client.Deployment) bool {
		return len(u.leftover(d)) <= kept && (written == nil || !revised(visible, written) || revised(visible, d))
	}
	read, err := u.client.WaitConsistent(ctx, visible, shows)
	switch {
	case err == nil && (written == nil || shows(read)):
		return read
	case written != nil:
		return written
	}
	return visible
}

// verify reports what the service did not take, what it kept although it was removed, and what changed although nobody
// asked for it. It is not ok if the service did not take all that is set.
func (u *update) verify(sent client.Update, visible *client.Deployment) (ok bool) {
	r, who := u.report(u.diags), describe(u.state)
	failed, kept := slices.Concat(u.missing(visible), u.unrevised(sent, visible)), u.leftover(visible)
	lines, secrets := describeDifferences(failed), u.secrets.notTaken(visible)
	lines = append(lines, secrets...)
	sameRevision := u.redeploys() && !revised(sent.Before, visible)
	if sent.Lost != nil {
		lines = append(lines, names(kept)...)
		if len(secrets) == 0 && u.unknownSecrets(sent, visible) {
			lines = append(lines, "secrets: nothing shows whether the service has the new values")
		}
		if sameRevision {
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
		if len(failed) == 1 && len(lines) == 1 {
			at = attributeOf(failed[0])
		}
		r.errorf(at, "Update was not applied", "The service accepted the update of deployment %s, but did not apply all of "+
			"it:%s\n\n%s", who, lines, u.notAppliedAdvice(failed))
		return false
	case sameRevision && visible.LatestRevisionID != "":
		r.errorf(path.Empty(), "No new revision", "The service accepted the update of deployment %s, but made no new "+
			"revision: the latest one is still %s. The change of redeploy_triggers is not applied. Contact the service "+
			"operator, or set redeploy_triggers back.", who, visible.LatestRevisionID)
		return false
	case sameRevision:
		r.warnf(path.Empty(), "Cannot verify the redeployment", "The service does not report the revisions of deployment "+
			"%s: the provider cannot verify that the change of redeploy_triggers made a new one.", who)
	}
	if len(kept) > 0 {
		r.warnf(path.Empty(), "Removed arguments stay in the service", "The service accepted the update of deployment %s, "+
			"but still has the former value, which may be its default, of:%s", who, names(kept))
	}
	u.addUnasked(sent, visible)
	return true
}

// notAppliedAdvice is what to do about values that the service did not take.
func (u *update) notAppliedAdvice(failed []field.Difference) trusted {
	advice := trusted("Options:")
	for _, d := range failed {
		_, wantsNumber := d.Want.(json.Number)
		if has, isNumber := d.Has.(json.Number); isNumber && wantsNumber {
			advice += u.format("\n  - Set %s = %s: the service may round or limit the value.", placeOf(d), has.String())
		}
	}
	advice += "\n  - Set the arguments to the service's values, or contact the service operator."
	if slices.ContainsFunc(failed, func(d field.Difference) bool {
		object, name := d.Key()
		return object == "source_config" && name != "resource_spec"
	}) {
		advice += "\n  - " + mayBeImmutable
	}
	return advice
}

// addUnasked warns of what changed although nobody asked for it, except for what the service may change by itself.
func (u *update) addUnasked(sent client.Update, visible *client.Deployment) {
	expected := maps.Clone(sent.Before.Tree)
	for object, value := range sent.Sent {
		if config, ok := value.(map[string]any); ok && isConfigObject(object) {
			inner, _ := expected[object].(map[string]any)
			value = field.Merge(inner, config)
		}
		expected[object] = value
	}
	for name := range expected { // what the provider does not know at the root, the service may change at any time
		if _, known := changeableFields.ByName(name); !known && sent.Sent[name] == nil {
			delete(expected, name)
		}
	}
	delete(expected, "secrets") // they are verified by themselves
	var unasked []string
	for _, d := range changeableFields.Missing(visible.Tree, expected, u.source) {
		object, name := d.Key()
		otherCommit := d.ResolvedIn(visible.Tree) && attributesOf(u.plan[object]).text(name) != d.Want // of the same ref
		if !u.chosenByService(object, name) && !otherCommit {
			unasked = append(unasked, d.String())
		}
	}
	if len(unasked) > 0 {
		u.report(u.diags).warnf(path.Empty(), "Service changed other properties", "The update of deployment %s changed "+
			"properties that it was not meant to change:%s", describe(u.state), unasked)
	}
}

// chosenByService reports whether the service chooses a value because the configuration omits it.
func (u *update) chosenByService(object, name string) bool {
	parent, _ := changeableFields.ByName(object)
	f, ok := parent.Fields().ByName(name)
	value := attributesOf(u.config[object])[name]
	return ok && f.Access == field.Computed && (value.Type() == nil || value.IsNull())
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
