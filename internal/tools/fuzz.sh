#!/usr/bin/env bash
# Runs every fuzz test of the repository, one after the other, each for a
# duration or a number of executions:
#
#   fuzz.sh 10s
#   fuzz.sh 2000x
set -euo pipefail

amount=${1:-}
if [[ ! $amount =~ ^[0-9]+[xsmh]$ ]]; then
  echo "usage: fuzz.sh AMOUNT, a duration such as 10s or 5m, or a number of executions such as 2000x; got \"$amount\"" >&2
  exit 2
fi
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
tests=$(grep -ro --include='*_test.go' '^func Fuzz[A-Za-z0-9_]*' internal | sed -E 's|^(.*)/[^/]*:func |./\1 |' | sort)
failed=0
while read -r package test; do
  echo "$package $test"
  go test -run '^$' -fuzz "^$test\$" -fuzztime "$amount" "$package" </dev/null || failed=1
done <<<"$tests"
exit "$failed"
