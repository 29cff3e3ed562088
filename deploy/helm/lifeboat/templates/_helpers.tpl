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

{{/* The part that answers the federation's names; "": none does. */}}
{{- define "lifeboat.dnsPart" -}}
{{- if .Values.dns.enabled }}{{ .Values.manager.enabled | ternary "manager" (.Values.plane.enabled | ternary "plane" "") }}{{ end }}
{{- end }}

{{- define "lifeboat.dnsFlags" -}}
- --dns-listen=:{{ .Values.dns.port }}
- --dns-zone={{ .Values.dns.zone }}
- --federation-name={{ .Values.dns.federation }}
{{- if .Values.dns.tsigKeySecret }}
- --dns-tsig-key-file=/etc/lifeboat-dns/keys
{{- end }}
{{- end }}

{{- define "lifeboat.dnsPorts" -}}
- { name: dns, containerPort: {{ .Values.dns.port }}, protocol: UDP }
- { name: dns-tcp, containerPort: {{ .Values.dns.port }}, protocol: TCP }
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
