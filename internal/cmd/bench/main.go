//go:build unix

// Command bench measures the provider with many and with large deployments: Terraform, the provider built from this
// source, and the fake service. make bench runs it.
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

// sizes are how many deployments, environment variables or runs each measurement has.
type sizes struct {
	many, few, more int   // deployments in the states that are planned
	service         int   // deployments of a large service
	created, listed int   // deployments that an apply creates, and that a data source lists
	variables       []int // of one deployment, multiples of listMax
	rounds, starts  int   // runs of each plan that is compared, and of each start-up
}

var (
	full = sizes{
		many: 1000, few: 20, more: 5000, service: 100_000, created: 200, listed: 10_000, variables: []int{2000, 8000},
		rounds: 3, starts: 15,
	}
	small = sizes{
		many: 150, few: 20, more: 300, service: 5000, created: 20, listed: 1000, variables: []int{500, 2000},
		rounds: 1, starts: 3,
	}
)

func main() {
	if provider := os.Getenv(envProvider); provider != "" {
		os.Exit(wrap(provider))
	}
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	defer stop()
	quick := flag.Bool("small", false, "a quick run with small numbers; the goals are for the full run")
	report := flag.String("write", "", "Markdown `file` to write")
	profiles := flag.String("profile", "", "existing `folder` for CPU profiles of the provider; profiling slows it down")
	rounds := flag.Int("rounds", 0, "how many runs of each plan are compared (default 3, 1 with -small)")
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
		return errors.New("TF_ACC_TERRAFORM_PATH must be set to the path of Terraform; run the benchmark with make bench")
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
	b := &benchmark{sizes: n, providers: built, program: run, started: time.Now()}
	for _, measure := range []func(context.Context) error{
		b.prepare, b.plans, b.growth, b.crowd, b.limited, b.creates, b.planLines, b.large, b.dataSource, b.cpu, b.startUp,
	} {
		if err := measure(ctx); err != nil {
			return err
		}
	}
	b.addConnections()
	return b.report(ctx, report)
}

// providers are the variants of the provider that are compared, and a minimal provider.
type providers struct{ batched, unbatched, frameworkOnly, minimal provider }

// build builds all of them with the same options.
func build(ctx context.Context, folder, profiles string) (providers, error) {
	binary := func(name string) string { return filepath.Join(folder, name) }
	const module = "internal/cmd/bench"
	for name, source := range map[string]struct{ folder, pkg string }{
		"provider": {".", "."}, "variant": {module, "./variant"}, "minimal": {module, "./minimal"},
	} {
		printed, err := exec.CommandContext(ctx, "go", "build", "-C", source.folder, "-o", binary(name),
			source.pkg).CombinedOutput()
		if err != nil {
			return providers{}, fmt.Errorf("build %s: %w\n%s", name, err, printed)
		}
	}
	p := providers{
		batched:       provider{binary: binary("provider")},
		unbatched:     provider{binary: binary("variant"), env: []string{"BENCH_DISABLE_BATCHING=1"}},
		frameworkOnly: provider{binary: binary("provider"), env: []string{"GRAPHDEPLOY_FRAMEWORK_ONLY=1"}},
		minimal:       provider{binary: binary("minimal")},
	}
	if profiles != "" {
		profiles, err := filepath.Abs(profiles)
		if err != nil {
			return providers{}, err
		}
		p.batched = provider{binary: binary("variant"), env: []string{"BENCH_PROFILE=" + profiles}}
	}
	return p, nil
}
