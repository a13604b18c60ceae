list "graphdeploy_deployment" "shop" {
  provider = graphdeploy
  limit    = 200

  config {
    name_contains   = "shop"
    deployment_type = "prod"
  }
}
