"""A server with a disk that goes with it: in the cloud by itself, in the stack by `owner`."""

from __future__ import annotations

from tests.support.project import FAKECLOUD, Project

VM = (
    FAKECLOUD
    + """
variable "size" {
  type    = string
  default = "small"
}
resource "fakecloud_server" "web" {
  name = "web"
  size = var.size
}
output "id" { value = fakecloud_server.web.id }
"""
)
DISK = (
    FAKECLOUD
    + """
variable "server_id" { type = string }
resource "fakecloud_disk" "data" {
  name      = "data"
  server_id = var.server_id
}
output "id" { value = fakecloud_disk.data.id }
"""
)
USER = 'variable "disk" { type = string }\nresource "terraform_data" "user" { input = var.disk }\n'
STACK = """
version: 1
stack: shop
engine: {program: ENGINE}
modules:
  vm: {source: vm}
  disk: {source: disk, owner: vm, inputs: {server_id: "{{ modules.vm.id }}"}}
  user: {source: user, inputs: {disk: "{{ modules.disk.id }}"}}
"""


def family(project: Project, engine: str) -> None:
    """Write vm <- disk <- user, the disk owned by the vm, and apply it."""
    project.write(STACK.replace("ENGINE", engine), vm=VM, disk=DISK, user=USER)
    ran = project.apply()
    assert ran.code == 0, ran.text
