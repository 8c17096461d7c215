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
  default     = "configuration"
  description = "Name of the configuration; faults are injected by name."
  validation {
    condition     = can(regex("^[a-z][a-z0-9-]*$", var.name))
    error_message = "A name is made of a-z, 0-9 and -, and begins with a letter."
  }
}

variable "vm_id" {
  type        = string
  description = "Id of the machine that is configured."
  validation {
    condition     = can(regex("^vm-[0-9a-f]{8}$", var.vm_id))
    error_message = "The id of a machine looks like vm-0123abcd."
  }
}

variable "release" {
  type        = string
  description = "Release of the software that the machine runs, such as 1.0."
  validation {
    condition     = can(regex("^[0-9]+[.][0-9]+$", var.release))
    error_message = "A release is two numbers with a dot between them."
  }
}

variable "settings" {
  type        = map(string)
  default     = {}
  description = "Settings of the software."
}
