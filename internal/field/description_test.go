package field

import (
	"encoding/json"
	"maps"
	"math/big"
	"testing"

	"github.com/hashicorp/terraform-plugin-go/tftypes"
)

// allKinds has each kind as an attribute that a configuration may set, and
// combinations that a deployment does not have.
var allKinds = Fields{
	{Name: "string", Kind: String{}},
	{Name: "uuid", Kind: UUID{}},
	{Name: "time", Kind: Time{}},
	{Name: "int64", Kind: Int64{}},
	{Name: "float64", Kind: Float64{}},
	{Name: "bool", Kind: Bool{}},
	{Name: "json", Kind: JSON{}},
	{Name: "map", Kind: StringMap{}},
	{Name: "strings", Kind: List{Of: String{}}},
	{Name: "uuids", Kind: List{Of: UUID{}}},
	{Name: "times", Kind: List{Of: Time{}}},
	{Name: "jsons", Kind: List{Of: JSON{}}},
	{Name: "object_config", Kind: Object{Present: true, Fields: Fields{
		{Name: "inner", Kind: Object{Fields: Fields{{Name: "string", Kind: String{}}, {Name: "json", Kind: JSON{}},
			{Name: "map", Kind: StringMap{}}}}},
		{Name: "ref", Kind: String{ResolvesTo: "commit"}},
		{Name: "chosen", Kind: String{}, Access: OptionalComputed},
		{Name: "commit", Kind: String{}, Access: ReadOnly},
	}}},
	{Name: "unkeyed", Kind: ObjectList{Fields: Fields{{Name: "string", Kind: String{}},
		{Name: "map", Kind: StringMap{}}}}},
	{Name: "keyed", Kind: ObjectList{Key: []string{"name"}, Fields: Fields{
		{Name: "name", Kind: String{}},
		{Name: "json", Kind: JSON{}},
		{Name: "map", Kind: StringMap{}},
		{Name: "float64", Kind: Float64{}},
		{Name: "object", Kind: Object{Fields: Fields{{Name: "string", Kind: String{}}, {Name: "json", Kind: JSON{}}}}},
		{Name: "inner", Kind: ObjectList{Key: []string{"name", "at"}, Fields: Fields{
			{Name: "name", Kind: String{}}, {Name: "at", Kind: String{}}, {Name: "uuid", Kind: UUID{}},
		}}},
	}}},
	{Name: "ordered", Kind: ObjectList{Key: []string{"name"}, Ordered: true, Fields: Fields{
		{Name: "name", Kind: String{}}, {Name: "string", Kind: String{}}, {Name: "json", Kind: JSON{}},
	}}},
	{Name: "required", Kind: String{}, Access: Required},
	{Name: "read_only", Kind: UUID{}, Access: ReadOnly},
}

var (
	mountFields = Fields{
		{Name: "name", Kind: String{}},
		{Name: "mount_path", Wire: "mountPath", Kind: String{}},
		{Name: "read_only", Wire: "readOnly", Kind: Bool{}},
	}
	volumeFields = Fields{
		{Name: "name", Kind: String{}},
		{Name: "config_map", Wire: "configMap", Kind: JSON{}, Exclusive: true},
		{Name: "empty_dir", Wire: "emptyDir", Kind: JSON{}, Exclusive: true},
		{Name: "downward_api", Wire: "downwardAPI", Kind: JSON{}, Exclusive: true},
	}
	containerFields = Fields{
		{Name: "name", Kind: String{}},
		{Name: "image", Kind: String{}},
		{Name: "command", Kind: List{Of: String{}}},
		{Name: "env", Kind: ObjectList{Key: []string{"name"}, Ordered: true, Fields: Fields{
			{Name: "name", Kind: String{}},
			{Name: "value", Kind: String{}, Exclusive: true},
			{Name: "value_from", Wire: "valueFrom", Kind: JSON{}, Exclusive: true},
		}}},
		{Name: "env_from", Wire: "envFrom", Kind: List{Of: JSON{}}},
		{Name: "resources", Kind: Object{Fields: Fields{{Name: "limits", Kind: JSON{}}, {Name: "requests", Kind: JSON{}}}}},
		{Name: "volume_mounts", Wire: "volumeMounts",
			Kind: ObjectList{Key: []string{"name", "mount_path"}, Fields: mountFields}},
		{Name: "security_context", Wire: "securityContext", Kind: JSON{}},
	}
	specFields = Fields{
		{Name: "cpu", Kind: Float64{}},
		{Name: "memory_mb", Kind: Int64{}},
		{Name: "labels", Kind: StringMap{}},
		{Name: "service_account_name", Kind: String{}},
		{Name: "image_pull_secrets", Kind: ObjectList{Key: []string{"name"}, Fields: Fields{{Name: "name", Kind: String{}}}}},
		{Name: "volumes", Kind: ObjectList{Key: []string{"name"}, Fields: volumeFields}},
		{Name: "volume_mounts", Kind: ObjectList{Key: []string{"name", "mount_path"}, Fields: mountFields}},
		{Name: "init_containers", Kind: ObjectList{Key: []string{"name"}, Ordered: true, Fields: containerFields}},
		{Name: "sidecars", Kind: ObjectList{Key: []string{"name"}, Fields: containerFields}},
	}
)

// deployment has the shape of a deployment: one attribute of each sort of
// section 2.
var deployment = Fields{
	{Name: "name", Kind: String{Immutable: true, Shown: true}, Access: Required},
	{Name: "source", Kind: String{OneOf: []string{"codehost", "external_docker"}}, Access: Required},
	{Name: "source_config", Kind: Object{Present: true, Fields: Fields{
		{Name: "integration_id", Kind: UUID{}},
		{Name: "build_on_push", Kind: Bool{}},
		{Name: "custom_url", Kind: String{}, Access: OptionalComputed},
		{Name: "resource_spec", Kind: Object{Fields: specFields}},
		{Name: "listener_config", Kind: Object{Fields: Fields{{Name: "k8s_namespace", Kind: String{}}}}},
		{Name: "install_command", Kind: String{}},
	}}},
	{Name: "source_revision_config", Kind: Object{Present: true, Fields: Fields{
		{Name: "repo_ref", Kind: String{Shown: true, ResolvesTo: "repo_commit_sha"}},
		{Name: "image_uri", Kind: String{Shown: true, BuiltFor: "codehost"}, Access: OptionalComputed},
		{Name: "repo_commit_sha", Kind: String{}, Access: ReadOnly},
	}}},
	{Name: "secret_references", Kind: ObjectList{Key: []string{"name"}, Fields: Fields{
		{Name: "name", Kind: String{}}, {Name: "secret_name", Kind: String{}}, {Name: "secret_key", Kind: String{}},
	}}},
	{Name: "id", Kind: UUID{}, Access: ReadOnly},
	{Name: "updated_at", Kind: Time{}, Access: ReadOnly},
	{Name: "latest_revision_id", Kind: UUID{}, Access: ReadOnly},
}

type object = map[string]any

// resourceType is the type of an object that has an attribute beside the fields,
// as the resource has.
func resourceType(fs Fields) tftypes.Object {
	types := maps.Clone(fs.Type().AttributeTypes)
	types["beside"] = tftypes.String
	return tftypes.Object{AttributeTypes: types}
}

// resourceValue is a resource with the attributes of a tree.
func resourceValue(t testing.TB, fs Fields, tree object) tftypes.Value {
	t.Helper()
	values := Values{"beside": str("beside")}
	for name, value := range Members(decoded(t, fs, tree)) {
		values[name] = value
	}
	return tftypes.NewValue(resourceType(fs), values)
}

// decoded is an object with the attributes of a tree; what the tree omits is null.
func decoded(t testing.TB, fs Fields, tree object) tftypes.Value {
	t.Helper()
	v, err := fs.Decode(copyOf(t, tree).(object))
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// copyOf is a tree as encoding/json decodes it: with numbers as [json.Number].
func copyOf(t testing.TB, value any) any {
	t.Helper()
	text, err := json.Marshal(value)
	if err != nil {
		t.Fatal(err)
	}
	tree, err := ReadJSON(text)
	if err != nil {
		t.Fatal(err)
	}
	return tree
}

func jsonOf(tree any) string {
	text, err := json.Marshal(tree)
	if err != nil {
		panic(err)
	}
	return string(text)
}

func str(s string) tftypes.Value { return tftypes.NewValue(tftypes.String, s) }

func num(text string) tftypes.Value {
	n, _, err := big.ParseFloat(text, 10, numberPrecision, big.ToNearestEven)
	if err != nil {
		panic(err)
	}
	return tftypes.NewValue(tftypes.Number, n)
}

// at is the value at the names in an object.
func at(v tftypes.Value, names ...string) tftypes.Value {
	for _, name := range names {
		v = Members(v)[name]
	}
	return v
}
