package provider

import (
	"bytes"
	"context"
	"fmt"
	"reflect"
	"sync/atomic"

	"github.com/hashicorp/terraform-plugin-go/tfprotov6"
	"github.com/hashicorp/terraform-plugin-go/tftypes"
)

// Answered counts the requests for a deployment that were answered past the
// framework, and by it.
type Answered struct{ Past, Framework atomic.Int64 }

// NewComparingServer is NewServer, but that it asks the framework too whenever
// it answers past it, and fails where the two answers differ.
func NewComparingServer(version string, counts *Answered, options ...Option) tfprotov6.ProviderServer {
	p := &graphdeploy{version: version}
	for _, option := range options {
		option(p)
	}
	return listing{forgetful{comparing{unchanged{newFrameworkServer(p), p}, counts}}}
}

type comparing struct {
	unchanged
	counts *Answered
}

func (c comparing) UpgradeResourceState(ctx context.Context, req *tfprotov6.UpgradeResourceStateRequest) (*tfprotov6.UpgradeResourceStateResponse, error) {
	return compare(ctx, c.counts, req, c.frameworkServer.UpgradeResourceState, c.upgrade(req), func(r *tfprotov6.UpgradeResourceStateResponse) answer {
		return answer{r.UpgradedState, nil, nil, r.Diagnostics, nil}
	})
}

func (c comparing) ReadResource(ctx context.Context, req *tfprotov6.ReadResourceRequest) (*tfprotov6.ReadResourceResponse, error) {
	ctx = withReading(ctx)
	return compare(ctx, c.counts, req, c.frameworkServer.ReadResource, c.read(ctx, req), func(r *tfprotov6.ReadResourceResponse) answer {
		return answer{r.NewState, r.NewIdentity, r.Private, r.Diagnostics, r.Deferred}
	})
}

func (c comparing) PlanResourceChange(ctx context.Context, req *tfprotov6.PlanResourceChangeRequest) (*tfprotov6.PlanResourceChangeResponse, error) {
	return compare(ctx, c.counts, req, c.frameworkServer.PlanResourceChange, c.plan(ctx, req), func(r *tfprotov6.PlanResourceChangeResponse) answer {
		return answer{r.PlannedState, r.PlannedIdentity, r.PlannedPrivate, r.Diagnostics, []any{r.RequiresReplace, r.Deferred}}
	})
}

func compare[Request, Response any](ctx context.Context, counts *Answered, req Request, ask func(context.Context, Request) (*Response, error), past *Response, read func(*Response) answer) (*Response, error) {
	resp, err := ask(ctx, req)
	if past == nil || err != nil {
		counts.Framework.Add(1)
		return resp, err
	}
	counts.Past.Add(1)
	return past, compareAnswers(read(past), read(resp))
}

// answer is what an answer to Terraform holds.
type answer struct {
	state       *tfprotov6.DynamicValue
	identity    *tfprotov6.ResourceIdentityData
	private     []byte
	diagnostics []*tfprotov6.Diagnostic
	rest        any
}

func compareAnswers(past, framework answer) error {
	var state, identity [2]tftypes.Value
	for i, a := range []answer{past, framework} {
		var err error
		if state[i], err = a.state.Unmarshal(shape().object); err != nil {
			return err
		}
		if a.identity == nil {
			continue
		}
		if identity[i], err = a.identity.IdentityData.Unmarshal(shape().identity); err != nil {
			return err
		}
	}
	if !state[0].Equal(state[1]) || !identity[0].Equal(identity[1]) || !bytes.Equal(past.private, framework.private) ||
		!reflect.DeepEqual(past.diagnostics, framework.diagnostics) || !reflect.DeepEqual(past.rest, framework.rest) {
		return fmt.Errorf("past the framework, the answer is %v; the framework answers %v", past, framework)
	}
	return nil
}
