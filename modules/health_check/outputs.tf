locals {
  id   = "health-${substr(terraform_data.health.id, 0, 8)}"
  file = "${terraform_data.health.triggers_replace.cloud}/${local.id}.json"
}

output "id" {
  description = "Id of the report in the cloud."
  value       = local.id
}

output "healthy" {
  description = "What the report says; null once the report is lost."
  value       = try(jsondecode(file(local.file)).healthy, null)
}
