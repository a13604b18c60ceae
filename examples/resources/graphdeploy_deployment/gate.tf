resource "graphdeploy_deployment" "search" {
  name   = "search"
  source = "external_docker"

  source_revision_config = {
    image_uri = "registry.example.com/search:2.0"
  }

  wait_until = "active"
  timeouts   = { create = "30m", update = "10m" }

  lifecycle {
    postcondition {
      condition     = self.status == "UNUSED" || self.status == "READY" && self.active_revision_id == self.latest_revision_id
      error_message = "Deployment ${self.name} is not ready (status ${self.status}), or its latest revision does not run."
    }
  }
}
