package provider

import (
	"cmp"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/graphdeploy/terraform-provider-graphdeploy/internal/fakeserver"
	"github.com/graphdeploy/terraform-provider-graphdeploy/internal/field"
)

// described are the descriptions.
var described = map[string]field.Fields{"deployment": deploymentFields, "repository": repositoryFields,
	"OAuth provider": oauthProviderFields}

// TestDescriptions_deploymentIsThatOfTheFakeService verifies that the description has the members that the fake service
// has, which was written from the API document by itself, of the same kinds, and no other.
func TestDescriptions_deploymentIsThatOfTheFakeService(t *testing.T) {
	t.Parallel()
	got, want := map[string]string{}, fakeserver.Members()
	addMembers(got, "", documentedFields)
	for at := range want {
		if strings.HasPrefix(at, "secrets.") {
			delete(want, at) // the client reads them
		}
	}
	got["secrets"] = want["secrets"]
	for at, kind := range want {
		if got[at] != kind {
			t.Errorf("%s is described as %q, and is %q in the fake service", at, got[at], kind)
		}
		delete(got, at)
	}
	for at := range got {
		t.Errorf("%s is described, and is not in the fake service", at)
	}
}

// addMembers adds the members that a description has, as [fakeserver.Members] returns them.
func addMembers(members map[string]string, at string, fields field.Fields) {
	for _, f := range fields {
		here := strings.TrimPrefix(at+"."+cmp.Or(f.Wire, f.Name), ".")
		members[here] = kindName(f.Kind)
		addMembers(members, here, f.Fields())
	}
}

func kindName(kind field.Kind) string {
	switch kind := kind.(type) {
	case field.UUID:
		return "UUID"
	case field.Time:
		return "date-time"
	case field.Int64:
		return "integer"
	case field.Float64:
		return "number"
	case field.Bool:
		return "boolean"
	case field.JSON:
		return "free-form object"
	case field.StringMap:
		return "map of string"
	case field.Object:
		return "object"
	case field.ObjectList:
		return "array of object"
	case field.List:
		return "array of " + kindName(kind.Of)
	}
	return "string"
}

// TestDescriptions_completeResponseRoundTrips verifies that a description has every member of a response, and no other,
// and that each survives the way to a Terraform value and back.
func TestDescriptions_completeResponseRoundTrips(t *testing.T) {
	t.Parallel()
	for name, response := range map[string]string{
		"repository": `{"host_integration_id":"h","id":1,"name":"n","owner":"o","url":"u","default_branch":"b"}`,
		"OAuth provider": `{"id":"i","organization_id":"o","provider_id":"p","name":"n","client_id":"c","auth_url":"a",
			"token_url":"t","uses_pkce":true,"code_challenge_method":"S256","created_at":"c","updated_at":"u",
			"provider_type":"y","mcp_server_url":"m","token_endpoint_auth_method":"none","is_dynamic_client":true}`,
	} {
		read, _ := field.ReadJSON([]byte(response))
		tree, _ := read.(map[string]any)
		v, err := described[name].Decode(tree)
		if err != nil || len(tree) != len(described[name]) {
			t.Fatalf("%s has %d members, and %d attributes: %v", name, len(tree), len(described[name]), err)
		}
		if back := described[name].Encode(v); !reflect.DeepEqual(back, tree) {
			t.Errorf("%v\ncame back from %v", back, tree)
		}
	}
}

// TestDescriptions_areValid verifies what package field and Terraform require.
func TestDescriptions_areValid(t *testing.T) {
	t.Parallel()
	for name, fields := range described {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			assertValid(t, name, fields)
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
		if to, ok := byName[commit]; commit != "" &&
			(!ok || to.Access != field.ReadOnly || !Is[field.String](to) || to.Wire != "") {
			t.Errorf("%s resolves to %q, which is not a read-only sibling of that name in the API", here, commit)
		}
		if strings.Contains(at, ".") && (KindOf[field.Object](f).Present || KindOf[field.JSON](f).Partial) {
			t.Errorf("%s is marked as only attributes at the root can be", here)
		}
		for _, child := range KindOf[field.ObjectList](f).Fields {
			if child.Access != field.Optional {
				t.Errorf("%s.%s may be known only after apply, which nothing in a list is", here, child.Name)
			}
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
	for _, fields := range described {
		check(fields)
	}
}
