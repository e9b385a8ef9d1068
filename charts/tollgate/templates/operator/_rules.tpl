{{/* Rights in every watched namespace. */}}
{{- define "tollgate.rules.watched" -}}
- apiGroups: [tollgate.dev]
  resources: [apikeys, channels, modelroutes, accounts]
  verbs: [list, watch]
- apiGroups: [tollgate.dev]
  resources: [apikeys/status, channels/status, modelroutes/status, accounts/status]
  verbs: [patch]
- apiGroups: [""]
  resources: [secrets, configmaps]
  verbs: [list, watch]
{{- if .Values.operator.generateKeys }}
- apiGroups: [""]
  resources: [secrets]
  verbs: [create]
{{- end }}
- apiGroups: [events.k8s.io]
  resources: [events]
  verbs: [create, patch]
{{- end -}}
