# SPDX-License-Identifier: Apache-2.0
# processes.sh: lab, webhook and controller as processes; sourced, not run.
#
# lab/run.sh and the integration tests both start the product with these. They set
#   bin     the folder of the programs
#   state   a folder for data, logs, addresses
# and may set lab_flags, webhook_flags, controller_flags, webhook_manifests (arrays) beforehand.
#
# The product works on the API server of $state/kubeconfig. That is the lab's own; who sets lab_kubeconfig gets
# the lab's there, and brings another one, as tests/cluster does.
#
# A program that is started again has the same data and the same ports, and its log grows.

lab_flags=(${lab_flags[@]+"${lab_flags[@]}"})
webhook_flags=(${webhook_flags[@]+"${webhook_flags[@]}"})
controller_flags=(${controller_flags[@]+"${controller_flags[@]}"})
webhook_manifests=(${webhook_manifests[@]+"${webhook_manifests[@]}"})
declare -gA pid_of=()
declare -gA end_with=()
service_ip=127.0.0.1
started=()

fail() {
  printf '%s: %s\n' "$(basename "$0")" "$*" >&2
  exit 1
}

# start NAME COMMAND...: in the background, with a log of its own.
start() {
  local name=$1
  shift
  "$@" >>"$state/$name.out" 2>>"$state/$name.log" &
  pid_of[$name]=$!
  started+=("$name")
}

alive() { [ -n "${pid_of[$1]:-}" ] && kill -0 "${pid_of[$1]}" 2>/dev/null; }

# end NAME [SIGNAL]: and wait for its end. TERM, if end_with knows nothing else.
end() {
  local pid=${pid_of[$1]:-}
  [ -n "$pid" ] || return 0
  local signal=${2:-${end_with[$1]:-TERM}}
  kill "-$signal" "$pid" 2>/dev/null || true
  # In a trap, bash was seen to wait for ever for a child that another signal had ended a moment before. What is killed is
  # gone soon, and `kill -0` says when.
  if [ "$signal" = KILL ]; then
    while kill -0 "$pid" 2>/dev/null; do sleep 0.02; done
  else
    wait "$pid" 2>/dev/null || true
  fi
  unset "pid_of[$1]"
}

# End what was started, newest first, and nothing else.
end_all() {
  local i
  for ((i = ${#started[@]} - 1; i >= 0; i--)); do
    end "${started[i]}"
  done
}

# how_ended NAME: of a program that ended by itself: its exit status or signal, and its last words.
how_ended() {
  local code=0 how
  wait "${pid_of[$1]}" 2>/dev/null || code=$?
  unset "pid_of[$1]"
  how="ended with exit status $code"
  ((code <= 128)) || how="was killed by SIG$(kill -l $((code - 128)))"
  echo "herd-$1 $how; the end of $state/$1.log:"
  tail -n 5 "$state/$1.log" | sed 's/^/  /'
}

# until_true SECONDS WHAT COMMAND...: ask again and again; fail with the newest log lines.
until_true() {
  local what=$2 deadline=$((SECONDS + $1))
  shift 2
  until "$@" >/dev/null 2>&1; do
    ((SECONDS < deadline)) || {
      tail -n 8 "$state"/*.log >&2 || true
      fail "$what did not happen in time; logs are in $state/"
    }
    sleep 0.05
  done
}

# until_up NAME COMMAND...: ask again and again whether the program that was just started is there. If it ends
# instead, or takes too long ($start_deadline seconds: 30), say so; it is ended then.
until_up() {
  local name=$1 patience=${start_deadline:-30} deadline
  deadline=$((SECONDS + patience))
  shift
  until "$@" >/dev/null 2>&1; do
    alive "$name" || {
      how_ended "$name" >&2
      return 1
    }
    ((SECONDS < deadline)) || {
      end "$name" KILL
      echo "herd-$name did not come up within $patience s; the end of $state/$name.log:" >&2
      tail -n 8 "$state/$name.log" | sed 's/^/  /' >&2
      return 1
    }
    sleep 0.05
  done
}

# more_than COUNT WORD FILE: whether WORD stands in more than COUNT lines.
more_than() {
  [ "$(grep -c "$2" "$3" 2>/dev/null || true)" -gt "$1" ]
}

# start_serving NAME COMMAND...: until it logs that it serves.
start_serving() {
  local before
  before=$(grep -c serving "$state/$1.log" 2>/dev/null || true)
  start "$@"
  until_up "$1" more_than "${before:-0}" serving "$state/$1.log"
}

# port_of NAME KEY: a port from the program's newest "serving" line.
port_of() {
  sed -n "s/.*serving.*[\" ]$2[\"]*[=:] *\"*\([0-9][0-9]*\).*/\1/p" "$state/$1.log" | tail -n 1
}

# low_port: a free one below those that the kernel gives to clients: a program that is started again finds it free.
low_port() {
  local port
  while :; do
    port=$((10000 + SRANDOM % 22000))
    (: <"/dev/tcp/127.0.0.1/$port") 2>/dev/null || break
  done
  echo "$port"
}

k() { kubectl --kubeconfig "$state/kubeconfig" "$@"; }
lab_k() { kubectl --kubeconfig "${lab_kubeconfig:-$state/kubeconfig}" "$@"; }

start_lab() {
  local api rancher
  if [ -e "$state/lab/env" ]; then
    api=${HERD_LAB_SERVER#https://} rancher=${HERD_LAB_RANCHER_URL#https://}
  else
    api=127.0.0.1:$(low_port) rancher=127.0.0.1:$(low_port)
  fi
  rm -f "$state/lab/ready"
  start lab "$bin/herd-lab" serve --data "$state/lab" --listen "$api" --rancher-listen "$rancher" \
    --kubeconfig "${lab_kubeconfig:-$state/kubeconfig}" --log-format text "${lab_flags[@]}"
  until_up lab test -e "$state/lab/ready" || return
  # shellcheck disable=SC1091
  . "$state/lab/env"
}

start_webhook() {
  [ -e "$state/certs/tls.crt" ] || "$bin/herd-devca" --folder "$state/certs"
  start_serving webhook "$bin/herd-webhook" serve --listen "$service_ip:${webhook_port:-$(low_port)}" \
    --metrics-listen "127.0.0.1:${webhook_metrics_port:-$(low_port)}" --tls-cert-file "$state/certs/tls.crt" \
    --tls-key-file "$state/certs/tls.key" --kubeconfig "$state/kubeconfig" --log-format text \
    --drain 100ms "${webhook_flags[@]}" || return
  webhook_port=$(port_of webhook port)
  webhook_metrics_port=$(port_of webhook metrics_port)
}

# until_established CRD...: until they are served. Of one so new that it has no conditions kubectl makes an error.
until_established() {
  until_true 30 "that definitions are served" k wait --for=condition=Established --timeout=30s "$@"
}

# The namespace, and in it the Service by which an API server finds the webhook on this machine.
apply_webhook_service() {
  k apply -f manifests/namespace.yaml >/dev/null
  k apply -f - >/dev/null <<EOF
apiVersion: v1
kind: Service
metadata: {name: herd-webhook, namespace: herd-system}
spec:
  clusterIP: $service_ip
  ports: [{name: https, port: $webhook_port}]
EOF
}

# webhook_is_asked: whether both configurations are in effect: who it was is recorded, and a policy is validated.
webhook_is_asked() {
  local who
  who=$(sed 's/name: test-stack/name: asked/' examples/test-stack.yaml | k create --dry-run=server -f - -o \
    'jsonpath={.metadata.annotations.herd\.suse\.com/last-applied-by}') && [ -n "$who" ] &&
    [[ $(k create --dry-run=server -f examples/rules/policy.pattern.yaml 2>&1) == *"missing closing parenthesis"* ]]
}

# The manifests as they are, but for the port and the CA that cert-manager would inject. A real API server asks the
# webhook a moment after it has them. webhook_manifests are others beside those of Stacks.
apply_webhook() {
  local ca file
  ca=$(base64 -w 0 <"$state/certs/ca.crt")
  apply_webhook_service
  for file in "${webhook_manifests[@]}" manifests/webhook/configuration.yaml; do
    sed -e "s|port: 443|port: $webhook_port|" -e "s|^    clientConfig:|&\n      caBundle: $ca|" "$file" | k apply -f - >/dev/null
  done
  k apply -f manifests/webhook/author.yaml >/dev/null
  until_true 30 "that the webhook is asked" webhook_is_asked
}

start_controller() {
  (umask 077 && printf '%s' "$HERD_LAB_RANCHER_TOKEN" >"$state/rancher-token")
  start_serving controller "$bin/herd-controller" --kubeconfig "$state/kubeconfig" \
    --rancher-url "$HERD_LAB_RANCHER_URL" --rancher-token-file "$state/rancher-token" \
    --rancher-ca-file "$HERD_LAB_RANCHER_CA" --metrics-listen "127.0.0.1:${controller_metrics_port:-$(low_port)}" \
    --log-format text "${controller_flags[@]}" || return
  controller_metrics_port=$(port_of controller metrics_port)
}

# The API server of the product and the simulation: both are the lab's. tests/cluster has another.
start_api() { start_lab; }

# Everything, from nothing to a webhook that is asked and a controller that works.
start_product() {
  start_api
  k apply -f manifests/crds/ >/dev/null
  start_webhook
  apply_webhook
  start_controller
}

# down CLUSTER ARGUMENTS...: kubectl on a downstream cluster, through Rancher.
down() {
  local cluster=$1
  shift
  kubectl --kubeconfig /dev/null --server "$HERD_LAB_RANCHER_URL/k8s/clusters/$cluster" \
    --certificate-authority "$HERD_LAB_RANCHER_CA" --token "$HERD_LAB_RANCHER_TOKEN" "$@"
}
