package provider

import (
	"fmt"
	"slices"

	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-go/tftypes"

	"github.com/graphdeploy/terraform-provider-graphdeploy/internal/client"
	"github.com/graphdeploy/terraform-provider-graphdeploy/internal/field"
)

// change has what a plan changes of a deployment. It is compared with the service twice, by the same rules: at plan, to
// say what will happen, and at apply, with the deployment as the service has it then.
type change struct {
	config, plan, state attributes

	*field.Change
	field.Comparison // with what compare was called with last
	secrets          *secretsChange
}

func newChange(config, plan, state tftypes.Value, record field.Record, sent *sentSecrets) *change {
	c := &change{config: attributesOf(config), plan: attributesOf(plan), state: attributesOf(state)}
	c.Change = updatableFields.NewChange(config, plan, state, record, c.source())
	c.secrets = newSecretsChange(c.plan, c.state, c.config, sent)
	return c
}

func (c *change) source() string { return c.state.text("source") }

// compare compares with what the service has.
func (c *change) compare(live *client.Deployment) {
	c.Comparison = c.Compare(live.Tree)
	c.secrets.compare(live)
}

// concernsService reports whether the plan changes more than the state.
func (c *change) concernsService() bool {
	return !c.ChangesNothing() || c.secrets.changes || c.redeploys()
}

// needsUpdate reports whether the deployment has to be updated, whatever the values are that are still unknown.
func (c *change) needsUpdate() bool {
	redeploys := c.redeploys() && c.plan["redeploy_triggers"].IsFullyKnown()
	return len(c.Body) > 0 || c.secrets.difference() != "" || redeploys
}

// makesRevision reports whether the change makes a new revision: that of secrets and redeploy_triggers does, that of
// source_revision_config and secret_references (section 2.1), and, in the services that are known, of resource_spec.
func (c *change) makesRevision() bool {
	inRevision := func(d field.Difference) bool {
		object, name := d.Key()
		if object == "source_config" {
			return name == "resource_spec" || name == ""
		}
		return slices.Contains([]string{"source_revision_config", "secret_references", additionalField.Name}, object)
	}
	differences := slices.Concat(c.Set, c.Dropped, c.Undecided)
	return c.secrets.sends || c.redeploys() || slices.ContainsFunc(differences, inRevision)
}

// kept returns the settings that the plan removes, and a deployment still has.
func (c *change) kept(live *client.Deployment) []field.Difference {
	return c.Compare(live.Tree).Dropped
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

// names lists where values differ, one attribute a line.
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

// attributeOf returns the attribute to which a message about a difference is attached.
func attributeOf(d field.Difference) path.Path {
	if d.Undescribed() {
		return path.Root(additionalField.Name)
	}
	return d.At
}
