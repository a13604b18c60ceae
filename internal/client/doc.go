// Package client is the deployment management service as Go sees it: the four
// operations that its interface shows, their types, and what HTTP needs around
// them. It knows nothing of Terraform.
//
// The types mirror the interface document: a struct for a shape, a field for a
// field, its JSON name for the name on the wire. A pointer, slice or map that
// is nil was not sent or is not sent; an empty slice or map is sent as empty.
package client
