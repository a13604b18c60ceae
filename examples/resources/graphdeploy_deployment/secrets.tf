variable "payment_key" {
  type      = string
  sensitive = true
  ephemeral = true
}

resource "graphdeploy_deployment" "payments" {
  name   = "payments"
  source = "external_docker"

  source_revision_config = {
    image_uri = "registry.example.com/payments:7.3"
  }

  # Never stored in state or plan. To send a new value, also change the version.
  secrets_wo         = { PAYMENT_KEY = var.payment_key }
  secrets_wo_version = "1"
}
