package provider

import (
	_ "embed"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/hashicorp/terraform-plugin-go/tftypes"

	"github.com/graphdeploy/terraform-provider-graphdeploy/internal/field"
)

// A deployment with every field of sections 2.1 to 2.5, written from the interface.
//
//go:embed testdata/deployment.json
var fullDeployment string

// described are the descriptions and a complete response that each is of.
var described = map[string]struct {
	fields   field.Fields
	response string
	but      string // not part of the description
}{
	"deployment": {deploymentFields, fullDeployment, "secrets"},
	"repository": {repositoryFields,
		`{"host_integration_id":"h","id":1,"name":"n","owner":"o","url":"u","default_branch":"b"}`, ""},
	"OAuth provider": {oauthProviderFields,
		`{"id":"i","organization_id":"o","provider_id":"p","name":"n","client_id":"c","auth_url":"a",
		"token_url":"t","uses_pkce":true,"code_challenge_method":"S256","created_at":"c","updated_at":"u",` +
			`"provider_type":"y","mcp_server_url":"m",
		"token_endpoint_auth_method":"none","is_dynamic_client":true}`, ""},
}

// TestDescriptions_completeResponseRoundTrips verifies that the description has
// every member of a response, and no other, and that each survives the way to a
// Terraform value and back.
func TestDescriptions_completeResponseRoundTrips(t *testing.T) {
	t.Parallel()
	for name, d := range described {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			tree, _ := field.ReadJSON([]byte(d.response))
			response := tree.(map[string]any)
			delete(response, d.but)
			if _, rest := d.fields.Split(response); rest != nil {
				t.Errorf("not described: %v", rest)
			}
			v, err := d.fields.Decode(response)
			if err != nil {
				t.Fatal(err)
			}
			assertSet(t, name, d.fields, v, map[*field.Field]bool{})
			if back := d.fields.Encode(v); !reflect.DeepEqual(back, response) {
				t.Errorf("%v\ncame back from %v", back, response)
			}
		})
	}
}

// assertSet verifies that no attribute is null, at every depth. Of objects with
// the same description, the first one counts.
func assertSet(t *testing.T, at string, fields field.Fields, object tftypes.Value, seen map[*field.Field]bool) {
	t.Helper()
	if seen[&fields[0]] {
		return
	}
	seen[&fields[0]] = true
	values := attributesOf(object)
	for _, f := range fields {
		here, value := at+"."+f.Name, values[f.Name]
		items := field.Items(value)
		switch {
		case value.IsNull():
			t.Errorf("%s is null", here)
		case Is[field.Object](f):
			assertSet(t, here, f.Fields(), value, seen)
		case Is[field.ObjectList](f) && len(items) == 0:
			t.Errorf("%s is empty", here)
		case Is[field.ObjectList](f):
			assertSet(t, here, f.Fields(), items[0], seen)
		}
	}
}

// TestDescriptions_areValid verifies what package field and Terraform require.
func TestDescriptions_areValid(t *testing.T) {
	t.Parallel()
	for name, d := range described {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			assertValid(t, name, d.fields)
		})
	}
}

func assertValid(t *testing.T, at string, fields field.Fields) {
	t.Helper()
	byName := map[string]field.Field{}
	for _, f := range fields {
		byName[f.Name] = f
	}
	for _, f := range fields {
		here := at + "." + f.Name
		if f.Name != strings.ToLower(f.Name) || strings.Contains(f.Name, "-") {
			t.Errorf("%s is not in snake_case", here)
		}
		if !strings.HasSuffix(f.Description, ".") || strings.HasSuffix(f.Description, "..") {
			t.Errorf("%s: the description does not end with a period: %q", here, f.Description)
		}
		if (Is[field.Object](f) || Is[field.ObjectList](f)) != (len(f.Fields()) > 0) {
			t.Errorf("%s: kind %T has %d fields", here, f.Kind, len(f.Fields()))
		}
		commit := KindOf[field.String](f).ResolvesTo
		if to, ok := byName[commit]; commit != "" && (!ok || to.Access != field.ReadOnly || !Is[field.String](to)) {
			t.Errorf("%s resolves to %q, which is not a read-only sibling", here, commit)
		}
		for _, key := range KindOf[field.ObjectList](f).Key {
			if !slices.ContainsFunc(f.Fields(), func(child field.Field) bool {
				return child.Name == key && Is[field.String](child)
			}) {
				t.Errorf("%s: the key %q is not a string of its items", here, key)
			}
		}
		assertValid(t, here, f.Fields())
	}
}

// TestDescriptions_namesAreThoseOfTheAPI verifies that the name of an attribute is
// the API's in snake_case.
func TestDescriptions_namesAreThoseOfTheAPI(t *testing.T) {
	t.Parallel()
	var check func(fields field.Fields)
	check = func(fields field.Fields) {
		for _, f := range fields {
			if f.Wire != "" && !strings.EqualFold(f.Wire, strings.ReplaceAll(f.Name, "_", "")) {
				t.Errorf("%s is not %s in snake_case", f.Name, f.Wire)
			}
			check(f.Fields())
		}
	}
	for _, d := range described {
		check(d.fields)
	}
}
