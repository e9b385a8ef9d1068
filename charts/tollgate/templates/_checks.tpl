{{/* Refuses values that do not fit each other, which a schema cannot check. Included once, before anything is rendered. */}}
{{- define "tollgate.checks" -}}
{{- if and (not .Values.fullnameOverride) (not (regexMatch "^([a-z0-9][-a-z0-9]{0,39})?$" .Values.nameOverride)) -}}
{{- fail (printf "nameOverride: %q cannot be part of the names of objects: use at most 40 small letters, digits and dashes, or give the whole name by fullnameOverride" .Values.nameOverride) -}}
{{- end -}}
{{- $embedded := eq .Values.quota.store "Embedded" -}}
{{- $replicas := .Values.proxy.replicas -}}
{{- if and $embedded .Values.proxy.autoscaling.enabled -}}
{{- fail "quota.store Embedded counts in one proxy: proxy.autoscaling.enabled must be false" -}}
{{- end -}}
{{- if and $embedded (not (kindIs "invalid" $replicas)) (gt (int $replicas) 1) -}}
{{- fail "quota.store Embedded counts in one proxy: leave proxy.replicas empty or 1, or use quota.store Memory" -}}
{{- end -}}
{{- $drainMs := add (include "tollgate.milliseconds" .Values.proxy.drain.endpointLag | int64) (include "tollgate.milliseconds" .Values.proxy.drain.timeout | int64) -}}
{{- if ge $drainMs (mul 1000 (int64 .Values.proxy.terminationGracePeriodSeconds)) -}}
{{- fail (printf "proxy.terminationGracePeriodSeconds (%d) must be more than drain.endpointLag and drain.timeout together (%s and %s), or open streams are killed before they may end" (int64 .Values.proxy.terminationGracePeriodSeconds) .Values.proxy.drain.endpointLag .Values.proxy.drain.timeout) -}}
{{- end -}}
{{- if and .Values.proxy.autoscaling.enabled (gt (int .Values.proxy.autoscaling.minReplicas) (int .Values.proxy.autoscaling.maxReplicas)) -}}
{{- fail "proxy.autoscaling.minReplicas is more than maxReplicas" -}}
{{- end -}}
{{- /* The operator accepts ranges that the API server refuses; this matters only in a NetworkPolicy. */ -}}
{{- range .Values.proxy.egress.allowCIDRs -}}
{{- $range := dict "value" "proxy.egress.allowCIDRs" "range" . "isInPolicy" $.Values.proxy.networkPolicy.enabled -}}
{{- include "tollgate.checkRange" $range -}}
{{- include "tollgate.checkCallable" $range -}}
{{- end -}}
{{- if .Values.operator.networkPolicy.enabled -}}
{{- range .Values.operator.networkPolicy.apiServerCIDRs -}}
{{- include "tollgate.checkRange" (dict "value" "operator.networkPolicy.apiServerCIDRs" "range" . "isInPolicy" true) -}}
{{- end -}}
{{- end -}}
{{- if and (eq .Values.tls.mode "CertManager") (not .Values.tls.certManager.issuerRef.name) -}}
{{- fail "tls.certManager.issuerRef.name is needed for tls.mode CertManager" -}}
{{- end -}}
{{- if and .Values.proxy.ingress.enabled (not .Values.proxy.ingress.hosts) -}}
{{- fail "proxy.ingress.hosts is needed for an Ingress: without a host it would take every request of its controller" -}}
{{- end -}}
{{- if and .Values.proxy.httpRoute.enabled (not .Values.proxy.httpRoute.parentRefs) -}}
{{- fail "proxy.httpRoute.parentRefs is needed for an HTTPRoute: name the Gateway" -}}
{{- end -}}
{{- end -}}
