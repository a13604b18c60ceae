# Tests do not use the default of an ephemeral variable.
variables {
  payment_key = "not-a-real-key"
}

run "abandoned_on_destroy_by_default" {
  command = plan

  assert {
    condition     = graphdeploy_deployment.invoices.deletion_policy == "abandon"
    error_message = "Destroying should not delete the deployment."
  }
}

run "deployment_has_what_is_configured" {
  variables {
    deletion_policy = null # deletes the deployment after the test
  }

  assert {
    condition     = graphdeploy_deployment.invoices.status == "READY"
    error_message = "The deployment should be READY."
  }
  assert {
    condition     = output.active_revision_id == graphdeploy_deployment.invoices.latest_revision_id
    error_message = "The apply should wait until the latest revision is active."
  }
  assert {
    condition     = length(graphdeploy_deployment.invoices.source_config.resource_spec.volumes) == 8
    error_message = "The deployment should have eight volumes."
  }
  assert {
    condition     = alltrue([for r in graphdeploy_deployment.invoices.secret_references : r.secret_key != null])
    error_message = "Each secret reference should have a key."
  }
  assert {
    condition     = graphdeploy_deployment.invoices.secrets == null && graphdeploy_deployment.invoices.secrets_wo == null
    error_message = "No secrets should be in the state."
  }
}

# In a plan that changes the deployment, updated_at is unknown, and a condition
# on an unknown value fails.
run "next_plan_is_empty" {
  command = plan

  variables {
    deletion_policy = null
  }
  assert {
    condition     = graphdeploy_deployment.invoices.updated_at != ""
    error_message = "The plan should not change the deployment."
  }
}
