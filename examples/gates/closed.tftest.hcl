# The gates are closed: deployments are not ready.

run "check_reports_a_deployment_that_is_not_ready" {
  command = plan

  # A status that the service might report.
  override_data {
    target = data.graphdeploy_deployment.watched
    values = { status = "AWAITING_DATABASE" }
  }
  expect_failures = [check.watched_are_ready]

  assert {
    condition     = one(local.not_ready) == "legacy-bot (AWAITING_DATABASE)"
    error_message = "The message should name the deployment that is not ready."
  }
}

# A new deployment takes a while to become ready, and this run does not wait.
run "postcondition_fails_the_apply" {
  variables {
    name             = "search-in-a-hurry"
    time_to_be_ready = "1ms"
  }
  expect_failures = [graphdeploy_deployment.search]
}
