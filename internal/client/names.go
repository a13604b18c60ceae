package client

import (
	"context"
	"errors"
	"sync"
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
	holders []listItem // those of exactly that name
	listed  idSet      // the ids of all that were listed
	date    time.Time  // the service's time of the last response; zero if it did not send it
}

// lookUpName lists by name_contains. Once means that a failed request is not repeated.
func (c *Client) lookUpName(ctx context.Context, name string, once bool) (nameLookup, error) {
	lookup := nameLookup{listed: idSet{}}
	fetch := func(offset int64) (listPage, error) {
		page, err := c.fetchPage(ctx, DeploymentFilter{NameContains: &name}.query(offset), once)
		lookup.date = page.date
		return page, err
	}
	for item, err := range walkPages(fetch, everyItem) {
		if err != nil {
			return nameLookup{}, err
		}
		lookup.listed.add(item.id)
		if item.name == name {
			lookup.holders = append(lookup.holders, item)
		}
	}
	return lookup, nil
}

func everyItem(listItem) bool { return true }

// NameHolders is [Client.DeploymentsNamed] for plans of many creates: it takes few requests, as names beyond the first ones
// are looked up in one list of all deployments, and its results may be up to half a minute old. Of a deployment only
// ID, Name, Source, Status, TenantID and CreatedAt are set.
func (c *Client) NameHolders(ctx context.Context, name string) ([]*Deployment, error) {
	items, listed := c.holders.find(ctx, c, name)
	if !listed {
		lookup, err := c.lookUpName(ctx, name, false)
		if err != nil {
			return nil, err
		}
		items = lookup.holders
	}
	var found []*Deployment
	for _, item := range items {
		if item.id == "" {
			_, err := c.decodeItem(item)
			return nil, err
		}
		found = append(found, summary(item.raw))
	}
	return found, nil
}

// nameHolders is the list of all names that [Client.NameHolders] shares.
type nameHolders struct {
	mu      sync.Mutex
	lookups int
	current *nameList
	tooLong bool
}

type nameList struct {
	requested time.Time
	done      chan struct{} // closed when the rest is set
	items     map[string][]listItem
	err       error
}

var errLongNameList = errors.New("the list of names is too long")

// find looks a name up in the list. It is not ok when there is none.
func (n *nameHolders) find(ctx context.Context, c *Client, name string) (items []listItem, ok bool) {
	n.mu.Lock()
	n.lookups++
	if n.lookups <= namesOneByOne || n.tooLong {
		n.mu.Unlock()
		return nil, false
	}
	list := n.current
	if list == nil || time.Since(list.requested) > namesMaxAge {
		list = &nameList{requested: time.Now(), done: make(chan struct{})}
		n.current = list
		n.mu.Unlock()
		list.items, list.err = c.listNames(ctx)
		close(list.done)
		n.mu.Lock()
		n.tooLong = n.tooLong || errors.Is(list.err, errLongNameList)
		if list.err != nil && n.current == list {
			n.current = nil
		}
	}
	n.mu.Unlock()
	select {
	case <-list.done:
		return list.items[name], list.err == nil
	case <-ctx.Done():
		return nil, false
	}
}

// listNames lists all deployments by name, if there are not too many.
func (c *Client) listNames(ctx context.Context) (map[string][]listItem, error) {
	pages := 0
	fetch := func(offset int64) (listPage, error) {
		if pages++; pages > maxNamePages {
			return listPage{}, errLongNameList
		}
		return c.fetchPage(ctx, DeploymentFilter{}.query(offset), false)
	}
	names := map[string][]listItem{}
	for item, err := range walkPages(fetch, everyItem) {
		if err != nil {
			return nil, err
		}
		names[item.name] = append(names[item.name], item)
	}
	return names, nil
}
