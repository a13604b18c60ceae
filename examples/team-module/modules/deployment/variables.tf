variable "team" {
  description = "Team that owns the deployment."
  type        = string

  validation {
    condition     = can(regex("^[a-z][a-z0-9]*$", var.team))
    error_message = "A team name has lowercase letters and digits, and starts with a letter."
  }
}

variable "name" {
  description = "Name of the deployment, unique within the team."
  type        = string

  validation {
    condition     = can(regex("^[a-z][a-z0-9-]{0,30}[a-z0-9]$", var.name))
    error_message = "A name has 2 to 32 lowercase letters, digits and hyphens, starts with a letter, and does not end with a hyphen."
  }
}

variable "environment" {
  description = "Environment: `dev`, `staging` or `prod`."
  type        = string
  default     = "dev"

  validation {
    condition     = contains(["dev", "staging", "prod"], var.environment)
    error_message = "The environment must be dev, staging or prod."
  }
}

variable "image" {
  description = "Image to run, with an immutable tag or a digest."
  type        = string

  validation {
    condition     = can(regex("(:[^:/@]+|@sha256:[0-9a-f]{64})$", var.image)) && !endswith(var.image, ":latest")
    error_message = "The image must have a digest, or a tag other than latest."
  }
}

variable "size" {
  description = "Size of an instance: `small`, `medium` or `large`."
  type        = string
  default     = "small"

  validation {
    condition     = contains(["small", "medium", "large"], var.size)
    error_message = "The size must be small, medium or large."
  }
}

variable "max_scale" {
  description = "Maximum number of instances, from 2 to 20."
  type        = number
  default     = 4

  validation {
    condition     = var.max_scale >= 2 && var.max_scale <= 20 && floor(var.max_scale) == var.max_scale
    error_message = "The maximum number of instances must be an integer from 2 to 20."
  }
}

variable "labels" {
  description = "Additional labels. The module sets the labels team and environment."
  type        = map(string)
  default     = {}

  validation {
    condition     = length(setintersection(keys(var.labels), ["team", "environment"])) == 0
    error_message = "The module sets the labels team and environment."
  }
}

variable "secrets" {
  description = "Map of secrets. Never stored in state or plan."
  type        = map(string)
  sensitive   = true
  ephemeral   = true
  default     = {}
}

variable "secrets_version" {
  description = "Version of the secrets. Change it to send them again."
  type        = string
  default     = null
}
