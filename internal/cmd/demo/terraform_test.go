//go:build unix

package main

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

func TestCopy_showsMatchingLinesAndMessages(t *testing.T) {
	t.Parallel()
	const printed = `
  # thing will be created
  + resource "thing" {
      + name = "a"
    }

Plan: 1 to add.
Warning: It is slow

It took long.
Warning: It is slow

It will take long.
Done.
Error: It failed

It ran out of time.
`
	for name, test := range map[string]struct {
		show, want string
		all        bool
	}{
		"with messages": {show: `will be created|^Plan:|^Warning|^Done|^Error`,
			want: "      # thing will be created\n    Plan: 1 to add.\n    Warning: It is slow\n    It took long.\n    Done.\n" +
				"    Error: It failed\n    It ran out of time.\n    (5 more lines)\n"},
		"without messages": {show: `^Plan:`, want: "    Plan: 1 to add.\n    (11 more lines)\n"},
		"everything": {show: `^Plan:`, all: true,
			want: strings.ReplaceAll(strings.ReplaceAll("    "+strings.Trim(printed, "\n"), "\n\n", "\n"), "\n",
				"\n    ") + "\n"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var shown bytes.Buffer
			text := output{&shown, test.all, regexp.MustCompile(test.show)}.copy(strings.NewReader(printed))
			if shown.String() != test.want {
				t.Errorf("shown:\n%s\nwant:\n%s", shown.String(), test.want)
			}
			if text != printed {
				t.Errorf("returned:\n%s\nwant all that was read", text)
			}
		})
	}
}

func TestRun_interruptEndsTheProgramAndItsChildren(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	ctx, interrupt := context.WithCancel(t.Context())
	// A program that ends at an interrupt, and a child of it that does not.
	const script = `sh -c 'trap "" INT; sleep 60' & echo $! >child; trap 'echo >interrupted; exit 1' INT
echo >ready; while :; do sleep 0.05; done`
	go func() {
		defer interrupt()
		for !exists(filepath.Join(folder, "ready")) {
			time.Sleep(10 * time.Millisecond)
		}
	}()
	if _, err := run(ctx, output{screen: io.Discard}, folder, os.Environ(), "sh", "-c", script); !errors.Is(err,
		context.Canceled) {
		t.Errorf("error %v, want %v", err, context.Canceled)
	}
	if !exists(filepath.Join(folder, "interrupted")) {
		t.Error("the program got no interrupt")
	}
	text, err := os.ReadFile(filepath.Join(folder, "child"))
	if err != nil {
		t.Fatal(err)
	}
	child, err := strconv.Atoi(strings.TrimSpace(string(text)))
	if err != nil {
		t.Fatal(err)
	}
	for range 100 {
		if !alive(child) {
			return
		}
		time.Sleep(20 * time.Millisecond)
	}
	t.Error("the program's child is still running")
}

func exists(name string) bool {
	_, err := os.Stat(name)
	return err == nil
}

// alive reports whether a process runs; a dead one that nobody waited for does not.
func alive(pid int) bool {
	if syscall.Kill(pid, 0) != nil {
		return false
	}
	state, err := exec.Command("ps", "-o", "stat=", "-p", strconv.Itoa(pid)).Output()
	return err == nil && !strings.HasPrefix(strings.TrimSpace(string(state)), "Z")
}

func TestRun_errorContainsWhatTheProgramPrinted(t *testing.T) {
	t.Parallel()
	_, err := run(t.Context(), output{screen: io.Discard}, t.TempDir(), os.Environ(), "sh", "-c",
		"echo out; echo err >&2; exit 3")
	if err == nil || !strings.Contains(err.Error(), "exit status 3\n\nout\nerr\n") {
		t.Errorf("error %v", err)
	}
}

func TestEnvironment_omitsTheUsersSettings(t *testing.T) {
	t.Setenv("TF_LOG", "trace")
	t.Setenv("GRAPHDEPLOY_API_KEY", "mine")
	env, err := environment(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for _, setting := range env {
		if strings.HasPrefix(setting, "TF_LOG=") || strings.HasPrefix(setting, "GRAPHDEPLOY_") {
			t.Errorf("%s is passed to Terraform", setting)
		}
	}
}
