package provider_test

import (
	"context"
	"runtime"
	"testing"

	"github.com/hashicorp/terraform-plugin-go/tfprotov6"

	"github.com/graphdeploy/terraform-provider-graphdeploy/internal/fakeserver"
	"github.com/graphdeploy/terraform-provider-graphdeploy/internal/provider"
)

// What a request's context holds must go when the request is done, or a plan
// of many resources would fill the memory.
func TestRequestsThatAreDoneAreForgotten(t *testing.T) {
	t.Parallel()
	p := speak(t, newService(t, fakeserver.Options{}), provider.NewServer("test"))
	config := p.value(p.deploymentType(), nil)
	for name, request := range map[string]func(context.Context) error{
		"upgrade": func(ctx context.Context) error {
			_, err := p.server.UpgradeResourceState(ctx, &tfprotov6.UpgradeResourceStateRequest{TypeName: typeName, RawState: &tfprotov6.RawState{JSON: []byte(`{}`)}})
			return err
		},
		"validate": func(ctx context.Context) error {
			_, err := p.server.ValidateResourceConfig(ctx, &tfprotov6.ValidateResourceConfigRequest{TypeName: typeName, Config: config})
			return err
		},
		"import": func(ctx context.Context) error {
			_, err := p.server.ImportResourceState(ctx, &tfprotov6.ImportResourceStateRequest{TypeName: typeName, ID: "no such name"})
			return err
		},
		"read": func(ctx context.Context) error {
			_, err := p.server.ReadResource(ctx, &tfprotov6.ReadResourceRequest{TypeName: typeName, CurrentState: config})
			return err
		},
		"plan": func(ctx context.Context) error {
			_, err := p.server.PlanResourceChange(ctx, &tfprotov6.PlanResourceChangeRequest{TypeName: typeName, PriorState: config, ProposedNewState: config, Config: config})
			return err
		},
		"apply": func(ctx context.Context) error {
			_, err := p.server.ApplyResourceChange(ctx, &tfprotov6.ApplyResourceChangeRequest{TypeName: typeName, PriorState: config, PlannedState: config, Config: config})
			return err
		},
		"read a data source": func(ctx context.Context) error {
			const name = "graphdeploy_deployments"
			_, err := p.server.ReadDataSource(ctx, &tfprotov6.ReadDataSourceRequest{TypeName: name, Config: p.value(p.schema.DataSourceSchemas[name].ValueType(), nil)})
			return err
		},
		"upgrade the identity": func(ctx context.Context) error {
			_, err := p.server.UpgradeResourceIdentity(ctx, &tfprotov6.UpgradeResourceIdentityRequest{TypeName: typeName, RawIdentity: &tfprotov6.RawState{JSON: []byte(`{}`)}})
			return err
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			gone := make(chan struct{})
			func() {
				held := &[64]byte{}
				runtime.AddCleanup(held, func(gone chan struct{}) { close(gone) }, gone)
				ctx, cancel := context.WithCancel(context.WithValue(context.Background(), heldKey{}, held))
				defer cancel() // as gRPC does
				if err := request(ctx); err != nil {
					t.Error(err)
				}
			}()
			for range 100 {
				runtime.GC()
				runtime.Gosched()
				select {
				case <-gone:
					return
				default:
				}
			}
			t.Error("what the context holds is still in use")
		})
	}
}

type heldKey struct{}
