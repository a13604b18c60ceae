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

// Terraform does not report the resource usage of a provider. Therefore Terraform starts this program, which starts the
// provider and records its usage when it ends.
const (
	envProvider = "BENCH_PROVIDER" // the provider to start
	envUsage    = "BENCH_USAGE"    // the file to record its usage in, a line for each process
)

// wrap runs the provider and returns its exit status.
func wrap(provider string) int {
	signal.Ignore(syscall.SIGINT) // Terraform receives it, too, and ends the provider
	command := exec.Command(provider, os.Args[1:]...)
	command.Stdin, command.Stdout, command.Stderr = os.Stdin, os.Stdout, os.Stderr
	err := command.Run()
	if command.ProcessState == nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	if err := record(command.ProcessState); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return command.ProcessState.ExitCode()
}

func record(ended *os.ProcessState) error {
	rusage, ok := ended.SysUsage().(*syscall.Rusage)
	if !ok {
		return errors.New("this system does not report the resource usage of a process")
	}
	memory := rusage.Maxrss
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

// usage is the resource usage of the provider's processes of one Terraform run.
type usage struct {
	processes int
	cpu       time.Duration // user and system, of all processes
	memory    int64         // peak resident bytes of the largest process
}

func readUsage(name string) (usage, error) {
	text, err := os.ReadFile(name)
	if err != nil {
		return usage{}, err
	}
	var total usage
	for line := range strings.Lines(string(text)) {
		var cpu, memory int64
		if _, err := fmt.Sscan(line, &cpu, &memory); err != nil {
			return usage{}, err
		}
		total.processes++
		total.cpu += time.Duration(cpu)
		total.memory = max(total.memory, memory)
	}
	return total, nil
}
