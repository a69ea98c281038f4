#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# review.sh: what action.yml runs: herd-webhook review of INPUT_FILES, once as text for the log and once as SARIF.
#
#   INPUT_FILES  files, folders and globs, separated by spaces     INPUT_ARGS   further arguments of the review
#   INPUT_SARIF  the file to write                                 INPUT_IMAGE  an image of Herd; empty: a herd-webhook on
#                                                                               PATH, or else an image built from this source
#
# Ends as the review does: 0, 1 for findings, 2 for input that cannot be read.
set -euo pipefail
source=$(cd "$(dirname "$0")/.." && pwd)
read -ra files <<<"${INPUT_FILES:-.}"
read -ra arguments <<<"${INPUT_ARGS:-}"
sarif=${INPUT_SARIF:-herd.sarif}

if [ -z "${INPUT_IMAGE:-}" ] && command -v herd-webhook >/dev/null; then
  review=(herd-webhook review)
else
  image=${INPUT_IMAGE:-}
  if [ -z "$image" ]; then
    image=herd-review:$(git -C "$source" rev-parse --short HEAD 2>/dev/null || echo local)
    docker image inspect "$image" >/dev/null 2>&1 || docker build --quiet --tag "$image" "$source" >&2
  fi
  review=(docker run --rm --network none --user "$(id -u):$(id -g)" --volume "$PWD:/work:ro" --workdir /work
    --entrypoint /usr/bin/herd-webhook "$image" review)
fi

code=0
"${review[@]}" "${arguments[@]}" -- "${files[@]}" || code=$?
"${review[@]}" "${arguments[@]}" --quiet --output sarif -- "${files[@]}" >"$sarif" || true
[ -z "${GITHUB_OUTPUT:-}" ] || printf 'sarif=%s\n' "$sarif" >>"$GITHUB_OUTPUT"
exit "$code"
