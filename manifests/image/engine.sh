#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# engine.sh load|push TAR IMAGE:TAG: hand the image to whichever of docker, podman and buildah is there and answers, or to
# ENGINE.
#
# To push, skopeo is best: it needs no daemon and no store, and pushes the archive as it is, so that the registry's digest
# is the one that `make image` says. The others' stores keep layers unpacked, and pack them their own way again.
set -euo pipefail

mode=${1:?load or push} tar=${2:?the image} name=${3:?its name and tag}

answers() {
  case $1 in
    docker) docker info >/dev/null 2>&1 ;;
    podman) podman info >/dev/null 2>&1 ;;
    *) "$1" --version >/dev/null 2>&1 ;;
  esac
}

engine=
candidates="docker podman buildah"
[ "$mode" != push ] || candidates="skopeo $candidates"
for candidate in ${ENGINE:-$candidates}; do
  if command -v "$candidate" >/dev/null && answers "$candidate"; then
    engine=$candidate
    break
  fi
done

load() {
  case $engine in
    docker | podman) "$engine" load --input "$tar" ;;
    buildah) buildah tag "$(buildah pull --quiet "oci-archive:$tar")" "$name" ;;
  esac
  echo "$name is in $engine's store"
}

case $mode in
  load)
    [ -n "$engine" ] || {
      echo "engine.sh: no docker, podman or buildah answers here, so the image is in no store; it is in $tar: install or start" \
        "one of them, or elsewhere: docker load --input $tar" >&2
      exit 1
    }
    load
    ;;
  push)
    case $name in
      *.invalid/*)
        echo "engine.sh: '$name' has the registry that stands for yours; say IMAGE=registry.example.com/herd TAG=..." >&2
        exit 2
        ;;
      *.*/* | *:*/* | localhost/*) ;;
      *)
        echo "engine.sh: '$name' names no registry to push to; say IMAGE=registry.example.com/herd TAG=..." >&2
        exit 2
        ;;
    esac
    case $engine in
      skopeo) skopeo copy "oci-archive:$tar" "docker://$name" ;;
      ?*)
        load
        "$engine" push "$name"
        ;;
      *)
        echo "engine.sh: no skopeo, docker, podman or buildah answers here; install one, or copy $tar to where one is" >&2
        exit 1
        ;;
    esac
    ;;
  *) echo "engine.sh: '$mode' is neither load nor push" >&2; exit 2 ;;
esac
