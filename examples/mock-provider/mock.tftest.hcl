# By default, a mock generates random strings for IDs. They are not UUIDs, so the
# provider rejects them as an integration_id. The defaults below are UUIDs.

mock_provider "graphdeploy" {
  mock_data "graphdeploy_codehost_repo" {
    defaults = {
      host_integration_id = "6f2c8a9e-3b1d-4c7f-9a52-0d8e4b6f1c37"
      url                 = "https://codehost.example.com/acme/shop"
      default_branch      = "main"
    }
  }

  mock_resource "graphdeploy_deployment" {
    defaults = {
      id     = "0b7d6a52-9f0e-4f7c-8d7e-6f1c2a3b4d5e"
      status = "READY"
    }
  }
}

variables {
  repositories = ["shop"]
}

run "deployment_follows_the_default_branch" {
  command = plan

  assert {
    condition     = graphdeploy_deployment.this["shop"].name == "acme-shop"
    error_message = "The name should start with the owner."
  }
  assert {
    condition     = graphdeploy_deployment.this["shop"].source_revision_config.repo_ref == "main"
    error_message = "The deployment should follow the default branch."
  }
}

run "ids_are_exported" {
  assert {
    condition     = output.ids == { shop = "0b7d6a52-9f0e-4f7c-8d7e-6f1c2a3b4d5e" }
    error_message = "The output should contain the ID of the mocked deployment."
  }
}

# An override replaces the defaults of the mock for one data source.
run "default_branch_is_trunk" {
  command = plan

  override_data {
    target = data.graphdeploy_codehost_repo.this
    values = {
      host_integration_id = "11111111-2222-4333-8444-555555555555"
      default_branch      = "trunk"
    }
  }
  assert {
    condition     = graphdeploy_deployment.this["shop"].source_revision_config.repo_ref == "trunk"
    error_message = "The deployment should follow the default branch."
  }
}
