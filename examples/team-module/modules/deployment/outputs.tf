output "id" {
  description = "ID of the deployment."
  value       = graphdeploy_deployment.this.id
}

output "name" {
  description = "Name of the deployment in the service, with team and environment."
  value       = graphdeploy_deployment.this.name
}

output "status" {
  description = "Status of the deployment, as of the last plan or apply."
  value       = graphdeploy_deployment.this.status
}
