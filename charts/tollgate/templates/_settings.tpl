{{/*
The settings files of both programs (docs/settings.md). The chart's own values take precedence over `operator.settings` and
`proxy.settings`, whose schemas leave those members out.
*/}}

{{- define "tollgate.operator.settings" -}}
{{- $host := include "tollgate.push.host" . -}}
{{- $service := printf "%s-push" (include "tollgate.fullname" .) -}}
{{- $push := dict
  "listen" (printf "%s:8443" .Values.listenHost)
  "serverName" $host
  "audience" (include "tollgate.push.audience" .)
  "token" "/etc/tollgate/token/token"
  "proxyAccount" (include "tollgate.proxy.serviceAccount" .)
  "operatorAccount" (include "tollgate.operator.serviceAccount" .)
  "proxyLabels" (include "tollgate.selectorList" (dict "root" . "component" "proxy") | fromJsonArray)
  "configMap" (include "tollgate.push.bundle" .)
-}}
{{- if .Values.proxy.lastGood.enabled -}}
{{- $_ := set $push "lastGoodSecret" (include "tollgate.lastGoodSecret" .) -}}
{{- end -}}
{{- if eq .Values.tls.mode "SelfManaged" -}}
{{- $names := list $host $service (printf "%s.%s" $service .Release.Namespace) -}}
{{- $_ := set $push "tls" (dict "mode" "SelfManaged" "secret" (include "tollgate.push.caSecret" .) "dnsNames" $names) -}}
{{- else -}}
{{- $folder := "/etc/tollgate/push-tls" -}}
{{- $_ := set $push "tls" (dict "mode" "Files" "ca" (printf "%s/ca.crt" $folder) "cert" (printf "%s/tls.crt" $folder) "key" (printf "%s/tls.key" $folder)) -}}
{{- end -}}
{{- $own := dict
  "data" "/var/lib/tollgate/data"
  "operatorAdmin" (printf "%s:9091" .Values.listenHost)
  "kubernetes" (pick .Values.operator "watchNamespaces" "generateKeys" "namespaceSelectors" | merge (dict "owner" (include "tollgate.operator.owner" .)))
  "lease" (dict "name" (include "tollgate.lease" .))
  "push" $push
  "egress" (dict "allowCIDRs" .Values.proxy.egress.allowCIDRs)
  "quota" (pick .Values.quota "store" "requireAccount" "unboundedOutput" "inputEstimate" "defaultOutputReserve")
  "logs" (pick .Values.telemetry.logs "format" "level")
-}}
{{- toYaml (merge $own (deepCopy .Values.operator.settings)) -}}
{{- end -}}

{{- define "tollgate.proxy.settings" -}}
{{- $own := dict
  "listen" (printf "%s:8080" .Values.listenHost)
  "admin" (printf "%s:9090" .Values.listenHost)
  "data" "/var/lib/tollgate/data"
  "operator" (printf "https://%s:8443" (include "tollgate.push.host" .))
  "push" (dict "token" "/etc/tollgate/operator/token" "tls" (dict "ca" "/etc/tollgate/operator/ca.crt"))
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

{{/* The labels that select a component's pods, as `label=value` items. */}}
{{- define "tollgate.selectorList" -}}
{{- $items := list -}}
{{- range $label, $value := include "tollgate.selectorLabels" . | fromYaml -}}
{{- $items = append $items (printf "%s=%s" $label $value) -}}
{{- end -}}
{{- $items | toJson -}}
{{- end -}}
