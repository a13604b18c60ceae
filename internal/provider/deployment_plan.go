package provider

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-go/tftypes"

	"github.com/graphdeploy/terraform-provider-graphdeploy/internal/client"
	"github.com/graphdeploy/terraform-provider-graphdeploy/internal/field"
)

// ModifyPlan makes the plan of a deployment by the rules of package field, and rejects at plan what an apply could not do.
func (r *deploymentResource) ModifyPlan(ctx context.Context, req resource.ModifyPlanRequest, resp *resource.ModifyPlanResponse) {
	state, config := attributesOf(req.State.Raw), attributesOf(req.Config.Raw)
	r.hideSecrets(state, config)
	if req.Plan.Raw.IsNull() {
		r.planDestroy(ctx, state, resp)
		return
	}
	plan := attributesOf(req.Plan.Raw)
	record := loadRecord(ctx, req.Private, &resp.Diagnostics)
	resp.Plan.Raw = field.With(req.Plan.Raw, resourceFields.Plan(req.Config.Raw, req.State.Raw, record))
	r.checkDeletionPolicy(plan, &resp.Diagnostics)
	r.checkHosting(plan, &resp.Diagnostics)
	addMissingSettings(&resp.Diagnostics, attributesOf(resp.Plan.Raw), config)
	if writeOnly, version := config["secrets_wo"], config["secrets_wo_version"]; !writeOnly.IsNull() && version.IsNull() {
		resp.Diagnostics.AddAttributeWarning(path.Root("secrets_wo"), "Missing secrets_wo_version",
			"Terraform does not store secrets_wo: without secrets_wo_version, a change of the values is neither detected nor sent. "+
				"Set secrets_wo_version, and change it with the values.")
	}
	if req.State.Raw.IsNull() {
		r.planCreate(ctx, plan, resp)
		return
	}

	live := r.state.take(state.text("id"))
	replaces := plan.replaces(state, "name") || plan.replaces(state, "source")
	r.state.hold(state.text("name"), heldDeployment{id: state.text("id"), deletes: r.deletes(state), replaced: replaces})
	if state.text("status") == client.StatusAwaitingDelete {
		resp.Diagnostics.AddWarning("Deployment is being deleted", fmt.Sprintf("Deployment %s has status %s. Once it no longer exists, the "+
			"plan proposes to create it again.", describe(state), client.StatusAwaitingDelete))
	}
	if replaces {
		r.checkReplacement(plan, state, &resp.Diagnostics)
		return
	}
	r.planUpdate(ctx, req, resp, newChange(req.Config.Raw, resp.Plan.Raw, req.State.Raw, record), live)
}

// planUpdate plans a change of a deployment. Live is what was read of it for its refresh; nil if nothing was.
func (r *deploymentResource) planUpdate(ctx context.Context, req resource.ModifyPlanRequest, resp *resource.ModifyPlanResponse, c *change, live *client.Deployment) {
	plan, state, config, diags := attributesOf(resp.Plan.Raw), attributesOf(req.State.Raw), attributesOf(req.Config.Raw), &resp.Diagnostics
	memory := r.loadSecretsRecord(ctx, req.Private, diags)
	secrets, decided := secretsChangeOf(plan, state, config, memory, nil)
	if len(c.keys) == 0 && decided && !secrets.unknown && len(secrets.released) == 0 {
		return
	}
	if r.client == nil && req.ClientCapabilities.DeferralAllowed {
		resp.Deferred = &resource.Deferred{Reason: resource.DeferredReasonProviderConfigUnknown}
		return
	}
	if r.extendedUnknown {
		addUnknownSettings(diags, fmt.Sprintf("Updating deployment %s", describe(state)), []string{"extended_operations"})
		return
	}
	if len(c.keys) > 0 || !decided {
		if !r.requireClient(diags, fmt.Sprintf("Updating deployment %s", describe(state))) {
			return
		}
		if live == nil {
			var err error
			if live, err = r.client.Deployment(ctx, state.text("id")); err != nil {
				r.addReadFailure(diags, state, err)
				return
			}
		}
		c.compare(live)
		secrets, _ = secretsChangeOf(plan, state, config, memory, live)
	}
	addTakenRef(diags, c, state)
	if len(secrets.released) > 0 {
		diags.AddWarning("Secrets stay in the service", fmt.Sprintf("Deployment %s keeps these secrets, which the configuration no longer "+
			"manages:%s", describe(state), listed(secrets.released)))
	}
	if !r.extended {
		r.rejectChange(c, secrets, diags)
		return
	}
	if len(secrets.removed) > 0 {
		diags.AddAttributeWarning(secrets.at, "Secrets will be removed", fmt.Sprintf(
			"The service does not return the values of secrets, and a change of secrets replaces all of them. The update of deployment %s "+
				"removes these secrets, which are not in the configuration:%s", describe(state), listed(secrets.removed)))
	}
	if secrets.hidden && secrets.wanted != nil {
		diags.AddAttributeWarning(secrets.at, "Secrets are replaced", fmt.Sprintf(
			"The service does not show its secrets, and a change of secrets replaces all of them. The update of deployment %s removes secrets "+
				"that are not in the configuration, if there are any.", describe(state)))
	}
	body := c.body()
	sendsSecrets := secrets.wanted != nil || secrets.unknown
	if len(body) == 0 && len(c.unknown) == 0 && !sendsSecrets {
		return
	}
	resp.Plan.Raw = markChanging(resp.Plan.Raw, req.Config.Raw, c.source, sendsSecrets || c.makesRevision(body))
}

// markChanging marks as unknown what an update may change by itself: section 2.2 needs no new revision, section 2.3 does.
func markChanging(plan, config tftypes.Value, source string, revision bool) tftypes.Value {
	values, configured := attributesOf(plan), attributesOf(config)
	unknown := field.Values{"updated_at": tftypes.NewValue(tftypes.String, tftypes.UnknownValue)}
	if revision {
		for _, name := range []string{"status", "latest_revision_id", "active_revision_id", "image_version"} {
			unknown[name] = unknown["updated_at"]
		}
		inner := field.Values{"repo_commit_sha": unknown["updated_at"]}
		if source == client.SourceCodehost && attributesOf(configured["source_revision_config"])["image_uri"].IsNull() {
			inner["image_uri"] = unknown["updated_at"]
		}
		if object := values["source_revision_config"]; object.IsKnown() && !object.IsNull() {
			unknown["source_revision_config"] = field.With(object, inner)
		}
	}
	return field.With(plan, unknown)
}

// rejectChange rejects, as one error, what would have to change the service: the API documents no operation for it. What was
// only removed from the configuration goes through: it stays in the service.
func (r *deploymentResource) rejectChange(c *change, secrets secretsChange, diags *diag.Diagnostics) {
	who := describe(attributesOf(c.state))
	lines := describeDifferences(c.set)
	at := secrets.at
	switch {
	case secrets.unverify:
		lines = append(lines, at.String()+": the provider cannot verify that the secrets match the service")
	case secrets.wanted != nil:
		lines = append(lines, at.String()+": the service has other secrets")
	}
	if len(lines) > 0 {
		detail := fmt.Sprintf("The provider does not update deployments by default, and deployment %s differs from the configuration:%s\n\n"+updateOptions, who, listed(lines))
		if len(c.set) == 1 && secrets.wanted == nil {
			diags.AddAttributeError(attributeOf(c.set[0]), "Deployment cannot be updated", detail)
		} else {
			diags.AddError("Deployment cannot be updated", detail)
		}
		return
	}
	if len(c.dropped) > 0 {
		diags.AddWarning("Removed arguments stay in the service", fmt.Sprintf(
			"Without extended_operations, removing arguments changes the state only. Deployment %s keeps:%s", who, listed(names(c.dropped))))
	}
}

const updateOptions = "Options:\n" +
	"  - Set the arguments to the service's values.\n" +
	"  - Ignore the changes: lifecycle { ignore_changes = [ … ] }.\n" +
	"  - Choose a new name. This creates a second deployment, and the first keeps running.\n" +
	"  - Set extended_operations = true in the provider, if the service supports PATCH for deployments.\n" +
	"  - For terraform destroy, add -refresh=false."

// addTakenRef warns of a ref that goes into the state without a request, because the service does not show which it has.
func addTakenRef(diags *diag.Diagnostics, c *change, state attributes) {
	ref := attributesOf(attributesOf(c.plan)["source_revision_config"]).text("repo_ref")
	commit := attributesOf(state["source_revision_config"]).text("repo_ref")
	if c.refTaken && ref != commit {
		diags.AddAttributeWarning(path.Root("source_revision_config").AtName("repo_ref"), "Imported ref cannot be verified", fmt.Sprintf(
			"Deployment %s was imported, and the service reports commit %s instead of a branch or tag. The provider assumes that %q refers to "+
				"this commit, and sends nothing. "+
				"If the deployment follows a different branch, first set repo_ref to that branch and apply. Then change it.", describe(state),
			commit, ref))
	}
}

// addMissingSettings warns of what every service needs: Terraform silently ignores misspelled names in nested objects.
func addMissingSettings(diags *diag.Diagnostics, plan, config attributes) {
	for _, needed := range []struct{ source, object, name string }{
		{client.SourceExternalDocker, "source_revision_config", "image_uri"},
		{client.SourceCodehost, "source_config", "repo_url"},
	} {
		object := config[needed.object]
		if plan.text("source") != needed.source || !object.IsKnown() || attributesOf(plan[needed.object]).text(needed.name) != "" {
			continue // or the service has one, as after an import
		}
		if value := attributesOf(object)[needed.name]; value.Type() == nil || value.IsNull() {
			at := path.Root(needed.object).AtName(needed.name)
			diags.AddAttributeWarning(path.Root(needed.object), "Missing "+needed.name, fmt.Sprintf(
				"Deployment %s has source %q but no %s. Check the spelling: Terraform silently ignores unknown names in nested objects.",
				describe(plan), needed.source, at))
		}
	}
}

// planCreate checks that the name is free, so that a wrong credential or URL, and a taken name, fail the plan and not the
// apply.
func (r *deploymentResource) planCreate(ctx context.Context, plan attributes, resp *resource.ModifyPlanResponse) {
	diags := &resp.Diagnostics
	savePrivate(ctx, resp.Private, privatePlan, destroyPlan{Replace: true, Extended: r.extended, NameKnown: plan["name"].IsKnown()}, diags)
	name := plan.text("name")
	if name == "" || r.client == nil {
		return
	}
	holders, err := r.client.NameHolders(ctx, name)
	var failed *client.Error
	switch {
	case errors.As(err, &failed) && failed.Unreachable():
		diags.AddWarning("Service is unreachable", fmt.Sprintf("The provider could not check whether the name %q is free: %s This is expected "+
			"if the service is created in the same run. Otherwise, correct base_url (%s).", name, sentence(failed.Error()), r.access.baseURL))
		return
	case err != nil:
		r.access.addFailure(diags, fmt.Sprintf("Cannot check the name %q", name), err, nil)
		return
	case len(holders) == 0:
		return
	}
	existing := holders[0]
	held, inState := r.state.holder(name)
	inState = inState && strings.EqualFold(held.id, existing.ID)
	switch {
	case inState && held.deletes && held.replaced:
	case inState && held.deletes && existing.Status != client.StatusAwaitingDelete:
		diags.AddAttributeWarning(path.Root("name"), "Deployment name is in use", fmt.Sprintf(
			"Deployment %q (%s) in this state has this name. The create fails unless this run first deletes or renames that deployment, "+
				"as it does to replace one.\n"+
				"  - If the resource was renamed, add a moved block: otherwise the deployment is deleted and created again.\n"+
				"  - With create_before_destroy, set a new name.", name, existing.ID))
	case r.extended && !inState && !r.client.CreatedHere(existing.ID) && existing.Status != client.StatusAwaitingDelete:
		// Only a warning: Terraform plans again during the apply. With create_before_destroy, an error there would leave the
		// deployment that holds the name behind as a deposed object, which the next apply would delete.
		var taken diag.Diagnostics
		r.addNameTaken(&taken, name, existing, false)
		for _, d := range taken {
			diags.AddAttributeWarning(path.Root("name"), d.Summary(), d.Detail())
		}
	default:
		r.addNameTaken(diags, name, existing, inState)
	}
}

// addNameTaken reports that a deployment has the name already, and the ways out.
func (r *deploymentResource) addNameTaken(diags *diag.Diagnostics, name string, existing *client.Deployment, inState bool) {
	const summary = "Deployment name already taken"
	at, what := path.Root("name"), fmt.Sprintf("The service has a deployment named %q (id %s, status %s).", name, existing.ID,
		statusOf(existing))
	switch {
	case r.client.CreatedHere(existing.ID):
		diags.AddAttributeError(at, summary, what+" Another resource of this run has created it. Give each resource its own name.")
	case existing.Status == client.StatusAwaitingDelete:
		diags.AddAttributeError(at, summary, what+" It is being deleted. Apply again once it no longer exists, or choose another name.")
	case inState:
		diags.AddAttributeError(at, summary,
			what+" It is in this state, and destroying it would not delete it, because "+whyKept(r.extended)+". Options:\n"+
				"  - If the resource was renamed, add a moved block.\n"+
				"  - If the resource is tainted, run terraform untaint.\n"+
				"  - Plan without -replace, and without replace_triggered_by.\n"+
				"  - Choose another name. This creates a second deployment, and the first keeps running.\n"+
				"  - For terraform destroy, add -refresh=false.")
	default:
		diags.AddAttributeError(at, summary, what+" Options:\n"+
			"  - Import it (replace NAME with the name of the resource):\n\n"+importBlock(existing.ID)+"\n\n"+
			"  - If it is in this state under another address, add a moved block; if it is tainted, run terraform untaint.\n"+
			"  - Choose another name. With create_before_destroy, a replacement needs a new name.\n"+
			"  - For terraform destroy, add -refresh=false.")
	}
}

// importBlock is a block to copy.
func importBlock(id string) string {
	return fmt.Sprintf("      import {\n        to = %s.NAME\n        id = %q\n      }", deploymentType, id)
}

// replaces reports whether the plan replaces the deployment for an attribute. A value that is unknown may turn out to be the
// same.
func (a attributes) replaces(state attributes, name string) bool {
	return a[name].IsKnown() && !a[name].Equal(state[name])
}

// deletes reports whether destroying deletes the deployment in the service.
func (r *deploymentResource) deletes(state attributes) bool {
	return r.extended && !state.abandons()
}

// planDestroy decides what a destroy does, and records it: the apply of a saved plan does that, or fails.
func (r *deploymentResource) planDestroy(ctx context.Context, state attributes, resp *resource.ModifyPlanResponse) {
	diags := &resp.Diagnostics
	if r.extendedUnknown && !state.abandons() {
		addUnknownSettings(diags, fmt.Sprintf("Destroying deployment %s", describe(state)), []string{"extended_operations"})
		return
	}
	r.checkDeletionPolicy(state, diags)
	r.state.hold(state.text("name"), heldDeployment{id: state.text("id"), deletes: r.deletes(state)})
	savePrivate(ctx, resp.Private, privatePlan, destroyPlan{Extended: r.extended, Delete: r.deletes(state), NameKnown: true}, diags)
	if !r.deletes(state) {
		r.addAbandoned(diags, state)
	}
}

// checkReplacement rejects a replacement that would fail, or that would delete a deployment against its new deletion_policy,
// and warns about what happens to the old deployment.
func (r *deploymentResource) checkReplacement(plan, state attributes, diags *diag.Diagnostics) {
	at := path.Root("name")
	if !plan.replaces(state, "name") {
		at = path.Root("source")
	}
	who, before := describe(state), state.text(at.String())
	switch {
	case r.extendedUnknown:
		addUnknownSettings(diags, fmt.Sprintf("Replacing deployment %s", who), []string{"extended_operations"})
	case r.deletes(state) && plan.abandons():
		diags.AddAttributeError(path.Root("deletion_policy"), "Deployment would be deleted", fmt.Sprintf(
			"Changing %s replaces deployment %s, which deletes it, because deletion_policy = %q takes effect once it is in the state. Set %[1]s "+
				"back to %[4]q and apply. Then change it.",
			at, who, deletionAbandon, before))
	case r.deletes(state):
		diags.AddAttributeWarning(at, "Deployment will be deleted", fmt.Sprintf(
			"A new %s replaces deployment %s: the service deletes it and creates another. To keep it, set %[1]s to %[3]q.", at, who, before))
	case !plan.replaces(state, "name") && plan["name"].IsKnown():
		diags.AddAttributeError(path.Root("source"), "Replacement needs a new name", fmt.Sprintf(
			"The source of deployment %s cannot change, and the old deployment keeps running under the same name, because %s. Options:\n"+
				"  - Set source to %q.\n"+
				"  - Choose a new name, too. This creates a second deployment, and the first keeps running.", who, whyKept(state.abandons()), before))
	case !plan["name"].IsKnown():
		diags.AddAttributeError(path.Root("source"), "Replacement needs a new name", fmt.Sprintf(
			"The source of deployment %s cannot change, and the new name is known only after apply. Set a name that is known at plan.", who))
	default:
		diags.AddAttributeWarning(at, "Deployment keeps running", fmt.Sprintf(
			"Changing name creates a new deployment. Deployment %s is removed from the state and keeps running, because %s. To keep it in the "+
				"state, set name to %q.", who, whyKept(state.abandons()), before))
	}
}

// whyKept states why destroying does not delete.
func whyKept(abandons bool) string {
	if abandons {
		return fmt.Sprintf("its deletion_policy is %q", deletionAbandon)
	}
	return "the provider does not have extended_operations = true"
}

// abandons reports whether the deployment is never deleted.
func (a attributes) abandons() bool { return a.text("deletion_policy") == deletionAbandon }

// checkHosting rejects a source that is not available where the service runs.
func (r *deploymentResource) checkHosting(plan attributes, diags *diag.Diagnostics) {
	if r.hosting == "" {
		return
	}
	for _, s := range sources {
		if s.name == plan.text("source") && s.hosting != r.hosting {
			diags.AddAttributeError(path.Root("source"), "Source not available", fmt.Sprintf(
				"Deployment %s has source %q (%s), but the provider has hosting = %q. Use another source, or correct hosting.",
				describe(plan), s.name, hostingNames[s.hosting], r.hosting))
		}
	}
}

// checkDeletionPolicy rejects deletion_policy = "delete" without extended_operations.
func (r *deploymentResource) checkDeletionPolicy(values attributes, diags *diag.Diagnostics) {
	if values.text("deletion_policy") == deletionDelete && !r.extended && !r.extendedUnknown {
		diags.AddAttributeError(path.Root("deletion_policy"), "Deployment cannot be deleted", fmt.Sprintf(
			"Deployment %s has deletion_policy = %q, but the provider does not delete by default. Options:\n"+
				"  - Set extended_operations = true in the provider, if the service supports DELETE for deployments.\n"+
				"  - Remove deletion_policy, or set it to %q, and apply. Destroying then removes the deployment from the state only.",
			describe(values), deletionDelete, deletionAbandon))
	}
}

// addAbandoned warns that a deployment keeps running without Terraform.
func (r *deploymentResource) addAbandoned(diags *diag.Diagnostics, state attributes) {
	diags.AddWarning("Deployment keeps running", fmt.Sprintf(
		"Destroying removes deployment %s from the state only, because %s. It keeps running.", describe(state), whyKept(state.abandons())))
}

func statusOf(d *client.Deployment) string {
	if d.Status == "" {
		return client.StatusUnknown
	}
	return client.Sanitize(d.Status)
}
