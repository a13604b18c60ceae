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
// interface: which members each object has, of which kind, and which may be
// null. Requests are checked against it, and responses are rendered by it.

// A shape is what a valid JSON value looks like.
type shape struct {
	kind   string
	enum   []string // of a string: the valid values
	item   *shape   // of a list
	fields []field  // of a record
	most   float64  // of a CPU field in a request: the largest valid value
}

// A field is a member of a record.
type field struct {
	name  string
	shape *shape
	rules rule
}

// A rule is where a field may or must be.
type rule int

const (
	requiredInRequest rule = 1 << iota
	requiredInResponse
	readOnly        // in responses only
	nullable        // may be null
	requiredByKnown // in requests to known services

	required = requiredInRequest | requiredInResponse
)

var (
	stringShape   = &shape{kind: "string"}
	uuidShape     = &shape{kind: "UUID"}
	dateTimeShape = &shape{kind: "date-time"}
	integerShape  = &shape{kind: "integer"} // also in the form 2048.0
	cpuShape      = &shape{kind: "number", most: 8}
	cpuLimitShape = &shape{kind: "number", most: 16}
	booleanShape  = &shape{kind: "boolean"}
	freeFormShape = &shape{kind: "object"} // with any members
	stringsShape  = &shape{kind: "object"}
)

func oneOf(values ...string) *shape { return &shape{kind: stringShape.kind, enum: values} }

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

var (
	sources  = []string{"codehost", "external_docker", "internal_docker", "internal_source", "internal_template"}
	statuses = []string{"AWAITING_DATABASE", "READY", "UNUSED", "AWAITING_DELETE", "UNKNOWN"}
)

// Section 2.1.
var deploymentShape = record(
	each(required, stringShape, "name"),
	each(required, oneOf(sources...), "source"),
	each(required, sourceConfigShape, "source_config"),
	each(required, sourceRevisionConfigShape, "source_revision_config"),
	each(required, listOf(secretShape), "secrets"),
	each(nullable, listOf(secretReferenceShape), "secret_references"),
	each(readOnly|requiredInResponse, uuidShape, "id", "tenant_id"),
	each(readOnly|requiredInResponse, dateTimeShape, "created_at", "updated_at"),
	each(readOnly|requiredInResponse, oneOf(statuses...), "status"),
	each(readOnly|requiredInResponse|nullable, uuidShape, "latest_revision_id", "active_revision_id"),
	each(readOnly|nullable, stringShape, "image_version"),
)

// patchShape is the body of a PATCH: a deployment, of which only the
// configurations and secrets can be changed.
var patchShape = func() *shape {
	fields := slices.Clone(deploymentShape.fields)
	for i, f := range fields {
		switch f.name {
		case "source_config", "source_revision_config", "secrets", "secret_references":
			fields[i].rules = nullable // null means "not given"
		default:
			fields[i].rules = readOnly
		}
	}
	return record(fields)
}()

// Section 2.2.
var sourceConfigShape = record(
	each(nullable, uuidShape, "integration_id", "listener_id"),
	each(nullable, stringShape, "repo_url", "custom_url", "install_command", "build_command"),
	each(nullable, booleanShape, "build_on_push"),
	each(nullable, resourceSpecShape, "resource_spec"),
	each(nullable, record(each(nullable, stringShape, "k8s_namespace")), "listener_config"),
)

// Section 2.3.
var sourceRevisionConfigShape = record(
	each(nullable, stringShape, "repo_ref", "graph_config_path", "image_uri", "source_tarball_path"),
	each(nullable|readOnly, stringShape, "repo_commit_sha"),
)

// Section 2.4. Only CPU fields take fractions.
var resourceSpecShape = record(
	each(nullable, cpuShape, "cpu", "queue_cpu", "orchestrator_cpu", "executor_cpu", "redis_cpu", "db_cpu"),
	each(nullable, cpuLimitShape, "cpu_limit", "queue_cpu_limit", "orchestrator_cpu_limit", "executor_cpu_limit",
		"redis_cpu_limit", "db_cpu_limit"),
	each(nullable, integerShape, "min_scale", "max_scale", "memory_mb", "memory_limit_mb"),
	each(nullable, integerShape, "queue_min_scale", "queue_max_scale", "queue_memory_mb", "queue_memory_limit_mb"),
	each(nullable, integerShape, "orchestrator_memory_mb", "orchestrator_memory_limit_mb"),
	each(nullable, integerShape, "orchestrator_min_scale", "orchestrator_max_scale"),
	each(nullable, integerShape, "executor_memory_mb", "executor_memory_limit_mb"),
	each(nullable, integerShape, "redis_memory_mb", "redis_memory_limit_mb"),
	each(nullable, integerShape, "db_memory_mb", "db_memory_limit_mb", "db_storage_gi", "db_max_connections"),
	each(nullable, stringsShape, "labels", "annotations"),
	each(nullable, stringShape, "service_account_name"),
	each(nullable, listOf(record(each(nullable, stringShape, "name"))), "image_pull_secrets"),
	each(nullable, listOf(volumeShape), "volumes"),
	each(nullable, listOf(volumeMountShape), "volume_mounts"),
	each(nullable, listOf(containerShape), "init_containers", "sidecars"),
)

var volumeShape = record(
	each(nullable, stringShape, "name"),
	each(nullable, freeFormShape, "configMap", "secret", "emptyDir", "persistentVolumeClaim"),
	each(nullable, freeFormShape, "nfs", "projected", "downwardAPI", "csi"),
)

var volumeMountShape = record(
	each(nullable, stringShape, "name", "mountPath", "subPath", "mountPropagation", "subPathExpr"),
	each(nullable, booleanShape, "readOnly"),
)

var containerShape = record(
	each(nullable, stringShape, "name", "image", "imagePullPolicy", "workingDir", "restartPolicy"),
	each(nullable, listOf(stringShape), "command", "args"),
	each(nullable, listOf(record(
		each(nullable, stringShape, "name", "value"),
		each(nullable, freeFormShape, "valueFrom"),
	)), "env"),
	each(nullable, listOf(freeFormShape), "envFrom"),
	each(nullable, record(each(nullable, freeFormShape, "limits", "requests")), "resources"),
	each(nullable, listOf(volumeMountShape), "volumeMounts"),
	each(nullable, freeFormShape, "securityContext"),
)

// Section 2.5. Which fields are required is not documented; known services
// require all of them.
var (
	secretShape          = record(each(requiredByKnown, stringShape, "name", "value"))
	secretReferenceShape = record(each(requiredByKnown, stringShape, "name", "secret_name", "secret_key"))
)

func (s *shape) field(name string) (field, bool) {
	for _, f := range s.fields {
		if f.name == name {
			return f, true
		}
	}
	return field{}, false
}

// A problem is one entry of the detail of a 422 response.
type problem struct {
	Loc  []any  `json:"loc"`
	Msg  string `json:"msg"`
	Type string `json:"type"`
}

// The types of problems that Options permit: a member that the interface does not
// document, and what known services reject although the interface does not say so.
const (
	unknownField = "extra_forbidden"
	knownRule    = "value_error.known"
	nullInMap    = "value_error.null"
)

// leastCPU is the smallest valid value of a CPU field in a request.
const leastCPU = 0.1

// A direction is where a value is: in a request or in a response.
type direction int

const (
	inRequest direction = iota
	inResponse
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
		if s == stringsShape && way == inRequest {
			return checkMap(object, loc)
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
	case "number", "integer":
		n, ok := value.(json.Number)
		if !ok {
			return wrong("float")
		}
		f, err := n.Float64()
		if err != nil {
			return []problem{{loc, "is out of range", "finite_number"}}
		}
		if s == integerShape && f != math.Trunc(f) {
			return []problem{{loc, "should be an integer, got a fraction", "int_from_float"}}
		}
		if s.most > 0 && way == inRequest && (f < leastCPU || f > s.most) {
			return []problem{{loc, fmt.Sprintf("should be between %v and %v", leastCPU, s.most), knownRule}}
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
	case s == uuidShape && !isUUID(str):
		return []problem{{loc, "should be a valid UUID", "uuid_parsing"}}
	case s == dateTimeShape:
		if _, err := time.Parse(time.RFC3339, str); err != nil {
			return []problem{{loc, "should be a valid date-time (RFC 3339)", "datetime_parsing"}}
		}
	}
	return nil
}

// checkMap reports the members of a map of strings that are something else.
func checkMap(object map[string]any, loc []any) []problem {
	var found []problem
	for _, name := range sortedKeys(object) {
		at := append(loc, name) //nolint:gocritic // check has clipped loc
		if _, ok := object[name].(string); ok {
			continue
		}
		kind := knownRule
		if object[name] == nil {
			kind = nullInMap
		}
		found = append(found, problem{at, "should be a valid string", kind})
	}
	return found
}

func checkRecord(s *shape, object map[string]any, way direction, loc []any) []problem {
	var found []problem
	needed := requiredInRequest
	if way == inResponse {
		needed = requiredInResponse
	}
	for _, f := range s.fields {
		at := append(loc, f.name) //nolint:gocritic // check has clipped loc
		value, present := object[f.name]
		switch {
		case !present:
			if f.rules&needed != 0 {
				found = append(found, problem{at, "is required", "missing"})
			} else if f.rules&requiredByKnown != 0 && way == inRequest {
				found = append(found, problem{at, "is required", knownRule})
			}
		case way == inRequest && f.rules&readOnly != 0:
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

// lowerUUIDs converts UUIDs to lower case, in which the service stores them.
func lowerUUIDs(s *shape, value any) {
	visit(s, value, func(s *shape, object map[string]any) {
		for _, f := range s.fields {
			if str, ok := object[f.name].(string); ok && f.shape == uuidShape {
				object[f.name] = strings.ToLower(str)
			}
		}
	})
}

// merge copies the members of from to into. Records are merged member by
// member; everything else, also arrays and free-form objects, is replaced.
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

// Members returns the documented members of a deployment, at every depth, each by its path with the kind of its value:
// "source_config.resource_spec.volumes.name" is a "string".
func Members() map[string]string {
	members := map[string]string{}
	var add func(at string, s *shape)
	add = func(at string, s *shape) {
		if s.kind == "array" {
			s = s.item
		}
		for _, f := range s.fields {
			here := strings.TrimPrefix(at+"."+f.name, ".")
			members[here] = f.shape.String()
			add(here, f.shape)
		}
	}
	add("", deploymentShape)
	return members
}

// String names the kind: "UUID", "array of string", "object" with fields or "free-form object".
func (s *shape) String() string {
	switch {
	case s == stringsShape:
		return "map of string"
	case s.kind == "array":
		return "array of " + s.item.String()
	case s.kind == "object" && s.fields == nil:
		return "free-form object"
	}
	return s.kind
}
