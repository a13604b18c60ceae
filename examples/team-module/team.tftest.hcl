# Tests of the whole configuration, against a service.

# Tests do not use the default of an ephemeral variable.
variables {
  index_key = "not-a-real-key"
}

run "production_uses_production_names" {
  command = plan

  variables {
    environment = "prod"
  }
  assert {
    condition     = module.api.name == "search-api"
    error_message = "Unexpected name in production: ${module.api.name}."
  }
}

run "both_deployments_are_ready" {
  assert {
    condition     = toset(keys(output.deployments)) == toset(["search-api-dev", "search-indexer-dev"])
    error_message = "Unexpected deployments: ${join(", ", keys(output.deployments))}."
  }
  assert {
    condition     = module.api.status == "READY" && module.indexer.status == "READY"
    error_message = "The apply should wait until both deployments are ready."
  }
}
