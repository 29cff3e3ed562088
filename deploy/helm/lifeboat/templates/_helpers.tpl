{{/* What every pod of ours runs. */}}
{{- define "lifeboat.image" -}}
{{ .Values.image.repository }}:{{ .Values.image.tag | default .Chart.AppVersion }}
{{- end }}

{{/* The labels of the objects of one part: (dict "root" $ "name" "lifeboat-manager"). */}}
{{- define "lifeboat.labels" -}}
app.kubernetes.io/name: {{ .name }}
app.kubernetes.io/part-of: lifeboat
app.kubernetes.io/version: {{ .root.Chart.AppVersion | replace "+" "_" | quote }}
app.kubernetes.io/managed-by: {{ .root.Release.Service }}
app.kubernetes.io/instance: {{ .root.Release.Name }}
helm.sh/chart: {{ printf "%s-%s" .root.Chart.Name .root.Chart.Version | replace "+" "_" }}
{{- end }}

{{/* One flag; a number is written as JSON, because large ones would get an exponent: (list NAME VALUE). */}}
{{- define "lifeboat.flag" -}}
{{- $value := index . 1 }}
{{- printf "--%s=%s" (index . 0) (kindIs "string" $value | ternary $value (toJson $value)) | quote }}
{{- end }}

{{- define "lifeboat.podSecurity" -}}
runAsNonRoot: true
runAsUser: 65532
runAsGroup: 65532
fsGroup: 65532
fsGroupChangePolicy: OnRootMismatch
seccompProfile: { type: RuntimeDefault }
{{- end }}

{{- define "lifeboat.containerSecurity" -}}
allowPrivilegeEscalation: false
readOnlyRootFilesystem: true
capabilities: { drop: [ALL] }
{{- end }}
