package provider

import (
	"maps"

	"github.com/graphdeploy/terraform-provider-graphdeploy/internal/client"
)

// redeploys reports whether a plan asks for a new revision of the same configuration: redeploy_triggers is set, or
// changes. While a trigger is unknown, it may.
func (c *change) redeploys() bool {
	before, after := attributesOf(c.state)["redeploy_triggers"], attributesOf(c.plan)["redeploy_triggers"]
	return !after.Equal(before) && (!after.IsKnown() || len(attributesOf(after)) > 0)
}

// redeployedConfig is the complete source_revision_config of a deployment, with the changes of a request, and with a
// ref if it is not empty. That of codehost has no image, which the service builds again, unless the configuration sets
// one.
func redeployedConfig(live *client.Deployment, body client.Tree, ref string, setsImage bool) client.Tree {
	config := client.Tree{}
	current, _ := live.Tree["source_revision_config"].(map[string]any)
	for name, value := range current {
		if value != nil {
			config[name] = value
		}
	}
	delete(config, "repo_commit_sha") // of the revision before
	if live.Source == client.SourceCodehost && !setsImage {
		delete(config, "image_uri")
	}
	if ref != "" {
		config["repo_ref"] = ref
	}
	changes, _ := body["source_revision_config"].(map[string]any)
	maps.Copy(config, changes)
	return config
}
