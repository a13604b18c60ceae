#!/usr/bin/env bash
# Finds Terraform. Without arguments, prints the path of the binary. With
# arguments, runs them as a command, in the environment that the acceptance
# tests and the demo need.
#
# Uses the first of: the binary that TF_ACC_TERRAFORM_PATH names, terraform on
# the path, tofu (OpenTofu) on the path, a Terraform downloaded into a cache.
set -euo pipefail

download_version=1.15.9

download() {
  case $(uname -s) in
    Darwin) cache=$HOME/Library/Caches ;;
    *) cache=${XDG_CACHE_HOME:-$HOME/.cache} ;;
  esac
  cache=$cache/terraform-provider-graphdeploy/terraform-$download_version
  if [[ ! -x $cache/terraform ]]; then
    echo "Neither terraform nor tofu is on the path: downloading Terraform $download_version into $cache." >&2
    mkdir -p "$cache"
    # Download into a temporary folder first, because another run may download at the same time.
    local temporary
    temporary=$(mktemp -d "$cache/download.XXXXXX")
    if ! go run -C "$(dirname "${BASH_SOURCE[0]}")" github.com/hashicorp/hc-install/cmd/hc-install \
      install -version "$download_version" -path "$temporary" terraform >&2; then
      rm -rf "$temporary"
      cat >&2 <<'MISSING'

Terraform is missing, and the download failed (see above). Do one of these:
  - install Terraform 1.11 or later on the path;
  - install OpenTofu 1.11 or later on the path;
  - set TF_ACC_TERRAFORM_PATH to the path of either binary.
MISSING
      return 1
    fi
    mv -f "$temporary/terraform" "$cache/terraform"
    rm -rf "$temporary"
  fi
  echo "$cache/terraform"
}

find_terraform() {
  if [[ -n ${TF_ACC_TERRAFORM_PATH:-} ]]; then
    if [[ ! -x $TF_ACC_TERRAFORM_PATH || -d $TF_ACC_TERRAFORM_PATH ]]; then
      echo "TF_ACC_TERRAFORM_PATH must be the path of an executable file; got $TF_ACC_TERRAFORM_PATH" >&2
      return 1
    fi
    realpath "$TF_ACC_TERRAFORM_PATH"
  else
    command -v terraform || command -v tofu || download
  fi
}

terraform=$(find_terraform)
if [[ $# -eq 0 ]]; then
  echo "$terraform"
  exit
fi

export TF_ACC_TERRAFORM_PATH=$terraform
# Without the user's CLI configuration, and without the check for newer versions.
export TF_CLI_CONFIG_FILE=/dev/null CHECKPOINT_DISABLE=1
if "$terraform" version | grep -q '^OpenTofu'; then
  export TF_ACC_PROVIDER_HOST=registry.opentofu.org # for terraform-plugin-testing
fi
exec "$@"
