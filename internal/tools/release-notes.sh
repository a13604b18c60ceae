#!/usr/bin/env bash
# Prints the section of CHANGELOG.md for a version. Fails if there is none, or
# if it has no release date.
#
#   release-notes.sh v1.2.3
set -euo pipefail

version=${1:?a version such as v1.2.3}
version=${version#v}
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
# A heading is ## 1.2.3 (January 2, 2026).
heading=$(awk -v version="$version" '$1 == "##" && $2 == version' CHANGELOG.md)
if [[ ! $heading =~ \([A-Z][a-z]+\ [0-9]{1,2},\ [0-9]{4}\)$ ]]; then
  echo "CHANGELOG.md needs a heading such as: ## $version ($(LC_ALL=C date -u '+%B %-d, %Y'))" >&2
  exit 1
fi
notes=$(awk -v version="$version" '$1 == "##" { matches = $2 == version; next } matches' CHANGELOG.md)
if [[ -z ${notes//[[:space:]]/} ]]; then
  echo "The section of CHANGELOG.md for $version is empty." >&2
  exit 1
fi
echo "$notes"
