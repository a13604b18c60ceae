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

// neededInItems are the attributes that every item of a list needs: one of each group.
var neededInItems = map[string][][]string{
	"volumes":         {{"name"}, volumeKinds()},
	"volume_mounts":   {{"name"}, {"mount_path"}},
	"init_containers": {{"name"}, {"image"}},
	"sidecars":        {{"name"}, {"image"}},
	"env":             {{"name"}, {"value", "value_from"}},
}

func volumeKinds() (names []string) {
	for _, f := range volumeFields {
		if f.Exclusive {
			names = append(names, f.Name)
		}
	}
	return names
}

// warnOfMisspelled warns about what is left of a misspelled name, because Terraform silently ignores unknown names in
// nested objects: settings that every such deployment, object or list item needs. What the plan has is there, whoever
// set it: after an import, the configuration may omit it.
func (r *deploymentResource) warnOfMisspelled(diags *diag.Diagnostics, plan, config attributes) {
	var found spelling
	for _, needed := range []struct{ source, object, name string }{
		{client.SourceExternalDocker, "source_revision_config", "image_uri"},
		{client.SourceCodehost, "source_config", "repo_url"},
	} {
		planned := attributesOf(plan[needed.object]).text(needed.name)
		if object := config[needed.object]; plan.text("source") == needed.source && planned == "" && object.IsKnown() &&
			isMissing(attributesOf(object)[needed.name], rejectEmpty) {
			found.add(path.Root(needed.object).AtName(needed.name), fmt.Sprintf("is not set, but source is %q", needed.source))
		}
	}
	for _, f := range deploymentFields {
		found.check(path.Root(f.Name), f, config[f.Name], plan[f.Name])
	}
	if len(found) > 0 {
		r.report(diags).warnf(path.Empty(), "Names may be misspelled",
			"Deployment %q lacks settings, or has conflicting ones. Check the spelling: Terraform silently ignores unknown "+
				"names in nested objects.%s", plan.text("name"), []string(found))
	}
}

// spelling lists what may be left of misspelled names.
type spelling []string

func (s *spelling) add(at path.Path, problem string) { *s = append(*s, at.String()+" "+problem) }

// check checks the value of an attribute.
func (s *spelling) check(at path.Path, f field.Field, value, planned tftypes.Value) {
	if value.Type() == nil || !value.IsKnown() || value.IsNull() {
		return
	}
	switch list := f.Kind.(type) {
	case field.Object:
		s.checkObject(at, f, attributesOf(value), attributesOf(planned))
	case field.ObjectList:
		items, plannedItems := field.Items(value), field.Items(planned)
		for i, item := range items {
			var there attributes
			if len(plannedItems) == len(items) {
				there = attributesOf(plannedItems[i])
			}
			s.checkItem(at.AtListIndex(i), f, attributesOf(item), there)
			for _, child := range f.Fields() {
				s.check(at.AtListIndex(i).AtName(child.Name), child, attributesOf(item)[child.Name], there[child.Name])
			}
		}
		s.checkKeys(at, list, items)
	}
}

// checkObject checks an object: one within another has something in it.
func (s *spelling) checkObject(at path.Path, f field.Field, members, planned attributes) {
	isSet := func(child field.Field) bool {
		return !isMissing(members[child.Name], acceptEmpty) || !isMissing(planned[child.Name], acceptEmpty)
	}
	if len(at.Steps()) > 1 && !slices.ContainsFunc(f.Fields(), isSet) {
		s.add(at, "has nothing in it")
		return
	}
	for _, child := range f.Fields() {
		s.check(at.AtName(child.Name), child, members[child.Name], planned[child.Name])
	}
}

// checkItem checks that an item of a list has what it needs, and a volume only one kind.
func (s *spelling) checkItem(at path.Path, list field.Field, item, planned attributes) {
	empty := rejectEmpty
	if list.Name == "env" {
		empty = acceptEmpty
	}
	isSet := func(name string) bool { return !isMissing(item[name], empty) || !isMissing(planned[name], empty) }
	for _, group := range neededInItems[list.Name] {
		if slices.ContainsFunc(group, isSet) {
			continue
		}
		what := strings.Join(group, " or ")
		if slices.Equal(group, volumeKinds()) {
			what = "kind of volume"
		}
		s.add(at, "has no "+what)
	}
	if list.Name != "volumes" {
		return
	}
	var kinds []string
	for _, name := range volumeKinds() {
		if item[name].IsKnown() && !isMissing(item[name], acceptEmpty) {
			kinds = append(kinds, name)
		}
	}
	if len(kinds) > 1 {
		s.add(at, "has several kinds of volume: "+strings.Join(kinds, ", "))
	}
}

// checkKeys checks that no two items of a list have the same key.
func (s *spelling) checkKeys(at path.Path, list field.ObjectList, items []tftypes.Value) {
	first := map[string]int{}
	for i, item := range items {
		var key []string
		for _, name := range list.Key {
			if part := attributesOf(item).text(name); part != "" {
				key = append(key, fmt.Sprintf("%s %q", name, part))
			}
		}
		if len(key) < len(list.Key) || len(key) == 0 {
			continue // it is reported already, or known only after apply
		}
		text := strings.Join(key, " and ")
		if other, taken := first[text]; taken {
			s.add(at.AtListIndex(i), fmt.Sprintf("has the same %s as item %d", text, other))
			continue
		}
		first[text] = i
	}
}

// Whether "" counts as set.
const (
	acceptEmpty = true
	rejectEmpty = false
)

// isMissing reports whether a value is not set. What is known only after apply is set.
func isMissing(value tftypes.Value, emptyIsSet bool) bool {
	if value.Type() == nil || value.IsNull() {
		return true
	}
	return !emptyIsSet && value.IsKnown() && value.Type().Is(tftypes.String) && field.Text(value) == ""
}
