# Deployments of a team, through a module that knows what is sensible for all
# of them.

terraform {
  required_version = ">= 1.11" # for secrets_wo, OpenTofu included

  required_providers {
    graphdeploy = {
      source = "graphdeploy/graphdeploy"
    }
  }
}

# A credential comes from GRAPHDEPLOY_API_KEY, where the service asks for one.
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
  secrets_version = 1
}

module "indexer" {
  source = "./modules/deployment"

  team        = "search"
  name        = "indexer"
  image       = "registry.example.com/search-indexer:1.9"
  environment = var.environment
}
