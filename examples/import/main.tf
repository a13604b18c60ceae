# Existing deployments to import with `terraform import`. The configuration needs
# only name and source, and manages only the arguments that it sets.

terraform {
  required_providers {
    graphdeploy = {
      source = "graphdeploy/graphdeploy"
    }
  }
}

variable "base_url" {
  type    = string
  default = "http://127.0.0.1:8080"
}

provider "graphdeploy" {
  base_url = var.base_url
}

resource "graphdeploy_deployment" "legacy_bot" {
  name   = "legacy-bot"
  source = "external_docker"
}

resource "graphdeploy_deployment" "agent" {
  name   = "agent-api"
  source = "codehost"

  source_revision_config = {
    repo_ref = "main"
  }
}
