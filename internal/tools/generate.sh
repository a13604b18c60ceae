#!/usr/bin/env bash
# Generates docs/ from templates/, examples/ and the schema of the provider. Run
# it through terraform.sh, which finds Terraform. The result is the same with
# every supported Terraform and OpenTofu.
set -euo pipefail

cd "$(dirname "${BASH_SOURCE[0]}")/../.."
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

internal/tools/mirror.sh "$work/mirror"
cp examples/provider/provider.tf "$work"
terraform=$TF_ACC_TERRAFORM_PATH
"$terraform" -chdir="$work" init -no-color -plugin-dir="$work/mirror" >/dev/null
# The generator expects the short name of the provider.
"$terraform" -chdir="$work" providers schema -json |
  sed -E 's|"registry\.[a-z.]+/graphdeploy/graphdeploy":|"graphdeploy":|' >"$work/schema.json"
if ! grep -q '"write_only":true' "$work/schema.json"; then
  echo "$terraform does not support write-only arguments, which the docs describe. Use Terraform 1.11 or later." >&2
  exit 1
fi
# Schemas contain identities in Terraform 1.12 and later, list resources in 1.14
# and later. The generator requires both, but the templates describe them, so
# that empty schemas suffice.
for part in resource_identity_schemas list_resource_schemas; do
  if ! grep -q "\"$part\":" "$work/schema.json"; then
    sed -E "s|\"graphdeploy\":\{|&\"$part\":{\"graphdeploy_deployment\":{\"version\":0,\"block\":{}}},|" "$work/schema.json" >"$work/more.json"
    mv "$work/more.json" "$work/schema.json"
  fi
done
go build -C internal/tools -o "$work" github.com/hashicorp/terraform-plugin-docs/cmd/tfplugindocs
"$work/tfplugindocs" generate --provider-name graphdeploy --providers-schema "$work/schema.json"
