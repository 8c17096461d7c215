"""Two stacks side by side: one uses an output and a secret of the other."""

from __future__ import annotations

from tests.support.project import Project

NET_STACK = """version: 1
stack: net
modules:
  vpc: {source: vpc, inputs: {cidr: 10.0.0.0/16}}
"""
VPC = """variable "cidr" { type = string }
resource "terraform_data" "vpc" {
  input = var.cidr
  provisioner "local-exec" { command = "test ! -e broken" }
  triggers_replace = var.cidr
}
output "id" { value = "vpc-${terraform_data.vpc.output}" }
output "token" {
  value     = "hunter2-of-the-network"
  sensitive = true
}
"""
SHOP_STACK = """version: 1
stack: shop
stacks:
  NET: {manifest: ../net/hybridwrap.yaml}
modules:
  app:
    source: app
    inputs: {vpc_id: "{{ stacks.NET.modules.vpc.id }}", token: "{{ stacks.NET.modules.vpc.token }}"}
  health: {source: health, depends_on: [app]}
"""
APP = """variable "vpc_id" { type = string }
variable "token" {
  type      = string
  sensitive = true
}
resource "terraform_data" "app" { input = "${var.vpc_id} ${nonsensitive(var.token)}" }
"""


def write_two_stacks(shop: Project) -> Project:
    """Write the stack that uses, and beside it the one that is used; return that."""
    shop.write(SHOP_STACK, app=APP, health='resource "terraform_data" "h" {}\n')
    net = Project(shop.root.parent / "net", shop.environ)
    net.root.mkdir()
    net.write(NET_STACK, vpc=VPC)
    return net
