#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# suite_supervise.sh: lab/run.sh, which is `make run` and `make demo`: programs that are killed, runs that are
# interrupted, runs beside one another.
. "$(dirname "$0")/lib.sh"
suite "$1" "$2"
export TIME_SCALE=0.02 HERD_BIN=$bin

# begin NAME MODE: in the background, in a folder of its own; what it says is in NAME.txt.
begin() {
  HERD_RUN_DIR=$state/$1 bash lab/run.sh "$2" >"$state/$1.txt" 2>&1 {suite_lock}>&- &
  runner=$!
}

# In this shell, whose child it is; bash has its own words for one that is killed.
wait_for_runner() { wait "$runner" 2>/dev/null; }

# ends NAME CODE: the run that was begun ends so.
ends() {
  local code=0
  wait "$runner" || code=$?
  is "exit $code" "exit $2"
  ok cat "$state/$1.txt"
}

has_said() { grep -qF "$2" "$state/$1.txt" || { tail -n 5 "$state/$1.txt"; return 1; }; }
logged() { grep -q "$3" "$state/$1/$2.log"; }
kr() { kubectl --kubeconfig "$state/$1/kubeconfig" "${@:2}"; }
phase_is() { [ "$(kr "$1" get stack rag-inference -o 'jsonpath={.status.phase}')" = "$2" ]; }

# murder NAME PROGRAM
murder() { kill -KILL "$(pgrep -f "herd-$2 .*$state/$1/")"; }

# nothing_of PATTERN: for eventually; no process has it in its command line.
nothing_of() { ! pgrep -af "$1"; }

row "make run says how the controller ended, starts it again, and the Stack ends Deployed"
begin a run
eventually logged a controller action=upgrade
murder a controller
eventually has_said a "herd-controller was killed by SIGKILL; the end of $state/a/controller.log:"
eventually has_said a "herd-controller is back"
eventually test -e "$state/a/ready"
ok phase_is a Deployed

row "what docs/access.md says can be tried on it: a team's roles as they stand there"
eventually kr a get clusterroles herd-view herd-edit herd-admin
ok kr a create namespace ml
sed -n '/^## Roles for a team/,/^The right on single/p' docs/access.md | sed -n '/^```yaml/,/^```$/p' | grep -v '^```' >"$state/roles.yaml"
ok kr a apply -f "$state/roles.yaml"
for_team() { kr a apply --dry-run=server -n ml -f - --as ann --as-group ml-team <<<"${stack//CLUSTER/$1}"; }
stack=$(sed -e "/^ *namespace:/d" -e '/^ *targets:/,/^ *charts:/c\  targets: {clusterIds: [CLUSTER]}\n  charts:' examples/test-stack.yaml)
eventually for_team c-m-gpu01
rejected for_team c-m-dev-cluster
says "'ann' may not deploy to cluster c-m-dev-cluster"

row "people of the team read what messages tell them to look at"
ok kr a apply -f examples/policy/timeouts.yaml
ok kr a get stackpolicy timeouts -o yaml --as ann --as-group ml-team
ok kr a describe clusterinventory --as ann --as-group ml-team
rejected kr a get stackpolicies --as ann

row "and docs/configuration.md, with the file that it names"
ok has_said a "$state/a/config.yaml"
validated_local() { kr a apply --dry-run=server -f - <<<"${stack//CLUSTER/local}"; }
rejected validated_local
says "targets.clusterIds[0]"
printf 'rules: {targets.local: warn}\n' >"$(sed -n 's/^HERD_CONFIG_FILE=//p' "$state/a/env")"
eventually validated_local
says "Warning: spec.targets.clusterIds[0]"
eventually logged a controller 'configuration taken'

row "so it does with the webhook and the lab, at the addresses that it had"
env=$(cat "$state/a/env")
murder a webhook
eventually has_said a "herd-webhook is back"
rejected kr a apply -f examples/rejected/cycle.yaml
says "dependency cycle"
murder a lab
eventually has_said a "herd-lab is back"
eventually phase_is a Deployed
is "$(cat "$state/a/env")" "$env"

row "a second run in the same folder gets one line, and the first goes on"
first=$runner
begin_again() { HERD_RUN_DIR=$state/a bash lab/run.sh demo {suite_lock}>&-; }
rejected begin_again
says "is in use by another make run or make demo"
is "$(wc -l <<<"$out") line" "1 line"
ok phase_is a Deployed

row "a run in another folder is another run"
begin b demo
ends b 0
says "Demo done"
ok phase_is a Deployed

row "SIGTERM ends make run with 0 and all that it started"
runner=$first
kill -TERM "$runner"
ends a 0
ok nothing_of "$state/a/"
is "$(test -e "$state/a/ready" && echo ready)" ""

row "make demo STORY=NAME ends well; a story that there is not is named with those that there are"
HERD_RUN_DIR=$state/e STORY=nobody rejected bash lab/run.sh demo
says "there is no STORY=nobody; there are demo health observability security workloads"
for story in health observability security workloads; do
  HERD_RUN_DIR=$state/e STORY=$story ok bash lab/run.sh demo
  says "Story of $story done"
done

row "make demo fails and says which program ended"
begin c demo
eventually logged c controller action=upgrade
murder c controller
ends c 1
says "herd-controller was killed by SIGKILL"
says "herd-controller must not end by itself"
ok nothing_of "$state/c/"

row "make demo fails and leaves no process behind after SIGINT"
begin d demo
eventually logged d controller action=upgrade
kill -INT "$runner"
! wait_for_runner || wrong "make demo ended with 0"
eventually nothing_of "$state/d/"

row "make run leaves no process behind after SIGKILL"
begin e run
eventually test -e "$state/e/ready"
kill -KILL "$runner"
wait_for_runner || true
eventually nothing_of "$state/e/"

# A suite that would never end.
cat >"$state/endless.sh" <<'EOF'
. tests/integration/lib.sh
suite "$1" "$2"
start_lab
k get namespaces -w
EOF
watches() { pgrep -f "kubectl .*$state/$1/.* -w"; }
for signal in INT TERM KILL; do
  row "a suite leaves no process behind after SIG$signal"
  bash "$state/endless.sh" "$bin" "$state/g" >"$state/g.txt" 2>&1 {suite_lock}>&- &
  runner=$!
  eventually watches g
  kill "-$signal" "$runner"
  wait_for_runner || true
  eventually nothing_of "$state/g( |/|$)"
done

row "two runs of one suite do not disturb one another"
for name in one two; do
  bash tests/integration/suite_usage.sh "$bin" "$state/f" >"$state/$name.txt" 2>&1 {suite_lock}>&- &
done
wait
ok grep -h "passed, 0 failed" "$state/one.txt" "$state/two.txt"
is "$(wc -l <<<"$out") passed" "2 passed"
