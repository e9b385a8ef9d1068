{{/* The pod of a proxy: the same in the Deployment and, with a volume for its counters, in the StatefulSet. */}}
{{- define "tollgate.proxy.pod" -}}
{{- $name := printf "%s-proxy" (include "tollgate.fullname" .) -}}
{{- $scope := dict "root" . "component" "proxy" "values" .Values.proxy -}}
metadata:
  {{- include "tollgate.podMetadata" (merge (dict "settings" (include "tollgate.proxy.settings" .)) $scope) | nindent 2 }}
spec:
  serviceAccountName: {{ include "tollgate.proxy.serviceAccount" . | quote }}
  terminationGracePeriodSeconds: {{ int64 .Values.proxy.terminationGracePeriodSeconds }}
  {{- include "tollgate.podSecurity" (dict "root" .) | nindent 2 }}
  {{- include "tollgate.placement" $scope | nindent 2 }}
  containers:
    - name: proxy
      image: {{ include "tollgate.image" (dict "root" . "image" .Values.proxy.image) | quote }}
      imagePullPolicy: {{ .Values.proxy.image.pullPolicy }}
      args: [--config, /etc/tollgate/settings/settings.yaml]
      {{- include "tollgate.containerSecurity" . | nindent 6 }}
      env:
        - {name: TOLLGATE_PROXY_NAME, valueFrom: {fieldRef: {fieldPath: metadata.name}}}
        {{- with include "tollgate.heapMiB" .Values.proxy.resources }}
        - {name: NODE_OPTIONS, value: "--max-old-space-size={{ . }}"}
        {{- end }}
      ports:
        - {name: data, containerPort: 8080}
        - {name: admin, containerPort: 9090}
      # Ready means a first configuration and not draining. Losing the operator changes neither probe.
      startupProbe: {httpGet: {path: /healthz, port: admin}, periodSeconds: 1, timeoutSeconds: 2, failureThreshold: 60}
      livenessProbe: {httpGet: {path: /healthz, port: admin}, periodSeconds: 10, timeoutSeconds: 5, failureThreshold: 6}
      readinessProbe: {httpGet: {path: /readyz, port: admin}, periodSeconds: 2, timeoutSeconds: 2, failureThreshold: 2}
      {{- with .Values.proxy.resources }}
      resources:
        {{- toYaml . | nindent 8 }}
      {{- end }}
      volumeMounts:
        - {name: settings, mountPath: /etc/tollgate/settings, readOnly: true}
        - {name: operator, mountPath: /etc/tollgate/operator, readOnly: true}
        - {name: spool, mountPath: /tmp}
        - {name: data, mountPath: /var/lib/tollgate}
        {{- if .Values.proxy.lastGood.enabled }}
        - {name: last-good, mountPath: /etc/tollgate/last-good, readOnly: true}
        {{- end }}
        {{- if .Values.proxy.tls.existingSecret }}
        - {name: tls, mountPath: /etc/tollgate/tls, readOnly: true}
        {{- end }}
  volumes:
    - name: settings
      configMap: {name: {{ $name | quote }}}
    # For files of forms; twice what `limits.spoolBytes` allows by default.
    - name: spool
      emptyDir: {sizeLimit: 2Gi}
    # The authority that it trusts for the operator, and its own token.
    - name: operator
      projected:
        defaultMode: 0440
        sources:
          - serviceAccountToken: {path: token, audience: {{ include "tollgate.push.audience" . | quote }}, expirationSeconds: 3600}
          {{- if eq .Values.tls.mode "SelfManaged" }}
          - configMap: {name: {{ include "tollgate.push.bundle" . | quote }}, items: [{key: ca.crt, path: ca.crt}]}
          {{- else }}
          - secret: {name: {{ include "tollgate.push.tlsSecret" . | quote }}, items: [{key: ca.crt, path: ca.crt}]}
          {{- end }}
    {{- if ne .Values.quota.store "Embedded" }}
    - name: data
      emptyDir: {sizeLimit: 1Gi}
    {{- end }}
    {{- if .Values.proxy.lastGood.enabled }}
    - name: last-good
      secret: {secretName: {{ include "tollgate.lastGoodSecret" . | quote }}, defaultMode: 0440}
    {{- end }}
    {{- if .Values.proxy.tls.existingSecret }}
    - name: tls
      secret: {secretName: {{ .Values.proxy.tls.existingSecret | quote }}, defaultMode: 0440}
    {{- end }}
{{- end -}}
