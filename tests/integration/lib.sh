# SPDX-License-Identifier: Apache-2.0
# lib.sh: what every integration suite begins with; sourced, not run.
#
#   suite BIN STATE       set up; everything that is started ends with the suite
#   row SENTENCE          the sentence that the checks below belong to
#   ok COMMAND...         must exit 0; its output is in $out
#   rejected COMMAND...    must not exit 0; its output is in $out
#   says TEXT             $out must hold TEXT
#   is GOT WANT           must be equal
#   eventually COMMAND... must hold within a deadline; asked again and again
#   user COMMAND...       as ok, of what a user types: it is printed, and goes to the transcript
#
# HERD_TRANSCRIPT=FILE appends to FILE what a user would see: the rows, and the commands of `user` with their output.
#
# HERD_API=real runs the same suite on a real API server; the lab is then Rancher and the downstream clusters alone (tests/cluster/real.sh).
#
# A suite runs in a process group that nothing outlives (lab/group.sh), and in a folder that no other run has: STATE,
# or one beside it while another run of the same suite has that.
set -euo pipefail
[ "${HERD_GROUP:-}" = own ] || HERD_GROUP=own exec env --default-signal=INT bash lab/group.sh bash "$0" "$@"
unset HERD_GROUP
unset PORT # would have controllers listen there

rows=0
sentence="(no row yet)"
deadline_s=${HERD_DEADLINE:-60}

suite() {
  bin=$1 state=$2
  mkdir -p "$(dirname "$state")"
  exec {suite_lock}>>"$state.lock"
  flock -n "$suite_lock" || state=$state.$$
  rm -rf "$state"
  mkdir -p "$state"
  lab_flags=(--time-scale 0.01)
  controller_flags=(--rancher-settle 3s)
  programs=(controller webhook lab)
  # shellcheck source=lab/processes.sh
  . lab/processes.sh
  # shellcheck source=tests/cluster/real.sh
  [ "${HERD_API:-lab}" = lab ] || . "tests/cluster/$HERD_API.sh"
  trap suite_end EXIT
  trap 'exit 130' INT
  trap 'exit 143' TERM
}

suite_end() {
  local code=$?
  trap - EXIT
  trap '' INT TERM
  end_all
  local found='ERROR: (Address|Thread|Leak|Undefined)|runtime error:|WARNING: ThreadSanitizer'
  if grep -rlE --include='*.log' "$found" "$state"; then
    grep -rhE --include='*.log' -A 12 "$found" "$state" | head -n 40
    echo "a sanitizer found something: see $state/"
    code=1
  fi
  if [ "$code" = 0 ]; then
    echo "$rows passed, 0 failed"
    case $state in *.$$) rm -rf "$state" ;; esac
  else
    echo "failed at: $sentence (logs in $state/)"
  fi
  exit "$code"
}

row() {
  sentence=$*
  rows=$((rows + 1))
  echo "- $*"
  transcript "" "## $*" ""
}

transcript() { [ -z "${HERD_TRANSCRIPT:-}" ] || printf '%s\n' "$@" >>"$HERD_TRANSCRIPT"; }

user() {
  local shown='$' word words=("$@")
  [ "$1" != k ] || words[0]=kubectl
  [ "$1" != down ] || words=(kubectl --context "${@:2}")
  for word in "${words[@]}"; do
    [[ $word =~ ^[][A-Za-z0-9@%:,./=_+-]+$ ]] || word="'${word//\'/\'\\\'\'}'"
    shown+=" $word"
  done
  echo "  $shown"
  ok "$@"
  transcript "    $shown" "    ${out//$'\n'/$'\n'    }"
}

wrong() {
  printf '%s\n  %s\n' "$sentence" "$1" >&2
  shift
  [ $# = 0 ] || printf '  %s\n' "$@" >&2
  exit 1
}

ok() {
  out=$("$@" 2>&1) || wrong "failed: $*" "$out"
}

rejected() {
  if out=$("$@" 2>&1); then
    wrong "was accepted: $*" "$out"
  fi
}

says() {
  case $out in
    *"$1"*) ;;
    *) wrong "does not say: $1" "it says: $out" ;;
  esac
}

says_not() {
  case $out in
    *"$1"*) wrong "says: $1" "$out" ;;
  esac
}

is() {
  [ "$1" = "$2" ] || wrong "got:  $1" "want: $2"
}

eventually() {
  local deadline=$((SECONDS + deadline_s))
  until out=$("$@" 2>&1); do
    ((SECONDS < deadline)) || wrong "did not come true in $deadline_s s: $*" "$out"
    sleep 0.05
  done
}

# field KIND/NAME JSONPATH [FLAGS...]
field() {
  local what=$1 path=$2
  shift 2
  k get "$what" -o "jsonpath=$path" "$@"
}

# field_is KIND/NAME JSONPATH WANT: for eventually.
field_is() {
  local got
  got=$(field "$1" "$2") || return 1
  [ "$got" = "$3" ] || {
    echo "$2 of $1 is '$got', not '$3'"
    return 1
  }
}

# field_has KIND/NAME JSONPATH TEXT: for eventually.
field_has() {
  local got
  got=$(field "$1" "$2") || return 1
  case $got in
    *"$3"*) ;;
    *) echo "$2 of $1 is '$got', without '$3'"; return 1 ;;
  esac
}

# api_server: the address of the API server that the product works on.
api_server() { k config view -o 'jsonpath={.clusters[0].cluster.server}'; }

# counters: how often each release was really installed, upgraded, uninstalled.
counters() {
  curl -sS --cacert "$HERD_LAB_RANCHER_CA" -H "Authorization: Bearer $HERD_LAB_RANCHER_TOKEN" \
    "$HERD_LAB_RANCHER_URL/lab/counters"
}

# told STACK TYPE REASON TEXT: an Event of that type and reason about the Stack holds the text.
told() {
  k get events --field-selector "involvedObject.name=$1,type=$2,reason=$3" -o 'jsonpath={range .items[*]}{.message}{"\n"}{end}' |
    grep -qF -- "$4"
}

# by_hand CLUSTER NAMESPACE RELEASE VERSION VALUES [REPO CHART ACTION]: an upgrade through Rancher that Herd did not ask
# for, or another action; of ollama, or another chart.
by_hand() {
  local url=${6:-https://otwld.github.io/ollama-helm} chart=${7:-ollama} action=${8:-upgrade} repo operation
  repo=$(down "$1" get clusterrepos.catalog.cattle.io -o "jsonpath={.items[?(@.spec.url==\"$url\")].metadata.name}")
  ok curl -sS --fail-with-body --cacert "$HERD_LAB_RANCHER_CA" -H "Authorization: Bearer $HERD_LAB_RANCHER_TOKEN" \
    -H 'Content-Type: application/json' \
    -d '{"charts":[{"chartName":"'"$chart"'","version":"'"$4"'","releaseName":"'"$3"'","values":'"$5"'}],"namespace":"'"$2"'","timeout":"600s","wait":true}' \
    "$HERD_LAB_RANCHER_URL/k8s/clusters/$1/v1/catalog.cattle.io.clusterrepos/$repo?action=$action"
  operation=$(sed -n 's/.*"operationName": *"\([^"]*\)".*/\1/p' <<<"$out")
  [ -n "$operation" ] || wrong "no operation was made" "$out"
}
