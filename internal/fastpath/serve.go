package fastpath

import (
	"os"
	"strings"

	"github.com/hashicorp/terraform-plugin-go/tfprotov6"
	"github.com/hashicorp/terraform-plugin-go/tfprotov6/tf6server"
)

// Serve serves a provider to Terraform, as a process that Terraform started, until that ends it.
func Serve(address string, create func() Provider) error {
	if os.Getenv(EnvFrameworkOnly) != "1" {
		silenceLibraries()
	}
	return serve(address, create)
}

// Debug serves a provider in a debugger: it prints what to set in TF_REATTACH_PROVIDERS, and logs everything.
func Debug(address string, create func() Provider) error {
	return serve(address, create, tf6server.WithManagedDebug())
}

func serve(address string, create func() Provider, opts ...tf6server.ServeOpt) error {
	return tf6server.Serve(address, func() tfprotov6.ProviderServer { return NewServer(create()) }, opts...)
}

// silenced are the levels of the libraries' loggers, that of the root first. The framework looks up the logger of each
// attribute in a chain of contexts that grows with each attribute of a plan (#775); only the level of its own logger
// keeps it from that.
var silenced = []string{"TF_LOG_SDK", "TF_LOG_SDK_FRAMEWORK", "TF_LOG_SDK_PROTO"}

// silenceLibraries switches off what the libraries log of every step when nobody asked Terraform for logs: it would be
// written, sent, and dropped.
func silenceLibraries() {
	for _, variable := range os.Environ() {
		if strings.HasPrefix(variable, "TF_LOG") {
			return
		}
	}
	for _, variable := range silenced {
		_ = os.Setenv(variable, "off")
	}
}
