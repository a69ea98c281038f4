#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# run.sh FEED FOLDER KIND COUNT [FIRST]: what Herd makes of COUNT generated bodies of KIND (json, yaml, reviews), validated by
# Kubernetes' own code (tests/cluster/tools/oracle). HERD_CASES=n overrides COUNT.
#
# Ends with 77 (skipped) where Go or the modules cannot be had.
set -euo pipefail
cd "$(dirname "$0")/../.."
feed=$1 folder=$2 kind=$3 count=${HERD_CASES:-$4} first=${5:-1}
bash tests/cluster/build.sh "$folder" oracle
"$feed" "$kind" "$count" "$first" | "$folder/oracle"
