//go:build unix

package main

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"time"
)

// terraform runs Terraform, or OpenTofu.
type terraform struct {
	program string
	env     []string
	folder  string
	screen  io.Writer
	verbose bool
}

// say prints what the demo does.
func (t terraform) say(format string, args ...any) { say(t.screen, format, args...) }

// run runs a command of Terraform and shows the lines of its output that match.
func (t terraform) run(ctx context.Context, show string, args ...string) (string, error) {
	t.say("$ %s %s", filepath.Base(t.program), strings.Join(args, " "))
	args = append([]string{args[0], "-no-color"}, args[1:]...)
	out := output{screen: t.screen, all: t.verbose, show: regexp.MustCompile(show)}
	return run(ctx, out, t.folder, t.env, t.program, args...)
}

// grace is how long an interrupted program may take to come to an end.
const grace = 30 * time.Second

// run runs a program in a process group of its own and returns what it
// printed. When ctx ends, the group gets an interrupt, as from a terminal;
// nothing of it outlives run. The error of a program that fails has all that
// it printed.
func run(ctx context.Context, out output, folder string, env []string, program string, args ...string) (string, error) {
	command := exec.CommandContext(ctx, program, args...)
	command.Dir, command.Env = folder, env
	command.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	command.Cancel = func() error {
		say(out.screen, "    (interrupted: waiting for %s to stop)", filepath.Base(program))
		return syscall.Kill(-command.Process.Pid, syscall.SIGINT)
	}
	command.WaitDelay = grace
	// With a file, unlike another writer, Run ends with the program and does not
	// wait for what that left running.
	reader, writer, err := os.Pipe()
	if err != nil {
		return "", err
	}
	defer func() { _ = reader.Close() }()
	command.Stdout, command.Stderr = writer, writer

	printed := make(chan string)
	go func() { printed <- out.copy(reader) }()
	err = command.Run()
	if command.Process != nil {
		_ = syscall.Kill(-command.Process.Pid, syscall.SIGKILL) // what it may have left running
	}
	_ = writer.Close()
	text := <-printed
	if ctx.Err() != nil {
		return "", ctx.Err()
	}
	if err != nil {
		return "", fmt.Errorf("%s %s: %w\n\n%s", filepath.Base(program), strings.Join(args, " "), err, text)
	}
	return text, nil
}

// output is where a program's output is shown, and which lines of it. An error
// or a warning is shown completely, with all that follows it, and once: Terraform
// prints some at plan and at apply.
type output struct {
	screen io.Writer
	all    bool
	show   *regexp.Regexp // none when nil
}

// copy copies the lines to show, indented, and prints how many it omits. It
// returns all that it read.
func (o output) copy(r io.Reader) string {
	var text strings.Builder
	omitted, message, shown := 0, false, map[string]bool{}
	for lines := bufio.NewScanner(io.TeeReader(r, &text)); lines.Scan(); {
		line := lines.Text()
		matches := o.show != nil && o.show.MatchString(line)
		if strings.HasPrefix(line, "Warning:") || strings.HasPrefix(line, "Error:") {
			matches = matches && !shown[line]
			message, shown[line] = matches, true
		}
		switch {
		case strings.TrimSpace(line) == "":
		case o.all || message || matches:
			say(o.screen, "    %s", line)
		default:
			omitted++
		}
	}
	if omitted > 0 && o.show != nil {
		say(o.screen, "    (%d more lines)", omitted)
	}
	return text.String()
}
