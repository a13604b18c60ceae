//go:build unix

package provider_test

import (
	"encoding/json"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/graphdeploy/terraform-provider-graphdeploy/internal/fakeserver"
)

// Users copy the examples. The tests beside each run here as a user would run
// them: with `terraform test`, against the fake service.

const examplesFolder = "../../examples"

// The folders of the snippets in the docs. All others are complete
// configurations.
var snippetFolders = []string{"actions", "data-sources", "list-resources", "provider", "resources"}

func examples(t *testing.T) []string {
	t.Helper()
	folders, err := os.ReadDir(examplesFolder)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, folder := range folders {
		if !slices.Contains(snippetFolders, folder.Name()) {
			names = append(names, folder.Name())
		}
	}
	return names
}

// newExampleService is what make fakeserver runs, but for the wait: a deployment
// is not ready in the response to its create, and is when it is read again.
// That of the gates takes as long as that of make fakeserver: its tests need a
// deployment that is not ready yet.
func newExampleService(t *testing.T, name string) *service {
	t.Helper()
	readyAfter := time.Millisecond
	if name == "gates" {
		readyAfter = 2 * time.Second
	}
	s := newService(t, fakeserver.Options{ReadyAfter: readyAfter, KeepUnknown: true})
	s.SeedDemo()
	return s
}

// newExample is a copy of an example that uses the service.
func newExample(t *testing.T, providerDir, name string, s *service, settings ...string) *workspace {
	t.Helper()
	w := newWorkspace(t, providerDir, append(settings, "TF_VAR_base_url="+s.url)...)
	w.copy(filepath.Join(examplesFolder, name))
	w.succeed("get") // modules; the provider needs no init
	return w
}

func TestExamples_areTestedAndListed(t *testing.T) {
	t.Parallel()
	readme, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range examples(t) {
		if tests, _ := filepath.Glob(filepath.Join(examplesFolder, name, "*.tftest.hcl")); len(tests) == 0 {
			t.Errorf("examples/%s has no *.tftest.hcl", name)
		}
		if !strings.Contains(string(readme), "| [`"+name+"`](examples/"+name+")") {
			t.Errorf("the table of examples in README.md lacks examples/%s", name)
		}
	}
}

var allPassed = regexp.MustCompile(`Success! [1-9]\d* passed, 0 failed\.`)

func TestAccExamples(t *testing.T) {
	terraformSince(t, 1, 11)
	built := buildProvider(t)
	t.Parallel()
	for _, name := range examples(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newExampleService(t, name)
			before := s.names()
			w := newExample(t, built, name, s)
			if out := w.succeed("test"); !allPassed.MatchString(out) {
				t.Errorf("not all passed:\n%s", out)
			}
			// So that it can run again, against the same service.
			if after := s.names(); !maps.Equal(before, after) {
				t.Errorf("the test left deployments behind: before %v, after %v", before, after)
			}
		})
		t.Run(name+" applied", func(t *testing.T) {
			t.Parallel()
			s := newExampleService(t, name)
			w := newExample(t, built, name, s)
			if name == "import" {
				s.SeedDeployment(map[string]any{"name": "agent-api", "source": "codehost"})
				w.succeed("import", "graphdeploy_deployment.legacy_bot", "legacy-bot")
				w.succeed("import", "graphdeploy_deployment.agent", "agent-api")
			} else {
				w.succeed("apply", "-auto-approve")
			}
			w.succeed("plan", "-detailed-exitcode") // it ends with 2 if there are changes
			if managed := w.managed(); len(managed) == 0 {
				t.Error("nothing is managed")
			}
		})
	}
}

func TestAccGatesExample_exitStatus(t *testing.T) {
	terraformSince(t, 1, 11)
	built := buildProvider(t)
	t.Parallel()
	s := newExampleService(t, "gates")
	w := newExample(t, built, "gates", s, "TF_VAR_time_to_be_ready=1ms")

	turn := func(name, status string) {
		for _, d := range s.Deployments() {
			if d["name"] == name {
				s.Edit(d["id"].(string), func(d map[string]any) { d["status"] = status })
			}
		}
	}
	// Closed: the deployment is kept, and what depends on it is not created.
	w.fail("Deployment search is not ready .status AWAITING_DATABASE.", "apply", "-auto-approve")
	if names := s.names(); !maps.Equal(names, map[string]int{"legacy-bot": 1, "search": 1}) {
		t.Fatalf("deployments after an apply that a gate stopped: %v", names)
	}
	for _, d := range w.managed() {
		if d.Status != "" {
			t.Errorf("the deployment is %s", d.Status)
		}
	}
	// Open: the next apply goes on from there.
	turn("search", "READY")
	w.succeed("apply", "-auto-approve")
	if names := s.names(); !maps.Equal(names, map[string]int{"legacy-bot": 1, "search": 1, "assistant": 1}) {
		t.Fatalf("deployments after an apply with open gates: %v", names)
	}
	w.succeed("plan", "-detailed-exitcode", "-out=plan.tfplan")
	if got := w.checks(); !maps.Equal(got,
		map[string]string{"check.watched_are_ready": "pass", "graphdeploy_deployment.search": "pass"}) {
		t.Errorf("checks with open gates: %s", got)
	}

	// A check that fails is no error and no change, but the plan shows it.
	turn("legacy-bot", "AWAITING_DATABASE")
	out := w.succeed("plan", "-detailed-exitcode", "-out=plan.tfplan")
	if !strings.Contains(unwrapped(out), "Not ready: legacy-bot (AWAITING_DATABASE).") {
		t.Errorf("the plan does not name what is not ready:\n%s", out)
	}
	if got := w.checks(); !maps.Equal(got,
		map[string]string{"check.watched_are_ready": "fail", "graphdeploy_deployment.search": "pass"}) {
		t.Errorf("checks while a deployment is not ready: %s", got)
	}
	turn("search", "UNKNOWN")
	w.fail("Deployment search is not ready .status UNKNOWN.", "plan", "-detailed-exitcode")
}

// checks are the results of the checks in plan.tfplan.
func (w *workspace) checks() map[string]string {
	w.t.Helper()
	var plan struct {
		Checks []struct {
			Address struct {
				ToDisplay string `json:"to_display"`
			}
			Status string
		}
	}
	w.must(json.Unmarshal([]byte(w.succeed("show", "-json", "plan.tfplan")), &plan))
	found := map[string]string{}
	for _, c := range plan.Checks {
		found[c.Address.ToDisplay] = c.Status
	}
	return found
}

// copy copies configurations and their tests, but no files that Terraform wrote
// beside them.
func (w *workspace) copy(folder string) {
	w.t.Helper()
	w.must(filepath.WalkDir(folder, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name := entry.Name()
		if entry.IsDir() {
			if path != folder && strings.HasPrefix(name, ".") {
				return filepath.SkipDir
			}
			return nil
		}
		if strings.HasPrefix(name, ".") || filepath.Ext(name) != ".tf" && filepath.Ext(name) != ".hcl" {
			return nil
		}
		inner, err := filepath.Rel(folder, path)
		if err != nil {
			return err
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		to := filepath.Join(w.dir, inner)
		if err := os.MkdirAll(filepath.Dir(to), 0o700); err != nil {
			return err
		}
		return os.WriteFile(to, text, 0o600)
	}))
}
