#!/usr/bin/env bash
# Generates docs/ from templates/, examples/ and the schema of the provider as
# it is. Run it through terraform.sh, which says where Terraform is. The result
# is the same with each Terraform and OpenTofu that can be used.
set -euo pipefail

cd "$(dirname "${BASH_SOURCE[0]}")/../.."
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

internal/tools/mirror.sh "$work/mirror"
cp examples/provider/provider.tf "$work"
terraform=$TF_ACC_TERRAFORM_PATH
"$terraform" -chdir="$work" init -no-color -plugin-dir="$work/mirror" >/dev/null
# The generator knows providers by their short names.
"$terraform" -chdir="$work" providers schema -json |
  sed -E 's|"registry\.[a-z.]+/graphdeploy/graphdeploy":|"graphdeploy":|' >"$work/schema.json"
if ! grep -q '"write_only":true' "$work/schema.json"; then
  echo "$terraform does not know write-only arguments, which the docs show. Use Terraform 1.11 or newer." >&2
  exit 1
fi
# Identities (from Terraform 1.12 on) and list resources (1.14) are not in the
# schemas of all. The generator wants to know that they exist; the templates
# say themselves what there is to know of them, so an empty schema does.
for part in resource_identity_schemas list_resource_schemas; do
  if ! grep -q "\"$part\":" "$work/schema.json"; then
    sed -E "s|\"graphdeploy\":\{|&\"$part\":{\"graphdeploy_deployment\":{\"version\":0,\"block\":{}}},|" "$work/schema.json" >"$work/more.json"
    mv "$work/more.json" "$work/schema.json"
  fi
done
go build -C internal/tools -o "$work" github.com/hashicorp/terraform-plugin-docs/cmd/tfplugindocs
"$work/tfplugindocs" generate --provider-name graphdeploy --providers-schema "$work/schema.json"
