#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# kubelet.sh: plays those who carry certificates and configuration from the API server to where they are used.
#
#   kubelet.sh secret KUBECONFIG NAMESPACE/NAME FOLDER
#       the kubelet: each state of the Secret in a folder of its own, `..data` a link to the newest, swapped by one
#       rename, tls.crt and tls.key links through it. What goes from the Secret stays, as it does for a pod that runs.
#       Prints a line for each swap: time in ms, serial.
#   kubelet.sh configmap KUBECONFIG NAMESPACE/NAME KEY FOLDER
#       the same of one key of a ConfigMap that is mounted as optional: while it is not there, neither is the file.
#   kubelet.sh bundle KUBECONFIG NAME FILE
#       an API server: FILE is whom it believes, caBundle of the validating configuration. Prints the time of each change.
#   kubelet.sh swap FOLDER NAME=FILE...
#       one swap by hand; a FILE that is not there is not there in FOLDER either
set -euo pipefail

# swap FOLDER NAME=FILE...
swap() {
  local folder=$1 old new pair name
  shift
  mkdir -p "$folder"
  old=$(readlink "$folder/..data" || true)
  new=$(mktemp -d "$folder/..XXXXXXXX")
  for pair in "$@"; do
    [ ! -e "${pair#*=}" ] || cp "${pair#*=}" "$new/${pair%%=*}"
  done
  ln -s "$(basename "$new")" "$folder/..data_tmp"
  mv -T "$folder/..data_tmp" "$folder/..data"
  for pair in "$@"; do
    name=${pair%%=*}
    [ -L "$folder/$name" ] || ln -s "..data/$name" "$folder/"
  done
  [ -z "$old" ] || rm -r "${folder:?}/$old"
}

watcher=
trap '[ -z "$watcher" ] || kill "$watcher" 2>/dev/null || true' EXIT
trap 'exit 143' TERM
trap 'exit 130' INT

# follow KUBECONFIG DO ARGUMENTS...: DO with each line of a watch; again when it ends.
follow() {
  local kubeconfig=$1 act=$2 line watch
  shift 2
  while true; do
    exec {watch}< <(exec kubectl --kubeconfig "$kubeconfig" get -w "$@" 2>/dev/null)
    watcher=$!
    while read -r line <&"$watch"; do
      "$act" "$line"
    done
    exec {watch}<&-
    sleep 0.2
  done
}

seen=
take_secret() {
  local certificate=${1%% *} key=${1#* }
  [ -n "$certificate" ] && [ -n "$key" ] && [ "$1" != "$seen" ] || return 0
  seen=$1
  base64 -d <<<"$certificate" >"$folder.crt"
  base64 -d <<<"$key" >"$folder.key"
  swap "$folder" tls.crt="$folder.crt" tls.key="$folder.key"
  echo "$(date +%s%3N) $(openssl x509 -noout -serial -in "$folder.crt" | cut -d= -f2 | tr A-F a-f)"
}

# take_key KUBECONFIG NAMESPACE/NAME KEY: whatever the event was, what stands there now counts.
take_key() {
  kubectl --kubeconfig "$1" get configmap "${2#*/}" -n "${2%/*}" -o "jsonpath={.data.${3//./\\.}}" \
    >"$folder.new" 2>/dev/null || rm -f "$folder.new"
  [ ! -e "$folder.text" ] && [ ! -e "$folder.new" ] && [ -e "$folder" ] && return 0
  rm -f "$folder.text"
  [ ! -e "$folder.new" ] || mv "$folder.new" "$folder.text"
  swap "$folder" "$3=$folder.text"
  date +%s%3N
}
take_event() { take_key "${mounted[@]}"; }

take_bundle() {
  base64 -d <<<"$1" >"$folder.new"
  mv "$folder.new" "$folder"
  date +%s%3N
}

case $1 in
  secret)
    folder=$4
    follow "$2" take_secret secret -n "${3%/*}" --field-selector "metadata.name=${3#*/}" \
      -o 'jsonpath={.data.tls\.crt} {.data.tls\.key}{"\n"}'
    ;;
  bundle)
    folder=$4
    follow "$2" take_bundle validatingwebhookconfiguration --field-selector "metadata.name=$3" \
      -o 'jsonpath={.webhooks[0].clientConfig.caBundle}{"\n"}'
    ;;
  configmap)
    folder=$5 mounted=("$2" "$3" "$4")
    take_event
    follow "$2" take_event configmap -n "${3%/*}" --field-selector "metadata.name=${3#*/}" \
      --output-watch-events -o 'jsonpath={.type}{"\n"}'
    ;;
  swap)
    shift
    swap "$@"
    ;;
esac
