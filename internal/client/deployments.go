package client

import (
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/google/uuid"
)

const deploymentsPath = "/v2/deployments"

// DeploymentRequest is the body of Create Deployment (section 2.1, request
// column).
type DeploymentRequest struct {
	Name                 string               `json:"name"`
	Source               string               `json:"source"`
	SourceConfig         SourceConfig         `json:"source_config"`
	SourceRevisionConfig SourceRevisionConfig `json:"source_revision_config"`
	Secrets              []Secret             `json:"secrets"`
	SecretReferences     []SecretReference    `json:"secret_references,omitzero"`
}

// Deployment is one deployment as the service reports it (section 2.1,
// response column). SourceRevisionConfig describes the latest revision.
type Deployment struct {
	Name                 string               `json:"name"`
	Source               string               `json:"source"`
	SourceConfig         SourceConfig         `json:"source_config,omitzero"`
	SourceRevisionConfig SourceRevisionConfig `json:"source_revision_config,omitzero"`
	Secrets              []Secret             `json:"secrets,omitzero"`
	SecretReferences     []SecretReference    `json:"secret_references,omitzero"`
	ID                   string               `json:"id"`
	TenantID             *string              `json:"tenant_id,omitzero"`
	CreatedAt            *string              `json:"created_at,omitzero"`
	UpdatedAt            *string              `json:"updated_at,omitzero"`
	Status               string               `json:"status,omitzero"`
	LatestRevisionID     *string              `json:"latest_revision_id,omitzero"`
	ActiveRevisionID     *string              `json:"active_revision_id,omitzero"`
	ImageVersion         *string              `json:"image_version,omitzero"`
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

// SourceConfig holds the source-specific fields that need no new revision when
// changed, or cannot be changed (section 2.2).
type SourceConfig struct {
	IntegrationID  *string         `json:"integration_id,omitzero"`
	RepoURL        *string         `json:"repo_url,omitzero"`
	BuildOnPush    *bool           `json:"build_on_push,omitzero"`
	CustomURL      *string         `json:"custom_url,omitzero"`
	ResourceSpec   *ResourceSpec   `json:"resource_spec,omitzero"`
	ListenerID     *string         `json:"listener_id,omitzero"`
	ListenerConfig *ListenerConfig `json:"listener_config,omitzero"`
	InstallCommand *string         `json:"install_command,omitzero"`
	BuildCommand   *string         `json:"build_command,omitzero"`
}

// ListenerConfig is source_config.listener_config (section 2.2).
type ListenerConfig struct {
	K8sNamespace *string `json:"k8s_namespace,omitzero"`
}

// SourceRevisionConfig holds the source-specific fields that need a new
// revision when changed (section 2.3). RepoCommitSHA is never sent.
type SourceRevisionConfig struct {
	RepoRef           *string `json:"repo_ref,omitzero"`
	GraphConfigPath   *string `json:"graph_config_path,omitzero"`
	ImageURI          *string `json:"image_uri,omitzero"`
	SourceTarballPath *string `json:"source_tarball_path,omitzero"`
	RepoCommitSHA     *string `json:"repo_commit_sha,omitzero"`
}

// ResourceSpec says what a deployment may use (section 2.4). CPU fields take
// fractions; every other number is whole. Units and bounds are not shown.
type ResourceSpec struct {
	MinScale      *Int64   `json:"min_scale,omitzero"`
	MaxScale      *Int64   `json:"max_scale,omitzero"`
	CPU           *float64 `json:"cpu,omitzero"`
	CPULimit      *float64 `json:"cpu_limit,omitzero"`
	MemoryMB      *Int64   `json:"memory_mb,omitzero"`
	MemoryLimitMB *Int64   `json:"memory_limit_mb,omitzero"`

	QueueMinScale      *Int64   `json:"queue_min_scale,omitzero"`
	QueueMaxScale      *Int64   `json:"queue_max_scale,omitzero"`
	QueueCPU           *float64 `json:"queue_cpu,omitzero"`
	QueueCPULimit      *float64 `json:"queue_cpu_limit,omitzero"`
	QueueMemoryMB      *Int64   `json:"queue_memory_mb,omitzero"`
	QueueMemoryLimitMB *Int64   `json:"queue_memory_limit_mb,omitzero"`

	OrchestratorCPU           *float64 `json:"orchestrator_cpu,omitzero"`
	OrchestratorCPULimit      *float64 `json:"orchestrator_cpu_limit,omitzero"`
	OrchestratorMemoryMB      *Int64   `json:"orchestrator_memory_mb,omitzero"`
	OrchestratorMemoryLimitMB *Int64   `json:"orchestrator_memory_limit_mb,omitzero"`
	OrchestratorMinScale      *Int64   `json:"orchestrator_min_scale,omitzero"`
	OrchestratorMaxScale      *Int64   `json:"orchestrator_max_scale,omitzero"`

	ExecutorCPU           *float64 `json:"executor_cpu,omitzero"`
	ExecutorCPULimit      *float64 `json:"executor_cpu_limit,omitzero"`
	ExecutorMemoryMB      *Int64   `json:"executor_memory_mb,omitzero"`
	ExecutorMemoryLimitMB *Int64   `json:"executor_memory_limit_mb,omitzero"`

	RedisCPU           *float64 `json:"redis_cpu,omitzero"`
	RedisCPULimit      *float64 `json:"redis_cpu_limit,omitzero"`
	RedisMemoryMB      *Int64   `json:"redis_memory_mb,omitzero"`
	RedisMemoryLimitMB *Int64   `json:"redis_memory_limit_mb,omitzero"`

	DBCPU            *float64 `json:"db_cpu,omitzero"`
	DBCPULimit       *float64 `json:"db_cpu_limit,omitzero"`
	DBMemoryMB       *Int64   `json:"db_memory_mb,omitzero"`
	DBMemoryLimitMB  *Int64   `json:"db_memory_limit_mb,omitzero"`
	DBStorageGI      *Int64   `json:"db_storage_gi,omitzero"`
	DBMaxConnections *Int64   `json:"db_max_connections,omitzero"`

	Labels             map[string]string `json:"labels,omitzero"`
	Annotations        map[string]string `json:"annotations,omitzero"`
	ServiceAccountName *string           `json:"service_account_name,omitzero"`

	ImagePullSecrets []ImagePullSecret `json:"image_pull_secrets,omitzero"`
	Volumes          []Volume          `json:"volumes,omitzero"`
	VolumeMounts     []VolumeMount     `json:"volume_mounts,omitzero"`
	InitContainers   []Container       `json:"init_containers,omitzero"`
	Sidecars         []Container       `json:"sidecars,omitzero"`
}

// ImagePullSecret names a secret that images are pulled with (section 2.4).
type ImagePullSecret struct {
	Name *string `json:"name,omitzero"`
}

// Volume is a name and, free-form, one kind of volume (section 2.4).
type Volume struct {
	Name                  *string         `json:"name,omitzero"`
	ConfigMap             json.RawMessage `json:"configMap,omitzero"`
	Secret                json.RawMessage `json:"secret,omitzero"`
	EmptyDir              json.RawMessage `json:"emptyDir,omitzero"`
	PersistentVolumeClaim json.RawMessage `json:"persistentVolumeClaim,omitzero"`
	NFS                   json.RawMessage `json:"nfs,omitzero"`
	Projected             json.RawMessage `json:"projected,omitzero"`
	DownwardAPI           json.RawMessage `json:"downwardAPI,omitzero"`
	CSI                   json.RawMessage `json:"csi,omitzero"`
}

// VolumeMount says where a volume is mounted (section 2.4).
type VolumeMount struct {
	Name             *string `json:"name,omitzero"`
	MountPath        *string `json:"mountPath,omitzero"`
	SubPath          *string `json:"subPath,omitzero"`
	MountPropagation *string `json:"mountPropagation,omitzero"`
	ReadOnly         *bool   `json:"readOnly,omitzero"`
	SubPathExpr      *string `json:"subPathExpr,omitzero"`
}

// Container is an item of init_containers and sidecars (section 2.4).
type Container struct {
	Name            *string             `json:"name,omitzero"`
	Image           *string             `json:"image,omitzero"`
	ImagePullPolicy *string             `json:"imagePullPolicy,omitzero"`
	Command         []string            `json:"command,omitzero"`
	Args            []string            `json:"args,omitzero"`
	WorkingDir      *string             `json:"workingDir,omitzero"`
	Env             []EnvVar            `json:"env,omitzero"`
	EnvFrom         []json.RawMessage   `json:"envFrom,omitzero"`
	Resources       *ContainerResources `json:"resources,omitzero"`
	VolumeMounts    []VolumeMount       `json:"volumeMounts,omitzero"`
	SecurityContext json.RawMessage     `json:"securityContext,omitzero"`
	RestartPolicy   *string             `json:"restartPolicy,omitzero"`
}

// EnvVar is an environment variable of a container (section 2.4).
type EnvVar struct {
	Name      *string         `json:"name,omitzero"`
	Value     *string         `json:"value,omitzero"`
	ValueFrom json.RawMessage `json:"valueFrom,omitzero"`
}

// ContainerResources is resources of a container, both parts free-form
// (section 2.4).
type ContainerResources struct {
	Limits   json.RawMessage `json:"limits,omitzero"`
	Requests json.RawMessage `json:"requests,omitzero"`
}

// Secret is a name and its value (section 2.5). A service may mask the value
// in its answers, or leave it out.
type Secret struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

// SecretReference names a key of a container-orchestrator secret
// (section 2.5). It goes with source external_docker only.
type SecretReference struct {
	Name       *string `json:"name,omitzero"`
	SecretName *string `json:"secret_name,omitzero"`
	SecretKey  *string `json:"secret_key,omitzero"`
}

// DeploymentFilter selects deployments in List Deployments (section 4.2).
// A nil field does not filter.
type DeploymentFilter struct {
	NameContains     *string
	Status           *string
	RemoteReconciled *bool
	TagValueIDs      []string
	ImageVersion     *string
	DeploymentType   *string
	// DeploymentIDs may be of any number: they are asked for in requests of
	// up to 100. Empty but not nil selects nothing, without a request.
	DeploymentIDs []string
	// PageSize is the limit of each request, 1 to 100; 0 means 100.
	PageSize int
}

// MaxPageSize is the most that List Deployments returns at once (section 8).
const MaxPageSize = 100

func (f DeploymentFilter) query() url.Values {
	q := url.Values{}
	set := func(name string, value *string) {
		if value != nil {
			q.Set(name, *value)
		}
	}
	set("name_contains", f.NameContains)
	set("status", f.Status)
	set("image_version", f.ImageVersion)
	set("deployment_type", f.DeploymentType)
	if f.RemoteReconciled != nil {
		q.Set("remote_reconciled", strconv.FormatBool(*f.RemoteReconciled))
	}
	if len(f.TagValueIDs) > 0 {
		q.Set("tag_value_ids", strings.Join(f.TagValueIDs, ","))
	}
	if len(f.DeploymentIDs) > 0 {
		q.Set("deployment_ids", strings.Join(f.DeploymentIDs, ","))
	}
	return q
}

// Deployments lists deployments in the service's order (section 4.2), page by
// page as the loop asks for them, each deployment once. An error ends the
// sequence: what came before it is not the whole.
func (c *Client) Deployments(ctx context.Context, filter DeploymentFilter) iter.Seq2[*Deployment, error] {
	return func(yield func(*Deployment, error) bool) {
		if filter.DeploymentIDs == nil {
			for d, err := range c.listDeployments(ctx, filter) {
				if !yield(d, err) {
					return
				}
			}
			return
		}
		for ids := range slices.Chunk(uniqueIDs(filter.DeploymentIDs), MaxPageSize) {
			part := filter
			part.DeploymentIDs = ids
			wanted := newIDSet(ids)
			for d, err := range c.listDeployments(ctx, part) {
				// A service that ignores the filter is not believed.
				if err == nil && !wanted.has(d.ID) {
					continue
				}
				if !yield(d, err) || err != nil {
					return
				}
				wanted.remove(d.ID)
				if wanted.empty() {
					break // all found: the empty page at the end is not asked for
				}
			}
		}
	}
}

// listDeployments walks the pages of one list request.
func (c *Client) listDeployments(ctx context.Context, filter DeploymentFilter) iter.Seq2[*Deployment, error] {
	limit := filter.PageSize
	if limit == 0 {
		limit = MaxPageSize
	}
	fetch := func(offset int64) ([]*Deployment, int64, error) {
		query := filter.query()
		query.Set("limit", strconv.Itoa(limit))
		query.Set("offset", strconv.FormatInt(offset, 10))
		return c.deploymentsPage(ctx, query, false)
	}
	return pages(limit, fetch, func(d *Deployment) string { return strings.ToLower(d.ID) })
}

// deploymentsPage asks for one page. Once says that it is not worth a second
// attempt.
func (c *Client) deploymentsPage(ctx context.Context, query url.Values, once bool) (deployments []*Deployment, next int64, err error) {
	const operation = "list deployments"
	var page struct {
		Resources *[]*Deployment `json:"resources"`
		Offset    *Int64         `json:"offset"`
	}
	if err := c.call(ctx, request{operation: operation, method: http.MethodGet, path: deploymentsPath, query: query, once: once}, &page); err != nil {
		return nil, 0, err
	}
	if page.Resources == nil || page.Offset == nil {
		return nil, 0, c.malformed(operation, http.MethodGet, deploymentsPath, fmt.Errorf("the answer has no %q or no %q", "resources", "offset"))
	}
	for i, d := range *page.Resources {
		if err := d.check(); err != nil {
			return nil, 0, c.malformed(operation, http.MethodGet, deploymentsPath, fmt.Errorf("resources[%d]: %w", i, err))
		}
	}
	return *page.Resources, int64(*page.Offset), nil
}

// Deployment reads one deployment, through List Deployments, since no single
// read is documented. It returns [ErrNotFound] when the service does not list
// it. Reads that come together share a request, and where many are read, an
// answer may be up to half a minute old; it never is from before a write that
// this client made, and never is it ErrNotFound.
func (c *Client) Deployment(ctx context.Context, id string) (*Deployment, error) {
	if d := c.reader.ahead.take(ctx, id); d != nil {
		return d, nil
	}
	return c.reader.read(ctx, id, 0)
}

// newReader sets up the reading of single deployments.
func (c *Client) newReader() *reader {
	r := &reader{
		list: func(ctx context.Context, ids []string) (map[string]*Deployment, error) {
			found := map[string]*Deployment{}
			for d, err := range c.Deployments(ctx, DeploymentFilter{DeploymentIDs: ids}) {
				if err != nil {
					return nil, err
				}
				found[strings.ToLower(d.ID)] = d
			}
			return found, nil
		},
		ahead: &readAhead{
			page: func(ctx context.Context, offset int64) ([]*Deployment, int64, error) {
				return c.deploymentsPage(ctx, url.Values{"limit": {strconv.Itoa(MaxPageSize)}, "offset": {strconv.FormatInt(offset, 10)}}, true)
			},
			maxAge: 30 * time.Second, now: time.Now,
			found: map[string]aheadReading{}, written: map[string]time.Time{},
			finished: c.config.DisableBatching,
		},
		gathering: 20 * time.Millisecond,
		singly:    c.config.DisableBatching,
		pending:   map[string]*pendingRead{},
	}
	r.ahead.arrive = r.answer
	return r
}

// DeploymentNow is [Client.Deployment], but never from what was read ahead.
func (c *Client) DeploymentNow(ctx context.Context, id string) (*Deployment, error) {
	return c.reader.read(ctx, id, 0)
}

// DeploymentsNamed returns every deployment of exactly that name. How
// name_contains matches is not shown, so the names are compared here.
func (c *Client) DeploymentsNamed(ctx context.Context, name string) ([]*Deployment, error) {
	var found []*Deployment
	for d, err := range c.Deployments(ctx, DeploymentFilter{NameContains: &name}) {
		if err != nil {
			return nil, err
		}
		if d.Name == name {
			found = append(found, d)
		}
	}
	return found, nil
}

// check refuses what cannot be a deployment: without a UUID it could not be
// found again, without name and source it could not be told from another.
func (d *Deployment) check() error {
	switch {
	case d == nil:
		return fmt.Errorf("null instead of a deployment")
	case d.Name == "":
		return fmt.Errorf("a deployment without a name")
	case d.Source == "":
		return fmt.Errorf("a deployment without a source")
	}
	if !isUUID(d.ID) {
		return fmt.Errorf("%q as the id of a deployment is not a UUID", d.ID)
	}
	return nil
}

// isUUID reports whether text is a UUID in the usual form of 36 characters.
func isUUID(text string) bool { return len(text) == 36 && uuid.Validate(text) == nil }
