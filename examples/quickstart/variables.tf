variable "base_url" {
  description = "Root URL of the API. The default is the address of `make fakeserver`."
  type        = string
  default     = "http://127.0.0.1:8080"
}

variable "integration_id" {
  description = "ID of the code-host integration that has the repository. The default exists in the fake service."
  type        = string
  default     = "11111111-2222-4333-8444-555555555555"
}

variable "queue_token" {
  description = "Secret of the worker. The default is a placeholder."
  type        = string
  sensitive   = true
  default     = "not-a-real-token"
}
