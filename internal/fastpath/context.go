package fastpath

import (
	"context"
	"sync/atomic"
	"time"

	"github.com/hashicorp/terraform-plugin-go/tfprotov6"
)

// contexts handles the requests that come for each resource with contexts that
// are empty afterwards, because the framework keeps them.
type contexts struct{ frameworkServer }

func (s contexts) UpgradeResourceState(ctx context.Context,
	req *tfprotov6.UpgradeResourceStateRequest) (*tfprotov6.UpgradeResourceStateResponse, error) {
	return handle(ctx, req, s.frameworkServer.UpgradeResourceState)
}

func (s contexts) UpgradeResourceIdentity(ctx context.Context,
	req *tfprotov6.UpgradeResourceIdentityRequest) (*tfprotov6.UpgradeResourceIdentityResponse, error) {
	return handle(ctx, req, s.frameworkServer.UpgradeResourceIdentity)
}

func (s contexts) ImportResourceState(ctx context.Context,
	req *tfprotov6.ImportResourceStateRequest) (*tfprotov6.ImportResourceStateResponse, error) {
	return handle(ctx, req, s.frameworkServer.ImportResourceState)
}

func (s contexts) ReadResource(ctx context.Context, req *tfprotov6.ReadResourceRequest) (*tfprotov6.ReadResourceResponse, error) {
	return handle(ctx, req, s.frameworkServer.ReadResource)
}

func (s contexts) ValidateResourceConfig(ctx context.Context,
	req *tfprotov6.ValidateResourceConfigRequest) (*tfprotov6.ValidateResourceConfigResponse, error) {
	return handle(ctx, req, s.frameworkServer.ValidateResourceConfig)
}

func (s contexts) PlanResourceChange(ctx context.Context,
	req *tfprotov6.PlanResourceChangeRequest) (*tfprotov6.PlanResourceChangeResponse, error) {
	return handle(ctx, req, s.frameworkServer.PlanResourceChange)
}

func (s contexts) ApplyResourceChange(ctx context.Context,
	req *tfprotov6.ApplyResourceChangeRequest) (*tfprotov6.ApplyResourceChangeResponse, error) {
	return handle(ctx, req, s.frameworkServer.ApplyResourceChange)
}

func (s contexts) ReadDataSource(ctx context.Context, req *tfprotov6.ReadDataSourceRequest) (*tfprotov6.ReadDataSourceResponse, error) {
	return handle(ctx, req, s.frameworkServer.ReadDataSource)
}

func handle[Request, Response any](ctx context.Context, req Request, do func(context.Context, Request) (Response, error)) (Response,
	error) {
	current := &requestContext{}
	current.ctx.Store(&ctx)
	defer current.ctx.Store(&canceled)
	return do(current, req)
}

// requestContext is the context of a request until that is handled, and then one
// that is canceled and empty.
type requestContext struct {
	ctx atomic.Pointer[context.Context]
}

func (c *requestContext) Deadline() (time.Time, bool) { return (*c.ctx.Load()).Deadline() }
func (c *requestContext) Done() <-chan struct{}       { return (*c.ctx.Load()).Done() }
func (c *requestContext) Err() error                  { return (*c.ctx.Load()).Err() }
func (c *requestContext) Value(key any) any           { return (*c.ctx.Load()).Value(key) }

var canceled = func() context.Context {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	return ctx
}()
