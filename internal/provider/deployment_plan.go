package provider

import (
	"context"
	"fmt"
	"slices"

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
		r.refuseTakenName(plan, &resp.Diagnostics)
		return
	}
	if plan.replaces(state, "name") || plan.replaces(state, "source") {
		r.checkReplacement(plan, state, &resp.Diagnostics)
		return
	}
	memory := loadSecretsMemory(ctx, req.Private, &resp.Diagnostics)
	owned := loadOwned(ctx, req.Private, &resp.Diagnostics)
	has := hasNow(req.State.Raw, resp.Plan.Raw, owned)
	if owned == nil {
		addTakenAtItsWord(&resp.Diagnostics, resp.Plan.Raw, req.State.Raw, has)
		if quiet := deploymentFields.Resolved(resp.Plan.Raw, req.State.Raw); quiet.Equal(req.State.Raw) {
			resp.Plan.Raw = quiet // a ref alone is nothing to apply
			return
		}
	}
	if !r.extended {
		r.refuseChanges(resp.Plan.Raw, has, req.Config.Raw, memory, &resp.Diagnostics)
		return
	}
	config := attributesOf(req.Config.Raw)
	secrets := secretsChangeOf(plan, state, config, memory)
	if secrets.needed || secrets.open || deploymentFields.MayDiffer(resp.Plan.Raw, has) {
		resp.Plan.Raw = field.With(req.Plan.Raw, deploymentFields.Unknown(planned, config, changesWithRevision(state)...))
	}
}

// hasNow is what the service has, by the state. A commit there that was imported
// may stand for any ref, and is taken for the wanted one; once something was
// applied, the state has the ref that was asked for.
func hasNow(state, wanted tftypes.Value, owned []string) tftypes.Value {
	if owned == nil {
		return deploymentFields.Named(state, wanted)
	}
	return state
}

// addTakenAtItsWord warns of a ref that goes into the state without a request,
// since the service does not show which it has.
func addTakenAtItsWord(diags *diag.Diagnostics, plan, state, has tftypes.Value) {
	inService := deploymentFields.Differences(plan, has)
	for _, d := range deploymentFields.Differences(plan, state) {
		if !slices.ContainsFunc(inService, func(other field.Difference) bool { return other.At.Equal(d.At) }) {
			diags.AddAttributeWarning(d.At, "The service shows only a commit", fmt.Sprintf(
				"Deployment %s was imported, and the service shows commit %s of it. The provider takes that to be of %s, as %s says, and sends nothing. If the deployment has another branch or tag, set that one first and apply, then change it.",
				describe(attributesOf(state)), d.Has, d.Wanted, d.At))
		}
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
			"A new name makes a new deployment. Deployment %s will be taken out of the state and keeps running, as %s. Delete it in the service when it is not needed. To keep it here, as after an import, set name to %q, as the service has it.", describe(state), r.whyKept(state), state.text("name")))
	default:
		diags.AddAttributeError(path.Root("source"), "A replacement needs a new name", fmt.Sprintf(
			"The source of deployment %s cannot change, and a replacement of the same name would be refused: the old deployment keeps the name, as %s. You can\n"+
				"  - set source to %q, as the service has it, if that deployment is the one you mean;\n"+
				"  - choose a new name as well: that makes a second deployment, and the first keeps running.", describe(state), r.whyKept(state), state.text("source")))
	}
}

// refuseTakenName refuses to create what is in the state under the same name
// and would not be deleted first: so it is when a resource is tainted, or
// replaced for a reason outside its configuration, of which Terraform tells the
// provider only that there is something to create. After the apply, the old
// one would be out of the state, and the new one refused.
func (r *deploymentResource) refuseTakenName(plan attributes, diags *diag.Diagnostics) {
	if r.providerData == nil {
		return
	}
	name := plan.text("name")
	if id, taken := r.kept.Load(name); taken {
		diags.AddAttributeError(path.Root("name"), "A replacement needs a new name", fmt.Sprintf(
			"The state has deployment %q (%s), which a destroy would take out of the state and leave running, so that another of that name would be refused. You can\n"+
				"  - keep it: leave out -replace, take replace_triggered_by out, or, after an apply that failed or a terraform taint, run terraform untaint with the address that stands above;\n"+
				"  - choose a new name: that makes a second deployment, and the first keeps running;\n"+
				"  - let the provider delete it: set extended_operations = true, if your service offers DELETE for deployments, and no deletion_policy = %q.", name, id, deletionAbandon))
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
				"  - leave the attribute to the service: take it out, or name it in lifecycle { ignore_changes = [ … ] };\n"+
				otherWaysOut,
			d.At, who, disagreement(d)))
	}
	if secrets := secretsChangeOf(attributesOf(plan), attributesOf(state), attributesOf(config), memory); secrets.needed {
		diags.AddAttributeError(secrets.at, "The service cannot be changed", fmt.Sprintf(
			"The secrets of deployment %s cannot be seen to be those that the service has. Its interface shows no operation that changes them, and the provider does not have extended_operations = true. You can\n"+
				"  - take over the values that the service has;\n"+
				"  - leave them to the service: take them out, or set lifecycle { ignore_changes = [%s] };\n"+
				otherWaysOut, who, secrets.at))
	}
}

const otherWaysOut = "  - choose a new name: that makes a second deployment, and the first keeps running;\n" +
	"  - set extended_operations = true in the provider, if your service offers PATCH for deployments."

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
