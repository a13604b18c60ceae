//go:build unix

package provider_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/hashicorp/terraform-plugin-go/tfprotov6"
	"github.com/hashicorp/terraform-plugin-testing/helper/resource"
	"github.com/hashicorp/terraform-plugin-testing/plancheck"
	"github.com/hashicorp/terraform-plugin-testing/tfversion"

	"github.com/graphdeploy/terraform-provider-graphdeploy/internal/fakeserver"
	"github.com/graphdeploy/terraform-provider-graphdeploy/internal/protocoltest"
)

func TestImport_byIDAndByName(t *testing.T) {
	t.Parallel()
	s := newService(t, fakeserver.Options{MaxPage: 1})
	id := s.SeedDeployment(map[string]any{"name": "app", "source": "internal_docker",
		"source_config": map[string]any{"build_on_push": true, "resource_spec": map[string]any{"cpu": 0.5}}})
	const looksLikeID, missing = "0f0e0d0c-aaaa-4bbb-8ccc-000000000000", "99999999-9999-4999-8999-999999999999"
	for _, name := range []string{"app-1", "my app", "APP", looksLikeID} {
		s.SeedDeployment(map[string]any{"name": name})
	}
	twice := []string{s.SeedDeployment(map[string]any{"name": "twin"}), s.SeedDeployment(map[string]any{"name": "twin"})}
	p := newProtocol(t, s)
	for given, name := range map[string]string{strings.ToUpper(id): "app", "app": "app", looksLikeID: looksLikeID} {
		r, diags := p.Import(typeName, given)
		p.ExpectNone(diags)
		if got := p.Values(r)["name"]; got != name {
			t.Errorf("%s imports %v, want %s", given, got, name)
		}
	}
	for given, want := range map[string]protocoltest.Message{
		"ap":    protocoltest.Error("No such deployment", "", `no deployment named "ap" (case-sensitive)`),
		missing: protocoltest.Error("No such deployment", "", "no deployment with ID "+missing),
		"twin":  protocoltest.Error("Multiple deployments with that name", "", twice[0], twice[1]),
	} {
		_, diags := p.Import(typeName, given)
		protocoltest.Expect(t, diags, want)
	}
	// The state of an import is complete.
	m := imported(t, s, "app")
	config, values := m.values()["source_config"].(object), m.values()
	if values["id"] != id || config["build_on_push"] != true || config["resource_spec"].(object)["cpu"] != 0.5 ||
		values["source_revision_config"].(object)["image_uri"] != "registry.example/app:1" {
		t.Errorf("the state has %s", inJSON(values))
	}
	m.expectNoop(onlyDocumented, `{}`)
}

// A service may know sources and statuses that this provider does not.
func TestDataSource_unknownSourceAndStatusAreShown(t *testing.T) {
	t.Parallel()
	s := newService(t, fakeserver.Options{ExtraFields: true})
	id := s.SeedDeployment(map[string]any{"name": "odd", "source": "carrier_pigeon", "status": "MOLTING"})
	p := newProtocol(t, s)
	read, diags := p.ReadData(typeName, object{"id": id})
	p.ExpectNone(diags)
	if read["source"] != "carrier_pigeon" || read["status"] != "MOLTING" {
		t.Errorf("read %s", inJSON(read))
	}
}

// What the state has from an import is not owned until it is set: trimming the
// configuration drops nothing.
func TestImport_trimmedConfigurationDropsNothing(t *testing.T) {
	t.Parallel()
	const everything = `{"name":"app","source":"internal_docker","source_config":{"build_command":"make",` +
		`"custom_url":"https://a.example.com","install_command":"deps","resource_spec":{"cpu":1,"labels":{"a":"1","b":"2"},` +
		`"sidecars":[{"image":"i","name":"s"},{"name":"t"}]}},"source_revision_config":{"image_uri":"i:1"}}`
	seeded := func(t *testing.T) managed {
		s := newService(t, fakeserver.Options{Defaults: map[string]any{}})
		s.SeedDeployment(arguments(t, everything))
		return imported(t, s, "app")
	}
	t.Run("minimal configuration", func(t *testing.T) {
		t.Parallel()
		m := seeded(t)
		m.expectNoop(onlyDocumented, `{}`)
		m.apply(allOperations, `{"source_config": {"build_command": "make all"}}`, "")
		m.expectSent(`[{"source_config":{"build_command":"make all"}}]`)
		m.expectNoop(allOperations, `{"source_config": {"build_command": "make all"}}`)
		// Only that is owned now.
		m.apply(allOperations, `{}`, "Removed values stay in the service: ")
		m.expectSent(`[{"source_config":{"build_command":null}}]`)
		m.expectNoop(allOperations, `{}`)
		m.expectStored("source_config", `{"custom_url":"https://a.example.com","install_command":"deps",`+
			`"resource_spec":{"cpu":1,"labels":{"a":"1","b":"2"},"sidecars":[{"image":"i","name":"s"},{"name":"t"}]}}`)
	})
	t.Run("partly set", func(t *testing.T) {
		t.Parallel()
		m := seeded(t)
		const partly = `{"source_config": {"resource_spec": {"labels": {"a": "1"}, "sidecars": [{"name": "t"}, ` +
			`{"name": "s"}]}}`
		m.expectNoop(onlyDocumented, partly+`}`)
		m.apply(onlyDocumented, partly+`, "wait_until": "created"}`, "")
		m.expectNoop(onlyDocumented, partly+`, "wait_until": "created"}`)
		// A label that the configuration never set stays, one that it did is dropped.
		const trimmed = `{"source_config": {"resource_spec": {"labels": {}, "sidecars": [{"name": "s"}, {"name": "t"}]}}, ` +
			`"wait_until": "created"}`
		m.apply(allOperations, trimmed, "Removed values stay in the service: ")
		m.expectSent(`[{"source_config":{"resource_spec":{"cpu":1,"labels":{"b":"2"},"sidecars":[{"image":"i","name":"s"},` +
			`{"name":"t"}]}}}]`)
		m.expectNoop(allOperations, trimmed)
	})
	t.Run("complete, applied, then trimmed", func(t *testing.T) {
		t.Parallel()
		m := seeded(t)
		const complete = `{"source_config":{"build_command":"make","custom_url":"https://a.example.com",` +
			`"install_command":"deps","resource_spec":{"cpu":1,"labels":{"a":"1","b":"2"},"sidecars":[{"image":"i",` +
			`"name":"s"},{"name":"t"}]}},"source_revision_config":{"image_uri":"i:1"}`
		m.expectNoop(onlyDocumented, complete+`}`)
		m.apply(onlyDocumented, complete+`, "deletion_policy": "abandon"}`, "")
		m.apply(allOperations,
			`{"deletion_policy": "abandon", "source_config":{"resource_spec":{"sidecars":[{"name":"s"},{"name":"t"}]}}}`, "")
		m.expectNoop(allOperations,
			`{"deletion_policy": "abandon", "source_config":{"resource_spec":{"sidecars":[{"name":"s"},{"name":"t"}]}}}`)
		m.expectStored("source_config", `{"resource_spec":{"labels":{},"sidecars":[{"name":"s"},{"name":"t"}]}}`)
	})
}

// A service may report neither empty objects nor refs: what the configuration sets
// there matches after an import, and enters the state without a request.
func TestImport_unverifiedValuesMatch(t *testing.T) {
	t.Parallel()
	for name, options := range map[string]fakeserver.Options{"null": {NullForEmpty: true, ResolveRefs: true},
		"omitted": {OmitEmpty: true, ResolveRefs: true}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			options.Defaults = map[string]any{}
			s := newService(t, options)
			const config = `{"source_config": {"repo_url": "https://codehost.example/acme/app", ` +
				`"resource_spec": {"volumes": [{"name": "v", "empty_dir": "{}"}, {"name": "w", ` +
				`"secret": "{\"secretName\":\"s\"}"}]}}, "source_revision_config": {"repo_ref": "main"}`
			s.SeedDeployment(map[string]any{"name": "app", "source": "codehost",
				"source_config": map[string]any{"resource_spec": map[string]any{"volumes": []any{
					map[string]any{"name": "w", "secret": map[string]any{"secretName": "s"}},
					map[string]any{"name": "v", "emptyDir": map[string]any{}}}}}})
			m := imported(t, s, "app")
			source := `, "source": "codehost"`
			m.apply(onlyDocumented, config+source+`, "wait_until": "created"}`, "Imported ref cannot be verified: ")
			m.expectNoop(onlyDocumented, config+source+`, "wait_until": "created"}`)
			if sent := m.s.patches(t); len(sent) > 0 {
				t.Errorf("sent %s", inJSON(sent))
			}
		})
	}
}

// TestImport_removedObjectStaysNull: an object that was set after an import and is removed is null as a whole, and
// stays so.
func TestImport_removedObjectStaysNull(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ after, sent, left string }{
		"resource_spec": {`{"source_config": {"build_command": "make"}}`,
			`[{"source_config":{"resource_spec":{"cpu":null,"labels":{"a":"1"},"min_scale":3}}}]`,
			"[source_config.resource_spec.min_scale source_config.resource_spec.labels[\"a\"]]"},
		"source_config": {`{}`,
			`[{"source_config":{"build_command":null,"resource_spec":{"cpu":null,"labels":{"a":"1"},"min_scale":3}}}]`,
			"[source_config.resource_spec.min_scale source_config.resource_spec.labels[\"a\"] source_config.install_command]"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newService(t, fakeserver.Options{Defaults: map[string]any{}})
			s.SeedDeployment(arguments(t, `{"source_config":{"build_command":"make","install_command":"deps",`+
				`"resource_spec":{"cpu":1,"min_scale":3,"labels":{"a":"1"}}}}`))
			m := imported(t, s, "app")
			m.apply(allOperations, `{"source_config": {"build_command": "make", "resource_spec": {"cpu": 2}}}`, "")
			m.s.ResetRequests()
			got := m.apply(allOperations, c.after, "Removed values stay in the service: ")
			if lines := fmt.Sprint(bullets(got)); lines != c.left {
				t.Errorf("the plan names %s, want %s", lines, c.left)
			}
			m.expectSent(c.sent)
			for range 2 {
				m.expectNoop(allOperations, c.after)
			}
		})
	}
}

// The commit of an imported deployment may be of any branch: the configured one
// is owned from the first apply on, without a request.
func TestImport_refOfResolvedCommit(t *testing.T) {
	t.Parallel()
	s := newService(t, fakeserver.Options{ResolveRefs: true})
	s.SeedDeployment(map[string]any{"name": "app", "source": "codehost",
		"source_revision_config": map[string]any{"repo_ref": "main", "graph_config_path": "graph.json"}})
	m := imported(t, s, "app")
	abandoned := strings.Replace(refConfig("main"), "{", `{"deletion_policy": "abandon", `, 1)
	m.apply(onlyDocumented, abandoned, "Imported ref cannot be verified: ")
	m.expectNoop(onlyDocumented, abandoned)
	m.apply(onlyDocumented, strings.Replace(abandoned, "main", "dev", 1), "Deployment cannot be updated: ")
	m.apply(allOperations, strings.Replace(abandoned, "main", "dev", 1), "")
	m.expectSent(`[{"source_revision_config":{"repo_ref":"dev"}}]`)
	m.expectNoop(allOperations, strings.Replace(abandoned, "main", "dev", 1))
}

func TestImport_identity(t *testing.T) {
	t.Parallel()
	s := newService(t, fakeserver.Options{})
	id := s.SeedDeployment(map[string]any{"name": "app"})
	p := newProtocol(t, s)
	imported, err := p.server.ImportResourceState(t.Context(),
		&tfprotov6.ImportResourceStateRequest{TypeName: typeName, Identity: p.identity(strings.ToUpper(id))})
	if err != nil {
		t.Fatal(err)
	}
	p.ExpectNone(imported.Diagnostics)
	one := imported.ImportedResources[0]
	read, err := p.server.ReadResource(t.Context(),
		&tfprotov6.ReadResourceRequest{TypeName: typeName, CurrentState: one.State,
			Private: one.Private, CurrentIdentity: one.Identity})
	if err != nil {
		t.Fatal(err)
	}
	p.ExpectNone(read.Diagnostics)
	if name := textOf(t, p.attributes(p.deploymentType(), read.NewState)["name"]); name != "app" {
		t.Errorf("name is %q", name)
	}
	if got := textOf(t, p.attributes(p.identityType(), read.NewIdentity.IdentityData)["id"]); !strings.EqualFold(got, id) {
		t.Errorf("identity is %q, want %q", got, id)
	}
}

func TestImport_identityThatIsNoUUIDIsRejected(t *testing.T) {
	t.Parallel()
	p := newProtocol(t, newService(t, fakeserver.Options{}))
	imported, err := p.server.ImportResourceState(t.Context(),
		&tfprotov6.ImportResourceStateRequest{TypeName: typeName, Identity: p.identity("app")})
	if err != nil {
		t.Fatal(err)
	}
	protocoltest.Expect(t, imported.Diagnostics, protocoltest.Error("Invalid UUID", "id", `got "app"`,
		"To import by name, use id instead of identity."))
}

func TestImport_nameThatLooksLikeAUUID(t *testing.T) {
	t.Parallel()
	s := newService(t, fakeserver.Options{})
	const name = "0f0e0d0c-aaaa-4bbb-8ccc-000000000000"
	id := s.SeedDeployment(map[string]any{"name": name})
	p := newProtocol(t, s)
	r, diags := p.Import(typeName, name)
	p.ExpectNone(diags)
	if got := p.Values(r)["id"]; got != id {
		t.Errorf("imported %v, want %s", got, id)
	}
	// An id takes precedence over a name.
	other := s.SeedDeployment(map[string]any{"name": id})
	r, diags = p.Import(typeName, id)
	p.ExpectNone(diags)
	if got := p.Values(r)["id"]; got != id {
		t.Errorf("imported %v, want %s and not %s", got, id, other)
	}
	_, diags = p.Import(typeName, "99999999-9999-4999-8999-999999999999")
	protocoltest.Expect(t, diags, protocoltest.Error("No such deployment", "", "99999999-9999-4999-8999-999999999999"))
}

func TestAccImport_byIdentity(t *testing.T) {
	t.Parallel()
	s := newService(t, fakeserver.Options{})
	id := s.SeedDeployment(map[string]any{"name": "app", "source": "internal_docker"})
	resource.UnitTest(t, resource.TestCase{
		ProtoV6ProviderFactories: factories(),
		TerraformVersionChecks:   []tfversion.TerraformVersionCheck{tfversion.SkipBelow(tfversion.Version1_12_0)},
		Steps: []resource.TestStep{{
			Config: s.provider() + deployment("app", "internal_docker") + fmt.Sprintf("import {\n  to = %s\n  identity = {\n"+
				"    id = %q\n  }\n}", this, id),
			ConfigPlanChecks: resource.ConfigPlanChecks{PreApply: []plancheck.PlanCheck{
				plancheck.ExpectResourceAction(this, plancheck.ResourceActionNoop),
			}},
		}},
	})
}

// 250 deployments are imported with one import block: the plan reads them with few
// requests and changes nothing, and the apply writes nothing to the service.
func TestAccImport_forEachNeedsFewRequests(t *testing.T) {
	terraformSince(t, 1, 7) // for_each in import blocks
	t.Parallel()
	s := newService(t, fakeserver.Options{})
	ids := map[string]string{}
	for i := range 250 {
		name := fmt.Sprintf("app-%03d", i)
		ids[name] = s.SeedDeployment(map[string]any{"name": name})
	}
	encoded, err := json.Marshal(ids)
	w := newWorkspace(t, buildProvider(t))
	w.must(err)
	w.configure(s.provider(), `
locals {
  existing = `+string(encoded)+`
}
import {
  for_each = local.existing
  to       = graphdeploy_deployment.existing[each.key]
  id       = each.value
}
resource "graphdeploy_deployment" "existing" {
  for_each = local.existing
  name     = each.key
  source   = "external_docker"
}`)
	if out, want := w.succeed("plan", "-out=planned"), "250 to import, 0 to add, 0 to change, "+
		"0 to destroy"; !strings.Contains(out, want) {
		t.Errorf("want %s:\n%s", want, out)
	}
	n := len(s.Requests())
	// How many reads share a request depends on how fast Terraform sends them: 25 at
	// most if ten do, and fewer with pages that are read ahead. A busy machine needs more.
	if n > 60 {
		t.Errorf("the plan took %d requests, want 60 at most", n)
	}
	w.succeed("apply", "planned")
	if managed := w.managed(); len(managed) != 250 {
		t.Errorf("%d deployments are in the state, want 250", len(managed))
	}
	for _, r := range s.Requests() {
		if r.Method != http.MethodGet {
			t.Errorf("sent %s %s", r.Method, r.Path)
		}
	}
	t.Logf("%d requests for the plan, %d with the apply", n, len(s.Requests()))
}
