# The team's deployments as a whole.

# A test does not take the default of an ephemeral variable.
variables {
  index_key = "not-a-real-key"
}

run "production_needs_no_other_configuration" {
  command = plan

  variables {
    environment = "prod"
  }
  assert {
    condition     = module.api.name == "search-api"
    error_message = "In production, the API is named ${module.api.name}."
  }
}

run "both_are_deployed" {
  assert {
    condition     = toset(keys(output.deployments)) == toset(["search-api-dev", "search-indexer-dev"])
    error_message = "The deployments are ${join(", ", keys(output.deployments))}."
  }
  assert {
    condition     = module.api.status == "READY" && module.indexer.status == "READY"
    error_message = "The apply ended before both were ready."
  }
}
