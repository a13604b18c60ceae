package provider_test

import (
	"fmt"
	"net/http/httptest"
	"testing"

	"github.com/hashicorp/terraform-plugin-go/tfprotov6"
	"github.com/hashicorp/terraform-plugin-go/tftypes"
	"go.uber.org/goleak"

	"github.com/graphdeploy/terraform-provider-graphdeploy/internal/fakeserver"
)

// Not parallel: the goroutines of other tests would count.
func TestProvider_leavesNoGoroutine(t *testing.T) {
	before := goleak.IgnoreCurrent()
	fake := fakeserver.New(fakeserver.Options{})
	server := httptest.NewServer(fake)
	p := newProtocol(t, &service{Server: fake, url: server.URL})
	for i := range 60 {
		id := fake.SeedDeployment(map[string]any{"name": fmt.Sprintf("app-%d", i)})
		read, err := p.server.ReadResource(t.Context(),
			&tfprotov6.ReadResourceRequest{TypeName: typeName, CurrentIdentity: p.identity(id),
				CurrentState: p.value(p.deploymentType(), map[string]tftypes.Value{"id": tftypes.NewValue(tftypes.String, id),
					"name": tftypes.NewValue(tftypes.String, "app")})})
		if err != nil {
			t.Fatal(err)
		}
		p.ExpectNone(read.Diagnostics)
	}
	if results := p.list(5, 0, true, nil); len(results) != 5 {
		t.Errorf("%d results, want 5", len(results))
	}
	server.CloseClientConnections()
	server.Close()
	goleak.VerifyNone(t, before)
}
