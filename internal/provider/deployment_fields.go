package provider

import (
	"slices"
	"strings"

	"github.com/graphdeploy/terraform-provider-graphdeploy/internal/client"
	"github.com/graphdeploy/terraform-provider-graphdeploy/internal/field"
)

// sources are the documented sources (section 2.1, rules 3 and 4 of section 1).
var sources = []struct {
	name, meaning string
	hosting       string // the only one where it is available
}{
	{client.SourceCodehost, "Git repository", hostingCloud},
	{client.SourceExternalDocker, "image from any registry", hostingSelfHosted},
	{client.SourceInternalDocker, "image pushed with the command-line tool", hostingCloud},
	{client.SourceInternalSource, "uploaded source", hostingCloud},
	{client.SourceInternalTemplate, "prebuilt template", hostingCloud},
}

var hostingNames = map[string]string{hostingCloud: "cloud only", hostingSelfHosted: "self-hosted only"}

func sourceNames() []string {
	var names []string
	for _, s := range sources {
		names = append(names, s.name)
	}
	return names
}

// sourceList lists the sources, with where each is available.
func sourceList() string {
	var list []string
	for _, s := range sources {
		list = append(list, "`"+s.name+"` ("+s.meaning+"; "+hostingNames[s.hosting]+")")
	}
	return strings.Join(list, ", ")
}

// deploymentFields describe a deployment (section 2.1), except its secrets, whose values Terraform keeps apart.
// Resource and data sources, requests and responses all follow from here.
var deploymentFields = field.Fields{
	{Name: "name", Kind: field.String{NotEmpty: true, Immutable: true, Shown: true}, Access: field.Required,
		Description: "Name of the deployment, and of the tracing project that the service creates with it."},
	{Name: "source", Kind: field.String{OneOf: sourceNames(), Immutable: true}, Access: field.Required,
		Description: "Where the application comes from: " + sourceList() + "."},
	{Name: "source_config", Kind: field.Object{Fields: sourceConfigFields, Present: true},
		Description: "Configuration that applies to all revisions: repository, URL, resources, volumes and sidecars."},
	{Name: "source_revision_config", Kind: field.Object{Fields: sourceRevisionConfigFields, Present: true},
		Description: "What the latest revision runs: ref, image or tarball.", Usage: "A change creates a new revision."},
	{Name: "secret_references", Kind: field.ObjectList{Fields: secretReferenceFields, Key: []string{"name"}},
		Description: "References to secrets of the container orchestrator.",
		Usage: "Supported only for source `external_docker`. On known services, the application receives them as " +
			"environment variables."},
	{Name: "id", Kind: field.UUID{}, Access: field.ReadOnly, Description: "ID of the deployment, a UUID."},
	{Name: "tenant_id", Kind: field.UUID{}, Access: field.ReadOnly,
		Description: "ID of the tenant that owns the deployment, a UUID."},
	{Name: "created_at", Kind: field.Time{}, Access: field.ReadOnly, Description: "Time of creation, in RFC 3339 format."},
	{Name: "updated_at", Kind: field.Time{}, Access: field.ReadOnly,
		Description: "Time of the last update, in RFC 3339 format."},
	{Name: "status", Kind: field.String{}, Access: field.ReadOnly,
		Description: "Status: `AWAITING_DATABASE`, `READY`, `UNUSED`, `AWAITING_DELETE` or `UNKNOWN`. Other values are " +
			"passed through."},
	{Name: "latest_revision_id", Kind: field.UUID{}, Access: field.ReadOnly,
		Description: "ID of the latest revision, a UUID, if there is one."},
	{Name: "active_revision_id", Kind: field.UUID{}, Access: field.ReadOnly,
		Description: "ID of the deployed revision, a UUID, if there is one."},
	{Name: "image_version", Kind: field.String{}, Access: field.ReadOnly,
		Description: "Image version, if the service reports one."},
}

// changeableFields are what a deployment can be changed in.
var changeableFields = deploymentFields.Without("name", "source")

// documentedFields are all members of a deployment that the API documents. Secrets are read by the client.
var documentedFields = slices.Concat(deploymentFields, field.Fields{{Name: "secrets", Kind: field.JSON{}}})

// additionalField is additional_properties of the resource: a JSON object that is merged into requests.
var additionalField = field.Field{Name: "additional_properties", Kind: field.JSON{Partial: true}}

// resourceFields are the attributes of the resource to which the rules of ownership apply.
var resourceFields = slices.Concat(deploymentFields, field.Fields{additionalField})

// updatableFields are what an update may change.
var updatableFields = slices.Concat(changeableFields, field.Fields{additionalField})

// sourceConfigFields are section 2.2.
var sourceConfigFields = field.Fields{
	{Name: "integration_id", Kind: field.UUID{},
		Description: "ID of the integration, a UUID.",
		Usage: "Applies to `codehost`. Use `host_integration_id` of the data source `graphdeploy_codehost_repo`; " +
			"see [Finding the integration ID](../guides/getting-started.md#finding-the-integration-id)."},
	{Name: "repo_url", Kind: field.String{Shown: true}, Description: "URL of the repository.",
		Usage: "Applies to `codehost`. Use `url` of the data source `graphdeploy_codehost_repo`."},
	{Name: "build_on_push", Kind: field.Bool{}, Description: "Whether a push to the repository builds a new revision.",
		Usage: "Applies to `codehost`."},
	{Name: "custom_url", Kind: field.String{}, Access: field.OptionalComputed,
		Description: "URL of the deployment.",
		Usage:       "Applies to `external_docker` on known services. Chosen by the service if omitted."},
	{Name: "resource_spec", Kind: field.Object{Fields: resourceSpecFields},
		Description: "Resources, metadata and additional containers of the deployment. Memory is in MB, storage in Gi.",
		Usage:       "Applies to `external_docker` on known services, which create a new revision when it changes."},
	{Name: "listener_id", Kind: field.UUID{}, Description: "ID of the listener, a UUID.",
		Usage: "Applies to `external_docker` on known services."},
	{Name: "listener_config", Kind: field.Object{Fields: listenerConfigFields}, Description: "Settings of the listener.",
		Usage: "Applies to `external_docker` on known services."},
	{Name: "install_command", Kind: field.String{}, Description: "Command that installs the dependencies of the build.",
		Usage: "Applies to JavaScript applications that the service builds."},
	{Name: "build_command", Kind: field.String{}, Description: "Command that builds the application.",
		Usage: "Applies to JavaScript applications that the service builds."},
}

var listenerConfigFields = field.Fields{
	{Name: "k8s_namespace", Kind: field.String{}, Description: "Kubernetes namespace to deploy to."},
}

// sourceRevisionConfigFields are section 2.3.
var sourceRevisionConfigFields = field.Fields{
	{Name: "repo_ref", Kind: field.String{Shown: true, ResolvesTo: "repo_commit_sha"},
		Description: "Branch, tag or commit to deploy.",
		Usage: "Applies to `codehost`. For example `default_branch` of the data source `graphdeploy_codehost_repo`. " +
			"Known services take a tag as `refs/tags/NAME`."},
	{Name: "graph_config_path", Kind: field.String{}, Description: "Path to the graph configuration file, such as " +
		"`graph.json`.",
		Usage: "Applies to `codehost` and `internal_source`."},
	{Name: "image_uri", Kind: field.String{Shown: true, BuiltFor: client.SourceCodehost}, Access: field.OptionalComputed,
		Description: "Image to run, such as `registry.example.com/shop:1.0`.",
		Usage: "For `codehost`, the service builds the image: omit this argument. For other sources, the service " +
			"chooses an image if you omit it."},
	{Name: "source_tarball_path", Kind: field.String{}, Description: "Path of the uploaded source.",
		Usage: "Applies to `internal_source`."},
	{Name: "repo_commit_sha", Kind: field.String{}, Access: field.ReadOnly, Description: "Commit of the latest revision."},
}

// resourceSpecFields are section 2.4, group by group.
var resourceSpecFields = field.Fields{
	{Name: "min_scale", Kind: field.Int64{}, Description: "Minimum number of API server instances."},
	{Name: "max_scale", Kind: field.Int64{}, Description: "Maximum number of API server instances."},
	{Name: "cpu", Kind: field.Float64{}, Description: "CPU request per API server.",
		Usage: "Known services accept 0.1 to 8, and round CPU values to one decimal."},
	{Name: "cpu_limit", Kind: field.Float64{}, Description: "CPU limit per API server."},
	{Name: "memory_mb", Kind: field.Int64{}, Description: "Memory request per API server, in MB."},
	{Name: "memory_limit_mb", Kind: field.Int64{}, Description: "Memory limit per API server, in MB."},

	{Name: "queue_min_scale", Kind: field.Int64{}, Description: "Minimum number of queue instances."},
	{Name: "queue_max_scale", Kind: field.Int64{}, Description: "Maximum number of queue instances."},
	{Name: "queue_cpu", Kind: field.Float64{}, Description: "CPU request per queue instance."},
	{Name: "queue_cpu_limit", Kind: field.Float64{}, Description: "CPU limit per queue instance."},
	{Name: "queue_memory_mb", Kind: field.Int64{}, Description: "Memory request per queue instance, in MB."},
	{Name: "queue_memory_limit_mb", Kind: field.Int64{}, Description: "Memory limit per queue instance, in MB."},

	{Name: "orchestrator_cpu", Kind: field.Float64{}, Description: "CPU request per orchestrator."},
	{Name: "orchestrator_cpu_limit", Kind: field.Float64{}, Description: "CPU limit per orchestrator."},
	{Name: "orchestrator_memory_mb", Kind: field.Int64{}, Description: "Memory request per orchestrator, in MB."},
	{Name: "orchestrator_memory_limit_mb", Kind: field.Int64{}, Description: "Memory limit per orchestrator, in MB."},
	{Name: "orchestrator_min_scale", Kind: field.Int64{}, Description: "Minimum number of orchestrator instances."},
	{Name: "orchestrator_max_scale", Kind: field.Int64{}, Description: "Maximum number of orchestrator instances."},

	{Name: "executor_cpu", Kind: field.Float64{}, Description: "CPU request per executor."},
	{Name: "executor_cpu_limit", Kind: field.Float64{}, Description: "CPU limit per executor."},
	{Name: "executor_memory_mb", Kind: field.Int64{}, Description: "Memory request per executor, in MB."},
	{Name: "executor_memory_limit_mb", Kind: field.Int64{}, Description: "Memory limit per executor, in MB."},

	{Name: "redis_cpu", Kind: field.Float64{}, Description: "CPU request of the cache."},
	{Name: "redis_cpu_limit", Kind: field.Float64{}, Description: "CPU limit of the cache."},
	{Name: "redis_memory_mb", Kind: field.Int64{}, Description: "Memory request of the cache, in MB."},
	{Name: "redis_memory_limit_mb", Kind: field.Int64{}, Description: "Memory limit of the cache, in MB."},

	{Name: "db_cpu", Kind: field.Float64{}, Description: "CPU request of the database."},
	{Name: "db_cpu_limit", Kind: field.Float64{}, Description: "CPU limit of the database."},
	{Name: "db_memory_mb", Kind: field.Int64{}, Description: "Memory request of the database, in MB."},
	{Name: "db_memory_limit_mb", Kind: field.Int64{}, Description: "Memory limit of the database, in MB."},
	{Name: "db_storage_gi", Kind: field.Int64{}, Description: "Storage of the database, in Gi."},
	{Name: "db_max_connections", Kind: field.Int64{}, Description: "Maximum number of database connections."},

	{Name: "labels", Kind: field.StringMap{}, Description: "Map of labels.",
		Usage: "Labels that the service or others add are kept."},
	{Name: "annotations", Kind: field.StringMap{}, Description: "Map of annotations.",
		Usage: "Annotations that the service or others add are kept."},
	{Name: "service_account_name", Kind: field.String{}, Description: "Kubernetes service account to run as."},

	{Name: "image_pull_secrets", Kind: field.ObjectList{Fields: imagePullSecretFields, Key: []string{"name"}},
		Description: "Kubernetes secrets to pull images with."},
	{Name: "volumes", Kind: field.ObjectList{Fields: volumeFields, Key: []string{"name"}},
		Description: "Volumes that containers can mount. Each has a name and one kind of volume."},
	{Name: "volume_mounts", Kind: field.ObjectList{Fields: volumeMountFields, Key: volumeMountKey},
		Description: "Volume mounts of the application."},
	{Name: "init_containers", Kind: field.ObjectList{Fields: containerFields, Key: []string{"name"}, Ordered: true},
		Description: "Containers that run one after the other, in this order, before the application starts."},
	{Name: "sidecars", Kind: field.ObjectList{Fields: containerFields, Key: []string{"name"}},
		Description: "Containers that run next to the application."},
}

var imagePullSecretFields = field.Fields{
	{Name: "name", Kind: field.String{}, Description: "Name of the secret."},
}

var volumeFields = field.Fields{
	{Name: "name", Kind: field.String{}, Description: "Name of the volume."},
	{Name: "config_map", Wire: "configMap", Kind: field.JSON{}, Exclusive: true,
		Description: "Kubernetes `configMap` volume."},
	{Name: "secret", Kind: field.JSON{}, Exclusive: true, Description: "Kubernetes `secret` volume."},
	{Name: "empty_dir", Wire: "emptyDir", Kind: field.JSON{}, Exclusive: true,
		Description: "Kubernetes `emptyDir` volume.",
		Usage:       "For one without settings, use `jsonencode({})`."},
	{Name: "persistent_volume_claim", Wire: "persistentVolumeClaim", Kind: field.JSON{}, Exclusive: true,
		Description: "Kubernetes `persistentVolumeClaim` volume."},
	{Name: "nfs", Kind: field.JSON{}, Exclusive: true, Description: "Kubernetes `nfs` volume."},
	{Name: "projected", Kind: field.JSON{}, Exclusive: true, Description: "Kubernetes `projected` volume."},
	{Name: "downward_api", Wire: "downwardAPI", Kind: field.JSON{}, Exclusive: true,
		Description: "Kubernetes `downwardAPI` volume."},
	{Name: "csi", Kind: field.JSON{}, Exclusive: true, Description: "Kubernetes `csi` volume."},
}

var volumeMountKey = []string{"name", "mount_path"}

var volumeMountFields = field.Fields{
	{Name: "name", Kind: field.String{}, Description: "Name of the volume."},
	{Name: "mount_path", Wire: "mountPath", Kind: field.String{},
		Description: "Path in the container where the volume is mounted."},
	{Name: "sub_path", Wire: "subPath", Kind: field.String{},
		Description: "Path within the volume to mount instead of its root."},
	{Name: "mount_propagation", Wire: "mountPropagation", Kind: field.String{},
		Description: "Kubernetes `mountPropagation`; not validated."},
	{Name: "read_only", Wire: "readOnly", Kind: field.Bool{}, Description: "Whether the mount is read-only."},
	{Name: "sub_path_expr", Wire: "subPathExpr", Kind: field.String{},
		Description: "Kubernetes `subPathExpr`: like `sub_path`, with environment variables expanded."},
}

var containerFields = field.Fields{
	{Name: "name", Kind: field.String{}, Description: "Name of the container."},
	{Name: "image", Kind: field.String{}, Description: "Image to run."},
	{Name: "image_pull_policy", Wire: "imagePullPolicy", Kind: field.String{},
		Description: "Kubernetes `imagePullPolicy`; not validated."},
	{Name: "command", Kind: field.List{Of: field.String{}}, Description: "Command to run instead of the entry point " +
		"of the image."},
	{Name: "args", Kind: field.List{Of: field.String{}}, Description: "Arguments of the command."},
	{Name: "working_dir", Wire: "workingDir", Kind: field.String{}, Description: "Working directory."},
	{Name: "env", Kind: field.ObjectList{Fields: envVarFields, Key: []string{"name"}, Ordered: true},
		Description: "Environment variables of this container. The order is kept: a variable may refer to those before it.",
		Usage:       "For those of the application, see `secrets` and `secret_references`."},
	{Name: "env_from", Wire: "envFrom", Kind: field.List{Of: field.JSON{}},
		Description: "Kubernetes `envFrom` sources, in order."},
	{Name: "resources", Kind: field.Object{Fields: containerResourcesFields}, Description: "Resources of the container."},
	{Name: "volume_mounts", Wire: "volumeMounts", Kind: field.ObjectList{Fields: volumeMountFields, Key: volumeMountKey},
		Description: "Volume mounts of the container."},
	{Name: "security_context", Wire: "securityContext", Kind: field.JSON{}, Description: "Kubernetes `securityContext`."},
	{Name: "restart_policy", Wire: "restartPolicy", Kind: field.String{},
		Description: "Kubernetes `restartPolicy`; not validated."},
}

var envVarFields = field.Fields{
	{Name: "name", Kind: field.String{}, Description: "Name of the variable."},
	{Name: "value", Kind: field.String{}, Exclusive: true, Sensitive: true,
		Description: "Value of the variable, stored in the state in plain text.",
		Usage:       "Use `secrets` for sensitive values."},
	{Name: "value_from", Wire: "valueFrom", Kind: field.JSON{}, Exclusive: true, Description: "Kubernetes `valueFrom`."},
}

var containerResourcesFields = field.Fields{
	{Name: "limits", Kind: field.JSON{}, Description: "Resource limits of the container."},
	{Name: "requests", Kind: field.JSON{}, Description: "Resource requests of the container."},
}

// secretReferenceFields are section 2.5.
var secretReferenceFields = field.Fields{
	{Name: "name", Kind: field.String{}, Description: "Name of the secret in the application."},
	{Name: "secret_name", Kind: field.String{}, Description: "Name of the secret in the orchestrator."},
	{Name: "secret_key", Kind: field.String{}, Description: "Key within that secret."},
}
