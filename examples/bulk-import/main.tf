# Takes over all deployments whose names contain a text, however many they are.
# A name and a source suffice: what else they have stays the service's to choose.

terraform {
  required_version = ">= 1.7" # for_each in import blocks, OpenTofu included

  required_providers {
    graphdeploy = {
      source = "graphdeploy/graphdeploy"
    }
  }
}

variable "base_url" {
  description = "Root of the service. The default is where `go run ./internal/cmd/fakeserver` listens."
  type        = string
  default     = "http://127.0.0.1:8080"
}

variable "name_contains" {
  description = "Which deployments to take over. The default, null, fits all."
  type        = string
  default     = null
}

provider "graphdeploy" {
  base_url = var.base_url
}

data "graphdeploy_deployments" "existing" {
  name_contains = var.name_contains
}

locals {
  # By name, so that the addresses say which deployment is meant.
  existing = {
    for d in data.graphdeploy_deployments.existing.deployments :
    d.name => { id = d.id, source = d.source }
  }
}

import {
  for_each = local.existing
  to       = graphdeploy_deployment.existing[each.key]
  id       = each.value.id
}

resource "graphdeploy_deployment" "existing" {
  for_each = local.existing
  name     = each.key
  source   = each.value.source

  # A deployment that the filter no longer finds leaves this configuration. It
  # must not be deleted for that, whatever the provider is allowed to do.
  deletion_policy = "abandon"
}

output "ids" {
  description = "What was taken over."
  value       = { for name, d in graphdeploy_deployment.existing : name => d.id }
}
