resource "graphdeploy_deployment" "worker" {
  name   = "worker"
  source = "external_docker"

  source_revision_config = {
    image_uri = "registry.example.com/worker:1.0"
  }

  source_config = {
    resource_spec = {
      min_scale = 1
      max_scale = 4
      cpu       = 0.5
      memory_mb = 1024

      volumes       = [{ name = "logs", empty_dir = jsonencode({ sizeLimit = "1Gi" }) }]
      volume_mounts = [{ name = "logs", mount_path = "/var/log/worker" }]
      sidecars = [
        {
          name          = "log-shipper"
          image         = "registry.example.com/log-shipper:2.1"
          args          = ["--from", "/logs"]
          env           = [{ name = "LEVEL", value = "info" }]
          volume_mounts = [{ name = "logs", mount_path = "/logs", read_only = true }]
        },
      ]
    }
  }
}
