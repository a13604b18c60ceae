terraform {
  required_providers {
    graphdeploy = {
      source = "graphdeploy/graphdeploy"
    }
  }
}

# A credential comes from GRAPHDEPLOY_API_KEY, where the service asks for one.
provider "graphdeploy" {
  base_url = var.base_url
}

# An application that the service builds from a repository. The data source
# finds the repository, so that its URL and branch need not be written down.
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

    # What is left out here, memory_mb for example, is for the service to choose.
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

  # An apply that waited in vain ends with a warning. This makes it an error,
  # so that nothing that needs the deployment goes ahead without it.
  lifecycle {
    postcondition {
      condition     = self.status == "READY"
      error_message = "The deployment is ${self.status}, not READY."
    }
  }
}

# An application from an image, with secrets, a volume, and a container beside
# it that ships the logs. A service offers this source where it is self-hosted,
# and codehost where it is in the cloud; the fake one has both.
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

data "graphdeploy_oauth_providers" "all" {}
