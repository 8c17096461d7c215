variable "subnet_id" {}
variable "url" {}
variable "labels" { type = map(string) }
variable "api_token" { sensitive = true }
