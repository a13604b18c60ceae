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

const usage = `fakeserver is the deployment management service in memory. It keeps what
Terraform creates until it stops, and builds or deploys nothing. It prints its
base URL on the first line of standard output, and one line for each request on
standard error, never with headers or bodies.

Usage:

  go run ./internal/cmd/fakeserver [flags]

Point the provider at it:

  provider "graphdeploy" {
    base_url = "http://127.0.0.1:8080"
  }

With -seed-demo, which is the default, it knows the code-hosting integration
` + fakeserver.DemoIntegrationID + ` with the repositories acme/storefront,
acme/agent-api, acme/docs and globex/search, two OAuth providers, and a
deployment legacy-bot to import.

With -extended it also takes the changes and deletions that the interface does
not show. The provider then needs extended_operations = true.

Flags:

`

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	os.Exit(run(ctx, os.Args[1:], os.Stdout, os.Stderr))
}

// config is what the flags say.
type config struct {
	options     fakeserver.Options
	listen      string
	allowRemote bool
	seedDemo    bool
	quiet       bool
}

// parse reads the flags. The error has not been printed.
func parse(args []string, help io.Writer) (config, error) {
	c := config{}
	var secrets string
	flags := flag.NewFlagSet("fakeserver", flag.ContinueOnError)
	flags.SetOutput(io.Discard)
	flags.StringVar(&c.listen, "listen", "127.0.0.1:8080", "`address` to listen on; port 0 takes any free port")
	flags.BoolVar(&c.allowRemote, "allow-remote", false, "allow -listen an address that other machines can reach")
	flags.BoolVar(&c.seedDemo, "seed-demo", true, "begin with the repositories, OAuth providers and deployment named above; -seed-demo=false begins empty")
	flags.StringVar(&c.options.Credential, "api-key", "", "`credential` that every request has to carry (default none)")
	flags.StringVar(&c.options.CredentialHeader, "api-key-header", "X-Api-Key", "`header` that carries the credential")
	flags.DurationVar(&c.options.ReadyAfter, "ready-after", 2*time.Second, "how long a new deployment is AWAITING_DATABASE before it is READY")
	flags.DurationVar(&c.options.ActiveAfter, "active-after", 0, "how long a new revision takes to become the active one")
	flags.DurationVar(&c.options.Latency, "latency", 0, "wait before each answer")
	flags.BoolVar(&c.options.Extended, "extended", false, "offer PATCH and DELETE of /v2/deployments/{id}")
	flags.StringVar(&c.options.PathPrefix, "path-prefix", "", "`path` below which the service lives, such as /api")
	flags.StringVar(&secrets, "secrets", "echo", "what answers show of secrets: echo, mask or omit")
	flags.BoolVar(&c.quiet, "quiet", false, "log no requests")
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
	modes := map[string]fakeserver.SecretsMode{
		"echo": fakeserver.EchoSecrets, "mask": fakeserver.MaskSecrets, "omit": fakeserver.OmitSecrets,
	}
	mode, known := modes[secrets]
	if !known {
		return c, fmt.Errorf("-secrets is echo, mask or omit, not %q", secrets)
	}
	c.options.Secrets = mode
	host, _, err := net.SplitHostPort(c.listen)
	if err != nil {
		return c, fmt.Errorf("-listen: %w", err)
	}
	if !c.allowRemote && !isLoopback(host) {
		return c, fmt.Errorf("-listen %s can be reached from other machines; add -allow-remote if that is meant", c.listen)
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
	// Requests under way may end; those that take long are cut.
	grace, cancel := context.WithTimeout(context.Background(), 3*time.Second)
	defer cancel()
	if server.Shutdown(grace) != nil {
		return server.Close()
	}
	return nil
}

// logRequests logs a line for each request, without anything secret: no query,
// headers or bodies.
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
			fake.ResetRequests() // nobody asks for them here, and they would pile up
		}()
		fake.ServeHTTP(seen, r)
	})
}

// statusWriter remembers the status of an answer.
type statusWriter struct {
	http.ResponseWriter
	status int
}

func (w *statusWriter) WriteHeader(status int) {
	w.status = status
	w.ResponseWriter.WriteHeader(status)
}

// Unwrap is for http.ResponseController.
func (w *statusWriter) Unwrap() http.ResponseWriter { return w.ResponseWriter }
