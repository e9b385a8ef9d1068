{{/* Rules that both NetworkPolicies share. */}}

{{- define "tollgate.network.dns" -}}
# DNS of the cluster, and of a cache on the node.
- to:
    - namespaceSelector: {}
    - ipBlock: {cidr: 169.254.20.10/32}
  ports:
    - {protocol: UDP, port: 53}
    - {protocol: TCP, port: 53}
{{- end -}}

{{- define "tollgate.network.pods" -}}
- podSelector:
    matchLabels:
      {{- include "tollgate.selectorLabels" . | nindent 6 }}
{{- end -}}

{{/* Who may scrape an admin port. */}}
{{- define "tollgate.network.scrapers" -}}
{{- with .Values.monitoring.networkPolicyFrom }}
{{- toYaml . }}
{{- else }}
- namespaceSelector: {}
{{- end }}
{{- end -}}
