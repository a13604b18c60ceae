data "graphdeploy_deployments" "production" {
  name_contains   = "shop"
  deployment_type = "prod"
}

output "images" {
  value = {
    for d in data.graphdeploy_deployments.production.deployments :
    d.name => d.source_revision_config.image_uri
  }
}
