package provider

import (
	"context"
	"errors"
	"strings"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/types"
	"github.com/hashicorp/terraform-plugin-go/tftypes"

	"github.com/graphdeploy/terraform-provider-graphdeploy/internal/client"
	"github.com/graphdeploy/terraform-provider-graphdeploy/internal/field"
)

// ImportState finds a deployment by an ID, an exact name, or an identity. Read, which comes next, does the rest.
func (r *deploymentResource) ImportState(ctx context.Context, req resource.ImportStateRequest,
	resp *resource.ImportStateResponse,
) {
	diags := &resp.Diagnostics
	if r.client == nil && req.ClientCapabilities.DeferralAllowed {
		resp.Deferred = &resource.Deferred{Reason: resource.DeferredReasonProviderConfigUnknown}
		resp.State.Raw = tftypes.NewValue(resp.State.Raw.Type(), tftypes.UnknownValue)
		return
	}
	if !r.requireClient(diags, "Importing a deployment") {
		return
	}
	id, byIdentity := req.ID, req.ID == "" && req.Identity != nil
	if byIdentity {
		var text types.String
		diags.Append(req.Identity.GetAttribute(ctx, path.Root("id"), &text)...)
		id = text.ValueString()
	}
	var found *client.Deployment
	switch {
	case diags.HasError():
	case id == "":
		r.report(diags).errorf(path.Empty(), "Missing import ID", "The import ID must be the ID of the deployment, a UUID "+
			"such as %s, or its exact name.", field.ExampleUUID)
	case byIdentity && !client.IsUUID(id):
		r.report(diags).errorf(path.Root("id"), "Invalid UUID", "id in the identity must be a UUID such as %s, got %q. To "+
			"import by name, use id instead of identity.", field.ExampleUUID, id)
	case byIdentity:
		found = r.byID(ctx, id, path.Empty(), diags)
	case client.IsUUID(id):
		found = r.byIDOrName(ctx, id, diags)
	default:
		found = r.byName(ctx, id, path.Empty(), diags)
	}
	if found == nil {
		return
	}
	r.state.saw(found) // Read need not request it again
	if !strings.EqualFold(id, found.ID) {
		id = found.ID // of a name
	}
	diags.Append(resp.State.SetAttribute(ctx, path.Root("id"), id)...)
	identify(ctx, resp.Identity, resp.State.Raw, diags)
}

// byIDOrName reads the deployment with an ID, or else the one with a name that looks like an ID.
func (r *deploymentResource) byIDOrName(ctx context.Context, text string, diags *diag.Diagnostics) *client.Deployment {
	found, err := r.client.Deployment(ctx, text)
	if errors.Is(err, client.ErrNotFound) {
		named, lookupErr := r.client.DeploymentsNamed(ctx, text)
		switch {
		case lookupErr != nil:
			err = lookupErr
		case len(named) > 0:
			return r.only(named, path.Empty(), diags)
		}
	}
	r.addLookupFailure(diags, text, err, path.Empty())
	return found
}
