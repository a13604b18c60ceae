//go:build unix

package provider_test

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"os/exec"
	"regexp"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/graphdeploy/terraform-provider-graphdeploy/internal/fakeserver"
)

// running is a run of Terraform that has begun.
type running struct {
	w       *workspace
	args    []string
	command *exec.Cmd
	pipe    *io.PipeWriter
	lines   chan struct{} // closed when all lines have been read
	cancel  context.CancelFunc

	mu      sync.Mutex
	printed bytes.Buffer
	waits   []*waiter
}

type waiter struct {
	text string
	seen chan struct{}
}

// start starts Terraform. It logs to where it prints, so that a test sees how far
// it is.
func (w *workspace) start(args ...string) *running {
	w.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), hangs)
	r := &running{w: w, args: args, cancel: cancel, lines: make(chan struct{})}
	r.command = w.command(ctx, append(args, "-no-color")...)
	r.command.Env = append(r.command.Env, "TF_LOG=TRACE")
	var read *io.PipeReader
	read, r.pipe = io.Pipe()
	r.command.Stdout, r.command.Stderr = r.pipe, r.pipe
	w.must(r.command.Start())
	go func() {
		_ = r.command.Wait()
		_ = r.pipe.Close()
	}()
	go func() {
		defer close(r.lines)
		reader := bufio.NewReader(read)
		for {
			line, err := reader.ReadString('\n')
			r.see(line)
			if err != nil {
				return
			}
		}
	}()
	return r
}

func (r *running) see(line string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.printed.WriteString(line)
	for _, w := range r.waits {
		if w.text != "" && strings.Contains(line, w.text) {
			w.text = ""
			close(w.seen)
		}
	}
}

// when returns a channel that is closed once a text is printed.
func (r *running) when(text string) <-chan struct{} {
	r.mu.Lock()
	defer r.mu.Unlock()
	w := &waiter{text, make(chan struct{})}
	r.waits = append(r.waits, w)
	return w.seen
}

// await waits for an event of the run, which must not end before it.
func (r *running) await(event <-chan struct{}, what string) {
	r.w.t.Helper()
	ended := make(chan struct{})
	go func() { <-r.lines; close(ended) }()
	select {
	case <-event:
	case <-ended:
		r.w.t.Fatalf("terraform ended before %s:\n%s", what, r.output())
	case <-r.w.t.Context().Done():
		r.w.t.Fatalf("the test ended before %s", what)
	}
}

func (r *running) output() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.printed.String()
}

// wait waits for the end, and returns what was printed without the log.
func (r *running) wait() (out string, status int) {
	r.w.t.Helper()
	<-r.lines
	r.cancel()
	out = logLines.ReplaceAllString(r.output(), "")
	r.w.note(r.args, []byte(out))
	return out, r.command.ProcessState.ExitCode()
}

var logLines = regexp.MustCompile(`(?m)^\d{4}-\d\d-\d\dT[^\n]*\n(  [^\n]*\n)*`)

// gate is a fault that holds a request until it is released.
func gate(f fakeserver.Fault) (fault fakeserver.Fault, reached <-chan struct{}, release func()) {
	in, hold := make(chan struct{}), make(chan struct{})
	var once, open sync.Once
	f.Reached, f.Hold = func() { once.Do(func() { close(in) }) }, hold
	return f, in, func() { open.Do(func() { close(hold) }) }
}

func assertOne(t *testing.T, w *workspace, s *service) {
	t.Helper()
	id := s.stored(t)["id"].(string)
	managed := w.managed()
	if i, there := managed[id]; !there || len(managed) != 1 || i.Status != "" {
		t.Errorf("the state has %v, want deployment %s and that it is not tainted", managed, id)
	}
	if n := s.sent("POST", "/v2/deployments"); n != 1 {
		t.Errorf("%d creates were sent, want 1", n)
	}
}

// The interrupt goes to Terraform only, as from a CI system, or to its process
// group, as from a terminal.
func TestAccInterrupt_savesWhatWasCreated(t *testing.T) {
	built := buildProvider(t)
	t.Parallel()
	for _, from := range []string{"a CI system", "a terminal"} {
		interrupt := func(t *testing.T, r *running) {
			t.Helper()
			pid := r.command.Process.Pid
			if from == "a terminal" {
				pid = -pid
			}
			// By then the provider has canceled its requests.
			stopped := r.when("Closed all our contexts")
			if err := syscall.Kill(pid, syscall.SIGINT); err != nil {
				t.Fatal(err)
			}
			r.await(stopped, "the provider was stopped")
		}
		t.Run("while a create is in progress from "+from, func(t *testing.T) {
			t.Parallel()
			s := newService(t, fakeserver.Options{AllowDuplicateNames: true, ReadyAfter: 1000 * time.Hour})
			w := newWorkspace(t, built)
			w.configure(s.provider(), app)
			held, reached, release := gate(fakeserver.Fault{AfterWork: true})
			defer release()
			s.Fail(fakeserver.CreateDeployment, 1, held)
			r := w.start("apply", "-auto-approve")
			r.await(reached, "it created")
			interrupt(t, r)
			release()
			out, _ := r.wait()
			assertOne(t, w, s)
			if !strings.Contains(unwrapped(out), "Wait was interrupted") {
				t.Errorf("there is no warning that the wait was interrupted:\n%s", out)
			}
			w.succeed("plan", "-detailed-exitcode")
		})
		t.Run("while a create whose response is lost is in progress from "+from, func(t *testing.T) {
			t.Parallel()
			s := newService(t, fakeserver.Options{AllowDuplicateNames: true})
			w := newWorkspace(t, built)
			w.configure(s.provider(), app)
			held, reached, release := gate(fakeserver.Fault{AfterWork: true, Cut: true})
			defer release()
			s.Fail(fakeserver.CreateDeployment, 1, held)
			r := w.start("apply", "-auto-approve")
			r.await(reached, "it created")
			interrupt(t, r)
			release()
			r.wait()
			assertOne(t, w, s)
		})
		t.Run("while a deployment is waited for from "+from, func(t *testing.T) {
			t.Parallel()
			s := newService(t, fakeserver.Options{ReadyAfter: 1000 * time.Hour})
			w := newWorkspace(t, built)
			w.configure(s.provider(), app)
			// Never released: the apply only ends if it cancels the request.
			held, reached, release := gate(fakeserver.Fault{})
			defer release()
			// The name at plan, at the plan of the apply, and at the create; the first read.
			s.Fail(fakeserver.ListDeployments, 4, fakeserver.Fault{Reached: func() {}})
			s.Fail(fakeserver.ListDeployments, 1, held)
			r := w.start("apply", "-auto-approve")
			r.await(reached, "it waited")
			interrupt(t, r)
			out, _ := r.wait()
			assertOne(t, w, s)
			if !strings.Contains(unwrapped(out), "Wait was interrupted") {
				t.Errorf("there is no warning that the wait was interrupted:\n%s", out)
			}
			s.ClearFaults()
			w.succeed("plan", "-detailed-exitcode")
		})
		t.Run("before anything is created from "+from, func(t *testing.T) {
			t.Parallel()
			s := newService(t, fakeserver.Options{})
			w := newWorkspace(t, built)
			w.configure(s.provider(), app)
			held, reached, release := gate(fakeserver.Fault{})
			defer release()
			// the name at plan, and at the plan of the apply
			s.Fail(fakeserver.ListDeployments, 2, fakeserver.Fault{Reached: func() {}})
			s.Fail(fakeserver.ListDeployments, 1, held)
			r := w.start("apply", "-auto-approve")
			r.await(reached, "it looked up the name")
			interrupt(t, r)
			release()
			if out, status := r.wait(); status == 0 {
				t.Errorf("an apply that did nothing succeeded:\n%s", out)
			}
			if n := len(s.Deployments()) + len(w.managed()); n != 0 {
				t.Errorf("something was created, or is in the state")
			}
			w.succeed("apply", "-auto-approve")
			assertOne(t, w, s)
		})
	}
}

// A provider that is killed reports nothing. The next apply creates no second
// deployment, and its error contains the import block.
func TestAccKilledProvider_createsNoSecondDeployment(t *testing.T) {
	built := buildProvider(t)
	t.Parallel()
	for name, c := range map[string]struct {
		route   fakeserver.Route
		before  int // requests of the route that come first
		fault   fakeserver.Fault
		created bool
	}{
		"while it plans":             {fakeserver.ListDeployments, 0, fakeserver.Fault{}, false},
		"while it looks up the name": {fakeserver.ListDeployments, 2, fakeserver.Fault{}, false},
		"before the work":            {fakeserver.CreateDeployment, 0, fakeserver.Fault{}, false},
		"after the work":             {fakeserver.CreateDeployment, 0, fakeserver.Fault{AfterWork: true}, true},
		"while it waits":             {fakeserver.ListDeployments, 3, fakeserver.Fault{}, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			options := fakeserver.Options{AllowDuplicateNames: true}
			if name == "while it waits" {
				options.ReadyAfter = 1000 * time.Hour
			}
			s := newService(t, options)
			w := newWorkspace(t, built)
			w.configure(s.provider(), app)
			held, reached, release := gate(c.fault)
			defer release()
			if c.before > 0 {
				s.Fail(c.route, c.before, fakeserver.Fault{Reached: func() {}})
			}
			s.Fail(c.route, 1, held)
			r := w.start("apply", "-auto-approve")
			r.await(reached, "the provider was to be killed")
			pids := w.providers()
			if err := syscall.Kill(pids[len(pids)-1], syscall.SIGKILL); err != nil {
				t.Fatal(err)
			}
			if out, status := r.wait(); status == 0 {
				t.Errorf("an apply whose provider was killed succeeded:\n%s", out)
			}
			s.ClearFaults()
			if c.created {
				id := s.stored(t)["id"].(string)
				w.fail(fmt.Sprintf(`Deployment name already taken .*import { to = graphdeploy_deployment\.NAME id = "%s" }`, id),
					"apply", "-auto-approve")
				w.succeed("import", this, id)
				w.succeed("apply", "-auto-approve")
			} else {
				w.succeed("apply", "-auto-approve")
			}
			assertOneDeployment(t, w, s)
			w.succeed("plan", "-detailed-exitcode")
		})
	}
}

// assertOneDeployment is assertOne for more than one request.
func assertOneDeployment(t *testing.T, w *workspace, s *service) {
	t.Helper()
	id := s.stored(t)["id"].(string)
	if i, there := w.managed()[id]; !there || len(w.managed()) != 1 || i.Status != "" {
		t.Errorf("the state has %v, want deployment %s and that it is not tainted", w.managed(), id)
	}
}

// app has no output: an apply that is interrupted omits outputs.
const app = `
resource "graphdeploy_deployment" "this" {
  name   = "app"
  source = "internal_docker"
}
`

// An interrupt lets an update or a deletion in progress finish, and the state has the
// result.
func TestAccInterrupt_updateAndDeletionFinish(t *testing.T) {
	built := buildProvider(t)
	t.Parallel()
	begin := func(t *testing.T, fault fakeserver.Fault,
		route fakeserver.Route) (s *service, w *workspace, hold func(args ...string)) {
		t.Helper()
		s = newService(t, fakeserver.Options{})
		w = newWorkspace(t, built)
		configure := func(url string) {
			// Without an output: it would show a new status.
			config, _, _ := strings.Cut(deployment("app", "external_docker", `source_config = { custom_url = "`+url+`" }`),
				"output ")
			w.configure(s.provider(), config)
		}
		configure("https://a.example.com")
		w.succeed("apply", "-auto-approve")
		configure("https://b.example.com")
		return s, w, func(args ...string) {
			held, reached, release := gate(fault)
			defer release()
			s.Fail(route, 1, held)
			r := w.start(args...)
			r.await(reached, "the request was sent")
			stopping := r.when("Closed all our contexts")
			if err := syscall.Kill(r.command.Process.Pid, syscall.SIGINT); err != nil {
				t.Fatal(err)
			}
			r.await(stopping, "the provider is to stop")
			release()
			r.wait()
		}
	}
	for name, fault := range map[string]fakeserver.Fault{"with a response": {AfterWork: true},
		"with a lost response": {AfterWork: true, Cut: true}} {
		t.Run("update "+name, func(t *testing.T) {
			t.Parallel()
			s, w, hold := begin(t, fault, fakeserver.UpdateDeployment)
			hold("apply", "-auto-approve")
			if url := s.stored(t)["source_config"].(map[string]any)["custom_url"]; url != "https://b.example.com" {
				t.Errorf("custom_url is %v", url)
			}
			assertOne(t, w, s)
			if out := w.printed(); strings.Contains(out, "was not applied") || strings.Contains(out, "Cannot read") {
				t.Errorf("the update was not read back:\n%s", out)
			}
			if !fault.Cut {
				w.succeed("plan", "-detailed-exitcode", "-refresh=false")
			}
			w.succeed("plan", "-detailed-exitcode")
		})
		t.Run("deletion "+name, func(t *testing.T) {
			t.Parallel()
			s, w, hold := begin(t, fault, fakeserver.DeleteDeployment)
			hold("destroy", "-auto-approve")
			if n := len(s.Deployments()); n != 0 {
				t.Errorf("the service has %d deployments", n)
			}
			// It may be in the state until the next read.
			w.succeed("destroy", "-auto-approve")
			if managed := w.managed(); len(managed) != 0 {
				t.Errorf("the state has %v", managed)
			}
		})
	}
}
