#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# release.sh [--dry-run] REGISTRY: a release of the version that CMakeLists.txt names, up to the push.
#
#   REGISTRY      where image and chart are to go, registry.example.com/herd-project: herd and charts/herd are put behind it
#   COSIGN_KEY    the key to sign with, as cosign takes it (a file, or a KMS); empty: keyless, by OIDC
#   --dry-run     checks all that a release is checked for, then says each command and runs none
#
# Makes build/release-VERSION/: the image (an OCI layout), its SBOM, the chart with the image's registry in its values,
# the provenance of the three (in-toto statement, SLSA 1.0), SHA256SUMS, and a signature of each (sigstore bundle); then the signed tag
# vVERSION. The last lines are what is left to do: the pushes, and the signatures that a registry keeps.
set -euo pipefail
cd "$(dirname "$0")/.."

fail() { printf 'release.sh: %s\n' "$*" >&2; exit 1; }

dry=
[ "${1:-}" != --dry-run ] || { dry=yes; shift; }
registry=${1:-}
[[ $registry =~ ^[a-z0-9.-]+(:[0-9]+)?(/[a-z0-9._/-]+)?$ && $registry == *[.:]* && $registry != *.invalid* ]] ||
  fail "'$registry' names no registry; say for example registry.example.com/herd-project"
version=$(sed -n 's/^project(herd VERSION \([0-9.]*\).*/\1/p' CMakeLists.txt)
tag=v$version
out=build/release-$version
image=$registry/herd:$version

# run COMMAND...: or say it, if this is a dry run.
run() {
  printf '+ %s\n' "${*@Q}"
  [ -n "$dry" ] || "$@"
}

check() {
  local named program
  [ -z "$(git status --porcelain)" ] || fail "there are changes that are not committed: git status"
  ! git rev-parse --quiet --verify "refs/tags/$tag" >/dev/null ||
    fail "the tag $tag is there already; raise the version in CMakeLists.txt, manifests/ and CHANGELOG.md"
  named=$(sed -nE 's/^(version|appVersion): //p; s/^ *image: .*herd:([0-9.]+)$/\1/p' \
    manifests/chart/Chart.yaml manifests/{webhook,controller}/workload.yaml | sort -u | xargs)
  [ "$named" = "$version" ] || fail "CMakeLists.txt has version $version; Chart.yaml and the two workload.yaml have $named"
  grep -qE "^## $version, [0-9]{4}-[0-9]{2}-[0-9]{2}\$" CHANGELOG.md ||
    fail "CHANGELOG.md has no section '## $version, $(date +%F)' (with the date of the release)"
  for program in make helm cosign jq sha256sum; do
    command -v "$program" >/dev/null || fail "$program is not installed"
  done
}

# The chart with the registry that the image goes to; all else as it is in the repository.
package_chart() {
  local copy=$out/chart
  mkdir -p "$copy"
  cp -R manifests/chart "$copy/herd"
  sed -i "s|^  registry: registry\.example\.invalid\$|  registry: $registry|" "$copy/herd/values.yaml"
  sed -i "s|registry\.example\.invalid/herd:|$registry/herd:|" "$copy/herd/Chart.yaml"
  grep -q "^  registry: $registry\$" "$copy/herd/values.yaml" || fail "values.yaml has no image.registry to set"
  helm package "$copy/herd" --destination "$out"
  rm -rf "$copy"
}

# An in-toto statement with SLSA's provenance: these files, from this commit, by this script.
provenance() {
  local commit
  commit=$(git rev-parse HEAD)
  (cd "$out" && sha256sum "herd-$version.image.tar" "herd-$version.tgz" "herd-$version.spdx.json") |
    jq -Rn --arg commit "$commit" --arg version "$version" --arg registry "$registry" \
      --arg builder "${BUILDER_ID:-https://herd.suse.com/release/local}" --arg on "$(git log -1 --format=%cI)" '{
        _type: "https://in-toto.io/Statement/v1",
        subject: [inputs | split("  ") | {name: .[1], digest: {sha256: .[0]}}],
        predicateType: "https://slsa.dev/provenance/v1",
        predicate: {
          buildDefinition: {
            buildType: "https://herd.suse.com/release/v1",
            externalParameters: {version: $version, registry: $registry},
            resolvedDependencies: [{uri: "git+https://herd.suse.com/source", digest: {gitCommit: $commit}}]
          },
          runDetails: {builder: {id: $builder}, metadata: {invocationId: $commit, startedOn: $on}}
        }
      }' >"$out/herd-$version.intoto.json"
}

sign() {
  local file
  (cd "$out" && sha256sum herd-* >SHA256SUMS)
  for file in "$out"/herd-*.{tar,tgz,spdx.json,intoto.json} "$out/SHA256SUMS"; do
    cosign sign-blob --yes ${COSIGN_KEY:+--key "$COSIGN_KEY"} --bundle "$file.sigstore.json" "$file" >/dev/null
  done
}

check
run rm -rf "$out"
run mkdir -p "$out"
run make image "IMAGE=$registry/herd" "TAG=$version"
run cp build/image/herd.tar "$out/herd-$version.image.tar"
run cp build/image/herd.spdx.json "$out/herd-$version.spdx.json"
run package_chart
run provenance
run sign
run git tag --sign --message "Herd $version" "$tag"

cat <<TEXT

Nothing was pushed. What is left:
  git push origin $tag
  bash manifests/image/engine.sh push $out/herd-$version.image.tar $image
  helm push $out/herd-$version.tgz oci://$registry/charts
and, with the digests that both say:
  cosign sign $registry/herd@sha256:...
  cosign sign $registry/charts/herd@sha256:...
  cosign attest --type spdxjson --predicate $out/herd-$version.spdx.json $registry/herd@sha256:...
  jq .predicate $out/herd-$version.intoto.json >predicate.json
  cosign attest --type slsaprovenance1 --predicate predicate.json $registry/herd@sha256:...
TEXT
