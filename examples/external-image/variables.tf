variable "base_url" {
  description = "Root of the service. The default is where `go run ./internal/cmd/fakeserver` listens."
  type        = string
  default     = "http://127.0.0.1:8080"
}

variable "image" {
  description = "Image to run, with a tag that does not move."
  type        = string
  default     = "registry.example.com/invoices:3.4.1"
}

variable "payment_key" {
  description = "Secret of the application. The default is none to keep."
  type        = string
  sensitive   = true
  ephemeral   = true
  default     = "not-a-real-key"
}

variable "deletion_policy" {
  description = "What destroying does: `abandon` leaves the deployment running, `delete` insists on deleting, null deletes where it can."
  type        = string
  default     = "abandon"
}
