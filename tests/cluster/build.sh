#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# build.sh FOLDER TOOL...|all: put the programs of a real control plane into FOLDER, as links.
#
# Each TOOL is a row of the table below. Its program comes from
#   1. the folder KUBEBUILDER_ASSETS, where it is one of etcd, kube-apiserver, kubectl
#   2. the cache: ${HERD_CLUSTER_CACHE}, else ${XDG_CACHE_HOME:-~/.cache}/herd/cluster
#   3. `go build` of the module that tools/go.mod pins, or tools/TOOL/go.mod where there is one, into the cache
# Ends with 77 (skipped), and one line that says what is missing, where Go or the modules cannot be had;
# REQUIRE_CLUSTER=1 makes that a failure.
set -euo pipefail

tools=$(cd "$(dirname "$0")" && pwd)/tools
cache=${HERD_CLUSTER_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/herd/cluster}
kubernetes_flags='-X k8s.io/component-base/version.gitVersion=VERSION'
kubernetes_flags+=' -X k8s.io/component-base/version.gitMajor=MAJOR -X k8s.io/component-base/version.gitMinor=MINOR'

# tool module package linker-flags
table() {
  cat <<EOF
etcd go.etcd.io/etcd/server/v3 go.etcd.io/etcd/server/v3
kube-apiserver k8s.io/kubernetes k8s.io/kubernetes/cmd/kube-apiserver $kubernetes_flags
kube-controller-manager k8s.io/kubernetes k8s.io/kubernetes/cmd/kube-controller-manager $kubernetes_flags
kube-scheduler k8s.io/kubernetes k8s.io/kubernetes/cmd/kube-scheduler $kubernetes_flags
kubectl k8s.io/kubernetes k8s.io/kubernetes/cmd/kubectl $kubernetes_flags -X k8s.io/client-go/pkg/version.gitVersion=VERSION
helm helm.sh/helm/v3 helm.sh/helm/v3/cmd/helm -X helm.sh/helm/v3/internal/version.version=VERSION
kwok sigs.k8s.io/kwok sigs.k8s.io/kwok/cmd/kwok
cert-manager github.com/cert-manager/cert-manager ./cert-manager -X github.com/cert-manager/cert-manager/pkg/util.AppVersion=VERSION
mirror k8s.io/kubernetes ./mirror
writers k8s.io/kubernetes ./writers
liar k8s.io/kubernetes ./liar
service k8s.io/kubernetes ./service
steps k8s.io/kubernetes ./steps
oracle k8s.io/kubernetes ./oracle
charts k8s.io/kubernetes ./charts
registry github.com/google/go-containerregistry .
otelcol go.opentelemetry.io/collector/otelcol .
health github.com/yuin/gopher-lua .
cel k8s.io/kubernetes ./cel
peer sigs.k8s.io/controller-runtime .
peer-workloads sigs.k8s.io/controller-runtime ./workloads
kubelet k8s.io/kubernetes k8s.io/kubernetes/cmd/kubelet $kubernetes_flags
kube-proxy k8s.io/kubernetes k8s.io/kubernetes/cmd/kube-proxy $kubernetes_flags
EOF
}

say() { printf '%s\n' "build.sh: $*" >&2; }

# skip WHY: what cannot be had is not wrong, unless it is required.
skip() {
  if [ "${REQUIRE_CLUSTER:-}" = 1 ]; then
    say "$1; REQUIRE_CLUSTER=1 makes this a failure"
    exit 1
  fi
  say "skipped: $1"
  exit 77
}

# home_of TOOL: where its go.mod is.
home_of() { if [ -e "$tools/$1/go.mod" ]; then echo "$tools/$1"; else echo "$tools"; fi; }

# version_of TOOL MODULE: as pinned. The file says it, so nothing needs Go when all is in the cache.
version_of() {
  awk -v module="$2" '$1 == "require" { $0 = substr($0, index($0, $2)) }
    $1 == module && $2 ~ /^v/ { print $2; exit }' "$(home_of "$1")/go.mod"
}

# key_of TOOL VERSION: changes with everything that the program is made of.
key_of() {
  local files home
  home=$(home_of "$1")
  mapfile -t files < <([ ! -d "$tools/$1" ] || find -L "$tools/$1" -name '*.go' | LC_ALL=C sort)
  files=("$home/go.mod" "$home/go.sum" ${files[@]+"${files[@]}"})
  printf '%s-%s-%s' "$1" "$2" "$( (table | grep "^$1 " && cat "${files[@]}") | sha256sum | cut -c 1-12)"
}

need_go() {
  command -v go >/dev/null 2>&1 ||
    skip "go is not installed, so $1 cannot be built (wanted: Go as in tests/cluster/tools/go.mod; or KUBEBUILDER_ASSETS)"
  local want
  want=$(sed -n 's/^go //p' "$(home_of "$1")/go.mod")
  (cd "$(home_of "$1")" && go list -m >/dev/null 2>&1) ||
    skip "$(go version 2>&1 | head -n 1) cannot build $1, which wants Go $want or newer"
}

# compile TOOL PACKAGE LINKER-FLAGS PROGRAM
compile() {
  local log=$4.log
  (cd "$(home_of "$1")" && CGO_ENABLED=0 go build -mod=readonly -trimpath -buildvcs=false \
    -ldflags "-s -w $3" -o "$4" "$2") >"$log" 2>&1 && rm -f "$log" && return
  tail -n 20 "$log" >&2
  rm -f "$4"
  if grep -qE 'dial tcp|lookup .*:|connection refused|i/o timeout|TLS handshake|proxyconnect|module lookup disabled|502|503 ' "$log"; then
    rm -f "$log"
    skip "the Go modules of $1 cannot be downloaded"
  fi
  rm -f "$log"
  say "$1 cannot be built; the compiler's words are above"
  exit 1
}

# add_files TOOL MODULE FOLDER: what a tool reads beside its program, so that Go is not needed to run it.
add_files() {
  local from files
  from=$(cd "$(home_of "$1")" && go list -m -f '{{.Dir}}' "$2")
  case $1 in
    cert-manager) files=("$from"/deploy/crds/*.yaml) ;;
    kwok) files=("$from"/kustomize/stage/node/fast/node-*.yaml "$from"/kustomize/stage/pod/fast/pod-*.yaml) ;;
    *) return 0 ;;
  esac
  rm -rf "$3"
  mkdir -p "$3"
  cp "${files[@]}" "$3"
  chmod -R u+w "$3"
}

# cached TOOL VERSION MODULE PACKAGE LINKER-FLAGS: $found is its program, built now if need be, once at a time.
cached() {
  local tool=$1 version=$2 began=$SECONDS lock
  found=$cache/$(key_of "$tool" "$version")
  [ ! -x "$found" ] || return 0
  need_go "$tool"
  mkdir -p "$cache"
  exec {lock}>"$cache/$tool.lock"
  flock "$lock"
  if [ ! -x "$found" ]; then
    say "[$number/$count] $tool $version: being built"
    compile "$tool" "$4" "$5" "$found.part"
    add_files "$tool" "$3" "$found.files"
    # The program comes last: where it is, its files are.
    mv "$found.part" "$found"
    say "[$number/$count] $tool $version: built in $((SECONDS - began)) s"
    # Others may still want another version; what nobody used for a month goes.
    find "$cache" -mindepth 1 -maxdepth 1 -name "$tool-v*" -mtime +30 -exec rm -rf {} +
  fi
  exec {lock}>&-
}

# place TOOL: a link in the folder.
place() {
  local tool module package flags version
  read -r tool module package flags < <(table | grep "^$1 ") || {
    say "'$1' is none of: $(table | cut -d ' ' -f 1 | tr '\n' ' ')"
    exit 2
  }
  case $tool in
    etcd | kube-apiserver | kubectl)
      if [ -x "${KUBEBUILDER_ASSETS:-/nonexistent}/$tool" ]; then
        ln -sf "$KUBEBUILDER_ASSETS/$tool" "$folder/$tool"
        return
      fi
      ;;
  esac
  version=$(version_of "$tool" "$module")
  flags=${flags//VERSION/$version}
  flags=${flags//MAJOR/$(cut -d . -f 1 <<<"${version#v}")}
  flags=${flags//MINOR/$(cut -d . -f 2 <<<"$version")}
  cached "$tool" "$version" "$module" "$package" "$flags"
  ln -sf "$found" "$folder/$tool"
  touch -c "$found"
  if [ -d "$found.files" ]; then
    touch -c "$found.files"
    ln -sfn "$found.files" "$folder/$tool.files"
  fi
}

[ $# -ge 2 ] || {
  say "usage: build.sh FOLDER TOOL...; tools: $(table | cut -d ' ' -f 1 | tr '\n' ' ')"
  exit 2
}
folder=$1
shift
mkdir -p "$folder"
folder=$(cd "$folder" && pwd)
if [ "$*" = all ]; then
  mapfile -t every < <(table | cut -d ' ' -f 1)
  set -- "${every[@]}"
fi
count=$# number=0
for tool in "$@"; do
  number=$((number + 1))
  place "$tool"
done
