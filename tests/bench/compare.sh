#!/usr/bin/env bash
# compare.sh BIN: herd-webhook beside the peer, in interleaved pairs; prints tables. README.md says what the figures are.
# Where the peer cannot be built its columns are left out, and a line says why.
#
#   BENCH_ROUNDS   pairs for each figure (5)           BENCH_SECONDS  of each run of load (0.4)
#   BENCH_MANY     reviews before the last look at memory (30000)
#   QUICK=1        one pair, short runs: to see that all of it still works
set -euo pipefail
cd "$(dirname "$0")/../.."
bin=${1:?BIN}
state=$(mktemp -d /var/tmp/herd-compare.XXXXXX)
if [ "${QUICK:-}" = 1 ]; then
  rounds=1 seconds=0.05 many=500 starts=1
else
  rounds=${BENCH_ROUNDS:-5} seconds=${BENCH_SECONDS:-0.4} many=${BENCH_MANY:-30000} starts=$((2 * ${BENCH_ROUNDS:-5} + 1))
fi
. lab/processes.sh
. tests/bench/servers.sh
finish() {
  end_all
  rm -rf "$state"
}
trap finish EXIT

# route review operation
pinned_rows='validate small create
validate rag create
validate large create
validate cycle create
validate rag update
validate rag change
mutate rag first
mutate large first'
unpinned_rows='validate rag create
validate large create
mutate rag first'

servers=(herd)
code=0
peer_is_there || code=$?
case $code in
  0) servers+=(peer) ;;
  77) echo "The peer cannot be had here (see above): its columns are left out." ;;
  *) exit "$code" ;;
esac

# place pinned|unpinned: the server on one core and the load on the other, or both wherever the kernel puts them.
place() {
  on_server=() on_load=() event_threads=0
  [ "$1" = pinned ] || return 0
  event_threads=1
  [ "$(nproc)" -lt 2 ] || on_server=(taskset -c 0) on_load=(taskset -c 1)
}

# in_turn ROUND: $turn is the servers, each round another one first.
in_turn() {
  turn=("${servers[@]}")
  (($1 % 2 == 0 || ${#servers[@]} < 2)) || turn=("${servers[1]}" "${servers[0]}")
}

# load SERVER ROUTE REVIEW OPERATION CONNECTIONS MODE [SECONDS [MOST]]: bench-load's line.
load() {
  "${on_load[@]}" "$bin/bench-load" 127.0.0.1 "${serves[$1]}" "/$2" "$state/$3-$4.json" "$5" "${7:-$seconds}" \
    "${pid_of[$1]}" "$6" ${8:+"$8"}
}

# pairs FILE ROWS MODE CONNECTIONS...: a line for each run in FILE.
pairs() {
  local file=$1 rows=$2 mode=$3 round route review operation connections server line
  shift 3
  for ((round = 0; round < rounds; round++)); do
    in_turn "$round"
    while read -r route review operation; do
      for connections in "$@"; do
        for server in "${turn[@]}"; do
          line=$(load "$server" "$route" "$review" "$operation" "$connections" "$mode")
          echo "$server $route/$review/$operation $round $line"
        done
      done
    done <<<"$rows"
  done >"$file"
}

# Medians of what stands in a file of pairs. A ratio is the median of the pairs' ratios, by how much Herd is better: the
# peer's figure over Herd's, of rates the other way round.
medians='
  function median(list,   n, parts, i, j, t) {
    n = split(list, parts, " ")
    for (i = 2; i <= n; i++)
      for (j = i; j > 1 && parts[j] + 0 < parts[j - 1] + 0; j--) { t = parts[j]; parts[j] = parts[j - 1]; parts[j - 1] = t }
    return n ? (n % 2 ? parts[(n + 1) / 2] : (parts[n / 2] + parts[n / 2 + 1]) / 2) : ""
  }
  function shown(value) { return value == "" ? "-" : sprintf(value < 100 ? "%.1f" : "%.0f", value) }
  # herd, peer and ratio of one column.
  function cells(row, column,   ratio) {
    ratio = median(ratios[row, column])
    return sprintf(" | %7s %7s %5s", shown(median(all[row, column, "herd"])), shown(median(all[row, column, "peer"])), shown(ratio))
  }
  function take(server, row, round, column, value,   better, worse) {
    all[row, column, server] = all[row, column, server] " " value
    of[row, column, round, server] = value
    if (!((row, column, round, "herd") in of && (row, column, round, "peer") in of)) return
    better = column == "per_s" ? "herd" : "peer"
    worse = column == "per_s" ? "peer" : "herd"
    if (of[row, column, round, worse] > 0)
      ratios[row, column] = ratios[row, column] " " of[row, column, round, better] / of[row, column, round, worse]
  }'

# table FILE: a row for each review and number of connections, in the order of the runs.
table() {
  printf '%-22s %5s' 'us: herd, peer, ratio' conns
  printf ' | %21s' 'CPU for a review' 'reviews/s' p50 p99 p99.9
  echo
  awk "$medians"'
    {
      row = sprintf("%-22s %5s", $2, substr($4, index($4, "=") + 1))
      if (!(row in seen)) { seen[row] = 1; rows[++n] = row }
      for (i = 5; i <= NF; i++) { split($i, pair, "="); take($1, row, $3, pair[1], pair[2]) }
    }
    END {
      for (i = 1; i <= n; i++)
        print rows[i] cells(rows[i], "cpu_us") cells(rows[i], "per_s") cells(rows[i], "p50_us") cells(rows[i], "p99_us") cells(rows[i], "p999_us")
    }' "$1"
}

# memory ROUND: of servers that were just started: idle, with 64 connections of RAG reviews, after large ones, after many.
memory() {
  local server line
  in_turn "$1"
  for server in "${turn[@]}"; do
    end "$server"
    serve "$server"
    load "$server" validate rag create 1 keep 0 1 >/dev/null
    sleep 0.7
    echo "$server idle $1 kib=$(awk '/VmRSS/ {print $2}' "/proc/${pid_of[$server]}/status")"
    line=$(load "$server" validate rag create 64 keep)
    echo "$server RAG,64 $1 kib=$(sed 's/.*rss_kib=\([0-9]*\).*/\1/' <<<"$line")"
    line=$(load "$server" validate large create 64 keep)
    echo "$server large,64 $1 kib=$(sed 's/.*rss_kib=\([0-9]*\).*/\1/' <<<"$line")"
    line=$(load "$server" validate rag create 64 keep 60 "$many")
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
    ms=$("$bin/bench-start" "$port" "$state/rag-create.json" "${command[@]}" 2>>"$state/start.log")
    echo "$server start $1 ms=$ms"
  done
}

# few FILE DIVISOR: a row for each name.
few() {
  awk -v by="$2" "$medians"'
    {
      if (!($2 in seen)) { seen[$2] = 1; rows[++n] = $2 }
      split($4, pair, "=")
      take($1, $2, $3, "value", pair[2] / by)
    }
    END { for (i = 1; i <= n; i++) printf "%-28s%s\n", rows[i], cells(rows[i], "value") }' "$1"
}

# said WHAT: a heading, with what else the machine does now.
said() { printf '\n%s (load average %s)\n' "$1" "$(cut -d ' ' -f 1-2 /proc/loadavg)"; }

make_certificates
while read -r review operation; do
  "$bin/bench-payload" "$review" "$operation" <examples/accepted/rag-inference-platform.yaml >"$state/$review-$operation.json"
done < <(cut -d ' ' -f 2- <<<"$pinned_rows" | sort -u)
echo "bytes of a review: $(cd "$state" && for file in *-*.json; do echo "${file%.json} $(wc -c <"$file")"; done | paste -sd ,)"
echo "$rounds interleaved pairs of $seconds s each, medians; a ratio says by how much Herd is better"

place pinned
for server in "${servers[@]}"; do serve "$server"; done
said "Server on one core, load on the other"
pairs "$state/pinned" "$pinned_rows" keep 1 16 64
table "$state/pinned"
said "A new TLS connection for each review"
pairs "$state/new" 'validate rag create' new 16
table "$state/new"

said "Resident memory in MiB"
for ((round = 0; round < (rounds + 1) / 2; round++)); do memory "$round"; done >"$state/memory"
few "$state/memory" 1024
for server in "${servers[@]}"; do end "$server"; done
said "From exec to the first answer in ms"
for ((round = 0; round < starts; round++)); do start_times "$round"; done >"$state/start"
few "$state/start" 1

place unpinned
for server in "${servers[@]}"; do serve "$server"; done
said "Server and load on all $(nproc) cores"
pairs "$state/unpinned" "$unpinned_rows" keep 1 16 64
table "$state/unpinned"
