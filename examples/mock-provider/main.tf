# One deployment for each repository in a list. The tests use a mock of the
# provider, so they need neither a service nor a credential.

terraform {
  required_version = ">= 1.7" # Terraform 1.7 or OpenTofu 1.8: mocks in tests

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

variable "integration_id" {
  description = "ID of the code-host integration. The default exists in the fake service."
  type        = string
  default     = "11111111-2222-4333-8444-555555555555"
}

variable "owner" {
  description = "Owner of the repositories."
  type        = string
  default     = "acme"
}

variable "repositories" {
  description = "Names of the repositories to deploy."
  type        = set(string)
  default     = ["storefront", "docs"]
}

# If the service requires a credential, set GRAPHDEPLOY_API_KEY.
provider "graphdeploy" {
  base_url = var.base_url
}

data "graphdeploy_codehost_repo" "this" {
  for_each = var.repositories

  integration_id = var.integration_id
  owner          = var.owner
  name           = each.key
}

resource "graphdeploy_deployment" "this" {
  for_each = data.graphdeploy_codehost_repo.this

  name   = "${var.owner}-${each.key}"
  source = "codehost"

  source_config = {
    integration_id = each.value.host_integration_id
    repo_url       = each.value.url
  }
  source_revision_config = {
    repo_ref          = each.value.default_branch
    graph_config_path = "graph.json"
  }
}

output "ids" {
  description = "IDs of the deployments, by repository."
  value       = { for name, d in graphdeploy_deployment.this : name => d.id }
}
