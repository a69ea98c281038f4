#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# run.sh FOLDER FEED: what Argo CD's engine and kstatus make of recorded Stacks; and whether Herd sees the
# status of generated objects as kstatus does (main.go).
#
# Ends with 77 (skipped) where Go or the modules cannot be had.
set -euo pipefail
cd "$(dirname "$0")/../.."
bash tests/cluster/build.sh "$1" health
"$1/health" manifests/argocd/health.lua tests/argocd/snapshots tests/argocd/expected.tsv
"$2" status "${HERD_CASES:-20000}" | "$1/health" status
