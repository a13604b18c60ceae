package fakeserver

import (
	"fmt"
	"strings"
)

// DefaultDefaults returns what a service is likely to fill in, as a new map:
// sizes of the API server, the queue and the database, and omitted members of
// containers and mounts.
func DefaultDefaults() map[string]any {
	defaults := map[string]any{"source_config.build_on_push": false}
	for name, value := range map[string]any{
		"min_scale": 1, "max_scale": 10,
		"cpu": 1, "cpu_limit": 2,
		"memory_mb": 2048, "memory_limit_mb": 4096,
		"queue_min_scale": 1, "queue_max_scale": 10,
		"queue_cpu": 0.5, "queue_cpu_limit": 1,
		"queue_memory_mb": 1024, "queue_memory_limit_mb": 2048,
		"db_storage_gi":            10,
		"volume_mounts[].readOnly": false,
	} {
		defaults["source_config.resource_spec."+name] = value
	}
	for _, containers := range []string{"init_containers", "sidecars"} {
		at := "source_config.resource_spec." + containers + "[]."
		defaults[at+"imagePullPolicy"] = "IfNotPresent"
		defaults[at+"restartPolicy"] = "Always"
		defaults[at+"volumeMounts[].readOnly"] = false
	}
	return defaults
}

// A defaultValue is what a member has when a request does not set it.
type defaultValue struct {
	path  []string // a name that ends in "[]" means every item of that array
	value any
}

// newDefaults collects Options.Defaults, ServiceMembers and ExtraLabels.
func newDefaults(opts Options) []defaultValue {
	var defaults []defaultValue
	for _, members := range []map[string]any{opts.Defaults, opts.ServiceMembers} {
		for _, path := range sortedKeys(members) {
			parts := strings.Split(path, ".")
			for i, part := range parts {
				if strings.TrimSuffix(part, "[]") == "" || i == len(parts)-1 && strings.HasSuffix(part, "[]") {
					panic(fmt.Sprintf("fakeserver: malformed path %q in Options.Defaults or Options.ServiceMembers", path))
				}
			}
			defaults = append(defaults, defaultValue{parts, tree(members[path])})
		}
	}
	for _, name := range sortedKeys(opts.ExtraLabels) { // not split: names of labels have dots
		path := []string{"source_config", "resource_spec", "labels", name}
		defaults = append(defaults, defaultValue{path, opts.ExtraLabels[name]})
	}
	return defaults
}

// complete sets the default below object, where path begins, if the member is
// absent or null. Objects on the way are created, except in items of arrays: a
// default for configMap must not turn every volume into one.
func (v defaultValue) complete(object map[string]any, path []string, inItem bool) {
	name, isArray := strings.CutSuffix(path[0], "[]")
	value := object[name]
	switch {
	case len(path) == 1:
		if value == nil {
			object[name] = clone(v.value)
		}
	case isArray:
		items, _ := value.([]any)
		for _, item := range items {
			if next, ok := item.(map[string]any); ok {
				v.complete(next, path[1:], true)
			}
		}
	case value == nil:
		if !inItem && !strings.Contains(strings.Join(path, "."), "[]") {
			next := map[string]any{}
			object[name] = next
			v.complete(next, path[1:], inItem)
		}
	default:
		if next, ok := value.(map[string]any); ok {
			v.complete(next, path[1:], inItem)
		}
	}
}

// completeSent sets the default after a PATCH of kind, within what was sent
// only: members sent as null, and objects and arrays that were added or
// replaced. result, sent and before are at depth in the path.
func (v defaultValue) completeSent(kind PatchKind, result, sent, before map[string]any, depth int) {
	name := v.path[depth]
	value, present := sent[strings.TrimSuffix(name, "[]")]
	if !present {
		return
	}
	changes, isObject := value.(map[string]any)
	stored, had := before[name].(map[string]any)
	// PatchMergeSpec sets members of resource_spec one by one even where there was none.
	if isObject && kind.merges(v.path[:depth+1]) && (had || kind != PatchMergeDeep) {
		if next, ok := result[name].(map[string]any); ok && depth+1 < len(v.path) {
			v.completeSent(kind, next, changes, stored, depth+1)
		}
		return
	}
	v.complete(result, v.path[depth:], false)
}

// member returns an object in an object, which it creates if there is none.
func member(object map[string]any, name string) map[string]any {
	inner, ok := object[name].(map[string]any)
	if !ok {
		inner = map[string]any{}
		object[name] = inner
	}
	return inner
}
