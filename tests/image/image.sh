#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# image.sh BIN STATE: what manifests/image/build.sh makes is what a cluster may run.
set -euo pipefail
export LC_ALL=C

bin=$1 state=$2
source=$(cd "$(dirname "$0")/../.." && pwd)
rows=0

row() { rows=$((rows + 1)); sentence=$*; echo "- $*"; }
wrong() { printf '%s\n  %s\n' "$sentence" "$*" >&2; exit 1; }
is() { [ "$1" = "$2" ] || wrong "got '$1', want '$2'"; }

command -v dpkg-query >/dev/null || { echo "skipped: not Debian, so there are no packages to make the image from"; exit 77; }
rm -rf "$state"
mkdir -p "$state"
build() { bash "$source/manifests/image/build.sh" "$bin" "$1" registry.example.com/herd 1.2.3; }

row "two builds give the same bytes, whatever the clock, the time zone and the umask"
export SOURCE_DATE_EPOCH=1700000000
build "$state/one" 2>"$state/one.log" || wrong "$(cat "$state/one.log")"
(umask 077 && TZ=Asia/Tokyo LANG=C.UTF-8 build "$state/two") 2>"$state/two.log" || wrong "$(cat "$state/two.log")"
cmp "$state/one/herd.tar" "$state/two/herd.tar" || wrong "they differ"
cmp "$state/one/herd.spdx.json" "$state/two/herd.spdx.json" || wrong "the SBOMs differ"

row "the layout's digests and sizes are true"
layout=$state/layout root=$state/root
mkdir -p "$layout" "$root"
tar -xf "$state/one/herd.tar" -C "$layout"
for blob in "$layout"/blobs/sha256/*; do
  is "$(sha256sum <"$blob" | cut -d' ' -f1)" "${blob##*/}"
done
# blob JQ FILE: the blob that a descriptor names, of the size that it says.
blob() {
  local file size
  file=$layout/blobs/sha256/$(jq -r "$1.digest" "$2" | cut -d: -f2)
  size=$(jq -r "$1.size" "$2")
  is "$(stat -c %s "$file")" "$size"
  echo "$file"
}
manifest=$(blob '.manifests[0]' "$layout/index.json")
config=$(blob .config "$manifest")
layer=$(blob '.layers[0]' "$manifest")
is "sha256:$(gzip -dc "$layer" | sha256sum | cut -d' ' -f1)" "$(jq -r '.rootfs.diff_ids[0]' "$config")"

row "docker's older archive names the same files"
is "$(jq -r '.[0].RepoTags[0]' "$layout/manifest.json")" registry.example.com/herd:1.2.3
is "$layout/$(jq -r '.[0].Config' "$layout/manifest.json")" "$config"
is "$layout/$(jq -r '.[0].Layers[0]' "$layout/manifest.json")" "$layer"

row "it runs as a user without rights and says what it is"
is "$(jq -r .config.User "$config")" 65532:65532
is "$(jq -r '.config.Entrypoint[0]' "$config")" /usr/bin/herd-controller
is "$(jq -r .created "$config")" 2023-11-14T22:13:20Z
for label in title description version revision created licenses; do
  [ "$(jq -r ".config.Labels[\"org.opencontainers.image.$label\"] | length" "$config")" -gt 3 ] || wrong "no label $label"
done

row "there are two programs and nothing else to run: no shell, nothing that gives rights"
gzip -dc "$layer" | tar -xp --no-same-owner -C "$root"
is "$(cd "$root/usr/bin" && echo *)" "herd-controller herd-webhook"
is "$(find "$root" -type f -perm /111 -not -path '*/usr/bin/*' -not -name '*.so*')" ""
is "$(find "$root" \( -perm /6000 -o -not -type l -perm /022 \))" ""
is "$(tar -tvzf "$layer" | awk '$2 != "0/0"')" ""

# inside COMMAND...: as the image's user, with its root and nothing else of this machine but /proc.
inside() {
  local map=()
  [ "$(id -u)" = 0 ] || map=(--map-root-user)
  unshare "${map[@]}" --mount --net sh -c 'mount --bind /proc "$0/proc" && exec env -i PATH=/usr/bin "$@"' \
    "$root" "${chroot[@]}" "$root" "$@"
}
chroot=(/usr/sbin/chroot)
[ "$(id -u)" != 0 ] || chroot=(/usr/sbin/chroot --userspec 65532:65532)

row "both programs run in it, with its own loader and libraries"
version=$(sed -n 's/^project(herd VERSION \([0-9.]*\).*/\1/p' "$source/CMakeLists.txt")
if ! inside /usr/bin/herd-webhook --version >/dev/null 2>"$state/inside.log" &&
  grep -q 'unshare\|mount:' "$state/inside.log"; then
  echo "  (not run: $(head -n 1 "$state/inside.log"))"
else
  for program in herd-webhook herd-controller; do
    is "$(inside "/usr/bin/$program" --version)" "$program $version"
    # The loader itself, asked which files it took.
    loader=$(cd "$root" && find usr/lib usr/lib64 -name 'ld-linux*')
    is "$(inside "/$loader" --list "/usr/bin/$program" | grep 'not found')" ""
  done
  out=$(inside /usr/bin/herd-controller 2>&1) && wrong "it must ask for --rancher-url"
  case $out in *"--rancher-url is not set"*) ;; *) wrong "$out" ;; esac
fi

row "the SBOM names each file of a library with its digest, and a version and a licence for each package"
sbom=$root/usr/share/sbom/herd.spdx.json
cmp "$sbom" "$state/one/herd.spdx.json" || wrong "the one inside differs"
is "$(jq -r .spdxVersion "$sbom")" SPDX-2.3
(cd "$root" && find usr/lib usr/lib64 usr/bin -type f | sort) >"$state/files"
while read -r file; do
  is "$(jq -r --arg f "./$file" '.files[] | select(.fileName == $f) | .checksums[] | select(.algorithm == "SHA256").checksumValue' "$sbom")" \
    "$(sha256sum <"$root/$file" | cut -d' ' -f1)"
done <"$state/files"
is "$(jq '[.packages[] | select((.versionInfo | length) == 0)] | length' "$sbom")" 0
is "$(jq -r '.packages[] | select(.licenseDeclared == "NOASSERTION" or .licenseConcluded == "NOASSERTION").name' "$sbom")" ""
is "$(jq '([.packages[].SPDXID, .files[].SPDXID, .SPDXID]) as $ids | [.relationships[] | .spdxElementId, .relatedSpdxElement]
  | map(select(. as $id | $ids | index($id) | not)) | length' "$sbom")" 0
is "$(jq '[.packages[].SPDXID, .files[].SPDXID] | length - (unique | length)' "$sbom")" 0

row "the SBOM keeps the rules of SPDX 2.3 for packages with files, and names each package by its purl"
is "$(jq -r '[.relationships[] | select(.relationshipType == "CONTAINS" and (.relatedSpdxElement | startswith("SPDXRef-File"))).spdxElementId]
  as $owners | .packages[] | select(.filesAnalyzed != (.SPDXID as $id | $owners | index($id) != null)).name' "$sbom")" ""
while read -r package code; do
  is "$package $(jq -r --arg p "$package" '(.relationships | map(select(.spdxElementId == $p).relatedSpdxElement)) as $files
    | .files[] | select(.SPDXID as $id | $files | index($id)) | .checksums[] | select(.algorithm == "SHA1").checksumValue' "$sbom" |
    sort | tr -d '\n' | sha1sum | cut -d' ' -f1)" "$package $code"
done < <(jq -r '.packages[] | "\(.SPDXID) \(.packageVerificationCode.packageVerificationCodeValue)"' "$sbom")
is "$(jq -r '.packages[] | select([.externalRefs[]? | select(.referenceType == "purl") | .referenceLocator
  | test("^pkg:(deb/debian|generic)/[A-Za-z0-9.%-]+@[A-Za-z0-9.%~-]+\\?arch=")] != [true]).name' "$sbom")" ""
is "$(jq -r '.packages[] | select(.name == "herd").externalRefs[0].referenceLocator' "$sbom")" "pkg:generic/herd@$version?arch=$(
  jq -r .architecture "$config")"
if command -v pyspdxtools >/dev/null; then
  out=$(pyspdxtools -i "$state/one/herd.spdx.json" 2>&1) || wrong "$out"
fi

row "a library with a known hole is named with the version that fixes it, by the list and by apt"
mkdir -p "$state/apt"
printf '#!/bin/sh\n%s\n' 'cat "$APT_KNOWS"' >"$state/apt/apt-cache"
chmod +x "$state/apt/apt-cache"
: >"$state/nothing"
# audit VERSION [APT-KNOWS]: as if every package came from that version of its source.
audit() {
  jq --arg v "$1" '(.packages[] | select(.sourceInfo) | .sourceInfo) |= (split(" ")[:-1] + [$v] | join(" "))' "$sbom" >"$state/audited.json"
  APT_KNOWS=${2:-$state/nothing} PATH=$state/apt:$PATH bash "$source/manifests/image/audit.sh" "$state/audited.json" 2>&1
}
out=$(audit 9999:1) || wrong "$out"
case $out in "0 known holes in "*" advisories, no security archive, for apt knows none here") ;; *) wrong "$out" ;; esac
if out=$(audit 3.0.11-1~deb12u1); then wrong "an OpenSSL of 2023 has no hole"; fi
case $out in *"libssl3 "*" has CVE-2023-5363, fixed in openssl 3.0.11-1~deb12u2"*) ;; *) wrong "$out" ;; esac
cat >"$state/madison" <<'APT'
   libssl3 | 9999:2 | http://mirror.example.com/debian-security bookworm-security/main amd64 Packages
   libssl3 | 9999:1 | http://mirror.example.com/debian-security bookworm-security/main amd64 Packages
    zlib1g | 9999:3 | http://mirror.example.com/debian bookworm/main amd64 Packages
APT
if out=$(audit 9999:1 "$state/madison"); then wrong "what the archive has newer is no hole"; fi
case $out in "libssl3 "*": Debian's security archive has 9999:2"*"1 known holes in "*) ;; *) wrong "$out" ;; esac
if out=$(bash "$source/manifests/image/audit.sh" "$state/nothing" 2>&1); then wrong "nothing was looked at"; fi

row "a program that lacks one of its protections is named with it; one that has them all is not"
cat >"$state/probe.c" <<'C'
#include <stdio.h>
#include <string.h>
int main(int argc, char **argv)
{
    char line[64];
    memcpy(line, argv[0], (size_t)argc);
    return snprintf(line, (size_t)argc, "%s", argv[0]);
}
C
compile=(-O2 -fPIE -fstack-protector-strong -D_FORTIFY_SOURCE=3) link=(-pie '-Wl,-z,relro,-z,now,-z,noexecstack')
[ "$(uname -m)" != x86_64 ] || link+=('-Wl,-z,shstk')
# hardened FLAGS...: what is said of a program that is built with these too.
hardened() {
  gcc "${compile[@]}" "$@" "${link[@]}" "${last[@]}" -o "$state/probe" "$state/probe.c" 2>"$state/probe.log" || wrong "$(cat "$state/probe.log")"
  bash "$source/manifests/image/hardening.sh" "$state/probe" 2>&1 || true
}
last=()
is "$(hardened)" ""
while read -r word flags; do
  read -ra last <<<"$flags"
  case $(hardened) in *"probe: no "*"$word"*) ;; *) wrong "with $flags it says: $(hardened)" ;; esac
done <<'ROWS'
-pie -no-pie
relro -Wl,-z,norelro
now -Wl,-z,lazy
noexecstack -Wl,-z,execstack
stack-protector -fno-stack-protector
FORTIFY -U_FORTIFY_SOURCE
ROWS

row "what the Dockerfile builds on is named by digest"
is "$(sed -n 's/^ARG DEBIAN=//p' "$source/Dockerfile" | grep -vxE 'debian:bookworm-slim@sha256:[0-9a-f]{64}')" ""
is "$(grep '^FROM ' "$source/Dockerfile" | cut -d ' ' -f 2 | sort -u | xargs)" '${DEBIAN} scratch'

row "programs that were not built are asked for"
mkdir -p "$state/none"
if out=$(bash "$source/manifests/image/build.sh" "$state/none" "$state/three" herd 1 2>&1); then
  wrong "an empty folder of programs was taken"
fi
case $out in *"run 'make build' first"*) ;; *) wrong "$out" ;; esac

row "a name without a registry is not pushed anywhere"
for name in herd:1.2.3 team/herd:1.2.3; do
  if out=$(bash "$source/manifests/image/engine.sh" push "$state/one/herd.tar" "$name" 2>&1); then
    wrong "$name was pushed"
  fi
  case $out in *"names no registry"*) ;; *) wrong "$out" ;; esac
done
if out=$(bash "$source/manifests/image/engine.sh" push "$state/one/herd.tar" registry.example.invalid/herd:1 2>&1); then
  wrong "the placeholder was pushed to"
fi
case $out in *"stands for yours; say IMAGE="*) ;; *) wrong "$out" ;; esac

row "where no container engine answers, loading fails, and names those that would do"
if out=$(ENGINE=no-such-engine bash "$source/manifests/image/engine.sh" load "$state/one/herd.tar" herd:1.2.3 2>&1); then
  wrong "nobody took it, and that is no failure"
fi
case $out in *"no docker, podman or buildah answers here"*"$state/one/herd.tar"*) ;; *) wrong "$out" ;; esac
echo "$rows passed, 0 failed"
