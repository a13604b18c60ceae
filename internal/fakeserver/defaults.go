package fakeserver

import (
	"encoding/json"
	"fmt"
	"math/big"
	"strings"
)

// DefaultDefaults returns what a service is likely to fill in, as a new map:
// sizes of the API server and the database, and omitted members of containers
// and mounts.
func DefaultDefaults() map[string]any {
	defaults := map[string]any{"source_config.build_on_push": false}
	for name, value := range map[string]any{
		"min_scale": 1, "max_scale": 10, "cpu": 1, "memory_mb": 2048,
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

// completeDerived fills in what depends on other values, unless Options.Defaults
// are given: limits are twice the request, the queue has the sizes of the API
// server, and a deployment from a repository has a URL.
func (s *Server) completeDerived(d map[string]any) {
	if !s.derives {
		return
	}
	config := member(d, "source_config")
	if d["source"] == "codehost" && config["custom_url"] == nil {
		config["custom_url"] = fmt.Sprintf("https://%s.apps.example", d["name"])
	}
	spec := member(config, "resource_spec")
	for _, group := range []string{"", "queue_", "orchestrator_", "executor_", "redis_", "db_"} {
		completeTwice(spec, group+"cpu", group+"cpu_limit")
		completeTwice(spec, group+"memory_mb", group+"memory_limit_mb")
	}
	for _, name := range []string{"min_scale", "max_scale", "cpu", "cpu_limit", "memory_mb", "memory_limit_mb"} {
		if spec["queue_"+name] == nil {
			spec["queue_"+name] = spec[name]
		}
	}
}

// completeTwice sets a limit that is absent or null to twice the request.
func completeTwice(spec map[string]any, request, limit string) {
	n, ok := spec[request].(json.Number)
	if !ok || spec[limit] != nil {
		return
	}
	if value, ok := new(big.Rat).SetString(n.String()); ok {
		spec[limit] = decimal(value.Add(value, value))
	}
}

// decimal returns a number with at most one decimal, rounded half up.
func decimal(value *big.Rat) json.Number {
	return json.Number(strings.TrimSuffix(value.FloatString(1), ".0"))
}

// roundCPU rounds the CPU fields of a request to one decimal.
func roundCPU(of *shape, request any) {
	visit(of, request, func(s *shape, object map[string]any) {
		for _, f := range s.fields {
			n, isNumber := object[f.name].(json.Number)
			if f.shape.most == 0 || !isNumber {
				continue
			}
			if value, ok := new(big.Rat).SetString(n.String()); ok {
				object[f.name] = decimal(value)
			}
		}
	})
}

// A defaultValue is what a member has when a request does not set it.
type defaultValue struct {
	path  []string // a name that ends in "[]" means every item of that array
	value any
}

// newDefaults collects Options.Defaults and ServiceMembers.
func newDefaults(opts Options) []defaultValue {
	var defaults []defaultValue
	for _, members := range []map[string]any{opts.Defaults, opts.ServiceMembers} {
		for _, path := range sortedKeys(members) {
			parts := strings.Split(path, ".")
			for i, part := range parts {
				name, isArray := strings.CutSuffix(part, "[]")
				isLast := i == len(parts)-1
				if name == "" || isArray && isLast {
					panic(fmt.Sprintf("fakeserver: malformed path %q in Options.Defaults or Options.ServiceMembers", path))
				}
			}
			defaults = append(defaults, defaultValue{parts, tree(members[path])})
		}
	}
	return defaults
}

// complete sets the default below object, where path begins, if the member is
// absent or null. Objects on the way are created, except for a default in items of
// arrays: one for configMap must not turn every volume into one.
func (v defaultValue) complete(object map[string]any, path []string) {
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
				v.complete(next, path[1:])
			}
		}
	case value == nil:
		if !strings.Contains(strings.Join(v.path, "."), "[]") {
			next := map[string]any{}
			object[name] = next
			v.complete(next, path[1:])
		}
	default:
		if next, ok := value.(map[string]any); ok {
			v.complete(next, path[1:])
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
	v.complete(result, v.path[depth:])
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
