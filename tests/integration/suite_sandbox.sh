#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# suite_sandbox.sh: the system calls that `herd-webhook serve` makes are those of webhook/syscalls.def, no more and no
# fewer; and the filter holds for all of its threads.
#
#   HERD_CASES   how many reviews are asked for under strace (2000)
. "$(dirname "$0")/lib.sh"
suite "$1" "$2"
reviews=${HERD_CASES:-2000}
strace -qq -o /dev/null true 2>"$state/strace.log" || {
  echo "suite_sandbox.sh: skipped: strace can trace nothing here: $(head -n 1 "$state/strace.log")"
  exit 77
}
# What sanitizers do at a start and an end is theirs; LeakSanitizer cannot look where strace does.
export ASAN_OPTIONS=${ASAN_OPTIONS:+$ASAN_OPTIONS:}detect_leaks=0
instrumented=
! grep -qaE 'lib[at]san|\.gcda' "$bin/herd-webhook" || instrumented=yes
table=webhook/syscalls.def

# From strace's lines, from the load of the last filter on: each call with what the table may say of its arguments, how
# often, and the first line of it. One that is rejected is REJECTED too.
cat >"$state/tally.awk" <<'AWK'
function kind(call, line) {
  if (call == "socket" || call == "socketpair")
    return line ~ /\(AF_INET6,/ ? "INET6" : line ~ /\(AF_INET,/ ? "INET" : line ~ /\(AF_NETLINK,/ ? "NETLINK" : line ~ /\(AF_UNIX,/ ? "UNIX" : "OTHER"
  if (call == "openat") return line ~ /O_WRONLY|O_RDWR|O_CREAT|O_TRUNC/ ? "WRITTEN" : "READ_ONLY"
  if (call == "mmap" && line ~ /PROT_READ\|PROT_WRITE\|PROT_EXEC, MAP_PRIVATE\|MAP_ANONYMOUS, -1/) return "JIT"
  if (call == "mmap" || call == "mprotect") return line ~ /PROT_EXEC/ ? "CODE" : "DATA"
  if (call == "clone") return line ~ /CLONE_THREAD/ ? "A_THREAD" : "A_PROCESS"
  if (call == "prctl") return line ~ /PR_SET_NAME/ ? "THREAD_NAME" : "OTHER"
  if (call == "ioctl") return line ~ /FIONREAD/ ? "BYTES_TO_READ" : "OTHER"
  return "ANY"
}
{ sub(/^[0-9]+ +/, "") }
/^(seccomp\(SECCOMP_SET_MODE_FILTER|<\.\.\. seccomp resumed>).* = 0$/ { entered = 1; delete count; next }
!entered { next }
/ = -1 EPERM / {
  rejected = "REJECTED " ($1 == "<..." ? $2 : substr($1, 1, index($1, "(") - 1))
  count[rejected]++
  first[rejected] = $0
}
/^[a-z_0-9]+\(/ {
  call = substr($0, 1, index($0, "(") - 1)
  key = call " " kind(call, $0)
  if (!(key in count)) first[key] = $0
  count[key]++
}
END { for (key in count) print key "\t" count[key] "\t" first[key] }
AWK

# serve NAME FLAGS...: the webhook under strace, which leaves it the process that was started.
serve() {
  local name=$1
  shift
  start_serving webhook strace -D -f -qq -s 0 -e signal=none -o "|awk -f '$state/tally.awk' >'$state/$name.part' && mv '$state/$name.part' '$state/$name.tally'" \
    "$bin/herd-webhook" serve --listen 127.0.0.1:0 --metrics-listen 127.0.0.1:0 --log-format text --drain 300ms \
    --tls-cert-file "$state/certs/tls.crt" --tls-key-file "$state/certs/tls.key" \
    --config-file "$state/config.yaml" --threads 2 "$@"
  webhook_port=$(port_of webhook port) webhook_metrics_port=$(port_of webhook metrics_port)
}
post() { curl -sk --no-progress-meter "$@" "https://127.0.0.1:$webhook_port/validate"; }
logged() { grep -q "$1" "$state/webhook.log"; }
metric() { curl -sS "http://127.0.0.1:$webhook_metrics_port/metrics" | sed -n "s/^$1 //p"; }
metric_is() { [ "$(metric "$1")" = "$2" ]; }

start_api
ok k apply -f manifests/crds/
until_established crd/stacks.herd.suse.com crd/stackpolicies.herd.suse.com
ok "$bin/herd-devca" --folder "$state/certs"
for shape in "small create" "rag update" "large first" "cycle create"; do
  "$bin/bench-payload" "${shape% *}" "${shape#* }" <examples/accepted/rag-inference-platform.yaml >"$state/${shape% *}.json"
done

row "the calls of every thread are filtered, and no program that one starts gains rights"
serve api --kubeconfig "$state/kubeconfig"
ok grep -c 'system calls are restricted seccomp=enforce' "$state/webhook.log"
for task in "/proc/${pid_of[webhook]}/task"/*; do
  is "$(sed -n 's/^Seccomp:\t//p' "$task/status")" 2
  is "$(sed -n 's/^NoNewPrivs:\t//p' "$task/status")" 1
done

row "Stacks are validated as ever: who applied them is asked about, policies come, patterns of theirs are compiled"
apply_webhook
ok k apply -f examples/policy/
eventually metric_is herd_webhook_policies "$(k get stackpolicies -o name | wc -l)"
k create --dry-run=server -f examples/test-stack.yaml >"$state/said" 2>&1 || true
for file in examples/accepted/*.yaml examples/rejected/*.yaml; do
  k create --dry-run=server -f "$file" >>"$state/said" 2>&1 || true
done
ok grep -c 'StackPolicy team-namespaces' "$state/said"
ok k delete -f examples/policy/
ok k apply -f examples/test-stack.yaml
k apply --as nobody --dry-run=server -f examples/test-stack.yaml >>"$state/said" 2>&1 || true

row "$reviews reviews are answered, on connections that are kept and on new ones"
# load ROUTE REVIEW CONNECTIONS MODE COUNT
load() {
  ok "$bin/bench-load" 127.0.0.1 "$webhook_port" "/$1" "$state/$2.json" "$3" 3600 "${pid_of[webhook]}" "$4" "$5"
  says "bad=0"
}
load validate rag 16 keep $((reviews * 7 / 10))
load mutate large 4 keep $((reviews / 20))
load validate cycle 16 keep $((reviews / 5))
load validate small 8 new $((reviews / 20))

row "what is no review is rejected, and clients that break off are let go"
[[ $(post -H 'Content-Type: application/json' --data-binary '{') == *SyntaxError* ]] || wrong "half a body was answered: $out"
post -H 'Content-Type: text/plain' --data-binary x >/dev/null
post -X PUT --data-binary x >/dev/null
head -c 4000000 /dev/zero | post -H 'Content-Type: application/json' --data-binary @- >/dev/null || true
post -H 'Transfer-Encoding: chunked' -H 'Content-Type: application/json' --data-binary "@$state/large.json" >/dev/null
curl -s "http://127.0.0.1:$webhook_port/validate" >/dev/null || true
(exec 3<>"/dev/tcp/127.0.0.1/$webhook_port" && printf 'no TLS\n' >&3)
for path in metrics healthz readyz?verbose nothing; do
  curl -s -o "$state/page" "http://127.0.0.1:$webhook_metrics_port/$path"
done

row "a new certificate, configuration and key are taken, and a certificate that cannot be served is rejected"
"$bin/herd-devca" --folder "$state/other" >/dev/null
cp "$state/other"/* "$state/certs/"
apply_webhook
eventually grep -q 'certificate taken' "$state/webhook.log"
: >"$state/certs/tls.crt"
eventually logged 'new certificate rejected'
cp "$state/other/tls.crt" "$state/certs/"
printf 'rules: {}\n' >"$state/config.yaml"
eventually grep -qi 'configuration' "$state/webhook.log"
load validate rag 2 keep 20

row "the API server is away, and comes again: watches go on"
end lab
load validate rag 2 keep 20
start_lab
ok k apply -f examples/policy/pinned-versions.yaml
eventually metric_is herd_webhook_policies 1

row "it drains, and ends well"
end webhook
eventually test -s "$state/api.tally"
logged ' stopping ' || wrong "it was not logged that it ended"

row "an API server that has a name is looked for"
sed 's|server: https://[^:]*:|server: https://api.invalid:|' "$state/kubeconfig" >"$state/named.kubeconfig"
serve named --kubeconfig "$state/named.kubeconfig"
eventually logged 'api\.invalid'
end webhook
eventually test -s "$state/named.tally"

# rows_of WORD: call and arguments of the rows that are seen as the word says; what is absent is asked for all the same.
rows_of() { sed -nE "s/^CALL\(([a-z_0-9]+), ([A-Z_0-9]+), $1, .*/\1 \2/p" "$table" | sort -u; }
sed -nE 's/^CALL\(([a-z_0-9]+), ([A-Z_0-9]+), .*/\1 \2/p; s/^ABSENT\(([a-z_0-9]+), .*/\1 ANY/p' "$table" >"$state/allowed"
# Modules that /etc/nsswitch.conf of this machine names beside files and dns cannot be loaded; the image's names no others.
grep -vE '^(mmap CODE|REJECTED mmap)' "$state/named.tally" | cat "$state/api.tally" - | sort >"$state/seen"
echo "$(awk -F '\t' '{ n += $2 } END { print n }' "$state/seen") calls of $(cut -f 1 "$state/seen" | sort -u | wc -l) kinds; of which not each time: $(
  comm -12 <(cut -f 1 "$state/seen" | sort -u) <(rows_of ELSE) | paste -sd ,)"

# Of sanitizers or gcov, and told by nothing else.
of_instruments() { [ -n "$instrumented" ] && grep -q -e "^INSTRUMENT(${1%% *}, " "$table"; }

row "nothing was rejected, and each call stands in the table"
while IFS=$'\t' read -r call count line; do
  of_instruments "$call" || grep -qx -e "$call" "$state/allowed" || wrong "not in $table: $call, $count times: $line"
done <"$state/seen"

row "and each row of the table was seen, but those that say why not"
while read -r call; do
  of_instruments "$call" || wrong "never seen: $call"
done < <(comm -13 <(cut -f 1 "$state/seen" | sort -u) <(rows_of SEEN))
