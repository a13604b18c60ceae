#!/usr/bin/env bash
# Finds Terraform. Without arguments it prints the path of the binary; with
# arguments it runs them as a command, with what the acceptance tests and the
# demo want in the environment.
#
# In this order: the binary that TF_ACC_TERRAFORM_PATH names, terraform on the
# path, OpenTofu's tofu on the path, and a Terraform fetched into a cache.
set -euo pipefail

fetched_version=1.15.8

fetch() {
  case $(uname -s) in
    Darwin) cache=$HOME/Library/Caches ;;
    *) cache=${XDG_CACHE_HOME:-$HOME/.cache} ;;
  esac
  cache=$cache/terraform-provider-graphdeploy/terraform-$fetched_version
  if [[ ! -x $cache/terraform ]]; then
    echo "There is no terraform and no tofu on the path: fetching Terraform $fetched_version into $cache." >&2
    mkdir -p "$cache"
    # Into a folder beside it first: another run may be fetching, too.
    local fresh
    fresh=$(mktemp -d "$cache/fetching.XXXXXX")
    if ! go run -C "$(dirname "${BASH_SOURCE[0]}")" github.com/hashicorp/hc-install/cmd/hc-install \
      install -version "$fetched_version" -path "$fresh" terraform >&2; then
      rm -rf "$fresh"
      cat >&2 <<'MISSING'

Terraform is missing, and it could not be fetched (the reason stands above). One of these mends it:
  - install Terraform 1.11 or newer, so that terraform is on the path;
  - install OpenTofu 1.11 or newer, so that tofu is on the path;
  - set TF_ACC_TERRAFORM_PATH to the file of either one.
MISSING
      return 1
    fi
    mv -f "$fresh/terraform" "$cache/terraform"
    rm -rf "$fresh"
  fi
  echo "$cache/terraform"
}

find_terraform() {
  if [[ -n ${TF_ACC_TERRAFORM_PATH:-} ]]; then
    if [[ ! -x $TF_ACC_TERRAFORM_PATH || -d $TF_ACC_TERRAFORM_PATH ]]; then
      echo "TF_ACC_TERRAFORM_PATH names $TF_ACC_TERRAFORM_PATH, which is no program." >&2
      return 1
    fi
    realpath "$TF_ACC_TERRAFORM_PATH"
  else
    command -v terraform || command -v tofu || fetch
  fi
}

terraform=$(find_terraform)
if [[ $# -eq 0 ]]; then
  echo "$terraform"
  exit
fi

export TF_ACC_TERRAFORM_PATH=$terraform
# Not the settings of whoever runs this, and no look for newer versions.
export TF_CLI_CONFIG_FILE=/dev/null CHECKPOINT_DISABLE=1
if "$terraform" version | grep -q '^OpenTofu'; then
  export TF_ACC_PROVIDER_HOST=registry.opentofu.org # for terraform-plugin-testing
fi
exec "$@"
