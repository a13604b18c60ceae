// Command variant is the provider as the benchmark compares it: with each
// deployment read by a request of its own (BENCH_SINGLY=1), with the framework
// going over each in full (BENCH_FRAMEWORK=1), or with a profile of its
// processor time (BENCH_PROFILE=FOLDER). None is a user's option.
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
	options := []provider.Option{
		provider.Tune(func(c *client.Config) { c.ReadSingly = os.Getenv("BENCH_SINGLY") != "" }),
	}
	if os.Getenv("BENCH_FRAMEWORK") != "" {
		options = append(options, provider.FrameworkAlone())
	}
	return provider.Serve("bench", false, options...)
}
