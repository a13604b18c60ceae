resource "graphdeploy_deployment" "shop" {
  name   = "shop"
  source = "external_docker"

  source_revision_config = {
    image_uri = "registry.example.com/shop:latest"
  }
}

action "graphdeploy_redeploy" "shop" {
  config {
    id = graphdeploy_deployment.shop.id
  }
}
