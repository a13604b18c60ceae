# Deployments of one team, created with a shared module that sets the defaults
# and limits for all teams.

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

module "api" {
  source = "./modules/deployment"

  team            = "search"
  name            = "api"
  image           = "registry.example.com/search-api:4.2"
  environment     = var.environment
  size            = "medium"
  max_scale       = 8
  labels          = { tier = "frontend" }
  secrets         = { INDEX_KEY = var.index_key }
  secrets_version = "1"
}

module "indexer" {
  source = "./modules/deployment"

  team        = "search"
  name        = "indexer"
  image       = "registry.example.com/search-indexer:1.9"
  environment = var.environment
}
