package provider

import (
	"fmt"
	"slices"

	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-go/tftypes"

	"github.com/graphdeploy/terraform-provider-graphdeploy/internal/client"
	"github.com/graphdeploy/terraform-provider-graphdeploy/internal/field"
)

// change has the changes of a plan that the service does not have yet, for an update. It is computed twice, by the same
// rules: at plan, to say what will happen, and at apply, from the deployment as the service has it then.
type change struct {
	*field.Change
	field.Comparison // with what compare was called with last

	config, plan, state tftypes.Value
	source              string
}

// newChange returns what the plan changes.
func newChange(config, plan, state tftypes.Value, record field.Record) *change {
	source := attributesOf(state).text("source")
	return &change{Change: updatableFields.NewChange(config, plan, state, record, source), config: config, plan: plan,
		state: state, source: source}
}

// compare compares with what the service has.
func (c *change) compare(live *client.Deployment) { c.Comparison = c.Change.Compare(live.Tree) }

// missing returns the settings that were asked for and are not there.
func (c *change) missing(live *client.Deployment) []field.Difference {
	return c.Change.Missing(live.Tree)
}

// leftover returns the settings that were removed and are still there.
func (c *change) leftover(live *client.Deployment) []field.Difference {
	return c.Change.Compare(live.Tree).Dropped
}

// nulls is the request that sets leftover members to null; empty if a service cannot have them because it merges
// deeply.
func (c *change) nulls(live *client.Deployment) client.Tree {
	return c.Nullify(live.Tree, c.leftover(live))
}

func isConfigObject(name string) bool {
	return name == "source_config" || name == "source_revision_config"
}

// makesRevision reports whether a change makes a new revision: one of source_revision_config and secret_references does
// (section 2.1), and one of resource_spec where services are as they are known.
func (c *change) makesRevision(body client.Tree) bool {
	config, _ := body["source_config"].(map[string]any)
	_, spec := config["resource_spec"]
	_, revisionConfig := body["source_revision_config"]
	_, references := body["secret_references"]
	if spec || revisionConfig || references {
		return true
	}
	return slices.ContainsFunc(c.Undecided, func(d field.Difference) bool {
		object, name := d.Key()
		return object != "source_config" || name == "resource_spec" || name == ""
	})
}

// describeDifferences lists what differs, one attribute a line.
func describeDifferences(differences []field.Difference) (lines []string) {
	for _, d := range differences {
		line := placeOf(d)
		if want, has, ok := d.Values(); ok {
			line += fmt.Sprintf(": %s in the service, %s in the configuration", has, want)
		}
		lines = append(lines, line)
	}
	return lines
}

func names(differences []field.Difference) (lines []string) {
	for _, d := range differences {
		lines = append(lines, placeOf(d))
	}
	return lines
}

// placeOf names what differs: an attribute, or a property within additional_properties.
func placeOf(d field.Difference) string {
	if d.Undescribed() {
		return fmt.Sprintf("%s (%s)", additionalField.Name, d)
	}
	return d.String()
}

func attributeOf(d field.Difference) path.Path {
	if d.Undescribed() {
		return path.Root(additionalField.Name)
	}
	return d.At
}
