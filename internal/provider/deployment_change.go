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

// change is what an update has to change in the service: what the plan changes and the service does not have yet. It is
// computed twice, by the same rules: at plan, to say what will happen, and at apply, from what the service has then.
type change struct {
	config, plan, state tftypes.Value
	record              field.Record
	source              string

	keys    map[key]bool // what the plan changes
	unknown map[key]bool // keys of which something is known only after apply

	// Set by compare.
	want, applied map[string]any // trees of what the configuration sets, and of what the last apply set
	refTaken      bool           // whether a ref counts as applied, see field.Fields.TakeRefs
	set, dropped  []field.Difference
	compared      map[string]any
}

// key is a part of a deployment that is changed as a whole: a member of one of the config objects, or of the deployment itself.
type key struct{ object, name string }

// newChange collects what the plan changes.
func newChange(config, plan, state tftypes.Value, record field.Record) *change {
	c := &change{config: config, plan: plan, state: state, record: record, source: attributesOf(state).text("source"),
		keys: map[key]bool{}, unknown: map[key]bool{}}
	planned, held, configured := attributesOf(plan), attributesOf(state), attributesOf(config)
	for _, f := range changeableFields {
		if f.Access == field.ReadOnly || planned[f.Name].Equal(held[f.Name]) {
			continue
		}
		if f.Kind != field.Object {
			c.note(key{f.Name, ""}, configured[f.Name])
			continue
		}
		inner, before, set := attributesOf(planned[f.Name]), attributesOf(held[f.Name]), attributesOf(configured[f.Name])
		for _, child := range f.Fields {
			if child.Access != field.ReadOnly && !inner[child.Name].Equal(before[child.Name]) {
				c.note(key{f.Name, child.Name}, set[child.Name])
			}
		}
		if !configured[f.Name].IsKnown() {
			c.unknown[key{f.Name, ""}] = true
		}
	}
	if name := additionalField.Name; !planned[name].Equal(held[name]) {
		for _, tree := range []map[string]any{planned.additional(), held.additional()} {
			for object, value := range tree {
				members, ok := value.(map[string]any)
				if !ok || !isConfigObject(object) {
					c.keys[key{object, ""}] = true
					continue
				}
				for member := range members {
					c.keys[key{object, member}] = true
				}
			}
		}
		if !planned[name].IsKnown() {
			c.unknown[key{name, ""}] = true
		}
	}
	return c
}

func (c *change) note(k key, configured tftypes.Value) {
	c.keys[k] = true
	if !configured.IsFullyKnown() {
		c.unknown[k] = true
	}
}

func isConfigObject(name string) bool {
	return name == "source_config" || name == "source_revision_config"
}

// compare compares with what the service has.
func (c *change) compare(live *client.Deployment) {
	c.want = field.MergeDeep(changeableFields.Wanted(c.config, c.plan), attributesOf(c.plan).additional())
	c.applied = field.MergeDeep(changeableFields.Applied(c.state, c.record), attributesOf(c.state).additional())
	c.refTaken = changeableFields.TakeRefs(c.applied, c.want, c.state)
	compare := changeableFields.Compare
	if c.record == nil {
		compare = changeableFields.CompareImported
	}
	compared := compare(live.Tree, c.want, c.applied, c.source)
	c.compared = compared.Merged
	c.set, c.dropped = c.ofPlan(compared.Set), c.ofPlan(compared.Dropped)
}

// ofPlan are the differences in what the plan changes: what drifted meanwhile is for the next plan.
func (c *change) ofPlan(all []field.Difference) (found []field.Difference) {
	for _, d := range all {
		object, name := d.Key()
		if c.keys[key{object, name}] || c.keys[key{object, ""}] {
			found = append(found, d)
		}
	}
	return found
}

// body is what a PATCH sends: each key that changes, with its complete value.
func (c *change) body() client.Tree {
	return c.bodyOf(c.compared, slices.Concat(c.set, c.dropped))
}

func (c *change) bodyOf(tree map[string]any, differences []field.Difference) client.Tree {
	body := client.Tree{}
	for _, d := range differences {
		object, name := d.Key()
		if name == "" {
			body[object] = tree[object]
			continue
		}
		config, ok := body[object].(map[string]any)
		if !ok {
			config = map[string]any{}
			body[object] = config
		}
		from, _ := tree[object].(map[string]any)
		config[name] = from[name]
	}
	return body
}

// makesRevision reports whether a change makes a new revision: one of source_revision_config and secret_references does (section
// 2.1), and one of resource_spec where services are as they are known.
func (c *change) makesRevision(body client.Tree) bool {
	config, _ := body["source_config"].(map[string]any)
	_, spec := config["resource_spec"]
	_, revisionConfig := body["source_revision_config"]
	_, references := body["secret_references"]
	if spec || revisionConfig || references {
		return true
	}
	for k := range c.unknown {
		if k.object != "source_config" || k.name == "resource_spec" || k.name == "" {
			return true
		}
	}
	return false
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

// liveTree is a deployment as the state shows it: what only the service sets is fit for a terminal, and additional_properties
// is compared with the complete response.
func liveTree(d *client.Deployment, additional bool) map[string]any {
	live := sanitizeReadOnly(deploymentFields, d.Tree)
	if additional {
		live[additionalField.Name] = d.Tree
	}
	return live
}

func sanitizeReadOnly(fs field.Fields, live map[string]any) map[string]any {
	shown := maps.Clone(live)
	for _, f := range fs {
		switch value := live[f.Name].(type) {
		case string:
			if f.Access == field.ReadOnly {
				shown[f.Name] = client.Sanitize(value)
			}
		case map[string]any:
			if f.Kind == field.Object {
				shown[f.Name] = sanitizeReadOnly(f.Fields, value)
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
	return field.MergeDeep(deploymentFields.Compare(nil, configured, nil, "").Merged, additional), field.MergeDeep(configured, additional), nil
}

// read is what the service has of a deployment in the state: what this process has read and not planned with yet, or a new
// read.
func (r *deploymentResource) read(ctx context.Context, id string) (*client.Deployment, error) {
	if d := r.state.take(id); d != nil {
		return d, nil
	}
	return r.client.Deployment(ctx, id)
}
