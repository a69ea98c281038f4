#!/usr/bin/env bash
# engine.sh load|push TAR IMAGE:TAG: hand the image to whichever of docker, podman and buildah is there and answers.
#
# To push, skopeo will do too: it needs no daemon and no store.
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
for candidate in ${ENGINE:-docker podman buildah}; do
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
      echo "The image is in $tar. No docker, podman or buildah answers here; elsewhere: docker load --input $tar"
      exit 0
    }
    load
    ;;
  push)
    case $name in
      *.*/* | *:*/* | localhost/*) ;;
      *)
        echo "engine.sh: '$name' names no registry to push to; say IMAGE=registry.example.com/herd TAG=..." >&2
        exit 2
        ;;
    esac
    if [ -n "$engine" ]; then
      load
      "$engine" push "$name"
    elif command -v skopeo >/dev/null; then
      skopeo copy "oci-archive:$tar" "docker://$name"
    else
      echo "engine.sh: no docker, podman, buildah or skopeo answers here; install one, or copy $tar to where one is" >&2
      exit 1
    fi
    ;;
  *) echo "engine.sh: '$mode' is neither load nor push" >&2; exit 2 ;;
esac
