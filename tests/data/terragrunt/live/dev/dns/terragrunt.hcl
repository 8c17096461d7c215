include "root" {
  path = find_in_parent_folders("root.hcl")
}

terraform {
  source = "tfr:///terraform-aws-modules/route53/aws?version=4.1.0"
}

exclude {
  if      = true
  actions = ["destroy"]
}

inputs = { zone = "dev.example.org" }
