locals {
  id   = "configuration-${substr(terraform_data.configuration.id, 0, 8)}"
  file = "${terraform_data.configuration.triggers_replace.cloud}/${local.id}.json"
}

output "id" {
  description = "Id of the configuration in the cloud."
  value       = local.id
}

output "release" {
  description = "Release that the machine runs; null once the configuration is lost."
  value       = try(jsondecode(file(local.file)).release, null)
}
