output "deployments" {
  description = "Deployments of the team: their ids, by name."
  value       = { for d in [module.api, module.indexer] : d.name => d.id }
}
