variable "cloud" {
  type        = string
  description = "Folder that holds the cloud's objects, absolute or relative to this module."
  validation {
    condition     = var.cloud != ""
    error_message = "The cloud's folder must not be empty."
  }
}

variable "name" {
  type        = string
  default     = "vm"
  description = "Name of the machine; faults are injected by name."
  validation {
    condition     = can(regex("^[a-z][a-z0-9-]*$", var.name))
    error_message = "A name is made of a-z, 0-9 and -, and begins with a letter."
  }
}

variable "subnet_id" {
  type        = string
  description = "Id of the subnet that the machine lies in."
  validation {
    condition     = can(regex("^subnet-[0-9a-f]{8}$", var.subnet_id))
    error_message = "The id of a subnet looks like subnet-0123abcd."
  }
}

variable "size" {
  type        = string
  default     = "small"
  description = "Size of the machine: small or large."
  validation {
    condition     = contains(["small", "large"], var.size)
    error_message = "The size must be small or large."
  }
}
