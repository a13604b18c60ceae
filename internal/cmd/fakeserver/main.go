// Command fakeserver runs the deployment management service in memory, to try
// the provider without a real one. Run it with -help for its flags.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/graphdeploy/terraform-provider-graphdeploy/internal/fakeserver"
)

const usage = `fakeserver runs the deployment management service in memory. It builds and
deploys nothing, and forgets everything when it stops.

When it is ready, it prints one line on standard output that ends with its base
URL, for example "fake graphdeploy service at http://127.0.0.1:8080". On standard
error, it logs one line for each request, without query, headers and body.

Usage:

  go run ./internal/cmd/fakeserver [flags]

Point the provider at it:

  provider "graphdeploy" {
    base_url = "http://127.0.0.1:8080"
  }

By default (-seed-demo), it starts with the code-host integration
` + fakeserver.DemoIntegrationID + `, the repositories acme/storefront,
acme/agent-api, acme/docs and globex/search, two OAuth providers, and the
deployment legacy-bot.

With -seed 5000, it starts with 5,000 additional deployments of all five
sources, to rehearse a large import. Their names and IDs are the same in every
run, and so are the repositories that -seed-repositories adds.

With -documented, it supports only the operations that the API documents: no
updates and no deletions. Set documented_operations_only = true in the provider
for such a service.

A new deployment is ready, and a new version runs, 2 seconds later. A version with
"broken" in its branch, image or tarball fails, for example the image
registry.example/app:broken.

It accepts, stores and returns properties that the API does not document, so you
can try additional_properties.

Flags:

`

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	os.Exit(run(ctx, os.Args[1:], os.Stdout, os.Stderr))
}

// config has the values of the flags.
type config struct {
	options     fakeserver.Options
	listen      string
	allowRemote bool
	seedDemo    bool
	seed        fakeserver.Counts
	quiet       bool
}

// onePerCodehost has -seed-repositories follow -seed, a fifth of which is of
// source codehost.
const onePerCodehost = -1

// The values of -secrets.
const modeNames = "echo, mask, mask-randomly, omit-values, omit-names, omit"

var secretsModes = map[string]fakeserver.SecretsMode{
	"echo":          fakeserver.EchoSecrets,
	"mask":          fakeserver.MaskSecrets,
	"mask-randomly": fakeserver.MaskSecretsRandomly,
	"omit-values":   fakeserver.OmitSecretValues,
	"omit-names":    fakeserver.OmitSecretNames,
	"omit":          fakeserver.OmitSecrets,
}

// parse reads the flags. It does not print the error.
func parse(args []string, help io.Writer) (config, error) {
	c := config{options: fakeserver.Options{KeepUnknown: true}}
	var secrets string
	flags := flag.NewFlagSet("fakeserver", flag.ContinueOnError)
	flags.SetOutput(io.Discard)
	flags.StringVar(&c.listen, "listen", "127.0.0.1:8080", "`address` to listen on; with port 0, any free port")
	flags.BoolVar(&c.allowRemote, "allow-remote", false, "allow a -listen address that other machines can reach")
	flags.BoolVar(&c.seedDemo, "seed-demo", true, "start with the repositories, providers and deployment listed above")
	flags.IntVar(&c.seed.Deployments, "seed", 0, "`number` of additional deployments to start with")
	flags.IntVar(&c.seed.Repositories, "seed-repositories", onePerCodehost,
		"`number` of additional repositories to start with; with -1, one for each additional deployment with source codehost")
	flags.IntVar(&c.seed.Secrets, "seed-secrets", 2, "`number` of secrets in each additional deployment")
	flags.StringVar(&c.options.Credential, "api-key", "", "`credential` that every request must contain (default none)")
	flags.StringVar(&c.options.CredentialHeader, "api-key-header", "X-Api-Key", "`header` that carries the credential")
	flags.DurationVar(&c.options.ReadyAfter, "ready-after", 2*time.Second, "time until a new deployment is READY")
	flags.DurationVar(&c.options.ActiveAfter, "active-after", 2*time.Second, "time until a new revision is active")
	flags.StringVar(&c.options.FailingVersions, "failing-versions", "broken",
		"`text` in the branch, image or tarball of versions that fail")
	flags.BoolVar(&c.options.NoRevisionStatus, "no-revision-status", false, "do not report the status of revisions")
	flags.DurationVar(&c.options.Latency, "latency", 0, "delay before each request is handled")
	flags.BoolVar(&c.options.Documented, "documented", false, "reject PATCH and DELETE for /v2/deployments/{id} with 405")
	flags.StringVar(&c.options.PathPrefix, "path-prefix", "", "`path` prefix of all endpoints, for example /api")
	flags.StringVar(&secrets, "secrets", "echo", "how responses show secrets: "+modeNames)
	flags.BoolVar(&c.quiet, "quiet", false, "do not log requests")
	if err := flags.Parse(args); err != nil {
		if errors.Is(err, flag.ErrHelp) {
			_, _ = io.WriteString(help, usage)
			flags.SetOutput(help)
			flags.PrintDefaults()
		}
		return c, err
	}
	if flags.NArg() > 0 {
		return c, fmt.Errorf("unexpected argument %q", flags.Arg(0))
	}
	mode, known := secretsModes[secrets]
	if !known {
		return c, fmt.Errorf("-secrets must be one of: %s; got %q", modeNames, secrets)
	}
	c.options.Secrets = mode
	if c.seed.Repositories == onePerCodehost {
		c.seed.Repositories = (c.seed.Deployments + 4) / 5
	}
	if min(c.seed.Deployments, c.seed.Repositories, c.seed.Secrets) < 0 {
		return c, errors.New("-seed, -seed-repositories and -seed-secrets must be at least 0")
	}
	host, _, err := net.SplitHostPort(c.listen)
	if err != nil {
		return c, fmt.Errorf("-listen: %w", err)
	}
	if !c.allowRemote && !isLoopback(host) {
		return c, fmt.Errorf("-listen %s is reachable from other machines; add -allow-remote to allow this", c.listen)
	}
	return c, nil
}

func isLoopback(host string) bool {
	return host == "localhost" || net.ParseIP(host).IsLoopback()
}

// run serves until ctx is done and returns the exit status.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	c, err := parse(args, stdout)
	if errors.Is(err, flag.ErrHelp) {
		return 0
	}
	if err != nil {
		_, _ = fmt.Fprintf(stderr, "fakeserver: %v\nRun it with -help for its flags.\n", err)
		return 2
	}
	if err := serve(ctx, c, stdout, stderr); err != nil {
		_, _ = fmt.Fprintf(stderr, "fakeserver: %v\n", err)
		return 1
	}
	return 0
}

func serve(ctx context.Context, c config, stdout, stderr io.Writer) error {
	fake := fakeserver.New(c.options)
	if c.seedDemo {
		fake.SeedDemo()
	}
	if c.seed.Deployments > 0 || c.seed.Repositories > 0 {
		fake.SeedMany(c.seed)
	}
	listener, err := net.Listen("tcp", c.listen)
	if err != nil {
		return err
	}
	logger := log.New(stderr, "", log.LstdFlags)
	if c.quiet {
		logger.SetOutput(io.Discard)
	}
	server := &http.Server{Handler: logRequests(fake, logger), ReadHeaderTimeout: 10 * time.Second}
	failed := make(chan error, 1)
	go func() { failed <- server.Serve(listener) }()
	_, _ = fmt.Fprintf(stdout, "fake graphdeploy service at http://%s%s\n", listener.Addr(), fake.PathPrefix())

	select {
	case err := <-failed:
		return err
	case <-ctx.Done():
	}
	// Requests in progress may finish; long ones are cut.
	grace, cancel := context.WithTimeout(context.Background(), 3*time.Second)
	defer cancel()
	if server.Shutdown(grace) != nil {
		return server.Close()
	}
	return nil
}

// logRequests logs a line for each request. It omits the query, headers and
// bodies, which may be secret.
func logRequests(fake *fakeserver.Server, logger *log.Logger) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		seen := &statusWriter{ResponseWriter: w}
		start := time.Now()
		defer func() {
			status := "cut"
			if seen.status != 0 {
				status = fmt.Sprint(seen.status)
			}
			logger.Printf("%s %s %s %s", r.Method, r.URL.EscapedPath(), status, time.Since(start).Round(time.Microsecond))
			fake.ResetRequests() // unused here, and they would pile up
		}()
		fake.ServeHTTP(seen, r)
	})
}

// statusWriter records the status of a response.
type statusWriter struct {
	http.ResponseWriter
	status int
}

func (w *statusWriter) WriteHeader(status int) {
	w.status = status
	w.ResponseWriter.WriteHeader(status)
}

// Unwrap returns the original writer, for http.ResponseController.
func (w *statusWriter) Unwrap() http.ResponseWriter { return w.ResponseWriter }
