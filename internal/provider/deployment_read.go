package provider

import (
	"context"
	"errors"
	"fmt"
	"maps"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/resource"

	"github.com/graphdeploy/terraform-provider-graphdeploy/internal/client"
	"github.com/graphdeploy/terraform-provider-graphdeploy/internal/field"
)

// Read refreshes the state. It removes a deployment that is no longer listed from the state. A read that fails changes
// nothing.
func (r *deploymentResource) Read(ctx context.Context, req resource.ReadRequest, resp *resource.ReadResponse) {
	state, diags := attributesOf(req.State.Raw), &resp.Diagnostics
	r.hideSecrets(state)
	if r.client == nil && req.ClientCapabilities.DeferralAllowed {
		resp.Deferred = &resource.Deferred{Reason: resource.DeferredReasonProviderConfigUnknown}
		return
	}
	if !r.requireClient(diags, "Reading deployment "+describe(state)) {
		return
	}
	id, importing := state.text("id"), state["name"].IsNull()
	found, err := r.orRead(ctx, r.state.take(id), id)
	switch {
	case errors.Is(err, client.ErrNotFound) && importing:
		r.addLookupFailure(diags, id, err, path.Empty())
		return
	case errors.Is(err, client.ErrNotFound):
		// A state from before Terraform 1.12 has no identity yet, and needs one even now.
		identify(ctx, resp.Identity, req.State.Raw, diags)
		resp.State.RemoveResource(ctx)
		return
	case err != nil:
		r.addReadFailure(diags, state, err)
		return
	}
	r.state.saw(found)
	record := loadRecord(ctx, req.Private, diags)
	live := liveTree(found)
	if !state[additionalField.Name].IsNull() {
		live[additionalField.Name] = found.Tree // it is compared with the complete response
	}
	refreshed, err := resourceFields.Refresh(req.State.Raw, live, found.Source, record)
	if err != nil {
		r.report(diags).bug(r.format("Deployment %s cannot be written to the state", describe(state)), err)
		return
	}
	r.refreshSecrets(state, r.loadSentSecrets(ctx, req.Private, state, diags), found, refreshed, diags)
	resp.State.Raw = field.With(req.State.Raw, refreshed)
	r.state.hold(attributesOf(resp.State.Raw))
	identify(ctx, resp.Identity, resp.State.Raw, diags)
}

// orRead returns what was read of a deployment before, or, if that is nil, reads it.
func (p *providerData) orRead(ctx context.Context, before *client.Deployment, id string) (*client.Deployment, error) {
	if before != nil {
		return before, nil
	}
	return p.client.Deployment(ctx, id)
}

// addReadFailure reports that a deployment cannot be read, or no longer exists.
func (r *deploymentResource) addReadFailure(diags *diag.Diagnostics, state attributes, err error) {
	if errors.Is(err, client.ErrNotFound) {
		r.report(diags).errorf(path.Empty(), "Deployment no longer exists", "The service does not list deployment %s. It "+
			"was probably deleted outside Terraform. Plan again, without -refresh=false: the plan proposes to create it.",
			describe(state))
		return
	}
	r.report(diags).failure(fmt.Sprintf("Cannot read deployment %s", describe(state)), err, nil)
}

// liveTree returns a deployment as the state shows it: what only the service sets is fit for a terminal.
func liveTree(d *client.Deployment) map[string]any { return sanitizeChosen(deploymentFields, d.Tree) }

// maxChosen bounds a string that the service chooses, in characters.
const maxChosen = 2000

// sanitizeChosen returns an object in which the strings that the service chooses are fit for a terminal, and bounded.
// Line breaks stay in a string that the configuration may set as well: it must be the same in both.
func sanitizeChosen(fs field.Fields, live map[string]any) map[string]any {
	shown := maps.Clone(live)
	for _, f := range fs {
		switch value := live[f.Name].(type) {
		case string:
			if runes := []rune(value); f.Access != field.Optional && len(runes) > maxChosen {
				value = string(runes[:maxChosen]) + " […]"
			}
			switch f.Access {
			case field.ReadOnly:
				shown[f.Name] = client.Sanitize(value)
			case field.OptionalComputed:
				shown[f.Name] = client.SanitizeLines(value)
			}
		case map[string]any:
			if object, ok := f.Kind.(field.Object); ok {
				shown[f.Name] = sanitizeChosen(object.Fields, value)
			}
		}
	}
	return shown
}

// statusOf returns the status of a deployment for a message.
func statusOf(d *client.Deployment) string {
	if d.Status == "" {
		return client.StatusUnknown
	}
	return d.Status
}

// byID reads a deployment. It reports a failure at an attribute, if there is one, and returns nil then.
func (p *providerData) byID(ctx context.Context, id string, at path.Path, diags *diag.Diagnostics) *client.Deployment {
	found, err := p.client.Deployment(ctx, id)
	p.addLookupFailure(diags, id, err, at)
	return found
}

// addLookupFailure reports that no deployment was read by its ID, if there is an error.
func (p *providerData) addLookupFailure(diags *diag.Diagnostics, id string, err error, at path.Path) {
	switch {
	case err == nil:
	case errors.Is(err, client.ErrNotFound):
		p.report(diags).errorf(at, "No such deployment", "The service lists no deployment with ID %s. Check the ID, and "+
			"that the credential has access to the deployment.", id)
	default:
		p.report(diags).failure("Cannot read deployment "+id, err, nil)
	}
}

// byName reads the one deployment of exactly that name. It reports a failure like byID.
func (p *providerData) byName(
	ctx context.Context, name string, at path.Path, diags *diag.Diagnostics,
) *client.Deployment {
	found, err := p.client.DeploymentsNamed(ctx, name)
	switch {
	case err != nil:
		p.report(diags).failure(fmt.Sprintf("Cannot look up deployment %q", name), err, nil)
	case len(found) == 0:
		p.report(diags).errorf(at, "No such deployment", "The service lists no deployment named %q (case-sensitive). Check "+
			"the name, and that the credential has access to the deployment.", name)
	default:
		return p.only(found, at, diags)
	}
	return nil
}

// only returns the one deployment of a name. It reports several, and returns nil then.
func (p *providerData) only(found []*client.Deployment, at path.Path, diags *diag.Diagnostics) *client.Deployment {
	if len(found) == 1 {
		return found[0]
	}
	var candidates []string
	for _, d := range found {
		candidates = append(candidates, fmt.Sprintf("%s (source %s, status %s)", d.ID, d.Source, statusOf(d)))
	}
	p.report(diags).errorf(at, "Multiple deployments with that name",
		"The service lists %d deployments named %q. Use the ID of one of them:%s", len(found), found[0].Name, candidates)
	return nil
}
