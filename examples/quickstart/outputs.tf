output "agent_id" {
  description = "ID of the agent."
  value       = graphdeploy_deployment.agent.id
}

output "agent_built" {
  description = "Image that the service built for the agent, and the commit it was built from."
  value = {
    image  = graphdeploy_deployment.agent.source_revision_config.image_uri
    commit = graphdeploy_deployment.agent.source_revision_config.repo_commit_sha
  }
}

output "worker_memory_limit_mb" {
  description = "Memory limit of the worker, chosen by the service."
  value       = data.graphdeploy_deployment.worker.source_config.resource_spec.memory_limit_mb
}

output "oauth_providers" {
  description = "Names of the organization's OAuth providers."
  value       = data.graphdeploy_oauth_providers.all.oauth_providers[*].name
}
