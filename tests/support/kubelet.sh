#!/usr/bin/env bash
# kubelet.sh: plays those who carry certificates from the API server to where they are used.
#
#   kubelet.sh secret KUBECONFIG NAMESPACE/NAME FOLDER
#       the kubelet: each state of the Secret in a folder of its own, `..data` a link to the newest, swapped by one
#       rename, tls.crt and tls.key links through it. What goes from the Secret stays, as it does for a pod that runs.
#       Prints a line for each swap: time in ms, serial.
#   kubelet.sh bundle KUBECONFIG NAME FILE
#       an API server: FILE is whom it believes, caBundle of the validating configuration. Prints the time of each change.
#   kubelet.sh swap FOLDER CERTIFICATE-FILE KEY-FILE
#       one swap by hand; a file that is not there is not there in FOLDER either
set -euo pipefail

# swap FOLDER CERTIFICATE-FILE KEY-FILE
swap() {
  local folder=$1 old new
  mkdir -p "$folder"
  old=$(readlink "$folder/..data" || true)
  new=$(mktemp -d "$folder/..XXXXXXXX")
  [ ! -e "$2" ] || cp "$2" "$new/tls.crt"
  [ ! -e "$3" ] || cp "$3" "$new/tls.key"
  ln -s "$(basename "$new")" "$folder/..data_tmp"
  mv -T "$folder/..data_tmp" "$folder/..data"
  [ -L "$folder/tls.crt" ] || ln -s ..data/tls.crt ..data/tls.key "$folder/"
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
  swap "$folder" "$folder.crt" "$folder.key"
  echo "$(date +%s%3N) $(openssl x509 -noout -serial -in "$folder.crt" | cut -d= -f2 | tr A-F a-f)"
}

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
  swap) swap "$2" "$3" "$4" ;;
esac
