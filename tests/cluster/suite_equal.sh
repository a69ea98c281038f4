#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# suite_equal.sh: the lab answers each of requests.txt as a real API server does: status code, and body but for
# what every server makes up (uid, versions, times). differences.txt names those that do not, and why; one that no
# longer differs must leave that list.
HERD_API=real
. "$(dirname "$0")/../integration/lib.sh"
suite "$1" "$2"
start_lab
start_cluster management
mkdir "$state/answers"

declare -A type_of=([json]=application/json [yaml]=application/yaml [merge]=application/merge-patch+json
  [json-patch]=application/json-patch+json [strategic]=application/strategic-merge-patch+json
  [apply]=application/apply-patch+yaml [text]=text/plain)
declare -A accept_of=([table]='application/json;as=Table;v=v1;g=meta.k8s.io'
  [metadata]='application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io')

# denied KUBECONFIG POLICY DATUM: what policies.yaml rejects is rejected.
denied() {
  kubectl create configmap asked "--from-literal=$3" --dry-run=client -o json | jq ".metadata.labels.policy = \"$2\"" >"$state/asked"
  ! kubectl --kubeconfig "$1" create --dry-run=server -f "$state/asked" 2>/dev/null >&2
}

# use SIDE KUBECONFIG: its address and its administrator's token, for curl.
use() {
  local view=(kubectl --kubeconfig "$2" config view --raw -o)
  "${view[@]}" 'jsonpath={.clusters[0].cluster.certificate-authority-data}' | base64 -d >"$state/$1.ca"
  printf -v "server_$1" %s "$("${view[@]}" 'jsonpath={.clusters[0].cluster.server}')"
  (umask 077 && printf 'header = "Authorization: Bearer %s"\n' "$("${view[@]}" 'jsonpath={.users[0].user.token}')" >"$state/$1.curl")
  kubectl --kubeconfig "$2" apply -f manifests/crds/ -f tests/cluster/ruled.yaml -f tests/cluster/policies.yaml >/dev/null
  until_true 30 "definitions on $1" kubectl --kubeconfig "$2" wait --for=condition=Established crd --all --timeout=30s
  until_true 30 "Stacks on $1" kubectl --kubeconfig "$2" get stacks,ruleds
  until_true 30 "policies on $1" denied "$2" words bad=1
  until_true 30 "policies on $1" denied "$2" selected size=9
}

send() {
  local side=$1 method=$2 path=$3
  local server=server_$side
  shift 3
  curl -sS --max-time 20 -K "$state/$side.curl" --cacert "$state/$side.ca" -X "$method" "$@" "${!server}$path"
}

# What each server makes up for itself, within texts too, and the order of what has none.
same_for_all='
  def uuid: "[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}";
  def time: "[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}Z";
  def version: "(?<before>ResourceVersion in record \\(|\"resourceVersion[\\\\]*\":[\\\\]*\")[0-9]+";
  def bare: walk(if type == "object"
    then del(.uid, .resourceVersion, .creationTimestamp, .deletionTimestamp, .managedFields, .lastTransitionTime, .time,
      .storageVersionHash, .serverAddressByClientCIDRs)
    elif type == "string" then gsub(uuid; "UID") | gsub(time; "TIME") | gsub(version; "\(.before)VERSION") else . end);
  bare | if .resources then .resources |= (map(.verbs |= sort) | sort_by(.name)) else . end
    | if .details.causes? then (.details.causes |= sort_by(.field, .reason, .message)) | .message |= sub("\\[.*\\]$"; "[...]") else . end
    | if .rows then .rows[].cells |= map(if type == "string" and test("^[0-9]+m?s$|^<invalid>$") then "age" else . end) else . end'
no_words='del(.message?, .details.causes[]?.message, .columnDefinitions[]?.description)'

# answer SIDE: code and body of the request in $method, $path, $form, $body.
answer() {
  local side=$1 flags=() sent=$body
  [ -z "${type_of[$form]:-}" ] || flags+=(-H "Content-Type: ${type_of[$form]}")
  [ -z "${accept_of[$form]:-}" ] || flags+=(-H "Accept: ${accept_of[$form]}")
  [[ $sent != *'$VERSION'* ]] ||
    sent=${sent//'$VERSION'/$(send "$side" GET /apis/herd.suse.com/v1/namespaces/default/stacks/one | jq -r .metadata.resourceVersion)}
  [ -z "$sent" ] || flags+=(--data-binary "$sent")
  send "$side" "$method" "$path" -o "$state/raw" -w '%{http_code}\n' "${flags[@]}"
  jq -S "$same_for_all" "$state/raw" 2>/dev/null || cat "$state/raw"
}

# listed SIGN: whether differences.txt has the sentence with this sign.
listed() { grep -qxF "$1 $sentence_next" tests/cluster/differences.txt; }

# words_aside FILE: code and body without what is there for people.
words_aside() {
  head -n 1 "$1"
  tail -n +2 "$1" | jq "$no_words" 2>/dev/null || tail -n +2 "$1"
}

differ=0
compare() {
  local number lab real
  row "$sentence_next"
  number=$(printf %03d "$rows")
  lab=$state/answers/$number-lab real=$state/answers/$number-real
  answer lab >"$lab"
  answer real >"$real"
  if cmp -s "$lab" "$real"; then
    ! listed '=' && ! listed '~' && return
    echo "  differs no more: take it out of tests/cluster/differences.txt"
  elif cmp -s <(words_aside "$lab") <(words_aside "$real"); then
    ! listed '~' || return 0
    echo "  only words differ, which belongs with ~ into tests/cluster/differences.txt:"
    (diff -u "$lab" "$real" || true) | sed -n '4,40s/^/  /p'
  else
    ! listed '=' || return 0
    echo "  lab (-) and real (+) differ:"
    (diff -u "$lab" "$real" || true) | sed -n '4,60s/^/  /p'
  fi
  differ=$((differ + 1))
}

use lab "$lab_kubeconfig"
use real "$state/kubeconfig"

row "Kubernetes' types have its names, and no other fields"
for side in lab real; do
  send "$side" GET /openapi/v2 -H 'Accept: application/json' -o "$state/$side.openapi"
done
jq -nr --slurpfile lab "$state/lab.openapi" --slurpfile real "$state/real.openapi" -f tests/cluster/schemas.jq >"$state/schemas"
[ ! -s "$state/schemas" ] || wrong "$(cat "$state/schemas")"

sentence_next='' method='' path='' form=none body=''
while IFS= read -r line || [ -n "$line" ]; do
  case $line in
    '#'*) ;;
    '= '*) sentence_next=${line#= } method='' ;;
    '')
      [ -z "$method" ] || compare
      method='' body=''
      ;;
    *)
      if [ -z "$method" ]; then
        read -r method path form <<<"$line"
        form=${form:-none}
      else
        body+=$line$'\n'
      fi
      ;;
  esac
done < <(cat tests/cluster/requests.txt && echo)

[ "$differ" = 0 ] || wrong "$differ answers differ"
