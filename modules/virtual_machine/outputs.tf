locals {
  id   = "vm-${substr(terraform_data.vm.id, 0, 8)}"
  file = "${terraform_data.vm.triggers_replace.cloud}/${local.id}.json"
}

output "id" {
  description = "Id of the machine in the cloud."
  value       = local.id
}

output "address" {
  description = "Address that the cloud gave to the machine; null once the machine is lost."
  value       = try(jsondecode(file(local.file)).address, null)
}
