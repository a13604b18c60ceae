# An application from a container image on a self-hosted service, with every
# argument that this source supports. Remove the arguments that you do not need:
# the service chooses their values.

terraform {
  required_version = ">= 1.11" # Terraform or OpenTofu: write-only arguments

  required_providers {
    graphdeploy = {
      source = "graphdeploy/graphdeploy"
    }
  }
}

# If the service requires a credential, set GRAPHDEPLOY_API_KEY.
provider "graphdeploy" {
  base_url = var.base_url
  hosting  = "self_hosted"
}

resource "graphdeploy_deployment" "invoices" {
  name   = "invoices"
  source = "external_docker"

  source_revision_config = {
    image_uri = var.image
  }

  source_config = {
    custom_url = "https://invoices.example.com"

    # The listener that deploys to the cluster, and the namespace to deploy to.
    listener_id     = "2d9f4c1e-7a63-4b58-9e0d-5c8b1f3a6e72"
    listener_config = { k8s_namespace = "finance" }

    resource_spec = {
      min_scale       = 2
      max_scale       = 6
      cpu             = 0.5
      cpu_limit       = 2
      memory_mb       = 1024
      memory_limit_mb = 2048

      queue_min_scale       = 1
      queue_max_scale       = 4
      queue_cpu             = 0.3
      queue_cpu_limit       = 1
      queue_memory_mb       = 512
      queue_memory_limit_mb = 1024

      orchestrator_min_scale       = 1
      orchestrator_max_scale       = 2
      orchestrator_cpu             = 0.3
      orchestrator_cpu_limit       = 0.5
      orchestrator_memory_mb       = 256
      orchestrator_memory_limit_mb = 512

      executor_cpu             = 0.5
      executor_cpu_limit       = 1
      executor_memory_mb       = 512
      executor_memory_limit_mb = 1024

      redis_cpu             = 0.1
      redis_cpu_limit       = 0.5
      redis_memory_mb       = 128
      redis_memory_limit_mb = 256

      db_cpu             = 1
      db_cpu_limit       = 2
      db_memory_mb       = 2048
      db_memory_limit_mb = 4096
      db_storage_gi      = 50
      db_max_connections = 200

      labels               = { team = "finance", tier = "backend" }
      annotations          = { "example.com/cost-center" = "4711" }
      service_account_name = "invoices"

      image_pull_secrets = [{ name = "registry-credentials" }]

      # Each volume has one kind. Kubernetes objects use Kubernetes spelling.
      volumes = [
        { name = "settings", config_map = jsonencode({ name = "invoices-settings" }) },
        { name = "certificates", secret = jsonencode({ secretName = "invoices-tls", defaultMode = 256 }) },
        { name = "scratch", empty_dir = jsonencode({ sizeLimit = "2Gi" }) },
        { name = "archive", persistent_volume_claim = jsonencode({ claimName = "invoices-archive" }) },
        { name = "templates", nfs = jsonencode({ server = "files.example.com", path = "/templates", readOnly = true }) },
        { name = "vault", csi = jsonencode({ driver = "secrets-store.csi.k8s.io", readOnly = true, volumeAttributes = { secretProviderClass = "invoices" } }) },
        { name = "identity", projected = jsonencode({ sources = [{ serviceAccountToken = { path = "token", audience = "vault" } }] }) },
        { name = "pod", downward_api = jsonencode({ items = [{ path = "labels", fieldRef = { fieldPath = "metadata.labels" } }] }) },
      ]
      volume_mounts = [
        { name = "settings", mount_path = "/etc/invoices/app.yaml", sub_path = "app.yaml", read_only = true },
        { name = "certificates", mount_path = "/etc/tls", read_only = true },
        { name = "scratch", mount_path = "/scratch", sub_path_expr = "$(POD_NAME)" },
        { name = "archive", mount_path = "/archive", mount_propagation = "None" },
        { name = "templates", mount_path = "/templates", read_only = true },
        { name = "vault", mount_path = "/vault", read_only = true },
        { name = "identity", mount_path = "/var/run/identity", read_only = true },
        { name = "pod", mount_path = "/etc/pod", read_only = true },
      ]

      # Run in this order, before the application starts.
      init_containers = [
        {
          name        = "migrate"
          image       = var.image
          command     = ["invoices", "migrate"]
          args        = ["--to", "latest"]
          working_dir = "/app"
          env = [
            { name = "LOG_LEVEL", value = "info" },
            { name = "DATABASE_URL", value_from = jsonencode({ secretKeyRef = { name = "invoices-database", key = "url" } }) },
          ]
          volume_mounts = [{ name = "scratch", mount_path = "/tmp" }]
        },
      ]

      # Run next to the application.
      sidecars = [
        {
          name              = "log-shipper"
          image             = "registry.example.com/log-shipper:2.1"
          image_pull_policy = "IfNotPresent"
          command           = ["/bin/ship"]
          args              = ["--from", "/logs"]
          working_dir       = "/"
          env = [
            { name = "LOG_LEVEL", value = "warn" },
            { name = "POD_NAME", value_from = jsonencode({ fieldRef = { fieldPath = "metadata.name" } }) },
          ]
          env_from = [jsonencode({ configMapRef = { name = "log-shipper" } })]
          resources = {
            requests = jsonencode({ cpu = "50m", memory = "32Mi" })
            limits   = jsonencode({ cpu = "100m", memory = "64Mi" })
          }
          volume_mounts = [
            { name = "scratch", mount_path = "/logs", sub_path = "logs", mount_propagation = "None", read_only = true },
            { name = "scratch", mount_path = "/state", sub_path_expr = "$(POD_NAME)" },
          ]
          security_context = jsonencode({ runAsNonRoot = true, allowPrivilegeEscalation = false })
          restart_policy   = "Always"
        },
      ]
    }
  }

  # Never stored in state or plan. To send a new value, also change the version.
  secrets_wo         = { PAYMENT_KEY = var.payment_key }
  secrets_wo_version = "1"

  # References to secrets that exist in the cluster.
  secret_references = [
    { name = "DATABASE_URL", secret_name = "invoices-database", secret_key = "url" },
    { name = "SMTP_PASSWORD", secret_name = "mail", secret_key = "password" },
  ]

  # The apply waits until the new revision is active. If a timeout expires, a
  # create ends with a warning, and an update with an error.
  wait_until = "active"
  timeouts = {
    create = "30m"
    update = "15m"
  }

  # By default, destroying keeps this deployment running.
  deletion_policy = var.deletion_policy
}
