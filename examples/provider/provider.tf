terraform {
  required_providers {
    graphdeploy = {
      source = "graphdeploy/graphdeploy"
    }
  }
}

# Set the credential in the environment variable GRAPHDEPLOY_API_KEY.
provider "graphdeploy" {
  base_url = "https://deploy.example.com/api"
}

resource "graphdeploy_deployment" "hello" {
  name   = "hello"
  source = "external_docker"

  source_revision_config = {
    image_uri = "registry.example.com/hello:1.0"
  }
}
