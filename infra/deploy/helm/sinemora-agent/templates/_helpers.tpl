{{- define "agent.labels" -}}
app.kubernetes.io/name: sinemora-agent
app.kubernetes.io/instance: {{ .Release.Name }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ .Chart.Name }}-{{ .Chart.Version }}
{{- end }}

{{- define "agent.selector" -}}
app.kubernetes.io/name: sinemora-agent
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end }}

{{- define "agent.image" -}}
{{ .Values.image.repository }}:{{ .Values.image.tag | default .Chart.AppVersion }}
{{- end }}

{{- define "agent.backend" -}}
{{ required "backend is missing: the address of the installation, such as https://sinemora.example.com" .Values.backend }}
{{- end }}

{{/* The Secret with the enrolment token: one that exists, or that of this release. */}}
{{- define "agent.secret" -}}
{{- if and .Values.token .Values.existingSecret }}
{{- fail "token and existingSecret are both set: give one of them" }}
{{- end }}
{{- if not (or .Values.token .Values.existingSecret) }}
{{- fail "existingSecret is missing: a Secret with the key token, an enrolment token of the page Add a VM (or give token)" }}
{{- end }}
{{- .Values.existingSecret | default .Release.Name }}
{{- end }}

{{/* What the agent and the programs beside it may do: root, for the folder of the node, without privileges. */}}
{{- define "agent.security" -}}
runAsUser: 0
allowPrivilegeEscalation: false
readOnlyRootFilesystem: true
seccompProfile: {type: RuntimeDefault}
{{- end }}

{{- define "agent.mounts" -}}
{{- with .Values.extraVolumeMounts }}
{{- toYaml . }}
{{ end -}}
- {name: state, mountPath: /var/lib/sinemora-agent}
{{- end }}
