package provider

import (
	"maps"
	"strings"

	"github.com/hashicorp/terraform-plugin-framework/path"

	"github.com/graphdeploy/terraform-provider-graphdeploy/internal/client"
	"github.com/graphdeploy/terraform-provider-graphdeploy/internal/field"
)

// A redeployment makes a new revision of the same configuration. A change of redeploy_triggers asks for one, as a part
// of an update, and so does the action graphdeploy_redeploy.

// redeploys reports whether a plan asks for a redeployment: redeploy_triggers is set, or changes. While a trigger is
// unknown, it may.
func (c *change) redeploys() bool {
	before, after := c.state["redeploy_triggers"], c.plan["redeploy_triggers"]
	return !after.Equal(before) && (!after.IsKnown() || len(attributesOf(after)) > 0)
}

// redeployedConfig returns the complete source_revision_config of a deployment, with a ref and an image where they are
// not empty. Without an image, codehost builds one again.
func redeployedConfig(live *client.Deployment, ref, image string) client.Tree {
	set := client.Tree{"repo_ref": ref, "image_uri": image}
	maps.DeleteFunc(set, func(_ string, value any) bool { return value == "" })
	reported := maps.Clone(revisionConfig(live))
	maps.DeleteFunc(reported, func(name string, value any) bool {
		built := name == "image_uri" && live.Source == client.SourceCodehost
		return value == nil || built || name == "repo_commit_sha" // which is of the revision before
	})
	return field.Merge(reported, set)
}

func revisionConfig(d *client.Deployment) client.Tree {
	config, _ := d.Tree["source_revision_config"].(map[string]any)
	return config
}

// commitOf returns the commit of the latest revision; "" if there is none.
func commitOf(d *client.Deployment) string {
	commit, _ := revisionConfig(d)["repo_commit_sha"].(string)
	return commit
}

// revised reports whether a deployment has another revision than before.
func revised(before, d *client.Deployment) bool {
	return d.LatestRevisionID != "" && !strings.EqualFold(d.LatestRevisionID, before.LatestRevisionID)
}

// newRevision reports whether the response to an update, or a read after it, shows another revision than before.
func newRevision(sent client.Update, read *client.Deployment) bool {
	return revised(sent.Before, read) || sent.Written != nil && revised(sent.Before, sent.Written)
}

// awaitsRevision reports whether a read after a redeployment does not show its revision yet. Where the service reported
// no revisions before, there is none to await.
func awaitsRevision(before, read *client.Deployment) bool {
	return before.LatestRevisionID != "" && !revised(before, read)
}

// verifyRevision reports that there is no new revision after a redeployment that the service accepted. It is ok if the
// service reports no revisions at all.
func (o operation) verifyRevision(r report, d *client.Deployment) (ok bool) {
	if d.LatestRevisionID == "" {
		r.warnf(path.Empty(), "Cannot verify the redeployment", "The service does not report the revisions of deployment "+
			"%q (%s): the provider cannot verify that %s.", d.Name, d.ID, o.redeploys)
		return true
	}
	r.errorf(path.Empty(), "No new revision", "The service accepted the update of deployment %q (%s), but made no new "+
		"revision: the latest one is still %s. %s", d.Name, d.ID, d.LatestRevisionID, o.unrevised)
	return false
}
