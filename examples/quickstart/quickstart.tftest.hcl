run "both_deployments_are_ready" {
  assert {
    condition     = alltrue([for d in [graphdeploy_deployment.agent, graphdeploy_deployment.worker] : d.status == "READY"])
    error_message = "Both deployments should be READY."
  }
  assert {
    condition     = graphdeploy_deployment.worker.active_revision_id == graphdeploy_deployment.worker.latest_revision_id
    error_message = "The apply should wait until the worker's latest revision is active."
  }
  assert {
    condition     = graphdeploy_deployment.agent.source_config.repo_url == data.graphdeploy_codehost_repo.agent.url
    error_message = "The agent should be deployed from the repository that the data source found."
  }
  assert {
    condition     = graphdeploy_deployment.worker.source_config.resource_spec.memory_limit_mb == null && output.worker_memory_limit_mb > 1024
    error_message = "The memory limit is the service's choice, so only the data source should report it."
  }
  assert {
    condition     = length(output.oauth_providers) == 2
    error_message = "The fake service should list two OAuth providers."
  }
}

# In a plan that changes a deployment, updated_at is unknown, and a condition on
# an unknown value fails.
run "next_plan_is_empty" {
  command = plan

  assert {
    condition     = alltrue([for d in [graphdeploy_deployment.agent, graphdeploy_deployment.worker] : d.updated_at != ""])
    error_message = "The plan should not change any deployment."
  }
}
