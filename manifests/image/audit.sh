#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# audit.sh SBOM: are holes known in the libraries that an image has? Each is named with the version that fixes it; exit 1.
#
# Two are asked, and the last line says how many packages were compared with what:
#   advisories.tsv   source package, version that fixed it, CVE: what Debian 12 fixed so far; needs no network
#   apt              a newer version in a security archive, as far as this machine's lists go (apt-get update)
#
# audit.sh --write SBOM: advisories.tsv again, with what the changelogs of the packages that are installed here add to it.
set -euo pipefail
export LC_ALL=C

advisories=$(dirname "$0")/advisories.tsv
mode="look"
[ "${1:-}" != --write ] || { mode="write"; shift; }
sbom=${1:?the SBOM of an image: make image writes build/image/herd.spdx.json}
[ -s "$sbom" ] || { echo "audit.sh: there is no $sbom: run 'make image' first" >&2; exit 2; }

# shipped: package, its version, source package, its version.
shipped() {
  jq -r '.packages[] | select(.sourceInfo) | [.name, .versionInfo, (.sourceInfo | split(" ")[-2:][])] | @tsv' "$sbom"
}

# fixed PACKAGE: source, version, CVE, by its changelog.
fixed() {
  local log
  for log in "/usr/share/doc/$1"/changelog.Debian*.gz "/usr/share/doc/$1/changelog.gz"; do
    [ -e "$log" ] || continue
    zcat "$log" | awk -v OFS='\t' '
      /^[a-z0-9][a-z0-9.+-]+ \(/ { source = $1; version = substr($2, 2, length($2) - 2) }
      version ~ /deb12u/ { while (match($0, /CVE-[0-9]+-[0-9]+/)) {
        print source, version, substr($0, RSTART, RLENGTH); $0 = substr($0, RSTART + RLENGTH) } }'
    return
  done
}

if [ "$mode" = write ]; then
  written=$({ cat "$advisories"; shipped | while read -r name _; do fixed "$name"; done; } | sort -u)
  printf '%s\n' "$written" >"$advisories"
  echo "$advisories: $(wc -l <"$advisories") advisories"
  exit 0
fi

# What security archives have that apt knows: the newest version of each package.
declare -A archived=()
mapfile -t names < <(shipped | cut -f 1)
while read -r name version; do
  [ -n "${archived[$name]:-}" ] && dpkg --compare-versions "$version" le "${archived[$name]}" || archived[$name]=$version
done < <(apt-cache madison "${names[@]}" 2>/dev/null | awk -F'[ |]+' '/[sS]ecurity/ { sub(/^ +/, ""); print $1, $2 }')

holes=0 packages=0
hole() {
  echo "$1"
  holes=$((holes + 1))
}
while IFS=$'\t' read -r name version source source_version; do
  packages=$((packages + 1))
  while IFS=$'\t' read -r _ fixed cve; do
    ! dpkg --compare-versions "$source_version" lt "$fixed" ||
      hole "$name $version has $cve, fixed in $source $fixed"
  done < <(awk -F'\t' -v source="$source" '$1 == source' "$advisories")
  newest=${archived[$name]:-}
  [ -z "$newest" ] || ! dpkg --compare-versions "$version" lt "$newest" ||
    hole "$name $version: Debian's security archive has $newest"
done < <(shipped)

archive="no security archive, for apt knows none here"
[ "${#archived[@]}" = 0 ] || archive="Debian's security archive, as apt last heard of it"
echo "$holes known holes in $packages packages; asked: $(wc -l <"$advisories") advisories, $archive"
[ "$packages" -gt 0 ] || { echo "audit.sh: $sbom names no package" >&2; exit 2; }
[ "$holes" = 0 ] || { echo "audit.sh: update the packages that 'make deps' installs, and make the image again" >&2; exit 1; }
