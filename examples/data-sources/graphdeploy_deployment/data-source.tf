data "graphdeploy_deployment" "shop" {
  name = "shop"
}

output "shop_status" {
  value = data.graphdeploy_deployment.shop.status
}

# additional_properties contains what the service reports and the provider has no
# attribute for, here a property named url
output "shop_url" {
  value = try(jsondecode(data.graphdeploy_deployment.shop.additional_properties).url, null)
}
