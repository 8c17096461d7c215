dependency "vpc" {
  config_path  = "../vpc"
  mock_outputs = { subnet_ids = ["subnet-mock"], vpc_id = "vpc-mock" }
}

dependency "db" {
  config_path = "../db"
}

inputs = {
  subnet_id = dependency.vpc.outputs.subnet_ids[0]
  url       = "postgres://${dependency.db.outputs.address}:5432/app"
  labels    = merge({ vpc = dependency.vpc.outputs.vpc_id }, { team = "shop" })
  api_token = get_env("APP_TOKEN", "")
}
