variable "base_url" {
  description = "Root of the service. The default is where `go run ./internal/cmd/fakeserver` listens."
  type        = string
  default     = "http://127.0.0.1:8080"
}

variable "integration_id" {
  description = "Code-host integration that the repository belongs to. The default is the fake service's."
  type        = string
  default     = "11111111-2222-4333-8444-555555555555"
}

variable "queue_token" {
  description = "Secret of the worker. The default is none to keep."
  type        = string
  sensitive   = true
  default     = "not-a-real-token"
}
