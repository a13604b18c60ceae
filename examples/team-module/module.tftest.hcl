# The module by itself. No service is needed: the provider is a mock.

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
    error_message = "It is named ${graphdeploy_deployment.this.name}."
  }
  assert {
    condition     = graphdeploy_deployment.this.source_config.resource_spec.min_scale == 1 && graphdeploy_deployment.this.source_config.resource_spec.memory_mb == 512
    error_message = "The default is not one small instance."
  }
  assert {
    condition     = graphdeploy_deployment.this.source_config.resource_spec.labels == tomap({ team = "search", environment = "dev" })
    error_message = "The labels do not say whose it is."
  }
  assert {
    condition     = graphdeploy_deployment.this.deletion_policy == null
    error_message = "Outside production, destroying deletes where it can."
  }
}

run "production_is_held_safe" {
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
    error_message = "It is named ${graphdeploy_deployment.this.name}."
  }
  assert {
    condition     = graphdeploy_deployment.this.source_config.resource_spec.min_scale == 2 && graphdeploy_deployment.this.source_config.resource_spec.memory_limit_mb == 8192
    error_message = "Production is not two large instances."
  }
  assert {
    condition     = graphdeploy_deployment.this.source_config.resource_spec.labels["tier"] == "frontend"
    error_message = "The team's own label is missing."
  }
  assert {
    condition     = graphdeploy_deployment.this.deletion_policy == "abandon"
    error_message = "Destroying would delete production."
  }
}

run "mistakes_are_refused" {
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

run "an_image_without_a_tag_is_refused" {
  command = plan

  module {
    source = "./modules/deployment"
  }
  variables {
    image = "registry.example.com:5000/search-api"
  }
  expect_failures = [var.image]
}

run "the_tag_latest_is_refused" {
  command = plan

  module {
    source = "./modules/deployment"
  }
  variables {
    image = "registry.example.com/search-api:latest"
  }
  expect_failures = [var.image]
}

run "a_digest_will_do" {
  command = plan

  module {
    source = "./modules/deployment"
  }
  variables {
    image = "registry.example.com/search-api@sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"
  }
  assert {
    condition     = graphdeploy_deployment.this.source_revision_config.image_uri == var.image
    error_message = "It runs another image."
  }
}
