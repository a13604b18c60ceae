# Every argument that the interface knows, set at once.
resource "graphdeploy_deployment" "this" {
  name   = "everything"
  source = "external_docker"

  source_config = {
    integration_id  = "AAAAAAAA-BBBB-4CCC-8DDD-EEEEEEEEEEEE"
    repo_url        = "https://code.example.com/acme/web"
    build_on_push   = true
    custom_url      = "https://web.example.com"
    listener_id     = "aaaaaaaa-bbbb-4ccc-8ddd-ffffffffffff"
    listener_config = { k8s_namespace = "apps" }
    install_command = "make deps"
    build_command   = "make"

    resource_spec = {
      min_scale       = 1
      max_scale       = 5
      cpu             = 0.1
      cpu_limit       = 1.5
      memory_mb       = 512
      memory_limit_mb = 2048

      queue_min_scale       = 0
      queue_max_scale       = 3
      queue_cpu             = 0.25
      queue_cpu_limit       = 1 / 3
      queue_memory_mb       = 256
      queue_memory_limit_mb = 1024

      orchestrator_cpu             = 0.3
      orchestrator_cpu_limit       = 0.7
      orchestrator_memory_mb       = 257
      orchestrator_memory_limit_mb = 513
      orchestrator_min_scale       = 1
      orchestrator_max_scale       = 2

      executor_cpu             = 0.6
      executor_cpu_limit       = 1.1
      executor_memory_mb       = 300
      executor_memory_limit_mb = 600

      redis_cpu             = 0.2
      redis_cpu_limit       = 0.4
      redis_memory_mb       = 128
      redis_memory_limit_mb = 129

      db_cpu             = 2
      db_cpu_limit       = 4
      db_memory_mb       = 4096
      db_memory_limit_mb = 8192
      db_storage_gi      = 20
      db_max_connections = 200

      labels               = { team = "web" }
      annotations          = { "example.com/cost-center" = "42" }
      service_account_name = "runner"

      image_pull_secrets = [{ name = "registry" }, { name = "mirror" }]

      volumes = [
        { name = "a", config_map = jsonencode({ name = "settings", items = [{ key = "k", path = "p" }] }) },
        { name = "b", secret = jsonencode({ secretName = "s", defaultMode = 256 }) },
        { name = "c", empty_dir = jsonencode({}) },
        { name = "d", persistent_volume_claim = jsonencode({ claimName = "data" }) },
        { name = "e", nfs = jsonencode({ server = "nfs.example.com", path = "/" }) },
        { name = "f", projected = jsonencode({ sources = [{ secret = { name = "x" } }] }) },
        { name = "g", downward_api = jsonencode({ items = [] }) },
        { name = "h", csi = jsonencode({ driver = "d.example.com", readOnly = true }) },
      ]

      volume_mounts = [
        { name = "a", mount_path = "/etc/a", sub_path = "x", mount_propagation = "None", read_only = true },
        { name = "a", mount_path = "/etc/b", sub_path_expr = "$(POD)" },
      ]

      init_containers = [
        { name = "first", image = "busybox:1", command = ["true"] },
        { name = "second", image = "busybox:1" },
      ]

      sidecars = [{
        name              = "proxy"
        image             = "envoy:1"
        image_pull_policy = "Always"
        command           = ["envoy"]
        args              = ["-c", "/etc/envoy.yaml"]
        working_dir       = "/srv"
        env = [
          { name = "PLAIN", value = "1" },
          { name = "FROM", value_from = jsonencode({ fieldRef = { fieldPath = "metadata.name" } }) },
        ]
        env_from = [jsonencode({ configMapRef = { name = "settings" } })]
        resources = {
          limits   = jsonencode({ cpu = "1", memory = "1Gi" })
          requests = jsonencode({ cpu = 0.5 })
        }
        volume_mounts = [
          { name = "a", mount_path = "/etc/a", sub_path = "x", mount_propagation = "None", read_only = false },
          { name = "b", mount_path = "/etc/b", sub_path_expr = "$(POD)" },
        ]
        security_context = jsonencode({ runAsUser = 0 })
        restart_policy   = "Always"
      }]
    }
  }

  source_revision_config = {
    repo_ref            = "main"
    graph_config_path   = "graph.json"
    image_uri           = "registry.example.com/web:1"
    source_tarball_path = "uploads/web.tgz"
  }

  secrets = {
    B_TOKEN = "second"
    A_TOKEN = "first \"quoted\""
  }

  secret_references = [
    { name = "DB", secret_name = "database", secret_key = "url" },
    { name = "MQ", secret_name = "queue", secret_key = "url" },
  ]

  deletion_policy = "abandon"
  wait_until      = "active"
  timeouts        = { create = "10m", update = "5m" }
}
