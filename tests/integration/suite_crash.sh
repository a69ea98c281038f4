#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# suite_crash.sh: kill -9 of each program at random moments of an install: it ends Deployed, and no release is
# installed twice. HERD_SEED repeats the moments, HERD_KILLS sets how many each.
. "$(dirname "$0")/lib.sh"
suite "$1" "$2"
kills=${HERD_KILLS:-3}
RANDOM=${HERD_SEED:-$((SECONDS + $$))}
echo "seed: HERD_SEED=$RANDOM kills: $kills of each"
lab_flags=(--time-scale 0.02)
start_product

nap() { sleep "0.$(printf '%03d' $((RANDOM % 900)))"; }

for program in "${programs[@]}"; do
  for ((i = 1; i <= kills; i++)); do
    row "kill -9 of the $program, $i"
    k apply -f examples/rag-inference-stack.yaml >/dev/null
    nap
    end "$program" KILL
    "start_$program"
    ok k wait --for=condition=Ready stack/rag-inference --timeout="${deadline_s}s"
    for cluster in c-m-gpu01 c-m-gpu02; do
      for release in gpu-operator/gpu-operator vector-db/qdrant llm-serving/ollama; do
        ok down "$cluster" -n "${release%/*}" get apps.catalog.cattle.io "${release#*/}" -o 'jsonpath={.spec.version}'
        is "$cluster $release $out" "$cluster $release 1"
      done
    done
    ok k delete stack rag-inference --wait --timeout="${deadline_s}s"
  done
done
