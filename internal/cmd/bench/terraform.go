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

// service is a fake service that listens.
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
	s := &service{fake, &http.Server{Handler: fake, ReadHeaderTimeout: 10 * time.Second}, "http://" + listener.Addr().String()}
	go func() { _ = s.http.Serve(listener) }()
	return s, nil
}

func (s *service) close() { _ = s.http.Close() }

// measured is what one run of Terraform took.
type measured struct {
	wall        time.Duration
	provider    usage
	requests    []fakeserver.Request
	connections int
	output      string
}

// count counts the requests that are so.
func (m measured) count(is func(fakeserver.Request) bool) int {
	n := 0
	for _, r := range m.requests {
		if is(r) {
			n++
		}
	}
	return n
}

func byID(r fakeserver.Request) bool     { return r.Query.Has("deployment_ids") }
func byName(r fakeserver.Request) bool   { return r.Query.Has("name_contains") }
func isCreate(r fakeserver.Request) bool { return r.Method == http.MethodPost }
func isRefused(r fakeserver.Request) bool {
	return r.Status == http.StatusTooManyRequests
}

// isAhead is a page that was read ahead.
func isAhead(r fakeserver.Request) bool { return !byID(r) && !byName(r) && !isCreate(r) }

// program runs Terraform with one of the providers.
type program struct {
	terraform string
	folder    string // for what all runs share
	env       []string
}

// provider is a binary, and what it finds in its environment.
type provider struct {
	binary string
	env    []string
}

// newProgram puts this program in the place of the providers, see wrap.
func newProgram(terraform, folder string) (*program, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	places := filepath.Join(folder, "wrapped")
	if err := os.Mkdir(places, 0o700); err != nil {
		return nil, err
	}
	for _, name := range []string{"graphdeploy", "minimal"} {
		if err := os.Symlink(self, filepath.Join(places, "terraform-provider-"+name)); err != nil {
			return nil, err
		}
	}
	config := filepath.Join(folder, "terraform.rc")
	text := fmt.Sprintf("provider_installation {\n  dev_overrides {\n    \"graphdeploy/graphdeploy\" = %q\n    \"graphdeploy/minimal\" = %[1]q\n  }\n}\n", places)
	if err := os.WriteFile(config, []byte(text), 0o600); err != nil {
		return nil, err
	}
	p := &program{terraform: terraform, folder: folder, env: []string{
		"TF_CLI_CONFIG_FILE=" + config, "TF_IN_AUTOMATION=1", "TF_INPUT=0", "CHECKPOINT_DISABLE=1", "TMPDIR=" + folder,
	}}
	for _, setting := range os.Environ() {
		if !strings.HasPrefix(setting, "TF_") && !strings.HasPrefix(setting, "GRAPHDEPLOY_") && !strings.HasPrefix(setting, "BENCH_") {
			p.env = append(p.env, setting)
		}
	}
	return p, nil
}

// run runs a command of Terraform in a folder, and measures it.
func (p *program) run(ctx context.Context, with provider, s *service, folder string, args ...string) (measured, error) {
	used := filepath.Join(folder, "usage")
	_ = os.Remove(used)
	var output bytes.Buffer
	command := exec.CommandContext(ctx, p.terraform, append([]string{args[0], "-no-color"}, args[1:]...)...)
	command.Dir, command.Stdout, command.Stderr = folder, &output, &output
	command.Env = append(append([]string{envProvider + "=" + with.binary, envUsage + "=" + used}, with.env...), p.env...)
	if s != nil {
		command.Env = append(command.Env, "GRAPHDEPLOY_BASE_URL="+s.url)
		s.ResetRequests()
	}
	command.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	command.Cancel = func() error { return syscall.Kill(-command.Process.Pid, syscall.SIGINT) }
	command.WaitDelay = 30 * time.Second
	began := time.Now()
	err := command.Run()
	m := measured{wall: time.Since(began), output: output.String()}
	if command.Process != nil {
		_ = syscall.Kill(-command.Process.Pid, syscall.SIGKILL) // what it may have left running
	}
	if err != nil {
		return m, errors.Join(ctx.Err(), fmt.Errorf("terraform %s: %w\n%s", strings.Join(args, " "), err, tail(m.output)))
	}
	if s != nil {
		m.requests, m.connections = s.Requests(), s.Connections()
	}
	m.provider, err = readUsage(used)
	return m, err
}

// plan makes a plan, which has to be empty: all was read, and rightly.
func (p *program) plan(ctx context.Context, with provider, s *service, folder string, args ...string) (measured, error) {
	return p.run(ctx, with, s, folder, append([]string{"plan", "-detailed-exitcode"}, args...)...)
}

func tail(text string) string {
	const most = 4000
	return text[max(0, len(text)-most):]
}
