package client

import (
	"context"
	"time"

	"golang.org/x/text/unicode/norm"
)

const (
	// namesOneByOne is how many names are looked up by a request each before all names are listed.
	namesOneByOne = 2
	// maxNamePages bounds that list: where it is longer, names are looked up one by one.
	maxNamePages = 20
	// namesMaxAge is how old it may be.
	namesMaxAge = 30 * time.Second
	// maxHolders is how many deployments of one name are kept.
	maxHolders = 30
)

// DeploymentsNamed returns the deployments with exactly that name, case-sensitive, in the service's order. How
// name_contains matches is not documented (section 4.2), so names are compared here.
func (c *Client) DeploymentsNamed(ctx context.Context, name string) ([]*Deployment, error) {
	return c.named(ctx, name, c.decodeItem)
}

// NameHolders does what [Client.DeploymentsNamed] does, with few requests for the plan of many creates: it looks up
// names beyond the first ones in one list of all names, which may be up to half a minute old, and a name that is taken
// there again by itself. A deployment that cannot be read has only ID, Name, Source and Status.
func (c *Client) NameHolders(ctx context.Context, name string) ([]*Deployment, error) {
	if c.taken.lacks(ctx, c, name) {
		return nil, nil
	}
	return c.named(ctx, name, c.decodeHolder)
}

func (c *Client) named(ctx context.Context, name string, decode func(listItem) (*Deployment, error)) (
	[]*Deployment, error,
) {
	lookup, err := c.lookUpName(ctx, name, listRequest)
	if err != nil {
		return nil, err
	}
	var found []*Deployment
	for _, item := range lookup.holders {
		d, err := decode(item)
		if err != nil {
			return nil, err
		}
		found = append(found, d)
	}
	return found, nil
}

// decodeHolder decodes the item that has a name. If it cannot be read, what identifies it is enough.
func (c *Client) decodeHolder(item listItem) (*Deployment, error) {
	d, err := c.decodeItem(item)
	if err != nil && item.id != "" {
		return summary(item.raw), nil
	}
	return d, err
}

// nameLookup is what the service lists for a name.
type nameLookup struct {
	holders []listItem      // the first of exactly that name
	listed  map[string]bool // the ids of all that were listed
	date    time.Time       // the service's time of the last response; zero if it did not send it
}

// lookUpName lists by name_contains, with listRequest or listOnce.
func (c *Client) lookUpName(ctx context.Context, name string, r request) (nameLookup, error) {
	lookup := nameLookup{listed: map[string]bool{}}
	pages := c.pages(ctx, r, DeploymentFilter{NameContains: &name})
	fetch := func(offset int64) (listPage, error) {
		page, err := pages(offset)
		lookup.date = page.date
		return page, err
	}
	for item, err := range walkPages(fetch, maxPages, nil) {
		if err != nil {
			return nameLookup{}, err
		}
		lookup.listed[item.id] = true
		if SameName(item.name, name) && len(lookup.holders) < maxHolders {
			lookup.holders = append(lookup.holders, item)
		}
	}
	return lookup, nil
}

// SameName reports whether two names are equal, case-sensitive, in Unicode NFC: Terraform brings every string into
// that.
func SameName(a, b string) bool { return norm.NFC.String(a) == norm.NFC.String(b) }

// takenNames is the list of all names that [Client.NameHolders] shares.
type takenNames struct {
	lock
	lookups   int
	requested time.Time // when the list was
	list      map[string]bool
	oneByOne  bool // listing all names has failed, or takes too many requests
}

// lacks reports whether there is a list, and a name is not in it.
func (n *takenNames) lacks(ctx context.Context, c *Client, name string) bool {
	if n.acquire(ctx) != nil {
		return false
	}
	defer n.release()
	n.lookups++
	if n.lookups <= namesOneByOne || n.oneByOne {
		return false
	}
	if n.list == nil || time.Since(n.requested) > namesMaxAge {
		n.requested = time.Now()
		list, err := c.listNames(ctx)
		n.list, n.oneByOne = list, err != nil
	}
	return !n.oneByOne && !n.list[norm.NFC.String(name)]
}

// listNames lists the names of all deployments, if there are not too many.
func (c *Client) listNames(ctx context.Context) (map[string]bool, error) {
	names := map[string]bool{}
	for item, err := range walkPages(c.pages(ctx, listRequest, DeploymentFilter{}), maxNamePages, nil) {
		if err != nil {
			return nil, err
		}
		names[norm.NFC.String(item.name)] = true
	}
	return names, nil
}
