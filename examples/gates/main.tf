# Two gates for a pipeline. The postcondition stops what comes after a
# deployment that is not ready. The check stops nothing by itself: it says in
# plan and apply how other deployments are.

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

  # At this limit the apply ends with a warning. The postcondition makes it an
  # error, and keeps the deployment in the state, untainted.
  timeouts = {
    create = var.time_to_be_ready
    update = var.time_to_be_ready
  }
  lifecycle {
    postcondition {
      condition     = contains(["READY", "UNUSED"], self.status) && self.active_revision_id == self.latest_revision_id
      error_message = "Deployment ${self.name} is ${self.status}. What needs it was not touched."
    }
  }
}

# Needs the search, and is not created before that is ready.
resource "graphdeploy_deployment" "assistant" {
  name   = "assistant"
  source = "external_docker"

  source_revision_config = {
    image_uri = "registry.example.com/assistant:5.1"
  }

  depends_on = [graphdeploy_deployment.search]
}

# Deployments that another configuration makes. They stand outside the check on
# purpose: inside it, Terraform plans to read them once more at apply, and
# `terraform plan -detailed-exitcode` says 2 each time.
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
