# SPDX-License-Identifier: Apache-2.0
# look.sh: what is true of running containers, asked of the kernel; sourced by suite.sh.

# in_ms TIME: of RFC 3339, as milliseconds.
in_ms() { date -d "$1" +%s%3N; }

# Of each pod's container: from containerd's order to start it until its program serves, and until its pod is ready.
look_at_starts() {
  local pod id ordered serving
  for pod in $(pods_of herd-webhook) $(pods_of herd-controller); do
    id=$(herd get pod "$pod" -o 'jsonpath={.status.containerStatuses[0].containerID}')
    ordered=$(sed -n "s/^time=\"\([^\"]*\)\".*StartContainer for.*${id#containerd://}.*/\1/p" "$state/containerd.log" | sed -n 1p)
    serving=$(herd logs "$pod" | jq -r 'select(.message == "serving").time' | sed -n 1p)
    echo "  $pod: serves $(($(in_ms "$serving") - $(in_ms "$ordered"))) ms after its container's start was asked for," \
      "ready $(herd get pod "$pod" -o json | jq '.status | (.conditions[] | select(.type == "Ready").lastTransitionTime | fromdate)
        - (.conditions[] | select(.type == "PodScheduled").lastTransitionTime | fromdate)') s after its pod was scheduled"
  done
}

# serial_of POD: of the certificate that it shows.
serial_of() {
  openssl s_client -connect "$(herd get pod "$1" -o 'jsonpath={.status.podIP}'):8443" -servername herd-webhook.herd-system.svc \
    </dev/null 2>/dev/null | openssl x509 -noout -serial
}

# status_of PROCESS FIELD: of /proc/PROCESS/status.
status_of() { awk -v field="$2:" '$1 == field { print $2 }' "/proc/$1/status"; }

# look_at_security PROGRAM POD
look_at_security() {
  local process
  process=$(process_of "$2")
  is "$(readlink "/proc/$process/exe")" "/usr/bin/$1"
  is "user $(status_of "$process" Uid), group $(status_of "$process" Gid)" "user 65532, group 65532"
  is "capabilities $(status_of "$process" CapEff) $(status_of "$process" CapBnd)" "capabilities 0000000000000000 0000000000000000"
  is "no_new_privs $(status_of "$process" NoNewPrivs)" "no_new_privs 1"
  is "seccomp $(status_of "$process" Seccomp)" "seccomp 2"
  if [ "$1" = herd-webhook ]; then
    ok herd logs "$2"
    says '"system calls are restricted","seccomp":"enforce"'
  fi
  awk '$5 == "/" { split($6, o, ","); print o[1] }' "/proc/$process/mountinfo" >"$state/root-mount"
  is "root $(cat "$state/root-mount")" "root ro"
  rejected touch "/proc/$process/root/usr/bin/more"
  says "Read-only file system"
  is "$(herd exec "$2" -- "/usr/bin/$1" --version | cut -d ' ' -f 1)" "$1"
  rejected herd exec "$2" -- sh -c true
  says "executable file not found"
}

# cgroup_file PROCESS FILE-OF-VERSION-1 FILE-OF-VERSION-2: of its memory.
cgroup_file() {
  local path
  path=$(sed -n 's/^[0-9]*:memory://p' "/proc/$1/cgroup")
  if [ -n "$path" ]; then
    cat "/sys/fs/cgroup/memory$path/$2"
  else
    cat "/sys/fs/cgroup$(sed -n 's/^0:://p' "/proc/$1/cgroup")/$3"
  fi
}

# look_at_memory POD: in KiB. Half of the limit is far too much for an idle program.
look_at_memory() {
  local process used most limit
  process=$(process_of "$1")
  used=$(cgroup_file "$process" memory.usage_in_bytes memory.current)
  most=$(cgroup_file "$process" memory.max_usage_in_bytes memory.peak)
  limit=$(cgroup_file "$process" memory.limit_in_bytes memory.max)
  is "$limit" "$(herd get pod "$1" -o 'jsonpath={.spec.containers[0].resources.limits.memory}' | numfmt --from=auto)"
  echo "  $1: resident $(status_of "$process" VmRSS) KiB, its cgroup $((used / 1024)) KiB, at most $((most / 1024)) KiB of $((limit / 1024)) KiB"
  ((most < limit / 2)) || wrong "$1 used $most of $limit bytes"
}

# one_generation DEPLOYMENT COUNT: what was rolled out is all that there is, the old pods gone.
one_generation() {
  local json
  json=$(herd get pods -l "app.kubernetes.io/name=$1" -o json)
  [ "$(jq '.items | length' <<<"$json")" = "$2" ] &&
    [ "$(jq '[.items[].metadata.labels["pod-template-hash"]] | unique | length' <<<"$json")" = 1 ]
}

# Reviews by the API server, one after another from two writers: a Stack created as a dry run. Each line of
# reviews.N is the code of an answer; what is not 201 is lost.
start_reviews() {
  local n server token
  server=$(api_server)
  token=$(cat "$state/cluster/management/token")
  rm -f "$state"/reviews.*
  k create --dry-run=client -o json -f examples/test-stack.yaml | jq -c '.metadata.name = "review"' >"$state/review.json"
  for n in 1 2; do
    (
      while [ ! -e "$state/reviews.end" ]; do
        curl -s -o "$state/answer.$n" -w '%{http_code} %{time_total}\n' --max-time 30 --cacert "$state/cluster/management/certs/apiserver.crt" \
          -H "Authorization: Bearer $token" -H 'Content-Type: application/json' --data-binary "@$state/review.json" \
          "$server/apis/herd.suse.com/v1/namespaces/default/stacks?dryRun=All" >>"$state/reviews.$n" || true
        tail -n 1 "$state/reviews.$n" | grep -q '^201 ' || cat "$state/answer.$n" >>"$state/reviews.lost"
      done
    ) &
    reviewer[n]=$!
  done
  eventually test -s "$state/reviews.1"
}

declare -a reviewer=()
count_reviews() {
  if [ "$1" = lost ]; then sort -n "$state"/reviews.[12] | grep -vc '^201 ' || true; else cat "$state"/reviews.[12] | wc -l; fi
}

end_reviews() {
  touch "$state/reviews.end"
  wait "${reviewer[@]}"
  echo "  $(count_reviews all) reviews, $(count_reviews lost) lost, the slowest $(cut -d ' ' -f 2 "$state"/reviews.[12] | sort -n | tail -n 1) s"
  [ ! -e "$state/reviews.lost" ] || head -c 2000 "$state/reviews.lost" >&2
}

# review_of_size BYTES: an AdmissionReview of about that size: a Stack with values as long as that.
review_of_size() {
  k create --dry-run=client -o json -f examples/test-stack.yaml | jq -c --argjson size "$1" '.metadata.name = "large"
    | .spec.charts[0].values.inline.list = [range($size / 24 | floor) | "value number \(1000000 + .)"] | {apiVersion: "admission.k8s.io/v1",
      kind: "AdmissionReview", request: {uid: "large", kind: {group: "herd.suse.com", version: "v1", kind: "Stack"},
      resource: {group: "herd.suse.com", version: "v1", resource: "stacks"}, name: "large", namespace: "default",
      operation: "CREATE", userInfo: {}, object: ., oldObject: null, dryRun: true}}'
}

# large_reviews POD COUNT AT-ONCE: the code of each answer.
large_reviews() {
  curl -sk --no-progress-meter --parallel --parallel-immediate --parallel-max "$3" --max-time 60 -o "$state/large.answer" -w '%{http_code}\n' \
    -H 'Content-Type: application/json' --data-binary "@$state/large.json" \
    "https://$(herd get pod "$1" -o 'jsonpath={.status.podIP}'):8443/validate?timeout=30s&n=[1-$2]" || true
}
