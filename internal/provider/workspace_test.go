//go:build unix

package provider_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime/debug"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// A workspace runs Terraform as a process, and the provider as the process that
// Terraform starts: with files, logs and signals as a user has them.

// built is the folder of the provider's binary, which is built once. TestMain
// deletes it.
var built = sync.OnceValues(func() (dir string, err error) {
	if dir, err = os.MkdirTemp("", "graphdeploy-provider"); err != nil {
		return dir, err
	}
	atExit = append(atExit, func() { _ = os.RemoveAll(dir) })
	args := []string{"build", "-o", filepath.Join(dir, "provider")}
	if underRaceDetector() {
		args = append(args, "-race")
	}
	build := exec.Command("go", append(args, ".")...)
	build.Dir = filepath.Join("..", "..")
	if out, err := build.CombinedOutput(); err != nil {
		return dir, fmt.Errorf("%w\n%s", err, out)
	}
	return dir, nil
})

// buildProvider returns the folder of the provider's binary.
func buildProvider(t *testing.T) string {
	t.Helper()
	dir, err := built()
	if err != nil {
		t.Fatalf("cannot build the provider: %s", err)
	}
	return dir
}

func underRaceDetector() bool {
	info, _ := debug.ReadBuildInfo()
	for _, s := range info.Settings {
		if s.Key == "-race" {
			return s.Value == "true"
		}
	}
	return false
}

// workspace is a folder with a configuration, a state, and a Terraform to run.
type workspace struct {
	t    *testing.T
	dir  string // the configuration and the state
	side string // other files: the provider, its process ids
	env  []string

	mu    sync.Mutex
	all   bytes.Buffer // what every run printed
	ended map[int]bool // providers, by their process ids
}

// newWorkspace needs the folder that buildProvider returned. Settings are
// environment variables, NAME=value.
func newWorkspace(t *testing.T, providerDir string, settings ...string) *workspace {
	t.Helper()
	w := &workspace{t: t, dir: t.TempDir(), side: t.TempDir(), ended: map[int]bool{}}
	// Terraform starts the provider through this script, which records its process.
	start := fmt.Sprintf("#!/bin/sh\necho $$ >>'%s'\nexec '%s' \"$@\"\n", filepath.Join(w.side, "pids"),
		filepath.Join(providerDir, "provider"))
	plugins := filepath.Join(w.side, "plugins")
	w.must(os.Mkdir(plugins, 0o700))
	w.must(os.WriteFile(filepath.Join(plugins, "terraform-provider-graphdeploy"), []byte(start), 0o700))
	cli := fmt.Sprintf("provider_installation {\n  dev_overrides {\n    \"graphdeploy/graphdeploy\" = %q\n  }\n"+
		"  direct {}\n}\n", plugins)
	w.must(os.WriteFile(filepath.Join(w.side, "cli.tfrc"), []byte(cli), 0o600))
	for _, set := range os.Environ() {
		if !strings.HasPrefix(set, "TF_") && !strings.HasPrefix(set, "GRAPHDEPLOY_") {
			w.env = append(w.env, set)
		}
	}
	w.env = append(w.env, "TF_CLI_CONFIG_FILE="+filepath.Join(w.side, "cli.tfrc"), "CHECKPOINT_DISABLE=1",
		"TF_IN_AUTOMATION=1", "TF_INPUT=0", "GORACE=log_path="+filepath.Join(w.side, "race"))
	w.env = append(w.env, settings...)
	t.Cleanup(w.assertNothingBroke)
	return w
}

func (w *workspace) must(err error) {
	w.t.Helper()
	if err != nil {
		w.t.Fatal(err)
	}
}

const fromOurSource = `terraform {
  required_providers {
    graphdeploy = {
      source = "graphdeploy/graphdeploy"
    }
  }
}
`

// configure writes the configuration.
func (w *workspace) configure(parts ...string) {
	w.t.Helper()
	w.must(os.WriteFile(filepath.Join(w.dir, "main.tf"), []byte(fromOurSource+strings.Join(parts, "\n")), 0o600))
}

// command is a run of Terraform that has not started. In a process group of its
// own, it only gets the signals of the test.
func (w *workspace) command(ctx context.Context, args ...string) *exec.Cmd {
	c := exec.CommandContext(ctx, terraformBinary(w.t), args...)
	c.Dir, c.Env = w.dir, w.env
	c.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	return c
}

// A run that hangs is ended after this, so that the test reports it. It does not
// limit how long a run may take.
const hangs = 10 * time.Minute

// run runs Terraform and returns what it printed and its exit status.
func (w *workspace) run(args ...string) (out string, status int) {
	w.t.Helper()
	ctx, cancel := context.WithTimeout(w.t.Context(), hangs)
	defer cancel()
	c := w.command(ctx, append(args, "-no-color")...)
	var both bytes.Buffer
	c.Stdout, c.Stderr = &both, &both
	err := c.Run()
	if c.ProcessState == nil {
		w.t.Fatalf("terraform %s: %s", args, err)
	}
	w.note(args, both.Bytes())
	w.running()
	return both.String(), c.ProcessState.ExitCode()
}

func (w *workspace) note(args []string, printed []byte) {
	w.mu.Lock()
	defer w.mu.Unlock()
	fmt.Fprintf(&w.all, "\n--- terraform %s\n%s", strings.Join(args, " "), printed)
}

// printed is what all runs have printed.
func (w *workspace) printed() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.all.String()
}

// succeed runs Terraform and fails the test if that fails.
func (w *workspace) succeed(args ...string) string {
	w.t.Helper()
	out, status := w.run(args...)
	if status != 0 {
		w.t.Fatalf("terraform %s ended with %d:\n%s", strings.Join(args, " "), status, out)
	}
	return out
}

// fail runs Terraform, which must fail with a message that matches.
func (w *workspace) fail(want string, args ...string) string {
	w.t.Helper()
	out, status := w.run(args...)
	if status == 0 || !regexp.MustCompile(want).MatchString(unwrapped(out)) {
		w.t.Fatalf("terraform %s ended with %d; want an error like %q:\n%s", strings.Join(args, " "), status, want, out)
	}
	return out
}

// unwrapped undoes how Terraform breaks and frames the lines of a message.
func unwrapped(out string) string {
	return strings.Join(strings.Fields(strings.NewReplacer("│", " ", "╷", " ", "╵", " ").Replace(out)), " ")
}

// refuse is fail.
func (w *workspace) refuse(want string, args ...string) string {
	w.t.Helper()
	return w.fail(want, args...)
}

// managed are the deployments in the state, by id.
func (w *workspace) managed() map[string]stateInstance {
	w.t.Helper()
	found := map[string]stateInstance{}
	raw, err := os.ReadFile(filepath.Join(w.dir, "terraform.tfstate"))
	if os.IsNotExist(err) {
		return found
	}
	w.must(err)
	var state struct {
		Resources []struct {
			Mode      string
			Instances []stateInstance
		}
	}
	w.must(json.Unmarshal(raw, &state))
	for _, r := range state.Resources {
		for _, i := range r.Instances {
			if r.Mode == "managed" {
				found[i.Attributes["id"].(string)] = i
			}
		}
	}
	return found
}

type stateInstance struct {
	Status     string // "tainted", or nothing
	IndexKey   any    `json:"index_key"`
	Attributes map[string]any
	Private    []byte
}

// assertNothingBroke verifies what holds for every test: no data race, no panic,
// no process that still runs.
func (w *workspace) assertNothingBroke() {
	if races, _ := filepath.Glob(filepath.Join(w.side, "race*")); len(races) > 0 {
		report, _ := os.ReadFile(races[0])
		w.t.Errorf("the provider has a data race:\n%s", report)
	}
	for _, trace := range []string{"panic:", "Stack trace from the", "goroutine 1 ["} {
		if strings.Contains(w.all.String(), trace) {
			w.t.Errorf("the provider crashed:\n%s", w.all.String())
			break
		}
	}
	for _, pid := range w.running() {
		w.t.Errorf("provider process %d still runs", pid)
	}
}

// running are the providers that have not ended. One that has ended is not
// checked again: another process may have its id by then.
func (w *workspace) running() []int {
	var still []int
	for _, pid := range w.providers() {
		w.mu.Lock()
		if !w.ended[pid] {
			if w.ended[pid] = syscall.Kill(pid, 0) != nil; !w.ended[pid] {
				still = append(still, pid)
			}
		}
		w.mu.Unlock()
	}
	return still
}

// providers are the ids of the provider's processes, the newest last.
func (w *workspace) providers() []int {
	text, _ := os.ReadFile(filepath.Join(w.side, "pids"))
	var pids []int
	for _, line := range strings.Fields(string(text)) {
		pid, err := strconv.Atoi(line)
		w.must(err)
		pids = append(pids, pid)
	}
	return pids
}

// terraformBinary is the Terraform that the other tests use.
func terraformBinary(t *testing.T) string {
	t.Helper()
	if named := os.Getenv("TF_ACC_TERRAFORM_PATH"); named != "" {
		return named
	}
	for _, name := range []string{"terraform", "tofu"} {
		if found, err := exec.LookPath(name); err == nil {
			return found
		}
	}
	t.Fatal("no terraform and no tofu on the path, and TF_ACC_TERRAFORM_PATH names none")
	return ""
}

// terraformSince skips a test under an older Terraform, or OpenTofu.
func terraformSince(t *testing.T, major, minor int) {
	t.Helper()
	if is := terraformIs(t); !is.since(major, minor) {
		t.Skipf("needs Terraform %d.%d, this is %s", major, minor, is)
	}
}

// aTerraform is the version of the Terraform of the tests.
type aTerraform struct {
	major, minor int
	tofu         bool
}

func terraformIs(t *testing.T) aTerraform {
	t.Helper()
	name := terraformBinary(t)
	versionOnce.Do(func() {
		c := exec.Command(name, "version")
		c.Env = append(os.Environ(), "CHECKPOINT_DISABLE=1", "TF_CLI_CONFIG_FILE="+os.DevNull)
		out, err := c.Output()
		if err == nil {
			is := &version
			var product string
			_, err = fmt.Sscanf(string(out), "%s v%d.%d", &product, &is.major, &is.minor)
			is.tofu = product == "OpenTofu"
		}
		errVersion = err
	})
	if errVersion != nil {
		t.Fatal(errVersion)
	}
	return version
}

var (
	versionOnce sync.Once
	version     aTerraform
	errVersion  error
)

// since reports whether it is that version or a later one.
func (is aTerraform) since(major, minor int) bool {
	return is.major > major || is.major == major && is.minor >= minor
}

func (is aTerraform) String() string {
	name := "Terraform"
	if is.tofu {
		name = "OpenTofu"
	}
	return fmt.Sprintf("%s %d.%d", name, is.major, is.minor)
}
