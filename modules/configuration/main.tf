# A release and its settings, written into a virtual machine. The machine takes it along when it is deleted.

terraform {
  required_version = ">= 1.6"
}

locals {
  properties = jsonencode({ name = var.name, vm_id = var.vm_id, release = var.release, settings = var.settings })
}

resource "terraform_data" "configuration" {
  triggers_replace = {
    cloud    = var.cloud
    name     = var.name
    vm_id    = var.vm_id
    release  = var.release
    settings = var.settings
  }

  provisioner "local-exec" {
    interpreter = ["python3", "${path.module}/../cloud/cloud.py", var.cloud, "create", local.properties]
    command     = "configuration-${substr(self.id, 0, 8)}"
  }

  provisioner "local-exec" {
    when        = destroy
    interpreter = ["python3", "${path.module}/../cloud/cloud.py", self.triggers_replace.cloud, "delete"]
    command     = "configuration-${substr(self.id, 0, 8)}"
  }
}
