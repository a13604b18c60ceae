package provider

import (
	"context"
	"sync/atomic"
	"time"

	"github.com/hashicorp/terraform-plugin-go/tfprotov6"
)

// forgetful is the framework's server, made to keep nothing of requests that
// are done. The framework keeps the context of each until the provider is
// stopped, and with it what gRPC and the logs have hung onto it: while a plan
// goes over a thousand deployments, that comes to ten times of all else that is
// in use. So the requests that come for each resource are handled with a
// context that can be taken back.
type forgetful struct{ frameworkServer }

func (s forgetful) UpgradeResourceState(ctx context.Context, req *tfprotov6.UpgradeResourceStateRequest) (*tfprotov6.UpgradeResourceStateResponse, error) {
	return lend(ctx, req, s.frameworkServer.UpgradeResourceState)
}

func (s forgetful) UpgradeResourceIdentity(ctx context.Context, req *tfprotov6.UpgradeResourceIdentityRequest) (*tfprotov6.UpgradeResourceIdentityResponse, error) {
	return lend(ctx, req, s.frameworkServer.UpgradeResourceIdentity)
}

func (s forgetful) ImportResourceState(ctx context.Context, req *tfprotov6.ImportResourceStateRequest) (*tfprotov6.ImportResourceStateResponse, error) {
	return lend(ctx, req, s.frameworkServer.ImportResourceState)
}

func (s forgetful) ReadResource(ctx context.Context, req *tfprotov6.ReadResourceRequest) (*tfprotov6.ReadResourceResponse, error) {
	return lend(ctx, req, s.frameworkServer.ReadResource)
}

func (s forgetful) ValidateResourceConfig(ctx context.Context, req *tfprotov6.ValidateResourceConfigRequest) (*tfprotov6.ValidateResourceConfigResponse, error) {
	return lend(ctx, req, s.frameworkServer.ValidateResourceConfig)
}

func (s forgetful) PlanResourceChange(ctx context.Context, req *tfprotov6.PlanResourceChangeRequest) (*tfprotov6.PlanResourceChangeResponse, error) {
	return lend(ctx, req, s.frameworkServer.PlanResourceChange)
}

func (s forgetful) ApplyResourceChange(ctx context.Context, req *tfprotov6.ApplyResourceChangeRequest) (*tfprotov6.ApplyResourceChangeResponse, error) {
	return lend(ctx, req, s.frameworkServer.ApplyResourceChange)
}

func (s forgetful) ReadDataSource(ctx context.Context, req *tfprotov6.ReadDataSourceRequest) (*tfprotov6.ReadDataSourceResponse, error) {
	return lend(ctx, req, s.frameworkServer.ReadDataSource)
}

// lend handles a request with a context that is taken back afterwards.
func lend[Request, Response any](ctx context.Context, req Request, handle func(context.Context, Request) (Response, error)) (Response, error) {
	lent := &lentContext{}
	lent.of.Store(&ctx)
	defer lent.of.Store(nil)
	return handle(lent, req)
}

// lentContext is a request's context until that request is done, and then one
// that is cancelled and empty.
type lentContext struct {
	of atomic.Pointer[context.Context]
}

func (l *lentContext) now() context.Context {
	if ctx := l.of.Load(); ctx != nil {
		return *ctx
	}
	return takenBack
}

func (l *lentContext) Deadline() (time.Time, bool) { return l.now().Deadline() }
func (l *lentContext) Done() <-chan struct{}       { return l.now().Done() }
func (l *lentContext) Err() error                  { return l.now().Err() }

func (l *lentContext) Value(key any) any {
	if key == (lentKey{}) {
		return l
	}
	return l.now().Value(key)
}

type lentKey struct{}

var takenBack = func() context.Context {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	return ctx
}()

// requestIsDone reports whether ctx is of a request that is done, as in what
// was begun for it and goes on for others.
func requestIsDone(ctx context.Context) bool {
	lent, ok := ctx.Value(lentKey{}).(*lentContext)
	return ok && lent.of.Load() == nil
}
