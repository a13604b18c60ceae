package provider

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/hashicorp/terraform-plugin-framework/path"

	"github.com/graphdeploy/terraform-provider-graphdeploy/internal/client"
	"github.com/graphdeploy/terraform-provider-graphdeploy/internal/field"
)

// send sends what the plan changes. If the service rejects members that it reports itself but the provider does not
// know, it sends the change once more without them.
func (u *update) send(ctx context.Context) (sent client.Update, ok bool) {
	id := u.state.text("id")
	sent, err := u.client.UpdateDeployment(ctx, id, func(live *client.Deployment) (client.Tree, error) {
		return u.request(live), nil
	})
	if err == nil {
		return sent, true
	}
	foreign := u.foreign(sent.Sent)
	if isAbout(err, foreign, sent.Sent) {
		reduced, secondErr := u.client.UpdateDeployment(ctx, id, func(live *client.Deployment) (client.Tree, error) {
			return u.withoutForeign(u.request(live)), nil
		})
		if secondErr == nil {
			u.report(u.diags).warnf(path.Empty(), "Unknown properties were not sent", "The service reports properties of "+
				"deployment %s that this provider does not know, but rejects them in requests. The update was sent without them. "+
				"Check that the service still has:%s",
				describe(u.state), foreign)
			return reduced, true
		}
	}
	u.addSendFailure(err, sent.Sent)
	return sent, false
}

// request compares the plan with what the service has, and returns what to change of that.
func (u *update) request(live *client.Deployment) client.Tree {
	u.compare(live)
	body := maps.Clone(u.Body)
	if u.redeploys() {
		planned, image := attributesOf(u.plan["source_revision_config"]), ""
		configured := attributesOf(u.config["source_revision_config"])["image_uri"]
		if u.source() == client.SourceCodehost && !configured.IsNull() { // the service shows what it has built of it
			image = planned.text("image_uri")
		}
		changes, _ := body["source_revision_config"].(map[string]any)
		body["source_revision_config"] = field.Merge(redeployedConfig(live, planned.text("repo_ref"), image), changes)
	}
	if u.secrets.sends {
		body["secrets"] = u.secrets.list.sorted()
	}
	return body
}

// foreign names the members of a request that the provider does not know, and that are not of additional_properties.
func (u *update) foreign(request client.Tree) []string {
	ours := field.Leaves(u.plan.additional())
	_, rest := changeableFields.Split(request)
	return slices.DeleteFunc(field.Leaves(rest), func(name string) bool {
		return name == "secrets" || slices.Contains(ours, name)
	})
}

// withoutForeign returns a request without the members that foreign names.
func (u *update) withoutForeign(request client.Tree) client.Tree {
	described, _ := changeableFields.Split(request)
	reduced := field.MergeDeep(described, u.plan.additional())
	maps.DeleteFunc(reduced, func(name string, _ any) bool { _, sent := request[name]; return !sent })
	if secrets, sent := request["secrets"]; sent {
		reduced["secrets"] = secrets
	}
	return reduced
}

// isAbout reports whether a service may have rejected a request because of some members: its error names one of them,
// or names no member of the request at all.
func isAbout(err error, names []string, request client.Tree) bool {
	rejected, ok := errors.AsType[*client.Error](err)
	if !ok || !rejected.Invalid() || len(names) == 0 {
		return false
	}
	text := rejected.Message
	for _, f := range rejected.Fields {
		text += " " + f.String()
	}
	mentioned := map[string]bool{}
	for _, word := range words.FindAllString(text, -1) {
		mentioned[word] = true
	}
	mentions := func(path string) bool { return mentioned[path[strings.LastIndexByte(path, '.')+1:]] }
	return slices.ContainsFunc(names, mentions) || !slices.ContainsFunc(field.Leaves(request), mentions)
}

var words = regexp.MustCompile(`[\w-]+`)

// addSendFailure reports why a request was not sent, or rejected.
func (u *update) addSendFailure(err error, request client.Tree) {
	r := u.report(u.diags)
	rejected, ok := errors.AsType[*client.Error](err)
	switch {
	case errors.Is(err, client.ErrNotSupported):
		r.errorf(path.Empty(), "Service does not support updates", "The service lists deployment %s but rejects PATCH for "+
			"it. Nothing was changed. Options:\n%s\n  - Set documented_operations_only = true in the provider: the plan then "+
			"reports such changes.\n\n%s",
			describe(u.state), withoutUpdate, u.sentence(err))
	case errors.Is(err, client.ErrNotFound):
		u.addReadFailure(u.diags, u.state, err)
	default:
		secrets, _ := request["secrets"].([]client.Secret)
		var notes []trusted
		if ok && rejected.Invalid() && hasSettings(slices.Concat(u.Set, u.Dropped)) {
			notes = append(notes, mayBeImmutable)
		}
		u.report(u.diags).failure(fmt.Sprintf("Cannot update deployment %q", u.state.text("name")), err,
			requestLocations(u.config, secrets), notes...)
	}
}

// hasSettings reports whether some of the differences are in source_config, but not in resource_spec.
func hasSettings(differences []field.Difference) bool {
	return slices.ContainsFunc(differences, func(d field.Difference) bool {
		object, name := d.Key()
		return object == "source_config" && name != "resource_spec"
	})
}

const mayBeImmutable trusted = "Some settings of source_config cannot be changed after the create (section 2.2 " +
	"of the API document). If this is one of them, terraform apply -replace=ADDRESS, with the address of this resource, " +
	"deletes the deployment and creates it again with the new value."
