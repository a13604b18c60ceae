terraform {
  required_providers {
    graphdeploy = {
      source = "graphdeploy/graphdeploy"
    }
  }
}

# If the service requires a credential, set GRAPHDEPLOY_API_KEY.
provider "graphdeploy" {
  base_url = var.base_url
}

# An application that the service builds from a repository. The data source
# provides the repository's URL and default branch.
data "graphdeploy_codehost_repo" "agent" {
  integration_id = var.integration_id
  owner          = "acme"
  name           = "agent-api"
}

resource "graphdeploy_deployment" "agent" {
  name   = "agent-api"
  source = "codehost"

  source_config = {
    integration_id = data.graphdeploy_codehost_repo.agent.host_integration_id
    repo_url       = data.graphdeploy_codehost_repo.agent.url
    build_on_push  = true

    # The service chooses the values of omitted arguments, such as memory_mb.
    resource_spec = {
      min_scale = 1
      max_scale = 3
      cpu       = 0.5
    }
  }
  source_revision_config = {
    repo_ref          = data.graphdeploy_codehost_repo.agent.default_branch
    graph_config_path = "graph.json"
  }

  # If a new deployment is not ready in time, the apply ends with a warning. This
  # postcondition makes it an error, so nothing that depends on it is created.
  lifecycle {
    postcondition {
      condition     = self.status == "UNUSED" || self.status == "READY" && self.active_revision_id == self.latest_revision_id
      error_message = "Deployment ${self.name} is not ready (status ${self.status}), or its latest revision does not run."
    }
  }
}

# An application from a container image, with secrets, volumes and a sidecar
# that ships its logs. Self-hosted services support the source external_docker,
# and cloud services support codehost. The fake service supports both.
resource "graphdeploy_deployment" "worker" {
  name   = "worker"
  source = "external_docker"

  source_config = {
    resource_spec = {
      memory_mb = 1024
      labels    = { team = "search" }

      volumes = [
        { name = "logs", empty_dir = jsonencode({ sizeLimit = "1Gi" }) },
        { name = "settings", config_map = jsonencode({ name = "worker-settings" }) },
      ]
      volume_mounts = [
        { name = "logs", mount_path = "/var/log/worker" },
        { name = "settings", mount_path = "/etc/worker", read_only = true },
      ]
      sidecars = [
        {
          name    = "log-shipper"
          image   = "registry.example/log-shipper:2.1"
          args    = ["--from", "/logs"]
          env     = [{ name = "LEVEL", value = "info" }]
          command = ["/bin/ship"]
          resources = {
            limits   = jsonencode({ cpu = "100m", memory = "64Mi" })
            requests = jsonencode({ cpu = "50m", memory = "32Mi" })
          }
          volume_mounts = [{ name = "logs", mount_path = "/logs", read_only = true }]
        },
      ]
    }
  }
  source_revision_config = {
    image_uri = "registry.example/worker:1.0"
  }

  secrets = {
    QUEUE_TOKEN = var.queue_token
  }

  wait_until = "active"
  timeouts = {
    create = "10m"
  }
}

# The resource contains only what is configured above. The data source contains
# everything that the service reports, including its defaults.
data "graphdeploy_deployment" "worker" {
  id = graphdeploy_deployment.worker.id
}

data "graphdeploy_oauth_providers" "all" {}
