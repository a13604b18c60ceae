variable "base_url" {
  description = "Root URL of the API. The default is the address of `make fakeserver`."
  type        = string
  default     = "http://127.0.0.1:8080"
}

# Read both variables from the secret manager in one step, so that they match.
# For example, with AWS Secrets Manager:
#
#   secret=$(aws secretsmanager get-secret-value --secret-id payments/key --output json)
#   export TF_VAR_payment_key=$(jq -r .SecretString <<<"$secret")
#   export TF_VAR_payment_key_version=$(jq -r .VersionId <<<"$secret")

variable "payment_key" {
  description = "Value of the secret. The default is a placeholder."
  type        = string
  sensitive   = true
  ephemeral   = true
  default     = "not-a-real-key"
}

variable "payment_key_version" {
  description = "Version ID of the secret in the secret manager. The default is a placeholder."
  type        = string
  default     = "b1f6a1c4-5c0e-4f0b-9d7a-2e8c3f4a5b6d"
}
