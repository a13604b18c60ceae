package fakeserver

import (
	"fmt"
	"strings"
)

// DefaultDefaults returns what a service is likely to fill in, as a new map:
// sizes of the API server, the queue and the database, and what containers and
// mounts leave open.
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

// A fill is a default: a value and the path to it.
type fill struct {
	path  []string
	value any
}

func parseDefaults(defaults map[string]any) []fill {
	var fills []fill
	for _, path := range sortedKeys(defaults) {
		parts := strings.Split(path, ".")
		for i, part := range parts {
			if strings.TrimSuffix(part, "[]") == "" || i == len(parts)-1 && strings.HasSuffix(part, "[]") {
				panic(fmt.Sprintf("fakeserver: malformed path %q in Options.Defaults", path))
			}
		}
		fills = append(fills, fill{parts, tree(defaults[path])})
	}
	return fills
}

// fillDefaults fills the defaults into the body of a request. Unless complete,
// only what the request mentions is filled: items of its arrays, and fields that
// it sends as null.
func (s *Server) fillDefaults(body map[string]any, complete bool) {
	for _, f := range s.defaults {
		f.into(body, f.path, complete)
	}
}

func (f fill) into(object map[string]any, path []string, complete bool) {
	name, isArray := strings.CutSuffix(path[0], "[]")
	value, present := object[name]
	switch {
	case len(path) == 1:
		if value == nil && (present || complete) {
			object[name] = clone(f.value)
		}
	case isArray:
		items, _ := value.([]any)
		for _, item := range items {
			if next, ok := item.(map[string]any); ok {
				f.into(next, path[1:], true)
			}
		}
	case value == nil:
		// A default inside array items makes no object for the array.
		if complete && !strings.Contains(strings.Join(path, "."), "[]") {
			next := map[string]any{}
			object[name] = next
			f.into(next, path[1:], true)
		}
	default:
		if next, ok := value.(map[string]any); ok {
			f.into(next, path[1:], complete)
		}
	}
}

// addLabels adds ExtraLabels where no label of that name was sent.
func (s *Server) addLabels(d map[string]any) {
	if len(s.opts.ExtraLabels) == 0 {
		return
	}
	labels := member(member(member(d, "source_config"), "resource_spec"), "labels")
	for name, value := range s.opts.ExtraLabels {
		if _, sent := labels[name]; !sent {
			labels[name] = value
		}
	}
}

// member returns an object in an object, which it makes if there is none.
func member(object map[string]any, name string) map[string]any {
	inner, ok := object[name].(map[string]any)
	if !ok {
		inner = map[string]any{}
		object[name] = inner
	}
	return inner
}
