include "root" {
  path = find_in_parent_folders("root.hcl")
}

terraform {
  source = "${get_terragrunt_dir()}/../../../modules//db"
}

dependency "vpc" {
  config_path = "../vpc"
}

inputs = {
  vpc_id   = dependency.vpc.outputs.vpc_id
  password = run_cmd("--terragrunt-quiet", "pass", "db")
}
