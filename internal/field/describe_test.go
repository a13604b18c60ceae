package field

import (
	"encoding/json"
	"reflect"
	"strings"
	"unicode"

	"github.com/hashicorp/terraform-plugin-go/tftypes"

	"github.com/graphdeploy/terraform-provider-graphdeploy/internal/client"
)

// deployment describes a deployment as the provider does, but derived from the
// client's types, so that these tests see every field that the client has.
var deployment = describe(reflect.TypeFor[client.Deployment]())

// kinds has each kind as an attribute that a configuration may set, and those
// combinations that a deployment does not have.
var kinds = Fields{
	{Name: "text", Kind: Text},
	{Name: "uuid", Kind: UUID},
	{Name: "time", Kind: Time},
	{Name: "whole", Kind: Whole},
	{Name: "number", Kind: Number},
	{Name: "flag", Kind: Flag},
	{Name: "json", Kind: JSON},
	{Name: "map", Kind: TextMap},
	{Name: "texts", Kind: List, Elem: Text},
	{Name: "uuids", Kind: List, Elem: UUID},
	{Name: "times", Kind: List, Elem: Time},
	{Name: "jsons", Kind: List, Elem: JSON},
	{Name: "object", Kind: Object, Fields: Fields{
		{Name: "inner", Kind: Object, Fields: Fields{{Name: "text", Kind: Text}, {Name: "json", Kind: JSON}, {Name: "map", Kind: TextMap}}},
		{Name: "ref", Kind: Text, ResolvesTo: "commit"},
		{Name: "commit", Kind: Text, Access: ReadOnly},
	}},
	{Name: "unkeyed", Kind: Objects, Fields: Fields{{Name: "text", Kind: Text}, {Name: "map", Kind: TextMap}}},
	{Name: "keyed", Kind: Objects, Key: []string{"name"}, Fields: Fields{
		{Name: "name", Kind: Text},
		{Name: "json", Kind: JSON},
		{Name: "map", Kind: TextMap},
		{Name: "number", Kind: Number},
		{Name: "inner", Kind: Objects, Key: []string{"name", "at"}, Fields: Fields{
			{Name: "name", Kind: Text}, {Name: "at", Kind: Text}, {Name: "uuid", Kind: UUID},
		}},
	}},
	{Name: "ordered", Kind: Objects, Key: []string{"name"}, Ordered: true, Fields: Fields{
		{Name: "name", Kind: Text}, {Name: "text", Kind: Text}, {Name: "json", Kind: JSON},
	}},
	{Name: "required", Kind: Text, Access: Required},
	{Name: "shown", Kind: Text, Access: ReadOnly},
}

// whole is the type of an object that has an attribute beside the fields, as
// the resource has.
func whole(fs Fields) tftypes.Object {
	typ := fs.Type()
	typ.AttributeTypes["beside"] = tftypes.String
	return typ
}

// describe derives a description from a client type and the names in it.
func describe(t reflect.Type) Fields {
	var fs Fields
	for i := range t.NumField() {
		wire, _, _ := strings.Cut(t.Field(i).Tag.Get("json"), ",")
		if wire == "secrets" {
			continue
		}
		f := Field{Name: snake(wire), Wire: wire}
		typ := t.Field(i).Type
		if typ.Kind() == reflect.Pointer {
			typ = typ.Elem()
		}
		switch {
		case typ == reflect.TypeFor[json.RawMessage]():
			f.Kind = JSON
		case typ == reflect.TypeFor[client.Whole]():
			f.Kind = Whole
		case typ.Kind() == reflect.Float64:
			f.Kind = Number
		case typ.Kind() == reflect.Bool:
			f.Kind = Flag
		case typ.Kind() == reflect.Map:
			f.Kind = TextMap
		case typ.Kind() == reflect.Struct:
			f.Kind, f.Fields = Object, describe(typ)
		case typ == reflect.TypeFor[[]json.RawMessage]():
			f.Kind, f.Elem = List, JSON
		case typ == reflect.TypeFor[[]string]():
			f.Kind, f.Elem = List, Text
		case typ.Kind() == reflect.Slice:
			f.Kind, f.Fields, f.Key = Objects, describe(typ.Elem()), []string{"name"}
			f.Ordered = wire == "init_containers" || wire == "env"
			if typ.Elem() == reflect.TypeFor[client.VolumeMount]() {
				f.Key = []string{"name", "mount_path"}
			}
		case wire == "id" || strings.HasSuffix(wire, "_id"):
			f.Kind = UUID
		case strings.HasSuffix(wire, "_at"):
			f.Kind = Time
		default:
			f.Kind = Text
		}
		switch wire {
		case "source":
			f.Access = Required
		case "name":
			if t == reflect.TypeFor[client.Deployment]() {
				f.Access = Required
			}
		case "id", "tenant_id", "created_at", "updated_at", "status", "latest_revision_id", "active_revision_id", "image_version", "repo_commit_sha":
			f.Access = ReadOnly
		case "repo_ref":
			f.ResolvesTo = "repo_commit_sha"
		}
		fs = append(fs, f)
	}
	return fs
}

// snake writes downwardAPI as downward_api.
func snake(wire string) string {
	var out strings.Builder
	for i, r := range wire {
		if i > 0 && unicode.IsUpper(r) && !unicode.IsUpper(rune(wire[i-1])) {
			out.WriteByte('_')
		}
		out.WriteRune(unicode.ToLower(r))
	}
	return out.String()
}
