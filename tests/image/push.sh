#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# push.sh BIN STATE: the image, pushed to a registry on loopback by those that may be there, is the one that was built.
. "$(dirname "$0")/../integration/lib.sh"
suite "$1" "$2"
# shellcheck source=tests/cluster/cluster.sh
. tests/cluster/cluster.sh
state=$(cd "$state" && pwd)
command -v dpkg-query >/dev/null || { echo "skipped: not Debian, so there are no packages to make the image from"; exit 77; }
cluster_tools registry
bash manifests/image/build.sh "$bin" "$state/image" registry.example.com/herd 1.2.3 2>"$state/build.log" || wrong "$(cat "$state/build.log")"
tar=$state/image/herd.tar
built=$(sed -nE 's/.*(sha256:[0-9a-f]{64})$/\1/p' "$state/build.log")

"$bin/herd-devca" --folder "$state/certs"
start registry registry --listen 127.0.0.1:0 --cert "$state/certs/tls.crt" --key "$state/certs/tls.key"
eventually grep -q serving "$state/registry.out"
registry=$(sed -n 's/^serving //p' "$state/registry.out")

# A store of this test's own, without a driver that a container lacks, and a registry that is believed.
printf '[storage]\ndriver = "vfs"\ngraphroot = "%s"\nrunroot = "%s"\n' "$state/store" "$state/run" >"$state/storage.conf"
push() { # push ENGINE NAME
  env ENGINE="$1" CONTAINERS_STORAGE_CONF="$state/storage.conf" SSL_CERT_FILE="${believed:-$state/certs/ca.crt}" \
    bash manifests/image/engine.sh push "$tar" "$2"
}
get() { curl -sSf --cacert "$state/certs/ca.crt" -H 'Accept: application/vnd.oci.image.manifest.v1+json' "https://$registry/v2/$1"; }
# manifest NAME/TAG: into $state/manifest; $digest is what the registry calls it.
manifest() {
  get "${1%:*}/manifests/${1#*:}" >"$state/manifest" || wrong "the registry has no $1"
  digest=sha256:$(sha256sum <"$state/manifest" | cut -d ' ' -f 1)
}
# unpacked NAME: the layer's digest when it is unpacked, of what the registry gives.
unpacked() { get "$1/blobs/$(jq -r '.layers[0].digest' "$state/manifest")" | gzip -dc | sha256sum | cut -d ' ' -f 1; }
config() { get "$1/blobs/$(jq -r .config.digest "$state/manifest")"; }

row "by skopeo, if nothing else is said: the registry's digest is the one that make image says"
push "" "$registry/team/herd:1.2.3" >"$state/push.log" 2>&1 || wrong "$(tail -n 3 "$state/push.log")"
manifest team/herd:1.2.3
is "$digest" "$built"
first=$(jq -r .config.digest "$state/manifest")
is "sha256:$(unpacked team/herd)" "$(config team/herd | jq -r '.rootfs.diff_ids[0]')"
is "$(config team/herd | jq -r .config.User)" 65532:65532

row "by buildah, through its store: the same configuration, the same files"
ok push buildah "$registry/team/stored:1.2.3"
says "is in buildah's store"
manifest team/stored:1.2.3
is "$(jq -r .config.digest "$state/manifest")" "$first"
is "sha256:$(unpacked team/stored)" "$(config team/stored | jq -r '.rootfs.diff_ids[0]')"

row "a registry that can not be believed gets nothing, and that is told"
believed=/etc/ssl/certs/ca-certificates.crt
for engine in skopeo buildah; do
  rejected push "$engine" "$registry/team/other-$engine:1"
  says x509
  rejected get "team/other-$engine/manifests/1"
done

row "make docker-push gives IMAGE and TAG, and what make image wrote"
ok make -n docker-push IMAGE=registry.example.com/herd TAG=9.9
says "engine.sh push build/image/herd.tar registry.example.com/herd:9.9"
