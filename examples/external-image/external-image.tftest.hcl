# A test does not take the default of an ephemeral variable.
variables {
  payment_key = "not-a-real-key"
}

run "it_is_not_deleted_by_default" {
  command = plan

  assert {
    condition     = graphdeploy_deployment.invoices.deletion_policy == "abandon"
    error_message = "Destroying would delete it."
  }
}

run "what_is_set_is_what_the_service_has" {
  variables {
    deletion_policy = null # so that the test clears away what it made, where the service can
  }

  assert {
    condition     = graphdeploy_deployment.invoices.status == "READY"
    error_message = "It is not READY."
  }
  assert {
    condition     = output.active_revision_id == graphdeploy_deployment.invoices.latest_revision_id
    error_message = "The apply did not wait for the revision to be active."
  }
  assert {
    condition     = length(graphdeploy_deployment.invoices.source_config.resource_spec.volumes) == 8
    error_message = "A volume is missing."
  }
  assert {
    condition     = alltrue([for r in graphdeploy_deployment.invoices.secret_references : r.secret_key != null])
    error_message = "A secret reference has no key."
  }
  assert {
    condition     = graphdeploy_deployment.invoices.secrets == null && graphdeploy_deployment.invoices.secrets_wo == null
    error_message = "Secrets are in the state."
  }
}

# A plan that changed the deployment could not know when it was last updated,
# and a condition that cannot be known fails.
run "the_next_plan_changes_nothing" {
  command = plan

  variables {
    deletion_policy = null
  }
  assert {
    condition     = graphdeploy_deployment.invoices.updated_at != ""
    error_message = "The deployment has no time of its last update."
  }
}
