package provider

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/resource"

	"github.com/graphdeploy/terraform-provider-graphdeploy/internal/client"
	"github.com/graphdeploy/terraform-provider-graphdeploy/internal/field"
)

// Update changes the deployment where the plan asks for it, reads it back, and saves what was confirmed. What concerns only the
// state needs no request.
func (r *deploymentResource) Update(ctx context.Context, req resource.UpdateRequest, resp *resource.UpdateResponse) {
	u := &update{deploymentResource: r, req: req, resp: resp, diags: &resp.Diagnostics,
		state: attributesOf(req.State.Raw), plan: attributesOf(req.Plan.Raw), config: attributesOf(req.Config.Raw)}
	r.hideSecrets(u.state, u.plan, u.config)
	u.change = newChange(req.Config.Raw, req.Plan.Raw, req.State.Raw, loadRecord(ctx, req.Private, u.diags))
	u.memory = r.loadSecretsRecord(ctx, req.Private, u.diags)
	u.run(ctx)
}

// update is an update of a deployment in progress.
type update struct {
	*deploymentResource
	*change
	req    resource.UpdateRequest
	resp   *resource.UpdateResponse
	diags  *diag.Diagnostics
	memory *secretsRecord

	state, plan, config attributes
	secrets             secretsChange
	before              *client.Deployment // what the service had before
	seen                []*client.Deployment
	failed, kept        []field.Difference // what the service did not apply, and what it kept although it was removed
}

func (u *update) run(ctx context.Context) {
	var decided bool
	u.secrets, decided = secretsChangeOf(u.plan, u.state, u.config, u.memory, nil)
	configured := configuredSecrets(u.config)
	if len(u.keys) == 0 && decided && u.req.Plan.Raw.IsFullyKnown() && (configured == nil || u.memory != nil) {
		u.save(ctx, nil)
		return
	}
	live, err := u.client.DeploymentNow(ctx, u.state.text("id"))
	if err != nil {
		u.addReadFailure(u.diags, u.state, err)
		return
	}
	u.before, u.seen = live, []*client.Deployment{live}
	u.compare(live)
	u.secrets, _ = secretsChangeOf(u.plan, u.state, u.config, u.memory, live)
	if body := u.body(); len(body) > 0 || u.secrets.wanted != nil {
		var ok bool
		if live, ok = u.send(ctx, body); !ok {
			return
		}
	}
	u.save(ctx, live)
}

// send sends a change, waits as configured, and reads the result back. It is not ok when there is nothing new to save.
func (u *update) send(ctx context.Context, body client.Tree) (live *client.Deployment, ok bool) {
	request := maps.Clone(body)
	if u.secrets.wanted != nil {
		request["secrets"] = u.secrets.wanted.list()
	}
	written, ok := u.patch(ctx, request)
	if !ok {
		return nil, false
	}
	last, revision := u.before, ""
	if written != nil {
		revision = written.LatestRevisionID
		if u.plan.text("wait_until") == waitCreated {
			last = written // it is not waited for
		}
	}
	last, gone := u.waitFor(ctx, last, u.plan, "update", revision, func(d *client.Deployment) { u.seen = append(u.seen, d) }, u.diags)
	if gone {
		return nil, false
	}
	// What was changed is read back even when Terraform is interrupted because it must be saved then, too.
	uninterrupted := context.WithoutCancel(ctx)
	awaited := written
	if written != nil && revisionOf(written) == revisionOf(u.before) && len(u.missing(written, false)) == 0 {
		awaited = nil // only the revision of a ref may be yet to come
	}
	if last, ok = u.readBack(uninterrupted, last, awaited, func(d *client.Deployment) bool { return len(u.missing(d, true)) == 0 }); !ok {
		return u.before, true
	}
	if leftover := u.leftover(last); len(leftover) > 0 {
		if last, ok = u.nullify(uninterrupted, last, leftover); !ok {
			return u.before, true
		}
	}
	u.verify(last, body)
	return last, true
}

// patch sends one request; if the service rejects members that it reports itself but the provider does not know, once more
// without them.
func (u *update) patch(ctx context.Context, request client.Tree) (written *client.Deployment, ok bool) {
	done, err := u.client.UpdateDeployment(ctx, u.before.ID, sending(request))
	written = done.Written
	var rejected *client.Error
	if errors.As(err, &rejected) && rejected.Invalid() {
		ours := field.Leaves(u.plan.additional())
		described, rest := changeableFields.Split(request)
		foreign := slices.DeleteFunc(field.Leaves(rest), func(name string) bool {
			return name == "secrets" || slices.Contains(ours, name)
		})
		if len(foreign) > 0 {
			reduced := field.MergeDeep(described, u.plan.additional())
			maps.DeleteFunc(reduced, func(name string, _ any) bool { _, sent := request[name]; return !sent })
			if secrets, sent := request["secrets"]; sent {
				reduced["secrets"] = secrets
			}
			if done, second := u.client.UpdateDeployment(ctx, u.before.ID, sending(reduced)); second == nil {
				u.report(u.diags).warnf(path.Empty(), "Unknown properties were not sent",
					"The service reports properties of deployment %s that this provider does not know, but rejects them in requests. The update was "+
						"sent without them. Check that the service still has:%s", describe(u.state), foreign)
				return done.Written, true
			}
		}
	}
	switch {
	case errors.Is(err, client.ErrNotAllowed):
		u.rejectChange(u.change, u.secrets, u.diags)
	case errors.Is(err, client.ErrNotSupported):
		u.report(u.diags).errorf(path.Empty(), "Service does not support updates", "The service lists deployment %s but rejects PATCH for it. Nothing "+
			"was changed. Options:\n%s\n  - Set documented_operations_only = true in the provider: the plan then reports such changes.\n\n%s",
			describe(u.state), withoutUpdate, u.sentence(err))
	case errors.Is(err, client.ErrNotFound):
		u.addReadFailure(u.diags, u.state, err)
	case err != nil:
		secrets, _ := request["secrets"].([]client.Secret)
		u.report(u.diags).failure(fmt.Sprintf("Cannot update deployment %q", u.state.text("name")), err, requestLocations(u.config, secrets))
	default:
		return written, true
	}
	return nil, false
}

// sending sends a body as it is.
func sending(body client.Tree) func(*client.Deployment) (client.Tree, error) {
	return func(*client.Deployment) (client.Tree, error) { return body, nil }
}

func (u *update) readBack(ctx context.Context, last, written *client.Deployment, done func(*client.Deployment) bool) (*client.Deployment, bool) {
	if done(last) || written != nil && !done(written) {
		u.seen = append(u.seen, last)
		return last, true
	}
	last, err := u.client.WaitConsistent(ctx, last, done)
	if err != nil {
		u.report(u.diags).failure(fmt.Sprintf("Cannot read deployment %q back", u.state.text("name")), err, nil)
		u.failed, u.kept = u.set, u.dropped
		return nil, false
	}
	u.seen = append(u.seen, last)
	return last, true
}

// missing is what was asked for and is not there. A ref that was changed needs a new revision as well, where the service shows
// only a commit.
func (u *update) missing(d *client.Deployment, revision bool) (missing []field.Difference) {
	missing = u.ofPlan(changeableFields.Compare(d.Tree, u.want, u.want, u.source).Set)
	if revision && revisionOf(d) == revisionOf(u.before) {
		for _, changed := range u.set {
			if changed.ResolvedIn(d.Tree) {
				missing = append(missing, changed)
			}
		}
	}
	return missing
}

// revisionOf identifies a revision.
func revisionOf(d *client.Deployment) [2]string {
	config, _ := d.Tree["source_revision_config"].(map[string]any)
	commit, _ := config["repo_commit_sha"].(string)
	return [2]string{d.LatestRevisionID, commit}
}

// leftover is what was removed and is still there.
func (u *update) leftover(d *client.Deployment) []field.Difference {
	return u.ofPlan(changeableFields.Compare(d.Tree, u.want, u.applied, u.source).Dropped)
}

// nullify sets members of maps and JSON objects to null that a service still has because it merges deeply.
func (u *update) nullify(ctx context.Context, last *client.Deployment, leftover []field.Difference) (*client.Deployment, bool) {
	tree := last.Tree
	leftover = slices.DeleteFunc(leftover, func(d field.Difference) bool {
		without, ok := d.Nullify(tree)
		if ok {
			tree = without
		}
		return !ok
	})
	if len(leftover) == 0 {
		return last, true
	}
	written, ok := u.patch(ctx, u.bodyOf(tree, leftover))
	if !ok {
		return nil, false
	}
	return u.readBack(ctx, last, written, func(d *client.Deployment) bool { return len(u.leftover(d)) == 0 })
}

// verify reports what the service did not take, what it kept although it was removed, and what changed although nobody asked
// for it.
func (u *update) verify(last *client.Deployment, body client.Tree) {
	who := describe(u.state)
	u.failed = u.missing(last, true)
	lines := describeDifferences(u.failed)
	for _, problem := range u.secrets.notTaken(u.memory, u.before, last) {
		lines = append(lines, u.secrets.at.String()+": "+problem)
	}
	if len(lines) > 0 {
		place := path.Empty()
		if len(u.failed) > 0 && len(lines) == 1 {
			place = attributeOf(u.failed[0])
		}
		u.report(u.diags).errorf(place, "Update was not applied", "The service accepted the update of deployment %s, but did not apply all of "+
			"it:%s\n\nContact the service operator, or set the arguments to the service's values.", who, lines)
	}
	u.kept = u.leftover(last)
	if len(u.kept) > 0 {
		u.report(u.diags).warnf(path.Empty(), "Removed arguments stay in the service", "The service accepted the update of deployment %s, "+
			"but still has the former value, which may be its default, of:%s", who, names(u.kept))
	}

	live, expected := last.Tree, maps.Clone(u.before.Tree)
	for object, value := range body {
		if config, ok := value.(map[string]any); ok && isConfigObject(object) {
			inner, _ := expected[object].(map[string]any)
			value = field.Merge(inner, config)
		}
		expected[object] = value
	}
	for name := range expected { // what the provider does not know at the root, the service may change at any time
		if _, known := changeableFields.ByName(name); !known && body[name] == nil {
			delete(expected, name)
		}
	}
	reported := map[string]bool{}
	for _, d := range u.failed {
		reported[d.String()] = true
	}
	var unasked []string
	for _, d := range changeableFields.Compare(live, expected, expected, u.source).Set {
		object, name := d.Key()
		config, _ := u.want[object].(map[string]any)
		otherCommit := d.ResolvedIn(live) && config[name] != d.Want // of the same ref
		if !reported[d.String()] && !u.chosenByService(object, name) && !otherCommit {
			unasked = append(unasked, d.String())
		}
	}
	if len(unasked) > 0 {
		u.report(u.diags).warnf(path.Empty(), "Service changed other properties", "The update of deployment %s also changed properties that "+
			"the plan does not change:%s\n\nThe next plan restores those that the configuration sets. For the others, contact the service "+
			"operator if the change was not intended.", who, unasked)
	}
}

// chosenByService reports whether the service chooses a value because the configuration omits it.
func (u *update) chosenByService(object, name string) bool {
	parent, _ := changeableFields.ByName(object)
	f, ok := parent.Fields.ByName(name)
	value := attributesOf(u.config[object])[name]
	return ok && f.Access == field.Computed && (value.Type() == nil || value.IsNull())
}

// save saves the plan, except for what was not confirmed: state and record keep the prior value of that. Live is nil if nothing
// of it is needed.
func (u *update) save(ctx context.Context, live *client.Deployment) {
	tree := map[string]any{}
	if live != nil {
		tree = liveTree(live, false)
	}
	values, err := resourceFields.AfterApply(u.req.Plan.Raw, tree)
	if err != nil {
		u.report(u.diags).bug(u.format("Deployment %s cannot be written to the state", describe(u.state)), err)
		return
	}
	u.resp.State.Raw = field.With(u.req.Plan.Raw, values)
	record := field.Record(resourceFields.Wanted(u.req.Config.Raw, u.resp.State.Raw))
	if u.diags.HasError() {
		u.keepPrior(record)
	} else if configured := configuredSecrets(u.config); configured == nil || live != nil {
		savePrivate(ctx, u.resp.Private, privateSecrets, u.newSecretsRecord(u.memory, configured, append(u.seen, live)...), u.diags)
	}
	savePrivate(ctx, u.resp.Private, privateRecord, record, u.diags)
	identify(ctx, u.resp.Identity, u.resp.State.Raw, u.diags)
}

// keepPrior puts the prior value of what was not confirmed back into state and record.
func (u *update) keepPrior(record field.Record) {
	values := field.Values{}
	for _, name := range []string{"secrets", "secrets_wo_version"} {
		values[name] = u.state[name]
	}
	for _, d := range slices.Concat(u.failed, u.kept) {
		object, name := d.Key()
		before, ok := u.state[object]
		held := attributesOf(before)
		member := name != "" && held != nil
		switch _, described := held[name]; {
		case !ok, member && !described: // a member of additional_properties
			object, name = additionalField.Name, ""
			values[object] = u.state[object]
		case member:
			now, ok := values[object]
			if !ok {
				now = attributesOf(u.resp.State.Raw)[object]
			}
			values[object] = field.With(now, field.Values{name: held[name]})
		default:
			values[object] = before
		}
		record.Restore(u.record, object, name)
	}
	u.resp.State.Raw = field.With(u.resp.State.Raw, values)
}

// addReadFailure reports that a deployment cannot be read, or no longer exists.
func (r *deploymentResource) addReadFailure(diags *diag.Diagnostics, state attributes, err error) {
	if errors.Is(err, client.ErrNotFound) {
		r.report(diags).errorf(path.Empty(), "Deployment no longer exists", "The service does not list deployment %s. It was probably deleted "+
			"outside Terraform. Plan again, without -refresh=false: the plan proposes to create it.", describe(state))
		return
	}
	r.report(diags).failure("Cannot read deployment "+describe(state), err, nil)
}
