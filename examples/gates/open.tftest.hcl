# The gates with deployments that are ready.

run "what_comes_after_is_created" {
  assert {
    condition     = graphdeploy_deployment.search.status == "READY" && graphdeploy_deployment.assistant.status == "READY"
    error_message = "The apply ended before the deployments were ready."
  }
  assert {
    condition     = data.graphdeploy_deployment.watched["legacy-bot"].status == "READY" && length(local.not_ready) == 0
    error_message = "The check saw deployments that are not ready."
  }
}
