package client

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
)

// A Tree is a JSON object as encoding/json decodes it, but for numbers, which are [json.Number]. This package knows of a
// deployment what it needs itself; the rest is in trees, and what it has to look like is for the caller to know.
type Tree = map[string]any

// decodeTree decodes an object.
func decodeTree(raw json.RawMessage) (tree Tree, err error) {
	if len(raw) == 0 || raw[0] != '{' {
		return nil, errors.New("it is not an object")
	}
	decoder := json.NewDecoder(bytes.NewReader(raw))
	decoder.UseNumber() // so that no number changes
	err = decoder.Decode(&tree)
	return tree, err
}

// Deployment is one deployment as the service reports it (section 2.1, response column): its own members as far as this
// package, or whoever waits for a deployment, needs them. What is null or omitted is empty. Tree is the complete JSON object;
// it is shared, and must not be changed.
type Deployment struct {
	ID               string   `json:"id"`
	Name             string   `json:"name"`
	Source           string   `json:"source"`
	Status           string   `json:"status"`
	TenantID         string   `json:"tenant_id"`
	CreatedAt        string   `json:"created_at"`
	UpdatedAt        string   `json:"updated_at"`
	LatestRevisionID string   `json:"latest_revision_id"`
	ActiveRevisionID string   `json:"active_revision_id"`
	Secrets          []Secret `json:"-"` // not a part of a summary
	Tree             Tree     `json:"-"`
}

// readDeployment decodes an item of a list, or the response to a write. Its errors name the deployment and the member.
func (c *Client) readDeployment(raw json.RawMessage) (*Deployment, error) {
	d := new(Deployment)
	err := deploymentBounds.check(raw) // before more than a summary is allocated for it
	if err == nil {
		err = json.Unmarshal(raw, d)
	}
	if err == nil {
		err = json.Unmarshal(raw, &struct {
			Secrets *[]Secret `json:"secrets"`
		}{&d.Secrets})
	}
	if err == nil {
		d.Tree, err = decodeTree(raw)
	}
	if err == nil && c.config.CheckDeployment != nil {
		err = c.config.CheckDeployment(d.Tree)
	}
	if err != nil {
		return nil, summary(raw).unreadable(err)
	}
	if err := d.check(); err != nil {
		return nil, err
	}
	return d, nil
}

// check rejects what cannot be a deployment: without a UUID it could not be found again, without name and source it could not
// be distinguished from others.
func (d *Deployment) check() error {
	var reason string
	switch {
	case !IsUUID(d.ID):
		reason = "the id is not a UUID"
	case d.Name == "":
		reason = "it has no name"
	case d.Source == "":
		reason = "it has no source"
	default:
		return nil
	}
	return d.unreadable(errors.New(reason))
}

// unreadable names the deployment, and the field if it is known, in an error.
func (d *Deployment) unreadable(err error) error {
	if kind, ok := errors.AsType[*json.UnmarshalTypeError](err); ok && kind.Field != "" {
		err = fmt.Errorf("%s: %s is not %s", kind.Field, kind.Value, typeInWords(kind.Type))
	}
	return fmt.Errorf("deployment %.100q (id %.40q): %w", d.Name, d.ID, err)
}

// summary is what identifies a deployment, of the rest of which anything may be wrong.
func summary(raw json.RawMessage) *Deployment {
	d := new(Deployment)
	_ = json.Unmarshal(raw, d) // a member of another type stays empty
	return d
}

// The statuses of a deployment (section 3). A service may know others.
const (
	StatusAwaitingDatabase = "AWAITING_DATABASE"
	StatusReady            = "READY"
	StatusUnused           = "UNUSED"
	StatusAwaitingDelete   = "AWAITING_DELETE"
	StatusUnknown          = "UNKNOWN"
)

// The sources of a deployment (section 2.1).
const (
	SourceCodehost         = "codehost"
	SourceExternalDocker   = "external_docker"
	SourceInternalDocker   = "internal_docker"
	SourceInternalSource   = "internal_source"
	SourceInternalTemplate = "internal_template"
)

// Secret is a name and its value (section 2.5). A service may mask the value in its responses, or omit it.
type Secret struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}
