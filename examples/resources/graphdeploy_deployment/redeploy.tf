variable "commit" {
  description = "Commit that the pipeline runs for: TF_VAR_commit."
  type        = string
}

resource "graphdeploy_deployment" "docs" {
  name   = "docs"
  source = "codehost"

  source_config = {
    integration_id = "6f2c8a9e-3b1d-4c7f-9a52-0d8e4b6f1c37"
    repo_url       = "https://codehost.example.com/acme/docs"
  }
  source_revision_config = {
    repo_ref          = "main"
    graph_config_path = "graph.json"
  }

  # Another commit builds the branch again.
  redeploy_triggers = { commit = var.commit }
}
