# Nothing is created here: every deployment that there is gets imported, and
# deletion_policy leaves it running when the test lets go of it.

run "the_plan_finds_what_there_is" {
  command = plan

  assert {
    condition     = contains(keys(local.existing), "legacy-bot")
    error_message = "legacy-bot, which the fake service begins with, was not found."
  }
}

run "all_of_it_is_imported" {
  assert {
    condition     = output.ids == { for d in data.graphdeploy_deployments.existing.deployments : d.name => d.id }
    error_message = "What was taken over is not what there was."
  }
  assert {
    condition     = graphdeploy_deployment.existing["legacy-bot"].source_revision_config.image_uri == "registry.example/legacy-bot:4.2"
    error_message = "What the configuration leaves out is not what the service has."
  }
}

# A plan that changed a deployment could not know when it was last updated, and
# a condition that cannot be known fails.
run "the_next_plan_changes_nothing" {
  command = plan

  assert {
    condition     = alltrue([for d in graphdeploy_deployment.existing : d.updated_at != ""])
    error_message = "A deployment has no time of its last update."
  }
}

run "names_that_nothing_has_are_no_error" {
  command = plan

  variables {
    name_contains = "no deployment has this in its name"
  }
  assert {
    condition     = length(local.existing) == 0
    error_message = "The filter did not filter."
  }
}
