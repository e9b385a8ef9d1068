{{/* Parts that the pods of both programs, and of the test, have in common. */}}

{{/* Everything that Pod Security's `restricted` asks for. */}}
{{- define "tollgate.podSecurity" -}}
enableServiceLinks: false
automountServiceAccountToken: {{ .token | default false }}
securityContext:
  runAsNonRoot: true
  runAsUser: 65532
  runAsGroup: 65532
  fsGroup: 65532
  fsGroupChangePolicy: OnRootMismatch
  seccompProfile: {type: RuntimeDefault}
{{- with .root.Values.global.imagePullSecrets }}
imagePullSecrets:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- end -}}

{{- define "tollgate.containerSecurity" -}}
securityContext:
  allowPrivilegeEscalation: false
  readOnlyRootFilesystem: true
  capabilities: {drop: [ALL]}
{{- end -}}

{{/* Where pods go: a dict of root, component and the program's values. */}}
{{- define "tollgate.placement" -}}
{{- with .values.priorityClassName -}}
priorityClassName: {{ . | quote }}
{{ end -}}
{{- with .values.nodeSelector -}}
nodeSelector:
  {{- toYaml . | nindent 2 }}
{{ end -}}
{{- with .values.tolerations -}}
tolerations:
  {{- toYaml . | nindent 2 }}
{{ end -}}
{{- with .values.affinity -}}
affinity:
  {{- toYaml . | nindent 2 }}
{{ end -}}
topologySpreadConstraints:
{{- if .values.topologySpreadConstraints }}
  {{- toYaml .values.topologySpreadConstraints | nindent 2 }}
{{- else }}
{{- range list "topology.kubernetes.io/zone" "kubernetes.io/hostname" }}
  - maxSkew: 1
    topologyKey: {{ . }}
    whenUnsatisfiable: ScheduleAnyway
    labelSelector:
      matchLabels:
        {{- include "tollgate.selectorLabels" $ | nindent 8 }}
{{- end }}
{{- end }}
{{- end -}}

{{/* Metadata of a pod: a change of the settings file must restart it, a new version of the chart alone must not. */}}
{{- define "tollgate.podMetadata" -}}
labels:
  {{- include "tollgate.selectorLabels" . | nindent 2 }}
  {{- $own := dict "app.kubernetes.io/part-of" "tollgate" }}
  {{- include "tollgate.furtherLabels" (merge (dict) .values.podLabels .root.Values.commonLabels $own) | indent 2 }}
annotations:
  {{- $settings := dict "tollgate.dev/settings" (.settings | sha256sum | trunc 16) }}
  {{- toYaml (merge $settings .values.podAnnotations .root.Values.commonAnnotations) | nindent 2 }}
{{- end -}}
