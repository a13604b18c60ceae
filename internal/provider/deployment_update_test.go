package provider_test

import (
	"fmt"
	"maps"
	"net/http"
	"strings"
	"testing"

	"github.com/graphdeploy/terraform-provider-graphdeploy/internal/fakeserver"
	"github.com/graphdeploy/terraform-provider-graphdeploy/internal/protocoltest"
)

// What a message offers where documented operations only forbid an update.
var updateOptions = []string{"remove documented_operations_only", "ignore_changes", "deletion_policy", "new name",
	"-refresh=false"}

// Each key that changes is sent whole, with what the service has beside. That each
// argument can change is in TestEveryArgument_againstEveryKindOfUpdate.
func TestUpdate_sendsChangedKeysUnlessOnlyDocumentedOperationsAreAllowed(t *testing.T) {
	t.Parallel()
	config := func(label string) string {
		return `{"source_config": {"build_command": "make", "resource_spec": {"cpu_limit": 2, "labels": {"a": "` +
			label + `"}}}}`
	}
	m := create(t, fakeserver.Options{KeepUnknown: true, Defaults: map[string]any{}, ServiceMembers: map[string]any{
		"source_config.resource_spec.zone": "z1", "source_config.resource_spec.labels.managed-by": "service"}}, config("1"))
	m.applyReports(onlyDocumented, config("2"),
		append([]string{"Deployment cannot be updated: ", `- source_config.resource_spec.labels["a"]`},
			updateOptions...)...)
	m.expectNoop(onlyDocumented, config("1"))
	assertDocumentedOperationsOnly(t, m.s)
	m.apply(allOperations, config("2"), "")
	m.expectSent(`[{"source_config":{"resource_spec":{"cpu_limit":2,"labels":{"a":"2","managed-by":"service"},` +
		`"zone":"z1"}}}]`)
	m.expectNoop(allOperations, config("2"))
}

func refConfig(ref string) string {
	return `{"source": "codehost", "source_revision_config": {"graph_config_path": "graph.json", "repo_ref": "` +
		ref + `"}}`
}

// A service that reports commits in place of refs shows no difference between two
// branches. A change is sent all the same, and verified by the new revision.
func TestUpdate_resolvedRef(t *testing.T) {
	t.Parallel()
	m := create(t, fakeserver.Options{ResolveRefs: true}, refConfig("main"))
	commit := func() any { return m.s.stored(t)["source_revision_config"].(map[string]any)["repo_commit_sha"] }
	m.applyReports(onlyDocumented, refConfig("dev"), "Deployment cannot be updated: ",
		fmt.Sprintf(`repo_ref: %q in the service, "dev" in the configuration`, commit()))
	for _, ref := range []string{"dev", "next"} {
		m.apply(allOperations, refConfig(ref), "")
		m.expectSent(`[{"source_revision_config":{"repo_ref":"` + ref + `"}}]`)
		m.expectNoop(allOperations, refConfig(ref))
	}
	// Another branch may be at the same commit.
	before := commit()
	m.s.Fail(fakeserver.UpdateDeployment, 1, fakeserver.Fault{AfterWork: true, Reached: func() {
		m.s.edit(t, "source_revision_config.repo_commit_sha", before)()
	}})
	m.apply(allOperations, refConfig("twin"), "")
	m.expectSent(`[{"source_revision_config":{"repo_ref":"twin"}}]`)
	m.expectNoop(allOperations, refConfig("twin"))
	if now := commit(); now != before {
		t.Errorf("the commit is %s, want %s still", now, before)
	}
}

func TestUpdate_refToCommitAndBack(t *testing.T) {
	t.Parallel()
	pinned := strings.Repeat("0123456789", 4)
	m := create(t, fakeserver.Options{ResolveRefs: true}, refConfig("main"))
	// A service builds that commit; the fake one chooses another.
	m.s.Fail(fakeserver.UpdateDeployment, 1,
		fakeserver.Fault{AfterWork: true, Reached: m.s.edit(t, "source_revision_config.repo_commit_sha", pinned)})
	for _, ref := range []string{pinned, "main"} {
		m.apply(allOperations, refConfig(ref), "")
		m.expectSent(`[{"source_revision_config":{"repo_ref":"` + ref + `"}}]`)
		m.expectNoop(allOperations, refConfig(ref))
	}
}

// What a service ignores is not in the state.
func TestUpdate_ignoredChangesAreErrors(t *testing.T) {
	t.Parallel()
	t.Run("a ref", func(t *testing.T) {
		t.Parallel()
		m := create(t, fakeserver.Options{ResolveRefs: true, IgnorePatch: true}, refConfig("main"))
		for range 2 {
			m.applyReports(allOperations, refConfig("dev"), "Update was not applied: ", `source_revision_config.repo_ref: "`,
				`" in the service, "dev" in the configuration`)
		}
		m.expectNoop(allOperations, refConfig("main"))
	})
	t.Run("other arguments", func(t *testing.T) {
		t.Parallel()
		const before = `{"source": "external_docker", "source_config": {"custom_url": "https://a.example.com"}, ` +
			`"secrets": {"A": "planted-one"}}`
		after := strings.NewReplacer("//a", "//b", `"}, `,
			`", "resource_spec": {"cpu": 7, "labels": {"a": "1"}, "sidecars": [{"name": "a"}]}}, `, "planted-one",
			"planted-two").Replace(before)
		m := create(t, fakeserver.Options{IgnorePatch: true}, before)
		m.applyReports(allOperations, after, "Update was not applied: ", "  - source_config.custom_url\n",
			"  - source_config.resource_spec.cpu: 1 in the service, 7 in the configuration\n",
			"  - source_config.resource_spec.labels[\"a\"]\n", "  - source_config.resource_spec.sidecars (missing in the "+
				"service: a)\n",
			`  - secret "A" still has its former value`)
		m.expectNoop(allOperations, before)
	})
}

// Nothing is changed, and the deployment stays in the state.
func TestUpdate_serviceWithoutUpdateAndDelete(t *testing.T) {
	t.Parallel()
	config := func(url, policy string) string {
		return `{"source": "external_docker", "deletion_policy": "` + policy + `", "source_config": {"custom_url": "` +
			url + `"}}`
	}
	const a, b = "https://a.example.com", "https://b.example.com"
	m := create(t, fakeserver.Options{Documented: true}, config(a, "delete"))
	m.applyReports(allOperations, config(b, "delete"), "Service does not support updates: ", "ignore_changes",
		"documented_operations_only", "405")
	m.expectNoop(allOperations, config(a, "delete"))
	got := messages(newRun(t, m.s, allOperations).destroy(m.i))
	if !errorPattern("Service does not support deletion: ", "abandon", "documented_operations_only",
		"405").MatchString(got) {
		t.Errorf("the destroy reports %s", got)
	}
	m.expectNoop(allOperations, config(a, "delete"))
	m.s.stored(t)
	if n := m.s.sent(http.MethodPatch, "") + m.s.sent(http.MethodDelete, ""); n != 2 {
		t.Errorf("%d updates and deletions were sent, want one each", n)
	}
	m.apply(allOperations, config(a, "abandon"), "")
}

// A deployment that is deleted while it is updated is no failure of the service:
// the next plan creates it.
func TestUpdate_deletedMeanwhile(t *testing.T) {
	t.Parallel()
	config := func(url string) string {
		return `{"source": "external_docker", "source_config": {"custom_url": "https://` + url + `.example.com"}}`
	}
	m := create(t, fakeserver.Options{}, config("a"))
	m.s.Fail(fakeserver.UpdateDeployment, 1, fakeserver.Fault{Reached: func() {
		m.s.Remove(m.s.stored(t)["id"].(string))
	}})
	m.applyReports(allOperations, config("b"), "Deployment no longer exists: ",
		"probably deleted outside Terraform. Plan again")
	m.apply(allOperations, config("b"), "")
	m.expectNoop(allOperations, config("b"))
	if n := m.s.sent(http.MethodPost, ""); n != 2 {
		t.Errorf("%d creates were sent, want 2", n)
	}
}

// A value that is known only after apply is compared then.
func TestUpdate_unknownValueIsComparedAtApply(t *testing.T) {
	t.Parallel()
	config := func(url any) object {
		return object{"name": "app", "source": "external_docker", "source_config": object{"custom_url": url}}
	}
	m := create(t, fakeserver.Options{},
		`{"source": "external_docker", "source_config": {"custom_url": "https://a.example.com"}}`)
	for url, want := range map[string][]string{
		"https://a.example.com": {"^$"},
		"https://b.example.com": append([]string{"Deployment cannot be updated: ", "  - source_config.custom_url"},
			updateOptions...),
	} {
		run := newRun(t, m.s, onlyDocumented)
		run.refresh(m.i)
		planned := run.plan(m.i, config(protocoltest.Unknown))
		run.plans.ExpectNone(planned.diagnostics)
		planned.config = config(url)
		got := messages(run.apply(m.i, planned))
		if want[0] == "^$" && got != "" || want[0] != "^$" && !errorPattern(want...).MatchString(got) {
			t.Errorf("%s: the apply reports %q, want %q", url, got, want)
		}
	}
	assertDocumentedOperationsOnly(t, m.s)
}

// A new revision may be of another commit, and the service reports that in place
// of the ref: nobody else has changed it.
func TestUpdate_newCommitOfTheRefIsNotReported(t *testing.T) {
	t.Parallel()
	for name, ref := range map[string]string{"a branch": `"repo_ref": "main", `, "none": ""} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			config := func(path string) string {
				return `{"source": "codehost", "source_config": {"repo_url": "https://codehost.example/acme/app"}, ` +
					`"wait_until": "created",
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
	m := create(t, fakeserver.Options{Defaults: map[string]any{},
		ServiceMembers: map[string]any{"source_config.resource_spec.zone": "z1"}},
		`{"source_config": {"resource_spec": {"cpu": 1, "labels": {"a": "1"}}}}`)
	const after = `{"source_config": {"resource_spec": {"cpu": 2, "labels": {"a": "1"}}}}`
	got := m.apply(allOperations, after, "Unknown properties were not sent: ")
	if lines := fmt.Sprint(bullets(got)); lines != "[source_config.resource_spec.zone]" {
		t.Errorf("reported %s", lines)
	}
	m.expectSent(`[{"source_config":{"resource_spec":{"cpu":2,"labels":{"a":"1"},"zone":"z1"}}},` +
		`{"source_config":{"resource_spec":{"cpu":2,"labels":{"a":"1"}}}}]`)
	m.expectNoop(allOperations, after)
	m.expectStored("source_config", `{"resource_spec":{"cpu":2,"labels":{"a":"1"},"zone":"z1"}}`)
}

// An update that fails changes neither state nor record, and the next one repeats it.
func TestUpdate_failureIsRepeated(t *testing.T) {
	t.Parallel()
	const before = `{"source_config": {"build_command": "make", "resource_spec": {"cpu": 1, "labels": {"a": "1", ` +
		`"b": "2"}}}}`
	const after = `{"source_config": {"build_command": "make all", "resource_spec": {"cpu": 1, "labels": {"a": "1"}}}}`
	const body = `{"source_config":{"build_command":"make all","resource_spec":{"cpu":1,"labels":{"a":"1"}}}}`
	for name, c := range map[string]struct {
		fault fakeserver.Fault
		want  string
		sent  string // by the second apply
	}{
		"rejected":      {fakeserver.Fault{Status: http.StatusConflict}, "Cannot update deployment", "[" + body + "]"},
		"response lost": {fakeserver.Fault{AfterWork: true, Cut: true}, "", "null"},
		"not applied": {fakeserver.Fault{Status: http.StatusOK, Body: "{}"}, "Update was not applied: ",
			"[" + body + "]"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m := create(t, fakeserver.Options{Defaults: map[string]any{}}, before)
			m.s.Fail(fakeserver.UpdateDeployment, 1, c.fault)
			m.apply(allOperations, after, c.want)
			if n := m.s.sent(http.MethodPatch, ""); n != 1 {
				t.Errorf("%d updates were sent, want 1", n)
			}
			m.s.ResetRequests()
			m.apply(allOperations, after, "")
			m.expectSent(c.sent)
			m.expectNoop(allOperations, after)
			m.expectStored("source_config", `{"build_command":"make all","resource_spec":{"cpu":1,"labels":{"a":"1"}}}`)
		})
	}
}

// Where a service rejects an update, what additional_properties sets is sent again, and what the provider does not know
// is not, null or not. If there is nothing of the kind, the update is not sent again.
func TestUpdate_rejectedWithAdditionalProperties(t *testing.T) {
	t.Parallel()
	with := func(command string) string {
		return `{"additional_properties": "{\"source_config\":{\"zones\":[\"a\"],\"tier\":{\"b\":1}}}", ` +
			`"source_config": {"build_command": "` + command +
			`", "resource_spec": {"cpu": ` + command + `}}}`
	}
	for name, c := range map[string]struct {
		foreign map[string]any
		want    string
		sent    string
	}{
		"nothing else": {nil, "Cannot update deployment",
			`[{"source_config":{"build_command":"2","resource_spec":{"cpu":2}}}]`},
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

// TestUpdate_changesOnlyWhatItsPlanChanges: what others change between a plan and its apply stays, in every key that is
// sent whole.
func TestUpdate_changesOnlyWhatItsPlanChanges(t *testing.T) {
	t.Parallel()
	const spec = `{"source_config": {"resource_spec": {"cpu": %s, "min_scale": 3, "labels": {"a": "1"}, ` +
		`"sidecars": [{"name": "s", "image": "i"}],
		"volumes": [{"name": "v", "config_map": "{\"name\":\"c\"}"}]}}}`
	m := create(t, fakeserver.Options{Defaults: map[string]any{}}, fmt.Sprintf(spec, "1"))
	run := newRun(t, m.s, allOperations)
	run.refresh(m.i)
	planned := run.plan(m.i, arguments(t, fmt.Sprintf(spec, "2")))
	m.s.Edit(m.s.stored(t)["id"].(string), func(d map[string]any) {
		spec := d["source_config"].(map[string]any)["resource_spec"].(map[string]any)
		spec["min_scale"], spec["labels"] = 9, map[string]any{"a": "9", "b": "9"}
		spec["sidecars"] = []any{map[string]any{"name": "injected"}, map[string]any{"name": "s", "image": "i:9"}}
		spec["volumes"] = []any{map[string]any{"name": "v", "configMap": map[string]any{"name": "c", "defaultMode": 9}}}
	})
	run.plans.ExpectNone(run.apply(m.i, planned))
	m.expectSent(`[{"source_config":{"resource_spec":{"cpu":2,"labels":{"a":"9","b":"9"},"min_scale":9,` +
		`"sidecars":[{"name":"injected"},{"image":"i:9","name":"s"}],` +
		`"volumes":[{"configMap":{"defaultMode":9,"name":"c"},"name":"v"}]}}}]`)

	// The next plan shows the drift.
	run = newRun(t, m.s, allOperations)
	run.refresh(m.i)
	if planned := run.plan(m.i, arguments(t, fmt.Sprintf(spec, "2"))); planned.isNoop(m.i) {
		t.Error("the next plan is empty")
	}
}

// TestUpdate_stringsThatBeginWithJSON: a string is compared as a string.
func TestUpdate_stringsThatBeginWithJSON(t *testing.T) {
	t.Parallel()
	const spec = `{"source_config": {"resource_spec": {"sidecars": [{"name": "s", "args": ["%s"], "env": [{"name": "A", ` +
		`"value": "%[1]s"}]}]}}}`
	m := create(t, fakeserver.Options{Defaults: map[string]any{}}, fmt.Sprintf(spec, "{}-blue"))
	m.apply(allOperations, fmt.Sprintf(spec, "{}-green"), "")
	m.expectSent(`[{"source_config":{"resource_spec":{"sidecars":[{"args":["{}-green"],"env":[{"name":"A",` +
		`"value":"{}-green"}],"name":"s"}]}}}]`)
	m.expectNoop(allOperations, fmt.Sprintf(spec, "{}-green"))
}
