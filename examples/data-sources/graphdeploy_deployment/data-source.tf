data "graphdeploy_deployment" "shop" {
  name = "shop"
}

output "shop_status" {
  value = data.graphdeploy_deployment.shop.status
}
