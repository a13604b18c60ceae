#!/usr/bin/env bash
# Builds a release into dist/, and checks it against the rules of the registry.
# Publishes nothing. The workflow runs check, build, sign and verify one after
# the other, in jobs with different permissions.
#
#   release.sh check      that the tag at HEAD may be released: its commit is on
#                         main, CHANGELOG.md has its notes, the key is named
#   release.sh build      build the tag at HEAD, without a signature; needs no secret
#   release.sh sign       sign the checksums with the key in GPG_PRIVATE_KEY, whose
#                         passphrase, if it has one, is GPG_PASSPHRASE
#   release.sh verify     check the signed release
#   release.sh snapshot   build the last commit twice, unsigned and without a
#                         version, check it, and compare both builds
set -euo pipefail

cd "$(dirname "${BASH_SOURCE[0]}")/../.."
PATH=$PWD/bin:$PATH
project=terraform-provider-graphdeploy
key_file=.github/release-key-fingerprint
# Short, because the path of gpg's socket has a maximum length.
work=$(mktemp -d /tmp/release.XXXXXX)
trap 'gpgconf --homedir "$work/gpg" --kill all 2>/dev/null || true; rm -rf "$work"' EXIT

fail() {
  printf '%s\n' "$@" >&2
  exit 1
}

# fingerprint prints the fingerprint of the key that signs releases.
fingerprint() {
  local text=
  [[ ! -e $key_file ]] || text=$(tr -d '[:space:]' <"$key_file")
  [[ $text =~ ^[0-9A-Fa-f]{40}$ ]] || fail \
    "$key_file must contain the fingerprint of the RSA key that signs releases, 40 hexadecimal digits." \
    "Print it with: gpg --list-secret-keys --fingerprint" \
    "Commit the file to main, then tag a commit that contains it. CONTRIBUTING.md (\"A release\") describes the key."
  tr '[:lower:]' '[:upper:]' <<<"$text"
}

# checksums FOLDER prints the path of the file of checksums.
checksums() {
  local files=("$1"/"$project"_*_SHA256SUMS)
  [[ ${#files[@]} -eq 1 && -e ${files[0]} ]] || fail "$1 must contain exactly one release."
  echo "${files[0]}"
}

# add_manifest FOLDER: the registry expects the manifest among the files of a
# release, under the name that it has in the checksums.
add_manifest() {
  local sums
  sums=$(checksums "$1")
  cp terraform-registry-manifest.json "${sums%_SHA256SUMS}_manifest.json"
}

# snapshot REPOSITORY FOLDER builds the last commit in a clone, without
# uncommitted changes and files.
snapshot() {
  local skip=publish
  if ! command -v syft >/dev/null; then
    skip+=,sbom
    echo "The snapshot has no SBOMs: syft is neither on the path nor in bin/ (make bin/syft)." >&2
  fi
  git clone --quiet "$1" "$2"
  (cd "$2" && goreleaser release --snapshot --skip="$skip")
  (cd "$2" && add_manifest dist)
}

case ${1:-} in
  check)
    tag=$(git tag --points-at HEAD)
    [[ $tag =~ ^v[^[:space:]]+$ ]] || fail "The commit must have exactly one tag, such as v1.2.3; got \"$tag\"."
    main=origin/main
    git rev-parse --quiet --verify "$main" >/dev/null || fail "$main is missing: fetch the whole history."
    git merge-base --is-ancestor HEAD "$main" || fail "$tag is not on main. Merge the commit first, then tag it there."
    fingerprint >/dev/null
    internal/tools/release-notes.sh "$tag" >/dev/null
    echo "$tag can be released."
    ;;
  build)
    goreleaser release --clean --skip=publish
    add_manifest dist
    go -C internal/cmd/checkrelease run . "$PWD/dist"
    ;;
  sign)
    key=$(fingerprint)
    sums=$(checksums dist)
    export GNUPGHOME=$work/gpg
    mkdir -m 700 "$GNUPGHOME"
    gpg --batch --quiet --import <<<"${GPG_PRIVATE_KEY:?the private key to sign with, armored}"
    unset GPG_PRIVATE_KEY
    # The exclamation mark selects this very key, and none of its subkeys.
    gpg --batch --yes --pinentry-mode=loopback --passphrase-fd=0 --local-user="$key!" \
      --output="$sums.sig" --detach-sign "$sums" <<<"${GPG_PASSPHRASE-}"
    gpg --batch --verify "$sums.sig" "$sums"
    ;;
  verify)
    key=$(fingerprint)
    go -C internal/cmd/checkrelease run . -key "$key" "$PWD/dist"
    ;;
  snapshot)
    [[ -z $(git status --porcelain) ]] || echo "The snapshot contains committed changes only." >&2
    rm -rf dist
    snapshot . "$work/first"
    go -C internal/cmd/checkrelease run . "$work/first/dist"
    # The second build has another path, time zone and umask.
    (
      umask 077
      TZ=Asia/Kathmandu snapshot "$work/first" "$work/the second"
    )
    diff "$work/first/dist/"*_SHA256SUMS "$work/the second/dist/"*_SHA256SUMS ||
      fail "Two builds of one commit differ (above)."
    echo "Two builds of $(git rev-parse --short HEAD) are identical."
    cp -R "$work/first/dist" dist
    ;;
  *)
    sed -n '2,/^set/{/^set/!s/^# \{0,1\}//p}' "$0" >&2
    exit 2
    ;;
esac
