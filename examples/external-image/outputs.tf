output "id" {
  description = "ID of the deployment."
  value       = graphdeploy_deployment.invoices.id
}

output "active_revision_id" {
  description = "ID of the revision that is deployed."
  value       = graphdeploy_deployment.invoices.active_revision_id
}
