package provider

import (
	"strings"
	"sync"

	"github.com/graphdeploy/terraform-provider-graphdeploy/internal/client"
)

// stateView is what this process has seen: Terraform shows the provider one resource at a time, and what a plan may do with one
// depends on the others.
type stateView struct {
	mu   sync.Mutex
	held map[string]heldDeployment     // by name
	read map[string]*client.Deployment // by id in lower case, until it is planned with
}

// heldDeployment is a deployment in the state.
type heldDeployment struct {
	id       string
	deletes  bool // destroying it deletes it
	replaced bool // it is planned to be replaced
}

// hold notes a deployment that is in the state.
func (v *stateView) hold(name string, h heldDeployment) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.held == nil {
		v.held = map[string]heldDeployment{}
	}
	v.held[name] = h
}

// holder is the deployment of the state that has a name.
func (v *stateView) holder(name string) (h heldDeployment, ok bool) {
	v.mu.Lock()
	defer v.mu.Unlock()
	h, ok = v.held[name]
	return h, ok
}

// saw notes what was read of a deployment, for its plan.
func (v *stateView) saw(d *client.Deployment) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.read == nil {
		v.read = map[string]*client.Deployment{}
	}
	v.read[strings.ToLower(d.ID)] = d
}

// take is what was read of a deployment, once; nil if nothing was read.
func (v *stateView) take(id string) *client.Deployment {
	v.mu.Lock()
	defer v.mu.Unlock()
	d := v.read[strings.ToLower(id)]
	delete(v.read, strings.ToLower(id))
	return d
}
