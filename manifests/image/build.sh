#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# build.sh BIN FOLDER IMAGE TAG: an OCI image of both programs, made by hand, the same bytes each time.
#
#   BIN      the folder of herd-webhook and herd-controller (make build)
#   FOLDER   gets herd.tar (an OCI layout that `docker load` takes too), herd.spdx.json, rootfs/
#   IMAGE    the name it is loaded under, e.g. registry.example.com/herd; TAG its tag
#
# In it: the programs, the shared libraries that the loader finds for them, the loader, the public CA certificates,
# a user without rights, the licences. No shell, no package manager. Libraries come from this machine's Debian
# packages; one that differs from what its package installed is rejected. SOURCE_DATE_EPOCH dates everything; without
# it the newest commit does.
set -euo pipefail
export LC_ALL=C TZ=UTC
umask 022

bin=${1:?the folder of the programs} folder=${2:?where to write} image=${3:?a name} tag=${4:?a tag}
source=$(cd "$(dirname "$0")/../.." && pwd)
programs=(herd-controller herd-webhook)
user=65532

say() { printf '%s\n' "$*" >&2; }
fail() { say "build.sh: $*"; exit 1; }

# The version that the programs were built with.
version=$(sed -n 's/^project(herd VERSION \([0-9.]*\).*/\1/p' "$source/CMakeLists.txt")
revision=$(git -C "$source" rev-parse HEAD 2>/dev/null || echo unknown)
[ -z "$(git -C "$source" status --porcelain 2>/dev/null | head -c 1)" ] || revision=$revision-modified
epoch=${SOURCE_DATE_EPOCH:-$(git -C "$source" log -1 --format=%ct 2>/dev/null || echo 0)}
created=$(date -u -d "@$epoch" +%Y-%m-%dT%H:%M:%SZ)
case $(uname -m) in
  x86_64) architecture=amd64 ;;
  aarch64) architecture=arm64 ;;
  *) architecture=$(uname -m) ;;
esac

command -v dpkg-query >/dev/null || fail "this is not Debian: build it in a container instead, with 'docker build -t $image:$tag .'"
for program in "${programs[@]}"; do
  [ -x "$bin/$program" ] || fail "$bin/$program is not there: run 'make build' first"
done

mkdir -p "$folder"
folder=$(cd "$folder" && pwd)
rm -rf "$folder/rootfs" "$folder/layout"
root=$folder/rootfs
mkdir -p "$root"/{dev,proc,sys} "$root"/usr/{bin,lib64,share/doc} "$root"/etc/{herd,ssl/certs}
ln -s usr/bin "$root/bin"
ln -s usr/lib "$root/lib"
ln -s usr/lib64 "$root/lib64"

# package_of FILE: the Debian package that installed it, by either of its names where /lib is a link to /usr/lib.
package_of() {
  local found
  found=$(dpkg-query -S "$1" 2>/dev/null || dpkg-query -S "${1#/usr}" 2>/dev/null) ||
    fail "$1 belongs to no Debian package, so nobody can say what it is"
  found=${found%%: *}
  echo "${found%%,*}"
}

# unchanged PACKAGE FILE: as its package installed it.
unchanged() {
  local sums want got
  sums=/var/lib/dpkg/info/$1.md5sums
  [ -e "$sums" ] || sums=/var/lib/dpkg/info/${1%%:*}.md5sums
  want=$(awk -v a="${2#/}" -v b="${2#/usr/}" '$2 == a || $2 == b { print $1 }' "$sums")
  got=$(md5sum <"$2" | cut -d' ' -f1)
  [ "$want" = "$got" ] || fail "$2 is not what its package $1 installed: reinstall that"
}

# libraries FILE...: "SONAME FILE" for each library, and "loader FILE" for the loader.
libraries() {
  ldd "$@" | awk '
    /=> not found/ { print "missing", $1; next }
    /=> \//        { print $1, $3; next }
    /^[ \t]*\//    { if ($1 !~ /:$/) print "loader", $1 }' | sort -u
}

# packages.tsv: package, file in the image; what the SBOM is made from.
: >"$folder/packages.tsv"

add_library() {
  local name=$1 file real package into
  file=$2
  real=$(readlink -f "$file")
  package=$(package_of "$real")
  unchanged "$package" "$real"
  into=$(dirname "$real")/$name
  if [ "$name" = loader ]; then
    # Where the programs say that it is; /lib and /lib64 are links into /usr.
    into=/usr$file
  fi
  install -D -m 0755 "$real" "$root$into"
  printf '%s\t%s\n' "$package" "$into" >>"$folder/packages.tsv"
}

for program in "${programs[@]}"; do
  install -m 0755 "$bin/$program" "$root/usr/bin/$program"
done
while read -r name file; do
  [ "$name" != missing ] || fail "$file is needed and not installed: run 'make deps'"
  add_library "$name" "$file"
done < <(libraries "${programs[@]/#/$bin/}")

# The public CAs as the package has them, not as this machine's administrator may have added to them.
while read -r certificate; do
  unchanged ca-certificates "$certificate"
  cat "$certificate"
done < <(dpkg-query -L ca-certificates | grep '^/usr/share/ca-certificates/.*\.crt$' | sort) \
  >"$root/etc/ssl/certs/ca-certificates.crt"
[ -s "$root/etc/ssl/certs/ca-certificates.crt" ] || fail "the package ca-certificates is missing: run 'make deps'"
printf 'ca-certificates\t/etc/ssl/certs/ca-certificates.crt\n' >>"$folder/packages.tsv"

printf 'root:x:0:0:root:/root:/sbin/nologin\nherd:x:%s:%s:herd:/root:/sbin/nologin\n' $user $user >"$root/etc/passwd"
printf 'root:x:0:\nherd:x:%s:\n' $user >"$root/etc/group"
printf 'passwd: files\ngroup: files\nhosts: files dns\n' >"$root/etc/nsswitch.conf"
sort -u -o "$folder/packages.tsv" "$folder/packages.tsv"
cut -f1 "$folder/packages.tsv" | sort -u | while read -r package; do
  install -D -m 0644 "/usr/share/doc/${package%%:*}/copyright" "$root/usr/share/doc/${package%%:*}/copyright"
done
install -D -m 0644 "$source/LICENSE" "$root/usr/share/doc/herd/copyright"

bash "$source/manifests/image/sbom.sh" "$root" "$folder/packages.tsv" "$version" "$created" "$architecture" \
  >"$folder/herd.spdx.json"
install -D -m 0644 "$folder/herd.spdx.json" "$root/usr/share/sbom/herd.spdx.json"

# pack FOLDER: a tar of it with nothing of this machine or moment.
pack() {
  tar --create --directory "$1" --sort=name --format=ustar --mtime="@$epoch" --owner=0 --group=0 --numeric-owner \
    --mode='u+rwX,go+rX,go-w' .
}

# blob FILE: move it to where its digest says; print that.
layout=$folder/layout
mkdir -p "$layout/blobs/sha256"
blob() {
  local digest
  digest=$(sha256sum <"$1" | cut -d' ' -f1)
  mv "$1" "$layout/blobs/sha256/$digest"
  echo "$digest"
}
size_of() { stat -c %s "$layout/blobs/sha256/$1"; }

pack "$root" >"$folder/layer.tar"
diff_id=$(sha256sum <"$folder/layer.tar" | cut -d' ' -f1)
gzip -9 -n -f "$folder/layer.tar"
layer=$(blob "$folder/layer.tar.gz")

annotations=$(printf '"org.opencontainers.image.%s":"%s",' \
  title herd description "Herd for SUSE Rancher: admission webhook and controller" version "$version" \
  revision "$revision" created "$created" licenses Apache-2.0)
# HOME is what passwd says: who mounts a folder with a kubeconfig into the home folder has it found.
printf '%s' '{"created":"'"$created"'","architecture":"'"$architecture"'","os":"linux","config":{"User":"'$user:$user'",' \
  '"Env":["PATH=/usr/bin","HOME=/root"],' \
  '"Entrypoint":["/usr/bin/herd-controller"],"WorkingDir":"/","ExposedPorts":{"8080/tcp":{},"8081/tcp":{},"8443/tcp":{}},' \
  '"Labels":{'"${annotations%,}"'}},"rootfs":{"type":"layers","diff_ids":["sha256:'"$diff_id"'"]},' \
  '"history":[{"created":"'"$created"'","created_by":"manifests/image/build.sh"}]}' >"$folder/config.json"
config=$(blob "$folder/config.json")

printf '%s' '{"schemaVersion":2,"mediaType":"application/vnd.oci.image.manifest.v1+json","config":{' \
  '"mediaType":"application/vnd.oci.image.config.v1+json","digest":"sha256:'"$config"'","size":'"$(size_of "$config")"'},' \
  '"layers":[{"mediaType":"application/vnd.oci.image.layer.v1.tar+gzip","digest":"sha256:'"$layer"'",' \
  '"size":'"$(size_of "$layer")"'}],"annotations":{'"${annotations%,}"'}}' >"$folder/manifest.json"
manifest=$(blob "$folder/manifest.json")

# As `docker save` writes it: an OCI layout, and beside it the index of Docker's older archives. A name without a
# registry is Docker Hub's, as the kubelet reads it.
name=$image:$tag
case ${image%%/*} in
  "$image") name=docker.io/library/$image:$tag ;;
  *.* | *:* | localhost) ;;
  *) name=docker.io/$image:$tag ;;
esac
printf '{"imageLayoutVersion":"1.0.0"}' >"$layout/oci-layout"
printf '%s' '{"schemaVersion":2,"mediaType":"application/vnd.oci.image.index.v1+json","manifests":[{' \
  '"mediaType":"application/vnd.oci.image.manifest.v1+json","digest":"sha256:'"$manifest"'","size":'"$(size_of "$manifest")"',' \
  '"platform":{"architecture":"'"$architecture"'","os":"linux"},' \
  '"annotations":{"io.containerd.image.name":"'"$name"'","org.opencontainers.image.ref.name":"'"$tag"'"}}]}' \
  >"$layout/index.json"
printf '%s' '[{"Config":"blobs/sha256/'"$config"'","RepoTags":["'"$image:$tag"'"],"Layers":["blobs/sha256/'"$layer"'"]}]' \
  >"$layout/manifest.json"
pack "$layout" >"$folder/herd.tar.new"
mv "$folder/herd.tar.new" "$folder/herd.tar"
rm -rf "$layout"

say "$(du -sh --apparent-size "$root" | cut -f1) in the image, $(du -h --apparent-size "$folder/herd.tar" | cut -f1) packed," \
  "$(cut -f1 "$folder/packages.tsv" | sort -u | wc -l) Debian packages, $image:$tag, sha256:$manifest"
