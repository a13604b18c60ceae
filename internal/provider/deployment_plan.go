package provider

import (
	"context"
	"fmt"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-go/tftypes"

	"github.com/graphdeploy/terraform-provider-graphdeploy/internal/client"
	"github.com/graphdeploy/terraform-provider-graphdeploy/internal/field"
)

// ModifyPlan makes the plan of a deployment by the rules of package field, and
// refuses at plan what an apply could not do.
func (r *deploymentResource) ModifyPlan(ctx context.Context, req resource.ModifyPlanRequest, resp *resource.ModifyPlanResponse) {
	state := attributesOf(req.State.Raw)
	if req.Plan.Raw.IsNull() {
		r.checkDeletionPolicy(state, &resp.Diagnostics)
		if !r.deletes(state) {
			r.addAbandoned(&resp.Diagnostics, state, "will be")
		}
		return
	}
	plan := attributesOf(req.Plan.Raw)
	r.checkDeletionPolicy(plan, &resp.Diagnostics)
	r.checkHosting(plan, &resp.Diagnostics)

	planned := deploymentFields.Plan(req.Config.Raw, req.State.Raw)
	resp.Plan.Raw = field.With(req.Plan.Raw, planned)
	if req.State.Raw.IsNull() {
		return
	}
	if plan.replaces(state, "name") || plan.replaces(state, "source") {
		r.checkReplacement(plan, state, &resp.Diagnostics)
		return
	}
	memory := loadSecretsMemory(ctx, req.Private, &resp.Diagnostics)
	if !r.extended {
		r.refuseChanges(resp.Plan.Raw, req.State.Raw, req.Config.Raw, memory, &resp.Diagnostics)
		return
	}
	_, gone, secretsChange := changedSecrets(plan, state)
	secretsChange = secretsChange && !memory.holds(configuredSecrets(attributesOf(req.Config.Raw)), gone)
	if secretsChange || deploymentFields.MayDiffer(resp.Plan.Raw, req.State.Raw) {
		resp.Plan.Raw = field.With(req.Plan.Raw, deploymentFields.Unknown(planned, attributesOf(req.Config.Raw), changesWithRevision(state)...))
	}
}

// changesWithRevision are the attributes that the service may change by itself
// with a change of the deployment.
func changesWithRevision(state attributes) [][]string {
	places := [][]string{
		{"updated_at"}, {"status"}, {"latest_revision_id"}, {"active_revision_id"}, {"image_version"},
		{"source_revision_config", "repo_commit_sha"},
	}
	if state.text("source") == client.SourceCodehost {
		places = append(places, []string{"source_revision_config", "image_uri"}) // built anew
	}
	return places
}

// replaces reports whether the plan replaces the deployment for an attribute:
// Terraform does so for one that is not known yet, too.
func (a attributes) replaces(state attributes, name string) bool {
	return !a[name].Equal(state[name])
}

// deletes reports whether destroying deletes the deployment in the service.
func (r *deploymentResource) deletes(state attributes) bool {
	return r.extended && state.text("deletion_policy") != deletionAbandon
}

// checkReplacement refuses a replacement that could not be made, or would
// delete what is not to be deleted, and warns of what becomes of the old
// deployment.
func (r *deploymentResource) checkReplacement(plan, state attributes, diags *diag.Diagnostics) {
	at := path.Root("name")
	if !plan.replaces(state, "name") {
		at = path.Root("source")
	}
	switch {
	case r.deletes(state) && plan.text("deletion_policy") == deletionAbandon:
		diags.AddAttributeError(path.Root("deletion_policy"), "The deployment would be deleted", fmt.Sprintf(
			"A new %s replaces deployment %s, which would delete it: deletion_policy = %q holds only from the apply on that puts it into the state. First set %[1]s back to %[4]q, as the service has it, and apply; then change it.",
			at, describe(state), deletionAbandon, state.text(at.String())))
	case r.deletes(state):
		diags.AddAttributeWarning(at, fmt.Sprintf("Deployment %q will be deleted", state.text("name")), fmt.Sprintf(
			"A new %s replaces deployment %s: the service will delete it and create another. To keep it, as after an import, set %[1]s to %[3]q, as the service has it.",
			at, describe(state), state.text(at.String())))
	case plan.replaces(state, "name"):
		diags.AddAttributeWarning(path.Root("name"), fmt.Sprintf("Deployment %q keeps running", state.text("name")), fmt.Sprintf(
			"A new name makes a new deployment. Deployment %s will be taken out of the state and keeps running, as %s. Delete it in the service when it is not needed.", describe(state), r.whyKept(state)))
	default:
		diags.AddAttributeError(path.Root("source"), "A replacement needs a new name", fmt.Sprintf(
			"The source of deployment %s cannot change, and a replacement of the same name would be refused: the old deployment keeps the name, as %s. You can\n"+
				"  - set source to %q, as the service has it, if that deployment is the one you mean;\n"+
				"  - choose a new name as well: that makes a second deployment, and the first keeps running.", describe(state), r.whyKept(state), state.text("source")))
	}
}

// whyKept says why destroying does not delete.
func (r *deploymentResource) whyKept(state attributes) string {
	if state.text("deletion_policy") == deletionAbandon {
		return fmt.Sprintf("its deletion_policy is %q", deletionAbandon)
	}
	return "the provider does not have extended_operations = true, without which it deletes nothing"
}

// refuseChanges refuses what would have to change the service, at each
// attribute: the interface shows no operation for it. A change of what lives
// in Terraform alone passes, and so do secrets that the service already has.
func (r *deploymentResource) refuseChanges(plan, state, config tftypes.Value, memory *secretsMemory, diags *diag.Diagnostics) {
	who := describe(attributesOf(state))
	for _, d := range deploymentFields.Differences(plan, state) {
		diags.AddAttributeError(d.At, "The service cannot be changed", fmt.Sprintf(
			"%s of deployment %s %s. The service's interface shows no operation that changes it, and the provider does not have extended_operations = true. You can\n"+
				"  - take over the service's value into the configuration;\n"+
				"  - leave the attribute to the service: name it in lifecycle { ignore_changes = [ … ] };\n"+
				"  - choose a new name: that makes a second deployment, and the first keeps running;\n"+
				"  - set extended_operations = true in the provider, if your service offers PATCH for deployments.",
			d.At, who, disagreement(d)))
	}
	if at, gone, changed := changedSecrets(attributesOf(plan), attributesOf(state)); changed && !memory.holds(configuredSecrets(attributesOf(config)), gone) {
		diags.AddAttributeError(at, "The service cannot be changed", fmt.Sprintf(
			"The secrets of deployment %s are not those that the service has, as far as it shows them. Its interface shows no operation that changes them, and the provider does not have extended_operations = true. You can\n"+
				"  - take over the values that the service has;\n"+
				"  - leave them to the service: take them out, or name them in lifecycle { ignore_changes = [ … ] };\n"+
				"  - choose a new name: that makes a second deployment, and the first keeps running;\n"+
				"  - set extended_operations = true in the provider, if your service offers PATCH for deployments.", who))
	}
}

// disagreement says what the service has and what the configuration wants.
func disagreement(d field.Difference) string {
	if d.Has == d.Wanted { // the values are not to be shown
		return "is not in the service what it is in the configuration"
	}
	return fmt.Sprintf("is %s in the service and %s in the configuration", d.Has, d.Wanted)
}

// checkHosting refuses a source that is not available where the service runs.
func (r *deploymentResource) checkHosting(plan attributes, diags *diag.Diagnostics) {
	if r.providerData == nil || r.hosting == "" {
		return
	}
	for _, s := range sources {
		if s.name == plan.text("source") && s.hosting != r.hosting {
			diags.AddAttributeError(path.Root("source"), "Source not available here", fmt.Sprintf(
				"Deployment %s has source %q, which is available for %s, and the provider has hosting = %q. Choose another source, or set hosting to what your service is.", describe(plan), s.name, hostingWords[s.hosting], r.hosting))
		}
	}
}

// checkDeletionPolicy refuses a promise that cannot be kept.
func (r *deploymentResource) checkDeletionPolicy(values attributes, diags *diag.Diagnostics) {
	if values.text("deletion_policy") == deletionDelete && !r.extended {
		diags.AddAttributeError(path.Root("deletion_policy"), "Deployments cannot be deleted", fmt.Sprintf(
			"Deployment %s has deletion_policy = %q, and the service's interface shows no operation that deletes. You can\n"+
				"  - set extended_operations = true in the provider, if your service offers DELETE for deployments;\n"+
				"  - leave deletion_policy out, or set it to %q, and apply: a destroy then takes the deployment out of the state only.", describe(values), deletionDelete, deletionAbandon))
	}
}

// addAbandoned warns that a deployment goes on without Terraform.
func (r *deploymentResource) addAbandoned(diags *diag.Diagnostics, state attributes, when string) {
	// Terraform shows one of several warnings that begin alike: this one must
	// be seen for each deployment.
	diags.AddWarning(fmt.Sprintf("Deployment %q keeps running", state.text("name")), fmt.Sprintf(
		"Deployment %s %s taken out of the state and keeps running, as %s. Delete it in the service when it is not needed, or import it by its id to manage it again.", describe(state), when, r.whyKept(state)))
}
