#!/usr/bin/env bash
# Prints what CHANGELOG.md says of a version. Fails where it says nothing, or
# still calls the version unreleased.
#
#   release-notes.sh v1.2.3
set -euo pipefail

version=${1:?a version such as v1.2.3}
version=${version#v}
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
# A heading is ## 1.2.3 (January 2, 2026).
heading=$(awk -v version="$version" '$1 == "##" && $2 == version' CHANGELOG.md)
if [[ ! $heading =~ \([A-Z][a-z]+\ [0-9]{1,2},\ [0-9]{4}\)$ ]]; then
  echo "CHANGELOG.md has no heading such as: ## $version ($(LC_ALL=C date -u '+%B %-d, %Y'))" >&2
  exit 1
fi
notes=$(awk -v version="$version" '$1 == "##" { its = $2 == version; next } its' CHANGELOG.md)
if [[ -z ${notes//[[:space:]]/} ]]; then
  echo "CHANGELOG.md says nothing of $version." >&2
  exit 1
fi
echo "$notes"
