# Tests do not use the default of an ephemeral variable.
variables {
  payment_key = "not-a-real-key"
}

run "value_is_sent_and_not_stored" {
  assert {
    condition     = graphdeploy_deployment.payments.secrets_wo == null && graphdeploy_deployment.payments.secrets == null
    error_message = "No secret should be in the state."
  }
  assert {
    condition     = graphdeploy_deployment.payments.secrets_wo_version == var.payment_key_version
    error_message = "The state should contain the version of the secret."
  }
}

# In a plan that changes the deployment, updated_at is unknown, and a condition
# on an unknown value fails.
run "same_version_sends_nothing" {
  command = plan

  assert {
    condition     = graphdeploy_deployment.payments.updated_at != ""
    error_message = "The plan should not change the deployment."
  }
}
