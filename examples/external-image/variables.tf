variable "base_url" {
  description = "Root URL of the API. The default is the address of `make fakeserver`."
  type        = string
  default     = "http://127.0.0.1:8080"
}

variable "image" {
  description = "Image to run, with an immutable tag."
  type        = string
  default     = "registry.example.com/invoices:3.4.1"
}

variable "payment_key" {
  description = "Secret of the application. The default is a placeholder."
  type        = string
  sensitive   = true
  ephemeral   = true
  default     = "not-a-real-key"
}

variable "deletion_policy" {
  description = "Behavior on destroy: `abandon` keeps the deployment running, `delete` and null delete it, `prevent` makes it an error."
  type        = string
  default     = "abandon"
}
