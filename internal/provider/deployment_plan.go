package provider

import (
	"context"
	"fmt"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-go/tftypes"

	"github.com/graphdeploy/terraform-provider-graphdeploy/internal/field"
)

// ModifyPlan makes the plan of a deployment by the rules of package field, and
// refuses at plan what an apply could not do.
func (r *deploymentResource) ModifyPlan(ctx context.Context, req resource.ModifyPlanRequest, resp *resource.ModifyPlanResponse) {
	state := attributesOf(req.State.Raw)
	if req.Plan.Raw.IsNull() {
		r.checkDeletionPolicy(state, &resp.Diagnostics)
		addAbandoned(&resp.Diagnostics, state, "will be")
		return
	}
	plan := attributesOf(req.Plan.Raw)
	r.checkDeletionPolicy(plan, &resp.Diagnostics)
	r.checkHosting(plan, &resp.Diagnostics)

	resp.Plan.Raw = field.With(req.Plan.Raw, deploymentFields.Plan(req.Config.Raw, req.State.Raw))
	if req.State.Raw.IsNull() {
		return
	}
	if plan.differs(state, "name") {
		addLeftRunning(&resp.Diagnostics, state)
		return
	}
	if plan.differs(state, "source") {
		resp.Diagnostics.AddAttributeError(path.Root("source"), "A replacement needs a new name", fmt.Sprintf(
			"A change of source replaces the deployment, but the provider cannot delete deployment %s: it would keep its name, and the new one be refused. Choose a new name as well; the old deployment then keeps running.", describe(state)))
		return
	}
	memory := loadSecretsMemory(ctx, req.Private, &resp.Diagnostics)
	r.refuseChanges(resp.Plan.Raw, req.State.Raw, req.Config.Raw, memory, &resp.Diagnostics)
}

// differs reports whether a required attribute has another value in the state,
// as far as it is known.
func (a attributes) differs(state attributes, name string) bool {
	return a[name].IsKnown() && !a[name].Equal(state[name])
}

// refuseChanges refuses what would have to change the service, at each
// attribute: the interface shows no operation for it. A change of what lives
// in Terraform alone passes, and so do secrets that the service already has.
func (r *deploymentResource) refuseChanges(plan, state, config tftypes.Value, memory *secretsMemory, diags *diag.Diagnostics) {
	who := describe(attributesOf(state))
	for _, at := range deploymentFields.Differences(plan, state) {
		diags.AddAttributeError(at, "The service cannot be changed", fmt.Sprintf(
			"The service has another value for %s of deployment %s, and its interface shows no operation that would change it. You can\n"+
				"  - take over the service's value: %s;\n"+
				"  - leave the attribute out, or name it in lifecycle { ignore_changes }, and so leave it to the service;\n"+
				"  - choose a new name: that makes a second deployment, and the first keeps running.",
			at, who, "see it with terraform state show"))
	}
	if at, gone, changed := changedSecrets(attributesOf(plan), attributesOf(state)); changed && !memory.holds(configuredSecrets(attributesOf(config)), gone) {
		diags.AddAttributeError(at, "The service cannot be changed", fmt.Sprintf(
			"The secrets of deployment %s are not those that the service has, as far as it shows, and its interface shows no operation that would change them. You can\n"+
				"  - set the values that the service has;\n"+
				"  - leave them out, or name them in lifecycle { ignore_changes }, and so leave them to the service;\n"+
				"  - choose a new name: that makes a second deployment, and the first keeps running.", who))
	}
}

// checkHosting refuses a source that is not available where the service runs.
func (r *deploymentResource) checkHosting(plan attributes, diags *diag.Diagnostics) {
	if r.providerData == nil || r.hosting == "" {
		return
	}
	for _, s := range sources {
		if s.name == plan.text("source") && s.hosting != r.hosting {
			diags.AddAttributeError(path.Root("source"), "Source not available here", fmt.Sprintf(
				"Source %q is available for %s, and the provider is configured with hosting = %q.", s.name, hostingWords[s.hosting], r.hosting))
		}
	}
}

// checkDeletionPolicy refuses a promise that cannot be kept.
func (r *deploymentResource) checkDeletionPolicy(values attributes, diags *diag.Diagnostics) {
	if values.text("deletion_policy") == deletionDelete {
		diags.AddAttributeError(path.Root("deletion_policy"), "Deployments cannot be deleted", fmt.Sprintf(
			"deletion_policy = %q insists on deleting, but the service's interface shows no operation for it. Leave it out, or set %q: destroying then takes the deployment out of the state only.", deletionDelete, deletionAbandon))
	}
}

// addAbandoned warns that a deployment goes on without Terraform.
func addAbandoned(diags *diag.Diagnostics, state attributes, when string) {
	diags.AddWarning("The deployment keeps running", fmt.Sprintf(
		"Deployment %s %s taken out of the state only: the service's interface shows no operation that deletes it. Delete it in the service when it is not needed, or import it to manage it again.", describe(state), when))
}

// addLeftRunning warns that a replacement does not remove what it replaces.
func addLeftRunning(diags *diag.Diagnostics, state attributes) {
	diags.AddAttributeWarning(path.Root("name"), "The old deployment keeps running", fmt.Sprintf(
		"A new name makes a new deployment. Deployment %s will be taken out of the state and keeps running in the service: its interface shows no operation that deletes it.", describe(state)))
}
