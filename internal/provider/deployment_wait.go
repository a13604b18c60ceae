package provider

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/hashicorp/terraform-plugin-framework-timeouts/resource/timeouts"
	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema"
	"github.com/hashicorp/terraform-plugin-framework/schema/validator"

	"github.com/graphdeploy/terraform-provider-graphdeploy/internal/client"
	"github.com/graphdeploy/terraform-provider-graphdeploy/internal/field"
)

// waitTimeouts is the attribute timeouts, with words of its own and checks that
// name the place.
func waitTimeouts(ctx context.Context, words string, opts timeouts.Opts) schema.Attribute {
	all := timeouts.Attributes(ctx, opts)
	if nested, ok := all.(schema.SingleNestedAttribute); ok {
		nested.MarkdownDescription = words
		for name, one := range nested.Attributes {
			if limit, ok := one.(schema.StringAttribute); ok {
				limit.Validators = []validator.String{field.Duration()}
				nested.Attributes[name] = limit
			}
		}
		return nested
	}
	return all
}

// waitLimit is the time limit of an operation: what timeouts says, in the plan
// or state that get reads.
func waitLimit(ctx context.Context, get func(context.Context, path.Path, any) diag.Diagnostics,
	operation func(timeouts.Value, context.Context, time.Duration) (time.Duration, diag.Diagnostics), diags *diag.Diagnostics,
) time.Duration {
	var configured timeouts.Value
	diags.Append(get(ctx, path.Root("timeouts"), &configured)...)
	if configured.IsNull() {
		return defaultWaitTimeout
	}
	limit, more := operation(configured, ctx, defaultWaitTimeout)
	diags.Append(more...)
	return limit
}

// wait is what to wait for after a write.
type wait struct {
	until    string                   // wait_until
	revision *string                  // the latest revision is to be this one, when not nil
	limit    time.Duration            // how long at most
	done     string                   // what was done: "created"
	setting  string                   // what sets the limit
	see      func(*client.Deployment) // is shown each reading
}

// waitFor waits until a deployment that was just written is what wait_until
// says, and returns the last reading of it. Whatever ends the wait early is
// told; only a deployment that is gone or going is an error, since an error has
// Terraform replace a new deployment. Gone says that nothing is left to save.
func (r *deploymentResource) waitFor(ctx context.Context, written *client.Deployment, w wait, diags *diag.Diagnostics) (last *client.Deployment, gone bool) {
	waiting, cancel := context.WithTimeout(ctx, w.limit)
	defer cancel()
	last, err := r.client.Wait(waiting, written, func(d *client.Deployment) bool {
		w.see(d)
		return w.reached(d)
	})

	who := fmt.Sprintf("%q (%s)", last.Name, last.ID)
	switch {
	case last.Status == client.StatusAwaitingDelete && w.until != waitCreated:
		diags.AddError(fmt.Sprintf("Deployment %q is being deleted", last.Name), fmt.Sprintf("Deployment %s was %s, and while it was waited for its status became %s: somebody, or the service, is deleting it. Find out who; once it is gone, apply again to create it anew.", who, w.done, last.Status))
	case err == nil, w.until == waitCreated:
	case errors.Is(err, client.ErrNotFound):
		diags.AddError(fmt.Sprintf("Deployment %q vanished", last.Name), fmt.Sprintf("Deployment %s was %s, and while it was waited for the service stopped listing it: it is gone. Apply again to create it anew.", who, w.done))
		return last, true
	case errors.Is(ctx.Err(), context.Canceled):
		diags.AddWarning(fmt.Sprintf("Interrupted while waiting for deployment %q", last.Name), fmt.Sprintf("Deployment %s was %s and is in the state. Its last status was %s; the next plan reads it again.", who, w.done, ofTheService(last.Status)))
	case errors.Is(err, context.DeadlineExceeded):
		diags.AddWarning(fmt.Sprintf("Deployment %q is not ready yet", last.Name), fmt.Sprintf(
			"Deployment %s was %s and is in the state, but after %s its status is %s, and wait_until is %q. It goes on by itself; the next plan reads its status. To wait longer, raise %s.",
			who, w.done, w.limit, ofTheService(last.Status), orDefault(w.until, waitReady), w.setting))
	default:
		diags.AddWarning(fmt.Sprintf("Cannot wait for deployment %q", last.Name), fmt.Sprintf("Deployment %s was %s and is in the state, but was not waited for: %s\n\n%s The next plan reads its status.", who, w.done, sentence(err.Error()), r.access.adviceFor(err)))
	}
	return last, false
}

// reached reports whether there is nothing more to wait for.
func (w wait) reached(d *client.Deployment) bool {
	ready := d.Status == client.StatusReady || d.Status == client.StatusUnused
	switch {
	case w.until == waitCreated, d.Status == client.StatusAwaitingDelete:
		return true
	case w.revision != nil && (d.LatestRevisionID == nil || *d.LatestRevisionID != *w.revision):
		return false // a list that does not know the change yet
	case w.until == waitActive:
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
