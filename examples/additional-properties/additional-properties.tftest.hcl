run "property_is_written_and_read_back" {
  assert {
    condition     = output.deployment_type == "prod"
    error_message = "The service should report the deployment type that was set."
  }
}

# In a plan that changes the deployment, updated_at is unknown, and a condition
# on an unknown value fails.
run "next_plan_is_empty" {
  command = plan

  assert {
    condition     = graphdeploy_deployment.reports.updated_at != ""
    error_message = "The plan should not change the deployment."
  }
}
