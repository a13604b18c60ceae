package provider

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/hashicorp/terraform-plugin-framework-timeouts/resource/timeouts"
	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/tfsdk"

	"github.com/graphdeploy/terraform-provider-graphdeploy/internal/client"
)

// waitLimit is the time limit that the plan sets for an operation.
func waitLimit(ctx context.Context, plan attributes, raw tfsdk.Plan, operation string, diags *diag.Diagnostics) time.Duration {
	if plan["timeouts"].IsNull() {
		return defaultWaitTimeout
	}
	var configured timeouts.Value
	diags.Append(raw.GetAttribute(ctx, path.Root("timeouts"), &configured)...)
	limit, more := configured.Create(ctx, defaultWaitTimeout)
	if operation == "update" {
		limit, more = configured.Update(ctx, defaultWaitTimeout)
	}
	diags.Append(more...)
	return limit
}

// waitFor waits until a deployment that was just made is what wait_until says,
// and returns the last reading of it. Whatever ends the wait early is told;
// only a deployment that is gone or going is an error, since an error has
// Terraform replace the deployment. Gone says that nothing is left to save.
// Each reading is shown to see.
func (r *deploymentResource) waitFor(ctx context.Context, made *client.Deployment, until string, limit time.Duration, see func(*client.Deployment), diags *diag.Diagnostics) (last *client.Deployment, gone bool) {
	waiting, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	last, err := r.client.Wait(waiting, made, func(d *client.Deployment) bool {
		see(d)
		return reached(d, until)
	})

	who := fmt.Sprintf("%q (%s)", last.Name, last.ID)
	switch {
	case last.Status == client.StatusAwaitingDelete && until != waitCreated:
		diags.AddError("The deployment is being deleted", fmt.Sprintf("Deployment %s has status %s while it was waited for: somebody, or the service, is deleting it.", who, last.Status))
	case err == nil, until == waitCreated:
	case errors.Is(err, client.ErrNotFound):
		diags.AddError("The deployment vanished", fmt.Sprintf("Deployment %s was created and listed, but is listed no more while it was waited for. Apply again to create it anew.", who))
		return last, true
	case errors.Is(ctx.Err(), context.Canceled):
		diags.AddWarning("Interrupted while waiting", fmt.Sprintf("Deployment %s was created and is in the state. Its last status was %s.", who, last.Status))
	case errors.Is(err, context.DeadlineExceeded):
		diags.AddWarning("The deployment is not ready yet", fmt.Sprintf(
			"Deployment %s was created and is in the state, but after %s its status is %s; wait_until says %q. It goes on coming up by itself: the next plan reads its status. To wait longer, raise timeouts.create.",
			who, limit, last.Status, orDefault(until, waitReady)))
	default:
		diags.AddWarning("Cannot wait for the deployment", fmt.Sprintf("Deployment %s was created and is in the state, but it cannot be watched: %s", who, sentence(err.Error())))
	}
	return last, false
}

// reached reports whether there is nothing more to wait for.
func reached(d *client.Deployment, until string) bool {
	ready := d.Status == client.StatusReady || d.Status == client.StatusUnused
	switch {
	case until == waitCreated, d.Status == client.StatusAwaitingDelete:
		return true
	case until == waitActive:
		return ready && d.LatestRevisionID != nil && d.ActiveRevisionID != nil && *d.LatestRevisionID == *d.ActiveRevisionID
	default:
		return ready
	}
}

func orDefault(s, otherwise string) string {
	if s == "" {
		return otherwise
	}
	return s
}
