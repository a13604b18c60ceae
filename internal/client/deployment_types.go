package client

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
)

// A Tree is a JSON object as encoding/json decodes it, but for numbers, which are [json.Number]. This package knows
// of a deployment what it needs itself; the rest is in trees, and what it has to look like is for the caller to know.
type Tree = map[string]any

var errNoObject = errors.New("it is not an object")

// decodeTree decodes an object.
func decodeTree(raw json.RawMessage) (tree Tree, err error) {
	if len(raw) == 0 || raw[0] != '{' {
		return nil, errNoObject
	}
	decoder := json.NewDecoder(bytes.NewReader(raw))
	decoder.UseNumber() // so that no number changes
	err = decoder.Decode(&tree)
	return tree, err
}

// Deployment is one deployment as the service reports it (section 2.1, response column): its own members as far as
// this package, or whoever waits for a deployment, needs them. What is null or omitted is empty. Tree is the complete
// JSON object; it is shared, and must not be changed.
type Deployment struct {
	ID               string
	Name             string
	Source           string
	Status           string
	CreatedAt        string
	UpdatedAt        string
	LatestRevisionID string
	ActiveRevisionID string
	Secrets          []Secret
	Tree             Tree
}

// readDeployment decodes an item of a list, or the response to a write. Its errors name the deployment and the member.
// (What encoding/json decodes into a struct, it matches case-insensitively: "ID" would pass for "id".)
func (c *Client) readDeployment(raw json.RawMessage) (*Deployment, error) {
	d, err := c.decodeDeployment(raw)
	if err != nil {
		return nil, summary(raw).unreadable(err)
	}
	return d, nil
}

func (c *Client) decodeDeployment(raw json.RawMessage) (*Deployment, error) {
	_, err := deploymentBounds.check(raw) // before more than a summary is allocated for it
	if err != nil {
		return nil, err
	}
	tree, err := decodeTree(raw)
	if err != nil {
		return nil, err
	}
	d, err := newDeployment(tree)
	if err != nil {
		return nil, err
	}
	if c.config.CheckDeployment != nil {
		err = c.config.CheckDeployment(tree)
	}
	return d, cmp.Or(err, d.check())
}

func newDeployment(tree Tree) (*Deployment, error) {
	var wrong error // about the first member of another type
	text := func(object Tree, name string) string {
		value, err := memberAs[string](object, name)
		wrong = cmp.Or(wrong, err)
		return value
	}
	d := &Deployment{
		ID: text(tree, "id"), Name: text(tree, "name"), Source: text(tree, "source"), Status: text(tree, "status"),
		CreatedAt: text(tree, "created_at"), UpdatedAt: text(tree, "updated_at"),
		LatestRevisionID: text(tree, "latest_revision_id"), ActiveRevisionID: text(tree, "active_revision_id"),
		Tree: tree,
	}
	secrets, err := memberAs[[]any](tree, "secrets")
	if wrong != nil || err != nil {
		return nil, cmp.Or(wrong, err)
	}
	for i, item := range secrets {
		object, ok := item.(Tree)
		if !ok {
			return nil, fmt.Errorf("secrets[%d]: %w", i, errNoObject)
		}
		d.Secrets = append(d.Secrets, Secret{Name: text(object, "name"), Value: text(object, "value")})
		wrong = cmp.Or(wrong, otherCapitals(object, "name", "value"))
		if wrong != nil {
			return nil, fmt.Errorf("secrets[%d]: %w", i, wrong)
		}
	}
	return d, nil
}

// otherCapitals rejects an object with a member whose name differs from a documented one only in case.
func otherCapitals(object Tree, documented ...string) error {
	for _, name := range slices.Sorted(maps.Keys(object)) {
		for _, exact := range documented {
			if name != exact && strings.EqualFold(name, exact) {
				return fmt.Errorf("%s is in the response with other capital letters, not with exactly this name", exact)
			}
		}
	}
	return nil
}

// memberAs returns a member of an object as a type; its zero value if it is null or omitted.
func memberAs[T string | []any](object Tree, name string) (value T, err error) {
	value, ok := object[name].(T)
	if !ok && object[name] != nil {
		return value, fmt.Errorf("%s: %s is not %s", name, kindOf(reflect.TypeOf(object[name])), kindOf(reflect.TypeFor[T]()))
	}
	return value, nil
}

// kindOf names the kind of JSON value that is decoded as a type.
func kindOf(t reflect.Type) string {
	switch t.Kind() {
	case reflect.Bool:
		return "a boolean"
	case reflect.Slice:
		return "a list"
	case reflect.Map:
		return "an object"
	case reflect.String:
		if t != reflect.TypeFor[json.Number]() {
			return "a string"
		}
	}
	return "a number"
}

// check rejects what cannot be a deployment: without a UUID it could not be found again, without name and source it
// could not be distinguished from others.
func (d *Deployment) check() error {
	switch {
	case !IsUUID(d.ID):
		return errors.New("the id is not a UUID")
	case d.Name == "":
		return errors.New("it has no name")
	case d.Source == "":
		return errors.New("it has no source")
	}
	return nil
}

// unreadable names the deployment in an error.
func (d *Deployment) unreadable(err error) error {
	return fmt.Errorf("deployment %.100q (id %.40q): %w", d.Name, d.ID, err)
}

// summary returns what identifies a deployment of which anything else may be wrong.
func summary(raw json.RawMessage) *Deployment {
	var members map[string]json.RawMessage // by their exact names
	_ = json.Unmarshal(raw, &members)
	text := func(name string) (text string) {
		_ = json.Unmarshal(members[name], &text) // a member of another type stays empty
		return text
	}
	return &Deployment{ID: text("id"), Name: text("name"), Source: text("source"), Status: text("status")}
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
