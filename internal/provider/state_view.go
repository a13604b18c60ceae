package provider

import (
	"strings"
	"sync"

	"github.com/graphdeploy/terraform-provider-graphdeploy/internal/client"
)

// stateView remembers the deployments that this process has seen: Terraform shows the provider one resource at a time,
// and the plan of one depends on the others.
type stateView struct {
	held sync.Map // the attributes that identify a deployment in the state, and its deletion_policy, by name
	read sync.Map // a *client.Deployment by its id in lower case, until it is planned with
}

// hold notes a deployment that is in the state.
func (v *stateView) hold(state attributes) {
	summary := attributes{}
	for _, name := range []string{"id", "name", "source", "deletion_policy"} {
		summary[name] = state[name]
	}
	v.held.Store(state.text("name"), summary)
}

// holder returns the summary of the deployment in the state that has an id and a name; nil if there is none.
func (v *stateView) holder(id, name string) attributes {
	held, _ := v.held.Load(name)
	if state, ok := held.(attributes); ok && strings.EqualFold(state.text("id"), id) {
		return state
	}
	return nil
}

// saw notes what was read of a deployment, for its plan.
func (v *stateView) saw(d *client.Deployment) { v.read.Store(strings.ToLower(d.ID), d) }

// take returns what was read of a deployment, once; nil if nothing was read.
func (v *stateView) take(id string) *client.Deployment {
	read, _ := v.read.LoadAndDelete(strings.ToLower(id))
	d, _ := read.(*client.Deployment)
	return d
}
