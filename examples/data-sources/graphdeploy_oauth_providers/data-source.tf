data "graphdeploy_oauth_providers" "all" {}

output "oauth_provider_names" {
  value = data.graphdeploy_oauth_providers.all.oauth_providers[*].name
}

data "graphdeploy_oauth_providers" "calendar" {
  provider_id = "calendar"
}
