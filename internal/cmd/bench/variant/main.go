// Command variant is the provider with switches for the benchmark that users do not have: BENCH_DISABLE_BATCHING=1
// reads each deployment with a request of its own, BENCH_PROFILE=FOLDER writes a CPU profile to that folder.
package main

import (
	"fmt"
	"log"
	"os"
	"path/filepath"
	"runtime/pprof"

	"github.com/graphdeploy/terraform-provider-graphdeploy/internal/client"
	"github.com/graphdeploy/terraform-provider-graphdeploy/internal/fastpath"
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
	tune := func(c *client.Config) {
		if os.Getenv("BENCH_DISABLE_BATCHING") == "1" {
			c.BatchSize = 1
		}
	}
	create := func() fastpath.Provider { return provider.New("bench", tune) }
	return fastpath.Serve("registry.terraform.io/graphdeploy/graphdeploy", create)
}
