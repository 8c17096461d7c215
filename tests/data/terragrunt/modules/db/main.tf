variable "vpc_id" {}
variable "password" {
  sensitive = true
}
output "address" { value = "db" }
