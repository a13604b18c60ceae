package provider

import (
	"github.com/graphdeploy/terraform-provider-graphdeploy/internal/client"
	"github.com/graphdeploy/terraform-provider-graphdeploy/internal/field"
)

// sources are the sources that the interface names, with what they mean.
var sources = []struct {
	name, meaning string
	hosting       string // the only one where it is available
}{
	{client.SourceCodehost, "a repository of the code host", hostingCloud},
	{client.SourceExternalDocker, "an image from any registry", hostingSelfHosted},
	{client.SourceInternalDocker, "an image pushed by the command-line tool", hostingCloud},
	{client.SourceInternalSource, "uploaded source", hostingCloud},
	{client.SourceInternalTemplate, "a prebuilt template", hostingCloud},
}

func sourceNames() []string {
	var names []string
	for _, s := range sources {
		names = append(names, s.name)
	}
	return names
}

// sourceMeanings says in words what each source is and where it is available.
func sourceMeanings() string {
	words := "Where the application comes from:"
	for i, s := range sources {
		if i > 0 {
			words += ","
		}
		words += " `" + s.name + "` " + s.meaning + " (" + hostingWords[s.hosting] + ")"
	}
	return words + "."
}

// deploymentFields describe a deployment as the interface shows it (section
// 2.1), but for its secrets, whose values Terraform keeps apart. Resource and
// data sources, requests and responses all follow from here.
var deploymentFields = field.Fields{
	{Name: "name", Kind: field.Text, Access: field.Required, NotEmpty: true, Immutable: true,
		Doc: "Name of the deployment, and of the tracing project that the service creates with it. Which names the service takes is not documented."},
	{Name: "source", Kind: field.Text, Access: field.Required, OneOf: sourceNames(), Immutable: true,
		Doc: sourceMeanings()},
	{Name: "source_config", Kind: field.Object, Fields: sourceConfigFields,
		Doc: "Settings of the source that take effect without a new revision. Which of them a source needs or refuses is not documented: the service decides."},
	{Name: "source_revision_config", Kind: field.Object, Fields: sourceRevisionConfigFields,
		Doc: "Settings of the source that need a new revision when changed; the values shown are those of the latest revision. Which of them a source needs or refuses is not documented: the service decides."},
	{Name: "secret_references", Kind: field.Objects, Fields: secretReferenceFields, Key: []string{"name"},
		Doc: "References to secrets of the container orchestrator, for source `external_docker` only. Which of its fields are required is not documented."},
	{Name: "id", Kind: field.UUID, Access: field.ReadOnly,
		Doc: "Id of the deployment, a UUID."},
	{Name: "tenant_id", Kind: field.UUID, Access: field.ReadOnly,
		Doc: "Id of the owner of the deployment, a UUID."},
	{Name: "created_at", Kind: field.Time, Access: field.ReadOnly,
		Doc: "When the deployment was created, in RFC 3339."},
	{Name: "updated_at", Kind: field.Time, Access: field.ReadOnly,
		Doc: "When the deployment was last changed, in RFC 3339."},
	{Name: "status", Kind: field.Text, Access: field.ReadOnly,
		Doc: "Status of the deployment: `AWAITING_DATABASE`, `READY`, `UNUSED`, `AWAITING_DELETE`, `UNKNOWN`, or one that this provider does not know. Transitions are not documented."},
	{Name: "latest_revision_id", Kind: field.UUID, Access: field.ReadOnly,
		Doc: "Id of the latest revision, a UUID; null when there is none yet."},
	{Name: "active_revision_id", Kind: field.UUID, Access: field.ReadOnly,
		Doc: "Id of the revision that is deployed, a UUID; null when there is none yet."},
	{Name: "image_version", Kind: field.Text, Access: field.ReadOnly,
		Doc: "Version of the deployment's image; null where the service does not say."},
}

// changeableFields are what a change of a deployment can be about.
var changeableFields = deploymentFields.Without("name", "source")

// sourceConfigFields are section 2.2.
var sourceConfigFields = field.Fields{
	{Name: "integration_id", Kind: field.UUID, Doc: "Code-host integration, a UUID: the `host_integration_id` of a `graphdeploy_codehost_repo`."},
	{Name: "repo_url", Kind: field.Text, Doc: "Repository to deploy: the `url` of a `graphdeploy_codehost_repo`."},
	{Name: "build_on_push", Kind: field.Flag, Doc: "Whether a push to the repository builds a new revision."},
	{Name: "custom_url", Kind: field.Text, Doc: "URL to serve the deployment at. Which URLs the service takes is not documented."},
	{Name: "resource_spec", Kind: field.Object, Fields: resourceSpecFields, Doc: "What the deployment may use of the machine, and what runs beside it. CPU takes fractions, other numbers are whole. Units, bounds and defaults are not documented: the names alone say that memory is in MB and storage in Gi, and not whether a MB is 1,000 or 1,024 KB."},
	{Name: "listener_id", Kind: field.UUID, Doc: "Listener that the deployment belongs to, a UUID. The interface has nothing else about listeners."},
	{Name: "listener_config", Kind: field.Object, Fields: listenerConfigFields, Doc: "Settings of the listener."},
	{Name: "install_command", Kind: field.Text, Doc: "Command that installs what the build needs."},
	{Name: "build_command", Kind: field.Text, Doc: "Command that builds the application."},
}

var listenerConfigFields = field.Fields{
	{Name: "k8s_namespace", Kind: field.Text, Doc: "Kubernetes namespace to deploy to."},
}

// sourceRevisionConfigFields are section 2.3.
var sourceRevisionConfigFields = field.Fields{
	{Name: "repo_ref", Kind: field.Text, ResolvesTo: "repo_commit_sha", Doc: "Branch, tag or commit to deploy: the `default_branch` of a `graphdeploy_codehost_repo`, for example. A service that reports the commit in its place causes no difference."},
	{Name: "graph_config_path", Kind: field.Text, Doc: "Path of the application's configuration file. What it begins at is not documented."},
	{Name: "image_uri", Kind: field.Text, Doc: "Image to run, such as `registry.example.com/shop:1.0`. For source `codehost` the service reports the image that it built, a new one after each revision."},
	{Name: "source_tarball_path", Kind: field.Text, Doc: "Path of the uploaded source. How source is uploaded is not documented."},
	{Name: "repo_commit_sha", Kind: field.Text, Access: field.ReadOnly, Doc: "Commit of the latest revision."},
}

// resourceSpecFields are section 2.4, group by group.
var resourceSpecFields = field.Fields{
	{Name: "min_scale", Kind: field.Whole, Doc: "Minimum number of instances of the API server."},
	{Name: "max_scale", Kind: field.Whole, Doc: "Maximum number of instances of the API server."},
	{Name: "cpu", Kind: field.Number, Doc: "CPU that an API server requests."},
	{Name: "cpu_limit", Kind: field.Number, Doc: "CPU limit of an API server."},
	{Name: "memory_mb", Kind: field.Whole, Doc: "Memory that an API server requests, in MB."},
	{Name: "memory_limit_mb", Kind: field.Whole, Doc: "Memory limit of an API server, in MB."},

	{Name: "queue_min_scale", Kind: field.Whole, Doc: "Minimum number of instances of the queue."},
	{Name: "queue_max_scale", Kind: field.Whole, Doc: "Maximum number of instances of the queue."},
	{Name: "queue_cpu", Kind: field.Number, Doc: "CPU that a queue instance requests."},
	{Name: "queue_cpu_limit", Kind: field.Number, Doc: "CPU limit of a queue instance."},
	{Name: "queue_memory_mb", Kind: field.Whole, Doc: "Memory that a queue instance requests, in MB."},
	{Name: "queue_memory_limit_mb", Kind: field.Whole, Doc: "Memory limit of a queue instance, in MB."},

	{Name: "orchestrator_cpu", Kind: field.Number, Doc: "CPU that an orchestrator requests."},
	{Name: "orchestrator_cpu_limit", Kind: field.Number, Doc: "CPU limit of an orchestrator."},
	{Name: "orchestrator_memory_mb", Kind: field.Whole, Doc: "Memory that an orchestrator requests, in MB."},
	{Name: "orchestrator_memory_limit_mb", Kind: field.Whole, Doc: "Memory limit of an orchestrator, in MB."},
	{Name: "orchestrator_min_scale", Kind: field.Whole, Doc: "Minimum number of instances of the orchestrator."},
	{Name: "orchestrator_max_scale", Kind: field.Whole, Doc: "Maximum number of instances of the orchestrator."},

	{Name: "executor_cpu", Kind: field.Number, Doc: "CPU that an executor requests."},
	{Name: "executor_cpu_limit", Kind: field.Number, Doc: "CPU limit of an executor."},
	{Name: "executor_memory_mb", Kind: field.Whole, Doc: "Memory that an executor requests, in MB."},
	{Name: "executor_memory_limit_mb", Kind: field.Whole, Doc: "Memory limit of an executor, in MB."},

	{Name: "redis_cpu", Kind: field.Number, Doc: "CPU that the cache requests."},
	{Name: "redis_cpu_limit", Kind: field.Number, Doc: "CPU limit of the cache."},
	{Name: "redis_memory_mb", Kind: field.Whole, Doc: "Memory that the cache requests, in MB."},
	{Name: "redis_memory_limit_mb", Kind: field.Whole, Doc: "Memory limit of the cache, in MB."},

	{Name: "db_cpu", Kind: field.Number, Doc: "CPU that the database requests."},
	{Name: "db_cpu_limit", Kind: field.Number, Doc: "CPU limit of the database."},
	{Name: "db_memory_mb", Kind: field.Whole, Doc: "Memory that the database requests, in MB."},
	{Name: "db_memory_limit_mb", Kind: field.Whole, Doc: "Memory limit of the database, in MB."},
	{Name: "db_storage_gi", Kind: field.Whole, Doc: "Storage of the database, in Gi."},
	{Name: "db_max_connections", Kind: field.Whole, Doc: "Maximum number of connections to the database."},

	{Name: "labels", Kind: field.TextMap, Doc: "Labels of what runs, from name to value. Those that the service adds stay its own."},
	{Name: "annotations", Kind: field.TextMap, Doc: "Annotations of what runs, from name to value. Those that the service adds stay its own."},
	{Name: "service_account_name", Kind: field.Text, Doc: "Service account to run as."},

	{Name: "image_pull_secrets", Kind: field.Objects, Fields: imagePullSecretFields, Key: []string{"name"}, Doc: "Secrets of the container orchestrator to pull images with. Their order has no meaning."},
	{Name: "volumes", Kind: field.Objects, Fields: volumeFields, Key: []string{"name"}, Doc: "Volumes that containers can mount, each with its name and one of the other attributes. Their order has no meaning."},
	{Name: "volume_mounts", Kind: field.Objects, Fields: volumeMountFields, Key: volumeMountKey, Doc: "Where the application mounts volumes. Their order has no meaning."},
	{Name: "init_containers", Kind: field.Objects, Fields: containerFields, Key: []string{"name"}, Ordered: true, Doc: "Containers that run, one after the other in this order, before the application starts."},
	{Name: "sidecars", Kind: field.Objects, Fields: containerFields, Key: []string{"name"}, Doc: "Containers that run beside the application. Their order has no meaning."},
}

var imagePullSecretFields = field.Fields{
	{Name: "name", Kind: field.Text, Doc: "Name of the secret."},
}

var volumeFields = field.Fields{
	{Name: "name", Kind: field.Text, Doc: "Name of the volume, for `volume_mounts`."},
	{Name: "config_map", Wire: "configMap", Kind: field.JSON, Doc: "A config map as a volume."},
	{Name: "secret", Kind: field.JSON, Doc: "A secret as a volume."},
	{Name: "empty_dir", Wire: "emptyDir", Kind: field.JSON, Doc: "An empty directory that lives as long as the instance; `jsonencode({})` for one without settings."},
	{Name: "persistent_volume_claim", Wire: "persistentVolumeClaim", Kind: field.JSON, Doc: "A persistent volume claim as a volume."},
	{Name: "nfs", Kind: field.JSON, Doc: "An NFS export as a volume."},
	{Name: "projected", Kind: field.JSON, Doc: "Several sources projected into one volume."},
	{Name: "downward_api", Wire: "downwardAPI", Kind: field.JSON, Doc: "What is known of the instance itself, as a volume."},
	{Name: "csi", Kind: field.JSON, Doc: "A volume of a storage driver."},
}

var volumeMountKey = []string{"name", "mount_path"}

var volumeMountFields = field.Fields{
	{Name: "name", Kind: field.Text, Doc: "Name of the volume."},
	{Name: "mount_path", Wire: "mountPath", Kind: field.Text, Doc: "Where to mount it."},
	{Name: "sub_path", Wire: "subPath", Kind: field.Text, Doc: "Path within the volume to mount instead of its root."},
	{Name: "mount_propagation", Wire: "mountPropagation", Kind: field.Text, Doc: "How mounts propagate between host and container. The values are not documented."},
	{Name: "read_only", Wire: "readOnly", Kind: field.Flag, Doc: "Whether the mount is read-only."},
	{Name: "sub_path_expr", Wire: "subPathExpr", Kind: field.Text, Doc: "Like `sub_path`, with environment variables expanded."},
}

var containerFields = field.Fields{
	{Name: "name", Kind: field.Text, Doc: "Name of the container."},
	{Name: "image", Kind: field.Text, Doc: "Image to run."},
	{Name: "image_pull_policy", Wire: "imagePullPolicy", Kind: field.Text, Doc: "When to pull the image. The values are not documented."},
	{Name: "command", Kind: field.List, Elem: field.Text, Doc: "Command to run in place of the image's entry point, word by word."},
	{Name: "args", Kind: field.List, Elem: field.Text, Doc: "Arguments of the command, one by one."},
	{Name: "working_dir", Wire: "workingDir", Kind: field.Text, Doc: "Directory to run in."},
	{Name: "env", Kind: field.Objects, Fields: envVarFields, Key: []string{"name"}, Ordered: true, Doc: "Environment variables. Their order is kept: one may refer to those before it."},
	{Name: "env_from", Wire: "envFrom", Kind: field.List, Elem: field.JSON, Doc: "Sources of many environment variables, in their order."},
	{Name: "resources", Kind: field.Object, Fields: containerResourcesFields, Doc: "What the container may use."},
	{Name: "volume_mounts", Wire: "volumeMounts", Kind: field.Objects, Fields: volumeMountFields, Key: volumeMountKey, Doc: "Where the container mounts volumes. Their order has no meaning."},
	{Name: "security_context", Wire: "securityContext", Kind: field.JSON, Doc: "Security settings of the container."},
	{Name: "restart_policy", Wire: "restartPolicy", Kind: field.Text, Doc: "When the container is started again. The values are not documented."},
}

var envVarFields = field.Fields{
	{Name: "name", Kind: field.Text, Doc: "Name of the variable."},
	{Name: "value", Kind: field.Text, Hidden: true, Doc: "Value of the variable. It stands in plan and state, and no message shows it: keep secrets in `secrets`."},
	{Name: "value_from", Wire: "valueFrom", Kind: field.JSON, Doc: "Where the value comes from instead."},
}

var containerResourcesFields = field.Fields{
	{Name: "limits", Kind: field.JSON, Doc: "Resource limits of the container."},
	{Name: "requests", Kind: field.JSON, Doc: "Resources that the container requests."},
}

// secretReferenceFields are section 2.5.
var secretReferenceFields = field.Fields{
	{Name: "name", Kind: field.Text, Doc: "Name of the secret as the application sees it."},
	{Name: "secret_name", Kind: field.Text, Doc: "Name of the secret in the orchestrator."},
	{Name: "secret_key", Kind: field.Text, Doc: "Key within that secret."},
}
