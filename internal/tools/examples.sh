#!/usr/bin/env bash
# Checks that the examples and their tests are formatted, and valid with the
# provider. (TestAccExamples runs the tests.) Run it through terraform.sh, which
# finds Terraform. Reports and omits the examples that this Terraform is too old
# for.
set -euo pipefail

cd "$(dirname "${BASH_SOURCE[0]}")/../.."
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

terraform=$TF_ACC_TERRAFORM_PATH
program=$("$terraform" version | sed -nE '1s/^(Terraform|OpenTofu) v([0-9]+\.[0-9]+).*/\1 \2/p')

# at_least MINOR reports whether the version is at least 1.MINOR.
at_least() {
  [[ ${program#* 1.} -ge $1 ]]
}

# check NAME ARGUMENT... FILE... copies files and folders into a folder of their
# own, and validates them there, tests included.
check() {
  local name=$1 arguments=()
  shift
  while [[ $1 == -* ]]; do
    arguments+=("$1")
    shift
  done
  local folder=$work/$name
  mkdir -p "$folder"
  cp -R "$@" "$folder"
  # Examples of a single resource omit required_providers.
  if ! grep -qr required_providers "$@"; then
    cat >"$folder/versions.tf" <<'SOURCE'
terraform {
  required_providers {
    graphdeploy = {
      source = "graphdeploy/graphdeploy"
    }
  }
}
SOURCE
  fi
  "$terraform" -chdir="$folder" init -no-color -plugin-dir="$work/mirror" >"$work/init.log" || { cat "$work/init.log"; exit 1; }
  "$terraform" -chdir="$folder" validate -no-color ${arguments[@]+"${arguments[@]}"} >"$work/validate.log" || { echo "$name:"; cat "$work/validate.log"; exit 1; }
  echo "$name is valid"
}

"$terraform" fmt -check -diff -recursive examples
internal/tools/mirror.sh "$work/mirror"
for example in $(find examples -name '*.tf' -exec dirname {} + | sort -u); do
  if [[ $example == examples/actions/* ]] && ! { [[ $program == Terraform* ]] && at_least 14; }; then
    echo "$example is omitted: it needs Terraform 1.14, this is $program"
    continue
  fi
  files=()
  for file in "$example"/*.tf "$example"/*.tftest.hcl "$example"/modules; do
    [[ -e $file ]] || continue
    # Validated below, because it imports the same resource as another file of its folder.
    [[ $file == */import-by-identity.tf ]] || files+=("$file")
  done
  check "$example" "${files[@]}"
done
for file in examples/resources/*/import-by-identity.tf; do
  if at_least 12; then
    check "$file" "$file" "${file%/*}/resource.tf"
  else
    echo "$file is omitted: it needs Terraform or OpenTofu 1.12, this is $program"
  fi
done
for file in examples/list-resources/*/*.tfquery.hcl; do
  if [[ $program == Terraform* ]] && at_least 14; then
    check "$file" -query "$file"
  else
    echo "$file is omitted: it needs Terraform 1.14, this is $program"
  fi
done
