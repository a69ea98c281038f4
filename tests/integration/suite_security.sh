#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# suite_security.sh: what NeuVector's scans find becomes the Stack's status, and what goes wrong on the way is said and makes
# no number smaller.
. "$(dirname "$0")/lib.sh"
suite "$1" "$2"
secret=$state/neuvector
mkdir -p "$secret"
controller_flags+=(--neuvector-credentials-dir "$secret" --neuvector-interval 1s)
start_product

here=c-m-dev-cluster
there=c-m-gpu01
bare=c-m-gpu02 # it has no NeuVector
# stack CHARTS [MEMBERS]: the Stack `scanned` on `here`, with security enabled.
stack() {
  k apply -f - <<EOF
apiVersion: herd.suse.com/v1
kind: Stack
metadata: {name: scanned}
spec: {env: dev, security: enabled, targets: {clusterIds: [$here]}, charts: [$1]${2:-}}
EOF
}
web="{name: web, repo: 'https://charts.lab.example.org', version: 1.3.0}"
lab_web="docker.io/library/nginx:1.28"
condition() { field stack/scanned '{range .status.conditions[?(@.type=="SecurityScanned")]}{.status}/{.reason}{end}'; }
message() { field stack/scanned '{.status.conditions[?(@.type=="SecurityScanned")].message}'; }
condition_is() { [ "$(condition)" = "$1" ] || { echo "it is $(condition): $(message)"; return 1; }; }
# numbers: vulnerabilities, critical, high, images scanned, images.
numbers() {
  field stack/scanned '{.status.security.vulnerabilities} {.status.security.criticalIssues} {.status.security.high} {.status.security.scannedImages} {.status.security.totalImages}'
}
numbers_are() { [ "$(numbers)" = "$1" ] || { echo "they are $(numbers)"; return 1; }; }
verdict_is() { field_is stack/scanned '{.status.deployments[*].securityScan}' "$1"; }
# found NAME ROW: the database of NeuVector knows one more, or another one by that name.
found() {
  lab_k get configmap herd-lab-vulnerabilities >/dev/null 2>&1 || lab_k create configmap herd-lab-vulnerabilities >/dev/null
  lab_k patch configmap herd-lab-vulnerabilities --type=merge -p "{\"data\":{\"$1\":\"$2\"}}"
}
fault() { lab_k create configmap herd-lab-faults --from-literal=a="$1"; }
no_fault() { lab_k delete configmap herd-lab-faults; }
# What the StackScanReport says: numbers of critical, high and medium ones, images, and what is left out.
report() { field ssr/scanned '{.report.summary.critical} {.report.summary.high} {.report.summary.medium} {.report.summary.images} {.report.summary.omittedFindings}'; }
report_is() { [ "$(report)" = "$1" ] || { echo "it is $(report)"; return 1; }; }
findings() { field ssr/scanned '{.report.findings[*].cve}'; }
findings_are() { [ "$(findings)" = "$1" ] || { echo "they are $(findings)"; return 1; }; }
# checked NAME ROW: NeuVector runs one more compliance check, or another one by that name.
checked() {
  lab_k get configmap herd-lab-checks >/dev/null 2>&1 || lab_k create configmap herd-lab-checks >/dev/null
  lab_k patch configmap herd-lab-checks --type=merge -p "{\"data\":{\"$1\":\"$2\"}}"
}
failures() { field stack/scanned '{.status.security.complianceFailures}'; }
failures_are() { [ "$(failures)" = "$1" ] || { echo "they are $(failures)"; return 1; }; }
checks() { field ssr/scanned '{range .report.failedChecks[*]}{.test}/{.level} {end}'; }
checks_are() { [ "$(checks)" = "$1" ] || { echo "they are $(checks)"; return 1; }; }
no_report() { out=$(k get ssr scanned 2>&1) && return 1; says NotFound; }
counted() { counters | sed -n "s/.*\"neuvector\":{[^}]*\"$1\":\([0-9]*\).*/\1/p"; }
count_is() { [ "$(counted "$1")" = "$2" ] || { echo "$1 is $(counted "$1"), not $2"; return 1; }; }

row "without credentials it is said what to do, and no number is made up"
ok stack "$web"
ok k wait --for=condition=Ready stack/scanned --timeout="${deadline_s}s"
eventually condition_is Unknown/NeuVectorCredentialsMissing
is "$(numbers | tr -d ' ')" ""
is "$(report | tr -d ' 0')" ""
message | grep -q "create the Secret herd-neuvector" || wrong "does not say what to do" "$(message)"
is "$(counted requests)" 0

row "a cluster without NeuVector is named"
printf 'herd:lab-secret\n' >"$secret/api-key"
eventually condition_is Unknown/NeuVectorNotFound
message | grep -q "$here" || wrong "does not name the cluster" "$(message)"
is "$(numbers | tr -d ' ')" ""
is "$(field stack/scanned '{.status.security.neuVectorEnabled}')" false

row "once NeuVector is there, what runs is scanned and reported"
ok bash lab/neuvector/install.sh "$state/lab/env" "$here"
eventually condition_is True/NeuVectorScanCompleted
is "$(numbers)" "0 0 0 1 1"
ok verdict_is Passed
is "$(field stack/scanned '{.status.security.neuVectorEnabled}')" true
ok k get stacks -o wide
says Completed
is "$(counted scans)" 1

row "what a scan finds is counted by severity, each number for itself"
ok found a "image=$lab_web name=CVE-2099-0001 severity=Medium score=5.0 package=zlib version=1 fixed=2"
eventually numbers_are "1 0 0 1 1"
ok found b "image=$lab_web name=CVE-2099-0002 severity=High score=7.5 package=libssl version=1 fixed=2"
eventually numbers_are "2 0 1 1 1"
is "$(condition)" True/NeuVectorScanCompleted

row "one more critical vulnerability than is allowed fails the release, and the worst is named with its fix"
ok found c "image=$lab_web name=CVE-2099-0003 severity=Critical score=9.8 package=openssl version=3.0.1 fixed=3.0.2"
eventually condition_is False/ThresholdsExceeded
is "$(numbers)" "3 1 1 1 1"
eventually verdict_is Failed
for word in CVE-2099-0003 "openssl 3.0.1" "fixed in 3.0.2" "$lab_web" "web on $here"; do
  message | grep -q "$word" || wrong "does not say $word" "$(message)"
done
ok k get stacks -o wide
says Failed
eventually told scanned Warning ThresholdsExceeded "web on $here has 1 critical vulnerability (allowed: 0); the worst is CVE-2099-0003"

row "the StackScanReport lists what was found, worst first, and where it runs"
eventually report_is "1 1 1 1 0"
is "$(findings)" "CVE-2099-0003 CVE-2099-0002 CVE-2099-0001"
is "$(field ssr/scanned '{range .report.findings[0]}{.severity} {.score} {.package} {.installedVersion} {.fixedVersion}{end}')" \
  "Critical 9.8 openssl 3.0.1 3.0.2"
is "$(field ssr/scanned '{range .report.images[0]}{.image} {.critical} {.runsOn[0].clusterId} {.runsOn[0].release}{end}')" \
  "$lab_web 1 $here web/web"
is "$(field ssr/scanned '{.report.findings[0].image}')" "$(field ssr/scanned '{.report.images[0].digest}')"
ok k get stackscanreports
says CRITICAL
echo "$out" | grep -qE '^scanned +1 +1 +1 ' || wrong "does not show the numbers" "$out"
is "$(field ssr/scanned '{.metadata.ownerReferences[0].kind}/{.metadata.ownerReferences[0].uid}')" \
  "Stack/$(field stack/scanned '{.metadata.uid}')"

row "herd-controller report prints it as JSON, SARIF and CycloneDX"
herd_report() { "$bin/herd-controller" report --kubeconfig "$state/kubeconfig" "$@"; }
ok herd_report scanned
is "$(jq -r '"\(.namespace)/\(.name) \(.report.findings | length) \(.report.findings[0].cve)"' <<<"$out")" "default/scanned 3 CVE-2099-0003"
ok herd_report -n default scanned -o sarif
is "$(jq -r '.runs[0] | "\(.results | length) \(.tool.driver.rules | length)"' <<<"$out")" "3 3"
is "$(jq -r '.runs[0].results[0].locations[0].physicalLocation.artifactLocation.uri' <<<"$out")" "${lab_web/:/%3A}"
is "$(jq '[.runs[0] | .tool.driver.rules as $rules | .results[] | select($rules[.ruleIndex].id != .ruleId)] | length' <<<"$out")" 0
# What Microsoft's validator of SARIF and code scanning on GitHub ask for of a tool and of each rule.
is "$(jq -r '.runs[0].tool.driver | .informationUri, (.rules[] | select((.name | test("^([A-Z][a-z0-9]*)+$"))
  and (.fullDescription.text | endswith(".")) and (.helpUri | startswith("https://")) | not))' <<<"$out")" https://herd.suse.com
ok herd_report scanned -o cyclonedx
is "$(jq -r '"\(.bomFormat) \(.specVersion) \(.components | length) \(.vulnerabilities | length)"' <<<"$out")" "CycloneDX 1.5 1 3"
is "$(jq -r '.components[0].purl' <<<"$out")" "pkg:oci/nginx?repository_url=docker.io/library/nginx&tag=1.28"
is "$(jq -r '[.vulnerabilities[].affects[].ref] - [.components[]."bom-ref"] | length' <<<"$out")" 0

row "where it cannot, it says why: no such Stack, no report, another format"
rejected herd_report nothing
says "Not found: there is no Stack nothing in namespace default"
rejected herd_report scanned -o xml
says "sarif"
rejected herd_report
says "say which Stack"
rejected herd_report scanned extra
says "one name of a Stack is expected, and there are 2, the second one 'extra'"
ok k create -f - <<EOF
apiVersion: herd.suse.com/v1
kind: Stack
metadata: {name: unscanned}
spec: {env: dev, security: disabled, targets: {clusterIds: [$here]}, charts: [{name: web, namespace: other, repo: 'https://charts.lab.example.org', version: 1.3.0}]}
EOF
rejected herd_report unscanned
says "its spec.security is not enabled"
ok k delete stack unscanned --wait --timeout="${deadline_s}s"

row "a report that somebody deletes or changes is written again"
ok k delete ssr scanned
eventually report_is "1 1 1 1 0"
ok k patch ssr scanned --type=merge -p '{"report":{"findings":[]}}'
eventually findings_are "CVE-2099-0003 CVE-2099-0002 CVE-2099-0001"
written_report=$(field ssr/scanned '{.metadata.resourceVersion}')

row "compliance checks that fail are counted once for an image, and listed, worst first"
eventually failures_are 0
ok checked a "image=$lab_web test=D.98.1 level=WARN description=Root remediation=Another-user"
ok checked b "image=$lab_web test=D.98.2 level=HIGH description=Privileged remediation=No-privileges"
ok checked c "image=$lab_web test=D.98.1 level=WARN description=Root remediation=Another-user"
ok checked d "image=$lab_web test=D.98.3 level=INFO"
eventually failures_are 2
eventually checks_are "D.98.2/HIGH D.98.1/WARN "
is "$(field ssr/scanned '{.report.summary.complianceFailures} {.report.images[0].complianceFailures}')" "2 2"
is "$(field ssr/scanned '{range .report.failedChecks[1]}{.description} {.remediation}{end}')" "Root Another-user"
is "$(field ssr/scanned '{.report.failedChecks[1].image}')" "$(field ssr/scanned '{.report.images[0].digest}')"
ok verdict_is Failed # by a threshold: of what is checked no verdict depends
ok herd_report scanned
is "$(jq -r '"\(.report.summary.complianceFailures) \(.report.failedChecks[0].test)"' <<<"$out")" "2 D.98.2"
ok herd_report scanned -o sarif
is "$(jq -r '[.runs[0].results[] | select(.ruleId | startswith("D.98.")) | .ruleId + "/" + .level] | join(" ")' <<<"$out")" \
  "D.98.2/error D.98.1/warning"
is "$(jq '[.runs[0] | .tool.driver.rules as $rules | .results[] | select($rules[.ruleIndex].id != .ruleId)] | length' <<<"$out")" 0
ok checked b "image=$lab_web test=D.98.2 level=PASS"
eventually failures_are 1
eventually checks_are "D.98.1/WARN "

row "checks that have not run, and a role that may not read them, take no number away"
more_requests() { [ "$(counted requests)" -gt $((asked + 10)) ]; }
asked=$(counted requests)
ok fault "fault=neuvector-unchecked"
eventually more_requests
is "$(failures)" 1
ok no_fault
ok stack "$web" ", securityProfile: {thresholds: {critical: 1}}"
eventually condition_is True/NeuVectorScanCompleted
ok fault "fault=neuvector-no-compliance"
eventually condition_is True/NeuVectorPermissionDenied
message | grep -q "does not let Herd's user or API key read compliance checks; give it a role with the permission compliance (read)" || wrong "does not say what to do" "$(message)"
is "$(numbers)" "3 1 1 1 1"
is "$(failures)" 1
is "$(checks)" "D.98.1/WARN "
ok no_fault
eventually condition_is True/NeuVectorScanCompleted

row "without compliance nothing is asked, and the number is absent"
ok stack "$web" ", securityProfile: {compliance: disabled}"
eventually failures_are ""
eventually checks_are ""
asked_checks=$(counted compliance)
asked=$(counted requests)
eventually more_requests
is "$(counted compliance)" "$asked_checks"
is "$(numbers)" "3 1 1 1 1"
is "$(field ssr/scanned '{.report.summary.complianceFailures}{.report.images[0].complianceFailures}')" ""
ok stack "$web"
eventually failures_are 1
eventually checks_are "D.98.1/WARN "
written_report=$(field ssr/scanned '{.metadata.resourceVersion}')

row "a threshold that allows it lets it pass"
ok stack "$web" ", securityProfile: {thresholds: {critical: 1}}"
eventually condition_is True/NeuVectorScanCompleted
ok verdict_is Passed
ok stack "$web"
eventually condition_is False/ThresholdsExceeded

row "while everything is scanned again, and counters are zero, the numbers stand"
written=$(field stack/scanned '{.metadata.resourceVersion}')
asked=$(counted requests)
ok fault "fault=neuvector-rescan"
eventually more_requests
is "$(numbers)" "3 1 1 1 1"
is "$(condition)" False/ThresholdsExceeded
is "$(field stack/scanned '{.metadata.resourceVersion}')" "$written"
is "$(field ssr/scanned '{.metadata.resourceVersion}')" "$written_report"
ok no_fault

row "an answer that is cut off is no answer: it is said, and the numbers stand"
ok fault "fault=neuvector-truncated"
eventually condition_is Unknown/NeuVectorUnexpectedResponse
is "$(numbers)" "3 1 1 1 1"
is "$(findings)" "CVE-2099-0003 CVE-2099-0002 CVE-2099-0001"
ok no_fault
eventually condition_is False/ThresholdsExceeded

row "a list without the containers that run is not believed to be clean"
ok fault "fault=neuvector-empty"
eventually condition_is Unknown/ContainerNotCovered
ok verdict_is Unknown
is "$(numbers)" "3 1 1 1 1"
ok no_fault
eventually condition_is False/ThresholdsExceeded
is "$(numbers)" "3 1 1 1 1"

row "a NeuVector that is not ready is said, the numbers stand, and it is found again behind its pod without the Service"
ready() {
  curl -sS --fail-with-body -o /dev/null --cacert "$HERD_LAB_RANCHER_CA" -H "Authorization: Bearer $HERD_LAB_RANCHER_TOKEN" \
    -X PATCH -H 'Content-Type: application/merge-patch+json' -d '{"status":{"conditions":[{"type":"Ready","status":"'"$1"'"}]}}' \
    "$HERD_LAB_RANCHER_URL/k8s/clusters/$here/api/v1/namespaces/cattle-neuvector-system/pods/neuvector-controller-pod-0/status"
}
ok ready False
eventually condition_is Unknown/NeuVectorUnreachable
is "$(numbers)" "3 1 1 1 1"
is "$(failures)" 1
ok down "$here" -n cattle-neuvector-system delete service neuvector-svc-controller-api
ok ready True
eventually condition_is False/ThresholdsExceeded
is "$(numbers)" "3 1 1 1 1"

row "another controller says nothing else meanwhile, also where NeuVector is away"
ok ready False
eventually condition_is Unknown/NeuVectorUnreachable
digest_before=$(field ssr/scanned '{.report}' | cksum)
end controller
start_controller
eventually condition_is Unknown/NeuVectorUnreachable
is "$(numbers)" "3 1 1 1 1"
is "$(field ssr/scanned '{.report}' | cksum)" "$digest_before"
is "$(failures)" 1
ok ready True
eventually condition_is False/ThresholdsExceeded
is "$(findings)" "CVE-2099-0003 CVE-2099-0002 CVE-2099-0001"

row "an image that was fixed passes, and the old one counts no more"
ok stack "{name: web, repo: 'https://charts.lab.example.org', version: 1.2.3}"
eventually condition_is True/NeuVectorScanCompleted
eventually numbers_are "1 0 0 1 1"
eventually findings_are "CVE-2099-1001"
is "$(report)" "0 0 1 1 0"

row "of more findings than a report lists the worst are there, and the others are counted"
many() {
  local i
  printf '{"data":{'
  for i in $(seq 210); do
    printf '"m%s":"image=docker.io/library/nginx:1.27 name=CVE-2098-%04d severity=%s score=5.0 package=p%s version=1 fixed=2",' \
      "$i" "$i" "$([ "$i" = 210 ] && echo High || echo Medium)" "$i"
  done
  printf '"z":"image=none name=CVE-2097-0001 severity=Medium score=1.0 package=p version=1 fixed=2"}}'
}
ok lab_k patch configmap herd-lab-vulnerabilities --type=merge -p "$(many)"
eventually numbers_are "211 0 1 1 1"
eventually report_is "0 1 210 1 11"
is "$(findings | wc -w)" 200
is "$(field ssr/scanned '{.report.findings[0].cve} {.report.images[0].omittedFindings}')" "CVE-2098-0210 11"
ok lab_k delete configmap herd-lab-vulnerabilities
eventually numbers_are "1 0 0 1 1"
eventually findings_are "CVE-2099-1001"

row "wrong credentials: three tries, then none until they change"
rejected=$(counted rejected)
printf 'herd:wrong\n' >"$secret/api-key"
eventually condition_is Unknown/NeuVectorCredentialsRejected
three_times() { message | grep -q "has rejected the credentials three times, so Herd sends none until they change"; }
eventually three_times
is "$(counted rejected)" $((rejected + 3))
asked=$(counted requests)
sleep 3
is "$(counted requests)" "$asked"
is "$(numbers)" "1 0 0 1 1"

row "with a password there is one session, which is renewed when it ends"
printf herd >"$secret/username"
printf lab-password >"$secret/password"
rm "$secret/api-key"
eventually condition_is True/NeuVectorScanCompleted
is "$(counted sessions)" 1
logins=$(counted logins)
ok fault "fault=neuvector-session-ended times=1"
eventually count_is logins $((logins + 1))
ok no_fault
is "$(condition)" True/NeuVectorScanCompleted
is "$(counted sessions)" 1

row "a controller that ends leaves no session behind"
end controller
ok count_is sessions 0

row "a password that must be changed is said, and not changed"
ok fault "fault=neuvector-password"
start_controller
eventually condition_is Unknown/NeuVectorPasswordChangeRequired
is "$(numbers)" "1 0 0 1 1"
ok no_fault
eventually condition_is True/NeuVectorScanCompleted

row "policy modes become stricter, and never looser"
mode() { down "$here" -n cattle-neuvector-system get configmap neuvector-modes -o 'jsonpath={.data.web\.web}'; }
mode_is() { [ "$(mode)" = "$1" ]; }
old="{name: web, repo: 'https://charts.lab.example.org', version: 1.2.3}"
ok stack "$old" ", securityProfile: {policyMode: Protect}"
eventually mode_is Protect
ok stack "$old" ", securityProfile: {policyMode: Monitor}"
asked=$(counted requests)
eventually more_requests
is "$(mode)" Protect

row "a scan that fails, and a role that may not ask for one, have reasons of their own"
ok fault "fault=neuvector-read-only"
ok stack "$old, {name: qdrant, repo: 'https://qdrant.github.io/qdrant-helm', version: 0.7.4}"
eventually condition_is Unknown/NeuVectorPermissionDenied
eventually numbers_are "1 0 0 1 2"
message | grep -q "request scans; give it a role with the permission rt_scan (write)" || wrong "does not name the right" "$(message)"
eventually verdict_is "Unknown Passed"
ok lab_k patch configmap herd-lab-faults --type=merge -p '{"data":{"a":"fault=neuvector-scan-failed"}}'
eventually condition_is Unknown/ImageScanFailed
message | grep -q timeout || wrong "does not have the scanner's word" "$(message)"
# In one step: between two faults the scan would finish.
ok lab_k patch configmap herd-lab-faults --type=merge -p '{"data":{"a":"fault=neuvector-no-scanner"}}'
eventually condition_is Unknown/NeuVectorNoScanner
ok no_fault

row "an image that runs on two clusters counts once, and a cluster that is away takes nothing with it"
eventually condition_is True/NeuVectorScanCompleted
is "$(numbers)" "3 0 2 2 2"
ok k patch stack scanned --type=merge -p "{\"spec\":{\"targets\":{\"clusterIds\":[\"$here\",\"$there\"]}}}"
eventually condition_is Unknown/NeuVectorNotFound
unknown_is() { field_is ssr/scanned '{.report.summary.unknownReleases}' "$1"; }
eventually unknown_is 2
ok herd_report scanned -o sarif
is "$(sed '/^herd-controller report: /d' <<<"$out" | jq -r '.runs[0].invocations[0].toolExecutionNotifications[0].message.text')" \
  "The scans of 2 releases of the Stack are not known, so this report does not cover them; the condition SecurityScanned of the Stack says why."
says "herd-controller report: warning: The scans of 2 releases"
ok herd_report scanned -o cyclonedx
is "$(sed '/^herd-controller report: /d' <<<"$out" | jq -r '.compositions[0].aggregate')" incomplete
is "$(field stack/scanned '{.status.security.neuVectorEnabled}')" false
ok k patch stack scanned --type=merge -p "{\"spec\":{\"targets\":{\"clusterIds\":[\"$here\"]}}}"
eventually condition_is True/NeuVectorScanCompleted # a cluster that leaves is named no more
ok k patch stack scanned --type=merge -p "{\"spec\":{\"targets\":{\"clusterIds\":[\"$here\",\"$there\"]}}}"
ok bash lab/neuvector/install.sh "$state/lab/env" "$there"
eventually unknown_is 0
all_passed() { [ "$(field stack/scanned '{.status.deployments[*].securityScan}')" = "Passed Passed Passed Passed" ]; }
eventually all_passed
eventually condition_is True/NeuVectorScanCompleted
is "$(numbers)" "3 0 2 2 2"
ok fault "fault=disconnected cluster=$there"
eventually condition_is Unknown/ClusterUnreachable
is "$(numbers)" "3 0 2 2 2"
ok no_fault
eventually condition_is True/NeuVectorScanCompleted

row "the next wave waits for the scans of this one, stops at a vulnerability, and begins with the version that fixes it"
ok k label clusters.management.cattle.io "$here" canary=yes
# gated VERSION: its first wave is `here`, its second `there`.
gated() {
  k apply -f - <<EOF
apiVersion: herd.suse.com/v1
kind: Stack
metadata: {name: gated}
spec:
  security: enabled
  targets: {clusterIds: [$here, $there]}
  charts: [{name: web, repo: 'https://charts.lab.example.org', version: $1, namespace: gated, releaseName: site}]
  rollout: {waves: [{name: canary, scans: Required, selector: {matchLabels: {canary: "yes"}}}]}
EOF
}
reason_on() { field stack/gated "{.status.deployments[?(@.clusterId==\"$1\")].reason}"; }
reason_is() { [ "$(reason_on "$1")" = "$2" ] || { echo "it is $(reason_on "$1")"; return 1; }; }
ok found gated "image=$lab_web name=CVE-2099-0004 severity=Critical score=9.8 package=openssl version=3.0.1 fixed=3.0.2"
ok fault "fault=neuvector-rescan"
ok gated 1.3.0
eventually reason_is "$there" WaitingForScans
ok no_fault
eventually reason_is "$there" RolloutStopped
eventually field_has stack/gated '{.status.message}' "the rollout stopped after wave canary: web on $here has 1 critical vulnerability (allowed: 0); the worst is CVE-2099-0004"
is "$(field stack/gated '{.status.conditions[?(@.type=="Stalled")].status}')" True
ok gated 1.2.3
ok k wait --for=condition=Ready stack/gated --timeout="${deadline_s}s"
is "$(down "$there" -n gated get apps.catalog.cattle.io site -o 'jsonpath={.spec.version} {.spec.chart.metadata.version}')" "1 1.2.3"
ok k delete stack gated --wait --timeout="${deadline_s}s"

row "a wave on a cluster without NeuVector waits for somebody, and says for what"
ok k label clusters.management.cattle.io "$bare" bare=yes
ok k apply -f - <<EOF
apiVersion: herd.suse.com/v1
kind: Stack
metadata: {name: gated}
spec:
  security: enabled
  targets: {clusterIds: [$bare, $there]}
  charts: [{name: web, repo: 'https://charts.lab.example.org', version: 1.2.3, namespace: gated, releaseName: site}]
  rollout: {waves: [{name: first, scans: Required, selector: {matchLabels: {bare: "yes"}}}]}
EOF
eventually field_is stack/gated '{range .status.conditions[?(@.type=="Stalled")]}{.status}/{.reason}{end}' True/NeuVectorNotFound
field stack/gated '{.status.conditions[?(@.type=="Stalled")].message}' |
  grep -q "waiting for the scans of wave first: cluster $bare has no NeuVector.*set the wave's scans to Ignored" || wrong "does not say what to do" ""
is "$(reason_on "$there")" WaitingForScans
ok k delete stack gated --wait --timeout="${deadline_s}s"

row "trouble of a cluster's NeuVector is one line of the log when it begins, and one when it ends"
begun() { grep -c "scans of a cluster are not known.*$bare" "$state/controller.log"; }
is "$(begun)" 1

row "disabled, nothing is said any more, and the session ends"
ok k patch stack scanned --type=merge -p '{"spec":{"security":"disabled"}}'
gone() { [ -z "$(condition)$(field stack/scanned '{.status.security}{.status.deployments[*].securityScan}')" ]; }
eventually gone
eventually no_report
eventually count_is sessions 0

row "a report goes with its Stack"
ok k patch stack scanned --type=merge -p '{"spec":{"security":"enabled"}}'
eventually k get ssr scanned
ok k delete stack scanned --wait --timeout="${deadline_s}s"
eventually no_report
