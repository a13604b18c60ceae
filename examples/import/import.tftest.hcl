# A test cannot run `terraform import`. This verifies that the configuration
# matches the deployments to import. The provider is a mock, because a plan
# without the import would report that the names are already taken.

mock_provider "graphdeploy" {}

run "configuration_matches_the_deployments" {
  command = plan

  assert {
    condition     = graphdeploy_deployment.legacy_bot.name == "legacy-bot" && graphdeploy_deployment.legacy_bot.source == "external_docker"
    error_message = "legacy-bot should match the deployment that the fake service starts with."
  }
  assert {
    condition     = graphdeploy_deployment.agent.source_revision_config.repo_ref == "main"
    error_message = "agent should match the deployment of the quickstart."
  }
}
