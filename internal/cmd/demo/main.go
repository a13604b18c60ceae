//go:build unix

// Command demo shows the provider at work: the real Terraform, the provider as
// it is built from this source, and the service in memory. make demo runs it.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/graphdeploy/terraform-provider-graphdeploy/internal/fakeserver"
)

func main() {
	// A closed pipe, as of `make demo | head`, ends the demo like an interrupt.
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGPIPE)
	defer stop()
	verbose := flag.Bool("verbose", false, "show all that Terraform prints")
	flag.Parse()

	err := demo(ctx, os.Stdout, *verbose)
	switch {
	case ctx.Err() != nil:
		fmt.Fprintln(os.Stderr, "\nThe demo was interrupted.")
		os.Exit(130)
	case err != nil:
		fmt.Fprintf(os.Stderr, "\nThe demo failed: %v\n", err)
		os.Exit(1)
	}
}

// demo does it all in a temporary folder, which it removes.
func demo(ctx context.Context, screen io.Writer, verbose bool) error {
	program := os.Getenv("TF_ACC_TERRAFORM_PATH")
	if program == "" {
		return errors.New("TF_ACC_TERRAFORM_PATH is not set to the path of Terraform; start the demo with make demo")
	}
	if _, err := os.Stat("examples/quickstart"); err != nil {
		return fmt.Errorf("start it in the top folder of the repository: %w", err)
	}
	folder, err := os.MkdirTemp("", "graphdeploy-demo-")
	if err != nil {
		return err
	}
	defer func() {
		if err := os.RemoveAll(folder); err != nil {
			fmt.Fprintln(os.Stderr, err)
		}
	}()

	say(screen, "Building the provider into a folder that Terraform installs from, in place of a registry.")
	if _, err := run(ctx, output{screen: screen, all: verbose}, "", nil, "internal/tools/mirror.sh",
		filepath.Join(folder, "mirror")); err != nil {
		return err
	}
	fake := fakeserver.New(fakeserver.Options{ReadyAfter: 2 * time.Second})
	fake.SeedDemo()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	server := &http.Server{Handler: fake, ReadHeaderTimeout: 10 * time.Second}
	defer func() { _ = server.Close() }()
	go func() { _ = server.Serve(listener) }()
	say(screen, "The service is a fake in memory, at http://%s. A deployment is ready after 2 seconds.", listener.Addr())

	env, err := environment(folder, "http://"+listener.Addr().String())
	if err != nil {
		return err
	}
	t := terraform{program: program, env: env, screen: screen, verbose: verbose}
	return t.quickstart(ctx, folder, fake)
}

// quickstart is what a user would do with the examples.
func (t terraform) quickstart(ctx context.Context, folder string, fake *fakeserver.Server) error {
	first, second := filepath.Join(folder, "quickstart"), filepath.Join(folder, "import")
	for _, work := range []string{first, second} {
		if err := os.CopyFS(work, os.DirFS(filepath.Join("examples", filepath.Base(work)))); err != nil {
			return err
		}
	}

	t.say("\nIn a copy of examples/quickstart: two deployments, a repository to look up, OAuth providers to list.")
	if _, err := t.run(ctx, first, `^- Installed`, "init"); err != nil {
		return err
	}
	t.say("\nThis creates both deployments and waits until each is ready.")
	if _, err := t.run(ctx, first, `^Plan:|: Creation complete|^Apply complete|^Warning`, "apply", "-auto-approve"); err != nil {
		return err
	}
	t.say("\nThe next plan is empty, although the service has filled in defaults.")
	if err := t.expectNoChanges(ctx, first); err != nil {
		return err
	}
	if _, err := t.run(ctx, first, `.`, "output"); err != nil {
		return err
	}
	agent, err := t.capture(ctx, first, "output", "-raw", "agent_id")
	if err != nil {
		return err
	}

	t.say("\nIn a copy of examples/import, with nothing in the state: import what exists, one by name, one by ID.")
	if _, err := t.run(ctx, second, `^- Installed`, "init"); err != nil {
		return err
	}
	for _, which := range [][2]string{{"graphdeploy_deployment.legacy_bot", "legacy-bot"}, {"graphdeploy_deployment.agent", agent}} {
		if _, err := t.run(ctx, second, `^Import successful`, "import", which[0], which[1]); err != nil {
			return err
		}
	}
	t.say("\nConfigurations of a name and a source suffice: arguments that they omit keep the service's values.")
	if err := t.expectNoChanges(ctx, second); err != nil {
		return err
	}

	t.say("\nThe API documents no deletion. Destroying only removes the deployments from the state, and warns of it.")
	if _, err := t.run(ctx, first, `^Plan:|: Destruction complete|^Destroy complete|^Warning`, "destroy", "-auto-approve"); err != nil {
		return err
	}

	t.say("\nThe requests that the service got, and what it has now:")
	requests := map[string]int{}
	for _, r := range fake.Requests() {
		requests[r.Method]++
	}
	t.say("    %d creates (POST) and %d reads (GET)", requests[http.MethodPost], requests[http.MethodGet])
	for _, d := range fake.Deployments() {
		t.say("    deployment %v is %v", d["name"], d["status"])
	}
	t.say("\nThe demo is done. To try it yourself: make install, make fakeserver, and Terraform in a copy of examples/quickstart.")
	return nil
}

// environment is what Terraform gets: nothing of the user's own settings for
// it, and the folder to install the provider from.
func environment(folder, baseURL string) ([]string, error) {
	config := filepath.Join(folder, "terraform.rc")
	text := fmt.Sprintf("provider_installation {\n  filesystem_mirror {\n    path = %q\n  }\n}\n", filepath.Join(folder, "mirror"))
	if err := os.WriteFile(config, []byte(text), 0o600); err != nil {
		return nil, err
	}
	env := []string{
		"TF_CLI_CONFIG_FILE=" + config, "TF_IN_AUTOMATION=1", "TF_INPUT=0", "CHECKPOINT_DISABLE=1",
		"TF_VAR_base_url=" + baseURL,
	}
	for _, setting := range os.Environ() {
		if !strings.HasPrefix(setting, "TF_") && !strings.HasPrefix(setting, "GRAPHDEPLOY_") {
			env = append(env, setting)
		}
	}
	return env, nil
}

func say(screen io.Writer, format string, args ...any) {
	_, _ = fmt.Fprintf(screen, format+"\n", args...)
}
