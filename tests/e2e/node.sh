# SPDX-License-Identifier: Apache-2.0
# node.sh: a node of a cluster, in namespaces that hold nothing else: containerd, kubelet and kube-proxy as processes;
# sourced by suite.sh, after lab/processes.sh.
#
#   prepare_node     mounts and network; before anything is started
#   start_node       until the node is Ready
#   import FILE      an image, for the kubelet
#   process_of POD   the id of its container's process
#
# Pods are on a bridge, 10.244.0.0/24, and reach this machine at 10.244.0.1: the API server. Services have addresses of
# 10.96.0.0/24, which kube-proxy translates. Rancher stands for a host elsewhere, at 192.0.2.1; the cluster's DNS, on this
# machine too, knows it by name.

node='node-1'
node_address=10.244.0.1
rancher_address=192.0.2.1
rancher_name=rancher.example.test
pause_image=herd.test/pause:1

# A kubelet sets these for the whole machine; here it sees, and writes, files of its own.
keep_settings() {
  local name own
  for name in vm/overcommit_memory vm/panic_on_oom kernel/panic kernel/panic_on_oops kernel/keys/root_maxkeys \
    kernel/keys/root_maxbytes; do
    own=/run/sysctl/$(basename "$name")
    [ -e "/proc/sys/$name" ] || continue
    mkdir -p /run/sysctl
    cat "/proc/sys/$name" >"$own"
    mount --bind "$own" "/proc/sys/$name"
  done
}

prepare_node() {
  mount --make-rshared /
  mount -t tmpfs -o mode=755 tmpfs /run
  keep_settings
  mkdir -p "$state"/{containerd,kubelet,pods,containers,cni/net.d}
  mount --bind "$state/kubelet" /var/lib/kubelet
  mount --bind "$state/pods" /var/log/pods
  mount --bind "$state/containers" /var/log/containers
  ip link set lo up
  ip address add "$rancher_address/32" dev lo
  ip link add herd0 type bridge
  ip address add "$node_address/24" dev herd0
  ip link set herd0 up
  # Without a route to it, nobody looks whether an address is translated.
  ip route add 10.96.0.0/24 dev herd0
  echo 1 >/proc/sys/net/ipv4/ip_forward
}

write_network() {
  cat >"$state/cni/net.d/herd.conflist" <<EOF
{"cniVersion": "0.4.0", "name": "herd", "plugins": [
  {"type": "bridge", "bridge": "herd0", "isGateway": true,
   "ipam": {"type": "host-local", "dataDir": "$state/cni", "routes": [{"dst": "0.0.0.0/0"}],
            "ranges": [[{"subnet": "10.244.0.0/24", "gateway": "$node_address"}]]}}]}
EOF
}

# overlayfs, unless the state lies on a file system that can not carry it.
snapshotter() {
  local at=$state/overlay
  mkdir -p "$at"/{lower,upper,work,merged}
  if mount -t overlay overlay -o "lowerdir=$at/lower,upperdir=$at/upper,workdir=$at/work" "$at/merged" 2>/dev/null; then
    umount "$at/merged"
    echo overlayfs
  else
    echo native
  fi
  rm -rf "$at"
}

start_containerd() {
  local plugins=/usr/lib/cni
  [ -e "$plugins/bridge" ] || plugins=/opt/cni/bin
  cat >"$state/containerd.toml" <<EOF
version = 2
root = "$state/containerd"
state = "/run/containerd"
oom_score = 0
[plugins."io.containerd.grpc.v1.cri"]
  sandbox_image = "$pause_image"
  restrict_oom_score_adj = true
  stream_server_address = "127.0.0.1"
  [plugins."io.containerd.grpc.v1.cri".containerd]
    snapshotter = "$(snapshotter)"
    default_runtime_name = "runc"
    [plugins."io.containerd.grpc.v1.cri".containerd.runtimes.runc]
      runtime_type = "io.containerd.runc.v2"
      [plugins."io.containerd.grpc.v1.cri".containerd.runtimes.runc.options]
        SystemdCgroup = false
  [plugins."io.containerd.grpc.v1.cri".cni]
    bin_dir = "$plugins"
    conf_dir = "$state/cni/net.d"
EOF
  start containerd containerd --config "$state/containerd.toml"
  until_up containerd ctr version
}

import() { ctr -n k8s.io images import "$1" >/dev/null; }

# A static program and nothing else, in the archive that `docker save` makes.
import_pause() {
  local at=$state/pause digest
  mkdir -p "$at/root" "$at/image"
  gcc -static -Os -s -o "$at/root/pause" tests/e2e/pause.c
  tar -C "$at/root" -cf "$at/image/layer.tar" pause
  digest=$(sha256sum <"$at/image/layer.tar" | cut -d ' ' -f 1)
  cat >"$at/image/config.json" <<EOF
{"architecture": "$(dpkg --print-architecture)", "os": "linux", "config": {"Entrypoint": ["/pause"], "User": "65535:65535"},
 "rootfs": {"type": "layers", "diff_ids": ["sha256:$digest"]}}
EOF
  printf '[{"Config": "config.json", "RepoTags": ["%s"], "Layers": ["layer.tar"]}]' "$pause_image" >"$at/image/manifest.json"
  tar -C "$at/image" -cf "$at/pause.tar" .
  import "$at/pause.tar"
}

start_kubelet() {
  cat >"$state/kubelet.yaml" <<EOF
apiVersion: kubelet.config.k8s.io/v1beta1
kind: KubeletConfiguration
address: $node_address
authentication: {anonymous: {enabled: true}, webhook: {enabled: false}}
authorization: {mode: AlwaysAllow}
containerRuntimeEndpoint: unix:///run/containerd/containerd.sock
cgroupRoot: /$cgroup
cgroupDriver: cgroupfs
failCgroupV1: false
failSwapOn: false
enforceNodeAllocatable: [none]
oomScoreAdj: 0
clusterDomain: cluster.local
clusterDNS: [$node_address]
resolvConf: $state/resolv.conf
registryPullQPS: 0
syncFrequency: 5s
evictionHard: {memory.available: "0%", nodefs.available: "0%", nodefs.inodesFree: "0%", imagefs.available: "0%"}
imageGCHighThresholdPercent: 100
imageGCLowThresholdPercent: 99
EOF
  echo "nameserver $node_address" >"$state/resolv.conf"
  start kubelet kubelet --config "$state/kubelet.yaml" --kubeconfig "$state/kubeconfig" \
    --hostname-override "$node" --node-ip "$node_address" --node-labels kubernetes.io/os=linux
}

start_proxy() {
  start proxy kube-proxy --kubeconfig "$state/kubeconfig" --hostname-override "$node" --proxy-mode iptables \
    --cluster-cidr 10.244.0.0/24 --conntrack-max-per-core 0 --conntrack-min 0
}

start_names() {
  start names dnsmasq --keep-in-foreground --conf-file=/dev/null --no-hosts --no-resolv --user=root --pid-file --log-facility=- \
    --bind-interfaces --listen-address "$node_address" --local=/cluster.local/ "--address=/$rancher_name/$rancher_address"
}

node_is_ready() { k wait --for=condition=Ready "node/$node" --timeout=1s; }

start_node() {
  local began
  began=$(now_ms)
  write_network
  start_containerd
  start_names
  import_pause
  start_kubelet
  start_proxy
  until_up kubelet node_is_ready
  until_up proxy iptables -t nat -L KUBE-SERVICES
  echo "  node: Ready in $(($(now_ms) - began)) ms, $(containerd --version | cut -d ' ' -f 3), $(runc --version | sed -n 1p)," \
    "kubelet $(kubelet --version | cut -d ' ' -f 2), cgroup $(stat -fc %T /sys/fs/cgroup)"
}

process_of() {
  local id
  id=$(k -n herd-system get pod "$1" -o 'jsonpath={.status.containerStatuses[0].containerID}')
  ctr -n k8s.io tasks ls | awk -v id="${id#containerd://}" '$1 == id { print $2 }'
}
