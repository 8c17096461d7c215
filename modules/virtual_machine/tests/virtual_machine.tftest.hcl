variables {
  cloud     = ".cloud"
  subnet_id = "subnet-00000000"
}

run "network" {
  module {
    source = "../network"
  }
  variables {
    cidr = "10.0.0.0/24"
  }
}

run "makes_a_machine_at_the_first_free_address" {
  variables {
    subnet_id = run.network.subnet_id
  }
  assert {
    condition     = output.address == "10.0.0.2"
    error_message = "The machine has another address than the first free one."
  }
  assert {
    condition     = jsondecode(file(".cloud/${output.id}.json")).size == "small"
    error_message = "The cloud has no machine of the wanted size."
  }
}

run "refuses_a_size_that_is_not_offered" {
  command = plan
  variables {
    size = "huge"
  }
  expect_failures = [var.size]
}

run "refuses_an_id_that_is_no_subnet" {
  command = plan
  variables {
    subnet_id = "vm-01234567"
  }
  expect_failures = [var.subnet_id]
}
