# What a team sets of a deployment is its name, its image and how large it is.
# The rest is decided here, for all teams.

terraform {
  required_version = ">= 1.11" # for secrets_wo, OpenTofu included

  required_providers {
    graphdeploy = {
      source = "graphdeploy/graphdeploy"
    }
  }
}

locals {
  # Memory of an instance in MB, and its CPU.
  sizes = {
    small  = { cpu = 0.25, memory_mb = 512 }
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
      # Production runs twice at least, so that one instance may fail.
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

  # Production is not deleted from here, whatever the provider is allowed to do.
  deletion_policy = local.production ? "abandon" : null
}
