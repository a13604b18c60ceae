#!/usr/bin/env bash
# Lists the modules that the code and its tests import, and the tools, for which there is a newer release.
set -euo pipefail

cd "$(dirname "${BASH_SOURCE[0]}")/../.."
# outdated FOLDER ARGUMENT...: the modules of the packages that go list prints for the arguments
outdated() {
  local modules
  modules=$(cd "$1" && go list -f '{{with .Module}}{{if not (or .Main .Replace)}}{{.Path}}{{end}}{{end}}' "${@:2}" | sort -u)
  # shellcheck disable=SC2086 # a module path has no spaces
  (cd "$1" && go list -m -u -f '{{with .Update}}{{$.Path}} {{$.Version}} -> {{.Version}}{{end}}' $modules)
}

outdated . -deps -test ./...
outdated internal/cmd/bench -deps -test ./...
outdated internal/cmd/checkrelease -deps -test ./...
for module in internal/tools/go.mod internal/tools/*/go.mod; do
  outdated "${module%/go.mod}" tool
done
