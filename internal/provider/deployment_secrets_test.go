package provider_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/hashicorp/terraform-plugin-testing/helper/resource"
	"github.com/hashicorp/terraform-plugin-testing/plancheck"

	"github.com/graphdeploy/terraform-provider-graphdeploy/internal/fakeserver"
	"github.com/graphdeploy/terraform-provider-graphdeploy/internal/protocoltest"
)

var updates = resource.ConfigPlanChecks{PreApply: []plancheck.PlanCheck{
	plancheck.ExpectResourceAction(this, plancheck.ResourceActionUpdate)}}

// A secretsService shows secrets in a way that can change at any time.
type secretsService struct {
	*service
	shows atomic.Pointer[secretsView]
}

// A secretsView is what a response to a request shows of the stored secrets.
type secretsView func(method string, stored []any) []any

func secretNamed(name any, value string) any { return map[string]any{"name": name, "value": value} }

func eachSecret(show func(secret map[string]any) any) secretsView {
	return func(_ string, stored []any) []any {
		shown := []any{}
		for _, secret := range stored {
			shown = append(shown, show(secret.(map[string]any)))
		}
		return shown
	}
}

var (
	showValues secretsView = func(_ string, stored []any) []any { return stored }
	showMasks              = eachSecret(func(s map[string]any) any { return secretNamed(s["name"], "********") })
	showRandom             = eachSecret(func(s map[string]any) any {
		return secretNamed(s["name"], fmt.Sprintf("****%x", rand.Uint64()))
	})
	showNames             = eachSecret(func(s map[string]any) any { return map[string]any{"name": s["name"]} })
	showNone  secretsView = func(string, []any) []any { return []any{} }
	showOwn   secretsView = func(_ string, stored []any) []any {
		return append(slices.Clone(stored), secretNamed("OWN", "the service's"))
	}
	// Values are in the responses to creates and updates only.
	showWritten secretsView = func(method string, stored []any) []any {
		if method == http.MethodGet {
			return showMasks(method, stored)
		}
		return stored
	}
	secretsViews = map[string]secretsView{"values": showValues, "masks": showMasks, "random masks": showRandom,
		"names": showNames, "none": showNone, "its own": showOwn, "what was written": showWritten}
)

func newSecretsService(t *testing.T, view secretsView) *secretsService {
	t.Helper()
	fake := fakeserver.New(fakeserver.Options{})
	s := &secretsService{service: &service{Server: fake}}
	s.show(view)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		recorded := httptest.NewRecorder()
		fake.ServeHTTP(recorded, r)
		var body any
		decoder := json.NewDecoder(bytes.NewReader(recorded.Body.Bytes()))
		decoder.UseNumber()
		text := recorded.Body.Bytes()
		if decoder.Decode(&body) == nil {
			text, _ = json.Marshal(s.view(r.Method, body))
		}
		maps.Copy(w.Header(), recorded.Header())
		w.Header().Del("Content-Length")
		w.WriteHeader(recorded.Code)
		_, _ = w.Write(text)
	}))
	t.Cleanup(server.Close)
	t.Cleanup(server.CloseClientConnections)
	s.url = server.URL
	return s
}

func (s *secretsService) show(view secretsView) { s.shows.Store(&view) }

func (s *secretsService) view(method string, body any) any {
	switch body := body.(type) {
	case map[string]any:
		for name, value := range body {
			if stored, ok := value.([]any); ok && name == "secrets" {
				body[name] = (*s.shows.Load())(method, stored)
			} else if name == "resources" {
				body[name] = s.view(method, value)
			}
		}
	case []any:
		for _, item := range body {
			s.view(method, item)
		}
	}
	return body
}

// values are the secrets that the service has.
func (s *service) values(t *testing.T) map[string]string {
	t.Helper()
	values := map[string]string{}
	stored, _ := s.stored(t)["secrets"].([]any)
	for _, secret := range stored {
		s := secret.(map[string]any)
		values[s["name"].(string)] = s["value"].(string)
	}
	return values
}

// changeSecrets changes secrets as others do; nil removes one.
func (s *service) changeSecrets(t *testing.T, changes object) {
	t.Helper()
	now := s.values(t)
	for name, value := range changes {
		if value == nil {
			delete(now, name)
		} else {
			now[name] = value.(string)
		}
	}
	secrets := []any{}
	for _, name := range slices.Sorted(maps.Keys(now)) {
		secrets = append(secrets, secretNamed(name, now[name]))
	}
	s.edit(t, "secrets", secrets)()
}

// A secretsForm is one of the two arguments for secrets.
type secretsForm bool

const (
	inState   secretsForm = false
	writeOnly secretsForm = true
)

func (f secretsForm) String() string {
	return map[secretsForm]string{inState: "secrets", writeOnly: "secrets_wo"}[f]
}

// config is a configuration in JSON. A version is only part of write-only secrets.
func (f secretsForm) config(version int, values object, more ...object) string {
	config := object{"secrets": values}
	if f == writeOnly {
		config = object{"secrets_wo": values, "secrets_wo_version": fmt.Sprint(version)}
	}
	for _, m := range more {
		maps.Copy(config, m)
	}
	return inJSON(config)
}

// eachSecretsForm runs a test with secrets and with secrets_wo.
func eachSecretsForm(t *testing.T, test func(t *testing.T, form secretsForm)) {
	t.Helper()
	for _, form := range []secretsForm{inState, writeOnly} {
		t.Run(form.String(), func(t *testing.T) {
			t.Parallel()
			test(t, form)
		})
	}
}

// created creates a deployment in the service.
func (s *secretsService) created(t *testing.T, config string) managed {
	t.Helper()
	m := managed{t, s.service, newInstance(t, nil)}
	m.apply(allOperations, config, "")
	return m
}

// seeded imports a deployment that has secrets.
func (s *secretsService) seeded(t *testing.T, values object) managed {
	t.Helper()
	s.SeedDeployment(map[string]any{"name": "app", "source": "internal_docker"})
	s.changeSecrets(t, values)
	return imported(t, s.service, "app")
}

// expectSecrets compares the updates that were sent, each as "A=one B=two".
func (m managed) expectSecrets(want ...string) {
	m.Helper()
	var got []string
	for _, body := range m.s.patches(m.T) {
		var sent []string
		secrets, _ := body["secrets"].([]any)
		for _, secret := range secrets {
			sent = append(sent, fmt.Sprintf("%s=%s", secret.(map[string]any)["name"], secret.(map[string]any)["value"]))
		}
		got = append(got, strings.Join(sent, " "))
	}
	m.s.ResetRequests()
	if !slices.Equal(got, want) {
		m.Errorf("sent %q, want %q", got, want)
	}
}

// applyNaming applies, and expects one message that names secrets.
func (m managed) applyNaming(config, summary string, secrets ...string) string {
	m.Helper()
	got := m.apply(allOperations, config, summary+": ")
	if lines := bullets(got); !slices.Equal(lines, secrets) {
		m.Errorf("an apply of %s names %q, want %q: %s", config, lines, secrets, got)
	}
	return got
}

const (
	willBeRemoved = "Secrets will be removed"
	mayBeRemoved  = "Secrets may be removed"
	changedByThem = "Secrets changed outside Terraform"
)

func TestSecrets_areSentSortedAndNeverReadBack(t *testing.T) {
	t.Parallel()
	for name, view := range secretsViews {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			eachSecretsForm(t, func(t *testing.T, form secretsForm) {
				for _, waits := range []string{"ready", "created"} {
					s := newSecretsService(t, view)
					config := form.config(1, object{"ZULU": "z", "ALPHA": "a", "MIKE": ""}, object{"wait_until": waits})
					m := s.created(t, config)
					want := []any{secretNamed("ALPHA", "a"), secretNamed("MIKE", ""), secretNamed("ZULU", "z")}
					if got := s.body(t)["secrets"]; !jsonEqual(got, want) {
						t.Errorf("sent %v, want %v", got, want)
					}
					m.expectNoop(allOperations, config)
					s.NewRevision(s.stored(t)["id"].(string))
					m.expectNoop(allOperations, config)
					one := form.config(2, object{"ALPHA": "b"}, object{"wait_until": waits})
					m.apply(allOperations, one, willBeRemoved)
					m.expectNoop(allOperations, one)
					m.expectSecrets("ALPHA=b" + map[bool]string{true: " OWN=the service's"}[name == "its own"])
				}
			})
		})
	}
}

func TestSecrets_changesByOthers(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		view    secretsView
		secrets object
		changes object
		after   secretsView // nil if it stays the same
		drift   []string
	}{
		"another value": {showValues, object{"A": "one", "B": "two"}, object{"A": "theirs"}, nil,
			[]string{"A"}},
		"another value of the only one": {showValues, object{"A": "one"}, object{"A": "theirs"}, nil, []string{"A"}},
		"another value, and its own":    {showOwn, object{"A": "one"}, object{"A": "theirs"}, nil, []string{"A"}},
		"one is missing":                {showValues, object{"A": "one", "B": "two"}, object{"B": nil}, nil, []string{"B"}},
		"all are missing": {showValues, object{"A": "one", "B": "two"}, object{"A": nil, "B": nil}, nil,
			[]string{"A", "B"}},
		"one is missing, masked":     {showMasks, object{"A": "one", "B": "two"}, object{"B": nil}, nil, []string{"B"}},
		"one is missing, names only": {showNames, object{"A": "one", "B": "two"}, object{"B": nil}, nil, []string{"B"}},
		"one is missing, masked now": {showValues, object{"A": "one", "B": "two"}, object{"B": nil}, showMasks,
			[]string{"B"}},
		"another value, masked":       {showMasks, object{"A": "one", "B": "two"}, object{"A": "theirs"}, nil, nil},
		"another value, random masks": {showRandom, object{"A": "one"}, object{"A": "theirs"}, nil, nil},
		"another value, not listed":   {showNone, object{"A": "one"}, object{"A": "theirs"}, nil, nil},
		"one is missing, not listed":  {showNone, object{"A": "one"}, object{"A": nil}, nil, nil},
		"masked now":                  {showValues, object{"A": "one", "B": "two"}, nil, showMasks, nil},
		"masked at random now":        {showValues, object{"A": "one", "B": "two"}, nil, showRandom, nil},
		"shown now":                   {showMasks, object{"A": "one", "B": "two"}, object{"A": "theirs"}, showValues, nil},
		"one more":                    {showValues, object{"A": "one"}, object{"Z": "theirs"}, nil, nil},
		"one more than none":          {showValues, object{}, object{"Z": "theirs"}, nil, nil},
		"shown in writes only":        {showWritten, object{"A": "one"}, object{"A": "theirs"}, nil, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			eachSecretsForm(t, func(t *testing.T, form secretsForm) {
				s := newSecretsService(t, c.view)
				config := form.config(1, c.secrets, object{"wait_until": "created"})
				m := s.created(t, config)
				s.changeSecrets(t, c.changes)
				if c.after != nil {
					s.show(c.after)
				}
				if c.drift == nil {
					m.expectNoop(allOperations, config)
					return
				}
				run := newRun(t, s.service, onlyDocumented)
				if reported := messages(run.refresh(m.i)); !slices.Equal(bullets(reported), c.drift) ||
					!strings.HasPrefix(reported, changedByThem+": ") {
					t.Errorf("the refresh reports %s, want drift of %q", reported, c.drift)
				}
				if text := messages(run.plan(m.i, arguments(t, config)).diagnostics); !strings.HasPrefix(text,
					"Deployment cannot be updated: ") {
					t.Errorf("with documented operations only, the plan reports %q", text)
				}
				if reported := m.apply(allOperations, config, changedByThem+": "); strings.Contains(reported, "theirs") {
					t.Errorf("a value is shown: %s", reported)
				}
				var all []string
				for _, name := range slices.Sorted(maps.Keys(c.secrets)) {
					all = append(all, fmt.Sprintf("%s=%s", name, c.secrets[name]))
				}
				m.expectSecrets(strings.Join(all, " "))
				m.expectNoop(allOperations, config)
			})
		})
	}
}

// The baseline is what the last apply sent, not what an apply of something else
// finds.
func TestSecrets_changeDuringAnotherApplyIsDrift(t *testing.T) {
	t.Parallel()
	eachSecretsForm(t, func(t *testing.T, form secretsForm) {
		s := newSecretsService(t, showValues)
		values := object{"A": "one", "B": "two"}
		config := func(command string) string {
			return form.config(1, values, object{"source_config": object{"build_command": command}})
		}
		m := s.created(t, config("make"))
		run := newRun(t, s.service, allOperations)
		run.refresh(m.i)
		planned := run.plan(m.i, arguments(t, config("make all")))
		s.changeSecrets(t, object{"A": "theirs"})
		expectNone(t, run.apply(m.i, planned))
		m.s.ResetRequests()
		m.applyNaming(config("make all"), changedByThem, "A")
		m.expectSecrets("A=one B=two")
		m.expectNoop(allOperations, config("make all"))
	})
}

func expectNone(t *testing.T, diagnostics protocoltest.Diagnostics) {
	t.Helper()
	if len(diagnostics) > 0 {
		t.Errorf("unexpected diagnostics:\n%s", diagnostics)
	}
}

// Secrets that the configuration neither has nor had are sent again if the very
// response that they come from shows values. Otherwise, the plan names them.
func TestSecrets_ofOthers(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		before, after secretsView
		removed, sent string
	}{
		"shown":       {showValues, showValues, "[B]", "A=two C=three THEIRS=x"},
		"masked":      {showMasks, showMasks, "[B THEIRS]", "A=two C=three"},
		"masked now":  {showValues, showMasks, "[B THEIRS]", "A=two C=three"},
		"random now":  {showValues, showRandom, "[B THEIRS]", "A=two C=three"},
		"names now":   {showValues, showNames, "[B THEIRS]", "A=two C=three"},
		"shown now":   {showMasks, showValues, "[B]", "A=two C=three THEIRS=x"},
		"not listed":  {showNone, showNone, "[B]", "A=two C=three"},
		"service own": {showOwn, showOwn, "[B]", "A=two C=three OWN=the service's THEIRS=x"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			eachSecretsForm(t, func(t *testing.T, form secretsForm) {
				s := newSecretsService(t, c.before)
				before, after := form.config(1, object{"A": "one", "B": "gone"}), form.config(2, object{"A": "two", "C": "three"})
				m := s.created(t, before)
				s.changeSecrets(t, object{"THEIRS": "x"})
				s.show(c.after)
				m.expectNoop(allOperations, before)
				got := m.apply(allOperations, after, willBeRemoved+": ")
				if removed := fmt.Sprint(bullets(got)); removed != c.removed || strings.Count(got, willBeRemoved) != 1 {
					t.Errorf("reported %s, want %s", got, c.removed)
				}
				if warned := strings.Contains(got, "lists no secrets"); warned != (name == "not listed") {
					t.Errorf("reported %s", got)
				}
				m.expectSecrets(c.sent)
				m.expectNoop(allOperations, after)
				m.applyNaming(`{}`, "Secrets stay in the service", "A", "C")
				m.expectSecrets()
				m.expectNoop(allOperations, `{}`)
			})
		})
	}
}

// A service that no longer lists names may still have the secrets: they are removed,
// and so are those of others, of which the plan warns.
func TestSecrets_namesThatAreNoLongerListed(t *testing.T) {
	t.Parallel()
	eachSecretsForm(t, func(t *testing.T, form secretsForm) {
		for _, after := range []object{{}, {"A": "two"}} {
			s := newSecretsService(t, showValues)
			m := s.created(t, form.config(1, object{"A": "one", "B": "gone"}))
			s.changeSecrets(t, object{"THEIRS": "x"})
			s.show(showNone)
			got := m.apply(allOperations, form.config(2, after), changedByThem+": ")
			if !strings.Contains(got, willBeRemoved) || !strings.Contains(got, "lists no secrets") {
				t.Errorf("reported %s", got)
			}
			if has := s.values(t); len(has) != len(after) {
				t.Errorf("the service has %v, want %v", has, after)
			}
		}
	})
}

// {} removes all secrets, and names them, those of others and of an imported
// deployment too. What others add later stays.
func TestSecrets_noneRemovesAll(t *testing.T) {
	t.Parallel()
	for name, view := range map[string]secretsView{"values": showValues, "masks": showMasks, "names": showNames} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			eachSecretsForm(t, func(t *testing.T, form secretsForm) {
				none := form.config(2, object{})
				owned := newSecretsService(t, view)
				m := owned.created(t, form.config(1, object{"A": "one"}))
				owned.changeSecrets(t, object{"THEIRS": "x"})
				got := m.applyNaming(none, willBeRemoved, "A", "THEIRS")
				if strings.Contains(got, "cannot") {
					t.Errorf("a reason is given for what {} removes: %s", got)
				}
				m.expectSecrets("")
				m.expectNoop(allOperations, none)
				owned.changeSecrets(t, object{"LATER": "y"})
				m.expectNoop(allOperations, none)

				m = newSecretsService(t, view).seeded(t, object{"A": "one", "B": "two"})
				m.applyNaming(none, willBeRemoved, "A", "B")
				m.expectSecrets("")
				m.expectNoop(allOperations, none)

				// There may be nothing to remove.
				m = newSecretsService(t, view).seeded(t, object{})
				m.apply(allOperations, none, "")
				m.expectSecrets()
				m.expectNoop(allOperations, none)
			})
		})
	}
}

// After an import, the provider cannot tell whether the service shows values.
func TestSecrets_afterAnImport(t *testing.T) {
	t.Parallel()
	eachSecretsForm(t, func(t *testing.T, form secretsForm) {
		t.Run("as in the service", func(t *testing.T) {
			t.Parallel()
			m := newSecretsService(t, showValues).seeded(t, object{"A": "one", "THEIRS": "x"})
			m.apply(onlyDocumented, form.config(1, object{"A": "one"}), "")
			m.expectNoop(allOperations, form.config(1, object{"A": "one"}))
			// It is known now.
			m.apply(allOperations, form.config(2, object{"A": "two"}), "")
			m.expectSecrets("A=two THEIRS=x")
		})
		for name, view := range map[string]secretsView{"values": showValues, "masks": showMasks, "random masks": showRandom} {
			t.Run("others than in the service: "+name, func(t *testing.T) {
				t.Parallel()
				m := newSecretsService(t, view).seeded(t, object{"A": "one", "THEIRS": "x"})
				m.apply(onlyDocumented, form.config(1, object{"A": "two"}), "Deployment cannot be updated: ")
				got := m.applyNaming(form.config(1, object{"A": "two"}), willBeRemoved, "THEIRS")
				if !strings.Contains(got, "cannot tell yet") {
					t.Errorf("reported %s", got)
				}
				m.expectSecrets("A=two")
				m.expectNoop(allOperations, form.config(1, object{"A": "two"}))
			})
		}
		t.Run("not listed", func(t *testing.T) {
			t.Parallel()
			m := newSecretsService(t, showNone).seeded(t, object{"A": "one", "THEIRS": "x"})
			m.applyNaming(form.config(1, object{"A": "one"}), mayBeRemoved)
			m.expectSecrets("A=one")
			m.expectNoop(allOperations, form.config(1, object{"A": "one"}))
		})
	})
}

// Values that others have set back, or that move between the arguments, need no
// request.
func TestSecrets_nothingToSend(t *testing.T) {
	t.Parallel()
	for name, view := range map[string]secretsView{"values": showValues, "masks": showMasks} {
		t.Run("moved, "+name, func(t *testing.T) {
			t.Parallel()
			m := newSecretsService(t, view).created(t, inState.config(0, object{"A": "one"}))
			m.apply(onlyDocumented, writeOnly.config(1, object{"A": "two"}), "Deployment cannot be updated: ")
			m.apply(onlyDocumented, writeOnly.config(1, object{"A": "one"}), "")
			m.expectNoop(onlyDocumented, writeOnly.config(1, object{"A": "one"}))
			m.apply(onlyDocumented, inState.config(0, object{"A": "two"}), "Deployment cannot be updated: ")
			m.apply(onlyDocumented, inState.config(0, object{"A": "one"}), "")
			m.expectNoop(onlyDocumented, inState.config(0, object{"A": "one"}))
		})
	}
	t.Run("moved without a version", func(t *testing.T) {
		t.Parallel()
		s := newSecretsService(t, showValues)
		m := s.created(t, inState.config(0, object{"A": "one"}))
		m.apply(onlyDocumented, `{"secrets_wo": {"A": "one"}}`, "Missing secrets_wo_version: ")
		s.changeSecrets(t, object{"A": "theirs"})
		m.apply(onlyDocumented, `{"secrets_wo": {"A": "one"}}`, changedByThem+": ")
	})
	t.Run("set back", func(t *testing.T) {
		t.Parallel()
		eachSecretsForm(t, func(t *testing.T, form secretsForm) {
			s := newSecretsService(t, showValues)
			config := form.config(1, object{"A": "one", "B": "two"})
			m := s.created(t, config)
			s.changeSecrets(t, object{"A": "theirs"})
			newRun(t, s.service, allOperations).refresh(m.i)
			s.changeSecrets(t, object{"A": "one"})
			run := newRun(t, s.service, allOperations)
			run.refresh(m.i)
			expectNone(t, run.apply(m.i, run.plan(m.i, arguments(t, config))))
			m.expectSecrets()
			m.expectNoop(allOperations, config)
		})
	})
}

// A new version sends write-only secrets, whatever the service shows. Without one,
// nothing is sent.
func TestSecrets_newVersionSendsThem(t *testing.T) {
	t.Parallel()
	for name, view := range secretsViews {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m := newSecretsService(t, view).created(t, writeOnly.config(1, object{"A": "one"}))
			m.expectNoop(allOperations, writeOnly.config(1, object{"A": "two"}))
			m.apply(onlyDocumented, writeOnly.config(2, object{"A": "one"}), "Deployment cannot be updated: ")
			m.apply(allOperations, writeOnly.config(2, object{"A": "one"}), map[bool]string{true: mayBeRemoved}[name == "none"])
			m.expectNoop(allOperations, writeOnly.config(2, object{"A": "one"}))
			if n := len(m.s.patches(t)); n != 1 {
				t.Errorf("%d updates were sent, want 1", n)
			}
		})
	}
}

// A service that shows values shows whether it applied new ones.
func TestSecrets_changeThatIsNotTakenIsAnError(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		before, after object
		reports       []string
	}{
		"another value": {object{"A": "planted-one"}, object{"A": "planted-two"},
			[]string{`secret "A" still has its former value`}},
		"one more": {object{"A": "planted-one"}, object{"A": "planted-one", "B": "planted-two"},
			[]string{`secret "B" is missing`}},
		"one less": {object{"A": "planted-one", "B": "planted-two"}, object{"A": "planted-one"},
			[]string{`secret "B" still exists`}},
		"none": {object{"A": "planted-one"}, object{}, []string{`secret "A" still exists`}},
		"another, one less": {object{"A": "planted-one", "B": "planted-two"}, object{"A": "planted-three"},
			[]string{`secret "A" still has its former value`, `secret "B" still exists`}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			eachSecretsForm(t, func(t *testing.T, form secretsForm) {
				m := create(t, fakeserver.Options{IgnorePatch: true}, form.config(1, c.before))
				run := newRun(t, m.s, allOperations)
				planned := run.plan(m.i, arguments(t, form.config(2, c.after)))
				got := messages(run.apply(m.i, planned))
				if !strings.HasPrefix(got, "Update was not applied: ") || !slices.Equal(bullets(got)[:len(c.reports)], c.reports) ||
					strings.Contains(got, "planted") {
					t.Errorf("reported %s", got)
				}
				m.expectNoop(allOperations, form.config(1, c.before))
			})
		})
	}
}

// Digests of secrets_wo need a credential, and mean nothing with another one.
func TestSecrets_digestsNeedTheCredential(t *testing.T) {
	t.Parallel()
	key, header := object{"api_key": "kEyOfTheTests"}, object{"headers": object{"X-Tenant": "tEnAnT"}}
	for name, c := range map[string]struct {
		applied, planned object // the provider's credential
		detected         bool
	}{
		"no credential":      {nil, nil, false},
		"a key":              {key, key, true},
		"a header":           {header, header, true},
		"another credential": {key, header, false},
		"a credential now":   {nil, key, false},
		"none any more":      {key, nil, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newSecretsService(t, showValues)
			applied, planned := newProtocol(t, s.service, c.applied), newProtocol(t, s.service, c.planned)
			r := applied.MustApply(typeName, nil,
				appConfig("internal_docker", object{"secrets_wo": object{"A": "1", "B": "2"}, "secrets_wo_version": "1"}))
			if !strings.Contains(string(r.Private), "secrets") {
				t.Fatalf("nothing is recorded: %s", r.Private)
			}
			s.changeSecrets(t, object{"A": "theirs"})
			if read, _ := planned.Read(r); (planned.Values(read)["secrets_wo_version"] == nil) != c.detected {
				t.Errorf("another value is detected: %t, want %t", !c.detected, c.detected)
			}
			s.changeSecrets(t, object{"A": nil})
			planned = newProtocol(t, s.service, c.planned)
			read, diags := planned.Read(r)
			protocoltest.Expect(t, diags, protocoltest.Warning(changedByThem, "", "- A"))
			if planned.Values(read)["secrets_wo_version"] != nil {
				t.Error("a missing secret is not planned")
			}
		})
	}
}

func TestSecrets_missingVersionIsReported(t *testing.T) {
	t.Parallel()
	p := newProtocol(t, newSecretsService(t, showValues).service)
	_, diags := p.Plan(typeName, nil, appConfig("internal_docker", object{"secrets_wo": object{"A": "one"}}))
	protocoltest.Expect(t, diags, protocoltest.Warning("Missing secrets_wo_version", ""))
	_, diags = p.Plan(typeName, nil,
		appConfig("internal_docker", object{"secrets_wo": object{"A": "one"}, "secrets_wo_version": protocoltest.Unknown}))
	p.ExpectNone(diags)
}

// A plan gets the prior values of what is in ignore_changes, which write-only
// arguments do not have: a new version is sent at apply. With the version ignored,
// changes by others are only reported, and no version is missing.
func TestSecrets_ignoreChanges(t *testing.T) {
	t.Parallel()
	for _, documented := range []bool{onlyDocumented, allOperations} {
		s := newSecretsService(t, showNames)
		m := s.created(t, writeOnly.config(1, object{"A": "one"}))
		after := arguments(t, writeOnly.config(2, object{"A": "two"}))
		run := newRun(t, s.service, documented)
		planned := run.plan(m.i, after, "secrets_wo")
		if documented {
			protocoltest.Expect(t, planned.diagnostics,
				protocoltest.Error("Deployment cannot be updated", "", "- secrets_wo_version: "))
		} else {
			expectNone(t, planned.diagnostics)
			expectNone(t, run.apply(m.i, planned))
			m.expectSecrets("A=two")
		}
		s.changeSecrets(t, object{"A": nil})
		run = newRun(t, s.service, documented)
		protocoltest.Expect(t, run.refresh(m.i), protocoltest.Warning(changedByThem, "", "- A"))
		planned = run.plan(m.i, after, "secrets_wo_version")
		expectNone(t, planned.diagnostics)
		if !planned.isNoop(m.i) {
			t.Errorf("the plan proposes %s", difference(m.i.state, planned.planned))
		}
	}
}

// Names are known before values: what an update removes is named at plan.
func TestSecrets_unknownValues(t *testing.T) {
	t.Parallel()
	eachSecretsForm(t, func(t *testing.T, form secretsForm) {
		s := newSecretsService(t, showValues)
		m := s.created(t, form.config(1, object{"A": "one", "B": "two"}))
		s.changeSecrets(t, object{"THEIRS": "x"})
		run := newRun(t, s.service, allOperations)
		run.refresh(m.i)
		unknown := arguments(t, form.config(2, object{}))
		unknown[form.String()] = object{"A": protocoltest.Unknown}
		planned := run.plan(m.i, unknown)
		protocoltest.Expect(t, planned.diagnostics, protocoltest.Warning(willBeRemoved, "", "- B"))
		planned.config = arguments(t, form.config(2, object{"A": "known"}))
		expectNone(t, run.apply(m.i, planned))
		m.expectSecrets("A=known THEIRS=x")
	})
}

// Lives of one deployment: the service shows secrets in any way, others change
// them, and Terraform applies and imports.
func TestSecrets_randomLives(t *testing.T) {
	t.Parallel()
	views := slices.Sorted(maps.Keys(secretsViews))
	for seed := range uint64(30) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			random := rand.New(rand.NewPCG(seed, 0))
			view := views[random.IntN(len(views))]
			s := newSecretsService(t, secretsViews[view])
			l := &secretsLife{Rand: random, managed: s.created(t, `{"wait_until": "created"}`), version: 1}
			l.log("the service shows %s", view)
			for step := range 12 {
				switch l.IntN(6) {
				case 0:
					view = views[l.IntN(len(views))]
					l.log("the service shows %s", view)
					s.show(secretsViews[view])
				case 1, 2:
					change := object{l.name(): nil}
					if l.IntN(3) > 0 {
						change[l.name()] = fmt.Sprintf("foreign-%d", step)
					}
					l.log("others change %s", inJSON(change))
					s.changeSecrets(t, change)
				case 3:
					l.log("import")
					l.managed = imported(t, s.service, "app")
					l.apply(step)
				default:
					l.apply(step)
				}
				if t.Failed() {
					t.Fatal(strings.Join(l.events, "\n"))
				}
			}
		})
	}
}

type secretsLife struct {
	*rand.Rand
	managed
	version int
	events  []string
}

func (l *secretsLife) log(format string, args ...any) {
	l.events = append(l.events, fmt.Sprintf(format, args...))
}

func (l *secretsLife) name() string { return string(rune('A' + l.IntN(4))) }

// apply applies secrets, and verifies that nothing but values that the service has,
// or that are configured, is sent; that what is lost was announced; that the state
// has nothing of others; and that the next plan is empty.
func (l *secretsLife) apply(step int) {
	l.version += l.IntN(2)
	form, values := secretsForm(l.IntN(2) == 0), object{}
	for range l.IntN(4) {
		values[l.name()] = []string{"", fmt.Sprintf("own-%d", step), "own"}[l.IntN(3)]
	}
	config := form.config(l.version, values, object{"wait_until": "created"})
	if l.IntN(6) == 0 {
		config = `{"wait_until": "created"}`
	}
	l.log("apply %s", config)
	before := l.s.values(l.T)
	run := newRun(l.T, l.s, allOperations)
	reported := run.refresh(l.i)
	planned := run.plan(l.i, arguments(l.T, config))
	reported = append(reported, planned.diagnostics...)
	if !planned.isNoop(l.i) {
		expectNone(l.T, run.apply(l.i, planned))
	}
	after := l.s.values(l.T)
	l.log("reported %q", messages(reported))
	l.log("the service has %s", inJSON(after))
	for name, value := range after {
		if value != before[name] && value != values[name] && name+value != "OWNthe service's" {
			l.Errorf("secret %s has become %q", name, value)
		}
	}
	for name := range before {
		if _, kept := after[name]; !kept && !slices.Contains(bullets(messages(reported)), name) &&
			!strings.Contains(messages(reported), "lists no secrets") {
			l.Errorf("secret %s was removed without a word", name)
		}
	}
	if state := l.i.state.String() + string(l.i.resource.Private); strings.Contains(state, "foreign") ||
		strings.Contains(state, "**") {
		l.Errorf("the state has values of others: %s", state)
	}
	l.expectNoop(allOperations, config)
	l.s.ResetRequests()
}

// With Terraform itself: values of secrets_wo are sent once, also if they are known
// only at apply, and others' changes are planned by their version.
func TestAccSecrets_writeOnly(t *testing.T) {
	t.Parallel()
	s := newService(t, fakeserver.Options{})
	config := func(version int) string {
		return s.provider(`api_key = "kEyOfTheTests"`) +
			fmt.Sprintf("resource \"terraform_data\" \"value\" { input = \"value-%d\" }\n", version) +
			deployment("app", "internal_docker",
				fmt.Sprintf("secrets_wo = { A = terraform_data.value.output }\n  secrets_wo_version = %d", version))
	}
	drifted := resource.TestStep{Config: config(2), ConfigPlanChecks: updates}
	drifted.PreConfig = func() { s.changeSecrets(t, object{"A": "theirs"}) }
	terraformSince(t, 1, 11)
	check(t, resource.TestStep{Config: config(1)}, resource.TestStep{Config: config(2)}, planIsEmpty(config(2)), drifted,
		planIsEmpty(config(2)))
	managed{T: t, s: s}.expectSecrets("A=value-2", "A=value-2")
}
