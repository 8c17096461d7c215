# A subnet in the folder cloud. Any change of it is a replacement, as the cloud can't change a subnet in place.

terraform {
  required_version = ">= 1.6"
}

locals {
  properties = jsonencode({ name = var.name, cidr = var.cidr })
}

resource "terraform_data" "subnet" {
  triggers_replace = { cloud = var.cloud, name = var.name, cidr = var.cidr }

  provisioner "local-exec" {
    interpreter = ["python3", "${path.module}/../cloud/cloud.py", var.cloud, "create", local.properties]
    command     = "subnet-${substr(self.id, 0, 8)}"
  }

  provisioner "local-exec" {
    when        = destroy
    interpreter = ["python3", "${path.module}/../cloud/cloud.py", self.triggers_replace.cloud, "delete"]
    command     = "subnet-${substr(self.id, 0, 8)}"
  }
}
