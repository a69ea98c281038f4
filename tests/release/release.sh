#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# release.sh STATE: manifests/release.sh in a clone, with stand-ins for what builds and signs; and what action.yml runs.
set -euo pipefail
export LC_ALL=C
state=$(realpath -m "${1:?STATE}")
source=$(cd "$(dirname "$0")/../.." && pwd)
rows=0

row() { rows=$((rows + 1)); sentence=$*; echo "- $*"; }
wrong() { printf '%s\n  %s\n' "$sentence" "$*" >&2; exit 1; }
is() { [ "$1" = "$2" ] || wrong "got '$1', want '$2'"; }
says() { case $out in *"$1"*) ;; *) wrong "does not say '$1': $out" ;; esac; }

# stand_in PROGRAM TEXT: on PATH it comes first; each call is a line of $state/calls.
stand_in() {
  printf '#!/usr/bin/env bash\nprintf "%%s\\n" "%s $*" >>"%s/calls"\n%s\n' "$1" "$state" "$2" >"$state/bin/$1"
  chmod +x "$state/bin/$1"
}

rm -rf "$state"
mkdir -p "$state/bin"
export PATH=$state/bin:$PATH GIT_CONFIG_GLOBAL=$state/gitconfig GIT_CONFIG_NOSYSTEM=1
git config --global user.name tester
git config --global user.email tester@example.com
git config --global safe.directory '*'
git config --global gpg.program "$state/bin/gpg"
stand_in make 'mkdir -p build/image; echo "an image for $*" >build/image/herd.tar; echo "{}" >build/image/herd.spdx.json'
stand_in cosign 'while [ $# -gt 1 ]; do [ "$1" != --bundle ] || sha256sum <"${@: -1}" >"$2"; shift; done'
stand_in gpg 'cat >/dev/null; echo "[GNUPG:] SIG_CREATED " >&2; echo "-----BEGIN PGP SIGNATURE-----"'
# helm package FOLDER --destination OUT
stand_in helm 'tar -czf "$4/herd-$(sed -n "s/^version: //p" "$2/Chart.yaml").tgz" -C "$(dirname "$2")" herd'

row "a repository as it is released"
clone=$state/clone
git clone -q "$source" "$clone" 2>/dev/null
# What is not committed yet counts too; build/ is ignored as in the repository.
(cd "$source" && git ls-files -z --cached --others --exclude-standard | xargs -0 tar -cf - 2>/dev/null) | tar -xf - -C "$clone"
cd "$clone"
version=$(sed -n 's/^project(herd VERSION \([0-9.]*\).*/\1/p' CMakeLists.txt)
git tag -l | xargs -r git tag -d >/dev/null
commit_all() { git add -A; git commit -q --allow-empty -m "state: as it is released"; }
sed -i "s/^## $version.*/## $version, 2026-12-01/" CHANGELOG.md
commit_all

# release ARGUMENTS...: its exit status in $code, what it says in $out.
release() {
  : >"$state/calls"
  code=0
  out=$(bash manifests/release.sh "$@" 2>&1) || code=$?
}
registry=registry.example.com:5000/herd

row "a dry run says each command and leaves nothing behind"
release --dry-run "$registry"
[ "$code" = 0 ] || wrong "$out"
says "+ 'make' 'image' 'IMAGE=$registry/herd' 'TAG=$version'"
says "+ 'git' 'tag' '--sign' '--message' 'Herd $version' 'v$version'"
says "helm push build/release-$version/herd-$version.tgz oci://$registry/charts"
is "$(cat "$state/calls")" ""
is "$(git tag -l)$(git status --porcelain)$(ls -d build 2>/dev/null || true)" ""

row "a release has image, SBOM, chart, provenance and sums, each signed, and a signed tag; nothing is pushed"
COSIGN_KEY=release.key release "$registry"
[ "$code" = 0 ] || wrong "$out"
folder=build/release-$version
for file in herd-$version.{image.tar,spdx.json,tgz,intoto.json} SHA256SUMS; do
  [ -s "$folder/$file.sigstore.json" ] || wrong "no signature of $file: $(ls "$folder")"
done
(cd "$folder" && sha256sum --quiet -c SHA256SUMS) || wrong "$(cat "$folder/SHA256SUMS")"
is "$(grep -c '^cosign sign-blob --yes --key release.key ' "$state/calls")" 5
is "$(git cat-file tag "v$version" | grep -c 'BEGIN PGP SIGNATURE')" 1
is "$(git rev-list -n 1 "v$version")" "$(git rev-parse HEAD)"
is "$(grep -E 'push|cosign (sign|attest) ' "$state/calls" || true)" ""

row "the provenance names each file with its digest, and the commit; the chart's image is the one that is released"
is "$(jq -r '.subject[] | "\(.digest.sha256)  \(.name)"' "$folder/herd-$version.intoto.json" | (cd "$folder" && sha256sum --quiet -c) 2>&1)" ""
is "$(jq -r '.subject | length' "$folder/herd-$version.intoto.json")" 3
is "$(jq -r '.predicate.buildDefinition.resolvedDependencies[0].digest.gitCommit' "$folder/herd-$version.intoto.json")" "$(git rev-parse HEAD)"
is "$(tar -xOzf "$folder/herd-$version.tgz" herd/values.yaml | sed -n 's/^  registry: //p')" "$registry"
is "$(tar -xOzf "$folder/herd-$version.tgz" herd/Chart.yaml | sed -n 's/^ *image: //p')" "$registry/herd:$version"

row "what is no release is rejected before anything is made"
release --dry-run "$registry"
is "$code" 1
says "the tag v$version is there already"
git tag -d "v$version" >/dev/null
for bad in "" herd registry.example.invalid/herd 'registry.example.com/a b'; do
  release --dry-run "$bad"
  is "$code" 1
  says "names no registry"
done
echo >>README.md
release "$registry"
is "$code" 1
says "not committed"
git checkout -q README.md
for file in manifests/chart/Chart.yaml manifests/webhook/workload.yaml; do
  sed -i "s/$version/9.9.9/" "$file"
  commit_all
  release "$registry"
  is "$code" 1
  says "CMakeLists.txt has version $version; Chart.yaml and the two workload.yaml have"
  git reset -q --hard HEAD~1
done
sed -i "s/^## $version.*/## $version, unreleased/" CHANGELOG.md
commit_all
release "$registry"
is "$code" 1
says "CHANGELOG.md has no section"
is "$(git tag -l)$(cat "$state/calls")" ""

row "where signing fails there is no tag"
git reset -q --hard HEAD~1
stand_in cosign 'echo "no key" >&2; exit 3'
release "$registry"
is "$code $(git tag -l)" "3 "
says "no key"

row "the action reviews what it is told to, writes SARIF and the log, and ends as the review does"
work=$state/work
mkdir -p "$work"
stand_in herd-webhook 'case "$*" in *"--output sarif"*) echo "{sarif}" ;; *) echo "log" ;; esac; exit "${VERDICT:-0}"'
# act VERDICT NAME=VALUE...
act() {
  : >"$state/calls"
  : >"$state/outputs"
  code=0
  out=$(cd "$work" && env VERDICT="$1" GITHUB_OUTPUT="$state/outputs" "${@:2}" bash "$source/.github/review.sh" 2>&1) || code=$?
}
for verdict in 0 1 2; do
  act "$verdict" INPUT_FILES="stacks more/*.yaml" INPUT_ARGS="--fail-on warn" INPUT_SARIF=out.sarif
  is "$code $out $(cat "$work/out.sarif") $(cat "$state/outputs")" "$verdict log {sarif} sarif=out.sarif"
  is "$(head -n 1 "$state/calls")" "herd-webhook review --fail-on warn -- stacks more/*.yaml"
done
stand_in docker 'case "$*" in "image inspect "*) exit 1 ;; *"--output sarif"*) echo "{sarif}" ;; esac'
act 0 INPUT_IMAGE=registry.example.com/herd:1
is "$code $(cat "$work/herd.sarif")" "0 {sarif}"
is "$(sed -nE '1s/.*(--entrypoint.*)/\1/p' "$state/calls")" "--entrypoint /usr/bin/herd-webhook registry.example.com/herd:1 review -- ."
rm "$state/bin/herd-webhook"
if ! command -v herd-webhook >/dev/null; then
  act 0
  is "$(sed 's/ --.*//; s/ herd-review:.*//' "$state/calls" | xargs)" "docker image inspect docker build docker run docker run"
fi

row "each input of the action is one that it passes on"
is "$(sed -n '/^inputs:/,/^outputs:/s/^  \([a-z]*\):$/\1/p' "$source/action.yml" | sort | xargs)" \
  "$(sed -nE 's/^ *INPUT_[A-Z]+: \$\{\{ inputs\.([a-z]+) \}\}$/\1/p' "$source/action.yml" | sort | xargs)"
echo "$rows passed, 0 failed"
