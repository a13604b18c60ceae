//go:build unix

// Command bench measures what the provider costs where there are many
// deployments: the real Terraform, the provider as it is built from this
// source, and the service in memory. make bench runs it.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"syscall"
	"time"
)

// sizes say how many of what there are.
type sizes struct {
	state, few, service, creates, listed int
	rounds, starts                       int // how often what is measured in seconds is repeated
}

var (
	full  = sizes{state: 1000, few: 20, service: 100_000, creates: 200, listed: 10_000, rounds: 3, starts: 15}
	small = sizes{state: 150, few: 20, service: 5_000, creates: 20, listed: 1_000, rounds: 1, starts: 3}
)

func main() {
	if provider := os.Getenv(envProvider); provider != "" {
		os.Exit(wrap(provider))
	}
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	defer stop()
	quick := flag.Bool("small", false, "a quick run with less of everything, whose goals mean little")
	report := flag.String("write", "", "the Markdown `file` to write the table to")
	profiles := flag.String("profile", "", "an existing `folder` for profiles of the provider's processor time; they slow it down")
	rounds := flag.Int("rounds", 0, "how often what is measured in seconds is repeated, if not as usual")
	flag.Parse()

	n := full
	if *quick {
		n = small
	}
	if *rounds > 0 {
		n.rounds = *rounds
	}
	if err := bench(ctx, n, *report, *profiles); err != nil {
		fmt.Fprintf(os.Stderr, "\nThe benchmark failed: %v\n", err)
		os.Exit(1)
	}
}

func bench(ctx context.Context, n sizes, report, profiles string) error {
	terraform := os.Getenv("TF_ACC_TERRAFORM_PATH")
	if terraform == "" {
		return errors.New("TF_ACC_TERRAFORM_PATH does not say where Terraform is; start the benchmark with make bench")
	}
	folder, err := os.MkdirTemp("", "graphdeploy-bench-")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(folder) }()
	built, err := build(ctx, folder, profiles)
	if err != nil {
		return err
	}
	run, err := newProgram(terraform, folder)
	if err != nil {
		return err
	}
	b := &benchmark{sizes: n, providers: built, program: run, began: time.Now()}
	for _, measure := range []func(context.Context) error{b.prepare, b.plans, b.crowd, b.limited, b.creates, b.dataSource, b.processor, b.startUp} {
		if err := measure(ctx); err != nil {
			return err
		}
	}
	b.connections()
	return b.report(ctx, report)
}

// providers are those that are compared.
type providers struct{ ours, singly, inFull, minimal provider }

// build builds them all in the same way.
func build(ctx context.Context, folder, profiles string) (providers, error) {
	binary := func(name string) string { return filepath.Join(folder, name) }
	const module = "internal/cmd/bench" // the one that the variants belong to
	for name, source := range map[string]struct{ folder, pkg string }{
		"ours": {".", "."}, "variant": {module, "./variant"}, "minimal": {module, "./minimal"},
	} {
		printed, err := exec.CommandContext(ctx, "go", "build", "-C", source.folder, "-o", binary(name), source.pkg).CombinedOutput()
		if err != nil {
			return providers{}, fmt.Errorf("build %s: %w\n%s", name, err, printed)
		}
	}
	p := providers{
		ours:    provider{binary: binary("ours")},
		singly:  provider{binary: binary("variant"), env: []string{"BENCH_DISABLE_BATCHING=1"}},
		inFull:  provider{binary: binary("ours"), env: []string{"GRAPHDEPLOY_FRAMEWORK_ONLY=1"}},
		minimal: provider{binary: binary("minimal")},
	}
	if profiles != "" {
		profiles, err := filepath.Abs(profiles)
		if err != nil {
			return providers{}, err
		}
		p.ours = provider{binary: binary("variant"), env: []string{"BENCH_PROFILE=" + profiles}}
	}
	return p, nil
}
