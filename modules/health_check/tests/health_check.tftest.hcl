variables {
  cloud   = ".cloud"
  address = "10.0.0.2"
  release = "1.0"
}

run "network" {
  module {
    source = "../network"
  }
  variables {
    cidr = "10.0.0.0/24"
  }
}

run "vm" {
  module {
    source = "../virtual_machine"
  }
  variables {
    subnet_id = run.network.subnet_id
  }
}

run "configuration" {
  module {
    source = "../configuration"
  }
  variables {
    vm_id = run.vm.id
  }
}

run "finds_a_machine_healthy_that_runs_the_release" {
  variables {
    address = run.vm.address
    release = run.configuration.release
  }
  assert {
    condition     = output.healthy
    error_message = "The machine should be healthy."
  }
}

run "refuses_an_address_that_is_none" {
  command = plan
  variables {
    address = "localhost"
  }
  expect_failures = [var.address]
}
