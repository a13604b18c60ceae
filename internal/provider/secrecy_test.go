//go:build unix

package provider_test

import (
	"archive/zip"
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/graphdeploy/terraform-provider-graphdeploy/internal/fakeserver"
)

// planted is a value that must not appear. Its core has only letters and digits,
// so it stays the same however the value is escaped; with what surrounds it, a
// search for the complete value would miss the escaped ones.
type planted struct{ what, core, value string }

func plant(what, core string) planted {
	return planted{what, core, `"<` + core + `&é\>` + "\n'" + core + " %"}
}

// plantHeader is for values that a header can carry.
func plantHeader(what, core string) planted {
	return planted{what, core, `a="<` + core + `&\>" %`}
}

// forms are the ways in which the core may be encoded.
func (p planted) forms() []string {
	forms := []string{p.core, strings.ToLower(p.core), strings.ToUpper(p.core), hex.EncodeToString([]byte(p.core))}
	// Base64 of a text that contains the core: at each of the three alignments,
	// without the ends, which depend on what is beside it.
	for shift := range 3 {
		encoded := base64.RawStdEncoding.EncodeToString([]byte(strings.Repeat("x", shift) + p.core))
		forms = append(forms, encoded[4:len(encoded)-2])
	}
	return forms
}

// in counts the core in a text, in any form.
func (p planted) in(text []byte) (n int) {
	for _, form := range p.forms() {
		n += bytes.Count(text, []byte(form))
	}
	return n
}

// place is where a value may have leaked to.
type place struct {
	name string
	text []byte
}

// unzip returns the files in a plan file.
func unzip(t *testing.T, file string) (places []place) {
	t.Helper()
	archive, err := zip.OpenReader(file)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = archive.Close() }()
	for _, f := range archive.File {
		r, err := f.Open()
		if err != nil {
			t.Fatal(err)
		}
		text, err := io.ReadAll(r)
		if err != nil {
			t.Fatal(err)
		}
		_ = r.Close()
		places = append(places, place{filepath.Base(file) + ":" + f.Name, text})
	}
	return places
}

// Neither the credential, nor other headers, nor a secret is in what Terraform
// prints or logs, whatever the service does with them; with secrets_wo, it is in
// no file either.
func TestAccSecrets_areNotShown(t *testing.T) {
	built := buildProvider(t)
	t.Parallel()
	eachKindOfSecrets(t, func(t *testing.T, writeOnly bool) {
		t.Helper()
		testSecretsAreNotShown(t, built, writeOnly)
	})
}

// eachKindOfSecrets runs a test with secrets and with secrets_wo.
func eachKindOfSecrets(t *testing.T, test func(t *testing.T, writeOnly bool)) {
	t.Helper()
	for _, writeOnly := range []bool{false, true} {
		t.Run(fmt.Sprintf("write-only %t", writeOnly), func(t *testing.T) {
			t.Parallel()
			if writeOnly {
				terraformSince(t, 1, 11)
			}
			test(t, writeOnly)
		})
	}
}

func testSecretsAreNotShown(t *testing.T, built string, writeOnly bool) {
	var (
		key     = plantHeader("the credential", "kEyK9f3aQ7kEyW2")
		header  = plantHeader("a header", "hEaDerM4c8ZtEnAnT")
		first   = plant("a secret", "fIrStS7e1PvAlUeX")
		second  = plant("a changed secret", "sEcOnDb5R8vAlUeJ")
		foreign = plant("a secret that was changed outside Terraform", "fOrEiGnT3H6vAlUe")
		own     = plant("a secret of the service's own", "sErViCeOwN2Y9vAl")
		ours    = []planted{first, second}
		all     = []planted{key, header, first, second, foreign, own}
	)
	s := newService(t, fakeserver.Options{Credential: key.value, CredentialHeader: "Authorization",
		ExtraSecrets: map[string]string{"OWN": own.value}})

	// Values come from the environment, as Terraform puts the text of the
	// configuration into plan files. It puts the values of variables there
	// too, but not of ephemeral ones, which Terraform has had since 1.10.
	secrets := func(p planted) string {
		text, err := json.Marshal(map[string]string{"TOKEN": p.value, "PLAIN": p.core})
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	variable, argument := "sensitive = true", "secrets = var.secrets"
	if writeOnly {
		variable, argument = "sensitive = true\n  ephemeral = true", "secrets_wo = var.secrets\n"+
			"  secrets_wo_version = var.secrets_version"
	}
	config := fmt.Sprintf(`
variable "secrets" {
  type = map(string)
  %[1]s
}
variable "tenant" {
  type = string
  %[1]s
}
variable "cpu" {
  default = 1
}
variable "secrets_version" {
  default = 1
}
%[2]s
resource "graphdeploy_deployment" "this" {
  name   = "app"
  source = "internal_docker"
  source_config = { resource_spec = { cpu = var.cpu } }
  %[3]s
}
output "everything" {
  value     = graphdeploy_deployment.this.source_config
}
`, variable, s.provider(`
  api_key_header        = "Authorization"
  headers               = { X-Tenant = var.tenant }
  max_retries           = 1
  request_timeout       = "1s"`), argument) // which is also how long a lost create is looked for

	log := filepath.Join(t.TempDir(), "trace.log")
	settings := []string{"TF_LOG=TRACE", "TF_LOG_PATH=" + log, "GRAPHDEPLOY_API_KEY=" + key.value,
		"TF_VAR_tenant=" + header.value}
	w := newWorkspace(t, built, append(settings, "TF_VAR_secrets="+secrets(first))...)
	w.configure(config)

	var plans []string
	plan := func(args ...string) string {
		t.Helper()
		plans = append(plans, filepath.Join(w.dir, fmt.Sprintf("plan%d", len(plans))))
		file := plans[len(plans)-1]
		w.succeed(append([]string{"plan", "-out=" + file}, args...)...)
		return file
	}
	// echo are responses that repeat what was sent.
	echo := func(status int, p planted) []fakeserver.Fault {
		headers := fmt.Sprintf("Authorization: %s\nX-Tenant: %s", key.value, header.value)
		request := fmt.Sprintf(`{"name": "app", "secrets": [{"name": "PLAIN", "value": %q}, {"name": "TOKEN", "value": %s}]}`,
			p.core, asJSON(t, p.value))
		everything := headers + "\n\n" + request
		return []fakeserver.Fault{
			{Status: status, Body: asJSON(t, map[string]any{"detail": everything})},
			{Status: status, Body: asJSON(t, map[string]any{"detail": []any{
				map[string]any{"loc": []any{"body", "secrets", 1, "value"}, "msg": "not " + p.value, "input": p.value},
				map[string]any{"loc": []any{"header", key.value}, "msg": everything},
				map[string]any{"loc": []any{"body", p.value, p.core}, "msg": "unexpected"},
			}})},
			{Status: status, Body: asJSON(t, map[string]any{"error": map[string]any{"message": url.QueryEscape(everything)}})},
			{Status: status, ContentType: "text/html", Body: "<html><body><pre>" + everything + "</pre></body></html>",
				Header: http.Header{"X-Request-Id": {p.core}}},
			{Status: status, ContentType: "text/plain", Body: asJSON(t, asJSON(t, everything))}, // escaped twice
		}
	}

	// The plan of a create, and creates that fail.
	plan()
	fails := func(route fakeserver.Route, status int, p planted, args ...string) {
		t.Helper()
		for i, f := range echo(status, p) {
			if i > 0 && (!writeOnly || status >= 500) {
				continue // the tests of redaction in internal/client have all of them
			}
			s.Fail(route, 1, f)
			out := w.fail(`Cannot (create|update) deployment|Update was not (applied|confirmed)|`+
				`Outcome of the create is unknown`, args...)
			if i == 0 && !strings.Contains(out, strconv.Itoa(status)) {
				t.Errorf("the error does not state the status %d:\n%s", status, out)
			}
		}
	}
	fails(fakeserver.CreateDeployment, 422, first, "apply", "-auto-approve")
	fails(fakeserver.CreateDeployment, 500, first, "apply", "-auto-approve")
	// A success that cannot be read is quoted in no error either.
	for _, body := range []string{
		asJSON(t, map[string]any{"id": first.value, "name": first.value, "secrets": first.core}),
		`{"id": "` + first.core,
	} {
		s.Fail(fakeserver.CreateDeployment, 1, fakeserver.Fault{Body: body})
		w.fail(`Outcome of the create is unknown`, "apply", "-auto-approve")
	}
	w.succeed("apply", plan())
	id := s.stored(t)["id"].(string)

	// Rejected reads, and a change outside Terraform.
	s.Fail(fakeserver.ListDeployments, 1, echo(403, first)[0])
	w.fail(`Cannot read deployment`, "plan")
	s.edit(t, "secrets", []any{map[string]any{"name": "TOKEN", "value": foreign.value},
		map[string]any{"name": "PLAIN", "value": foreign.core}})()
	plan()

	// A change, rejected and then applied.
	w.env = append(w.env, "TF_VAR_secrets="+secrets(second), "TF_VAR_cpu=2", "TF_VAR_secrets_version=2")
	fails(fakeserver.UpdateDeployment, 422, second, "apply", "-auto-approve")
	fails(fakeserver.UpdateDeployment, 500, second, "apply", "-auto-approve")
	w.succeed("apply", plan())
	sent := map[string]any{}
	for _, secret := range s.stored(t)["secrets"].([]any) {
		sent[secret.(map[string]any)["name"].(string)] = secret.(map[string]any)["value"]
	}
	if sent["TOKEN"] != second.value || sent["PLAIN"] != second.core {
		t.Fatalf("the service does not have the changed secrets")
	}

	// Import, into an empty workspace.
	imported := newWorkspace(t, built, w.env[len(w.env)-len(settings)-4:]...)
	imported.configure(config)
	s.Fail(fakeserver.ListDeployments, 1, echo(403, second)[0])
	imported.fail(`Cannot read`, "import", this, id)
	imported.succeed("import", this, id)
	importedPlan := filepath.Join(imported.dir, "plan")
	imported.succeed("plan", "-out="+importedPlan)

	// What is shown contains nothing secret.
	for _, file := range plans {
		w.succeed("show", file)
	}
	w.succeed("show")
	w.succeed("output", "-json")
	traced, err := os.ReadFile(log)
	w.must(err)
	for _, sign := range []string{"called the service", "tf_rpc=ApplyResourceChange"} {
		if !bytes.Contains(traced, []byte(sign)) {
			t.Errorf("the log has no %q", sign)
		}
	}
	for _, shown := range []place{{"what Terraform printed", w.all.Bytes()},
		{"what Terraform printed at the import", imported.all.Bytes()},
		{"the log", traced}} {
		for _, p := range all {
			if n := p.in(shown.text); n > 0 {
				t.Errorf("%s is in %s, %d times: %s", p.what, shown.name, n, around(shown.text, p))
			}
		}
	}

	// Files may contain the values of the argument secrets, and nothing else.
	var files []place
	for _, file := range append(plans, importedPlan) {
		files = append(files, unzip(t, file)...)
		show := w
		if file == importedPlan {
			show = imported
		}
		text, _ := show.run("show", "-json", file)
		files = append(files, place{"show -json of " + filepath.Base(file), []byte(text)})
	}
	for _, at := range []*workspace{w, imported} {
		for _, name := range []string{"terraform.tfstate", "terraform.tfstate.backup"} {
			if text, err := os.ReadFile(filepath.Join(at.dir, name)); err == nil {
				files = append(files, place{name, text})
			}
		}
		text, _ := at.run("show", "-json")
		pulled, _ := at.run("state", "pull")
		files = append(files, place{"show -json", []byte(text)}, place{"state pull", []byte(pulled)})
	}
	for _, f := range files {
		for _, p := range all {
			isOurs := p == ours[0] || p == ours[1]
			n := p.in(f.text)
			switch {
			case n == 0, isOurs && !writeOnly:
			case p == header && !writeOnly &&
				(strings.HasSuffix(f.name, ":tfplan") || strings.HasPrefix(f.name, "show -json of")) && n == 1:
				// the value of a variable that is not ephemeral
			default:
				t.Errorf("%s is in %s, %d times: %s", p.what, f.name, n, around(f.text, p))
			}
		}
	}

	// Private state has digests only, and those of write-only values only.
	for id, i := range w.managed() {
		var private map[string][]byte
		w.must(json.Unmarshal(i.Private, &private))
		if digests := bytes.Contains(private["secrets"], []byte(`"digests":{"PLAIN":"`)); digests != writeOnly {
			t.Errorf("the private state of %s has digests: %t: %s", id, digests, private["secrets"])
		}
		for name, text := range private {
			for _, p := range all {
				if p.in(text) > 0 {
					t.Errorf("%s is in the private state, under %s", p.what, name)
				}
			}
		}
	}
}

func asJSON(t *testing.T, v any) string {
	t.Helper()
	text, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// around is the text around a value.
func around(text []byte, p planted) string {
	for _, form := range p.forms() {
		if i := bytes.Index(text, []byte(form)); i >= 0 {
			return fmt.Sprintf("…%q…", text[max(0, i-200):min(len(text), i+100)])
		}
	}
	return ""
}
