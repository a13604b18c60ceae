output "deployments" {
  description = "IDs of the team's deployments, by name."
  value       = { for d in [module.api, module.indexer] : d.name => d.id }
}
