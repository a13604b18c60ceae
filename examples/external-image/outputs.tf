output "id" {
  description = "Id of the deployment."
  value       = graphdeploy_deployment.invoices.id
}

output "active_revision_id" {
  description = "The revision that runs."
  value       = graphdeploy_deployment.invoices.active_revision_id
}
