//go:build unix

package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"runtime"
	"strings"
	"syscall"
	"time"
)

// Terraform does not tell what a provider uses. So this program stands in the
// provider's place, starts it, and notes what it has used when it ends.
const (
	envProvider = "BENCH_PROVIDER" // the provider to start
	envUsage    = "BENCH_USAGE"    // the file to note it in, a line for each process
)

// wrap runs the provider and returns its exit status.
func wrap(provider string) int {
	signal.Ignore(syscall.SIGINT) // that is for Terraform, which then ends the provider
	command := exec.Command(provider, os.Args[1:]...)
	command.Stdin, command.Stdout, command.Stderr = os.Stdin, os.Stdout, os.Stderr
	err := command.Run()
	if command.ProcessState == nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	if err := note(command.ProcessState); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return command.ProcessState.ExitCode()
}

func note(ended *os.ProcessState) error {
	used, ok := ended.SysUsage().(*syscall.Rusage)
	if !ok {
		return errors.New("this system does not tell what a process has used")
	}
	memory := used.Maxrss
	if runtime.GOOS != "darwin" {
		memory *= 1024
	}
	file, err := os.OpenFile(os.Getenv(envUsage), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintln(file, int64(ended.UserTime()+ended.SystemTime()), memory)
	return errors.Join(err, file.Close())
}

// usage is what the provider's processes of one Terraform run have used.
type usage struct {
	processes int
	cpu       time.Duration // user and system, of all
	memory    int64         // resident bytes at the peak, of the largest
}

func readUsage(name string) (usage, error) {
	text, err := os.ReadFile(name)
	if err != nil {
		return usage{}, err
	}
	var all usage
	for line := range strings.Lines(string(text)) {
		var cpu, memory int64
		if _, err := fmt.Sscan(line, &cpu, &memory); err != nil {
			return usage{}, err
		}
		all.processes++
		all.cpu += time.Duration(cpu)
		all.memory = max(all.memory, memory)
	}
	return all, nil
}
