#!/usr/bin/env bash
# run.sh MODE: the whole product on this machine, without a cluster.
#
#   run    lab, webhook, controller and the RAG example; stays up until SIGINT or SIGTERM
#   demo   the same, then refusals and a teardown; ends with 0, or 1 if anything was not as it should be
#
# State is in build/run/: kubeconfig, env (every address as a shell assignment), logs, data; `ready` appears
# when the example is Deployed. With CONTEXT=name the controller runs against that context of the user's own
# kubeconfig and Rancher (RANCHER_URL, RANCHER_TOKEN_FILE), and nothing else is started.
set -euo pipefail
cd "$(dirname "$0")/.."

mode=${1:?run or demo}
bin=${HERD_BIN:-build/release/bin}
state=${HERD_RUN_DIR:-build/run}
lab_flags=(--time-scale "${TIME_SCALE:-0.05}")
example=examples/rag-inference-stack.yaml
# shellcheck source=lab/processes.sh
. lab/processes.sh

say() { printf '\n\033[1m%s\033[0m\n' "$*"; }

finish() {
  local code=$?
  trap - EXIT INT TERM
  end_all
  rm -f "$state/ready"
  exit "$code"
}

write_env() {
  {
    cat "$state/lab/env"
    echo "KUBECONFIG=$PWD/$state/kubeconfig"
    echo "HERD_WEBHOOK_URL=https://127.0.0.1:$webhook_port"
    echo "HERD_WEBHOOK_METRICS_URL=http://127.0.0.1:$webhook_metrics_port"
    echo "HERD_CONTROLLER_METRICS_URL=http://127.0.0.1:$controller_metrics_port"
  } >"$state/env"
}

deploy_example() {
  k apply -f "$example"
  kubectl --kubeconfig "$state/kubeconfig" get stacks rag-inference -w &
  local watcher=$!
  k wait --for=condition=Ready stack/rag-inference --timeout=180s >/dev/null || {
    kill "$watcher" 2>/dev/null || true
    k describe stack rag-inference >&2
    fail "rag-inference did not become Ready"
  }
  kill "$watcher" 2>/dev/null || true
  wait "$watcher" 2>/dev/null || true
  touch "$state/ready"
}

# refuse FILE: apply it, expect a refusal and show it.
refuse() {
  local answer
  if answer=$(k apply -f "$1" 2>&1); then
    fail "$1 was accepted; it must be refused"
  fi
  printf '$ kubectl apply -f %s\n%s\n' "$1" "$answer"
}

demo() {
  say "kubectl get stacks"
  k get stacks
  k get stacks -o wide
  k get stacks rag-inference --no-headers | grep -qE 'Deployed +2 +3' || fail "not Deployed on 2 clusters with 3 charts"
  say "kubectl describe stack rag-inference: its Events"
  k describe stack rag-inference | sed -n '/^Events:/,$p'
  say "A dependency cycle is refused"
  refuse examples/rejected/cycle.yaml
  say "GPU clusters with nothing that needs or provides GPUs are refused"
  refuse examples/rejected/missing-gpu.yaml
  say "Teardown, in reverse order"
  k delete stack rag-inference --wait --timeout=120s
  grep -E 'uninstall' "$state/controller.log" | sed -e 's/^[^ ]* //' | head -n 12
  [ -z "$(k get stacks --no-headers 2>/dev/null)" ] || fail "a Stack is left"
  say "Demo done"
}

main() {
  if [ -n "${CONTEXT:-}" ]; then
    exec "$bin/herd-controller" --context "$CONTEXT" --rancher-url "${RANCHER_URL:?set RANCHER_URL}" \
      --rancher-token-file "${RANCHER_TOKEN_FILE:?set RANCHER_TOKEN_FILE}" --log-format text
  fi
  rm -rf "$state"
  mkdir -p "$state"
  trap finish EXIT
  trap 'exit 0' INT TERM
  start_lab
  start_webhook
  k apply -f manifests/crds/ >/dev/null
  apply_webhook
  start_controller
  write_env
  say "kubectl apply -f $example"
  deploy_example
  if [ "$mode" = demo ]; then
    demo
    return
  fi
  say "rag-inference is Deployed"
  k get stacks
  cat <<EOF

  export KUBECONFIG=$PWD/$state/kubeconfig
  kubectl get stacks -o wide; kubectl describe stack rag-inference

Rancher (simulated)  $HERD_LAB_RANCHER_URL    logs and addresses  $state/
Ctrl-C ends everything.
EOF
  # `wait` comes back when a program ends, or for a signal.
  wait -n || true
  fail "a program ended by itself; logs are in $state/"
}

main
