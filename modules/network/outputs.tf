output "subnet_id" {
  description = "Id of the subnet in the cloud."
  value       = "subnet-${substr(terraform_data.subnet.id, 0, 8)}"
}

output "cidr" {
  description = "Address range of the subnet."
  value       = terraform_data.subnet.triggers_replace.cidr
}
