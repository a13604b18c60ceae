variable "base_url" {
  description = "Root URL of the API. The default is the address of `make fakeserver`."
  type        = string
  default     = "http://127.0.0.1:8080"
}

variable "name" {
  description = "Name of the deployment with the postcondition."
  type        = string
  default     = "search"
}

variable "time_to_be_ready" {
  description = "How long an apply waits until that deployment is ready, for example `10m`."
  type        = string
  default     = "10m"
}

variable "watched" {
  description = "Names of the deployments to check. The default exists in the fake service."
  type        = set(string)
  default     = ["legacy-bot"]
}
