data "graphdeploy_oauth_providers" "all" {}

data "graphdeploy_oauth_providers" "calendar" {
  provider_id = "calendar"
}

output "oauth_provider_names" {
  value = data.graphdeploy_oauth_providers.all.oauth_providers[*].name
}
