package provider

import (
	"context"
	"os"
	"runtime/debug"
	"strings"
	"sync"

	"github.com/hashicorp/terraform-plugin-framework/providerserver"
	"github.com/hashicorp/terraform-plugin-go/tfprotov6"
	"github.com/hashicorp/terraform-plugin-go/tfprotov6/tf6server"
)

// Serve answers Terraform, as a process that it has started, until Terraform
// ends it. Debugging, it prints how a Terraform that somebody starts by hand
// finds it, and logs everything.
func Serve(version string, debugging bool, options ...Option) error {
	var opts []tf6server.ServeOpt
	if debugging {
		opts = append(opts, tf6server.WithManagedDebug())
	} else {
		quietUnlessAsked()
	}
	limitGrowth(growthUsually)
	return tf6server.Serve("registry.terraform.io/graphdeploy/graphdeploy", func() tfprotov6.ProviderServer {
		return makeEarly(newServer(version, options...))
	}, opts...)
}

// early is a server whose schema is made while Terraform is still connecting,
// and so before it is known where to log to.
type early struct {
	frameworkServer
	schema func() (*tfprotov6.GetProviderSchemaResponse, error)
}

func makeEarly(server frameworkServer) early {
	s := early{server, sync.OnceValues(func() (*tfprotov6.GetProviderSchemaResponse, error) {
		return server.GetProviderSchema(context.Background(), &tfprotov6.GetProviderSchemaRequest{})
	})}
	go func() { _, _ = s.schema() }()
	return s
}

func (s early) GetProviderSchema(context.Context, *tfprotov6.GetProviderSchemaRequest) (*tfprotov6.GetProviderSchemaResponse, error) {
	return s.schema()
}

// newServer is the provider of that version as it speaks to Terraform.
func newServer(version string, options ...Option) frameworkServer {
	p := newProvider(version, options...)
	return p.layered(newFrameworkServer(p))
}

// layered puts around the framework's server what is done past it.
func (p *graphdeploy) layered(framework frameworkServer) frameworkServer {
	if p.frameworkAlone {
		return listing{forgetful{framework}}
	}
	return listing{forgetful{unchanged{framework, p}}}
}

// frameworkServer is what the framework's server is able to.
type frameworkServer interface {
	tfprotov6.ProviderServer
	tfprotov6.ListResourceServer
}

func newFrameworkServer(p *graphdeploy) frameworkServer {
	server, _ := providerserver.NewProtocol6(p)().(frameworkServer) // it is both, or every test fails
	return server
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

// How much the heap may grow, in percent of what is in use, before it is
// collected.
const (
	// Each step of a plan makes much that is garbage at once, and a few MB are
	// in use. With the usual 100, a quarter of the processor time would go into
	// collecting.
	growthUsually = 400
	// Of a list of thousands, what is in use is most of it.
	growthWithLongLists = 50
	longList            = 1000
)

// limitGrowth sets how much the heap may grow, unless the environment says it.
func limitGrowth(percent int) {
	if os.Getenv("GOGC") == "" && os.Getenv("GOMEMLIMIT") == "" {
		debug.SetGCPercent(percent)
	}
}
