# SPDX-License-Identifier: Apache-2.0
# policies.sh: network policies applied by iptables, as far as Herd's go: what pods may connect to, by port; sourced
# by suite.sh. A bridge alone executes none, and a port that a policy forgets would show in clusters only.
#
# What a pod may be reached from is not looked at: the API server and the kubelet are on its own node, from where
# everything is let in.

# The rules for each pod that a policy selects for Egress: its ports, then nothing else.
egress_rules() {
  echo '*filter'
  echo ':HERD-EGRESS - [0:0]'
  echo '-A HERD-EGRESS -m conntrack --ctstate ESTABLISHED,RELATED -j ACCEPT'
  k get pods,networkpolicies -A -o json | jq -r '
    def selects($pod): .metadata.namespace == $pod.metadata.namespace
      and (.spec.podSelector.matchLabels // {} | to_entries | all(.value == $pod.metadata.labels[.key]));
    [.items[] | select(.kind == "NetworkPolicy" and (.spec.policyTypes | index("Egress")))] as $policies
    | .items[] | select(.kind == "Pod" and .status.podIP) as $pod
    | [$policies[] | select(selects($pod))] | select(length > 0)
    | (.[].spec.egress[]? | if .to then error("rules with `to` are not applied here") else .ports[] end
       | "-A HERD-EGRESS -s \($pod.status.podIP) -p \(.protocol | ascii_downcase) --dport \(.port) -j ACCEPT"),
      "-A HERD-EGRESS -s \($pod.status.podIP) -j REJECT"'
  echo COMMIT
}

# Again whenever a pod changes.
carry_out_policies() {
  local pod
  while :; do
    while read -r pod; do
      egress_rules | iptables-restore --noflush --wait || echo "not applied, at $pod"
    done < <(k get pods -A --watch -o name 2>/dev/null)
  done
}

start_policies() {
  iptables -N HERD-EGRESS
  iptables -A INPUT -i herd0 -j HERD-EGRESS
  iptables -A FORWARD -i herd0 -j HERD-EGRESS
  start policies carry_out_policies
}

# reaches POD ADDRESS: whether its network lets a connection through. The network policy of a pod that is new holds from
# a moment later.
reaches() { nsenter --net --target "$(process_of "$1")" curl -sk --connect-timeout 3 --max-time 3 -o "$state/reached" "https://$2/"; }
reaches_not() { ! reaches "$@"; }
