# SPDX-License-Identifier: Apache-2.0
# chart.sh: objects of manifests and chart, to be compared; sourced by install.sh.
#
#   objects_of FILE            each object of a YAML stream as one line of JSON, keys sorted, objects sorted
#   of_folders FOLDER...       the same for kustomize folders
#   of_chart FLAGS...          the same for the chart, without its removal hooks and the labels of a release

chart=$source/manifests/chart

# YAML becomes JSON by helm itself: a chart of one template, which reads the stream as a file.
objects_of() {
  local folder=$state/to-json
  mkdir -p "$folder/templates"
  printf 'apiVersion: v2\nname: to-json\nversion: 0.0.0\n' >"$folder/Chart.yaml"
  cp "$1" "$folder/stream.yaml"
  cat >"$folder/templates/all.yaml" <<'TEMPLATE'
{{- range $i, $text := regexSplit "(?m)^---\\s*$" (.Files.Get "stream.yaml") -1 }}
{{- with fromYaml $text }}
{{- if .Error }}{{ fail .Error }}{{ end }}
---
{{ toJson . }}
{{- end }}
{{- end }}
TEMPLATE
  helm template x "$folder" >"$state/objects.out" || return 1
  grep '^{' "$state/objects.out" | jq -cS 'del(.metadata.namespace | select(. == null))' | sort
}

of_folders() {
  local folder
  : >"$state/folders.yaml"
  for folder in "$@"; do
    kubectl kustomize "$folder" >>"$state/folders.yaml" 2>"$state/kustomize.log" && [ ! -s "$state/kustomize.log" ] || {
      cat "$state/kustomize.log" >&2
      return 1
    }
    echo '---' >>"$state/folders.yaml"
  done
  objects_of "$state/folders.yaml"
}

# Labels that only a release has.
release_labels='["app.kubernetes.io/instance","app.kubernetes.io/managed-by","app.kubernetes.io/version","helm.sh/chart"]'

of_chart() {
  helm template herd "$chart" --namespace herd-system --kube-version 1.36.0 "$@" >"$state/chart.yaml" || return 1
  objects_of "$state/chart.yaml" | jq -cS --argjson of_release "$release_labels" '
    def bare: if .labels then delpaths([$of_release[] | ["labels", .]]) | if .labels == {} then del(.labels) else . end else . end;
    select(.metadata.annotations["helm.sh/hook"] == null)
    | .metadata |= bare | if .spec.template? then .spec.template.metadata |= bare else . end
    | if .kind == "CustomResourceDefinition" then
        if .metadata.annotations == {"helm.sh/resource-policy": "keep"} then del(.metadata.annotations) else . end
      else . end' | sort
}

# without KIND/NAME...: of what comes in.
without() {
  local what
  what=$(printf '%s\n' "$@" | jq -R . | jq -cs .)
  jq -cS --argjson out "$what" 'select("\(.kind)/\(.metadata.name)" as $me | $out | index($me) | not)'
}

# same A B: and where they differ, the objects by name and the fields.
same() {
  cmp -s "$1" "$2" && return 0
  local names
  names=$(comm -3 "$1" "$2" | sed 's/^\t//' | jq -r '"\(.kind)/\(.metadata.name)"' | sort -u)
  while read -r name; do
    echo "$name differs:"
    diff <(jq -S --arg n "$name" 'select("\(.kind)/\(.metadata.name)" == $n)' "$1") \
      <(jq -S --arg n "$name" 'select("\(.kind)/\(.metadata.name)" == $n)' "$2") | grep '^[<>]' | head -n 12 || true
  done <<<"$names"
  return 1
}
