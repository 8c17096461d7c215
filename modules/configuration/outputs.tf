output "id" {
  description = "Id of the configuration in the cloud."
  value       = "configuration-${substr(terraform_data.configuration.id, 0, 8)}"
}

output "release" {
  description = "Release that the machine runs."
  value       = terraform_data.configuration.triggers_replace.release
}
