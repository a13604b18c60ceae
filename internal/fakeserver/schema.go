package fakeserver

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"
)

// This file is the fake's own statement of sections 2.1 to 2.5 of the
// interface: which members each object has, of which kind, and where null may
// stand. Requests are checked against it, answers are dressed along it.

// A shape says what a JSON value has to look like.
type shape struct {
	kind   string
	enum   []string // of a text: the values it may have
	item   *shape   // of a list
	fields []field  // of a record
}

// A field is a member of a record.
type field struct {
	name  string
	shape *shape
	rules rule
}

// A rule says where a field may or must stand.
type rule int

const (
	sent     rule = 1 << iota // required in a request
	answered                  // required in an answer
	readOnly                  // in answers only
	nullable                  // may be null

	both = sent | answered
)

var (
	text    = &shape{kind: "string"}
	id      = &shape{kind: "UUID"}
	instant = &shape{kind: "date-time"}
	whole   = &shape{kind: "whole number"} // 2048 and 2048.0 alike
	number  = &shape{kind: "number"}
	boolean = &shape{kind: "boolean"}
	free    = &shape{kind: "object"} // with any members
)

func oneOf(values ...string) *shape { return &shape{kind: text.kind, enum: values} }

func listOf(item *shape) *shape { return &shape{kind: "array", item: item} }

func record(groups ...[]field) *shape {
	return &shape{kind: "object", fields: slices.Concat(groups...)}
}

// each declares members of one shape under the same rules.
func each(r rule, s *shape, names ...string) []field {
	fields := make([]field, len(names))
	for i, name := range names {
		fields[i] = field{name, s, r}
	}
	return fields
}

// Section 2.1.
var deploymentShape = record(
	each(both, text, "name"),
	each(both, oneOf("codehost", "external_docker", "internal_docker", "internal_source", "internal_template"), "source"),
	each(both, sourceConfigShape, "source_config"),
	each(both, sourceRevisionConfigShape, "source_revision_config"),
	each(both, listOf(secretShape), "secrets"),
	each(nullable, listOf(secretReferenceShape), "secret_references"),
	each(readOnly|answered, id, "id", "tenant_id"),
	each(readOnly|answered, instant, "created_at", "updated_at"),
	each(readOnly|answered, oneOf("AWAITING_DATABASE", "READY", "UNUSED", "AWAITING_DELETE", "UNKNOWN"), "status"),
	each(readOnly|answered|nullable, id, "latest_revision_id", "active_revision_id"),
	each(readOnly|nullable, text, "image_version"),
)

// patchShape is the body of a PATCH: a deployment, of which only the
// configurations and secrets can be changed.
var patchShape = func() *shape {
	fields := slices.Clone(deploymentShape.fields)
	for i, f := range fields {
		switch f.name {
		case "source_config", "source_revision_config", "secrets", "secret_references":
			fields[i].rules &= nullable
		default:
			fields[i].rules = readOnly
		}
	}
	return record(fields)
}()

// Section 2.2.
var sourceConfigShape = record(
	each(nullable, id, "integration_id", "listener_id"),
	each(nullable, text, "repo_url", "custom_url", "install_command", "build_command"),
	each(nullable, boolean, "build_on_push"),
	each(nullable, resourceSpecShape, "resource_spec"),
	each(nullable, record(each(nullable, text, "k8s_namespace")), "listener_config"),
)

// Section 2.3.
var sourceRevisionConfigShape = record(
	each(nullable, text, "repo_ref", "graph_config_path", "image_uri", "source_tarball_path"),
	each(nullable|readOnly, text, "repo_commit_sha"),
)

// Section 2.4. Only CPU fields take fractions.
var resourceSpecShape = record(
	each(nullable, number, "cpu", "cpu_limit", "queue_cpu", "queue_cpu_limit", "orchestrator_cpu", "orchestrator_cpu_limit",
		"executor_cpu", "executor_cpu_limit", "redis_cpu", "redis_cpu_limit", "db_cpu", "db_cpu_limit"),
	each(nullable, whole, "min_scale", "max_scale", "memory_mb", "memory_limit_mb"),
	each(nullable, whole, "queue_min_scale", "queue_max_scale", "queue_memory_mb", "queue_memory_limit_mb"),
	each(nullable, whole, "orchestrator_memory_mb", "orchestrator_memory_limit_mb", "orchestrator_min_scale", "orchestrator_max_scale"),
	each(nullable, whole, "executor_memory_mb", "executor_memory_limit_mb"),
	each(nullable, whole, "redis_memory_mb", "redis_memory_limit_mb"),
	each(nullable, whole, "db_memory_mb", "db_memory_limit_mb", "db_storage_gi", "db_max_connections"),
	each(nullable, free, "labels", "annotations"),
	each(nullable, text, "service_account_name"),
	each(nullable, listOf(record(each(nullable, text, "name"))), "image_pull_secrets"),
	each(nullable, listOf(volumeShape), "volumes"),
	each(nullable, listOf(volumeMountShape), "volume_mounts"),
	each(nullable, listOf(containerShape), "init_containers", "sidecars"),
)

var volumeShape = record(
	each(nullable, text, "name"),
	each(nullable, free, "configMap", "secret", "emptyDir", "persistentVolumeClaim", "nfs", "projected", "downwardAPI", "csi"),
)

var volumeMountShape = record(
	each(nullable, text, "name", "mountPath", "subPath", "mountPropagation", "subPathExpr"),
	each(nullable, boolean, "readOnly"),
)

var containerShape = record(
	each(nullable, text, "name", "image", "imagePullPolicy", "workingDir", "restartPolicy"),
	each(nullable, listOf(text), "command", "args"),
	each(nullable, listOf(record(
		each(nullable, text, "name", "value"),
		each(nullable, free, "valueFrom"),
	)), "env"),
	each(nullable, listOf(free), "envFrom"),
	each(nullable, record(each(nullable, free, "limits", "requests")), "resources"),
	each(nullable, listOf(volumeMountShape), "volumeMounts"),
	each(nullable, free, "securityContext"),
)

// Section 2.5. Which fields are required is not shown, so none is.
var (
	secretShape          = record(each(0, text, "name", "value"))
	secretReferenceShape = record(each(0, text, "name", "secret_name", "secret_key"))
)

func (s *shape) field(name string) (field, bool) {
	for _, f := range s.fields {
		if f.name == name {
			return f, true
		}
	}
	return field{}, false
}

// A problem is one entry of the detail of a 422 answer.
type problem struct {
	Loc  []any  `json:"loc"`
	Msg  string `json:"msg"`
	Type string `json:"type"`
}

// unknownField is the type of a problem with a member that the interface does
// not document.
const unknownField = "extra_forbidden"

// direction tells check on which way a value is.
type direction int

const (
	request direction = iota
	response
)

// check reports everything in value that is not of shape s. Messages never
// repeat the value: it may be a secret.
func check(s *shape, value any, way direction, loc ...any) []problem {
	loc = slices.Clip(loc)
	wrong := func(kind string) []problem {
		return []problem{{loc, "should be a valid " + s.kind, kind + "_type"}}
	}
	switch s.kind {
	case "array":
		items, ok := value.([]any)
		if !ok {
			return wrong("list")
		}
		var found []problem
		for i, item := range items {
			found = append(found, check(s.item, item, way, append(loc, i)...)...)
		}
		return found
	case "object":
		object, ok := value.(map[string]any)
		if !ok {
			return wrong("dict")
		}
		if s.fields == nil {
			return nil
		}
		return checkRecord(s, object, way, loc)
	case "boolean":
		if _, ok := value.(bool); !ok {
			return wrong("bool")
		}
		return nil
	case "number", "whole number":
		n, ok := value.(json.Number)
		if !ok {
			return wrong("float")
		}
		f, err := n.Float64()
		if err != nil {
			return []problem{{loc, "is out of range", "finite_number"}}
		}
		if s == whole && f != math.Trunc(f) {
			return []problem{{loc, "should be a whole number, got one with a fraction", "int_from_float"}}
		}
		return nil
	}

	str, ok := value.(string)
	if !ok {
		return wrong("string")
	}
	switch {
	case s.enum != nil && !slices.Contains(s.enum, str):
		return []problem{{loc, "should be one of " + strings.Join(s.enum, ", "), "enum"}}
	case s == id && !isUUID(str):
		return []problem{{loc, "should be a valid UUID", "uuid_parsing"}}
	case s == instant:
		if _, err := time.Parse(time.RFC3339, str); err != nil {
			return []problem{{loc, "should be a valid date-time (RFC 3339)", "datetime_parsing"}}
		}
	}
	return nil
}

func checkRecord(s *shape, object map[string]any, way direction, loc []any) []problem {
	var found []problem
	required := sent
	if way == response {
		required = answered
	}
	for _, f := range s.fields {
		at := append(loc, f.name) //nolint:gocritic // check has clipped loc
		value, present := object[f.name]
		switch {
		case !present:
			if f.rules&required != 0 {
				found = append(found, problem{at, "is required", "missing"})
			}
		case way == request && f.rules&readOnly != 0:
			found = append(found, problem{at, "is read-only", "read_only"})
		case value == nil && f.rules&nullable != 0:
		case value == nil:
			found = append(found, problem{at, "should be a valid " + f.shape.kind + ", not null", "null_forbidden"})
		default:
			found = append(found, check(f.shape, value, way, at...)...)
		}
	}
	for _, name := range sortedKeys(object) {
		if _, known := s.field(name); !known {
			found = append(found, problem{append(loc, name), "is not a known field", unknownField})
		}
	}
	return found
}

// isUUID accepts the usual form only; uuid.Parse alone takes four.
func isUUID(s string) bool {
	_, err := uuid.Parse(s)
	return err == nil && len(s) == 36
}

// visit calls do for every record in value, the innermost first.
func visit(s *shape, value any, do func(s *shape, object map[string]any)) {
	switch v := value.(type) {
	case []any:
		if s.item != nil {
			for _, item := range v {
				visit(s.item, item, do)
			}
		}
	case map[string]any:
		if s.fields == nil {
			return
		}
		for _, f := range s.fields {
			visit(f.shape, v[f.name], do)
		}
		do(s, v)
	}
}

// lowerUUIDs writes UUIDs the way that the service keeps them.
func lowerUUIDs(s *shape, value any) {
	visit(s, value, func(s *shape, object map[string]any) {
		for _, f := range s.fields {
			if str, ok := object[f.name].(string); ok && f.shape == id {
				object[f.name] = strings.ToLower(str)
			}
		}
	})
}

// merge puts the members of from into into. Records are merged member by
// member; everything else, arrays and free-form objects too, is replaced.
func merge(s *shape, into, from map[string]any) {
	for name, value := range from {
		if f, known := s.field(name); known && f.shape.fields != nil {
			has, okHas := into[name].(map[string]any)
			more, okMore := value.(map[string]any)
			if okHas && okMore {
				merge(f.shape, has, more)
				continue
			}
		}
		into[name] = clone(value)
	}
}

// clone copies a JSON tree.
func clone(value any) any {
	switch v := value.(type) {
	case map[string]any:
		return cloneObject(v)
	case []any:
		items := make([]any, len(v))
		for i, item := range v {
			items[i] = clone(item)
		}
		return items
	}
	return value
}

func cloneObject(object map[string]any) map[string]any {
	out := make(map[string]any, len(object))
	for name, value := range object {
		out[name] = clone(value)
	}
	return out
}

// tree turns any Go value of JSON kinds into the form of decoded requests:
// map[string]any, []any, json.Number, string, bool and nil. It panics on
// values that JSON cannot express, as only tests pass values here.
func tree(value any) any {
	encoded, err := json.Marshal(value)
	if err != nil {
		panic(fmt.Sprintf("fakeserver: %v", err))
	}
	decoded, err := decodeJSON(encoded)
	if err != nil {
		panic(fmt.Sprintf("fakeserver: %v", err))
	}
	return decoded
}
