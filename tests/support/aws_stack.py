"""A stack of the real AWS provider, as its author would write it: network <- server <- parameter <- check."""

from __future__ import annotations

import sys
from typing import Any

import boto3

from tests.support.project import Project
from tests.support.s3_servers import KEY_ID, REGION, SECRET, Server
from tests.support.stacks import AWS_PROVIDER

MODULES = ("network", "server", "parameter", "check")
SECOND_SUBNET = "10.0.16.0/20"
_MANIFEST = """
version: 1
stack: {name}
modules:
  network:
    source: network
    inputs: {{stack: {name}, name: {vpc}, subnets: {subnets}}}
    verify: {{aws: {{tags: {{Stack: {name}}}}}}}
  server:
    source: server
    inputs:
      name: {name}
      vpc_id: "{{{{ modules.network.vpc_id }}}}"
      subnet_id: "{{{{ modules.network.subnet_id }}}}"
    verify: {{absent: ["{python}", look.py, "{endpoint}", "{name}"]}}
  parameter:
    source: parameter
    inputs: {{name: {name}, instance_id: "{{{{ modules.server.instance_id }}}}"}}
  check:
    source: check
    inputs: {{parameter: "{{{{ modules.parameter.name }}}}"}}
"""

_NETWORK = """
variable "stack" { type = string }
variable "name" { type = string }
variable "subnets" { type = number }
resource "aws_vpc" "this" {
  cidr_block = "10.0.0.0/16"
  tags       = { Stack = var.stack, Name = var.name }
}
resource "aws_subnet" "this" {
  count      = var.subnets
  vpc_id     = aws_vpc.this.id
  cidr_block = cidrsubnet(aws_vpc.this.cidr_block, 4, count.index)
  tags       = { Stack = var.stack }
}
output "name" { value = aws_vpc.this.tags.Name }
output "vpc_id" { value = aws_vpc.this.id }
output "subnet_id" { value = aws_subnet.this[0].id }
output "subnet_ids" { value = aws_subnet.this[*].id }
"""

_SERVER = """
variable "name" { type = string }
variable "vpc_id" { type = string }
variable "subnet_id" { type = string }
resource "aws_security_group" "this" {
  name   = var.name
  vpc_id = var.vpc_id
}
resource "aws_instance" "this" {
  ami                    = "ami-12c6146b"
  instance_type          = "t2.micro"
  subnet_id              = var.subnet_id
  vpc_security_group_ids = [aws_security_group.this.id]
  tags                   = { Name = var.name }
}
output "instance_id" { value = aws_instance.this.id }
"""

_PARAMETER = """
variable "name" { type = string }
variable "instance_id" { type = string }
resource "aws_ssm_parameter" "server" {
  name  = "/${var.name}/server"
  type  = "String"
  value = var.instance_id
}
output "name" { value = aws_ssm_parameter.server.name }
"""

_CHECK = """
variable "parameter" { type = string }
data "aws_ssm_parameter" "server" { name = var.parameter }
data "aws_instance" "server" { instance_id = nonsensitive(data.aws_ssm_parameter.server.value) }
resource "terraform_data" "running" {
  input = data.aws_instance.server.id
  lifecycle {
    precondition {
      condition     = data.aws_instance.server.instance_state == "running"
      error_message = "The server does not run."
    }
  }
}
output "server" { value = terraform_data.running.output }
"""

_LOOK = """
import os
import sys

import boto3

endpoint, name = sys.argv[1:]
ec2 = boto3.client("ec2", os.environ["AWS_REGION"], endpoint_url=endpoint)
found = ec2.describe_instances(Filters=[{"Name": "tag:Name", "Values": [name]}])["Reservations"]
left = [i["InstanceId"] for r in found for i in r["Instances"] if i["State"]["Name"] != "terminated"]
groups = ec2.describe_security_groups(Filters=[{"Name": "group-name", "Values": [name]}])["SecurityGroups"]
left += [group["GroupId"] for group in groups]
print("\\n".join(left))
sys.exit(1 if left else 0)
"""


def write_chain(project: Project, server: Server, bucket: str, *, vpc: str = "first", subnets: int = 1) -> None:
    """Write the stack, named as its bucket; state and ledger lie there, on the server that plays AWS, too."""
    (project.root / "look.py").write_text(_LOOK)
    told = {"endpoint": server.endpoint, "python": sys.executable}
    manifest = _MANIFEST.format(name=bucket, vpc=vpc, subnets=subnets, **told) + server.state(bucket)
    provider = AWS_PROVIDER.format(endpoint=server.endpoint)
    sources = dict(zip(MODULES, (_NETWORK, _SERVER, _PARAMETER, _CHECK), strict=True))
    project.write(manifest, **{name: provider + text for name, text in sources.items()})


def client(service: str, server: Server) -> Any:
    """The test's own way to what moto holds."""
    session: Any = boto3.Session(KEY_ID, SECRET, region_name=REGION)
    return session.client(service, endpoint_url=server.endpoint)
