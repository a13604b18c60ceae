// Package client calls the deployment management service: the four operations that its API documents, and what HTTP
// needs around them. It knows nothing of Terraform.
//
// The interface document is the description of the service that this client was written from. It is not part of this
// repository. Where comments, here and in other packages, name a section, such as "section 2.1", they mean a section
// of it: 2 has the resources and their fields, 3 the states, 4 the operations, 7 the errors, 8 the limits.
//
// Of a deployment, the client knows the members that it needs itself. The others are a [Tree], which package provider
// describes.
//
// A response is not trusted: its size, its nesting and the number of its values are bounded, its redirects stay
// within the base URL, and its text is shown without secrets and what a terminal would interpret.
package client
