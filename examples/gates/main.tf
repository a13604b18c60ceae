# Two gates for a pipeline. The postcondition fails the apply if the deployment
# is not ready, and nothing that depends on it is created. The check only warns,
# in plans and applies, about deployments that another configuration manages.

terraform {
  required_providers {
    graphdeploy = {
      source = "graphdeploy/graphdeploy"
    }
  }
}

provider "graphdeploy" {
  base_url = var.base_url
}

resource "graphdeploy_deployment" "search" {
  name       = var.name
  source     = "external_docker"
  wait_until = "active"

  source_revision_config = {
    image_uri = "registry.example.com/search:2.0"
  }

  # If a new deployment is not ready in time, the apply ends with a warning. The
  # postcondition makes it an error. The deployment stays in the state, untainted.
  timeouts = {
    create = var.time_to_be_ready
    update = var.time_to_be_ready
  }
  lifecycle {
    postcondition {
      condition     = self.status == "UNUSED" || self.status == "READY" && self.active_revision_id == self.latest_revision_id
      error_message = "Deployment ${self.name} is not ready (status ${self.status}), or its latest revision does not run."
    }
  }
}

# Depends on search, so it is created only after search is ready.
resource "graphdeploy_deployment" "assistant" {
  name   = "assistant"
  source = "external_docker"

  source_revision_config = {
    image_uri = "registry.example.com/assistant:5.1"
  }

  depends_on = [graphdeploy_deployment.search]
}

# Deployments that another configuration manages. The data source is outside the
# check on purpose: inside, Terraform plans to read it again at apply, and
# `terraform plan -detailed-exitcode` always exits with 2.
data "graphdeploy_deployment" "watched" {
  for_each = var.watched
  name     = each.key
}

locals {
  not_ready = [
    for d in data.graphdeploy_deployment.watched :
    "${d.name} (${d.status})" if !contains(["READY", "UNUSED"], d.status)
  ]
}

check "watched_are_ready" {
  assert {
    condition     = length(local.not_ready) == 0
    error_message = "Not ready: ${join(", ", local.not_ready)}."
  }
}
