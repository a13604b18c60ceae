# Passes a secret from a secret manager to a deployment. The value is never
# stored in state or plan, but its version is. If the version in the secret
# manager changes, the next apply sends the new value.

terraform {
  required_version = ">= 1.11" # Terraform or OpenTofu: write-only arguments

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

resource "graphdeploy_deployment" "payments" {
  name   = "payments"
  source = "external_docker"

  source_revision_config = {
    image_uri = "registry.example.com/payments:7.3"
  }

  secrets_wo         = { PAYMENT_KEY = var.payment_key }
  secrets_wo_version = var.payment_key_version
}
