{{- /* The image: registry/repository@digest, or with a tag. A repository whose first part can only be a host (it has a dot or
a colon, or is localhost) has its registry already. */ -}}
{{- define "herd.image" -}}
{{- $registry := .Values.image.registry -}}
{{- if regexMatch "^(localhost|[^/]*[.:][^/]*)/" .Values.image.repository }}{{ $registry = "" }}{{ end -}}
{{- with default $registry .Values.global.cattle.systemDefaultRegistry }}{{ trimSuffix "/" . }}/{{ end -}}
{{- .Values.image.repository -}}
{{- with .Values.image.digest }}@{{ . }}{{ else }}:{{ default .Chart.AppVersion .Values.image.tag }}{{ end -}}
{{- end -}}

{{- /* What every object of the release has in common, beside its name and part-of. Of $, the root. */ -}}
{{- define "herd.labels" -}}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version | replace "+" "_" }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
app.kubernetes.io/instance: {{ .Release.Name }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
{{- end -}}

{{- /* What stands in caBundle: nothing where cert-manager's cainjector writes it. */ -}}
{{- define "herd.caBundle" -}}
{{- if eq .Values.certificates.provider "existing" -}}
{{- required "certificates.provider is existing: certificates.caBundle must hold the CA's certificate (PEM)" .Values.certificates.caBundle | b64enc -}}
{{- end -}}
{{- end -}}

{{- /* What both programs are told of tracing: flags, a mount, a volume, egress. Nothing without an endpoint. */ -}}
{{- define "herd.tracing.args" -}}
{{- with .Values.tracing }}
{{- if .endpoint }}
- --otlp-endpoint={{ .endpoint }}
{{- if .existingSecret }}
- --otlp-headers-file=/etc/herd/tracing/headers
{{- if .privateCA }}
- --otlp-ca-file=/etc/herd/tracing/ca.crt
{{- end }}
{{- end }}
{{- end }}
{{- end }}
{{- end }}

{{- define "herd.tracing.secret" -}}
{{- if .Values.tracing.endpoint }}{{ .Values.tracing.existingSecret }}{{ end }}
{{- end }}

{{- define "herd.tracing.mount" -}}
- name: tracing
  mountPath: /etc/herd/tracing
  readOnly: true
{{- end }}

{{- define "herd.tracing.volume" -}}
- name: tracing
  secret:
    secretName: {{ .Values.tracing.existingSecret }}
    defaultMode: 0440
{{- end }}
