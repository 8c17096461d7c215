# One look at a virtual machine: does it answer, and does it run the release that is expected?
# The look is repeated when what it depends on changes; an unhealthy machine fails the apply.

terraform {
  required_version = ">= 1.6"
}

locals {
  properties = jsonencode({ name = var.name, address = var.address, release = var.release })
}

resource "terraform_data" "health" {
  triggers_replace = { cloud = var.cloud, name = var.name, address = var.address, release = var.release }

  provisioner "local-exec" {
    interpreter = ["python3", "${path.module}/../cloud/cloud.py", var.cloud, "create", local.properties]
    command     = "health-${substr(self.id, 0, 8)}"
  }

  provisioner "local-exec" {
    when        = destroy
    interpreter = ["python3", "${path.module}/../cloud/cloud.py", self.triggers_replace.cloud, "delete"]
    command     = "health-${substr(self.id, 0, 8)}"
  }
}
