# SPDX-License-Identifier: Apache-2.0
# cluster.sh: a real Kubernetes control plane as processes of this machine; sourced after lab/processes.sh, which
# starts, logs and ends them. Everything listens on 127.0.0.0/8 or on a socket in $state/cluster.
#
#   cluster_tools TOOL...            have programs built (build.sh) and first in PATH
#   start_cluster NAME [SET]         API server and controllers; SET is objects (default) or workloads
#   start_cert_manager NAME          its CRDs, controllers and cainjector
#   start_nodes NAME COUNT [GPUS]    fake nodes, whose pods run at once
#   kubeconfig_of NAME               the administrator's; `management` has $state/kubeconfig
#   service_ip_of NAME               a loopback address that a Service can be pinned to
#   audit_log_of NAME                who asked for what, a line of JSON for each request
#
# A cluster's Service addresses are of 127.0.0.0/8 too, so the API server reaches a webhook by its Service
# as in production, when the webhook listens on the Service's clusterIP.
#
# Where pods are to reach the API server (tests/e2e), cluster_address says where it listens, and apiserver_flags
# are added, or stand instead of these.

cluster_source=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
cluster_address=${cluster_address:-127.0.0.1}
apiserver_flags=(${apiserver_flags[@]+"${apiserver_flags[@]}"})
declare -gA cluster_port=()

# What a namespace needs to come and go, and what follows ownerReferences.
object_controllers=namespace-controller,garbage-collector-controller,serviceaccount-controller
object_controllers+=,clusterrole-aggregation-controller,root-ca-certificate-publisher-controller
object_controllers+=,validatingadmissionpolicy-status-controller
workload_controllers=$object_controllers,deployment-controller,replicaset-controller,statefulset-controller
workload_controllers+=,daemonset-controller,job-controller,cronjob-controller,disruption-controller
workload_controllers+=,endpointslice-controller,endpoints-controller,pod-garbage-collector-controller
workload_controllers+=,node-lifecycle-controller,resourcequota-controller,persistentvolume-binder-controller,horizontal-pod-autoscaler-controller

kubeconfig_of() {
  if [ "$1" = management ]; then echo "$state/kubeconfig"; else echo "$state/$1.kubeconfig"; fi
}
service_ip_of() { echo "127.$((cluster_port[$1] >> 8)).$((cluster_port[$1] & 255)).77"; }
audit_log_of() { echo "$state/cluster/$1/audit.log"; }

# of_cluster NAME ARGUMENTS...: kubectl as its administrator.
of_cluster() {
  local kubeconfig
  kubeconfig=$(kubeconfig_of "$1")
  shift
  kubectl --kubeconfig "$kubeconfig" "$@"
}

now_ms() { echo $((${EPOCHREALTIME/./} / 1000)); }

cluster_tools() {
  mkdir -p "$state/cluster/bin"
  bash "$cluster_source/build.sh" "$state/cluster/bin" "$@" || exit
  case $PATH in
    "$state/cluster/bin":*) ;;
    *) PATH=$(cd "$state/cluster/bin" && pwd):$PATH ;;
  esac
}

# in_cluster_folder NAME COMMAND...: started in $state/cluster, where the socket is, and gone when this shell is.
in_cluster_folder() {
  local name=$1
  shift
  start "$name" setpriv --pdeathsig KILL env -C "$state/cluster" "$@"
  # Nothing of it is kept, and an API server with watches takes a minute to end by TERM.
  end_with["$name"]=KILL
}

start_etcd() {
  [ -z "${pid_of[etcd]:-}" ] || return 0
  mkdir -p "$state/cluster"
  chmod 700 "$state/cluster"
  in_cluster_folder etcd etcd --name etcd --data-dir etcd --unsafe-no-fsync --log-level warn \
    --listen-client-urls unix://etcd.sock --advertise-client-urls http://127.0.0.1:1 \
    --listen-peer-urls unix://peer.sock --initial-advertise-peer-urls http://127.0.0.1:1 \
    --initial-cluster etcd=http://127.0.0.1:1
}

# free_port: $port is one for an API server; a suite may have its own.
free_port() { port=$(low_port); }

# The port names the /24 of the cluster's Services: no two clusters on a machine share one.
start_apiserver() {
  local name=$1 folder=$state/cluster/$1
  in_cluster_folder "$name-apiserver" kube-apiserver --etcd-servers unix://etcd.sock --etcd-prefix "/$name" \
    --bind-address "$cluster_address" --secure-port "${cluster_port[$name]}" --cert-dir "$name/certs" \
    --advertise-address "$cluster_address" --endpoint-reconciler-type none \
    --service-cluster-ip-range "$(service_ip_of "$name" | cut -d . -f 1-3).0/24" \
    --authorization-mode RBAC --token-auth-file "$name/tokens.csv" \
    --service-account-issuer https://kubernetes.default.svc --service-account-key-file "$name/accounts.key" \
    --service-account-signing-key-file "$name/accounts.key" \
    --audit-policy-file "$cluster_source/audit-policy.yaml" --audit-log-path "$name/audit.log" \
    --profiling=false "${apiserver_flags[@]}"
  wait_for_apiserver "$name" "$folder"
}

apiserver_ready() {
  curl -sf --max-time 2 --cacert "$state/cluster/$1/certs/apiserver.crt" \
    "https://$cluster_address:${cluster_port[$1]}/readyz" >/dev/null 2>&1
}

# 0 when it is ready, 1 when it ended, as it does where its port is taken.
wait_for_apiserver() {
  local deadline=$((SECONDS + 60))
  until apiserver_ready "$1"; do
    kill -0 "${pid_of[$1-apiserver]}" 2>/dev/null || return 1
    ((SECONDS < deadline)) || fail "the API server of $1 is not ready in 60 s; see $state/$1-apiserver.log"
    sleep 0.05
  done
}

write_credentials() {
  local folder=$state/cluster/$1 token
  mkdir -p "$folder"
  token=$(tr -d - </proc/sys/kernel/random/uuid)
  (
    umask 077
    printf '%s' "$token" >"$folder/token"
    echo "$token,administrator,administrator,\"system:masters\"" >"$folder/tokens.csv"
    openssl ecparam -name prime256v1 -genkey -noout -out "$folder/accounts.key"
  )
}

write_kubeconfig() {
  local folder=$state/cluster/$1
  (
    umask 077
    cat >"$(kubeconfig_of "$1")" <<EOF
apiVersion: v1
kind: Config
current-context: $1
contexts: [{name: $1, context: {cluster: $1, user: administrator}}]
clusters:
  - name: $1
    cluster:
      server: https://$cluster_address:${cluster_port[$1]}
      certificate-authority-data: $(base64 -w 0 "$folder/certs/apiserver.crt")
users: [{name: administrator, user: {token: $(cat "$folder/token")}}]
EOF
  )
}

start_controllers() {
  local name=$1 set=${2}_controllers
  in_cluster_folder "$name-controllers" kube-controller-manager --kubeconfig "$(kubeconfig_of "$name")" \
    --controllers "${!set}" --leader-elect=false --secure-port 0 \
    --root-ca-file "$name/certs/apiserver.crt"
  [ "$2" != workload ] ||
    in_cluster_folder "$name-scheduler" kube-scheduler --kubeconfig "$(kubeconfig_of "$name")" \
      --leader-elect=false --secure-port 0
}

start_cluster() {
  local name=$1 set=${2:-objects} began try
  local tools=(etcd kube-apiserver kube-controller-manager kubectl)
  [ "$set" = objects ] || tools+=(kube-scheduler)
  cluster_tools "${tools[@]}"
  began=$(now_ms)
  state=$(cd "$state" && pwd)
  start_etcd
  write_credentials "$name"
  for try in 1 2 3; do
    free_port
    cluster_port[$name]=$port
    if start_apiserver "$name"; then
      try=0
      break
    fi
  done
  [ "$try" = 0 ] || fail "the API server of $name ended three times: $(tail -n 2 "$state/$name-apiserver.log")"
  write_kubeconfig "$name"
  start_controllers "$name" "${set%s}"
  until_true 30 "the default ServiceAccount of $name" of_cluster "$name" get serviceaccount default
  echo "cluster $name: ready in $(($(now_ms) - began)) ms, $(kubectl version --client -o json | jq -r .clientVersion.gitVersion)"
}

start_cert_manager() {
  local name=$1 began
  cluster_tools cert-manager
  began=$(now_ms)
  of_cluster "$name" apply --server-side -f "$state/cluster/bin/cert-manager.files/" >/dev/null
  until_true 30 "that cert-manager's definitions are served" of_cluster "$name" wait --for=condition=Established --timeout=30s \
    -f "$state/cluster/bin/cert-manager.files/"
  of_cluster "$name" create namespace cert-manager >/dev/null
  in_cluster_folder "$name-cert-manager" cert-manager --kubeconfig "$(kubeconfig_of "$name")"
  until_true 30 "cert-manager's start in $name" grep -q 'Starting workers' "$state/$name-cert-manager.log"
  echo "cluster $name: cert-manager started in $(($(now_ms) - began)) ms"
}

# Only nodes that say they are fake are kept alive by kwok, by Leases that it renews: a node that is silent for 50 s is
# taken for dead. Their pods are said to run at once.
start_nodes() {
  local name=$1 count=$2 gpus=${3:-0} stage i
  local configs=()
  cluster_tools kwok
  for stage in "$state/cluster/bin/kwok.files"/*.yaml; do
    configs+=(--config "$stage")
  done
  in_cluster_folder "$name-nodes" kwok --kubeconfig "$(kubeconfig_of "$name")" --manage-all-nodes=false \
    --manage-nodes-with-annotation-selector kwok.x-k8s.io/node=fake --server-address 127.0.0.1:0 \
    --node-lease-duration-seconds 40 "${configs[@]}"
  for ((i = 1; i <= count; i++)); do
    of_cluster "$name" create -f - >/dev/null <<EOF
apiVersion: v1
kind: Node
metadata:
  name: $name-$i
  annotations: {kwok.x-k8s.io/node: fake}
  labels: {kubernetes.io/os: linux, kubernetes.io/arch: amd64, kubernetes.io/hostname: $name-$i}
status:
  capacity: {cpu: "16", memory: 64Gi, pods: "110", nvidia.com/gpu: "$gpus"}
  allocatable: {cpu: "16", memory: 64Gi, pods: "110", nvidia.com/gpu: "$gpus"}
EOF
  done
  [ "$count" = 0 ] || of_cluster "$name" wait --for=condition=Ready node --all --timeout=30s >/dev/null
  echo "cluster $name: $count nodes"
}
