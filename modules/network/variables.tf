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
  default     = "network"
  description = "Name of the subnet; faults are injected by name."
  validation {
    condition     = can(regex("^[a-z][a-z0-9-]*$", var.name))
    error_message = "A name is made of a-z, 0-9 and -, and begins with a letter."
  }
}

variable "cidr" {
  type        = string
  description = "Address range of the subnet, such as 10.0.0.0/24."
  validation {
    condition     = can(cidrnetmask(var.cidr)) && can(cidrhost(var.cidr, 2))
    error_message = "The range must be an IPv4 CIDR block with room for a machine: /30 or larger."
  }
}
