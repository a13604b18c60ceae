data "graphdeploy_codehost_repos" "acme" {
  integration_id = "6f2c8a9e-3b1d-4c7f-9a52-0d8e4b6f1c37"
  owner          = "acme"
}

output "urls" {
  value = { for r in data.graphdeploy_codehost_repos.acme.repos : r.name => r.url }
}
