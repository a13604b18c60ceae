data "graphdeploy_codehost_repo" "shop" {
  integration_id = "6f2c8a9e-3b1d-4c7f-9a52-0d8e4b6f1c37"
  owner          = "acme"
  name           = "shop"
}

resource "graphdeploy_deployment" "shop" {
  name   = "shop"
  source = "codehost"

  source_config = {
    integration_id = data.graphdeploy_codehost_repo.shop.host_integration_id
    repo_url       = data.graphdeploy_codehost_repo.shop.url
    build_on_push  = true # each push to the branch builds a new revision
  }
  source_revision_config = {
    repo_ref          = data.graphdeploy_codehost_repo.shop.default_branch
    graph_config_path = "graph.json"
  }
}
