remote_state {
  backend  = "s3"
  generate = { path = "backend.tf", if_exists = "overwrite_terragrunt" }
  config = {
    bucket              = "acme-state"
    key                 = "${path_relative_to_include()}/terraform.tfstate"
    region              = "eu-central-1"
    encrypt             = true
    dynamodb_table      = "locks"
    skip_bucket_root_access = true
  }
}

generate "provider" {
  path      = "provider.tf"
  if_exists = "overwrite_terragrunt"
  contents  = "provider \"aws\" {\n  region = \"eu-central-1\"\n}\n"
}

inputs = { team = "shop" }
