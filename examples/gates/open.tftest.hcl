# The gates are open: all deployments are ready.

run "dependent_deployment_is_created" {
  assert {
    condition     = graphdeploy_deployment.search.status == "READY" && graphdeploy_deployment.assistant.status == "READY"
    error_message = "The apply should wait until both deployments are ready."
  }
  assert {
    condition     = data.graphdeploy_deployment.watched["legacy-bot"].status == "READY" && length(local.not_ready) == 0
    error_message = "The check should find all watched deployments ready."
  }
}
