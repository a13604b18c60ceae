package client

import (
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"path"
	"strings"
)

const maxRedirects = 10

var errRedirect = errors.New("redirect rejected")

// checkRedirect follows the redirect of a GET within the base URL, to the same query. Anything else would carry the
// credential elsewhere, list something else, or send a write twice.
func (c *Client) checkRedirect(next *http.Request, via []*http.Request) error {
	first := via[0]
	switch {
	case Origin(next.URL) != Origin(first.URL):
		return fmt.Errorf("%w: it leads to another origin, %s, and would carry the credential there", errRedirect,
			Origin(next.URL))
	case first.Method != http.MethodGet:
		return fmt.Errorf("%w: it would repeat a %s", errRedirect, first.Method)
	case next.URL.User != nil:
		return fmt.Errorf("%w: its URL has user info", errRedirect)
	case !within(c.config.BaseURL, next.URL):
		return fmt.Errorf("%w: it leads out of the path of base_url", errRedirect)
	case !sameQuery(first.URL, next.URL):
		return fmt.Errorf("%w: it drops or changes the query", errRedirect)
	case len(via) >= maxRedirects:
		return fmt.Errorf("%w: more than %d in a row", errRedirect, maxRedirects)
	}
	return nil
}

// Origin returns the scheme, the host and the port of a URL.
func Origin(u *url.URL) string {
	port := u.Port()
	if port == "" {
		port = map[string]string{"http": "80", "https": "443"}[u.Scheme]
	}
	return u.Scheme + "://" + strings.ToLower(u.Hostname()) + ":" + port
}

// within reports whether a URL is below the path of base, both as it is written and as a server may resolve it.
func within(base, u *url.URL) bool {
	below := func(u, root string) bool { return strings.HasPrefix(u+"/", strings.TrimRight(root, "/")+"/") }
	return below(u.EscapedPath(), base.EscapedPath()) && below(path.Clean("/"+u.Path), path.Clean("/"+base.Path))
}

func sameQuery(a, b *url.URL) bool {
	query, err := url.ParseQuery(b.RawQuery)
	return err == nil && query.Encode() == a.Query().Encode()
}
