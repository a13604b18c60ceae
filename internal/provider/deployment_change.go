package provider

import (
	"context"
	"fmt"
	"maps"
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

// additional is additional_properties; nil if it is null or unknown.
func (a attributes) additional() map[string]any {
	tree, _ := field.ReadJSON([]byte(a.text(additionalField.Name)))
	object, _ := tree.(map[string]any)
	return object
}

// liveTree is a deployment as the state shows it: what only the service sets is fit for a terminal, and
// additional_properties is compared with the complete response.
func liveTree(d *client.Deployment, additional bool) map[string]any {
	live := sanitizeChosen(deploymentFields, d.Tree)
	if additional {
		live[additionalField.Name] = d.Tree
	}
	return live
}

// maxChosen bounds a string that the service chooses, in characters.
const maxChosen = 2000

// sanitizeChosen is an object whose strings that the service chooses are fit for a terminal, and bounded. Line breaks
// stay in one that the configuration may set as well: it must be the same in both.
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
			case field.Computed:
				shown[f.Name] = client.SanitizeLines(value)
			}
		case map[string]any:
			if f.Kind == field.Object {
				shown[f.Name] = sanitizeChosen(f.Fields, value)
			}
		}
	}
	return shown
}

// newRequest is the body of a create, but for secrets, and what it asks for.
func newRequest(config tftypes.Value) (request, want client.Tree, err error) {
	configured, err := deploymentFields.Encode(config)
	if err != nil {
		return nil, nil, err
	}
	additional := attributesOf(config).additional()
	return field.MergeDeep(deploymentFields.Request(configured), additional), field.MergeDeep(configured, additional), nil
}

// read returns a deployment in the state as the service has it: as this process has read it already, if it has not been
// planned with since, or read again.
func (r *deploymentResource) read(ctx context.Context, id string) (*client.Deployment, error) {
	if d := r.state.take(id); d != nil {
		return d, nil
	}
	return r.client.Deployment(ctx, id)
}
