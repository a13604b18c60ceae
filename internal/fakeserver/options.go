package fakeserver

import "time"

// Options say how the service behaves. The zero value is a service that
// answers at once, fills in realistic defaults and offers the four documented
// operations only.
type Options struct {
	// PathPrefix is the path below which the service lives, such as "/api".
	PathPrefix string

	// Credential, when set, has to be the value of CredentialHeader
	// (X-Api-Key by default) in every request; others are answered 401.
	CredentialHeader, Credential string

	// Latency is a wait before each request is worked on. When the client goes
	// away meanwhile, the work is not done.
	Latency time.Duration

	// Clock returns the time; time.Now by default. Times in answers, the Date
	// header too, ReadyAfter, ActiveAfter and RateLimit are measured on it.
	Clock func() time.Time

	// NoDate omits the Date header.
	NoDate bool

	// ReadyAfter is how long after its creation a deployment turns from
	// AWAITING_DATABASE to READY (section 3). Zero: it is READY in the answer
	// to the create. The turn does not move updated_at.
	ReadyAfter time.Duration

	// ActiveAfter is how long after a revision was made active_revision_id
	// follows latest_revision_id. Zero: at once.
	ActiveAfter time.Duration

	// CreateStatus is the status of a create that succeeded, 200 by default.
	CreateStatus int

	// AllowDuplicateNames accepts a create with a name that exists already,
	// which is otherwise answered 409. It serves to prove that a client never
	// makes two.
	AllowDuplicateNames bool

	// NewestFirst turns the order of the list, which is oldest first.
	NewestFirst bool

	// MaxPage, when positive, is the most items a page holds whatever limit
	// says.
	MaxPage int

	// RepeatLast makes pages overlap: each page after the first begins with
	// this many items of the page before. A page still has no more items than
	// limit, and still advances by one at least.
	RepeatLast int

	// ReturnedOffsetsOnly rejects an offset of the list, other than 0, that was
	// not returned before for the same filter, with 422.
	ReturnedOffsetsOnly bool

	// IgnoreIDFilter makes the list ignore deployment_ids.
	IgnoreIDFilter bool

	// Secrets says what answers show of secrets.
	Secrets SecretsMode

	// ExtraSecrets are secrets of the service's own, shown in every answer in
	// the way that Secrets says.
	ExtraSecrets map[string]string

	// ExtraFields puts members that the interface does not document into every
	// object that it describes by its fields, into the envelope of the list,
	// into repositories and OAuth providers.
	ExtraFields bool

	// NullForEmpty answers null for every member of a deployment that is an
	// empty array or object.
	NullForEmpty bool

	// OmitEmpty leaves such members out, and those that are null. Members that
	// section 2.1 requires stay, but for secrets.
	OmitEmpty bool

	// Defaults are what the service fills in where a create sends nothing or
	// null: a path in the deployment, such as
	// "source_config.resource_spec.cpu", and a value. "[]" after a name stands
	// for every item of that array; objects inside of items are not created.
	// Nil means [DefaultDefaults], an empty map none. A PATCH fills them in
	// within what it sends only: members sent as null, and objects and array
	// items that it adds or replaces.
	Defaults map[string]any

	// ServiceMembers are members that the service adds by itself, documented or
	// not: labels, members of array items and of free-form objects. Paths, values
	// and times are those of Defaults, in addition to which they apply. An
	// undocumented one is reported in responses and still rejected in requests,
	// unless KeepUnknown is set.
	ServiceMembers map[string]any

	// ExtraLabels are ServiceMembers in resource_spec.labels, whose names may
	// contain dots.
	ExtraLabels map[string]string

	// KeepUnknown accepts members that the interface does not document, in
	// creates and PATCHes and at every depth, stores and returns them, as a
	// service newer than the documentation does. What can be seeded for the
	// filters of the list is then returned, too. Otherwise a request with an unknown member is
	// rejected with 422, and a loc for each.
	KeepUnknown bool

	// ResolveRefs shows repo_ref of a codehost deployment as the commit that it
	// resolved to.
	ResolveRefs bool

	// WholeNumbersAsFloats writes every whole number in resource_spec like
	// 2048.0, in free-form objects too.
	WholeNumbersAsFloats bool

	// Extended offers PATCH and DELETE of /v2/deployments/{id}, which the
	// interface does not show. Without it they are answered 405.
	Extended bool

	// Patch is how a PATCH changes a deployment, and Null what null does in it.
	Patch PatchKind
	Null  NullKind

	// ReviseAlways creates a new revision for every PATCH, also for one that
	// changes source_config only.
	ReviseAlways bool

	// IgnorePatch answers a PATCH with 200 and changes nothing.
	IgnorePatch bool

	// KeepDeleted answers a DELETE with 204 and keeps the deployment as it is.
	KeepDeleted bool

	// RateLimit, when positive, is the most requests served in a minute. More
	// are answered 429 with Retry-After in seconds.
	RateLimit int
}
