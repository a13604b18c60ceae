data "graphdeploy_codehost_repos" "acme" {
  integration_id = "6f2c8a9e-3b1d-4c7f-9a52-0d8e4b6f1c37"
  owner          = "acme"
}

# One deployment for each repository of the owner
resource "graphdeploy_deployment" "acme" {
  for_each = { for r in data.graphdeploy_codehost_repos.acme.repos : r.name => r }

  name   = "acme-${each.key}"
  source = "codehost"

  source_config = {
    integration_id = each.value.host_integration_id
    repo_url       = each.value.url
  }
  source_revision_config = {
    repo_ref          = each.value.default_branch
    graph_config_path = "graph.json"
  }
}

output "urls" {
  value = { for r in data.graphdeploy_codehost_repos.acme.repos : r.name => r.url }
}
