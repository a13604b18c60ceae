package provider

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"reflect"
	"sync/atomic"

	"github.com/hashicorp/terraform-plugin-go/tfprotov6"
	"github.com/hashicorp/terraform-plugin-go/tftypes"
)

// Answered counts the requests for a deployment that were answered past the
// framework, and by it.
type Answered struct{ Past, Framework atomic.Int64 }

// NewServer is the provider as it speaks to Terraform.
func NewServer(version string, options ...Option) tfprotov6.ProviderServer {
	return newServer(version, options...)
}

// NewComparingServer is NewServer, but that it asks the framework too whenever
// that was left out, and fails where the framework would answer otherwise.
func NewComparingServer(version string, counts *Answered, options ...Option) tfprotov6.ProviderServer {
	p := newProvider(version, options...)
	framework := newFrameworkServer(p)
	return comparing{p.layered(noticing{framework}), framework, counts}
}

// noticing notes in a request's context that the framework was asked.
type noticing struct{ frameworkServer }

type noticedKey struct{}

func notice(ctx context.Context) { *ctx.Value(noticedKey{}).(*bool) = true }

func (n noticing) UpgradeResourceState(ctx context.Context, req *tfprotov6.UpgradeResourceStateRequest) (*tfprotov6.UpgradeResourceStateResponse, error) {
	notice(ctx)
	return n.frameworkServer.UpgradeResourceState(ctx, req)
}

func (n noticing) ReadResource(ctx context.Context, req *tfprotov6.ReadResourceRequest) (*tfprotov6.ReadResourceResponse, error) {
	notice(ctx)
	return n.frameworkServer.ReadResource(ctx, req)
}

func (n noticing) PlanResourceChange(ctx context.Context, req *tfprotov6.PlanResourceChangeRequest) (*tfprotov6.PlanResourceChangeResponse, error) {
	notice(ctx)
	return n.frameworkServer.PlanResourceChange(ctx, req)
}

type comparing struct {
	frameworkServer
	framework frameworkServer
	counts    *Answered
}

func (c comparing) UpgradeResourceState(ctx context.Context, req *tfprotov6.UpgradeResourceStateRequest) (*tfprotov6.UpgradeResourceStateResponse, error) {
	return compare(ctx, c.counts, req, c.frameworkServer.UpgradeResourceState, c.framework.UpgradeResourceState,
		func(r *tfprotov6.UpgradeResourceStateResponse) answer {
			return answer{state: r.UpgradedState, diagnostics: r.Diagnostics}
		})
}

func (c comparing) ReadResource(ctx context.Context, req *tfprotov6.ReadResourceRequest) (*tfprotov6.ReadResourceResponse, error) {
	ctx, forget := withReading(ctx) // so that both know of the same reading
	defer forget()
	return compare(ctx, c.counts, req, c.frameworkServer.ReadResource, c.framework.ReadResource,
		func(r *tfprotov6.ReadResourceResponse) answer {
			return answer{state: r.NewState, identity: r.NewIdentity, private: r.Private, diagnostics: r.Diagnostics, rest: r.Deferred}
		})
}

func (c comparing) PlanResourceChange(ctx context.Context, req *tfprotov6.PlanResourceChangeRequest) (*tfprotov6.PlanResourceChangeResponse, error) {
	return compare(ctx, c.counts, req, c.frameworkServer.PlanResourceChange, c.framework.PlanResourceChange,
		func(r *tfprotov6.PlanResourceChangeResponse) answer {
			return answer{state: r.PlannedState, identity: r.PlannedIdentity, private: r.PlannedPrivate, diagnostics: r.Diagnostics,
				rest: []any{r.RequiresReplace, r.Deferred}}
		})
}

func compare[Request, Response any](
	ctx context.Context, counts *Answered, req Request, ours, framework func(context.Context, Request) (*Response, error), read func(*Response) answer,
) (*Response, error) {
	asked := false
	resp, err := ours(context.WithValue(ctx, noticedKey{}, &asked), req)
	if asked || err != nil {
		counts.Framework.Add(1)
		return resp, err
	}
	counts.Past.Add(1)
	want, err := framework(ctx, req)
	return resp, errors.Join(err, compareAnswers(read(resp), read(want)))
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
	var differ []error
	note := func(what string, same bool, past, framework any) {
		if !same {
			differ = append(differ, fmt.Errorf("%s is %v past the framework, and %v by it", what, past, framework))
		}
	}
	state, wantState := read(shape().object, past.state), read(shape().object, framework.state)
	note("the state", state.Equal(wantState), state, wantState)
	identity, wantIdentity := readIdentity(past.identity), readIdentity(framework.identity)
	note("the identity", identity.Equal(wantIdentity), identity, wantIdentity)
	note("the private state", bytes.Equal(past.private, framework.private), string(past.private), string(framework.private))
	note("what is told", len(past.diagnostics) == 0 && len(framework.diagnostics) == 0, told(past.diagnostics), told(framework.diagnostics))
	note("the rest", reflect.DeepEqual(past.rest, framework.rest), past.rest, framework.rest)
	return errors.Join(differ...)
}

// read is a value, or the zero value where there is none.
func read(typ tftypes.Type, packed *tfprotov6.DynamicValue) (value tftypes.Value) {
	if packed != nil {
		value, _ = packed.Unmarshal(typ)
	}
	return value
}

func readIdentity(identity *tfprotov6.ResourceIdentityData) tftypes.Value {
	if identity == nil {
		return tftypes.Value{}
	}
	return read(shape().identity, identity.IdentityData)
}

func told(diags []*tfprotov6.Diagnostic) (all []string) {
	for _, d := range diags {
		all = append(all, d.Summary+": "+d.Detail)
	}
	return all
}
