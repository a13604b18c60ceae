run "both_deployments_are_ready" {
  assert {
    condition     = alltrue([for d in [graphdeploy_deployment.agent, graphdeploy_deployment.worker] : d.status == "READY"])
    error_message = "Not both deployments are READY."
  }
  assert {
    condition     = graphdeploy_deployment.worker.active_revision_id == graphdeploy_deployment.worker.latest_revision_id
    error_message = "The apply did not wait for the worker's revision to be active."
  }
  assert {
    condition     = graphdeploy_deployment.agent.source_config.repo_url == data.graphdeploy_codehost_repo.agent.url
    error_message = "The agent is not deployed from the repository that was found."
  }
  assert {
    condition     = output.worker_memory_limit_mb > 1024
    error_message = "The service chose no memory limit, or one below what the worker requests."
  }
  assert {
    condition     = length(output.oauth_providers) == 2
    error_message = "The fake service has two OAuth providers."
  }
}

# A plan that changed a deployment could not know when it was last updated, and
# a condition that cannot be known fails.
run "the_next_plan_changes_nothing" {
  command = plan

  assert {
    condition     = alltrue([for d in [graphdeploy_deployment.agent, graphdeploy_deployment.worker] : d.updated_at != ""])
    error_message = "A deployment has no time of its last update."
  }
}
