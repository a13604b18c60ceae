// Command terraform-provider-graphdeploy is a Terraform provider for
// deployments of hosted applications. Terraform starts it; see the README.
package main

import (
	"flag"
	"log"

	"github.com/graphdeploy/terraform-provider-graphdeploy/internal/fastpath"
	"github.com/graphdeploy/terraform-provider-graphdeploy/internal/provider"
)

// version is set by the release.
var version = "dev"

func main() {
	debug := flag.Bool("debug", false, "run so that a debugger such as delve can be attached; prints what to set in "+
		"TF_REATTACH_PROVIDERS")
	flag.Parse()

	create := func() fastpath.Provider { return provider.New(version, nil) }
	serve := fastpath.Serve
	if *debug {
		serve = fastpath.Debug
	}
	if err := serve("registry.terraform.io/graphdeploy/graphdeploy", create); err != nil {
		log.Fatal(err)
	}
}
