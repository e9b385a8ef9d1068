{{/*
The settings files of both programs (docs/settings.md). What the chart sets itself goes before `operator.settings` and
`proxy.settings`, whose schemas leave those members out.
*/}}

{{- define "tollgate.operator.settings" -}}
{{- $own := dict
  "data" "/var/lib/tollgate/data"
  "operatorAdmin" "0.0.0.0:9091"
  "kubernetes" (pick .Values.operator "watchNamespaces" "generateKeys" "namespaceSelectors")
  "lease" (dict "name" (include "tollgate.lease" .))
  "push" (dict "listen" "0.0.0.0:8443" "tls" (dict "mode" (eq .Values.tls.mode "SelfManaged" | ternary "SelfManaged" "Files")))
  "egress" (dict "allowCIDRs" .Values.proxy.egress.allowCIDRs)
  "quota" (pick .Values.quota "store" "requireAccount" "unboundedOutput" "inputEstimate" "defaultOutputReserve")
  "logs" (pick .Values.telemetry.logs "format" "level")
-}}
{{- toYaml (merge $own (deepCopy .Values.operator.settings)) -}}
{{- end -}}

{{- define "tollgate.proxy.settings" -}}
{{- $own := dict
  "listen" "0.0.0.0:8080"
  "admin" "0.0.0.0:9090"
  "data" "/var/lib/tollgate/data"
  "operator" (printf "https://%s:8443" (include "tollgate.push.host" .))
  "trustedProxies" .Values.proxy.trustedProxies
  "drain" .Values.proxy.drain
  "quota" (pick .Values.quota "store" "failureMode")
  "logs" .Values.telemetry.logs
-}}
{{- with include "tollgate.inFlightKiB" .Values.proxy.resources }}
{{- $_ := set $own "limits" (dict "inFlightBytes" (printf "%sKiB" .)) }}
{{- end }}
{{- if .Values.proxy.tls.existingSecret }}
{{- $_ := set $own "tls" (dict "cert" "/etc/tollgate/tls/tls.crt" "key" "/etc/tollgate/tls/tls.key") }}
{{- end }}
{{- if .Values.proxy.lastGood.enabled }}
{{- $_ := set $own "lastGood" (dict "keyFile" "/etc/tollgate/last-good/key") }}
{{- end }}
{{- toYaml (merge $own (deepCopy .Values.proxy.settings)) -}}
{{- end -}}
