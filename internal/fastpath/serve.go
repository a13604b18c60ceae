package fastpath

import (
	"os"
	"strings"

	"github.com/hashicorp/terraform-plugin-framework/provider"
	"github.com/hashicorp/terraform-plugin-go/tfprotov6"
	"github.com/hashicorp/terraform-plugin-go/tfprotov6/tf6server"
)

// Serve serves a provider to Terraform, as a process that Terraform started,
// until that ends it. With debug, it prints what to set in TF_REATTACH_PROVIDERS
// and logs everything.
func Serve(address string, create func() provider.Provider, debug bool) error {
	var opts []tf6server.ServeOpt
	if debug {
		opts = append(opts, tf6server.WithManagedDebug())
	} else if os.Getenv(EnvFrameworkOnly) != "1" {
		silenceLibraries()
	}
	return tf6server.Serve(address, func() tfprotov6.ProviderServer { return NewServer(create()) }, opts...)
}

// silenceLibraries switches off what the libraries log of every step when nobody
// asked Terraform for logs: it would be written, sent, and dropped.
func silenceLibraries() {
	for _, variable := range os.Environ() {
		if strings.HasPrefix(variable, "TF_LOG") {
			return
		}
	}
	_ = os.Setenv("TF_LOG_SDK", "off")
}
