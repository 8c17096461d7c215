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
  default     = "health"
  description = "Name of the check; faults are injected by name."
  validation {
    condition     = can(regex("^[a-z][a-z0-9-]*$", var.name))
    error_message = "A name is made of a-z, 0-9 and -, and begins with a letter."
  }
}

variable "address" {
  type        = string
  description = "IPv4 address of the machine to look at."
  validation {
    condition     = can(cidrnetmask("${var.address}/32"))
    error_message = "The address must be an IPv4 address."
  }
}

variable "release" {
  type        = string
  description = "Release that the machine is expected to run."
}
