package client

import (
	"encoding/json"
	"errors"
	"math"
	"net/url"
	"reflect"
	"strings"
	"testing"
)

const fullDeployment = `{"id":"` + idA + `","name":"n","source":"codehost","status":"READY","tenant_id":"` + idB + `","created_at":"2026-01-02T03:04:05Z",
	"updated_at":"2026-01-02T03:04:05Z","latest_revision_id":"` + idC + `","active_revision_id":null,"image_version":"1",
	"secrets":[{"name":"A","value":"1"}],"secret_references":null,"source_revision_config":{"repo_ref":"main"},
	"source_config":{"custom_url":"https://x","resource_spec":{"cpu":0.5,"labels":{"a":"b"},"volumes":[{"name":"v","csi":{"a":[1]}}]}}}`

const fullRepository = `{"host_integration_id":"h","id":9007199254740993,"name":"n","owner":"o","url":"u","default_branch":"b"}`

const fullOAuthProvider = `{"id":"i","organization_id":"o","provider_id":"p","name":"n","client_id":"c","auth_url":"a","token_url":"t",
	"uses_pkce":true,"code_challenge_method":"S256","created_at":"c","updated_at":"u","provider_type":"y","mcp_server_url":"m",
	"token_endpoint_auth_method":"none","is_dynamic_client":true}`

func TestEveryFieldHasItsDocumentedName(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		document string
		into     any
	}{
		"repository":     {fullRepository, &Repository{}},
		"OAuth provider": {fullOAuthProvider, &OAuthProvider{}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if err := json.Unmarshal([]byte(test.document), test.into); err != nil {
				t.Fatal(err)
			}
			got, err := json.Marshal(test.into)
			if err != nil {
				t.Fatal(err)
			}
			equalJSON(t, string(got), test.document)
			// The document has each field of the types, so that no field of theirs is left undocumented and untested.
			walk(reflect.ValueOf(test.into), name, map[reflect.Type]bool{}, func(path string, field reflect.Value) {
				if field.IsZero() {
					t.Errorf("the document does not set %s", path)
				}
			})
		})
	}
}

// walk calls do for each struct field below v, entering each struct type once: at the first item of a list.
func walk(v reflect.Value, path string, entered map[reflect.Type]bool, do func(path string, field reflect.Value)) {
	switch v.Kind() {
	case reflect.Pointer:
		if !v.IsNil() {
			walk(v.Elem(), path, entered, do)
		}
	case reflect.Slice:
		if v.Len() > 0 {
			walk(v.Index(0), path, entered, do)
		}
	case reflect.Struct:
		if entered[v.Type()] {
			return
		}
		entered[v.Type()] = true
		for i := range v.NumField() {
			here := path + "." + v.Type().Field(i).Name
			do(here, v.Field(i))
			walk(v.Field(i), here, entered, do)
		}
	}
}

func TestRequest_hasAllRequiredMembers(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		request DeploymentRequest
		want    string
	}{
		"least": {DeploymentRequest{Name: "n", Source: "s"},
			`{"name":"n","source":"s","source_config":{},"source_revision_config":{},"secrets":[]}`},
		"members": {DeploymentRequest{Name: "n", Source: "s", Secrets: []Secret{{"A", "1"}}, Members: Tree{
			"name": "other", "source_config": Tree{"resource_spec": Tree{"max_scale": json.Number("9007199254740993")}},
			"secret_references": []any{}, "tier": "x"}},
			`{"name":"n","source":"s","source_config":{"resource_spec":{"max_scale":9007199254740993}},"source_revision_config":{},
			"secrets":[{"name":"A","value":"1"}],"secret_references":[],"tier":"x"}`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := json.Marshal(test.request)
			if err != nil {
				t.Fatal(err)
			}
			equalJSON(t, string(got), test.want)
		})
	}
}

func TestInt64_readsIntegers(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]Int64{
		"2048": 2048, "2048.0": 2048, "9007199254740993.000": 9007199254740993,
		"0": 0, "-0": 0, "0.0": 0, "-7": -7, "-7.000": -7,
		"9223372036854775807": math.MaxInt64, "-9223372036854775808": math.MinInt64, "9223372036854775807.0": math.MaxInt64,
	} {
		var got Int64
		if err := json.Unmarshal([]byte(text), &got); err != nil || got != want {
			t.Errorf("%s: %d, %v", text, got, err)
		}
	}
	kept := Int64(5)
	if err := json.Unmarshal([]byte("null"), &kept); err != nil || kept != 5 {
		t.Errorf("null: %d, %v", kept, err)
	}
}

func TestInt64_rejectsTheRest(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		"1.5", `"7"`, `""`, "true", "[]", "{}", "[1]", "1e999999999", "1e-999999999", "1E400", "9223372036854775808", "-9223372036854775809",
		"1e19", "0.1", strings.Repeat("1", 65), "2.048e3", "1e-400",
	} {
		got := Int64(5)
		if err := json.Unmarshal([]byte(text), &got); err == nil || got != 5 {
			t.Errorf("%.20s: %d, %v", text, got, err)
		}
	}
	// Never through encoding/json, but anyone may call it.
	if err := new(Int64).UnmarshalJSON(nil); err == nil {
		t.Error("no text: no error")
	}
}

func TestDeployment_memberOfAnotherTypeIsNamed(t *testing.T) {
	t.Parallel()
	const who = `deployment "n" (id "` + idA + `"): `
	for name, test := range map[string]struct{ members, want string }{
		"object for list": {`"secrets":{"hush-hush":1}`, who + `secrets: object is not a list`},
		"number for text": {`"status":5`, who + `status: number is not a string`},
		"in a secret":     {`"secrets":[{"name":"A","value":{"hush-hush":1}}]`, who + `secrets.value: object is not a string`},
		"check":           {`"bad":"hush-hush"`, who + `bad is there`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := serve(t, respondJSON(pageJSON(1, `{"id":"`+idA+`","name":"n","source":"s",`+test.members+`}`)))
			c := s.client(t, func(config *Config) {
				config.CheckDeployment = func(d Tree) error {
					if _, ok := d["bad"]; ok {
						return errors.New("bad is there")
					}
					return nil
				}
			})
			got, err := collect(t.Context(), c, DeploymentFilter{})
			if len(got) != 0 || err == nil || !strings.HasSuffix(err.Error(), test.want) {
				t.Errorf("got %v, %v, want %s", got, err, test.want)
			}
			if !asType[*Error](t, err).Malformed {
				t.Error("not marked as malformed")
			}
		})
	}
}

func TestDeployment_treeKeepsUnknownMembersAndNumbers(t *testing.T) {
	t.Parallel()
	c := New(Config{BaseURL: &url.URL{}})
	d, err := c.readDeployment([]byte(`{"id":"` + idA + `","name":"n","source":"s","tenant_id":null,"url":"https://x","n":{"a":12345678901234567890.10}}`))
	if err != nil {
		t.Fatal(err)
	}
	equal(t, "tree", d.Tree, Tree{"id": idA, "name": "n", "source": "s", "tenant_id": nil, "url": "https://x",
		"n": Tree{"a": json.Number("12345678901234567890.10")}})
	equal(t, "tenant", d.TenantID, "")
}
