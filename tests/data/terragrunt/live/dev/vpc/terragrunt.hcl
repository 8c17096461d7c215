include "root" {
  path = find_in_parent_folders("root.hcl")
}

terraform {
  source = "../../../modules//vpc"

  before_hook "lint" {
    commands = ["plan"]
    execute  = ["tflint"]
  }

  extra_arguments "more" {
    commands           = ["plan", "apply"]
    arguments          = ["-lock-timeout=20m"]
    optional_var_files = ["common.tfvars"]
    env_vars           = { AWS_PROFILE = "dev" }
  }
}

prevent_destroy = true

errors {
  retry "throttled" {
    retryable_errors   = ["(?s).*Throttling.*"]
    max_attempts       = 4
    sleep_interval_sec = 20
  }
}

inputs = { cidr = "10.0.0.0/16" }
