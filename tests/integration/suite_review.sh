#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# suite_review.sh: `herd-webhook review` as people and CI call it: what it reads, what it prints, how it ends.
. "$(dirname "$0")/lib.sh"
suite "$1" "$2"
unset NO_COLOR

# ends CODE ARGUMENTS...: a review with this exit code; standard output is in $out, standard error in $err.
ends() {
  local want=$1 code=0
  shift
  out=$("$bin/herd-webhook" review "$@" 2>"$state/err") || code=$?
  err=$(cat "$state/err")
  is "exit $code" "exit $want"
}

last() { tail -n 1 <<<"$out"; }
# of TEXT: how many lines of $out hold it.
of() { grep -cF -- "$1" <<<"$out" || true; }

# a_stack NAME [MORE]: a Stack that passes; MORE is put behind its spec.
a_stack() {
  printf 'apiVersion: herd.suse.com/v1\nkind: Stack\nmetadata: {name: %s}\nspec:\n  env: dev\n' "$1"
  printf '  targets: {clusterIds: [c-m-gpu01]}\n'
  printf '  charts: [{name: a, repo: "https://charts.example.com", version: 1.0.0}]\n%s' "${2:-}"
}

row "what is well passes with exit 0 and a line of counts"
ends 0 examples/*.yaml
is "$out" "2 files, 2 Stacks: 0 errors, 0 warnings; 1 object of another kind was passed over"
ends 0 examples/accepted examples/defaulted
is "$err" ""

row "what is rejected is named with file, line, column, rule and remedy, and ends with 1"
ends 1 examples/rejected/cycle.yaml
is "$out" "examples/rejected/cycle.yaml:28:7: error: spec.charts[2].dependsOn: Invalid value: dependency cycle: \
ollama -> qdrant -> gpu-operator -> ollama [graph.cycle]
    remove one edge, for example gpu-operator -> ollama
1 file, 1 Stack: 1 error, 0 warnings"

row "every rejected example is rejected, each with its own answer's findings"
for file in examples/rejected/*.yaml; do
  ends 1 "$file"
  is "$file $(of ': error: ')" "$file $(sed -n 's/^\([0-9]*\) faults:$/\1/p;t;1s/.*/1/p' "${file%.yaml}.answer.txt" | head -n 1)"
done

row "standard input is read, alone and among files"
ends 1 - <examples/rejected/cycle.yaml
says "-:28:7: error:"
ends 1 examples/test-stack.yaml - <examples/rejected/cycle.yaml
is "$(last)" "2 files, 2 Stacks: 1 error, 0 warnings"
ends 0 - <examples/policy/pinned-versions.yaml

row "standard input that holds nothing is no clean review, but beside files it may"
for nothing in "" "# values of nothing" $'---\n---\n'; do
  ends 2 - <<<"$nothing"
  is "$err" "herd-webhook review: standard input holds no document; see whether what writes it failed"
  says "1 input could not be read"
done
ends 0 - examples/test-stack.yaml </dev/null
is "$(last)" "2 files, 1 Stack: 0 errors, 0 warnings"

row "what is no Kubernetes object is no clean review where it is named, and has a remedy"
for stray in 'Error from server (Forbidden): stacks is forbidden' '"{}"' 'metadata: {name: a}'; do
  ends 1 - <<<"$stray"
  says "-:1:1: error: "
  is "$(of '[input.yaml]')" 1
done
a_stack lost | sed 1,2d >"$state/lost.yaml"
ends 1 "$state/lost.yaml"
says 'lost.yaml:1:1: error: apiVersion: Unsupported value: "": supported values: "herd.suse.com/v1"'
says 'lost.yaml:1:1: error: kind: Unsupported value: "": supported values: "Stack"'
mkdir -p "$state/chart"
printf 'image: {tag: v1}\n' >"$state/chart/values.yaml"
printf 'resources: [stack.yaml]\n' >"$state/chart/kustomization.yaml"
a_stack charted >"$state/chart/stack.yaml"
ends 0 "$state/chart"
is "$out" "3 files, 1 Stack: 0 errors, 0 warnings; 2 objects of other kinds were passed over"
ends 1 "$state/chart/values.yaml"
says "values.yaml:1:1: error: there is neither apiVersion nor kind"
ends 1 "$state/chart" "$state/chart/values.yaml" # in either order
ends 1 "$state/chart/values.yaml" "$state/chart"
is "$(last)" "3 files, 1 Stack: 1 error, 0 warnings; 1 object of another kind was passed over"
printf '// values\n{"kind":"Stack"}' >"$state/chart/odd.json"
ends 1 "$state/chart"
says "odd.json:1:1: error: a scalar stands where an object belongs"

row "a sequence of Stacks is read as a List is"
jq -nc '[{apiVersion: "herd.suse.com/v1", kind: "Stack", metadata: {name: "a"}, spec: {}}, {kind: "Pod"}]' >"$state/items.json"
ends 1 - <"$state/items.json"
says "1 file, 1 Stack: 2 errors, 0 warnings; 1 object of another kind was passed over"

row "what is no regular file is passed over in folders, and read where it is named"
mkdir -p "$state/pipes"
a_stack piped >"$state/pipes/a.yaml"
mkfifo "$state/pipes/b.yaml"
out=$(timeout 10 "$bin/herd-webhook" review "$state/pipes") || wrong "does not end" "$?"
is "$out" "1 file, 1 Stack: 0 errors, 0 warnings"
ends 0 <(a_stack piped)
ends 0 /dev/stdin < <(a_stack piped)
ln -s nowhere "$state/pipes/c.yaml"
ends 2 "$state/pipes/c.yaml"
rm "$state/pipes/b.yaml"
ends 2 "$state/pipes"

row "folders are read with all below: *.yaml, *.yml, *.json, and no way twice"
mkdir -p "$state/tree/a/b" "$state/tree/empty"
a_stack one >"$state/tree/one.yaml"
a_stack two >"$state/tree/a/two.yml"
printf '{"apiVersion":"herd.suse.com/v1","kind":"Stack","metadata":{"name":"three"},"spec":{}}' >"$state/tree/a/b/three.json"
a_stack four >"$state/tree/a/b/four.txt"
ln -s .. "$state/tree/a/b/up"
ln -s ../one.yaml "$state/tree/a/link.yaml"
ends 1 "$state/tree" "$state/tree/one.yaml"
says "4 files, 4 Stacks: 2 errors"

row "globs that the shell did not expand are, and a file is reviewed once"
ends 0 "$state/tree/*.yaml" "$state/tree/on?.yaml" "$state/tree/one.yaml"
says "1 file, 1 Stack:"
touch "$state/tree/[x].yaml"
ends 0 "$state/tree/[x].yaml"
says "1 file, 0 Stacks:"

row "what cannot be read ends with 2, and the others are reviewed all the same"
ends 2 "$state/none.yaml" examples/rejected/cycle.yaml
says "examples/rejected/cycle.yaml:28:7: error:"
says "1 input could not be read"
is "$err" "herd-webhook review: cannot read $state/none.yaml: No such file or directory"
ends 2 "$state/tree/*.nothing"
is "$err" "herd-webhook review: $state/tree/*.nothing matches no file"
ends 2 "$state/tree/empty"
is "$err" "herd-webhook review: $state/tree/empty holds no *.yaml, *.yml or *.json"
truncate -s 65M "$state/huge.yaml"
ends 2 "$state/huge.yaml"
case $err in *"at most 67108864 are taken"*) ;; *) wrong "does not say the bound" "$err" ;; esac
head -c 65M /dev/zero >"$state/zeros"
ends 2 - <"$state/zeros"
case $err in *"standard input has more than 67108864 bytes"*) ;; *) wrong "does not say the bound" "$err" ;; esac
rm "$state/huge.yaml" "$state/zeros"

row "YAML that is none, or hostile, is a finding where it stands and hides nothing"
{ echo 'a: ['; echo ---; cat examples/rejected/cycle.yaml; } >"$state/broken.yaml"
ends 1 "$state/broken.yaml"
is "$(of '[input.yaml]')" 1
says ":30:7: error: spec.charts[2].dependsOn"
{ printf 'a: &a [x,x,x,x,x,x,x,x]\n'; for i in b c d e f g h; do printf '%s: &%s [*a,*a,*a,*a,*a,*a,*a,*a]\n' $i $i | sed "s/\*a/*$(tr b-h a-g <<<$i)/g"; done; } >"$state/bomb.yaml"
ends 1 "$state/bomb.yaml"
says "too many nodes"
head -c 100000 /dev/zero | tr '\0' '[' >"$state/deep.yaml"
ends 1 "$state/deep.yaml"
says "levels of nesting"
head -c 3000 /dev/urandom >"$state/noise.yaml"
ends 1 "$state/noise.yaml"

row "warnings fail only where that is asked for"
a_stack warned '  dependsOn: [{name: b}]' | sed 's/\[c-m-gpu01\]/[c-m-gpu01, c-m-gpu01]/' >"$state/warned.yaml"
ends 0 "$state/warned.yaml"
says ":6:37: warning: spec.targets.clusterIds[1]"
ends 1 --fail-on warn "$state/warned.yaml"
ends 0 --quiet "$state/warned.yaml"
is "$out" ""
ends 1 -q --fail-on=warn "$state/warned.yaml"
is "$(of ': warning: ')" 1
is "$(of 'Stack:')" 0

row "flags of the webhook change the validation in the same way"
ends 0 --rule-severity graph.cycle=warn examples/rejected/cycle.yaml
says ":28:7: warning: spec.charts[2].dependsOn"
out=$(HERD_RULE_SEVERITY=graph.cycle=off "$bin/herd-webhook" review examples/rejected/cycle.yaml)
is "$out" "1 file, 1 Stack: 0 errors, 0 warnings"
a_stack plain | sed 's,https:,http:,' >"$state/plain.yaml"
ends 1 "$state/plain.yaml"
ends 0 --allow-plain-http-repos "$state/plain.yaml"

row "what passes and what is passed over is told on demand"
ends 0 -v -n team-a "$state/tree/one.yaml" examples/rag-inference-stack.yaml
says "passes: team-a/one"
says "passes: default/rag-inference"
is "$(of 'passed over: ')" 1

row "colour is for terminals, unless NO_COLOR is set"
esc=$(printf '\033')
ends 1 examples/rejected/cycle.yaml
says_not "$esc"
# on_terminal ENVIRONMENT...: the same on a terminal of its own.
on_terminal() {
  out=$(env TERM=xterm "$@" script -qec "$bin/herd-webhook review examples/rejected/cycle.yaml" /dev/null </dev/null) || true
  says "graph.cycle"
}
on_terminal
says "${esc}[1;31merror${esc}[0m"
on_terminal NO_COLOR=1
says_not "$esc"
on_terminal TERM=dumb
says_not "$esc"
on_terminal NO_COLOR=
says "$esc"

row "JSON, SARIF and JUnit tell the same findings"
# They claim one another's releases, which is no error.
ends 2 -q -o json examples/rejected "$state/none.yaml"
is "$(jq -r '"\(.summary.stacks) \(.summary.denied) \(.findings | length) \(.unreadable | length)"' <<<"$out")" "18 49 49 1"
is "$(jq -r '.objects[] | select(.name == "cycle") | .message' <<<"$out")" "$(cat examples/rejected/cycle.answer.txt)"
ends 2 -q -o sarif examples/rejected "$state/none.yaml"
printf '%s\n' "$out" >"$state/report.sarif"
is "$(jq -r '.runs[0] | "\(.results | length) \(.invocations[0].executionSuccessful)"' <<<"$out")" "49 false"
is "$(jq '[.runs[0] | .tool.driver.rules as $rules | .results[] | select($rules[.ruleIndex].id != .ruleId)] | length' <<<"$out")" 0
is "$(jq -r '.runs[0].results[].locations[0].physicalLocation.artifactLocation.uri' <<<"$out" | grep -vc '^examples/rejected/[a-z-]*\.yaml$' || true)" 0
# What Microsoft's validator of SARIF and code scanning on GitHub ask for of a tool and of each rule.
is "$(jq -r '.runs[0].tool.driver | .informationUri, (.rules[] | select((.name | test("^([A-Z][a-z0-9]*)+$"))
  and (.fullDescription.text | endswith(".")) and (.helpUri | startswith("https://")) | not))' <<<"$out")" https://herd.suse.com
while read -r rule; do
  ok grep -q "^| <a id=\"$rule\"></a>\`$rule\` " docs/rules.md
done < <(jq -r '.runs[0].tool.driver.rules[].helpUri | select(contains("/docs/rules.md#")) | split("#")[1]' <<<"$out")
ends 1 -o junit examples/rejected
is "$(of '<failure ')" 18
# No element has attributes that Jenkins' schema of JUnit (junit-10.xsd of its xUnit plugin) does not have there.
junit_attributes() { grep -oE '<(testcase|failure|error|system-out)( [a-z]+="[^"]*")*' <<<"$1" | grep -oE '^<[a-z-]+| [a-z]+=' | tr -d '\n' | tr '<' '\n' | sort -u | xargs; }
is "$(junit_attributes "$out")" "failure message= type= testcase classname= name="
says 'tests="18" failures="18" errors="0"'
(cd examples && "$bin/herd-webhook" review -o sarif "$PWD/rejected/cycle.yaml" || true) >"$state/inside.sarif"
is "$(jq -r '.runs[0].results[0].locations[0].physicalLocation.artifactLocation | "\(.uriBaseId) \(.uri)"' "$state/inside.sarif")" \
  "%SRCROOT% rejected/cycle.yaml"

row "a name that is no URI becomes one, and one outside of the working folder stays whole"
cp examples/rejected/cycle.yaml "$state/a b:%.yaml"
(cd "$state" && "$bin/herd-webhook" review -o sarif "a b:%.yaml" || true) >"$state/odd.sarif"
is "$(jq -r '.runs[0].results[0].locations[0].physicalLocation.artifactLocation.uri' "$state/odd.sarif")" "a%20b%3A%25.yaml"
(cd / && "$bin/herd-webhook" review -o sarif "$state/plain.yaml" || true) >"$state/outside.sarif"
(cd /usr && "$bin/herd-webhook" review -o sarif "$state/plain.yaml" || true) >"$state/outside.sarif"
is "$(jq -r '.runs[0].results[0].locations[0].physicalLocation.artifactLocation | "\(.uriBaseId) \(.uri)"' "$state/outside.sarif")" \
  "null file://$state/plain.yaml"

row "a report that cannot be written is no clean review"
code=0
"$bin/herd-webhook" review examples/test-stack.yaml >/dev/full 2>"$state/err" || code=$?
is "exit $code $(cat "$state/err")" "exit 2 herd-webhook review: cannot write the report: No space left on device"

row "flags and words that cannot be used get one line and exit 2"
# usage TEXT ARGUMENTS...
usage() {
  local text=$1
  shift
  ends 2 "$@"
  is "$err" "herd-webhook review: $text"
}
usage "say what to review: files, folders, globs, or - for standard input"
usage "--output: 'xml' is not one of text|json|sarif|junit" -o xml examples
usage "unknown flag --outptu; did you mean --output?" --outptu json examples
usage "--rule-severity: Not found: \"graph.cycel\": no rule has that name (did you mean \"graph.cycle\"?)" --rule-severity graph.cycel=off examples
usage "--namespace: 'A' is no namespace: it must consist of lower case letters, digits or '-', and begin and end with a letter or digit (e.g. 'my-name')" -n A examples
usage "--quiet and --verbose say opposite things; give one of both" -q -v examples

row "tests of rules say which failed, with got and want"
mkdir -p "$state/tests/stacks"
cp examples/rejected/cycle.yaml "$state/tests/stacks/"
cat >"$state/tests/cycle.yaml" <<'YAML'
apiVersion: herd.suse.com/v1
kind: StackTest
metadata: {name: cycles}
tests:
  - name: a cycle is rejected
    files: [stacks/cycle.yaml]
    verdict: denied
    rules: [graph.cycle]
    messages: ["remove one edge, for example gpu-operator -> ollama"]
YAML
ends 0 --test "$state/tests"
is "$out" "1 test: 1 passed, 0 failed"
ends 1 --test "$state/tests/cycle.yaml" --rule-severity graph.cycle=warn
is "$(sed "s,^.*/tests/,/tests/," <<<"$out")" "/tests/cycle.yaml:5:5: failed: a cycle is rejected
    verdict: got warned; want denied
    found: warn: spec.charts[2].dependsOn: Invalid value: dependency cycle: ollama -> qdrant -> gpu-operator -> ollama; \
remove one edge, for example gpu-operator -> ollama [graph.cycle]
1 test: 0 passed, 1 failed"
ends 1 --test "$state/tests" --rule-severity graph.cycle=off -o junit
says 'tests="1" failures="1" errors="0"'
is "$(junit_attributes "$out")" "failure message= type= testcase classname= name="
says "tests/cycle.yaml:5: "
ends 1 --test "$state/tests" --rule-severity graph.cycle=off -o json
is "$(jq -c '[.passed, .failed, .tests[0].suite]' <<<"$out")" '[0,1,"cycles"]'
printf 'apiVersion: herd.suse.com/v1\nkind: StackTest\ntests: [{name: a, verdict: allowed, files: [none.yaml]}, {name: b}]\n' >"$state/odd-test.yaml"
ends 1 --test "$state/odd-test.yaml"
says ": failed: the StackTest itself"
sed -i 's/, {name: b}//' "$state/odd-test.yaml"
ends 1 --test "$state/odd-test.yaml"
says "    cannot read $state/none.yaml: No such file or directory"
ends 2 --test examples/accepted
is "$err" "herd-webhook review: there is no StackTest in examples/accepted"
ends 2 --test "$state/none"
usage "--output: tests have no form 'sarif'; take text, json or junit" --test "$state/tests" -o sarif
usage "--test says what is tested: there is no place for 'x.yaml'; leave out one of both" --test "$state/tests" x.yaml

row "policies are put to the Stacks, and validated themselves where they are reviewed"
golden=tests/golden/review
ends 1 -p "$golden/policies.policies.yaml" "$golden/policies.in.yaml"
is "$(of '[policy/')" 4
says "1 file, 4 Stacks, 1 StackPolicy: 3 errors, 1 warning, 2 notes"
ends 0 "$golden/policies.policies.yaml"
is "$out" "1 file, 0 Stacks, 3 StackPolicies: 0 errors, 0 warnings"
ends 2 --policy "$golden/policies.in.yaml" examples/test-stack.yaml
is "$out" ""
is "$(wc -l <<<"$err")" 2
case $err in *"policies.in.yaml:"*":7: spec.rules[0].field: "*) ;; *) wrong "does not name the place" "$err" ;; esac
ends 2 --policy examples/accepted examples/test-stack.yaml
case $err in *"there is no StackPolicy in examples/accepted/"*) ;; *) wrong "does not say so" "$err" ;; esac
cat "$golden/policies.policies.yaml" >"$state/twice.yaml"
printf -- '---\n' >>"$state/twice.yaml"
cat "$golden/policies.policies.yaml" >>"$state/twice.yaml"
ends 2 --policy "$state/twice.yaml" examples/test-stack.yaml
case $err in *"there is another StackPolicy pinned; rename one of them"*) ;; *) wrong "does not say so" "$err" ;; esac

row "policies are tested with their Stacks"
cp "$golden/policies.policies.yaml" "$state/tests/policies.yaml"
cat >"$state/tests/policies.test.yaml" <<YAML
apiVersion: herd.suse.com/v1
kind: StackTest
policies: [policies.yaml]
tests:
  - name: a range is rejected in prod
    files: [$PWD/$golden/policies.in.yaml]
    verdict: denied
    messages: [write an exact version]
  - name: Herd's own examples break nothing
    files: [$PWD/examples/test-stack.yaml]
    verdict: warned
    rules: [policy/repositories/own]
YAML
ends 0 --test "$state/tests"
is "$out" "3 tests: 3 passed, 0 failed"

row "the starter set passes its tests, in which each of its rules is kept and broken"
ends 0 examples/policy
says_not error:
ends 0 --test examples/policy
for file in examples/policy/*.yaml; do
  test=examples/policy/tests/${file##*/}
  grep -q 'verdict: allowed' "$test" || wrong "$test: nothing passes"
  awk '/^  name:/ { policy = $2 } /^    - name:/ { print "policy/" policy "/" $3 }' "$file" >"$state/rules"
  [ -s "$state/rules" ] || wrong "$file: no rules"
  while read -r rule; do
    grep -q "rules: .*$rule\b" "$test" || wrong "$test: nothing breaks $rule"
  done <"$state/rules"
done

row "clusters are those of --inventory, and all that there are"
clusters=examples/inventory/clusters.yaml
ends 0 examples/rules/gpu.fit.yaml
ends 1 -i "$clusters" examples/rules/gpu.fit.yaml
says "examples/rules/gpu.fit.yaml:18:22: error: spec.charts[1].values.inline.resources.limits[nvidia.com/gpu]: "
says "the Stack asks each cluster for 12 nvidia.com/gpu; c-m-gpu01 has 8"
ends 0 -i "$clusters" examples/rules/targets.unknown-cluster.yaml
says "did you mean \"c-m-gpu01\"?"
ends 0 --rule-severity targets.local=off -i "$clusters" examples/rules/targets.local.yaml # no inventory is written for it
is "$out" "1 file, 1 Stack: 0 errors, 0 warnings"
ends 0 --test examples/inventory
ends 2 --inventory "$state/none" examples/test-stack.yaml
ends 2 --inventory examples/accepted examples/test-stack.yaml
case $err in *"there is no ClusterInventory in examples/accepted/"*) ;; *) wrong "does not say so" "$err" ;; esac
cat "$clusters" <(echo ---) "$clusters" >"$state/twice.yaml"
ends 2 --inventory "$state/twice.yaml" examples/test-stack.yaml
is "$(wc -l <<<"$err")" 3
case $err in *"there is another ClusterInventory c-m-gpu01"*) ;; *) wrong "does not say so" "$err" ;; esac

# The schema comes with a Go module, once; see tests/support/sarif/main.go.
row "SARIF follows the schema of OASIS"
if module=$(GOTOOLCHAIN=local go -C tests/support/sarif mod download github.com/owenrumney/go-sarif/v3 2>&1 &&
  GOTOOLCHAIN=local go -C tests/support/sarif list -m -f '{{.Dir}}' github.com/owenrumney/go-sarif/v3 2>&1); then
  ok env GOTOOLCHAIN=local go -C tests/support/sarif run . "$module" "$(realpath "$state/report.sarif")" \
    "$(realpath "$state/odd.sarif")" "$(realpath "$state/outside.sarif")" "$PWD"/tests/golden/review/*.sarif
  sed 's/"startLine":/"startLine":"x",&/' "$state/report.sarif" | sed 's/"x","startLine":/"x","startLin":/' >"$state/wrong.sarif"
  rejected env GOTOOLCHAIN=local go -C tests/support/sarif run . "$module" "$(realpath "$state/wrong.sarif")"
else
  echo "suite_review.sh: skipped: SARIF against its schema: $module"
fi
