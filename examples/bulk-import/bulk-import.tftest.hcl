# Nothing is created here. The test imports all existing deployments, and
# deletion_policy keeps them running when the test destroys its state.

run "plan_finds_existing_deployments" {
  command = plan

  assert {
    condition     = contains(keys(local.existing), "legacy-bot")
    error_message = "The plan should find legacy-bot, which the fake service starts with."
  }
}

run "all_deployments_are_imported" {
  assert {
    condition     = output.ids == { for d in data.graphdeploy_deployments.existing.deployments : d.name => d.id }
    error_message = "All existing deployments should be imported."
  }
  assert {
    condition     = graphdeploy_deployment.existing["legacy-bot"].source_revision_config.image_uri == "registry.example/legacy-bot:4.2"
    error_message = "The state should contain what the service reports."
  }
}

# In a plan that changes a deployment, updated_at is unknown, and a condition on
# an unknown value fails.
run "next_plan_is_empty" {
  command = plan

  assert {
    condition     = alltrue([for d in graphdeploy_deployment.existing : d.updated_at != ""])
    error_message = "The plan should not change any deployment."
  }
}

run "filter_without_matches_is_not_an_error" {
  command = plan

  variables {
    name_contains = "no deployment has this in its name"
  }
  assert {
    condition     = length(local.existing) == 0
    error_message = "No deployment should match the filter."
  }
}
