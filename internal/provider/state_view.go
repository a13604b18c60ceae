package provider

import (
	"strings"
	"sync"

	"github.com/graphdeploy/terraform-provider-graphdeploy/internal/client"
)

// stateView is what this process has seen: Terraform shows the provider one resource at a time, and what a plan may do with one
// depends on the others.
type stateView struct {
	held sync.Map // the heldDeployment of each name
	read sync.Map // a *client.Deployment by its id in lower case, until it is planned with
}

// heldDeployment is a deployment in the state.
type heldDeployment struct {
	id       string
	deletes  bool // destroying it deletes it
	replaced bool // it is planned to be replaced
}

// hold notes a deployment that is in the state.
func (v *stateView) hold(name string, h heldDeployment) { v.held.Store(name, h) }

// holder is the deployment of the state that has a name.
func (v *stateView) holder(name string) (h heldDeployment, ok bool) {
	held, _ := v.held.Load(name)
	h, ok = held.(heldDeployment)
	return h, ok
}

// saw notes what was read of a deployment, for its plan.
func (v *stateView) saw(d *client.Deployment) { v.read.Store(strings.ToLower(d.ID), d) }

// take is what was read of a deployment, once; nil if nothing was read.
func (v *stateView) take(id string) *client.Deployment {
	read, _ := v.read.LoadAndDelete(strings.ToLower(id))
	d, _ := read.(*client.Deployment)
	return d
}
