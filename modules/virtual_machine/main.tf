# A virtual machine in the folder cloud, which gives it an address. Any change of it is a replacement.

terraform {
  required_version = ">= 1.6"
}

locals {
  properties = jsonencode({ name = var.name, subnet_id = var.subnet_id, size = var.size })
}

resource "terraform_data" "vm" {
  triggers_replace = { cloud = var.cloud, name = var.name, subnet_id = var.subnet_id, size = var.size }

  provisioner "local-exec" {
    interpreter = ["python3", "${path.module}/../cloud/cloud.py", var.cloud, "create", local.properties]
    command     = "vm-${substr(self.id, 0, 8)}"
  }

  provisioner "local-exec" {
    when        = destroy
    interpreter = ["python3", "${path.module}/../cloud/cloud.py", self.triggers_replace.cloud, "delete"]
    command     = "vm-${substr(self.id, 0, 8)}"
  }
}
