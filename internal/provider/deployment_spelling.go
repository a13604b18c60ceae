package provider

import (
	"fmt"
	"slices"
	"strings"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-go/tftypes"

	"github.com/graphdeploy/terraform-provider-graphdeploy/internal/client"
	"github.com/graphdeploy/terraform-provider-graphdeploy/internal/field"
)

// neededBySource are the settings that every deployment of a source needs.
var neededBySource = []struct{ source, object, name string }{
	{client.SourceExternalDocker, "source_revision_config", "image_uri"},
	{client.SourceCodehost, "source_config", "repo_url"},
}

// need is what every item of a list needs: one of some attributes.
type need struct {
	what  string
	oneOf []string
}

var neededInItems = map[string][]need{
	"volumes":         {{"name", []string{"name"}}, {"kind of volume", volumeKinds}},
	"volume_mounts":   {{"name", []string{"name"}}, {"mount_path", []string{"mount_path"}}},
	"init_containers": {{"name", []string{"name"}}, {"image", []string{"image"}}},
	"sidecars":        {{"name", []string{"name"}}, {"image", []string{"image"}}},
	"env":             {{"name", []string{"name"}}, {"value or value_from", []string{"value", "value_from"}}},
}

// volumeKinds are the attributes of a volume of which exactly one is set.
var volumeKinds = func() (names []string) {
	for _, f := range volumeFields {
		if f.Exclusive {
			names = append(names, f.Name)
		}
	}
	return names
}()

// warnOfMisspelled warns about what is left of a misspelled name, because Terraform silently ignores unknown names in
// nested objects: settings that every such deployment, object or list item needs. What the plan has is there, whoever
// set it: after an import, the configuration may omit it.
func (r *deploymentResource) warnOfMisspelled(diags *diag.Diagnostics, plan, config attributes) {
	var found spelling
	for _, needed := range neededBySource {
		object, planned := config[needed.object], attributesOf(plan[needed.object]).text(needed.name)
		missing := object.IsKnown() && !isFilled(attributesOf(object)[needed.name]) && planned == ""
		if missing && plan.text("source") == needed.source {
			found.add(path.Root(needed.object).AtName(needed.name), fmt.Sprintf("is not set, but source is %q", needed.source))
		}
	}
	found.check(written{path.Empty(), config, plan}, deploymentFields)
	if len(found) > 0 {
		r.report(diags).warnf(path.Empty(), "Names may be misspelled",
			"Deployment %q lacks settings, or has conflicting ones. Check the spelling: Terraform silently ignores unknown "+
				"names in nested objects.%s", plan.text("name"), []string(found))
	}
}

// written is an object as the configuration writes it, and as the plan has it.
type written struct {
	at           path.Path
	config, plan attributes
}

// has reports whether an attribute is set.
func (w written) has(name string) bool { return isSet(w.config[name]) || isSet(w.plan[name]) }

// fills reports whether an attribute is set, and not to "".
func (w written) fills(name string) bool { return isFilled(w.config[name]) || isFilled(w.plan[name]) }

// isSet reports whether a value is set. What is known only after apply is set.
func isSet(value tftypes.Value) bool { return value.Type() != nil && !value.IsNull() }

func isFilled(value tftypes.Value) bool {
	return isSet(value) && !value.Equal(tftypes.NewValue(tftypes.String, ""))
}

// spelling lists what may be left of misspelled names.
type spelling []string

func (s *spelling) add(at path.Path, problem string) { *s = append(*s, at.String()+" "+problem) }

// check checks what is set in an object: an object within another has something in it, and each item of a list what it
// needs.
func (s *spelling) check(object written, fields field.Fields) {
	for _, f := range fields {
		at, value, planned := object.at.AtName(f.Name), object.config[f.Name], object.plan[f.Name]
		if !isSet(value) || !value.IsKnown() {
			continue
		}
		switch kind := f.Kind.(type) {
		case field.Object:
			inner := written{at, attributesOf(value), attributesOf(planned)}
			isSet := func(member field.Field) bool { return inner.has(member.Name) }
			if nested := len(object.at.Steps()) > 0; nested && !slices.ContainsFunc(kind.Fields, isSet) {
				s.add(at, "has nothing in it")
			}
			s.check(inner, kind.Fields)
		case field.ObjectList:
			items, plannedItems := field.Items(value), field.Items(planned)
			for i, item := range items {
				inner := written{at: at.AtListIndex(i), config: attributesOf(item)}
				if len(plannedItems) == len(items) {
					inner.plan = attributesOf(plannedItems[i])
				}
				s.checkItem(f.Name, inner)
				s.check(inner, kind.Fields)
			}
			s.checkKeys(at, kind.Key, items)
		}
	}
}

// checkItem checks that an item of a list has what it needs, and a volume only one kind.
func (s *spelling) checkItem(list string, item written) {
	has := item.fills
	if list == "env" { // where "" is a value
		has = item.has
	}
	for _, need := range neededInItems[list] {
		if !slices.ContainsFunc(need.oneOf, has) {
			s.add(item.at, "has no "+need.what)
		}
	}
	if list != "volumes" {
		return
	}
	var kinds []string
	for _, name := range volumeKinds {
		if kind := item.config[name]; isSet(kind) && kind.IsKnown() {
			kinds = append(kinds, name)
		}
	}
	if len(kinds) > 1 {
		s.add(item.at, "has several kinds of volume: "+strings.Join(kinds, ", "))
	}
}

// checkKeys checks that no two items of a list have the same key.
func (s *spelling) checkKeys(list path.Path, key []string, items []tftypes.Value) {
	first := map[string]int{}
	for i, item := range items {
		var parts []string
		for _, name := range key {
			if part := attributesOf(item).text(name); part != "" {
				parts = append(parts, fmt.Sprintf("%s %q", name, part))
			}
		}
		if len(parts) < len(key) || len(parts) == 0 {
			continue // it is reported already, or known only after apply
		}
		text := strings.Join(parts, " and ")
		if other, taken := first[text]; taken {
			s.add(list.AtListIndex(i), fmt.Sprintf("has the same %s as item %d", text, other))
			continue
		}
		first[text] = i
	}
}
