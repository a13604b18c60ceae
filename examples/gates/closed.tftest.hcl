# The gates with deployments that are not ready.

run "the_check_fails" {
  command = plan

  # What the service could say of it.
  override_data {
    target = data.graphdeploy_deployment.watched
    values = { status = "AWAITING_DATABASE" }
  }
  expect_failures = [check.watched_are_ready]

  assert {
    condition     = one(local.not_ready) == "legacy-bot (AWAITING_DATABASE)"
    error_message = "The message does not name the deployment that is not ready."
  }
}

# No deployment is ready at once, and this does not wait.
run "the_postcondition_stops_the_apply" {
  variables {
    name             = "search-in-a-hurry"
    time_to_be_ready = "1ms"
  }
  expect_failures = [graphdeploy_deployment.search]
}
