#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# verdicts.sh BIN FOLDER: the peer does what herd-webhook does: the same Stacks are let in and refused, by both routes, and with
# the same defaults; for the four payloads of `make bench` and for each Stack of examples/.
# Ends with 77 (skipped), and a line that says why, where the peer cannot be built.
set -euo pipefail
cd "$(dirname "$0")/../../.."
bin=${1:?BIN} state=${2:?FOLDER}
rm -rf "$state"
mkdir -p "$state"
. lab/processes.sh
. tests/bench/servers.sh
peer_is_there || exit $?
trap end_all EXIT
make_certificates
serve herd
serve peer

# What the peer leaves out: fields that nobody knows, which the framework's decoder passes over and the CRD's schema refuses;
# metadata, which the API server validates by itself; annotations by which an operator asks for something; hosts that only configuration allows; and ranges that no version is in, which its library of versions cannot tell.
left_out=' unknown-fields shape.unknown-field shape.metadata shape.annotation shape.empty-range shape.repo-host repository-hosts '

# ask SERVER ROUTE REVIEW: its answer; what is no review at all is refused as a Status.
ask() {
  curl -sS --max-time 20 --cacert "$state/certs/ca.crt" --connect-to "herd-webhook.herd-system.svc:443:127.0.0.1:${serves[$1]}" \
    -H 'Content-Type: application/json' --data-binary "@$3" "https://herd-webhook.herd-system.svc/$2" >"$state/$1.answer.json"
}

# as_patched SERVER REVIEW: the object with the answer's patch.
as_patched() {
  jq -S --slurpfile answer "$state/$1.answer.json" '
    def step($token): if (.value | type) == "array" then $token | tonumber else $token end;
    def place($tokens): reduce $tokens[] as $token ({value: ., path: []};
      step($token) as $step | {value: (try .value[$step] catch null), path: (.path + [$step])}) | .path;
    def apply($op): place($op.path | split("/")[1:] | map(gsub("~1"; "/") | gsub("~0"; "~"))) as $path
      | if $op.op == "remove" then delpaths([$path]) else setpath($path; $op.value) end;
    reduce ($answer[0].response.patch // "W10=" | @base64d | fromjson)[] as $op (.request.object; apply($op))' "$2"
}

compared=0 refused=0 different=0
differ() {
  different=$((different + 1))
  echo "$1" >&2
}

# compare NAME ROUTE REVIEW
compare() {
  local server verdicts=()
  for server in herd peer; do
    ask "$server" "$2" "$3"
    verdicts+=("$(jq -r 'if .response.allowed then "allowed" else "refused" end' "$state/$server.answer.json")")
  done
  compared=$((compared + 1))
  [ "${verdicts[0]}" = allowed ] || refused=$((refused + 1))
  if [ "${verdicts[0]}" != "${verdicts[1]}" ]; then
    differ "$1 at /$2: ${verdicts[0]} by herd-webhook, ${verdicts[1]} by the peer: $(jq -c '.response.status // .' "$state"/{herd,peer}.answer.json)"
  elif [ "$2 ${verdicts[0]}" = 'mutate allowed' ]; then
    diff <(as_patched herd "$3") <(as_patched peer "$3") >&2 || differ "$1 at /mutate: other defaults"
  fi
}

# both_routes NAME KIND STACK.yaml
both_routes() {
  "$bin/bench-payload" "$2" create <"$3" >"$state/validate.json"
  "$bin/bench-payload" "$2" first <"$3" >"$state/mutate.json"
  compare "$1" validate "$state/validate.json"
  compare "$1" mutate "$state/mutate.json"
}

# What the figures send to /validate is what Herd's /mutate makes of the Stack, but for managedFields, which the API server adds.
without_managed() { jq -S 'del(.metadata.managedFields)'; }
for kind in small rag large cycle; do
  both_routes "$kind" "$kind" examples/accepted/rag-inference-platform.yaml
  [ "$kind" = cycle ] ||
    diff <(as_patched herd "$state/mutate.json" | without_managed) <(jq .request.object "$state/validate.json" | without_managed) >&2 ||
    differ "$kind: bench-payload writes another Stack than /mutate"
done
for file in examples/*.yaml examples/{accepted,defaulted,rejected,rules}/*.yaml; do
  name=$(basename "$file" .yaml)
  # The first document counts; what a .out.yaml says is another example's answer.
  [ "$(sed -n 's/^kind: //p' "$file" | head -n 1)" = Stack ] || continue
  [[ $name != *.out && $left_out != *" $name "* ]] || continue
  both_routes "$name" as-it-is "$file"
done
echo "$compared verdicts compared, $refused of them refusals: $different differ"
[ "$different" = 0 ] || echo "Teach the peer the rule (tests/bench/peers/*.go), or name the example in left_out and say why." >&2
[ "$different" = 0 ] && [ "$refused" -gt 20 ] && [ "$refused" -lt "$compared" ]
