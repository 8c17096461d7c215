variables {
  cloud = ".cloud"
  cidr  = "10.0.0.0/24"
}

run "makes_a_subnet" {
  assert {
    condition     = jsondecode(file(".cloud/${output.subnet_id}.json")).cidr == "10.0.0.0/24"
    error_message = "The cloud has no subnet of the wanted range."
  }
}

run "refuses_a_range_that_is_none" {
  command = plan
  variables {
    cidr = "10.0.0.0"
  }
  expect_failures = [var.cidr]
}

run "refuses_a_range_with_no_room_for_a_machine" {
  command = plan
  variables {
    cidr = "10.0.0.0/31"
  }
  expect_failures = [var.cidr]
}
