#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# suite_console.sh: the HTTP API of herd-controller (docs/console.md), by curl.
. "$(dirname "$0")/lib.sh"
suite "$1" "$2"
api=lab
[ "${HERD_API:-lab}" = lab ] || api=management-apiserver
console_port=$(low_port)
url=http://localhost:$console_port
apps=$url/apis/cloudnative.elide.dev/v1/namespaces/default/applications
flags=("${controller_flags[@]}" --kinds "stack,application,llmmodel" --console-listen "$console_port")
controller_flags=("${flags[@]}" --console-anonymous loopback)
json=(-H 'Content-Type: application/json')

# call CODE ARGUMENTS...: curl gets an answer with that status; its body is in $out.
call() {
  local want=$1 code
  shift
  code=$(curl -sS --max-time 60 -o "$state/answer" -w '%{http_code}' "$@" 2>"$state/curl.err") || wrong "curl $*" "$(cat "$state/curl.err")"
  out=$(cat "$state/answer")
  [ "$code" = "$want" ] || wrong "$code, not $want: curl $*" "$out"
}
# status CODE REASON ARGUMENTS...: and that is a Status.
status() {
  call "$1" "${@:3}"
  is "$(jq -r '"\(.kind) \(.code) \(.reason)"' <<<"$out")" "Status $1 $2"
}
app() { printf '{"apiVersion":"cloudnative.elide.dev/v1","kind":"Application","metadata":{"name":"%s"},"spec":{"replicas":1,"image":"nginx:latest"}}' "$1"; }
metric() { curl -sS "http://127.0.0.1:$controller_metrics_port/metrics" | sed -n "s/^herd_controller_console_$1 //p"; }
metric_is() { is_now=$(metric "$1") && [ "$is_now" = "$2" ] || { echo "$1 is $is_now"; return 1; }; }
# watch_into FILE ARGUMENTS...: in the background; its process is in $watcher. Returns when the stream has begun.
watch_into() {
  local file=$1
  shift
  : >"$file"
  curl -sSN "$@" >"$file" 2>"$file.err" &
  watcher=$!
  eventually grep -q '^id: ' "$file"
}
stop_watching() {
  kill "$watcher" 2>/dev/null || true
  wait "$watcher" 2>/dev/null || true
}
last_id() { sed -n 's/^id: //p' "$1" | tail -n 1; }
# seen FILE: type and name of each change.
seen() { sed -n 's/^data: //p' "$1" | jq -r 'select(.type) | "\(.type) \(.object.metadata.name)"'; }
synced() { [ "$(curl -sS -o /dev/null -w '%{http_code}' "$apps")" = 200 ]; }

row "the lab, the webhook and the controller run"
start_api
ok k apply -f manifests/crds/
for kind in abiinstances applications; do ok k apply -f "manifests/workloads/$kind/crd.yaml"; done
until_established crd/stacks.herd.suse.com crd/stackpolicies.herd.suse.com crd/applications.cloudnative.elide.dev
start_webhook
apply_webhook
start_controller
is "$(port_of controller console_port)" "$console_port"
eventually synced

row "the commands of the document in which it was asked for, one by one"
watch_into "$state/first" "$url/watch"
call 201 -X POST "$apps" \
  -H "Content-Type: application/json" \
  -d '{
    "apiVersion": "cloudnative.elide.dev/v1",
    "kind": "Application",
    "metadata": {
      "name": "my-app"
    },
    "spec": {
      "replicas": 3,
      "image": "nginx:latest",
      "strategy": "RollingUpdate"
    }
  }'
is "$(jq -r .metadata.namespace <<<"$out")" default
call 200 "$apps/my-app"
is "$(jq .spec.replicas <<<"$out")" 3
call 200 -X PUT "$apps/my-app" \
  -H "Content-Type: application/json" \
  -d '{
    "apiVersion": "cloudnative.elide.dev/v1",
    "kind": "Application",
    "metadata": {
      "name": "my-app",
      "namespace": "default"
    },
    "spec": {
      "replicas": 5,
      "image": "nginx:latest",
      "strategy": "RollingUpdate"
    }
  }'
call 200 "$apps/my-app"
is "$(jq .spec.replicas <<<"$out")" 5
call 200 "$apps"
is "$(jq -r '"\(.kind) \(.items | length)"' <<<"$out")" "ApplicationList 1"
call 200 "$url/healthz"
is "$out" ok
call 200 "$url/"
is "$(jq -r .name <<<"$out")" herd-controller
call 200 "$url/crd"
is "$(jq -r '.items[].spec.names.kind' <<<"$out" | xargs)" "Stack StackPolicy ClusterInventory StackScanReport Application LLMModel"
eventually grep -q '"type":"MODIFIED".*"replicas":5' "$state/first"
call 200 -X DELETE "$apps/my-app"
status 404 NotFound "$apps/my-app"
eventually grep -q '"type":"DELETED".*my-app' "$state/first"
is "$(seen "$state/first" | head -n 1)" "ADDED my-app"
call 200 "$url/events?kind=Application&type=DELETED"
is "$(jq -r '.events[] | "\(.type) \(.namespace)/\(.name)"' <<<"$out")" "DELETED default/my-app"
call 200 "$url/events?kind=application&limit=1"
is "$(jq '.events | length' <<<"$out")" 1
stop_watching

row "what is wrong is said as Kubernetes does"
status 400 BadRequest -X POST "$apps" "${json[@]}" -d '{"apiVersion":'
says "line 1, column"
call 201 -X POST "$apps" "${json[@]}" -d "$(app one)"
one=$out
status 409 AlreadyExists -X POST "$apps" "${json[@]}" -d "$(app one)"
status 404 NotFound "$apps/two"
status 404 NotFound -X PUT "$apps/two" "${json[@]}" -d "$(app two)"
status 404 NotFound "$url/apis/abi.io/v1/namespaces/default/abiinstances"
says "add abiinstance to its --kinds"
status 404 NotFound "$url/apis/ai.example.com/v1/namespaces/default/llmmodels"
says "llmmodels.ai.example.com are not installed"
status 404 NotFound "$url/apis/apps/v1/namespaces/default/deployments"
status 422 Invalid -X POST "$apps" "${json[@]}" -d "$(app two | jq '.spec.replicas = "many"')"
says spec.replicas
status 400 BadRequest -X POST "$apps?fieldValidation=Strict" "${json[@]}" -d "$(app two | jq '.spec.replcas = 2')"
says 'unknown field \"spec.replcas\"'
# What is only strange is said in headers.
call 201 -D "$state/headers" -X POST "$apps?dryRun=All&fieldValidation=Warn" "${json[@]}" -d "$(app two | jq '.spec.replcas = 2 | .spec.imge = "x"')"
out=$(tr -d '\r' <"$state/headers")
says 'Warning: 299 - "unknown field \"spec.replcas\""'
says 'Warning: 299 - "unknown field \"spec.imge\""'
status 422 Invalid -X POST "$url/apis/herd.suse.com/v1/namespaces/default/stacks" "${json[@]}" \
  -d "$(k create --dry-run=client --validate=false -o json -f examples/rejected/cycle.yaml)"
says "dependency cycle"
call 200 -X PATCH "$apps/one" -H 'Content-Type: application/merge-patch+json' -d '{"spec":{"replicas":2}}'
status 409 Conflict -X PUT "$apps/one" "${json[@]}" -d "$one"
status 415 UnsupportedMediaType -X POST "$apps" -d "$(app two)"
status 405 MethodNotAllowed -X DELETE "$apps"
status 405 MethodNotAllowed -X POST "$url/events" "${json[@]}" -d '{}'
status 400 BadRequest "$url/events?kind=Pod"
says "kind: Unsupported value"
status 400 BadRequest "$apps?watch=true"
call 413 -X POST "$apps" "${json[@]}" -H 'Content-Length: 4000000' -d x

row "patches of each kind, dry runs and selectors"
call 200 -X PATCH "$apps/one" -H 'Content-Type: application/json-patch+json' \
  -d '[{"op":"replace","path":"/spec/replicas","value":4}]'
call 200 -X PATCH "$apps/one?fieldManager=curl&force=true" -H 'Content-Type: application/apply-patch+yaml' \
  -d '{"apiVersion":"cloudnative.elide.dev/v1","kind":"Application","metadata":{"name":"one","labels":{"tier":"a"}}}'
call 200 "$apps?labelSelector=tier%3Da"
is "$(jq -r '.items[] | "\(.metadata.name) \(.spec.replicas)"' <<<"$out")" "one 4"
call 200 "$apps?labelSelector=tier!%3Da"
is "$(jq '.items | length' <<<"$out")" 0
call 201 -X POST "$apps?dryRun=All" "${json[@]}" -d "$(app dry)"
status 404 NotFound "$apps/dry"
inventories_are_there() { curl -sS "$url/apis/herd.suse.com/v1/clusterinventories" | jq -e '.items[0].kind == "ClusterInventory"'; }
eventually inventories_are_there

row "each caller reads what RBAC lets them read, and writes as themselves"
ok k create namespace team-a
ok k create serviceaccount bot
ok k create role apps -n team-a --verb=get,list,watch,create --resource=applications.cloudnative.elide.dev
ok k create rolebinding apps -n team-a --role=apps --serviceaccount=default:bot
ok k create token bot
as_bot=(-H "Authorization: Bearer $out")
team=$url/apis/cloudnative.elide.dev/v1/namespaces/team-a/applications
call 201 -X POST "$team" "${as_bot[@]}" "${json[@]}" -d "$(app theirs)"
call 200 "$team/theirs" "${as_bot[@]}"
call 200 "$team" "${as_bot[@]}"
status 403 Forbidden "$apps" "${as_bot[@]}"
says 'applications.cloudnative.elide.dev is forbidden: the caller cannot list'
status 403 Forbidden "$apps/one" "${as_bot[@]}"
status 403 Forbidden "$url/apis/cloudnative.elide.dev/v1/applications" "${as_bot[@]}"
status 403 Forbidden -X DELETE "$team/theirs" "${as_bot[@]}"
says 'system:serviceaccount:default:bot'
status 403 Forbidden "$url/events?namespace=default" "${as_bot[@]}"
status 403 Forbidden "$url/watch?kind=stackpolicies" "${as_bot[@]}"
call 200 "$url/events" "${as_bot[@]}"
is "$(jq -r '.events[] | "\(.namespace)/\(.name)"' <<<"$out" | sort -u)" team-a/theirs
watch_into "$state/bot" "$url/watch" "${as_bot[@]}"
call 200 -X PATCH "$apps/one" -H 'Content-Type: application/merge-patch+json' -d '{"spec":{"replicas":1}}'
call 200 -X PATCH "$team/theirs" -H 'Content-Type: application/merge-patch+json' -d '{"metadata":{"labels":{"x":"y"}}}'
eventually grep -q '"x":"y"' "$state/bot"
is "$(seen "$state/bot" | sort -u)" "MODIFIED theirs"
stop_watching
status 401 Unauthorized "$team" -H 'Authorization: Bearer nobody'
status 401 Unauthorized "$url/watch" -H 'Authorization: Bearer nobody'
status 401 Unauthorized "$team" -H 'Authorization: Basic bm9ib2R5Og=='

row "web pages of others and foreign names are not served"
status 403 Forbidden -X POST "$apps" "${json[@]}" -H 'Origin: https://evil.example' -d "$(app evil)"
status 403 Forbidden "$apps/one" -H 'Sec-Fetch-Site: cross-site'
status 403 Forbidden "$apps" -H "Host: evil.example:$console_port"
status 401 Unauthorized "$apps" -H 'X-Forwarded-For: 192.0.2.1'
status 400 BadRequest "$apps" "${as_bot[@]}" -H 'Impersonate-User: ann'

row "a client that comes back gets what it missed, once"
watch_into "$state/before" "$url/watch?kind=Application&namespace=team-a"
call 201 -X POST "$team" "${json[@]}" -d "$(app seen)"
eventually grep -q '"type":"ADDED".*"name":"seen"' "$state/before"
stop_watching
id=$(last_id "$state/before")
call 201 -X POST "$team" "${json[@]}" -d "$(app missed)"
call 200 -X DELETE "$team/missed"
watch_into "$state/after" "$url/watch?kind=Application&namespace=team-a&name=missed" -H "Last-Event-ID: $id"
eventually grep -q '"type":"DELETED"' "$state/after"
is "$(seen "$state/after" | grep -v MODIFIED)" $'ADDED missed\nDELETED missed'
! grep -q reset "$state/after" || wrong "$(cat "$state/after")"
stop_watching
eventually metric_is watchers 0

row "one that does not read is cut off, and others get all"
watch_into "$state/reader" "$url/watch?kind=Application&name=one"
exec {stuck}<>"/dev/tcp/127.0.0.1/$console_port"
printf 'GET /watch HTTP/1.1\r\nHost: localhost\r\n\r\n' >&"$stuck"
eventually metric_is watchers 2
printf '{"metadata":{"annotations":{"filler":"%0200000d"}}}' 0 >"$state/filler"
# 200 KiB each: the sockets between take some 10 MiB, what is remembered 16.
for i in $(seq 400); do
  [ "$(metric watchers)" = 2 ] || break
  call 200 -X PATCH "$apps/one?fieldManager=$i" -H 'Content-Type: application/merge-patch+json' \
    --data-binary @<(sed "s/00000\"/$(printf %05d "$i")\"/" "$state/filler")
done
eventually metric_is watchers 1
# Where patches take long, the kernel cuts it off first: it has acknowledged nothing for a minute.
[ "$api" != lab ] || eventually metric_is watchers_dropped_total 1
exec {stuck}>&-
call 200 -X PATCH "$apps/one" -H 'Content-Type: application/merge-patch+json' -d '{"metadata":{"annotations":{"filler":null,"last":"x"}}}'
eventually grep -q '"last":"x"' "$state/reader"
! grep -q reset "$state/reader" || wrong "the reader missed some"
stop_watching

row "1,100 clients may watch, and others are still answered; of 1,200 connections each is one"
ulimit -n 4096
many=()
# open_many COUNT REQUEST
open_many() {
  local i fd
  for ((i = 0; i < $1; i++)); do
    exec {fd}<>"/dev/tcp/127.0.0.1/$console_port"
    [ -z "$2" ] || printf 'GET %s HTTP/1.1\r\nHost: localhost\r\n\r\n' "$2" >&"$fd"
    many+=("$fd")
  done
}
eventually metric_is watchers 0
open_many 1100 /watch
eventually metric_is watchers 1100
status 429 TooManyRequests "$url/watch"
call 200 "$apps/one"
open_many 100 ''
rejected curl -sS --max-time 2 "$url/healthz"
for fd in "${many[@]}"; do exec {fd}>&-; done
eventually metric_is watchers 0
eventually curl -sSf --max-time 2 "$url/healthz"

row "without its API server it shows what it knows, and says that it can write nothing"
watch_into "$state/outage" "$url/watch?kind=Application"
end "$api" KILL
call 200 "$apps/one"
status 503 ServiceUnavailable -X DELETE "$apps/one"
status 503 ServiceUnavailable "$apps/one" -H 'Authorization: Bearer unknown'
"start_$api"
made() { [ "$(curl -sS -o /dev/null -w '%{http_code}' -X POST "$apps" "${json[@]}" -d "$(app "again$SECONDS")")" = 201 ]; }
eventually made
eventually grep -q '"type":"ADDED".*again' "$state/outage"
stop_watching

row "after a restart a client is told to list again, and nobody is served without a token"
id=$(last_id "$state/outage")
end controller
controller_flags=("${flags[@]}" --console-tls-cert-file "$state/certs/tls.crt" --console-tls-key-file "$state/certs/tls.key")
start_controller
url=https://127.0.0.1:$console_port
secure=(--cacert "$state/certs/ca.crt" "${as_bot[@]}")
status 401 Unauthorized "$url/events" "${secure[@]:0:2}"
reset_is_told() {
  curl -sSN --max-time 2 "$url/watch" "${secure[@]}" -H "Last-Event-ID: $id" >"$state/reset" 2>/dev/null
  grep -A 2 '^event: reset' "$state/reset" | grep -q '^data: {"reason":"Expired"'
}
eventually reset_is_told
call 200 "$url/openapi.json" "${secure[@]:0:2}"
is "$(jq -r .openapi <<<"$out")" 3.0.3

row "tokens do not travel in plain text unless somebody says so"
run=("$bin/herd-controller" --kubeconfig "$state/kubeconfig" --rancher-url "$HERD_LAB_RANCHER_URL" --rancher-token-file "$state/rancher-token")
rejected "${run[@]}" --console-listen 0.0.0.0:0
says "would travel there in plain text; set --console-tls-cert-file"
rejected "${run[@]}" --console-listen "127.0.0.1:$console_port" --metrics-listen 127.0.0.1:0
says "address in use"
rejected env PORT=:0 "${run[@]}"
says "environment variable PORT"
rejected "${run[@]}" --in-cluster --console-listen 0 --console-anonymous loopback
says "is not for a pod"
rejected "${run[@]}" --console-listen 0 --console-tls-cert-file "$state/certs/tls.crt"
says "go together"
