//go:build unix

package main

import (
	"bufio"
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

// row is a line of the table.
type row struct {
	what, goal, measured, singly, verdict string
}

func (b *benchmark) say(format string, args ...any) {
	fmt.Printf("%4.0f s  %s\n", time.Since(b.began).Seconds(), fmt.Sprintf(format, args...))
}

func (b *benchmark) add(what, goal, measured, singly string, met bool) {
	verdict := "met"
	switch {
	case goal == "measured":
		verdict = ""
	case !met:
		verdict = "MISSED"
	}
	b.rows = append(b.rows, row{what, goal, measured, singly, verdict})
	b.say("%s: %s", what, measured)
}

// middle is the run whose wall time is the median.
func middle(runs []measured) measured {
	slices.SortFunc(runs, func(a, b measured) int { return int(a.wall - b.wall) })
	return runs[len(runs)/2]
}

func seconds(d time.Duration) string { return fmt.Sprintf("%.1f s", d.Seconds()) }

// number is a number with commas: 100,000.
func number(n int) string {
	if n < 1000 {
		return fmt.Sprint(n)
	}
	return fmt.Sprintf("%s,%03d", number(n/1000), n%1000)
}

// report shows the table, and writes it to a file if there is one to write.
func (b *benchmark) report(ctx context.Context, file string) error {
	fmt.Println()
	out := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', 0)
	_, _ = fmt.Fprintln(out, "CASE\tGOAL\tMEASURED\tONE BY ONE\t")
	for _, r := range b.rows {
		_, _ = fmt.Fprintf(out, "%s\t%s\t%s\t%s\t%s\n", r.what, r.goal, r.measured, r.singly, r.verdict)
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

What the provider costs where there are many deployments. `+"`make bench`"+` measures it and writes this file anew: the real
Terraform with its default parallelism of %d, the provider as it is built from this source, and the project's fake service,
which waits %d ms before each answer, all on one machine.

%s; %s; %s on %s/%s, %s, %d cores.

| Case | Goal | Measured | One by one | |
|---|---|---|---|---|
`, parallelism, latency.Milliseconds(), b.began.Format("2 January 2006"), terraform, runtime.Version(), runtime.GOOS, runtime.GOARCH, processorName(), runtime.NumCPU())
	for _, r := range b.rows {
		_, _ = fmt.Fprintf(w, "| %s | %s | %s | %s | %s |\n", r.what, r.goal, r.measured, r.singly, r.verdict)
	}
	_, _ = fmt.Fprintf(w, `
How it is measured:

- *One by one* is the same provider with a switch in its client, which is no user's option, that has each deployment read by
  a request of its own. It is run in turn with the provider as it is. Runs of each plan of %s in %[1]s: %d. Wall time and
  processor time are those of the run with the median wall time; requests are those of the run with the most.
- Requests and connections are counted by the service. Pages read ahead count like all others.
- A data source asks for 100 at a time. Each full page is followed by one that begins with its last deployment, to notice when
  others went away meanwhile and the rest moved up; a list of exactly so many full pages takes two requests more for that.
- In the service of %s, the deployments in the state are scattered evenly.
- Every plan has to come out empty; otherwise the benchmark fails.
- Processor time (user and system) and peak memory are those of the provider's processes, as the system reports them when
  they end. A plan starts the provider %d times; the sum counts.
- Usually, what is read and planned of a deployment of which nothing is new is answered past the framework. *By the framework
  alone* is the same provider with a switch, no user's option either, that has the framework go over the wide schema each
  time. The narrow resource has nine attributes, lives in the state only, and is planned in the same way, by the framework.
- Start-up is the time from the start of the process to the answer with the schema, the median of %d. The minimal provider
  beside it has a resource and a data source, is built in the same way, and stands in for the scaffolding provider.
`, number(b.state), b.rounds, number(b.service), b.planned.provider.processes, b.starts)
}

// processorName is what the system calls the processor.
func processorName() string {
	file, err := os.Open("/proc/cpuinfo")
	if err != nil {
		return "a processor that the system does not name"
	}
	defer func() { _ = file.Close() }()
	for lines := bufio.NewScanner(file); lines.Scan(); {
		if name, value, _ := strings.Cut(lines.Text(), ":"); strings.TrimSpace(name) == "model name" {
			return strings.TrimSpace(value)
		}
	}
	return "a processor that the system does not name"
}
