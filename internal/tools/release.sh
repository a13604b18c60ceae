#!/usr/bin/env bash
# Builds a release into dist/ and looks at it as the registry does. Publishes
# nothing.
#
#   release.sh snapshot   the last commit, as no version and without a signature;
#                         built twice, and both have to be the same
#   release.sh tag        the version whose tag is checked out, signed by the key
#                         in GPG_PRIVATE_KEY, with GPG_PASSPHRASE if it has one
set -euo pipefail

cd "$(dirname "${BASH_SOURCE[0]}")/../.."
PATH=$PWD/bin:$PATH
project=terraform-provider-graphdeploy
# Short, as gpg makes a socket in there.
work=$(mktemp -d /tmp/release.XXXXXX)
trap 'gpgconf --homedir "$work/gpg" --kill all 2>/dev/null || true; rm -rf "$work"' EXIT

# look FOLDER [-signed]: the registry wants the manifest among the files, under
# the name that the checksums have for it.
look() {
  local sums
  sums=$(echo "$1"/"$project"_*_SHA256SUMS)
  cp terraform-registry-manifest.json "${sums%_SHA256SUMS}_manifest.json"
  go run ./internal/cmd/checkrelease ${2:+"$2"} "$1"
}

# snapshot REPOSITORY FOLDER: builds the last commit in a clone, where no change
# and no file that somebody has lying about gets in.
snapshot() {
  local skip=sign
  if ! command -v syft >/dev/null; then
    skip+=,sbom
    echo "There is no syft on the path and none in bin/ (make bin/syft): the snapshot has no SBOMs."
  fi
  git clone --quiet "$1" "$2"
  (cd "$2" && goreleaser release --snapshot --skip="$skip")
}

case ${1:-} in
  snapshot)
    [[ -z $(git status --porcelain) ]] || echo "Only what is committed gets into the snapshot." >&2
    rm -rf dist
    snapshot . "$work/first"
    look "$work/first/dist"
    # Again, as somebody else would: elsewhere, in another time zone, with other
    # habits.
    (
      umask 077
      TZ=Asia/Kathmandu snapshot "$work/first" "$work/the second"
    )
    diff "$work/first/dist/"*_SHA256SUMS "$work/the second/dist/"*_SHA256SUMS || {
      echo "Two builds of one commit differ (above)." >&2
      exit 1
    }
    echo "Two builds of $(git rev-parse --short HEAD) are the same, byte for byte."
    cp -R "$work/first/dist" dist
    ;;
  tag)
    export GNUPGHOME=$work/gpg
    mkdir -m 700 "$GNUPGHOME"
    gpg --batch --quiet --import <<<"${GPG_PRIVATE_KEY:?the key to sign with}"
    GPG_FINGERPRINT=$(gpg --batch --list-secret-keys --with-colons | awk -F: '$1 == "fpr" { print $10; exit }')
    export GPG_FINGERPRINT GPG_PASSPHRASE=${GPG_PASSPHRASE-}
    unset GPG_PRIVATE_KEY
    goreleaser release --clean --skip=publish
    look dist -signed
    gpg --batch --verify dist/*_SHA256SUMS.sig dist/*_SHA256SUMS
    ;;
  *)
    sed -n '2,/^set/s/^# \{0,1\}//p' "$0" >&2
    exit 2
    ;;
esac
