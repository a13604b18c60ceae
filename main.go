// Command terraform-provider-graphdeploy is a Terraform provider for
// deployments of hosted applications. Terraform starts it; see the README.
package main

import (
	"context"
	"flag"
	"log"
	"os"
	"strings"

	"github.com/hashicorp/terraform-plugin-framework/providerserver"

	"github.com/graphdeploy/terraform-provider-graphdeploy/internal/provider"
)

// version is set by the release.
var version = "dev"

func main() {
	debug := flag.Bool("debug", false, "run so that a debugger such as delve can be attached; prints what to set in TF_REATTACH_PROVIDERS")
	flag.Parse()

	if !*debug {
		quietUnlessAsked()
	}
	err := providerserver.Serve(context.Background(), provider.New(version), providerserver.ServeOpts{
		Address: "registry.terraform.io/graphdeploy/graphdeploy",
		Debug:   *debug,
	})
	if err != nil {
		log.Fatal(err)
	}
}

// quietUnlessAsked turns off what the libraries log of every step, when nobody
// asked Terraform for logs: it would be written, sent and thrown away, and for
// a schema as wide as this one that is a good part of a plan's time.
func quietUnlessAsked() {
	for _, set := range os.Environ() {
		if strings.HasPrefix(set, "TF_LOG") {
			return
		}
	}
	_ = os.Setenv("TF_LOG_SDK", "off")
}
