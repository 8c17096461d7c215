variable "cidr" {}
variable "zones" { default = 1 }
output "vpc_id" { value = "vpc" }
output "subnet_ids" { value = ["subnet"] }
