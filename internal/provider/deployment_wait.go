package provider

import (
	"cmp"
	"context"
	"errors"
	"strings"
	"time"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema"
	"github.com/hashicorp/terraform-plugin-framework/schema/validator"

	"github.com/graphdeploy/terraform-provider-graphdeploy/internal/client"
	"github.com/graphdeploy/terraform-provider-graphdeploy/internal/field"
)

// timeoutsAttribute has a time limit for each operation.
func timeoutsAttribute() schema.Attribute {
	limit := func(what string) schema.Attribute {
		return schema.StringAttribute{Optional: true, Validators: []validator.String{field.Duration()},
			MarkdownDescription: what + ", such as `45s` or `30m`. Defaults to `20m`."}
	}
	return schema.SingleNestedAttribute{
		Optional: true, MarkdownDescription: "Time limits of operations. Changing them updates the state only.",
		Attributes: map[string]schema.Attribute{
			"create": limit("Time to wait for `wait_until` after a create"),
			"update": limit("Time to wait for `wait_until` after an update"),
			"delete": limit("Time to wait until a deployment is no longer listed after its deletion. Read from the state at destroy"),
		},
	}
}

// timeout is the time limit of an operation.
func (a attributes) timeout(operation string) time.Duration {
	limit, err := time.ParseDuration(attributesOf(a["timeouts"]).text(operation))
	if err != nil { // it is omitted: others are not valid
		return 20 * time.Minute
	}
	return limit
}

// waitFor waits until a deployment that was just written has reached what wait_until specifies, and returns the last read
// result. The operation is "create" or "update"; see is called with each result. Revision is the one to wait for, if it is not
// empty. Whatever ends the wait early is reported; only a deployment that is deleted, or about to be, is an error, because an
// error makes Terraform replace a new deployment. Gone means that nothing is left to save.
func (r *deploymentResource) waitFor(ctx context.Context, written *client.Deployment, plan attributes, operation, revision string,
	see func(*client.Deployment), diags *diag.Diagnostics) (last *client.Deployment, gone bool) {
	until, limit, done := plan.text("wait_until"), plan.timeout(operation), operation+"d"
	if until == waitCreated {
		return written, false
	}
	waiting, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	last, err := r.client.Wait(waiting, written, func(d *client.Deployment) bool {
		see(d)
		return reached(d, until, revision)
	})
	who, report := r.format("%q (%s)", last.Name, last.ID), r.report(diags)
	switch {
	case last.Status == client.StatusAwaitingDelete:
		report.errorf(path.Empty(), "Deployment is being deleted", "Deployment %s was %s, and then its status became %s. It is being deleted "+
			"outside Terraform. Once it no longer exists, apply again to create it.", who, done, last.Status)
	case err == nil:
	case errors.Is(err, client.ErrNotFound):
		report.errorf(path.Empty(), "Deployment no longer exists", "Deployment %s was %s, and then disappeared while the provider waited for "+
			"it. It was probably deleted outside Terraform. Apply again to create it.", who, done)
		return last, true
	case errors.Is(ctx.Err(), context.Canceled):
		report.warnf(path.Empty(), "Wait was interrupted", "Deployment %s was %s and is in the state. Its last status was %s.", who, done,
			statusOf(last))
	case errors.Is(err, context.DeadlineExceeded):
		report.warnf(path.Empty(), "Deployment is not ready yet",
			"Deployment %s was %s and is in the state, but after %s its status is %s, and wait_until is %q. It continues in the background; the "+
				"next plan shows its status. To wait longer, raise timeouts.%s.",
			who, done, limit, statusOf(last), cmp.Or(until, waitReady), operation)
	default:
		report.warnf(path.Empty(), "Cannot wait for the deployment", "Deployment %s was %s and is in the state, but the provider could not "+
			"wait for it: %s\n\n%s", who, done, r.sentence(err), r.advice(err))
	}
	return last, false
}

// reached reports whether there is nothing more to wait for.
func reached(d *client.Deployment, until, revision string) bool {
	ready := d.Status == client.StatusReady || d.Status == client.StatusUnused
	switch {
	case d.Status == client.StatusAwaitingDelete:
		return true
	case revision != "" && !strings.EqualFold(d.LatestRevisionID, revision):
		return false // a list that does not have the change yet
	case until == waitActive:
		return ready && d.LatestRevisionID != "" && strings.EqualFold(d.LatestRevisionID, d.ActiveRevisionID)
	default:
		return ready
	}
}
