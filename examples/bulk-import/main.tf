# Imports all deployments whose names contain a given text. The configuration
# sets only name, source and deletion_policy, and manages no other argument.

terraform {
  required_version = ">= 1.7" # Terraform or OpenTofu: for_each in import blocks

  required_providers {
    graphdeploy = {
      source = "graphdeploy/graphdeploy"
    }
  }
}

variable "base_url" {
  description = "Root URL of the API. The default is the address of `make fakeserver`."
  type        = string
  default     = "http://127.0.0.1:8080"
}

variable "name_contains" {
  description = "Import deployments whose names contain this text. Defaults to all deployments."
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
  # Keyed by name, so that each resource address names its deployment.
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

  # If a deployment no longer matches the filter, Terraform destroys the resource.
  # The deployment must keep running.
  deletion_policy = "abandon"
}

output "ids" {
  description = "IDs of the imported deployments, by name."
  value       = { for name, d in graphdeploy_deployment.existing : name => d.id }
}
