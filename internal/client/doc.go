// Package client is the deployment management service as Go sees it: the four
// operations that its interface shows, their types, and what HTTP needs around
// them. It knows nothing of Terraform.
//
// The types mirror the interface document, the description of the service that
// this client was written from. It is not part of this repository. Where
// comments, here and in other packages, name a section, such as "section 2.1",
// they mean a section of it: 2 has the resources and their fields, 3 the states,
// 4 the operations, 7 the errors, 8 the limits.
//
// There is a struct for a shape, a field for a field, its JSON name for the name
// on the wire. A pointer, slice or map that is nil was not sent or is not sent;
// an empty slice or map is sent as empty.
package client
