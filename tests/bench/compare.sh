#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# compare.sh BIN: herd-webhook as manifests/ installs it (installed.sh) beside its peers, in interleaved turns; prints tables.
# README.md says what the figures are. Where the peer in Go cannot be built its columns are left out, and a line says why.
#
#   BENCH_ROUNDS   turns for each figure (5)           BENCH_SECONDS  of each run of load (0.4)
#   BENCH_MANY     reviews before the last look at memory (30000)
#   RUST_PEER      a program to measure, too (README.md)
#   QUICK=1        one turn, short runs, few Stacks: to see that all of it still works
set -euo pipefail
cd "$(dirname "$0")/../.."
[ "${HERD_GROUP:-}" = own ] || HERD_GROUP=own exec env --default-signal=INT bash lab/group.sh bash "$0" "$@"
unset HERD_GROUP
bin=${1:?BIN}
state=$(mktemp -d /var/tmp/herd-compare.XXXXXX)
if [ "${QUICK:-}" = 1 ]; then
  rounds=1 seconds=0.05 many=500 starts=1 installed_stacks=3
else
  rounds=${BENCH_ROUNDS:-5} seconds=${BENCH_SECONDS:-0.4} many=${BENCH_MANY:-30000} starts=$((2 * ${BENCH_ROUNDS:-5} + 1))
fi
. lab/processes.sh
. tests/bench/servers.sh
. tests/bench/tables.sh
. tests/bench/installed.sh
finish() {
  end_all
  rm -rf "$state"
}
trap finish EXIT

# route reviews connections; the reviews are files of bench-payload's, or "mixed".
pinned_rows='validate rag-create 1
validate rag-create 16
validate rag-create 64
mutate rag-first 1
mutate rag-first 16
mutate rag-first 64
validate large-create 16
mutate large-first 16
validate cycle-create 16
validate mixed 16'
new_rows='validate rag-create 16'
unpinned_rows='validate rag-create 1
validate rag-create 16
validate rag-create 64
validate large-create 16
mutate rag-first 16'
payloads='rag-create rag-change rag-first large-create large-first cycle-create'

servers=(herd)
code=0
peer_is_there || code=$?
case $code in
  0) servers+=(peer) ;;
  77) echo "The peer in Go cannot be had here (see above): its columns are left out." ;;
  *) exit "$code" ;;
esac
if [ -n "${RUST_PEER:-}" ]; then
  [ -x "$RUST_PEER" ] || fail "RUST_PEER=$RUST_PEER: is no program; build it first, or unset RUST_PEER"
  servers+=(rust)
fi

# place pinned|unpinned: the server on one core and the load on the other, or both wherever the kernel puts them.
place() {
  on_server=() on_load=()
  [ "$1" = pinned ] || return 0
  [ "$(nproc)" -lt 2 ] || on_server=(taskset -c 0) on_load=(taskset -c 1)
}

# serve_in_effect SERVER: herd-webhook with all that it is to validate with.
serve_in_effect() {
  serve "$1"
  [ "$1" != herd ] || until_in_effect
}

# verdict_of SERVER ROUTE PAYLOAD: true or false, as it allows it.
verdict_of() {
  curl -sSk --max-time 20 -H 'Content-Type: application/json' --data-binary "@$state/$3.json" \
    "https://127.0.0.1:${serves[$1]}/$2" | jq .response.allowed
}

# A peer that decides otherwise does other work: its figures would say nothing.
compare_verdicts() {
  local payload route server want got
  for payload in $payloads; do
    route=validate
    [[ $payload != *-first ]] || route=mutate
    want=$(verdict_of herd "$route" "$payload")
    for server in "${servers[@]:1}"; do
      got=$(verdict_of "$server" "$route" "$payload")
      [ "$got" = "$want" ] || fail "$payload at /$route: allowed is $got by $server, but $want by herd-webhook"
    done
  done
}

# in_turn ROUND: $turn is the servers, each round another one first.
in_turn() {
  local first=$(($1 % ${#servers[@]}))
  turn=("${servers[@]:first}" "${servers[@]:0:first}")
}

# files_of REVIEWS: as bench-load has them. Of those that are mixed one in ten is an update, with the old object.
files_of() {
  case $1 in
    mixed) printf "$state/rag-create.json,%.0s" {1..9} && echo "$state/rag-change.json" ;;
    *) echo "$state/$1.json" ;;
  esac
}

# load SERVER ROUTE REVIEWS CONNECTIONS MODE [SECONDS [MOST]]: bench-load's line.
load() {
  "${on_load[@]}" "$bin/bench-load" 127.0.0.1 "${serves[$1]}" "/$2" "$(files_of "$3")" "$4" "${6:-$seconds}" \
    "${pid_of[$1]}" "$5" ${7:+"$7"} || fail "$1 at /$2: not every $3 review was answered with 200 and a verdict"
}

# turns ROWS MODE: a line for each run: server, row, round, bench-load's.
turns() {
  local rows=$1 mode=$2 round route reviews connections server line
  for ((round = 0; round < rounds; round++)); do
    in_turn "$round"
    while read -r route reviews connections; do
      for server in "${turn[@]}"; do
        line=$(load "$server" "$route" "$reviews" "$connections" "$mode")
        echo "$server $route/$reviews $round $line"
      done
    done <<<"$rows"
  done
}

# table FILE: a row for each review and number of connections, in the order of the runs.
table() {
  awk -v servers="${servers[*]}" "$medians"'
    {
      row = sprintf("%-22s %5s", $2, substr($4, index($4, "=") + 1))
      if (!(row in seen)) { seen[row] = 1; rows[++n] = row }
      for (i = 5; i <= NF; i++) { split($i, pair, "="); take($1, row, $3, pair[1], pair[2]) }
    }
    function wide(text, like) { return sprintf(" | %-" (length(like) - 3) "s", text) }
    END {
      printf "%-28s%s%s%s%s\n", "", wide("CPU us for a review", headings(1)), wide("reviews/s", headings(0)), wide("p50 us", headings(0)), wide("p99 us", headings(0))
      printf "%-22s %5s%s%s%s%s\n", "", "conns", headings(1), headings(0), headings(0), headings(0)
      for (i = 1; i <= n; i++)
        print rows[i] cells(rows[i], "cpu_us", 1) cells(rows[i], "per_s", 0) cells(rows[i], "p50_us", 0) cells(rows[i], "p99_us", 0)
    }' "$1"
}

# memory ROUND: of servers that were just started: idle, with 64 connections of RAG reviews, after large ones, after many.
memory() {
  local server line
  in_turn "$1"
  for server in "${turn[@]}"; do
    end "$server"
    serve_in_effect "$server"
    load "$server" validate rag-create 1 keep 0 1 >/dev/null
    sleep 0.7
    echo "$server idle $1 kib=$(awk '/VmRSS/ {print $2}' "/proc/${pid_of[$server]}/status")"
    line=$(load "$server" validate rag-create 64 keep)
    echo "$server RAG,64 $1 kib=$(sed 's/.*rss_kib=\([0-9]*\).*/\1/' <<<"$line")"
    line=$(load "$server" validate large-create 64 keep)
    echo "$server large,64 $1 kib=$(sed 's/.*rss_kib=\([0-9]*\).*/\1/' <<<"$line")"
    line=$(load "$server" validate rag-create 64 keep 60 "$many")
    echo "$server RAG,many $1 kib=$(sed 's/.*rss_kib=\([0-9]*\).*/\1/' <<<"$line")"
    echo "$server peak $1 kib=$(sed 's/.*peak_kib=\([0-9]*\).*/\1/' <<<"$line")"
  done
}

# start_times ROUND: from exec to the first answer.
start_times() {
  local server ms
  in_turn "$1"
  for server in "${turn[@]}"; do
    free_port
    command_of "$server" "$port"
    ms=$("$bin/bench-start" "$port" "$state/rag-create.json" "${command[@]}" 2>>"$state/start.log") ||
      fail "$server: no verdict within 30 s of its start; it said: $(tail -n 3 "$state/start.log")"
    echo "$server start $1 ms=$ms"
  done
}

# said WHAT: a heading, with what else the machine does now.
said() { printf '\n%s (load average %s)\n' "$1" "$(cut -d ' ' -f 1-2 /proc/loadavg)"; }

make_certificates
for payload in $payloads; do
  "$bin/bench-payload" "${payload%-*}" "${payload#*-}" <examples/accepted/rag-inference-platform.yaml >"$state/$payload.json"
done
start_installation
echo "Herd as installed: $((installed_clusters + 1)) clusters, their nodes by ClusterInventories, $installed_policies StackPolicies (9 apply, and are kept), $installed_stacks Stacks, access checked (answers cached 10 s), seccomp enforced; flags: ${herd_flags[*]//$state\//}"
echo "bytes of a review: $(cd "$state" && for payload in $payloads; do echo "$payload $(wc -c <"$payload.json")"; done | paste -sd ,); mixed: nine rag-create, one rag-change"
echo "$rounds interleaved turns of $seconds s each, medians; a ratio is the median of the turns': above 1 Herd is better"

place pinned
for server in "${servers[@]}"; do serve_in_effect "$server"; done
compare_verdicts
said "Server on one core, load on the other"
turns "$pinned_rows" keep >"$state/pinned"
table "$state/pinned"
said "A new TLS connection for each review"
turns "$new_rows" new >"$state/new"
table "$state/new"

said "Resident memory in MiB"
for ((round = 0; round < (rounds + 1) / 2; round++)); do memory "$round"; done >"$state/memory"
few "$state/memory" 1024
for server in "${servers[@]}"; do end "$server"; done
said "From exec to the first answer in ms"
for ((round = 0; round < starts; round++)); do start_times "$round"; done >"$state/start"
few "$state/start" 1

place unpinned
for server in "${servers[@]}"; do serve_in_effect "$server"; done
said "Server and load on all $(nproc) cores"
turns "$unpinned_rows" keep >"$state/unpinned"
table "$state/unpinned"
