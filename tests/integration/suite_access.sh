#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# suite_access.sh: who may do what: RBAC, reviews, impersonation and tokens of ServiceAccounts, by an unmodified kubectl.
. "$(dirname "$0")/lib.sh"
suite "$1" "$2"
start_api
ok k apply -f manifests/crds/
until_established crd/stacks.herd.suse.com
eventually k get stacks

row "who has no rights is told what is missing, of each kind of question"
rejected k get stacks -n team --as x
says 'stacks.herd.suse.com is forbidden: User "x" cannot list resource "stacks" in API group "herd.suse.com" in the namespace "team"'
rejected k get stacks -A --as x
says 'cannot list resource "stacks" in API group "herd.suse.com" at the cluster scope'
rejected k get stack a --subresource=status --as x
says 'stacks.herd.suse.com "a" is forbidden: User "x" cannot get resource "stacks/status" in API group "herd.suse.com" in the namespace "default"'
rejected k create configmap a --as x
says 'configmaps is forbidden: User "x" cannot create resource "configmaps" in API group "" in the namespace "default"'
rejected k get --raw /metrics --as x
says 'forbidden: User "x" cannot get path "/metrics"'
rejected k get --raw /apis/nothing/v1/things --as x
says 'things.nothing is forbidden: User "x" cannot list resource "things" in API group "nothing" at the cluster scope'
ok k get --raw /version --as x

row "a Role gives what it says, in its namespace, on the objects that it names"
ok k create configmap mine
ok k create configmap other
ok k create role mine --verb=get,list --resource=configmaps --resource-name=mine
ok k create rolebinding mine --role=mine --user=ann --serviceaccount=default:bot
ok k get configmap mine --as ann
ok k get configmap --field-selector metadata.name=mine --as ann
rejected k get configmap other --as ann
rejected k get configmaps --as ann
rejected k get configmap mine -n kube-system --as ann
ok k auth can-i get configmaps/mine --as ann
is "$out" yes
rejected k auth can-i get configmaps --as ann
is "$out" no
ok k auth can-i --list --as ann
says '[mine]'
says 'selfsubjectreviews.authentication.k8s.io'
ok k auth can-i get /healthz --as ann

# user_info FLAGS...: who the API server takes us for, as JSON.
user_info() { k auth whoami -o json "$@" | jq -cS .status.userInfo; }

row "identity: who I am, as whom, in which groups"
is "$(user_info --as ann --as-group dev --as-uid 7)" '{"groups":["dev","system:authenticated"],"uid":"7","username":"ann"}'
is "$(user_info --as system:serviceaccount:default:bot | jq -c .groups)" \
  '["system:serviceaccounts","system:serviceaccounts:default","system:authenticated"]'
ok k get configmaps --as ann --as-group system:masters

# with_token TOKEN ARGUMENTS...
with_token() {
  local token=$1
  shift
  kubectl --kubeconfig /dev/null --server "$(api_server)" --insecure-skip-tls-verify --token "$token" "$@"
}

review() { k create --raw "/apis/$1" -f - <<<"$2" | jq -c .status; }

row "a ServiceAccount's token is its identity, for a time that has a least"
ok k create serviceaccount bot
ok k create token bot
token=$out
is "$(with_token "$token" auth whoami -o json | jq -r .status.userInfo.username)" system:serviceaccount:default:bot
ok with_token "$token" get configmap mine
rejected with_token "$token" get configmaps
says 'User "system:serviceaccount:default:bot" cannot list resource "configmaps"'
rejected with_token "$token" get configmaps --as ann
# Since 1.36 with the constrained verb that was tried first, impersonate-on:user-info:list.
says 'is forbidden: User "system:serviceaccount:default:bot" cannot impersonate'
rejected k create token bot --duration 1m
says 'TokenRequest.authentication.k8s.io "" is invalid: spec.expirationSeconds: Invalid value: 60: may not specify a duration less than 10 minutes'
rejected k create token nobody
says 'serviceaccounts "nobody" not found'
ok k create token bot --audience elsewhere
rejected with_token "$out" get configmap mine
says nauthorized
ok review authentication.k8s.io/v1/tokenreviews \
  '{"apiVersion":"authentication.k8s.io/v1","kind":"TokenReview","spec":{"token":"'"$token"'"}}'
is "$(jq -r .user.username <<<"$out")" system:serviceaccount:default:bot
ok review authentication.k8s.io/v1/tokenreviews \
  '{"apiVersion":"authentication.k8s.io/v1","kind":"TokenReview","spec":{"token":"x"}}'
is "$out" '{"user":{},"error":"invalid bearer token"}'

row "nobody gives what they do not have"
ok k create clusterrole roler --verb=create,get,update,patch \
  --resource=roles,rolebindings,clusterroles.rbac.authorization.k8s.io
ok k create clusterrolebinding roler --clusterrole=roler --user=roler
rejected k create role more --verb=get,list --resource=pods,pods/log --as roler
says 'roles.rbac.authorization.k8s.io "more" is forbidden: user "roler" (groups=["system:authenticated"]) is attempting to grant RBAC permissions not currently held:'
says '{APIGroups:[""], Resources:["pods"], Verbs:["get" "list"]}'
rejected k create rolebinding more --role=mine --user=roler --as roler
says '{APIGroups:[""], Resources:["configmaps"], ResourceNames:["mine"], Verbs:["get" "list"]}'
rejected k create rolebinding more --clusterrole=no-such --user=roler --as roler
says 'rolebindings.rbac.authorization.k8s.io "no-such" not found'
rejected k patch role mine --type=merge -p '{"rules":[{"verbs":["*"],"apiGroups":["*"],"resources":["*"]}]}' --as roler
says 'is attempting to grant RBAC permissions not currently held'
rejected k create clusterrole more --aggregation-rule=a=b --as roler
says 'must have cluster-admin privileges to use the aggregationRule'
ok k create role less --verb=get --resource=roles --as roler
rejected k patch rolebinding mine --type=merge -p '{"roleRef":{"name":"other"}}'
says 'roleRef: Invalid value: {"APIGroup":"rbac.authorization.k8s.io","Kind":"Role","Name":"other"}: cannot change roleRef'

row "a role says what on what, or is rejected"
rejected k create -f - <<'EOF'
apiVersion: rbac.authorization.k8s.io/v1
kind: Role
metadata: {name: bad}
rules:
- {verbs: [], apiGroups: []}
- {verbs: [get], nonResourceURLs: [/x]}
EOF
says 'rules[0].verbs: Required value: verbs must contain at least one value'
says 'rules[0].resources: Required value: resource rules must supply at least one resource'
says 'rules[1].nonResourceURLs: Invalid value: ["/x"]: namespaced rules cannot apply to non-resource URLs'

row "a binding to a role that is gone says so where it is rejected"
ok k create rolebinding gone --clusterrole=no-such --user=lost
rejected k get configmaps --as lost
says 'in the namespace "default": RBAC: clusterrole.rbac.authorization.k8s.io "no-such" not found'

row "aggregated ClusterRoles: what says that it belongs to view is in view, edit and admin"
ok k create clusterrole more-view --verb=get,list --resource=stacks.herd.suse.com
ok k label clusterrole more-view rbac.authorization.k8s.io/aggregate-to-view=true
ok k create rolebinding team --clusterrole=admin --user=tea
eventually k auth can-i list stacks.herd.suse.com --as tea
ok k get stacks --as tea
rejected k delete stack one --as tea
ok k create configmap tea --as tea
ok k delete clusterrole more-view
not_any_more() { ! k auth can-i list stacks.herd.suse.com --as tea; }
eventually not_any_more
ok k create configmap tea-still --as tea

row "reviews are asked about others, and say which binding allows it"
sar=authorization.k8s.io/v1/subjectaccessreviews
ok review "$sar" '{"apiVersion":"authorization.k8s.io/v1","kind":"SubjectAccessReview","spec":{"user":"ann","resourceAttributes":{"verb":"get","resource":"configmaps","name":"mine","namespace":"default"}}}'
is "$out" '{"allowed":true,"reason":"RBAC: allowed by RoleBinding \"mine/default\" of Role \"mine\" to User \"ann\""}'
ok review "$sar" '{"apiVersion":"authorization.k8s.io/v1","kind":"SubjectAccessReview","spec":{"user":"ann","nonResourceAttributes":{"verb":"get","path":"/metrics"}}}'
is "$out" '{"allowed":false}'
ok review authorization.k8s.io/v1/namespaces/default/localsubjectaccessreviews \
  '{"apiVersion":"authorization.k8s.io/v1","kind":"LocalSubjectAccessReview","metadata":{"namespace":"default"},"spec":{"groups":["system:masters"],"resourceAttributes":{"verb":"*","resource":"*","namespace":"default"}}}'
is "$out" '{"allowed":true}'
rejected k create --raw "/apis/$sar" -f - <<<'{"apiVersion":"authorization.k8s.io/v1","kind":"SubjectAccessReview","spec":{}}'
says 'spec.user: Invalid value: "": at least one of user or group must be specified'

row "no token is nobody known, who may see what is public; a wrong token is rejected"
ok curl -sk "$(api_server)/api/v1/namespaces"
says 'namespaces is forbidden: User \"system:anonymous\" cannot list resource \"namespaces\" in API group \"\" at the cluster scope'
ok curl -sk "$(api_server)/version"
says gitVersion
ok curl -sk -H 'Authorization: Bearer wrong' "$(api_server)/version"
says Unauthorized
