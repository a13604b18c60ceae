package fakeserver

// This file is which members a source requires, supports, and does not let
// change. Other members of another source are stored without effect.

// fixed are the members of source_config that cannot be changed after the
// create, by source.
var fixed = map[any][][]string{
	"codehost":        {{"integration_id"}, {"repo_url"}},
	"external_docker": {{"listener_id"}, {"listener_config", "k8s_namespace"}},
}

// checkFixed reports members that a PATCH changes and that cannot be changed.
func checkFixed(before, after, patch map[string]any) (found []problem) {
	config, _ := patch["source_config"].(map[string]any)
	for _, path := range fixed[before["source"]] {
		_, given := config[path[0]]
		if !given || valueAt(before["source_config"], path) == valueAt(after["source_config"], path) {
			continue
		}
		loc := []any{"body", "source_config"}
		for _, name := range path {
			loc = append(loc, name)
		}
		found = append(found, problem{loc, "cannot be changed after the deployment was created", knownRule})
	}
	return found
}

// valueAt returns the value at a path, or nil.
func valueAt(object any, path []string) any {
	for _, name := range path {
		inner, _ := object.(map[string]any)
		object = inner[name]
	}
	return object
}

// checkReferences checks the note of section 2.1 on secret_references.
func checkReferences(source, references any) []problem {
	if source == "external_docker" || references == nil || isEmpty(references) {
		return nil
	}
	return []problem{{[]any{"body", "secret_references"}, "applies to source external_docker only", "value_error"}}
}

// checkSource reports members of a request that its source does not support, and
// those that it requires. before is nil for a create.
func checkSource(source any, request, before map[string]any) (found []problem) {
	found = checkReferences(source, request["secret_references"])
	url := valueAt(request, []string{"source_config", "custom_url"})
	if url != nil && url != valueAt(before, []string{"source_config", "custom_url"}) && source != "external_docker" {
		loc := []any{"body", "source_config", "custom_url"}
		found = append(found, problem{loc, "can be set for source external_docker only", knownRule})
	}
	config, _ := request["source_revision_config"].(map[string]any)
	path, given := config["graph_config_path"]
	loc := []any{"body", "source_revision_config", "graph_config_path"}
	needed := source == "codehost" || source == "internal_source"
	if needed && path == nil && (given || before == nil) {
		found = append(found, problem{loc, "is required for this source", knownRule})
	}
	if !needed && path != nil {
		found = append(found, problem{loc, "must be null for this source", knownRule})
	}
	return found
}
