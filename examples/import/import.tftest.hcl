# A test cannot run `terraform import`. This holds what the import relies on: a
# name and a source are all that is set, but for the branch.

run "little_is_set" {
  command = plan

  assert {
    condition     = graphdeploy_deployment.legacy_bot.name == "legacy-bot" && graphdeploy_deployment.legacy_bot.source == "external_docker"
    error_message = "It would not match the deployment of the fake service."
  }
  assert {
    condition     = graphdeploy_deployment.agent.source_revision_config.repo_ref == "main"
    error_message = "It would not match the agent of the quickstart."
  }
}
