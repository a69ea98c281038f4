#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# sbom.sh ROOT PACKAGES VERSION CREATED ARCHITECTURE: the SPDX 2.3 document (JSON) of an unpacked image.
#
# PACKAGES has a line for each file of a Debian package: package, tab, file. Each becomes an SPDX file with its digests,
# its package an SPDX package with version and licence (licences.tsv: of the library itself, by SPDX's names); the programs
# are files of herd, which links them all. An SPDX package is what the image has of the Debian package: its verification
# code (SPDX 2.3, section 7.9) is of these files.
set -euo pipefail
export LC_ALL=C

root=$1 packages=$2 version=$3 created=$4 architecture=$5
licences=$(dirname "$0")/licences.tsv
# shellcheck source=/dev/null
distribution=$(. /etc/os-release && echo "${VERSION_ID:-unknown}")

id() { printf '%s' "$1" | sed 's/[^A-Za-z0-9.-]/-/g'; }
# As a package URL wants it.
url() { printf '%s' "$1" | sed -e 's/%/%25/g' -e 's/+/%2B/g' -e 's/:/%3A/g'; }
field() { dpkg-query -W -f "\${$2}" "$1"; }

# verification_code: of the files whose names come in, one a line: the SHA-1 of their SHA-1s, sorted and without separators.
verification_code() {
  while read -r file; do
    sha1sum <"$root$file"
  done | cut -d' ' -f1 | sort | tr -d '\n' | sha1sum | cut -d' ' -f1
}

# external_ref PURL
external_ref() {
  cat <<JSON
      "externalRefs": [
        {
          "referenceCategory": "PACKAGE-MANAGER",
          "referenceType": "purl",
          "referenceLocator": "$1"
        }
      ]
JSON
}

put_package() {
  local package=$1 name version licence source code
  name=${package%%:*}
  version=$(field "$package" Version)
  source="$(field "$package" source:Package) $(field "$package" source:Version)"
  code=$(awk -F'\t' -v package="$package" '$1 == package { print $2 }' "$packages" | verification_code)
  licence=$(awk -F'\t' -v name="$name" '$1 == name { print $2 }' "$licences")
  cat <<JSON
    {
      "SPDXID": "SPDXRef-Package-$(id "$name")",
      "name": "$name",
      "versionInfo": "$version",
      "supplier": "Organization: Debian",
      "downloadLocation": "NOASSERTION",
      "filesAnalyzed": true,
      "packageVerificationCode": { "packageVerificationCodeValue": "$code" },
      "sourceInfo": "built from the Debian source package $source",
      "licenseConcluded": "${licence:-NOASSERTION}",
      "licenseDeclared": "${licence:-NOASSERTION}",
      "licenseComments": "The whole text is in the image at /usr/share/doc/$name/copyright",
      "copyrightText": "NOASSERTION",
$(external_ref "pkg:deb/debian/$(url "$name")@$(url "$version")?arch=$architecture&distro=debian-$distribution")
    },
JSON
}

put_file() {
  local file=$1
  cat <<JSON
    {
      "SPDXID": "SPDXRef-File-$(id "${file#/}")",
      "fileName": ".$file",
      "checksums": [
        { "algorithm": "SHA1", "checksumValue": "$(sha1sum <"$root$file" | cut -d' ' -f1)" },
        { "algorithm": "SHA256", "checksumValue": "$(sha256sum <"$root$file" | cut -d' ' -f1)" }
      ],
      "licenseConcluded": "NOASSERTION",
      "copyrightText": "NOASSERTION"
    }$2
JSON
}

put_relation() {
  printf '    { "spdxElementId": "%s", "relationshipType": "%s", "relatedSpdxElement": "%s" }%s\n' "$1" "$2" "$3" "${4-,}"
}

programs=$(cd "$root" && find usr/bin -type f | sed 's|^|/|' | sort)
files=$({ cut -f2 "$packages"; echo "$programs"; } | sort -u)
names=$(cut -f1 "$packages" | sort -u)
digest=$(cd "$root" && while read -r file; do sha256sum ".$file"; done <<<"$files" | sha256sum | cut -d' ' -f1)

cat <<JSON
{
  "spdxVersion": "SPDX-2.3",
  "dataLicense": "CC0-1.0",
  "SPDXID": "SPDXRef-DOCUMENT",
  "name": "herd-$version-$architecture",
  "documentNamespace": "urn:herd:image:$version:$architecture:sha256:$digest",
  "creationInfo": {
    "created": "$created",
    "creators": [ "Tool: herd-sbom.sh-$version" ]
  },
  "packages": [
JSON
while read -r package; do
  put_package "$package"
done <<<"$names"
cat <<JSON
    {
      "SPDXID": "SPDXRef-Package-herd",
      "name": "herd",
      "versionInfo": "$version",
      "primaryPackagePurpose": "CONTAINER",
      "downloadLocation": "NOASSERTION",
      "filesAnalyzed": true,
      "packageVerificationCode": { "packageVerificationCodeValue": "$(verification_code <<<"$programs")" },
      "licenseConcluded": "Apache-2.0",
      "licenseDeclared": "Apache-2.0",
      "copyrightText": "NOASSERTION",
$(external_ref "pkg:generic/herd@$(url "$version")?arch=$architecture")
    }
  ],
  "files": [
JSON
last=$(tail -n 1 <<<"$files")
while read -r file; do
  comma=,
  [ "$file" != "$last" ] || comma=
  put_file "$file" "$comma"
done <<<"$files"
printf '  ],\n  "relationships": [\n'
while IFS=$'\t' read -r package file; do
  put_relation "SPDXRef-Package-$(id "${package%%:*}")" CONTAINS "SPDXRef-File-$(id "${file#/}")"
done <"$packages"
while read -r package; do
  relation=DYNAMIC_LINK
  [ "$package" != ca-certificates ] || relation=CONTAINS
  put_relation SPDXRef-Package-herd "$relation" "SPDXRef-Package-$(id "${package%%:*}")"
done <<<"$names"
while read -r program; do
  put_relation SPDXRef-Package-herd CONTAINS "SPDXRef-File-$(id "${program#/}")"
done <<<"$programs"
put_relation SPDXRef-DOCUMENT DESCRIBES SPDXRef-Package-herd ""
printf '  ]\n}\n'
