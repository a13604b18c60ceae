#!/usr/bin/env bash
# Checks that the examples are formatted and valid for the provider as it is.
# Run it through terraform.sh, which says where Terraform is.
set -euo pipefail

cd "$(dirname "${BASH_SOURCE[0]}")/../.."
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

terraform=$TF_ACC_TERRAFORM_PATH
"$terraform" fmt -check -diff -recursive examples
internal/tools/mirror.sh "$work/mirror"
for example in $(find examples -name '*.tf' -exec dirname {} + | sort -u); do
  mkdir -p "$work/$example"
  cp "$example"/*.tf "$work/$example"
  # Examples of one resource leave out where the provider comes from.
  if ! grep -q required_providers "$example"/*.tf; then
    cat >"$work/$example/versions.tf" <<'SOURCE'
terraform {
  required_providers {
    graphdeploy = {
      source = "graphdeploy/graphdeploy"
    }
  }
}
SOURCE
  fi
  "$terraform" -chdir="$work/$example" init -no-color -plugin-dir="$work/mirror" >"$work/init.log" || { cat "$work/init.log"; exit 1; }
  "$terraform" -chdir="$work/$example" validate -no-color >"$work/validate.log" || { echo "$example:"; cat "$work/validate.log"; exit 1; }
  echo "$example is valid"
done
