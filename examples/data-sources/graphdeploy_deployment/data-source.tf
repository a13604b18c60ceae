data "graphdeploy_deployment" "shop" {
  name = "shop"
}

output "shop_status" {
  value = data.graphdeploy_deployment.shop.status
}

# A member of the response that the provider has no attribute for, if the
# service reports one with this name
output "shop_url" {
  value = try(jsondecode(data.graphdeploy_deployment.shop.additional_properties).url, null)
}
