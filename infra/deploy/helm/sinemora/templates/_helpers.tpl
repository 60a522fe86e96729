{{/* Labels of everything of a release; the part of a pod is added where there is one. */}}
{{- define "sinemora.labels" -}}
app.kubernetes.io/name: sinemora
app.kubernetes.io/instance: {{ .Release.Name }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ .Chart.Name }}-{{ .Chart.Version }}
{{- end }}

{{/* The labels that select the pods of a part: dict "root" $ "part" "api". */}}
{{- define "sinemora.selector" -}}
app.kubernetes.io/name: sinemora
app.kubernetes.io/instance: {{ .root.Release.Name }}
app.kubernetes.io/component: {{ .part }}
{{- end }}

{{- define "sinemora.image" -}}
{{ .Values.image.repository }}:{{ .Values.image.tag | default .Chart.AppVersion }}
{{- end }}

{{- define "sinemora.publicUrl" -}}
{{ required "publicUrl is missing: the address under which people and agents reach this installation, such as https://sinemora.example.com" .Values.publicUrl }}
{{- end }}

{{- define "sinemora.secret" -}}
{{ required "existingSecret is missing: a Secret with database_password, database_system_password, database_owner_password, redis_password and secret_key" .Values.existingSecret }}
{{- end }}

{{- define "sinemora.database" -}}
{{ required "database.host is missing: the host of PostgreSQL, which is not part of the chart" .Values.database.host }}:{{ .Values.database.port }}/{{ .Values.database.name }}
{{- end }}

{{- define "sinemora.redis" -}}
{{ .Values.redis.host | default (printf "%s-redis:6379" .Release.Name) }}
{{- end }}

{{/* Values that contradict one another, which the schema cannot find. */}}
{{- define "sinemora.checks" -}}
{{- $known := .Files.Lines "settings.txt" }}
{{- range $name, $_ := .Values.settings }}
{{- if not (or (hasPrefix "OTEL_" $name) (has $name $known) (has (trimSuffix "_FILE" $name) $known)) }}
{{- fail (printf "settings.%s is no setting of the product: .env.example lists them" $name) }}
{{- end }}
{{- end }}
{{- range .Values.secretKeys }}
{{- if or (hasKey $.Values.settings (printf "SINEMORA_%s" (upper .))) (hasKey $.Values.settings (printf "SINEMORA_%s_FILE" (upper .))) }}
{{- fail (printf "secretKeys and settings both have %s: leave it out of settings" .) }}
{{- end }}
{{- end }}
{{- $served := list }}
{{- range .Values.workers }}{{ $served = concat $served (splitList "," .queues) }}{{ end }}
{{- range list "notices" "fast" "upkeep" "bulk" "watch" "solve" }}
{{- if not (has . $served) }}
{{- fail (printf "workers: none has the queue %s, so its tasks would wait for ever: add it to queues of one of them" .) }}
{{- end }}
{{- end }}
{{- if and .Values.autoscaling.byBacklog (not .Values.autoscaling.enabled) }}
{{- fail "autoscaling.byBacklog has no effect without autoscaling.enabled: set both" }}
{{- end }}
{{- range $part := list "api" "worker" "solver" }}
{{- $range := index $.Values.autoscaling $part }}
{{- if gt (int $range.min) (int $range.max) }}
{{- fail (printf "autoscaling.%s: min (%d) is above max (%d)" $part (int $range.min) (int $range.max)) }}
{{- end }}
{{- end }}
{{- end }}

{{/* The environment of every process of the product. Secrets are files. */}}
{{- define "sinemora.environment" -}}
{{- $set := dict
  "SINEMORA_PUBLIC_URL" (include "sinemora.publicUrl" .)
  "SINEMORA_HOST" "0.0.0.0"
  "SINEMORA_PORT" "8420"
  "SINEMORA_DATABASE_URL" (printf "postgresql://%s@%s" .Values.database.role (include "sinemora.database" .))
  "SINEMORA_DATABASE_PASSWORD_FILE" "/run/secrets/sinemora/database_password"
  "SINEMORA_DATABASE_SYSTEM_URL" (printf "postgresql://%s@%s" .Values.database.systemRole (include "sinemora.database" .))
  "SINEMORA_DATABASE_SYSTEM_PASSWORD_FILE" "/run/secrets/sinemora/database_system_password"
  "SINEMORA_REDIS_URL" (printf "redis://%s/0" (include "sinemora.redis" .))
  "SINEMORA_REDIS_PASSWORD_FILE" "/run/secrets/sinemora/redis_password"
  "SINEMORA_SECRET_KEY_FILE" "/run/secrets/sinemora/secret_key"
  "SINEMORA_WORKER_PULSE_FILE" "/tmp/pulse"
  "SINEMORA_LOG_FORMAT" "json"
  "SINEMORA_METRICS_NETWORKS" "127.0.0.0/8 ::1/128 10.0.0.0/8 172.16.0.0/12 192.168.0.0/16 fc00::/7"
  "SINEMORA_TRUSTED_PROXIES" .Values.trustedProxies
-}}
{{- range .Values.secretKeys }}
{{- $_ := set $set (printf "SINEMORA_%s_FILE" (upper .)) (printf "/run/secrets/sinemora/%s" .) }}
{{- end }}
{{- range $name, $value := merge (deepCopy .Values.settings) $set }}
- name: {{ $name }}
  value: {{ $value | quote }}
{{- end }}
{{- with .Values.extraEnv }}
{{ toYaml . }}
{{- end }}
{{- end }}

{{/* The parts of a pod that are the same for every process of the product. */}}
{{- define "sinemora.pod" -}}
automountServiceAccountToken: false
securityContext:
  runAsNonRoot: true
  runAsUser: 10001
  runAsGroup: 10001
  fsGroup: 10001
  seccompProfile: {type: RuntimeDefault}
{{- with .Values.imagePullSecrets }}
imagePullSecrets: {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .Values.nodeSelector }}
nodeSelector: {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .Values.tolerations }}
tolerations: {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .Values.affinity }}
affinity: {{- toYaml . | nindent 2 }}
{{- end }}
volumes:
  {{- with .Values.extraVolumes }}
  {{- toYaml . | nindent 2 }}
  {{- end }}
  - name: temporary
    emptyDir: {sizeLimit: 1Gi}
  - name: secrets
    secret:
      secretName: {{ include "sinemora.secret" . }}
      defaultMode: 0440
      items:
        - {key: database_password, path: database_password}
        - {key: database_system_password, path: database_system_password}
        - {key: redis_password, path: redis_password}
        - {key: secret_key, path: secret_key}
        {{- range .Values.secretKeys }}
        - {key: {{ . }}, path: {{ . }}}
        {{- end }}
{{- end }}

{{/* The parts of a container that are the same for every process of the product. */}}
{{- define "sinemora.container" -}}
image: {{ include "sinemora.image" . }}
imagePullPolicy: {{ .Values.image.pullPolicy }}
securityContext:
  allowPrivilegeEscalation: false
  readOnlyRootFilesystem: true
  capabilities: {drop: [ALL]}
volumeMounts:
  {{- with .Values.extraVolumeMounts }}
  {{- toYaml . | nindent 2 }}
  {{- end }}
  - {name: temporary, mountPath: /tmp}
  - {name: secrets, mountPath: /run/secrets/sinemora, readOnly: true}
{{- end }}

{{/* A disruption budget and pods on different nodes: dict "root" $ "part" "api". */}}
{{- define "sinemora.budget" -}}
apiVersion: policy/v1
kind: PodDisruptionBudget
metadata:
  name: {{ .root.Release.Name }}-{{ .part }}
  labels: {{- include "sinemora.labels" .root | nindent 4 }}
spec:
  maxUnavailable: 1
  selector:
    matchLabels: {{- include "sinemora.selector" . | nindent 6 }}
{{- end }}

{{- define "sinemora.spread" -}}
topologySpreadConstraints:
  - maxSkew: 1
    topologyKey: kubernetes.io/hostname
    whenUnsatisfiable: ScheduleAnyway
    labelSelector:
      matchLabels: {{- include "sinemora.selector" . | nindent 8 }}
{{- end }}

{{/*
The number of pods of a part: dict "root" $ "part" "api" "scales" true "replicas" 2. Where the autoscaler decides, it is the
number that runs: an upgrade that only left it out would go through one pod.
*/}}
{{- define "sinemora.replicas" -}}
{{- if .scales }}
{{- with lookup "apps/v1" "Deployment" .root.Release.Namespace (printf "%s-%s" .root.Release.Name .part) }}
replicas: {{ .spec.replicas }}
{{- end }}
{{- else }}
replicas: {{ .replicas }}
{{- end }}
{{- end }}

{{/* Autoscaling of a part by processor use, and by its backlog: dict "root" $ "part" "api" "backlog" (list of metrics). */}}
{{- define "sinemora.autoscaler" -}}
apiVersion: autoscaling/v2
kind: HorizontalPodAutoscaler
metadata:
  name: {{ .root.Release.Name }}-{{ .part }}
  labels: {{- include "sinemora.labels" .root | nindent 4 }}
spec:
  scaleTargetRef:
    apiVersion: apps/v1
    kind: Deployment
    name: {{ .root.Release.Name }}-{{ .part }}
  minReplicas: {{ (index .root.Values.autoscaling .part).min }}
  maxReplicas: {{ (index .root.Values.autoscaling .part).max }}
  metrics:
    - type: Resource
      resource:
        name: cpu
        target: {type: Utilization, averageUtilization: {{ .root.Values.autoscaling.processorPercent }}}
  {{- if .root.Values.autoscaling.byBacklog }}
  {{- toYaml .backlog | nindent 4 }}
  {{- end }}
  behavior:
    scaleDown:
      # A backlog that has gone may return with the next minute.
      stabilizationWindowSeconds: 600
{{- end }}
