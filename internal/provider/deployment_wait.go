package provider

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/hashicorp/terraform-plugin-framework-timeouts/resource/timeouts"
	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema"
	"github.com/hashicorp/terraform-plugin-framework/schema/validator"

	"github.com/graphdeploy/terraform-provider-graphdeploy/internal/client"
	"github.com/graphdeploy/terraform-provider-graphdeploy/internal/field"
)

// waitTimeouts is the attribute timeouts, with its own description and validators
// that name the attribute.
func waitTimeouts(ctx context.Context, description string, opts timeouts.Opts) schema.Attribute {
	all := timeouts.Attributes(ctx, opts)
	if nested, ok := all.(schema.SingleNestedAttribute); ok {
		nested.MarkdownDescription = description
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

// waitLimit is the time limit of an operation: the one in the plan or state
// that get reads, or the default.
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
	revision *string                  // the latest revision must be this one, if not nil
	limit    time.Duration            // how long at most
	done     string                   // what was done: "created"
	setting  string                   // the argument that sets the limit
	see      func(*client.Deployment) // is called with each read result
}

// waitFor waits until a deployment that was just written has reached what
// wait_until specifies, and returns the last read result. Whatever ends the wait
// early is reported; only a deployment that is deleted, or about to be, is an
// error, because an error makes Terraform replace a new deployment. Gone means
// that nothing is left to save.
func (r *deploymentResource) waitFor(ctx context.Context, written *client.Deployment, w wait, diags *diag.Diagnostics) (last *client.Deployment, gone bool) {
	waiting, cancel := context.WithTimeout(ctx, w.limit)
	defer cancel()
	last, err := r.client.Wait(waiting, written, func(d *client.Deployment) bool {
		w.see(d)
		return w.reached(d)
	})
	who := fmt.Sprintf("%q (%s)", last.Name, last.ID)
	switch {
	case last.Status == client.StatusAwaitingDelete:
		diags.AddError("Deployment is being deleted", fmt.Sprintf("Deployment %s was %s, and then its status became %s. It is being deleted "+
			"outside Terraform. Once it no longer exists, apply again to create it.", who, w.done, last.Status))
	case err == nil:
	case errors.Is(err, client.ErrNotFound):
		diags.AddError("Deployment no longer exists", fmt.Sprintf("Deployment %s was %s, and then disappeared while the provider waited for "+
			"it. It was probably deleted outside Terraform. Apply again to create it.", who, w.done))
		return last, true
	case errors.Is(ctx.Err(), context.Canceled):
		diags.AddWarning("Wait was interrupted", fmt.Sprintf("Deployment %s was %s and is in the state. Its last status was %s.", who, w.done,
			statusOf(last)))
	case errors.Is(err, context.DeadlineExceeded):
		diags.AddWarning("Deployment is not ready yet", fmt.Sprintf(
			"Deployment %s was %s and is in the state, but after %s its status is %s, and wait_until is %q. It continues in the background; the "+
				"next plan shows its status. To wait longer, raise %s.",
			who, w.done, w.limit, statusOf(last), orDefault(w.until, waitReady), w.setting))
	default:
		diags.AddWarning("Cannot wait for the deployment", fmt.Sprintf("Deployment %s was %s and is in the state, but the provider could not "+
			"wait for it: %s\n\n%s", who, w.done, sentence(err.Error()), r.access.adviceFor(err)))
	}
	return last, false
}

// reached reports whether there is nothing more to wait for.
func (w wait) reached(d *client.Deployment) bool {
	ready := d.Status == client.StatusReady || d.Status == client.StatusUnused
	switch {
	case d.Status == client.StatusAwaitingDelete:
		return true
	case w.revision != nil && !sameID(d.LatestRevisionID, w.revision):
		return false // a list that does not have the change yet
	case w.until == waitActive:
		return ready && d.LatestRevisionID != nil && sameID(d.LatestRevisionID, d.ActiveRevisionID)
	default:
		return ready
	}
}

// sameID compares IDs, which are case-insensitive.
func sameID(a, b *string) bool { return strings.EqualFold(stringOrEmpty(a), stringOrEmpty(b)) }

func orDefault(s, otherwise string) string {
	if s == "" {
		return otherwise
	}
	return s
}
