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
time_scale=${TIME_SCALE:-0.05}
example=examples/rag-inference-stack.yaml
pids=()

say() { printf '\n\033[1m%s\033[0m\n' "$*"; }
fail() {
  printf 'run.sh: %s\n' "$*" >&2
  exit 1
}

# End what was started, newest first, and nothing else.
finish() {
  local code=$? i
  trap - EXIT INT TERM
  for ((i = ${#pids[@]} - 1; i >= 0; i--)); do
    kill -TERM "${pids[i]}" 2>/dev/null || true
  done
  for ((i = ${#pids[@]} - 1; i >= 0; i--)); do
    wait "${pids[i]}" 2>/dev/null || true
  done
  rm -f "$state/ready"
  exit "$code"
}

# start NAME COMMAND...: in the background, with a log of its own.
start() {
  local name=$1
  shift
  "$@" >"$state/$name.out" 2>"$state/$name.log" &
  pids+=($!)
}

# until_true SECONDS WHAT COMMAND...: ask again and again; fail with the newest log lines.
until_true() {
  local seconds=$1 what=$2 deadline=$((SECONDS + $1))
  shift 2
  until "$@" >/dev/null 2>&1; do
    ((SECONDS < deadline)) || {
      tail -n 5 "$state"/*.log >&2 || true
      fail "$what did not happen within $seconds s; logs are in $state/"
    }
    sleep 0.1
  done
}

# port_of NAME KEY: a port from a program's "serving" line.
port_of() {
  sed -n "s/.*serving.*[\" ]$2[\"]*[=:] *\([0-9][0-9]*\).*/\1/p" "$state/$1.log" | tail -n 1
}

k() { kubectl --kubeconfig "$state/kubeconfig" "$@"; }

start_lab() {
  start lab "$bin/herd-lab" serve --data "$state/lab" --listen 127.0.0.1:0 \
    --rancher-listen 127.0.0.1:0 --kubeconfig "$state/kubeconfig" --time-scale "$time_scale" \
    --log-format text
  until_true 20 "the lab" test -e "$state/lab/ready"
  # shellcheck disable=SC1091
  . "$state/lab/env"
}

start_webhook() {
  "$bin/herd-devca" --folder "$state/certs"
  start webhook "$bin/herd-webhook" serve --listen 127.0.0.1:0 --metrics-listen 127.0.0.1:0 \
    --tls-cert-file "$state/certs/tls.crt" --tls-key-file "$state/certs/tls.key" \
    --kubeconfig "$state/kubeconfig" --log-format text --drain 100ms
  until_true 10 "the webhook" grep -q serving "$state/webhook.log"
  webhook_port=$(port_of webhook port)
  webhook_metrics_port=$(port_of webhook metrics_port)
}

# The manifests as they are, but for the address and the CA that cert-manager would inject.
apply_webhook() {
  local ca
  ca=$(base64 -w 0 <"$state/certs/ca.crt")
  k apply -f manifests/namespace.yaml >/dev/null
  k apply -f - >/dev/null <<EOF
apiVersion: v1
kind: Service
metadata: {name: herd-webhook, namespace: herd-system}
spec:
  clusterIP: 127.0.0.1
  ports: [{name: https, port: $webhook_port, targetPort: $webhook_port}]
EOF
  sed -e "s|port: 443|port: $webhook_port|" -e "s|^    clientConfig:|&\n      caBundle: $ca|" \
    manifests/webhook/configuration.yaml | k apply -f - >/dev/null
}

start_controller() {
  (umask 077 && printf '%s' "$HERD_LAB_RANCHER_TOKEN" >"$state/rancher-token")
  start controller "$bin/herd-controller" --kubeconfig "$state/kubeconfig" \
    --rancher-url "$HERD_LAB_RANCHER_URL" --rancher-token-file "$state/rancher-token" \
    --rancher-ca-file "$HERD_LAB_RANCHER_CA" --metrics-listen 127.0.0.1:0 --log-format text
  until_true 10 "the controller" grep -q serving "$state/controller.log"
  controller_metrics_port=$(port_of controller metrics_port)
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
  k apply -f examples/configmaps.yaml
  k apply -f "$example"
  k get stacks rag-inference -w &
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
  refuse examples/rejected/dependency-cycle.yaml
  say "GPU clusters with nothing that needs or provides GPUs are refused"
  refuse examples/rejected/gpu-missing-resources.yaml
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
  wait -n "${pids[@]}" || true
  fail "a program ended by itself; logs are in $state/"
}

main
