data "graphdeploy_codehost_repo" "shop" {
  integration_id = "6f2c8a9e-3b1d-4c7f-9a52-0d8e4b6f1c37"
  owner          = "acme"
  name           = "shop"
}

output "default_branch" {
  value = data.graphdeploy_codehost_repo.shop.default_branch
}
