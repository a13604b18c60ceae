#!/usr/bin/env bash
# Runs every fuzz test, one after the other, each for so long, or so often:
#
#   fuzz.sh 10s
#   fuzz.sh 2000x
set -euo pipefail

amount=${1:?for how long, such as 10s, or how often, such as 2000x}
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
failed=0
while read -r package test; do
  echo "$package $test"
  go test -run '^$' -fuzz "^$test\$" -fuzztime "$amount" "$package" </dev/null || failed=1
done < <(grep -ro --include='*_test.go' '^func Fuzz[A-Za-z0-9_]*' internal | sed -E 's|^(.*)/[^/]*:func |./\1 |' | sort)
exit "$failed"
