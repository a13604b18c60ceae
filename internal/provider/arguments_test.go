package provider_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/hashicorp/terraform-plugin-go/tfprotov6"
	"github.com/hashicorp/terraform-plugin-go/tftypes"

	"github.com/graphdeploy/terraform-provider-graphdeploy/internal/fakeserver"
	"github.com/graphdeploy/terraform-provider-graphdeploy/internal/protocoltest"
)

var patchKinds = map[string]fakeserver.PatchKind{
	"merges spec": fakeserver.PatchMergeSpec, "merges deep": fakeserver.PatchMergeDeep,
	"replaces keys": fakeserver.PatchReplaceKeys, "replaces config": fakeserver.PatchReplaceConfig,
}

var nullKinds = map[string]fakeserver.NullKind{"null resets": fakeserver.NullResets, "null keeps": fakeserver.NullKeeps}

// TestEveryArgument_againstEveryKindOfUpdate changes, removes and sets each
// argument of a deployment, and lets it drift, against services that differ in what
// a PATCH and null do. What others have added survives, no plan after an apply
// proposes anything, and what the service has already is not sent. One kind is
// tried with all arguments, the others with one argument of each kind.
func TestEveryArgument_againstEveryKindOfUpdate(t *testing.T) {
	t.Parallel()
	for patch, patchKind := range patchKinds {
		for null, nullKind := range nullKinds {
			if nullKind == fakeserver.NullKeeps && patchKind != fakeserver.PatchReplaceKeys &&
				patchKind != fakeserver.PatchMergeDeep {
				continue // is like the one that replaces keys
			}
			t.Run(patch+", "+null, func(t *testing.T) {
				t.Parallel()
				except := redundant.MatchString
				if patchKind != fakeserver.PatchReplaceKeys || nullKind != fakeserver.NullResets {
					except = func(argument string) bool { return !oneOfEachKind.MatchString(argument) }
				}
				testArguments(t, except, fakeserver.Options{
					KeepUnknown: true, DocumentedRulesOnly: true, Defaults: map[string]any{}, Patch: patchKind, Null: nullKind,
				})
			})
		}
	}
}

// oneOfEachKind are arguments of which each is of another kind, or in another kind
// of object.
var oneOfEachKind = regexp.MustCompile(`^(source_config\.(integration_id|build_command|build_on_push|custom_url|` +
	`listener_config\.k8s_namespace)` +
	`|source_config\.resource_spec\.(min_scale|cpu|labels|volumes(\.(name|config_map|empty_dir))?|volume_mounts(\.\w+)?` +
	`|sidecars(\.(name|image|command|env(\.\w+)?|env_from|resources\.limits))?)|source_revision_config\.\w+|` +
	`secret_references(\.\w+)?` +
	`|secrets\w*|additional_properties|wait_until)$`)

func testArguments(t *testing.T, except func(argument string) bool, options fakeserver.Options) {
	f := &fleet{T: t, s: newService(t, options), options: options, cases: groupedCases(except, 28),
		instances: map[string]*instance{}}
	for _, c := range f.cases {
		f.instances[c.name] = newInstance(t, nil)
	}
	before := func(c argumentCase) map[string]any { return c.before }
	after := func(c argumentCase) map[string]any { return c.after }
	removed := func(c argumentCase) map[string]any { return c.removed }

	f.apply("create", allOperations, before, func(c argumentCase, o outcome) {
		f.expect(c, o, "create", "")
	})
	f.expectNoop("after the create", allOperations, before)

	planted := f.edit(func(_ argumentCase, d map[string]any) { plantMembers(d) })
	f.expectNoop("after others added members", onlyDocumented, before)

	f.expectRejected("changed in the configuration", after)
	f.apply("change", allOperations, after, func(c argumentCase, o outcome) {
		f.expectSent(c, o, planted)
		wanted := decoded(planted[c.name])
		c.change(wanted)
		if now := f.stored()[c.name]; !satisfies(now, changedKeys(planted[c.name], decoded(wanted))) {
			t.Errorf("%s: the service has %s, want %s", c.name, inJSON(now),
				inJSON(changedKeys(planted[c.name], decoded(wanted))))
		}
	})
	f.assertPlanted("change", planted)
	f.expectNoop("after the change", allOperations, after)

	// Only f.options.Patch of PatchReplaceConfig drops what was planted beside.
	changed := f.edit(func(_ argumentCase, d map[string]any) { plantMembers(d) })
	f.edit(func(c argumentCase, d map[string]any) {
		for _, part := range c.parts {
			if part.at != "" && !strings.HasPrefix(part.name, "secrets") {
				part.clear(d)
			}
		}
	})
	f.expectRejected("cleared in the service", after, "secrets", "secrets_wo_version")
	f.apply("drift", allOperations, after, func(c argumentCase, o outcome) {
		f.expectSent(c, o, nil)
	})
	for _, c := range f.cases {
		if now, want := f.stored()[c.name], withoutPlanted(changed[c.name]); !satisfies(now["source_config"],
			want["source_config"]) && options.Patch != fakeserver.PatchReplaceConfig {
			t.Errorf("%s: after drift, the service has %s, want %s", c.name, inJSON(now), inJSON(want))
		}
	}
	f.expectNoop("after the drift", allOperations, after)

	has := f.edit(func(_ argumentCase, d map[string]any) { plantMembers(d) })
	f.apply("removal", allOperations, removed, func(c argumentCase, o outcome) {
		if hasErrors(o.applied) {
			t.Errorf("%s: the removal failed: %s", c.name, messages(o.applied))
		}
		kept := strings.Contains(messages(o.applied), "Removed arguments stay in the service")
		if kept && options.Null == fakeserver.NullResets {
			t.Errorf("%s: %s sent %s", c.name, messages(o.applied), inJSON(o.sent))
		}
	})
	f.assertPlanted("removal", has)
	f.expectNoop("after the removal", allOperations, removed)
	if options.Null == fakeserver.NullResets {
		now := f.stored()
		for _, c := range f.cases {
			wanted := decoded(now[c.name])
			for _, part := range c.parts {
				if object, name, ok := part.place(wanted); ok && object[name] != nil && !isPlantedOnly(object[name]) {
					t.Errorf("after the removal of %s, the service has %s", part.name, inJSON(object[name]))
				}
			}
		}
	}

	// What the service has already is set without a request.
	f.edit(func(c argumentCase, d map[string]any) { restore(d, has[c.name]) })
	f.expectNoop("after others set the argument again", onlyDocumented, removed)
	f.s.ResetRequests()
	f.apply("set to the values of the service", allOperations, after, func(c argumentCase, o outcome) {
		if hasErrors(o.applied) {
			t.Errorf("%s: setting it failed: %s", c.name, messages(o.applied))
		}
	})
	f.assertReadsOnly("setting the values of the service")
	f.expectNoop("after it was set", allOperations, after)
	for name, o := range f.run(onlyDocumented, removed, true) {
		if text := messages(o.diagnostics, "Missing image_uri", "Secrets stay in the service"); o.action != "rejected" ||
			strings.Count(text, "Deployment cannot be updated: ") != 1 {
			t.Errorf("%s: the plan of a removal with documented operations only is %s: %s", name, o.action, text)
		}
	}
	f.assertReadsOnly("removals with documented operations only")
}

// A fleet has a deployment for each case.
type fleet struct {
	*testing.T
	s         *service
	options   fakeserver.Options
	cases     []argumentCase
	instances map[string]*instance
}

// An outcome is what a run of Terraform did with a deployment.
type outcome struct {
	plannedChange
	action  string // create, update, no-op
	applied protocoltest.Diagnostics
	sent    []map[string]any // bodies of PATCH
}

func (f *fleet) arguments(c argumentCase, arguments map[string]any) map[string]any {
	all := map[string]any{"name": c.name, "source": "internal_docker"}
	if slices.ContainsFunc(c.parts, func(part argumentCase) bool {
		return strings.HasPrefix(part.argument, "secret_references")
	}) {
		all["source"] = "external_docker"
	}
	maps.Copy(all, arguments)
	return all
}

// each calls a function for every case, ten at a time as Terraform does.
func (f *fleet) each(do func(c argumentCase, i *instance)) {
	var all sync.WaitGroup
	slots := make(chan struct{}, 10)
	for _, c := range f.cases {
		slots <- struct{}{}
		all.Go(func() {
			do(c, f.instances[c.name])
			<-slots
		})
	}
	all.Wait()
}

// run refreshes and plans all deployments, calls a function, and applies the plans.
func (f *fleet) run(documentedOnly bool, arguments func(argumentCase) map[string]any, apply bool) map[string]outcome {
	f.Helper()
	outcomes := map[string]outcome{}
	var mu sync.Mutex
	r := newRun(f.T, f.s, documentedOnly)
	f.each(func(c argumentCase, i *instance) {
		if diagnostics := r.refresh(i); len(diagnostics) > 0 {
			f.Errorf("%s: the refresh reports %s", c.name, messages(diagnostics))
		}
		o := outcome{plannedChange: r.plan(i, f.arguments(c, arguments(c))), action: "update"}
		switch {
		case hasErrors(o.diagnostics):
			o.action = "rejected"
		case i.state.IsNull():
			o.action = "create"
		case o.isNoop(i):
			o.action = "no-op"
		}
		mu.Lock()
		defer mu.Unlock()
		outcomes[c.name] = o
	})
	if !apply {
		return outcomes
	}
	f.s.ResetRequests()
	f.each(func(c argumentCase, i *instance) {
		mu.Lock()
		o := outcomes[c.name]
		mu.Unlock()
		if o.action == "create" || o.action == "update" {
			o.applied = r.apply(i, o.plannedChange)
			mu.Lock()
			outcomes[c.name] = o
			mu.Unlock()
		}
	})
	names := map[string]string{}
	for _, d := range f.s.Deployments() {
		names[d["id"].(string)] = d["name"].(string)
	}
	for _, request := range f.s.Requests() {
		if request.Method == http.MethodPatch {
			var body map[string]any
			if err := json.Unmarshal(request.Body, &body); err != nil {
				f.Error(err)
			}
			name := names[request.Path[strings.LastIndex(request.Path, "/")+1:]]
			o := outcomes[name]
			o.sent = append(o.sent, body)
			outcomes[name] = o
		}
	}
	return outcomes
}

// apply runs an apply and checks each outcome.
func (f *fleet) apply(what string, documentedOnly bool, arguments func(argumentCase) map[string]any,
	verify func(argumentCase, outcome),
) {
	f.Helper()
	outcomes := f.run(documentedOnly, arguments, true)
	for _, c := range f.cases {
		if o := outcomes[c.name]; o.action == "rejected" {
			f.Errorf("%s: %s: the plan is rejected: %s", what, c.name, messages(o.diagnostics))
		}
		verify(c, outcomes[c.name])
	}
}

func (f *fleet) expect(c argumentCase, o outcome, action, text string) {
	f.Helper()
	if got := messages(slices.Concat(o.diagnostics, o.applied), "Missing image_uri",
		"Secrets without a version"); o.action != action || got != text {
		f.Errorf("%s: %s reports %q, want %s and %q", c.name, o.action, got, action, text)
	}
}

// expectNoop plans, which has to propose nothing. Where the values of write-only
// secrets change without a version, there is nothing to see.
func (f *fleet) expectNoop(what string, documentedOnly bool, arguments func(argumentCase) map[string]any) {
	f.Helper()
	outcomes := f.run(documentedOnly, arguments, false)
	for _, c := range f.cases {
		if o := outcomes[c.name]; o.action != "no-op" {
			f.Errorf("%s, the plan of %s is %s: %s %s", what, c.name, o.action, messages(o.diagnostics),
				difference(f.instances[c.name].state, o.planned))
		}
	}
}

// expectRejected plans with documented operations only, which has to fail with one
// error for each deployment that differs, of its arguments only, with some
// exceptions.
func (f *fleet) expectRejected(what string, arguments func(argumentCase) map[string]any, except ...string) {
	f.Helper()
	for name, o := range f.run(onlyDocumented, arguments, false) {
		c := f.cases[slices.IndexFunc(f.cases, func(c argumentCase) bool { return c.name == name })]
		places := slices.DeleteFunc(c.places(), func(at string) bool { return slices.Contains(except, at) })
		text := messages(slices.DeleteFunc(o.diagnostics, func(d *tfprotov6.Diagnostic) bool {
			return d.Severity != tfprotov6.DiagnosticSeverityError
		}))
		if len(places) > 0 && (!strings.HasPrefix(text, "Deployment cannot be updated: ") ||
			strings.Count(text, "Deployment cannot be updated: ") != 1) ||
			strings.Contains(text, "planted-") {
			f.Errorf("%s, the plan of %s reports %s", what, name, text)
		}
		assertWithin(f.T, what+": "+name, places, bullets(text))
	}
}

// expectSent verifies that what the service has to do is one request for the key
// that changes. Had is what the service had before, if that is to be compared.
func (f *fleet) expectSent(c argumentCase, o outcome, had map[string]map[string]any) {
	f.Helper()
	want := 1
	if c.at == "" {
		want = 0
	}
	if len(o.sent) != want {
		f.Errorf("%s: sent %s, want %d updates", c.name, inJSON(o.sent), want)
	}
	text := messages(o.applied)
	dropped := f.options.Patch == fakeserver.PatchReplaceConfig &&
		strings.HasPrefix(text, "Service changed other properties: ") && strings.Count(text, "\n\n") == 0
	if text != "" && !dropped {
		f.Errorf("%s: the apply reports %s", c.name, text)
	}
	if had == nil || want == 0 {
		return
	}
	wanted := decoded(had[c.name])
	c.change(wanted)
	if keys := changedKeys(had[c.name], decoded(wanted)); len(o.sent) == 1 && !sameKeys(o.sent[0], keys) {
		f.Errorf("%s: sent %s, want the keys of %s", c.name, inJSON(o.sent[0]), inJSON(keys))
	}
}

// sameKeys reports whether two requests change the same keys.
func sameKeys(a, b map[string]any) bool {
	keys := func(body map[string]any) (all []string) {
		for name, value := range body {
			if config, ok := value.(map[string]any); ok && strings.HasSuffix(name, "_config") {
				for key := range config {
					all = append(all, name+"."+key)
				}
			} else {
				all = append(all, name)
			}
		}
		slices.Sort(all)
		return all
	}
	return slices.Equal(keys(a), keys(b))
}

func (f *fleet) assertReadsOnly(what string) {
	f.Helper()
	for _, r := range f.s.Requests() {
		if r.Method != http.MethodGet {
			f.Errorf("%s sent %s %s: %s", what, r.Method, r.Path, r.Body)
		}
	}
}

// stored is what the service has, by name.
func (f *fleet) stored() map[string]map[string]any {
	stored := map[string]map[string]any{}
	for _, d := range f.s.Deployments() {
		stored[d["name"].(string)] = decoded(d)
	}
	return stored
}

// edit changes all deployments outside Terraform, and returns what the service has
// then.
func (f *fleet) edit(change func(c argumentCase, d map[string]any)) map[string]map[string]any {
	ids := map[string]string{}
	for _, d := range f.s.Deployments() {
		ids[d["name"].(string)] = d["id"].(string)
	}
	for _, c := range f.cases {
		f.s.Edit(ids[c.name], func(d map[string]any) { change(c, d) })
	}
	return f.stored()
}

// plantMembers adds a member to every object of the config objects and to every item of
// secret_references, as other clients and the service do.
func plantMembers(d map[string]any) {
	for _, name := range []string{"source_config", "source_revision_config", "secret_references"} {
		plantIn(d[name])
	}
}

const plantedName = "planted"

func plantIn(tree any) {
	switch tree := tree.(type) {
	case map[string]any:
		for name, value := range tree {
			if name != "envFrom" { // its items have no key: it is sent as planned
				plantIn(value)
			}
		}
		tree[plantedName] = "here"
	case []any:
		for _, item := range tree {
			plantIn(item)
		}
	}
}

func withoutPlanted(d map[string]any) map[string]any {
	var empty func(tree any)
	empty = func(tree any) {
		switch tree := tree.(type) {
		case map[string]any:
			delete(tree, plantedName)
			for _, value := range tree {
				empty(value)
			}
		case []any:
			for _, item := range tree {
				empty(item)
			}
		}
	}
	d = decoded(d)
	empty(d)
	return d
}

func isPlantedOnly(tree any) bool {
	switch tree := tree.(type) {
	case map[string]any:
		return len(tree) == 0 || len(tree) == 1 && tree[plantedName] != nil
	case []any:
		return len(tree) == 0
	}
	return false
}

// assertPlanted verifies that what was planted is there still, wherever the object
// is that it was planted in.
func (f *fleet) assertPlanted(what string, before map[string]map[string]any) {
	f.Helper()
	now := f.stored()
	for _, c := range f.cases {
		for _, name := range []string{"source_config", "source_revision_config", "secret_references"} {
			had, has := before[c.name][name], now[c.name][name]
			if f.options.Patch == fakeserver.PatchReplaceConfig {
				// It drops whatever was not sent, which is reported: see TestUpdate_replacedConfigIsReported.
				if config, ok := has.(map[string]any); ok && config[plantedName] == nil {
					config[plantedName] = "dropped"
					had, has = present(had, config), config
				}
			}
			if at := missingPlanted(name, had, has); at != "" {
				f.Errorf("%s of %s: what others added at %s was dropped: %s, was %s", what, c.name, at, inJSON(has), inJSON(had))
			}
		}
	}
}

// present are the members of an object that another has, too.
func present(had any, has map[string]any) map[string]any {
	all := map[string]any{}
	for name, value := range had.(map[string]any) {
		if has[name] != nil {
			all[name] = value
		}
	}
	return all
}

func missingPlanted(at string, had, has any) string {
	switch had := had.(type) {
	case map[string]any:
		object, ok := has.(map[string]any)
		if !ok {
			return "" // the object itself was removed
		}
		if had[plantedName] != nil && object[plantedName] == nil {
			return at
		}
		for name, value := range had {
			if found := missingPlanted(at+"."+name, value, object[name]); found != "" {
				return found
			}
		}
	case []any:
		items, _ := has.([]any)
		for i, item := range had {
			if j := partner(item, i, items, len(had)); j >= 0 {
				if found := missingPlanted(fmt.Sprintf("%s[%d]", at, i), item, items[j]); found != "" {
					return found
				}
			}
		}
	}
	return ""
}

// partner is the item that is the same: by name and path, or by its place.
func partner(item any, i int, items []any, n int) int {
	object, ok := item.(map[string]any)
	if ok && object["name"] != nil {
		return slices.IndexFunc(items, func(other any) bool {
			candidate, _ := other.(map[string]any)
			return candidate["name"] == object["name"] && candidate["mountPath"] == object["mountPath"]
		})
	}
	if len(items) != n {
		return -1
	}
	return i
}

func inJSON(v any) string {
	text, _ := json.Marshal(v)
	return string(text)
}

func difference(a, b tftypes.Value) string {
	found, err := a.Diff(b)
	if err != nil || len(found) == 0 {
		return ""
	}
	var lines []string
	for _, d := range found {
		if d.Value1 == nil || d.Value2 == nil || !d.Value1.Type().Is(tftypes.Object{}) {
			lines = append(lines, d.String())
		}
	}
	return strings.Join(lines, "\n")
}

// places are where a change is reported.
func (c argumentCase) places() (places []string) {
	for _, part := range c.parts {
		if part.at != "" {
			places = append(places, part.at)
		}
	}
	return places
}

// assertWithin verifies that something is found at every place or in it, and nothing
// elsewhere.
func assertWithin(t *testing.T, what string, places, found []string) {
	t.Helper()
	missing := slices.Clone(places)
	for _, at := range found {
		within := func(place string) bool {
			rest, ok := strings.CutPrefix(at, place)
			return ok && (rest == "" || strings.ContainsAny(rest[:1], ".[: "))
		}
		missing = slices.DeleteFunc(missing, within)
		if !slices.ContainsFunc(places, within) {
			t.Errorf("%s: %s is not one of %s", what, at, places)
		}
	}
	for _, place := range missing {
		t.Errorf("%s: %s is missing among %s", what, place, found)
	}
}
