# SPDX-License-Identifier: Apache-2.0
# offline.sh: what can be said of the manifests and the chart without a cluster; sourced by install.sh.

row "each folder brings its namespace, and it is the same"
for copy in manifests/controller/00-namespace.yaml manifests/webhook/00-namespace.yaml; do
  ok cmp manifests/namespace.yaml "$copy"
done

row "kubectl takes a folder's files by name: the Deployment is the last, what its pods need is there, what calls it goes first"
for folder in controller webhook; do
  files=$(cd "manifests/$folder" && LC_ALL=C && printf '%s\n' *.yaml)
  is "$(cd "manifests/$folder" && grep -l '^kind: Deployment' -- *.yaml)" "$(tail -n 1 <<<"$files")"
done

row "manifests and chart name the version that is built"
version=$(sed -n 's/^project(herd VERSION \([0-9.]*\).*/\1/p' CMakeLists.txt)
is "$(kubectl kustomize manifests 2>/dev/null | sed -n 's/^ *image: //p' | sort -u)" "registry.example.invalid/herd:$version"
is "$(sed -n 's/^\(version\|appVersion\): //p' manifests/chart/Chart.yaml | sort -u)" "$version"
is "$(sed -n 's/^ *image: //p' manifests/chart/Chart.yaml)" "registry.example.invalid/herd:$version"

row "what Artifact Hub shows of the chart are the definitions of manifests/crds"
is "$(sed -nE 's/^    - \{kind: ([A-Za-z]+), version: ([a-z0-9]+), name: ([a-z.]+), .*/\1 \2 \3/p' manifests/chart/Chart.yaml | sort)" \
  "$(for file in manifests/crds/*.yaml; do
    echo "$(sed -n 's/^    kind: //p' "$file") $(sed -n 's/^  - name: \(v[0-9a-z]*\)$/\1/p' "$file") $(sed -n '/^metadata:/,/^spec:/s/^  name: //p' "$file")"
  done | sort)"

row "a cluster that can not be asked, or a context that is not there, is an error and no answer"
kubectl config --kubeconfig "$state/away" set-cluster away --server https://127.0.0.1:1 >/dev/null
kubectl config --kubeconfig "$state/away" set-context away --cluster away >/dev/null
for context in away nowhere; do
  for what in install-crds uninstall-crds deploy undeploy; do
    rejected env KUBECONFIG="$state/away" CONTEXT="$context" make -s "$what"
    says_not "there are no CRDs"
    says_not "Deploying"
  done
done
says "nowhere"

row "a time that is none is rejected before anything is done"
for time in 3 soon -1s 1d; do
  rejected env KUBECONFIG="$state/away" CONTEXT=away TIMEOUT="$time" make -s deploy
  says "TIMEOUT=$time is not a duration"
done

row "an overlay that names an image of its own, and IMAGE or TAG, are not silently one of the two"
mkdir -p "$state/pinned"
cat >"$state/pinned/kustomization.yaml" <<YAML
resources: [$(realpath --relative-to "$state/pinned" manifests/overlays/own-ca)]
images: [{name: registry.example.invalid/herd, newName: registry.example.com/herd, newTag: "1"}]
YAML
rejected env KUBECONFIG="$state/away" CONTEXT=away OVERLAY="$state/pinned" TAG=2 make -s deploy
says "names an image of its own"

row "each flag that a Deployment gives is one that its program has"
for command in "herd-webhook serve" herd-controller; do
  read -r program mode <<<"$command"
  kubectl kustomize manifests 2>/dev/null | awk -v RS='---\n' -v name="name: $program\n" \
    '/kind: Deployment/ && index($0, name)' >"$state/deployment"
  "$bin/$program" ${mode:+"$mode"} --help >"$state/help"
  while read -r flag; do
    grep -q -- "^ *$flag\b" "$state/help" || wrong "$program has no flag $flag"
  done < <(sed -n 's/^ *- \(--[a-z-]*\).*/\1/p' "$state/deployment")
done

row "the chart's CRDs are those of manifests/crds, and its dashboard is that of manifests/monitoring"
ok diff -r -x workloads manifests/crds manifests/chart/files
ok diff manifests/monitoring/herd-dashboard.json manifests/chart/dashboards/herd-dashboard.json

row "the chart without values renders the overlay of cert-manager, object for object, beside the CRDs"
for file in manifests/crds/*.yaml; do
  echo '---'
  cat "$file"
done >"$state/crds.yaml"
{ of_folders manifests/overlays/cert-manager | without Namespace/herd-system; objects_of "$state/crds.yaml"; } | sort >"$state/want"
of_chart >"$state/got"
ok same "$state/want" "$state/got"
[ "$(wc -l <"$state/got")" -gt 25 ] || wrong "only $(wc -l <"$state/got") objects were compared"

row "with all workload kinds the chart renders the overlay of workloads"
for file in manifests/workloads/*/crd.yaml manifests/crds/*.yaml; do
  echo '---'
  cat "$file"
done >"$state/all-crds.yaml"
{ of_folders manifests/overlays/workloads | jq -c 'select(.kind != "CustomResourceDefinition")' | without Namespace/herd-system; objects_of "$state/all-crds.yaml"; } |
  sort >"$state/want-workloads"
of_chart --set workloads.abiInstance.enabled=true,workloads.application.enabled=true,workloads.modelDeployment.enabled=true,workloads.llmModel.enabled=true >"$state/got-workloads"
ok same "$state/want-workloads" "$state/got-workloads"

row "a difference of one word in one object is found"
sed 's/"preemptionPolicy":"PreemptLowerPriority"/"preemptionPolicy":"Never"/' "$state/want" >"$state/mutant"
rejected same "$state/mutant" "$state/got"
says "PriorityClass/herd-webhook differs"

row "every object and pod of the chart has the labels of its release"
helm template pilot "$chart" --namespace herd-system --kube-version 1.36.0 --set monitoring.enabled=true >"$state/labelled.yaml"
objects_of "$state/labelled.yaml" >"$state/labelled"
is "$(jq -r --arg version "$version" --argjson of_release "$release_labels" '. as $object
  | (.metadata, .spec.template?.metadata | values) | . as $meta
  | select([$of_release[] | $meta.labels[.]] != ["pilot", "Helm", $version, "herd-" + $version]
      or ($object.kind != "CustomResourceDefinition" and .labels["app.kubernetes.io/part-of"] != "herd"))
  | "\($object.kind)/\($object.metadata.name)"' "$state/labelled")" ""
is "$(jq -r '.spec.selector.matchLabels? // empty | keys[]' "$state/labelled" | sort -u)" app.kubernetes.io/name

row "labels and annotations of one's own are the pods', and leave those that the chart sets alone"
of_chart --set-string 'webhook.podLabels.team=ai' --set-string 'controller.podAnnotations.example\.com/scrape=true' >"$state/got-more"
is "$(jq -r 'select(.kind == "Deployment").spec.template.metadata | [.labels.team, .annotations["example.com/scrape"]] | join(",")' "$state/got-more" | xargs)" \
  ",true ai,"
for own in 'app\.kubernetes\.io/name' 'helm\.sh/chart'; do
  rejected of_chart --set-string "webhook.podLabels.$own=mine"
  says "invalid propertyName '${own//\\/}'"
done

row "with monitoring it renders manifests/monitoring too"
{ cat "$state/want"; of_folders manifests/monitoring; } | sort >"$state/want-more"
of_chart --set monitoring.enabled=true >"$state/got-more"
ok same "$state/want-more" "$state/got-more"

row "with a CA of its own it renders the overlay own-ca"
{ of_folders manifests/overlays/own-ca | without Namespace/herd-system; objects_of "$state/crds.yaml"; } | sort >"$state/want-more"
of_chart --set certificates.provider=own >"$state/got-more"
ok same "$state/want-more" "$state/got-more"

row "each image, registry, digest and argument goes where it belongs"
of_chart --set global.cattle.systemDefaultRegistry=r.example.com --set image.repository=team/herd --set image.tag=v9 \
  --set 'image.pullSecrets={puller}' --set allowPlainHttpRepos=true --set watchNamespace=team \
  --set 'webhook.ruleSeverity=graph.cycle=warn' --set 'controller.extraArgs={--workers=3}' >"$state/got-more"
is "$(jq -r 'select(.kind == "Deployment").spec.template.spec.containers[0].image' "$state/got-more" | sort -u)" r.example.com/team/herd:v9
image_of() {
  of_chart "$@" | jq -r 'select(.kind == "Deployment").spec.template.spec.containers[0].image' | sort -u
}
is "$(image_of)" "registry.example.invalid/herd:$version"
is "$(image_of --set image.registry=r.example.com:5000/)" "r.example.com:5000/herd:$version"
is "$(image_of --set image.repository=r.example.com/team/herd)" "r.example.com/team/herd:$version"
is "$(image_of --set image.repository=localhost/herd)" "localhost/herd:$version"
is "$(image_of --set image.registry=)" "herd:$version"
is "$(image_of --set global.cattle.systemDefaultRegistry=r.example.com --set "image.digest=sha256:$(printf '%064d' 7)")" \
  "r.example.com/herd@sha256:$(printf '%064d' 7)"
is "$(jq -r 'select(.kind == "Deployment").spec.template.spec.imagePullSecrets[0].name' "$state/got-more" | sort -u)" puller
is "$(jq -r 'select(.kind == "Deployment" and .metadata.name == "herd-controller").spec.template.spec.containers[0].args | join(" ")' "$state/got-more")" \
  "--in-cluster --rancher-token-file=/etc/herd/rancher/token --neuvector-credentials-dir=/etc/herd/neuvector --suse-observability-credentials-dir=/etc/herd/suse-observability --namespace=team --allow-plain-http-repos --rule-severity=graph.cycle=warn --workers=3"
is "$(jq -r 'select(.kind == "Deployment" and .metadata.name == "herd-webhook").spec.template.spec.containers[0].args | join(" ")' "$state/got-more")" \
  "serve --in-cluster --allow-plain-http-repos --rule-severity=graph.cycle=warn"

row "with a collector both programs have its address, headers and CA, and may reach it"
of_chart --set tracing.endpoint=https://otel.example.com:4318 --set tracing.existingSecret=herd-tracing --set tracing.privateCA=true \
  --set 'tracing.ports={4319}' >"$state/got-more"
for program in controller webhook; do
  jq -es --arg name "herd-$program" '.[] | select(.kind == "Deployment" and .metadata.name == $name).spec.template.spec |
    (.containers[0].args | join(" ") | contains("--otlp-endpoint=https://otel.example.com:4318 --otlp-headers-file=/etc/herd/tracing/headers --otlp-ca-file=/etc/herd/tracing/ca.crt")) and
    any(.containers[0].volumeMounts[]; .name == "tracing" and .mountPath == "/etc/herd/tracing") and
    any(.volumes[]; .name == "tracing" and .secret.secretName == "herd-tracing")' "$state/got-more" >/dev/null || wrong "herd-$program is not told"
  jq -es --arg name "herd-$program" '.[] | select(.kind == "NetworkPolicy" and .metadata.name == $name) |
    [.spec.egress[].ports[].port] | contains([4319, 53])' "$state/got-more" >/dev/null || wrong "herd-$program may not reach it"
done
is "$(of_chart --set tracing.endpoint=http://otel:4318 | jq -r 'select(.kind == "Deployment").spec.template.spec.volumes[].name' | grep -c tracing || true)" 0

row "the server of SUSE Observability may have a Secret of another name, and other ports"
of_chart --set suseObservability.existingSecret=mine --set 'suseObservability.ports={8443}' >"$state/got-more"
is "$(jq -c 'select(.kind == "Deployment" and .metadata.name == "herd-controller").spec.template.spec |
  [.containers[0].env[].valueFrom.secretKeyRef // {}, .volumes[].secret // {}] | map(select((.name // .secretName) == "mine") | .key // "folder")' \
  "$state/got-more")" '["url","ca-file","folder"]'
is "$(jq -r 'select(.kind == "NetworkPolicy" and .metadata.name == "herd-controller").spec.egress[].ports[].port' "$state/got-more" | grep -c '^8443$')" 1

row "where it follows one namespace, the controller has the rights where Stacks are there and nowhere else, and no others"
# rights FILE: "namespace group resource verb" of what the controller's Roles and ClusterRole grant.
rights() {
  jq -r 'select((.kind == "Role" or .kind == "ClusterRole") and (.metadata.name == "herd-controller" or .metadata.name == "herd-controller-stacks"))
    | (.metadata.namespace // "*") as $n | .rules[] | (.resourceNames // ["-"])[] as $name | .apiGroups[] as $g | .resources[] as $r | .verbs[]
    | "\($n) \($g) \($r) \(.) \($name)"' "$1" | sort
}
of_chart --set watchNamespace=team >"$state/got-more"
rights "$state/got" >"$state/rights.all"
rights "$state/got-more" >"$state/rights.team"
beside='(stacks|stacks/status|stackscanreports|policyreports|configmaps|events)'
is "$(grep -E "^\* [^ ]* $beside " "$state/rights.team" || true)" ""
is "$(grep '^team ' "$state/rights.team")" "$(grep -E "^\* [^ ]* $beside " "$state/rights.all" | sed 's/^\*/team/')"
is "$(grep -vE '^team |^herd-system  events ' "$state/rights.team")" "$(grep -vE "^\* [^ ]* $beside " "$state/rights.all")"
is "$(jq -c 'select(.kind == "RoleBinding" and .metadata.namespace == "team") | [.roleRef.name, .subjects[0].namespace, .subjects[0].name]' "$state/got-more")" \
  '["herd-controller-stacks","herd-system","herd-controller"]'

row "a configuration is the ConfigMap that both programs mount, as it was written, and they take it"
printf '# ours\nrules:\n  targets.local: off # "here"\nallowPlainHttpRepos: true\n' >"$state/config.yaml"
of_chart --set-file configuration="$state/config.yaml" >"$state/got-more"
jq -j 'select(.kind == "ConfigMap" and .metadata.name == "herd-config").data["config.yaml"]' "$state/got-more" >"$state/got-config"
ok cmp "$state/config.yaml" "$state/got-config"
ok "$bin/herd-webhook" review --config-file "$state/got-config" examples/test-stack.yaml
for command in "herd-webhook serve" herd-controller; do
  read -r program mode <<<"$command"
  mounted=$(jq -r --arg name "$program" 'select(.kind == "Deployment" and .metadata.name == $name).spec.template.spec
    | .volumes[] as $volume | .containers[0].volumeMounts[] | select(.name == $volume.name and $volume.configMap.name == "herd-config")
    | .mountPath + "/" + $volume.configMap.items[0].path' "$state/got-more")
  ok "$bin/$program" ${mode:+"$mode"} --help
  says "(default ${mounted:?no file is mounted})"
done

row "the severities and log levels that the chart takes are those that the programs take"
# choices FLAG FIRST: the words of a flag's help, from the first one on.
choices() { "$bin/herd-webhook" serve --help | sed -n "s/^ *--$1=.*\b\($2|[a-z|]*\).*/\1/p" | tr '|' ' '; }
severities=$(choices rule-severity deny) levels=$(choices log-level debug)
for word in ${severities:?}; do
  ok of_chart --set "webhook.ruleSeverity=graph.cycle=$word"
done
for word in ${levels:?}; do
  ok of_chart --set "webhook.logLevel=$word" --set "controller.logLevel=$word"
done

row "an own certificate brings its CA, and asks for it"
rejected of_chart --set certificates.provider=existing
says "certificates.caBundle must hold"
printf -- '-----BEGIN CERTIFICATE-----\nMA==\n-----END CERTIFICATE-----\n' >"$state/ca.pem"
of_chart --set certificates.provider=existing --set-file certificates.caBundle="$state/ca.pem" >"$state/got-more"
is "$(jq -r 'select(.kind | endswith("WebhookConfiguration")).webhooks[0].clientConfig.caBundle' "$state/got-more" | sort -u | base64 -d | cksum)" \
  "$(cksum <"$state/ca.pem")"
is "$(jq -r 'select(.apiVersion | startswith("cert-manager")).kind' "$state/got-more")" ""

row "values that make no sense are rejected by name"
for bad in tracing.endpoint=otel:4318 controller.replicas=0 webhook.replica=2 controller.logLevel=loud rancher.url=http://x image.tag='a b' \
  networkPolicies.rancherPorts='{99999}' nonsense=1 webhook.ruleSeverity=loud image.registry='r example' \
  webhook.affinity.podAfinity=1 webhook.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.terms=1 \
  'webhook.tolerations[0].operator=Sometimes' 'controller.tolerations[0].tolerationSecond=3' \
  controller.resources.limit=1 controller.resources.requests.memory=lots webhook.resources.limits.cpu=-1 webhook.nodeSelector.disk=1; do
  rejected of_chart --set "$bad"
  key=${bad%%=*}
  says "${key##*.}"
done
cat >"$state/placed.yaml" <<'YAML'
webhook:
  resources:
    requests: {cpu: 0.5, memory: 1e3, nvidia.com/gpu: 1, hugepages-2Mi: 128Mi}
    limits: {memory: 1Gi}
    claims: [{name: a, request: b}]
  nodeSelector: {kubernetes.io/arch: amd64}
  tolerations: [{operator: Exists}, {key: a, operator: Equal, value: b, effect: NoSchedule}]
  affinity:
    nodeAffinity:
      requiredDuringSchedulingIgnoredDuringExecution:
        nodeSelectorTerms:
          - matchExpressions: [{key: a, operator: In, values: [b]}, {key: c, operator: Gt, values: ["3"]}]
            matchFields: [{key: metadata.name, operator: NotIn, values: [node]}]
      preferredDuringSchedulingIgnoredDuringExecution:
        - {weight: 1, preference: {matchExpressions: [{key: a, operator: DoesNotExist}]}}
    podAffinity:
      requiredDuringSchedulingIgnoredDuringExecution:
        - {topologyKey: zone, labelSelector: {matchLabels: {a: b}}, namespaces: [team], namespaceSelector: {}, matchLabelKeys: [k]}
    podAntiAffinity:
      preferredDuringSchedulingIgnoredDuringExecution:
        - weight: 100
          podAffinityTerm:
            topologyKey: kubernetes.io/hostname
            labelSelector: {matchExpressions: [{key: app.kubernetes.io/name, operator: In, values: [herd-webhook]}]}
YAML
ok of_chart -f "$state/placed.yaml"
rejected of_chart --set rancher.url=https://r.example.com
says "rancher.token is missing"
rejected of_chart --set-file rancher.caCert="$state/ca.pem"
says "rancher.caCert"
rejected of_chart --set certificates.issuerRef.kind=ClusterIssuer
says "missing property 'name'"
rejected of_chart --set controller=null
says "missing property 'controller'"

row "another address of Rancher's, which the controller reads when it starts, starts it anew; another token does not"
template_of() {
  of_chart --set rancher.url="https://$1" --set rancher.token="$2" |
    jq -c 'select(.kind == "Deployment" and .metadata.name == "herd-controller").spec.template'
}
is "$(template_of r.example.com a:b)" "$(template_of r.example.com c:d)"
[ "$(template_of r.example.com a:b)" != "$(template_of s.example.com a:b)" ] || wrong "both are $(template_of s.example.com a:b)"

row "each question of Rancher's form is a value, with the same default"
form=$state/form
mkdir -p "$form/templates"
cp manifests/chart/values.yaml "$form"
printf 'apiVersion: v2\nname: form\nversion: 0.0.0\n' >"$form/Chart.yaml"
awk '/^  - variable:/ { name = $3 } /^    default:/ { gsub(/"/, "", $2); print "  " name ": \"" $2 "\"" }' \
  manifests/chart/questions.yaml >"$state/asked"
{
  printf 'apiVersion: v1\nkind: Values\nvalues:\n'
  sed -n 's/^  - variable: \(.*\)/  \1: {{ .Values.\1 | toString | quote }}/p' manifests/chart/questions.yaml
} >"$form/templates/all.yaml"
helm template x "$form" | grep '^  ' >"$state/there"
ok diff "$state/asked" "$state/there"

row "the chart's icon is a picture in the chart, and in its package"
icon=$(sed -n 's|^icon: file://||p' "$chart/Chart.yaml")
ok head -c 400 "$chart/${icon:-none}"
says '<svg xmlns="http://www.w3.org/2000/svg"'
ok helm package "$chart" --destination "$state/packed"
ok tar -tzf "$state/packed/herd-$version.tgz" "herd/$icon"

row "helm finds nothing wrong with the chart"
ok helm lint --strict "$chart"
