package fakeserver

import "time"

// Options are how the service behaves. The zero value is a service like those
// that are known: it responds at once, fills in defaults, rounds CPU values,
// supports updates and deletion, and deploys its revisions at once. What only one
// test needs is a fault (Fail) of that test.
type Options struct {
	// PathPrefix is the path prefix of all endpoints, such as "/api".
	PathPrefix string

	// Credential, if set, must be the value of CredentialHeader (X-Api-Key by
	// default) in every request; others are rejected with 401.
	CredentialHeader, Credential string

	// Latency is a wait before each request is handled. If the client
	// disconnects meanwhile, the work is not done.
	Latency time.Duration

	// Clock returns the time; time.Now by default. Times in responses, the Date
	// header too, ReadyAfter and ActiveAfter are measured on it.
	Clock func() time.Time

	// ReadyAfter is how long after its creation a deployment turns from
	// AWAITING_DATABASE to READY (section 3). Zero: it is READY in the
	// response to the create. The transition does not change updated_at.
	ReadyAfter time.Duration

	// ActiveAfter is how long a revision is QUEUED, BUILDING and DEPLOYING, for
	// a third each, until it is DEPLOYED, and active_revision_id follows
	// latest_revision_id. Zero: it is DEPLOYED at once.
	ActiveAfter time.Duration

	// FailingVersions, if set, is the text that versions that fail have in their
	// repo_ref, image_uri or source_tarball_path. Their revisions end in
	// DEPLOY_FAILED (external_docker) or BUILD_FAILED (other sources).
	FailingVersions string

	// NoRevisionStatus is a service without the revisions of a deployment, at
	// /v2/deployments/{id}/revisions: 404.
	NoRevisionStatus bool

	// NoActiveRevision responds with null for active_revision_id.
	NoActiveRevision bool

	// NoRevisions responds with null for the ids of both revisions, and implies
	// NoRevisionStatus.
	NoRevisions bool

	// CreateStatus is the status of a create that succeeded, 200 by default.
	CreateStatus int

	// AllowDuplicateNames accepts a create with a name that already exists,
	// which is otherwise rejected with 409. Tests use it to verify that a client
	// never creates two.
	AllowDuplicateNames bool

	// NewestFirst reverses the order of the list, which is oldest first.
	NewestFirst bool

	// MaxPage, if positive, is the maximum number of items of a page, whatever
	// the limit of the request.
	MaxPage int

	// RepeatLast lets pages overlap: each page after the first begins with
	// this many items of the page before. A page still has no more items than
	// limit, and still advances by one at least.
	RepeatLast int

	// IgnoreIDFilter ignores deployment_ids in the list.
	IgnoreIDFilter bool

	// Secrets is what responses show of secrets.
	Secrets SecretsMode

	// ExtraSecrets are the service's own secrets, shown in every response in the
	// way of Secrets.
	ExtraSecrets map[string]string

	// ExtraFields adds members that the interface does not document to every
	// object whose fields it documents, to the envelope of the list, and to
	// repositories and OAuth providers. They are not stored.
	ExtraFields bool

	// NullForEmpty responds with null for every member of a deployment that is
	// an empty array or object.
	NullForEmpty bool

	// OmitEmpty omits such members, and those that are null. Members that
	// section 2.1 requires are kept, except secrets.
	OmitEmpty bool

	// Defaults are what the service fills in where a create sends nothing or
	// null: a path in the deployment, such as
	// "source_config.resource_spec.cpu", and a value. "[]" after a name means
	// every item of that array; objects inside of items are not created.
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

	// KeepUnknown accepts members that the interface does not document, in
	// creates and PATCHes and at every depth, stores and returns them, as a
	// service newer than the documentation does. Seeded members that the filters
	// of the list match are then returned, too. Otherwise a request with unknown
	// members is rejected with 422, and a loc for each.
	KeepUnknown bool

	// ResolveRefs shows repo_ref of a codehost deployment as the commit that it
	// resolved to.
	ResolveRefs bool

	// IntegersAsFloats writes every integer in resource_spec like 2048.0, also
	// in free-form objects.
	IntegersAsFloats bool

	// Documented offers the operations of the interface only: PATCH and DELETE of
	// /v2/deployments/{id}, which it does not document, are rejected with 405.
	Documented bool

	// Patch is how a PATCH changes a deployment, and Null what null does in it.
	Patch PatchKind
	Null  NullKind

	// RevisionsForChangesOnly creates a revision only for a PATCH that changes
	// source_revision_config, secrets or secret_references, as section 2 reads.
	// Otherwise one that has a version, secrets or a resource_spec creates one,
	// even if they are what the deployment has already.
	RevisionsForChangesOnly bool

	// DocumentedRulesOnly rejects only what the interface documents as invalid, and
	// stores values as they are sent. Otherwise CPU values are from 0.1 to 8 (limits:
	// 16) and rounded to one decimal, labels and annotations are maps of strings, all
	// fields of secrets and references are required, graph_config_path is required
	// for codehost and internal_source and rejected for other sources, custom_url is
	// for external_docker only, and a PATCH cannot change integration_id, repo_url,
	// listener_id and k8s_namespace.
	DocumentedRulesOnly bool

	// IgnorePatch responds to a PATCH with 200 and changes nothing.
	IgnorePatch bool
}
