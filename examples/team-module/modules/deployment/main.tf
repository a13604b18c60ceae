# Teams set the name, image and size of a deployment. This module sets the
# defaults and limits for all teams.

terraform {
  required_version = ">= 1.11" # Terraform or OpenTofu: write-only arguments

  required_providers {
    graphdeploy = {
      source = "graphdeploy/graphdeploy"
    }
  }
}

locals {
  # Requests of one API server instance.
  sizes = {
    small  = { cpu = 0.3, memory_mb = 512 }
    medium = { cpu = 0.5, memory_mb = 1024 }
    large  = { cpu = 2, memory_mb = 4096 }
  }
  size       = local.sizes[var.size]
  production = var.environment == "prod"
}

resource "graphdeploy_deployment" "this" {
  name   = local.production ? "${var.team}-${var.name}" : "${var.team}-${var.name}-${var.environment}"
  source = "external_docker"

  source_revision_config = {
    image_uri = var.image
  }
  source_config = {
    resource_spec = {
      # Production has at least two instances, so that one can fail.
      min_scale       = local.production ? 2 : 1
      max_scale       = var.max_scale
      cpu             = local.size.cpu
      cpu_limit       = 2 * local.size.cpu
      memory_mb       = local.size.memory_mb
      memory_limit_mb = 2 * local.size.memory_mb

      labels             = merge(var.labels, { team = var.team, environment = var.environment })
      image_pull_secrets = [{ name = "registry-credentials" }]
    }
  }

  secrets_wo         = length(var.secrets) > 0 ? var.secrets : null
  secrets_wo_version = var.secrets_version

  wait_until = "active"

  # Destroying or replacing production is an error.
  deletion_policy = local.production ? "prevent" : null
}
