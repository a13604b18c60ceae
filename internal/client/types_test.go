package client

import (
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/url"
	"strings"
	"testing"
)

const fullDeployment = `{"id":"` + idA + `","name":"n","source":"codehost","status":"READY","tenant_id":"` + idB +
	`","created_at":"2026-01-02T03:04:05Z",
	"updated_at":"2026-01-02T03:04:05Z","latest_revision_id":"` + idC + `","active_revision_id":null,"image_version":"1",
	"secrets":[{"name":"A","value":"1"}],"secret_references":null,"source_revision_config":{"repo_ref":"main"},
	"source_config":{"custom_url":"https://x","resource_spec":{"cpu":0.5,"labels":{"a":"b"},"volumes":[{"name":"v",` +
	`"csi":{"a":[1]}}]}}}`

const fullRepository = `{"host_integration_id":"h","id":9007199254740993,"name":"n","owner":"o","url":"u",` +
	`"default_branch":"b"}`

const fullOAuthProvider = `{"id":"i","organization_id":"o","provider_id":"p","name":"n","client_id":"c",` +
	`"auth_url":"a","token_url":"t",
	"uses_pkce":true,"code_challenge_method":"S256","created_at":"c","updated_at":"u","provider_type":"y",` +
	`"mcp_server_url":"m",
	"token_endpoint_auth_method":"none","is_dynamic_client":true}`

func TestRequest_hasAllRequiredMembers(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		request Tree
		want    string
	}{
		"least": {Tree{"name": "n", "source": "codehost"},
			`{"name":"n","source":"codehost","source_config":{},"source_revision_config":{},"secrets":[]}`},
		"members": {Tree{"name": "n", "source": "codehost", "secrets": []Secret{{"A", "1"}},
			"source_config":     Tree{"resource_spec": Tree{"max_scale": json.Number("9007199254740993")}},
			"secret_references": []any{}, "tier": "x"},
			`{"name":"n","source":"codehost","source_config":{"resource_spec":{"max_scale":9007199254740993}},` +
				`"source_revision_config":{},
			"secrets":[{"name":"A","value":"1"}],"secret_references":[],"tier":"x"}`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var sent string
			s := serve(t, func(w http.ResponseWriter, r *http.Request) {
				if r.Method == http.MethodGet {
					_, _ = io.WriteString(w, pageJSON(0))
					return
				}
				body, _ := io.ReadAll(r.Body)
				sent = string(body)
				_, _ = io.WriteString(w, fullDeployment)
			})
			if _, _, err := s.client(t).CreateDeployment(t.Context(), test.request, satisfiedByAll); err != nil {
				t.Fatal(err)
			}
			equalJSON(t, sent, test.want)
		})
	}
}

func TestDeployment_memberOfAnotherTypeIsNamed(t *testing.T) {
	t.Parallel()
	const who = `deployment "n" (id "` + idA + `"): `
	for name, test := range map[string]struct{ members, want string }{
		"object for list": {`"secrets":{"hush-hush":1}`, who + `secrets: an object is not a list`},
		"number for text": {`"status":5`, who + `status: a number is not a string`},
		"bool for text":   {`"status":true`, who + `status: a boolean is not a string`},
		"text for list":   {`"secrets":"hush-hush"`, who + `secrets: a string is not a list`},
		"list for text":   {`"status":[]`, who + `status: a list is not a string`},
		"a capital in a secret": {`"secrets":[{"Name":"A","value":"hush-hush"}]`,
			who + `secrets[0]: name is in the response with other capital letters, not with exactly this name`},
		"a secret": {`"secrets":["hush-hush"]`, who + `secrets[0]: it is not an object`},
		"in a secret": {`"secrets":[{"name":"A","value":{"hush-hush":1}}]`,
			who + `secrets[0]: value: an object is not a string`},
		"check": {`"bad":"hush-hush"`, who + `bad is there`},
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
			if asType[*Error](t, err).Cause != CauseMalformed {
				t.Error("not marked as malformed")
			}
		})
	}
}

// Members are those of exactly their name: another one may be somebody else's.
func TestDeployment_membersOfTheirExactNames(t *testing.T) {
	t.Parallel()
	c := New(Config{BaseURL: &url.URL{}})
	theirs := `"ID":"` + idB + `","Name":"theirs","SOURCE":"x","Status":"x","Latest_Revision_Id":"x",` +
		`"Secrets":[{"name":"B"}]`
	for name, body := range map[string]string{
		"after":  `{"id":"` + idA + `","name":"ours","source":"s","secrets":[{"name":"A","value":"1"}],` + theirs + `}`,
		"before": `{` + theirs + `,"id":"` + idA + `","name":"ours","source":"s","secrets":[{"name":"A","value":"1"}]}`,
	} {
		d, err := c.readDeployment([]byte(body))
		if err != nil {
			t.Fatal(err)
		}
		d.Tree = nil
		equal(t, name, *d, Deployment{ID: idA, Name: "ours", Source: "s", Secrets: []Secret{{"A", "1"}}})
		equal(t, name+", summary", *summary([]byte(body)), Deployment{ID: idA, Name: "ours", Source: "s"})
	}
	_, err := c.readDeployment([]byte(`{` + theirs + `}`))
	equal(t, "error without ours", err.Error(), `deployment "" (id ""): the id is not a UUID`)
}

func TestRead_isOfTheRequestedID(t *testing.T) {
	t.Parallel()
	s := serve(t, respondJSON(pageJSON(1, strings.Replace(deploymentJSON(idB, "b"), "{", `{"ID":"`+idA+`",`, 1))))
	if d, err := s.client(t).Deployment(t.Context(), idA); !errors.Is(err, ErrNotFound) {
		t.Errorf("got %v, %v, want ErrNotFound", d, err)
	}
}

func TestDeployment_treeKeepsUnknownMembersAndNumbers(t *testing.T) {
	t.Parallel()
	c := New(Config{BaseURL: &url.URL{}})
	d, err := c.readDeployment([]byte(`{"id":"` + idA +
		`","name":"n","source":"s","tenant_id":null,"url":"https://x","n":{"a":12345678901234567890.10}}`))
	if err != nil {
		t.Fatal(err)
	}
	equal(t, "tree", d.Tree, Tree{"id": idA, "name": "n", "source": "s", "tenant_id": nil, "url": "https://x",
		"n": Tree{"a": json.Number("12345678901234567890.10")}})
}
