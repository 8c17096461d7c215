variables {
  cloud   = ".cloud"
  vm_id   = "vm-00000000"
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

run "writes_the_release_into_the_machine" {
  variables {
    vm_id    = run.vm.id
    settings = { greeting = "hello" }
  }
  assert {
    condition     = jsondecode(file(".cloud/${output.id}.json")).vm_id == run.vm.id
    error_message = "The cloud has no configuration of that machine."
  }
  assert {
    condition     = jsondecode(file(".cloud/${output.id}.json")).settings.greeting == "hello"
    error_message = "The settings were not written."
  }
}

run "replaces_a_release_by_the_next" {
  variables {
    vm_id   = run.vm.id
    release = "1.1"
  }
  assert {
    condition     = output.release == "1.1" && output.id != run.writes_the_release_into_the_machine.id
    error_message = "The release was not replaced."
  }
  assert {
    condition     = !fileexists(".cloud/${run.writes_the_release_into_the_machine.id}.json")
    error_message = "The configuration before it was left behind."
  }
}

run "refuses_a_release_that_is_none" {
  command = plan
  variables {
    release = "latest"
  }
  expect_failures = [var.release]
}
