# servers.sh: herd-webhook and its peer, served alike; sourced, after lab/processes.sh. Who sources it sets bin and state,
# and may set on_server, words to start a server with, such as taskset -c 0, and event_threads.
. tests/cluster/cluster.sh
on_server=(${on_server[@]+"${on_server[@]}"})
event_threads=${event_threads:-1}
declare -gA serves=()

make_certificates() { "$bin/herd-devca" --folder "$state/certs" >/dev/null; }

# peer_is_there: it is built, or why it cannot be had is said, and the status is 77.
peer_is_there() { bash tests/cluster/build.sh "$state/tools" peer; }

# command_of herd|peer PORT: $command serves there.
command_of() {
  case $1 in
    herd)
      command=("$bin/herd-webhook" serve --listen "127.0.0.1:$2" --metrics-listen 127.0.0.1:0
        --tls-cert-file "$state/certs/tls.crt" --tls-key-file "$state/certs/tls.key"
        --threads "$event_threads" --log-format text --drain 0s)
      ;;
    peer) command=("$state/tools/peer" --listen "127.0.0.1:$2" --tls-cert-dir "$state/certs") ;;
  esac
}

accepts() { (: <"/dev/tcp/127.0.0.1/$1") 2>/dev/null; }

# serve herd|peer: until it accepts connections on ${serves[$1]}.
serve() {
  free_port
  command_of "$1" "$port"
  start "$1" "${on_server[@]}" "${command[@]}"
  until_up "$1" accepts "$port"
  serves[$1]=$port
}
