# SPDX-License-Identifier: Apache-2.0
# measured.sh: a controller that carries one Stack, default/bench, on many clusters, and what that costs it; sourced, after
# lab/processes.sh.
#
#   measure_controller     start it, and record the renewals of its Lease; one that ends is started again, as a Deployment would
#   until_is JSONPATH TEXT until the Stack says so, within BENCH_DEADLINE seconds (900)
#   passed, spent, requests  ms since it was started; ms of CPU of the process; requests through Rancher
ends=0

measure_controller() {
  began=$(date +%s%N)
  start_controller
  # "MS HOLDER RENEWED", until the lab ends.
  start lease bash -c '
    while sleep 0.5; do
      echo "$(($(date +%s%N) / 1000000)) $(kubectl --kubeconfig "$0" get lease herd-controller -o "jsonpath={.spec.holderIdentity} {.spec.renewTime}" 2>/dev/null)"
    done' "$state/kubeconfig"
}

revive() {
  alive controller && return
  ends=$((ends + 1))
  echo "the controller ended after $(passed) ms: $(grep ERROR "$state/controller.log" | tail -1)"
  unset "pid_of[controller]"
  start_controller
}

until_is() {
  local deadline=$((SECONDS + ${BENCH_DEADLINE:-900}))
  until [ "$(k get stack bench -o "jsonpath=$1")" = "$2" ]; do
    revive
    ((SECONDS < deadline)) || fail "after $ends ends of the controller $1 is not $2: $(k get stack bench -o "jsonpath={.status.message} {.status.conditions}")"
    sleep 0.5
  done
}

metric() {
  curl -sS "http://127.0.0.1:$controller_metrics_port/metrics" | awk -v name="$1" '$1 ~ "^" name {sum += $NF} END {print sum + 0}'
}
passed() { echo $((($(date +%s%N) - began) / 1000000)); }
spent() { awk -v hz="$(getconf CLK_TCK)" '{print int(($14 + $15) * 1000 / hz)}' "/proc/${pid_of[controller]}/stat"; }
requests() { metric herd_controller_rancher_requests_total; }
print_memory() { awk '/VmRSS|VmHWM/ {printf "%s %s KiB  ", $1, $2} END {print ""}' "/proc/${pid_of[controller]}/status"; }

# print_idle SECONDS CLUSTERS: what is asked and spent while nothing changes.
print_idle() {
  local cpu requests writes
  cpu=$(spent) requests=$(requests) writes=$(metric herd_controller_status_writes_total)
  sleep "$1"
  awk -v n="$2" -v s="$1" -v r="$(($(requests) - requests))" -v c="$(($(spent) - cpu))" \
    -v w="$(($(metric herd_controller_status_writes_total) - writes))" 'BEGIN {
      printf "while nothing changes, in %d s: %.3f requests a second and cluster, %.1f ms of CPU a second, %d status writes\n", s, r / n / s, c / s, w }'
}

# What held the event loop up longest, and how late its timers were.
print_loop() {
  curl -sS "http://127.0.0.1:$controller_metrics_port/metrics" | awk '
    /^herd_controller_loop_callback_longest_seconds/ {longest = $2}
    /^herd_controller_loop_callback_cpu_longest_seconds/ {cpu = $2}
    /^herd_controller_loop_callback_duration_seconds_bucket.*"0.02"/ {short = $2}
    /^herd_controller_loop_callback_duration_seconds_count/ {all = $2}
    /^herd_controller_loop_timer_delay_duration_seconds_bucket/ {split($1, part, "\""); if ($2 > late) {late = $2; bound = part[2]}}
    END {printf "event loop: %d callbacks, %d of them above 20 ms, the longest %.0f ms; the most CPU of one was %.0f ms; no timer was later than %s s\n", all, all - short, longest * 1000, cpu * 1000, bound}'
}

# A renewal that the record missed is between two others, so the pause is at most this long.
print_lease() {
  awk 'NF == 3 && $3 != renewed {
      if (renewals++ && $1 - at > longest) longest = $1 - at
      if (renewals > 1 && $2 != holder) holders++
      at = $1; holder = $2; renewed = $3
    } END {printf "the Lease was renewed %d times, the longest pause %.1f s, and changed hands %d times\n", renewals, longest / 1000, holders}' "$state/lease.out"
}
