package provider_test

import (
	"fmt"
	"maps"
	"net/http"
	"strings"
	"testing"

	"github.com/graphdeploy/terraform-provider-graphdeploy/internal/fakeserver"
)

// managed is a service with one deployment, and what Terraform has of it.
type managed struct {
	*testing.T
	s *service
	i *instance
}

// create creates deployment "app" with some arguments, in JSON.
func create(t *testing.T, options fakeserver.Options, text string) managed {
	t.Helper()
	m := managed{t, newService(t, options), newInstance(t, nil)}
	m.apply(allOperations, text, "")
	return m
}

// imported imports a seeded deployment, by its name.
func imported(t *testing.T, s *service, name string) managed {
	t.Helper()
	run := newRun(t, s, onlyDocumented)
	r, diags := run.plans.Import(typeName, name)
	if len(diags) > 0 {
		t.Fatal(diags)
	}
	return managed{t, s, newInstance(t, r)}
}

// apply refreshes, plans and applies. What is reported has to begin with some
// text; an empty one means that nothing is. It returns what was reported.
func (m managed) apply(documentedOnly bool, text, want string) string {
	m.Helper()
	run := newRun(m.T, m.s, documentedOnly)
	reported := run.refresh(m.i)
	planned := run.plan(m.i, arguments(m.T, text))
	if reported = append(reported, planned.diagnostics...); !hasErrors(planned.diagnostics) && !planned.isNoop(m.i) {
		reported = append(reported, run.apply(m.i, planned)...)
	}
	got := messages(reported)
	if !strings.HasPrefix(got, want) || want == "" && got != "" {
		m.Errorf("an apply of %s reports %q, want %q", text, got, want)
	}
	return got
}

func (m managed) expectNoop(documentedOnly bool, text string) {
	m.Helper()
	run := newRun(m.T, m.s, documentedOnly)
	run.refresh(m.i)
	if planned := run.plan(m.i, arguments(m.T, text)); !planned.isNoop(m.i) || len(planned.diagnostics) > 0 {
		m.Errorf("the plan of %s proposes %s and reports %s", text, difference(m.i.state, planned.planned), messages(planned.diagnostics))
	}
}

// expectSent compares the bodies of the updates that were sent, and forgets them.
func (m managed) expectSent(want string) {
	m.Helper()
	if got := inJSON(m.s.patches(m.T)); got != want {
		m.Errorf("sent %s, want %s", got, want)
	}
	m.s.ResetRequests()
}

func (m managed) expectStored(object, want string) {
	m.Helper()
	if got := inJSON(withoutNull(decoded(m.s.stored(m.T))[object])); got != want {
		m.Errorf("the service has %s, want %s", got, want)
	}
}

// A new revision may be of another commit, and the service reports that in place
// of the ref: nobody else has changed it.
func TestUpdate_newCommitOfTheRefIsNotReported(t *testing.T) {
	t.Parallel()
	for name, ref := range map[string]string{"a branch": `"repo_ref": "main", `, "none": ""} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			config := func(path string) string {
				return `{"source": "codehost", "source_config": {"repo_url": "https://codehost.example/acme/app"}, "wait_until": "created",
					"source_revision_config": {` + ref + `"graph_config_path": "` + path + `"}}`
			}
			m := create(t, fakeserver.Options{ResolveRefs: true}, config("a.json"))
			m.apply(allOperations, config("b.json"), "")
			m.expectSent(`[{"source_revision_config":{"graph_config_path":"b.json"}}]`)
			m.expectNoop(allOperations, config("b.json"))
		})
	}
}

// A service that replaces source_config drops what was not sent. That is reported,
// and the next plan repairs what is set.
func TestUpdate_droppedPropertiesAreReported(t *testing.T) {
	t.Parallel()
	m := create(t, fakeserver.Options{KeepUnknown: true, Defaults: map[string]any{}, Patch: fakeserver.PatchReplaceConfig,
		ServiceMembers: nil}, `{"source_config": {"build_command": "make", "install_command": "deps"}}`)
	m.s.Edit(m.s.stored(t)["id"].(string), func(d map[string]any) { d["source_config"].(map[string]any)["zone"] = "z1" })
	const after = `{"source_config": {"build_command": "make all", "install_command": "deps"}}`
	got := m.apply(allOperations, after, "Service changed other properties: ")
	if lines := fmt.Sprint(bullets(got)); lines != "[source_config.install_command source_config.zone]" {
		t.Errorf("reported %s", lines)
	}
	m.expectSent(`[{"source_config":{"build_command":"make all"}}]`)
	m.apply(allOperations, after, "Service changed other properties: ")
	m.expectSent(`[{"source_config":{"install_command":"deps"}}]`)
}

// A service may reject members that it reports itself: the update is sent once more
// without them.
func TestUpdate_rejectedUnknownMembers(t *testing.T) {
	t.Parallel()
	m := create(t, fakeserver.Options{Defaults: map[string]any{}, ServiceMembers: map[string]any{"source_config.resource_spec.zone": "z1"}},
		`{"source_config": {"resource_spec": {"cpu": 1, "labels": {"a": "1"}}}}`)
	const after = `{"source_config": {"resource_spec": {"cpu": 2, "labels": {"a": "1"}}}}`
	got := m.apply(allOperations, after, "Unknown properties were not sent: ")
	if lines := fmt.Sprint(bullets(got)); lines != "[source_config.resource_spec.zone]" {
		t.Errorf("reported %s", lines)
	}
	m.expectSent(`[{"source_config":{"resource_spec":{"cpu":2,"labels":{"a":"1"},"zone":"z1"}}},{"source_config":{"resource_spec":{"cpu":2,"labels":{"a":"1"}}}}]`)
	m.expectNoop(allOperations, after)
	m.expectStored("source_config", `{"resource_spec":{"cpu":2,"labels":{"a":"1"},"zone":"z1"}}`)
}

// An update that fails changes neither state nor record, and the next one repeats it.
func TestUpdate_failureIsRepeated(t *testing.T) {
	t.Parallel()
	const before = `{"source_config": {"build_command": "make", "resource_spec": {"cpu": 1, "labels": {"a": "1", "b": "2"}}}}`
	const after = `{"source_config": {"build_command": "make all", "resource_spec": {"cpu": 1, "labels": {"a": "1"}}}}`
	const body = `{"source_config":{"build_command":"make all","resource_spec":{"cpu":1,"labels":{"a":"1"}}}}`
	for name, c := range map[string]struct {
		fault fakeserver.Fault
		times int
		want  string
		sent  string // by the second apply
	}{
		"rejected":      {fakeserver.Fault{Status: http.StatusConflict}, 1, "Cannot update deployment", "[" + body + "]"},
		"response lost": {fakeserver.Fault{AfterWork: true, Cut: true}, 1, "", "null"},
		"not applied":   {fakeserver.Fault{Status: http.StatusOK, Body: "{}"}, 2, "Update was not applied: ", "[" + body + "]"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m := create(t, fakeserver.Options{Defaults: map[string]any{}}, before)
			m.s.Fail(fakeserver.UpdateDeployment, c.times, c.fault)
			m.apply(allOperations, after, c.want)
			m.s.ResetRequests()
			m.apply(allOperations, after, "")
			m.expectSent(c.sent)
			m.expectNoop(allOperations, after)
			m.expectStored("source_config", `{"build_command":"make all","resource_spec":{"cpu":1,"labels":{"a":"1"}}}`)
		})
	}
}

// Where a service rejects an update, what additional_properties sets is sent again, and what the provider does not know is not,
// null or not. If there is nothing of the kind, the update is not sent again.
func TestUpdate_rejectedWithAdditionalProperties(t *testing.T) {
	t.Parallel()
	with := func(command string) string {
		return `{"additional_properties": "{\"source_config\":{\"zones\":[\"a\"],\"tier\":{\"b\":1}}}", "source_config": {"build_command": "` + command +
			`", "resource_spec": {"cpu": ` + command + `}}}`
	}
	for name, c := range map[string]struct {
		foreign map[string]any
		want    string
		sent    string
	}{
		"nothing else": {nil, "Cannot update deployment", `[{"source_config":{"build_command":"2","resource_spec":{"cpu":2}}}]`},
		"others": {map[string]any{"zone": "z1", "gpu": nil}, "Unknown properties were not sent: ",
			`[{"source_config":{"build_command":"2","resource_spec":{"cpu":2,"gpu":null,"zone":"z1"}}},` +
				`{"source_config":{"build_command":"2","resource_spec":{"cpu":2},"tier":{"b":1},"zones":["a"]}}]`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m := create(t, fakeserver.Options{KeepUnknown: true, Defaults: map[string]any{}}, with("1"))
			m.s.Edit(m.s.stored(t)["id"].(string), func(d map[string]any) {
				maps.Copy(d["source_config"].(map[string]any)["resource_spec"].(map[string]any), c.foreign)
			})
			m.s.Fail(fakeserver.UpdateDeployment, 1, fakeserver.Fault{Status: http.StatusUnprocessableEntity})
			m.apply(allOperations, with("2"), c.want)
			m.expectSent(c.sent)
		})
	}
}

// What the state has from an import is not owned until it is set: trimming the
// configuration drops nothing.
func TestImport_trimmedConfigurationDropsNothing(t *testing.T) {
	t.Parallel()
	const everything = `{"name":"app","source":"internal_docker","source_config":{"build_command":"make","custom_url":"https://a.example.com","install_command":"deps","resource_spec":{"cpu":1,"labels":{"a":"1","b":"2"},"sidecars":[{"image":"i","name":"s"},{"name":"t"}]}},"source_revision_config":{"image_uri":"i:1"}}`
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
		m.expectStored("source_config", `{"custom_url":"https://a.example.com","install_command":"deps","resource_spec":{"cpu":1,"labels":{"a":"1","b":"2"},"sidecars":[{"image":"i","name":"s"},{"name":"t"}]}}`)
	})
	t.Run("partly set", func(t *testing.T) {
		t.Parallel()
		m := seeded(t)
		const partly = `{"source_config": {"resource_spec": {"labels": {"a": "1"}, "sidecars": [{"name": "t"}, {"name": "s"}]}}`
		m.expectNoop(onlyDocumented, partly+`}`)
		m.apply(onlyDocumented, partly+`, "wait_until": "created"}`, "")
		m.expectNoop(onlyDocumented, partly+`, "wait_until": "created"}`)
		// A label that the configuration never set stays, one that it did is dropped.
		const trimmed = `{"source_config": {"resource_spec": {"labels": {}, "sidecars": [{"name": "s"}, {"name": "t"}]}}, "wait_until": "created"}`
		m.apply(allOperations, trimmed, "Removed values stay in the service: ")
		m.expectSent(`[{"source_config":{"resource_spec":{"cpu":1,"labels":{"b":"2"},"sidecars":[{"image":"i","name":"s"},{"name":"t"}]}}}]`)
		m.expectNoop(allOperations, trimmed)
	})
	t.Run("complete, applied, then trimmed", func(t *testing.T) {
		t.Parallel()
		m := seeded(t)
		const complete = `{"source_config":{"build_command":"make","custom_url":"https://a.example.com","install_command":"deps","resource_spec":{"cpu":1,"labels":{"a":"1","b":"2"},"sidecars":[{"image":"i","name":"s"},{"name":"t"}]}},"source_revision_config":{"image_uri":"i:1"}`
		m.expectNoop(onlyDocumented, complete+`}`)
		m.apply(onlyDocumented, complete+`, "deletion_policy": "abandon"}`, "")
		m.apply(allOperations, `{"deletion_policy": "abandon", "source_config":{"resource_spec":{"sidecars":[{"name":"s"},{"name":"t"}]}}}`, "")
		m.expectNoop(allOperations, `{"deletion_policy": "abandon", "source_config":{"resource_spec":{"sidecars":[{"name":"s"},{"name":"t"}]}}}`)
		m.expectStored("source_config", `{"resource_spec":{"labels":{},"sidecars":[{"name":"s"},{"name":"t"}]}}`)
	})
}

// A service may report neither empty objects nor refs: what the configuration sets
// there matches after an import, and enters the state without a request.
func TestImport_unverifiedValuesMatch(t *testing.T) {
	t.Parallel()
	for name, options := range map[string]fakeserver.Options{"null": {NullForEmpty: true, ResolveRefs: true}, "omitted": {OmitEmpty: true, ResolveRefs: true}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			options.Defaults = map[string]any{}
			s := newService(t, options)
			const config = `{"source_config": {"repo_url": "https://codehost.example/acme/app", "resource_spec": {"volumes": [{"name": "v", "empty_dir": "{}"}, {"name": "w", "secret": "{\"secretName\":\"s\"}"}]}}, "source_revision_config": {"repo_ref": "main"}`
			s.SeedDeployment(map[string]any{"name": "app", "source": "codehost", "source_config": map[string]any{"resource_spec": map[string]any{"volumes": []any{
				map[string]any{"name": "w", "secret": map[string]any{"secretName": "s"}}, map[string]any{"name": "v", "emptyDir": map[string]any{}}}}}})
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
