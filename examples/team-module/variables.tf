variable "base_url" {
  description = "Root URL of the API. The default is the address of `make fakeserver`."
  type        = string
  default     = "http://127.0.0.1:8080"
}

variable "environment" {
  description = "Environment of the deployments: `dev`, `staging` or `prod`."
  type        = string
  default     = "dev"
}

variable "index_key" {
  description = "Secret of the API. The default is a placeholder."
  type        = string
  sensitive   = true
  ephemeral   = true
  default     = "not-a-real-key"
}
