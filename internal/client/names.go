package client

import (
	"context"
	"time"
)

const (
	// namesOneByOne is how many names are looked up by a request each before all names are listed.
	namesOneByOne = 2
	// maxNamePages bounds that list: where it is longer, names are looked up one by one.
	maxNamePages = 20
	// namesMaxAge is how old it may be.
	namesMaxAge = 30 * time.Second
)

// DeploymentsNamed returns the deployments with exactly that name, case-sensitive, in the service's order. How name_contains
// matches is not documented (section 4.2), so names are compared here.
func (c *Client) DeploymentsNamed(ctx context.Context, name string) ([]*Deployment, error) {
	lookup, err := c.lookUpName(ctx, name, false)
	if err != nil {
		return nil, err
	}
	var found []*Deployment
	for _, item := range lookup.holders {
		d, err := c.decodeItem(item)
		if err != nil {
			return nil, err
		}
		found = append(found, d)
	}
	return found, nil
}

// nameLookup is what the service lists for a name.
type nameLookup struct {
	holders []listItem      // those of exactly that name
	listed  map[string]bool // the ids of all that were listed
	date    time.Time       // the service's time of the last response; zero if it did not send it
}

// lookUpName lists by name_contains. Once means that a failed request is not repeated.
func (c *Client) lookUpName(ctx context.Context, name string, once bool) (nameLookup, error) {
	lookup := nameLookup{listed: map[string]bool{}}
	fetch := func(offset int64) (listPage, error) {
		page, err := c.fetchPage(ctx, DeploymentFilter{NameContains: &name}.query(offset), once)
		lookup.date = page.date
		return page, err
	}
	for item, err := range walkPages(fetch, maxPages, everyItem) {
		if err != nil {
			return nameLookup{}, err
		}
		lookup.listed[item.id] = true
		if item.name == name {
			lookup.holders = append(lookup.holders, item)
		}
	}
	return lookup, nil
}

func everyItem(listItem) bool { return true }

// NameHolders is [Client.DeploymentsNamed] for plans of many creates: it takes few requests, as names beyond the first ones are
// looked up in one list of all deployments, and its results may be up to half a minute old. Secrets and Tree of the
// deployments are not set.
func (c *Client) NameHolders(ctx context.Context, name string) ([]*Deployment, error) {
	found, ok := c.holders.find(ctx, c, name)
	if !ok {
		lookup, err := c.lookUpName(ctx, name, false)
		if err != nil {
			return nil, err
		}
		for _, item := range lookup.holders {
			found = append(found, summary(item.raw))
		}
	}
	for _, d := range found {
		if err := d.check(); err != nil {
			return nil, c.malformed(listRequest, err)
		}
	}
	return found, nil
}

// nameHolders is the list of all names that [Client.NameHolders] shares.
type nameHolders struct {
	lock
	lookups   int
	requested time.Time // when the list was
	list      map[string][]*Deployment
	oneByOne  bool // listing all names has failed, or takes too many requests
}

// find looks a name up in the list. It is not ok when there is none.
func (n *nameHolders) find(ctx context.Context, c *Client, name string) (holders []*Deployment, ok bool) {
	if n.acquire(ctx) != nil {
		return nil, false
	}
	defer n.release()
	n.lookups++
	if n.lookups <= namesOneByOne || n.oneByOne {
		return nil, false
	}
	if n.list == nil || time.Since(n.requested) > namesMaxAge {
		n.requested = time.Now()
		list, err := c.listNames(ctx)
		n.list, n.oneByOne = list, err != nil
	}
	return n.list[name], !n.oneByOne
}

// listNames lists all deployments by name, if there are not too many. Of each it keeps the summary only.
func (c *Client) listNames(ctx context.Context) (map[string][]*Deployment, error) {
	names := map[string][]*Deployment{}
	for item, err := range walkPages(c.fetcher(ctx, DeploymentFilter{}), maxNamePages, everyItem) {
		if err != nil {
			return nil, err
		}
		names[item.name] = append(names[item.name], summary(item.raw))
	}
	return names, nil
}
