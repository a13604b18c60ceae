variable "base_url" {
  description = "Root of the service. The default is where `go run ./internal/cmd/fakeserver` listens."
  type        = string
  default     = "http://127.0.0.1:8080"
}

variable "name" {
  description = "Name of the deployment that the postcondition is about."
  type        = string
  default     = "search"
}

variable "time_to_be_ready" {
  description = "How long an apply waits for it after it was created or changed, such as `10m`."
  type        = string
  default     = "10m"
}

variable "watched" {
  description = "Names of the deployments that the check is about. The default is one that the fake service begins with."
  type        = set(string)
  default     = ["legacy-bot"]
}
