// Command variant is the provider as the benchmark compares it: with each
// deployment read by a request of its own (BENCH_SINGLY=1), or with a profile
// of its processor time (BENCH_PROFILE=FOLDER). Neither is a user's option.
package main

import (
	"fmt"
	"log"
	"os"
	"path/filepath"
	"runtime/pprof"

	"github.com/graphdeploy/terraform-provider-graphdeploy/internal/client"
	"github.com/graphdeploy/terraform-provider-graphdeploy/internal/provider"
)

func main() {
	if err := serve(); err != nil {
		log.Fatal(err)
	}
}

func serve() error {
	if folder := os.Getenv("BENCH_PROFILE"); folder != "" {
		file, err := os.Create(filepath.Join(folder, fmt.Sprintf("provider-%d.pprof", os.Getpid())))
		if err != nil {
			return err
		}
		defer func() { _ = file.Close() }()
		if err := pprof.StartCPUProfile(file); err != nil {
			return err
		}
		defer pprof.StopCPUProfile()
	}
	tune := func(c *client.Config) { c.ReadSingly = os.Getenv("BENCH_SINGLY") != "" }
	return provider.Serve("bench", false, tune)
}
