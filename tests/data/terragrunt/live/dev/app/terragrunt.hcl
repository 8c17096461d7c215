include "root" {
  path = find_in_parent_folders("root.hcl")
}

include "common" {
  path = "${dirname(find_in_parent_folders("root.hcl"))}/_envcommon/app.hcl"
}

terraform {
  source = "../../../modules//app"

  after_hook "smoke" {
    commands = ["apply"]
    execute  = ["./smoke.sh", "app"]
  }
}

dependencies {
  paths = ["../dns"]
}
