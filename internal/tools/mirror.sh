#!/usr/bin/env bash
# Builds the provider into a folder from which Terraform and OpenTofu install
# it without a registry:
#
#   mirror.sh FOLDER [VERSION]
set -euo pipefail

mirror=${1:?a folder to build into} version=${2:-0.1.0}
mkdir -p "$mirror"
mirror=$(cd "$mirror" && pwd)
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

# A source address without a host belongs to Terraform's registry in Terraform, and to OpenTofu's in OpenTofu.
for host in registry.terraform.io registry.opentofu.org; do
  folder=$mirror/$host/graphdeploy/graphdeploy/$version/$(go env GOOS)_$(go env GOARCH)
  mkdir -p "$folder"
  go build -ldflags "-X main.version=$version" \
    -o "$folder/terraform-provider-graphdeploy_v$version$(go env GOEXE)" .
done
