variable "team" {
  description = "Team that the deployment belongs to."
  type        = string

  validation {
    condition     = can(regex("^[a-z][a-z0-9]*$", var.team))
    error_message = "A team is written in small letters and digits, and begins with a letter."
  }
}

variable "name" {
  description = "Name of the deployment within the team."
  type        = string

  validation {
    condition     = can(regex("^[a-z][a-z0-9-]{0,30}[a-z0-9]$", var.name))
    error_message = "A name has 2 to 32 small letters, digits and hyphens; it begins with a letter, and does not end with a hyphen."
  }
}

variable "environment" {
  description = "Where it runs: `dev`, `staging` or `prod`."
  type        = string
  default     = "dev"

  validation {
    condition     = contains(["dev", "staging", "prod"], var.environment)
    error_message = "The environment is dev, staging or prod."
  }
}

variable "image" {
  description = "Image to run, with a tag that does not move, or a digest."
  type        = string

  validation {
    condition     = can(regex("(:[^:/@]+|@sha256:[0-9a-f]{64})$", var.image)) && !endswith(var.image, ":latest")
    error_message = "The image needs a tag other than latest, or a digest: what runs is to change with the configuration only."
  }
}

variable "size" {
  description = "How much an instance gets: `small`, `medium` or `large`."
  type        = string
  default     = "small"

  validation {
    condition     = contains(["small", "medium", "large"], var.size)
    error_message = "The size is small, medium or large."
  }
}

variable "max_scale" {
  description = "Most instances, 2 to 20."
  type        = number
  default     = 4

  validation {
    condition     = var.max_scale >= 2 && var.max_scale <= 20 && floor(var.max_scale) == var.max_scale
    error_message = "The most instances are a whole number from 2 to 20."
  }
}

variable "labels" {
  description = "Labels beside those for team and environment."
  type        = map(string)
  default     = {}

  validation {
    condition     = length(setintersection(keys(var.labels), ["team", "environment"])) == 0
    error_message = "The labels team and environment are set by the module."
  }
}

variable "secrets" {
  description = "Secrets, from name to value. They are in no state and no plan."
  type        = map(string)
  sensitive   = true
  ephemeral   = true
  default     = {}
}

variable "secrets_version" {
  description = "Raise it to send secrets again."
  type        = number
  default     = null
}
