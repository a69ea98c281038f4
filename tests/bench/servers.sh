# SPDX-License-Identifier: Apache-2.0
# servers.sh: herd-webhook and its peers, served alike; sourced, after lab/processes.sh. Who sources it sets bin and state,
# and may set on_server, words to start a server with, such as taskset -c 0, and herd_flags, words for herd-webhook.
. tests/cluster/cluster.sh
on_server=(${on_server[@]+"${on_server[@]}"})
herd_flags=(${herd_flags[@]+"${herd_flags[@]}"})
declare -gA serves=()

make_certificates() { "$bin/herd-devca" --folder "$state/certs" >/dev/null; }

# peer_is_there: it is built, or why it cannot be had is said, and the status is 77.
peer_is_there() { bash tests/cluster/build.sh "$state/tools" peer; }

# command_of herd|peer|rust PORT: $command serves there.
command_of() {
  case $1 in
    herd)
      command=("$bin/herd-webhook" serve --listen "127.0.0.1:$2" --metrics-listen 127.0.0.1:0
        --tls-cert-file "$state/certs/tls.crt" --tls-key-file "$state/certs/tls.key" --drain 0s "${herd_flags[@]}")
      ;;
    peer) command=("$state/tools/peer" --listen "127.0.0.1:$2" --tls-cert-dir "$state/certs") ;;
    rust) command=("$RUST_PEER" --addr "127.0.0.1:$2" --cert-dir "$state/certs" --tuned) ;;
  esac
}

accepts() { (: <"/dev/tcp/127.0.0.1/$1") 2>/dev/null; }

# serve herd|peer|rust: until it accepts connections on ${serves[$1]}.
serve() {
  free_port
  command_of "$1" "$port"
  start "$1" "${on_server[@]}" "${command[@]}"
  until_up "$1" accepts "$port"
  serves[$1]=$port
}
