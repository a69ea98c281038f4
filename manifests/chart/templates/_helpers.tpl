{{- /* The image: registry/repository@digest, or with a tag. */ -}}
{{- define "herd.image" -}}
{{- with .Values.global.cattle.systemDefaultRegistry }}{{ trimSuffix "/" . }}/{{ end -}}
{{- .Values.image.repository -}}
{{- with .Values.image.digest }}@{{ . }}{{ else }}:{{ default .Chart.AppVersion .Values.image.tag }}{{ end -}}
{{- end -}}

{{- /* What stands in caBundle: nothing where cert-manager's cainjector writes it. */ -}}
{{- define "herd.caBundle" -}}
{{- if eq .Values.certificates.provider "existing" -}}
{{- required "certificates.provider is existing: certificates.caBundle must hold the CA's certificate (PEM)" .Values.certificates.caBundle | b64enc -}}
{{- end -}}
{{- end -}}
