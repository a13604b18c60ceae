//go:build unix

package main

import (
	"bufio"
	"cmp"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strings"
	"text/tabwriter"
	"time"
)

// row is a row of the table.
type row struct {
	name, goal, measured, unbatched, result string
}

func (b *benchmark) logf(format string, args ...any) {
	fmt.Printf("%4.0f s  %s\n", time.Since(b.started).Seconds(), fmt.Sprintf(format, args...))
}

// add adds a row. Without a goal, met has no meaning.
func (b *benchmark) add(name, goal, measured, unbatched string, met bool) {
	result := "met"
	switch {
	case goal == "":
		result = "–"
	case !met:
		result = "MISSED"
	}
	b.rows = append(b.rows, row{name, cmp.Or(goal, "–"), measured, cmp.Or(unbatched, "–"), result})
	b.logf("%s: %s", name, measured)
}

// medianRun returns the run whose wall time is the median.
func medianRun(runs []measured) measured {
	slices.SortFunc(runs, func(a, b measured) int { return cmp.Compare(a.wall, b.wall) })
	median := runs[len(runs)/2]
	for _, m := range runs {
		median.mostRequests = max(median.mostRequests, len(m.requests))
	}
	return median
}

func seconds(d time.Duration) string { return fmt.Sprintf("%.1f s", d.Seconds()) }

// number formats n with commas: 100,000.
func number(n int) string {
	if n < 1000 {
		return fmt.Sprint(n)
	}
	return fmt.Sprintf("%s,%03d", number(n/1000), n%1000)
}

// report prints the table and, if file is not empty, writes the Markdown file.
func (b *benchmark) report(ctx context.Context, file string) error {
	fmt.Println()
	out := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', 0)
	_, _ = fmt.Fprintln(out, "CASE\tGOAL\tMEASURED\tWITHOUT BATCHING\tRESULT")
	for _, r := range b.rows {
		_, _ = fmt.Fprintf(out, "%s\t%s\t%s\t%s\t%s\n", r.name, r.goal, r.measured, r.unbatched, r.result)
	}
	if err := out.Flush(); err != nil || file == "" {
		return err
	}
	version, err := exec.CommandContext(ctx, b.terraform, "version").Output()
	if err != nil {
		return err
	}
	first, _, _ := strings.Cut(string(version), "\n")
	var text strings.Builder
	b.markdown(&text, first)
	return os.WriteFile(file, []byte(text.String()), 0o644)
}

func (b *benchmark) markdown(w io.Writer, terraform string) {
	_, _ = fmt.Fprintf(w, `# Benchmarks

Measurements with many deployments and with large ones: Terraform with its default parallelism of %d, the provider built
from this source, and the fake service with a latency of %d ms, on one machine. `+"`make bench`"+` runs them and writes
this file. Machines differ: compare rows, not seconds.

%s; %s; %s on %s/%s, %s, %d cores.

| Case | Goal | Measured | Without batching | Result |
|---|---|---|---|---|
`, parallelism, latency.Milliseconds(), b.started.Format("January 2, 2006"), terraform, runtime.Version(), runtime.GOOS,
		runtime.GOARCH,
		processorName(), runtime.NumCPU())
	for _, r := range b.rows {
		_, _ = fmt.Fprintf(w, "| %s | %s | %s | %s | %s |\n", r.name, r.goal, r.measured, r.unbatched, r.result)
	}
	_, _ = fmt.Fprintf(w, `
How it is measured:

- *Without batching*, the provider reads each deployment with a request of its own, and reads nothing ahead. Users
  cannot configure this.
- *Without the fast path*, terraform-plugin-framework handles every request. Users can set
  `+"`GRAPHDEPLOY_FRAMEWORK_ONLY=1`"+` for this.
- Plans that are compared run in turn. Number of rounds: %d, but one for %s in %[2]s. Wall time, CPU time and memory are
  those of the run with the median wall time. Requests are those of the run with the most, unless stated otherwise.
- Every plan of existing deployments must be empty. Otherwise, the benchmark fails.
- The service counts requests and connections. Pages that are read ahead count as requests.
- In the service with %s deployments, the deployments in the state are evenly distributed.
- The lines of a plan are those of its resources with the empty line between two, without the text before and after. The
  six arguments are `+"`min_scale`, `max_scale`, `cpu`, `memory_mb`, `labels` and `image_uri`"+`, as in every other case
  but environment variables; `+"`name` and `source`"+` are not counted.
- Environment variables are distributed among sidecars, %d in each.
- A data source requests pages of 100 deployments until one is empty.
- CPU time (user and system) is the sum over the provider's processes, of which a plan starts %d. Peak memory is that of
  the largest.
- The narrow resource has nine attributes and exists in the state only. A provider that has only this resource plans it.
- Start-up is the time from the start of the process until it has returned its schema, the median of %d. The minimal
  provider has one resource and one data source, like the scaffolding provider of terraform-plugin-framework.
`, b.sizes.rounds, number(b.sizes.more), number(b.sizes.service), listMax, b.planned.provider.processes, b.sizes.starts)
}

// processorName returns the model of the CPU.
func processorName() string {
	file, err := os.Open("/proc/cpuinfo")
	if err != nil {
		return "unknown CPU"
	}
	defer func() { _ = file.Close() }()
	for lines := bufio.NewScanner(file); lines.Scan(); {
		if name, value, _ := strings.Cut(lines.Text(), ":"); strings.TrimSpace(name) == "model name" {
			return strings.TrimSpace(value)
		}
	}
	return "unknown CPU"
}
