# Unit tests of the module. The provider is a mock, so no service is needed.

mock_provider "graphdeploy" {}

variables {
  team    = "search"
  name    = "api"
  image   = "registry.example.com/search-api:4.2"
  secrets = {}
}

run "defaults_are_small" {
  command = plan

  module {
    source = "./modules/deployment"
  }
  assert {
    condition     = graphdeploy_deployment.this.name == "search-api-dev"
    error_message = "Unexpected name: ${graphdeploy_deployment.this.name}."
  }
  assert {
    condition     = graphdeploy_deployment.this.source_config.resource_spec.min_scale == 1 && graphdeploy_deployment.this.source_config.resource_spec.memory_mb == 512
    error_message = "The default should be one small instance."
  }
  assert {
    condition     = graphdeploy_deployment.this.source_config.resource_spec.labels == tomap({ team = "search", environment = "dev" })
    error_message = "The labels should name the team and the environment."
  }
  assert {
    condition     = graphdeploy_deployment.this.deletion_policy == null
    error_message = "Outside production, deletion_policy should be omitted."
  }
}

run "production_is_protected" {
  command = plan

  module {
    source = "./modules/deployment"
  }
  variables {
    environment = "prod"
    size        = "large"
    labels      = { tier = "frontend" }
  }
  assert {
    condition     = graphdeploy_deployment.this.name == "search-api"
    error_message = "Unexpected name: ${graphdeploy_deployment.this.name}."
  }
  assert {
    condition     = graphdeploy_deployment.this.source_config.resource_spec.min_scale == 2 && graphdeploy_deployment.this.source_config.resource_spec.memory_limit_mb == 8192
    error_message = "Production should have at least two instances, with a limit of twice the request."
  }
  assert {
    condition     = graphdeploy_deployment.this.source_config.resource_spec.labels["tier"] == "frontend"
    error_message = "The deployment should keep the team's own label."
  }
  assert {
    condition     = graphdeploy_deployment.this.deletion_policy == "prevent"
    error_message = "Destroying production should be an error."
  }
}

run "invalid_input_is_rejected" {
  command = plan

  module {
    source = "./modules/deployment"
  }
  variables {
    team        = "Search Team"
    name        = "api-"
    environment = "production"
    size        = "huge"
    max_scale   = 1
    labels      = { team = "other" }
  }
  expect_failures = [var.team, var.name, var.environment, var.size, var.max_scale, var.labels]
}

run "image_without_a_tag_is_rejected" {
  command = plan

  module {
    source = "./modules/deployment"
  }
  variables {
    image = "registry.example.com:5000/search-api"
  }
  expect_failures = [var.image]
}

run "tag_latest_is_rejected" {
  command = plan

  module {
    source = "./modules/deployment"
  }
  variables {
    image = "registry.example.com/search-api:latest"
  }
  expect_failures = [var.image]
}

run "digest_is_accepted" {
  command = plan

  module {
    source = "./modules/deployment"
  }
  variables {
    image = "registry.example.com/search-api@sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"
  }
  assert {
    condition     = graphdeploy_deployment.this.source_revision_config.image_uri == var.image
    error_message = "The deployment should run the image with the given digest."
  }
}
