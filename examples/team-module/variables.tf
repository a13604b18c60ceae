variable "base_url" {
  description = "Root of the service. The default is where `go run ./internal/cmd/fakeserver` listens."
  type        = string
  default     = "http://127.0.0.1:8080"
}

variable "environment" {
  description = "Where the team's deployments run: `dev`, `staging` or `prod`."
  type        = string
  default     = "dev"
}

variable "index_key" {
  description = "Secret of the API. The default is none to keep."
  type        = string
  sensitive   = true
  ephemeral   = true
  default     = "not-a-real-key"
}
