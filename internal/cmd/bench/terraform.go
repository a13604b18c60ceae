//go:build unix

package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/graphdeploy/terraform-provider-graphdeploy/internal/fakeserver"
)

// service is a fake service with a listener.
type service struct {
	*fakeserver.Server
	http *http.Server
	url  string
}

func serve(fake *fakeserver.Server) (*service, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	s := &service{fake, &http.Server{Handler: fake, ReadHeaderTimeout: 10 * time.Second},
		"http://" + listener.Addr().String()}
	go func() { _ = s.http.Serve(listener) }()
	return s, nil
}

func (s *service) close() { _ = s.http.Close() }

// measured are the measurements of one run of Terraform.
type measured struct {
	wall         time.Duration
	provider     usage
	requests     []fakeserver.Request
	mostRequests int // of the runs that this one is the median of
	connections  int
	output       string
}

// count counts the requests that match.
func (m measured) count(match func(fakeserver.Request) bool) int {
	n := 0
	for _, r := range m.requests {
		if match(r) {
			n++
		}
	}
	return n
}

func isByID(r fakeserver.Request) bool     { return r.Query.Has("deployment_ids") }
func isByName(r fakeserver.Request) bool   { return r.Query.Has("name_contains") }
func isCreate(r fakeserver.Request) bool   { return r.Method == http.MethodPost }
func isRevision(r fakeserver.Request) bool { return strings.Contains(r.Path, "/revisions/") }
func isPage(r fakeserver.Request) bool {
	return !isByID(r) && !isByName(r) && !isCreate(r) && !isRevision(r)
}
func isRateLimited(r fakeserver.Request) bool { return r.Status == http.StatusTooManyRequests }

// program runs Terraform with one of the providers.
type program struct {
	terraform string
	folder    string // for temporary files
	env       []string
}

// provider is a binary and the environment variables that it runs with.
type provider struct {
	binary string
	env    []string
}

// newProgram lets Terraform start this program in place of the providers, see wrap.
func newProgram(terraform, folder string) (*program, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	wrappers := filepath.Join(folder, "wrapped")
	if err := os.Mkdir(wrappers, 0o700); err != nil {
		return nil, err
	}
	for _, name := range []string{"graphdeploy", "minimal"} {
		if err := os.Symlink(self, filepath.Join(wrappers, "terraform-provider-"+name)); err != nil {
			return nil, err
		}
	}
	config := filepath.Join(folder, "terraform.rc")
	text := fmt.Sprintf(`provider_installation {
  dev_overrides {
    "graphdeploy/graphdeploy" = %q
    "graphdeploy/minimal"     = %[1]q
  }
}
`, wrappers)
	if err := os.WriteFile(config, []byte(text), 0o600); err != nil {
		return nil, err
	}
	p := &program{terraform: terraform, folder: folder, env: []string{
		"TF_CLI_CONFIG_FILE=" + config, "TF_IN_AUTOMATION=1", "TF_INPUT=0", "CHECKPOINT_DISABLE=1", "TMPDIR=" + folder,
	}}
	for _, setting := range os.Environ() {
		if !strings.HasPrefix(setting, "TF_") && !strings.HasPrefix(setting, "GRAPHDEPLOY_") &&
			!strings.HasPrefix(setting, "BENCH_") {
			p.env = append(p.env, setting)
		}
	}
	return p, nil
}

// run measures a Terraform command in a folder.
func (p *program) run(ctx context.Context, with provider, s *service, folder string, args ...string) (measured, error) {
	usageFile := filepath.Join(folder, "usage")
	_ = os.Remove(usageFile)
	var output bytes.Buffer
	command := exec.CommandContext(ctx, p.terraform, append([]string{args[0], "-no-color"}, args[1:]...)...)
	command.Dir, command.Stdout, command.Stderr = folder, &output, &output
	command.Env = append(append([]string{envProvider + "=" + with.binary, envUsage + "=" + usageFile}, with.env...),
		p.env...)
	if s != nil {
		command.Env = append(command.Env, "GRAPHDEPLOY_BASE_URL="+s.url)
		s.ResetRequests()
	}
	command.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	command.Cancel = func() error { return syscall.Kill(-command.Process.Pid, syscall.SIGINT) }
	command.WaitDelay = 30 * time.Second
	started := time.Now()
	err := command.Run()
	m := measured{wall: time.Since(started), output: output.String()}
	if command.Process != nil {
		_ = syscall.Kill(-command.Process.Pid, syscall.SIGKILL) // processes that it left running
	}
	if err != nil {
		return m, errors.Join(ctx.Err(), fmt.Errorf("terraform %s: %w\n%s", strings.Join(args, " "), err, tail(m.output)))
	}
	if s != nil {
		m.requests, m.connections = s.Requests(), s.Connections()
	}
	m.provider, err = readUsage(usageFile)
	return m, err
}

// plan measures a plan. It is an error if the plan is not empty: the provider would not have read everything correctly.
func (p *program) plan(ctx context.Context, with provider, s *service, folder string,
	args ...string,
) (measured, error) {
	return p.run(ctx, with, s, folder, append([]string{"plan", "-detailed-exitcode"}, args...)...)
}

func tail(text string) string {
	const length = 4000
	return text[max(0, len(text)-length):]
}
