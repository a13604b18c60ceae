package client

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
)

// DeploymentRequest is the body of Create Deployment (section 2.1, request column). Nil SecretReferences are omitted.
// Additional is merged into the body, object by object: members that this type does not have.
type DeploymentRequest struct {
	Name                 string               `json:"name"`
	Source               string               `json:"source"`
	SourceConfig         SourceConfig         `json:"source_config"`
	SourceRevisionConfig SourceRevisionConfig `json:"source_revision_config"`
	Secrets              []Secret             `json:"secrets"`
	SecretReferences     []SecretReference    `json:"secret_references,omitzero"`
	Additional           map[string]any       `json:"-"`
}

// MarshalJSON writes the request with Additional merged into it.
func (r DeploymentRequest) MarshalJSON() ([]byte, error) {
	type plain DeploymentRequest
	encoded, err := json.Marshal(plain(r))
	if err != nil || len(r.Additional) == 0 {
		return encoded, err
	}
	decoder := json.NewDecoder(bytes.NewReader(encoded))
	decoder.UseNumber() // so that no number changes on the way
	var body map[string]any
	if err := decoder.Decode(&body); err != nil {
		return nil, err
	}
	mergeObjects(body, r.Additional)
	return json.Marshal(body)
}

// mergeObjects sets the members of from in into. Objects that are in both are merged.
func mergeObjects(into, from map[string]any) {
	for name, value := range from {
		old, isObject := into[name].(map[string]any)
		added, ok := value.(map[string]any)
		if !isObject || !ok {
			into[name] = value
			continue
		}
		mergeObjects(old, added)
	}
}

// DeploymentChange is the body of a PATCH: members in the names of the API, each with its complete value. Secrets are
// under "secrets", as []Secret. (The API documents no such operation.)
type DeploymentChange map[string]any

// Deployment is one deployment as the service reports it (section 2.1, response column). SourceRevisionConfig describes
// the latest revision. Raw is the complete JSON object, members that this type does not have included; decoding sets it.
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
	Raw                  json.RawMessage      `json:"-"`
}

// UnmarshalJSON decodes a deployment. Its errors name the deployment and the field.
func (d *Deployment) UnmarshalJSON(data []byte) error {
	if string(data) == "null" {
		return nil
	}
	type plain Deployment
	err := deploymentBounds.check(data) // before anything is allocated for it
	if err == nil {
		err = json.Unmarshal(data, (*plain)(d))
	}
	if err != nil {
		return summary(data).unreadable(err)
	}
	d.Raw = bytes.Clone(data)
	return nil
}

// readDeployment decodes an item of a list, or the response to a write.
func readDeployment(raw json.RawMessage) (*Deployment, error) {
	d := new(Deployment)
	if err := d.UnmarshalJSON(raw); err != nil {
		return nil, err
	}
	if err := d.check(); err != nil {
		return nil, err
	}
	return d, nil
}

// check rejects what cannot be a deployment: without a UUID it could not be found again, without name and source it
// could not be told from another.
func (d *Deployment) check() error {
	var reason string
	switch {
	case !isUUID(d.ID):
		reason = "the id is not a UUID"
	case d.Name == "":
		reason = "it has no name"
	case d.Source == "":
		reason = "it has no source"
	default:
		return nil
	}
	return d.unreadable(errors.New(reason))
}

// unreadable names the deployment, and the field if it is known, in an error.
func (d *Deployment) unreadable(err error) error {
	if kind, ok := errors.AsType[*json.UnmarshalTypeError](err); ok && kind.Field != "" {
		err = fmt.Errorf("%s: %s is not %s", kind.Field, kind.Value, typeInWords(kind.Type))
	}
	return fmt.Errorf("deployment %.100q (id %.40q): %w", d.Name, d.ID, err)
}

// summary is what identifies a deployment, of the rest of which anything may be wrong.
func summary(raw json.RawMessage) *Deployment {
	var d struct {
		ID, Name, Source, Status string
		TenantID                 *string `json:"tenant_id"`
		CreatedAt                *string `json:"created_at"`
	}
	_ = json.Unmarshal(raw, &d) // a member of another type stays empty
	return &Deployment{ID: d.ID, Name: d.Name, Source: d.Source, Status: d.Status, TenantID: d.TenantID, CreatedAt: d.CreatedAt}
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

// SourceConfig has the source-specific fields that need no new revision when changed, or cannot be changed (section 2.2).
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

// SourceRevisionConfig has the source-specific fields that need a new revision when changed (section 2.3). RepoCommitSHA
// is never sent.
type SourceRevisionConfig struct {
	RepoRef           *string `json:"repo_ref,omitzero"`
	GraphConfigPath   *string `json:"graph_config_path,omitzero"`
	ImageURI          *string `json:"image_uri,omitzero"`
	SourceTarballPath *string `json:"source_tarball_path,omitzero"`
	RepoCommitSHA     *string `json:"repo_commit_sha,omitzero"`
}

// ResourceSpec is source_config.resource_spec (section 2.4). CPU fields are fractional; every other number is an integer.
// Units and bounds are not documented.
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

	Labels             StringMap `json:"labels,omitzero"`
	Annotations        StringMap `json:"annotations,omitzero"`
	ServiceAccountName *string   `json:"service_account_name,omitzero"`

	ImagePullSecrets []ImagePullSecret `json:"image_pull_secrets,omitzero"`
	Volumes          []Volume          `json:"volumes,omitzero"`
	VolumeMounts     []VolumeMount     `json:"volume_mounts,omitzero"`
	InitContainers   []Container       `json:"init_containers,omitzero"`
	Sidecars         []Container       `json:"sidecars,omitzero"`
}

// ImagePullSecret is the name of a secret to pull images with (section 2.4).
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

// VolumeMount is where a volume is mounted (section 2.4).
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

// ContainerResources is resources of a container, both parts free-form (section 2.4).
type ContainerResources struct {
	Limits   json.RawMessage `json:"limits,omitzero"`
	Requests json.RawMessage `json:"requests,omitzero"`
}

// Secret is a name and its value (section 2.5). A service may mask the value in its responses, or omit it.
type Secret struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

// SecretReference names a key of a container-orchestrator secret (section 2.5). Only for source external_docker.
type SecretReference struct {
	Name       *string `json:"name,omitzero"`
	SecretName *string `json:"secret_name,omitzero"`
	SecretKey  *string `json:"secret_key,omitzero"`
}

// StringMap is a map of string (labels and annotations, section 2.4). A value that is not a string is read as its JSON text;
// a member that is null is dropped.
type StringMap map[string]string

// UnmarshalJSON reads a JSON object.
func (m *StringMap) UnmarshalJSON(data []byte) error {
	var members map[string]json.RawMessage
	if err := json.Unmarshal(data, &members); err != nil {
		return err
	}
	maps.DeleteFunc(members, func(_ string, value json.RawMessage) bool { return string(value) == "null" })
	if members == nil {
		return nil
	}
	*m = StringMap{}
	for name, value := range members {
		var text string
		if json.Unmarshal(value, &text) != nil {
			text = string(value)
		}
		(*m)[name] = text
	}
	return nil
}
