# Reads and writes API fields without an argument.
# Here, the service accepts a deployment_type in source_config and reports it.

terraform {
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

# If the service requires a credential, set GRAPHDEPLOY_API_KEY.
provider "graphdeploy" {
  base_url = var.base_url
}

resource "graphdeploy_deployment" "reports" {
  name   = "reports"
  source = "external_docker"

  source_revision_config = {
    image_uri = "registry.example.com/reports:2.3"
  }

  # Merged into the request, with the API's own names. Do not put secrets here:
  # the value is stored in the state.
  additional_properties = jsonencode({
    source_config = { deployment_type = "prod" }
  })
}

# Contains every member of the response that has no attribute.
data "graphdeploy_deployment" "reports" {
  id = graphdeploy_deployment.reports.id
}

locals {
  without_an_attribute = try(jsondecode(data.graphdeploy_deployment.reports.additional_properties), {})
}

output "deployment_type" {
  description = "Type of the deployment, as the service reports it. Null if it does not."
  value       = try(local.without_an_attribute.source_config.deployment_type, null)
}
