{{/* Names, labels and images. */}}

{{/* A label's value. Part of the names of objects only where no whole name is given: see the checks. */}}
{{- define "tollgate.name" -}}
{{- default .Chart.Name .Values.nameOverride -}}
{{- end -}}

{{/* Begins the names of Services, too: a DNS label that begins with a letter, whatever the release is called. */}}
{{- define "tollgate.fullname" -}}
{{- $name := include "tollgate.name" . -}}
{{- $full := .Release.Name -}}
{{- if .Values.fullnameOverride -}}
{{- $full = .Values.fullnameOverride -}}
{{- else if regexMatch "^[0-9]" .Release.Name -}}
{{- $full = printf "%s-%s" .Chart.Name .Release.Name -}}
{{- else if not (contains $name .Release.Name) -}}
{{- $full = printf "%s-%s" .Release.Name $name -}}
{{- end -}}
{{- regexReplaceAll "-+$" ($full | replace "." "-" | trunc 40) "" -}}
{{- end -}}

{{/*
What a release has in the whole cluster, or in namespaces of others. No namespace holds a dot: no two releases make one
name, whatever they and their namespaces are called.
*/}}
{{- define "tollgate.clusterName" -}}
{{- printf "%s.%s" .Release.Namespace (include "tollgate.fullname" .) -}}
{{- end -}}

{{/* What selects pods: never changes for a release. Called with a dict of root and component. */}}
{{- define "tollgate.selectorLabels" -}}
app.kubernetes.io/name: {{ include "tollgate.name" .root | quote }}
app.kubernetes.io/instance: {{ .root.Release.Name | quote }}
app.kubernetes.io/component: {{ .component }}
{{- end -}}

{{/*
Labels of an object, each once: those that select pods stand, of the others what is given wins. Called with a dict of
root, component and, if any, labels of its own.
*/}}
{{- define "tollgate.labels" -}}
{{- $given := merge (dict) (.labels | default dict) .root.Values.commonLabels -}}
{{- $own := list
  (list "app.kubernetes.io/version" .root.Chart.AppVersion)
  (list "app.kubernetes.io/part-of" "tollgate")
  (list "app.kubernetes.io/managed-by" .root.Release.Service)
  (list "helm.sh/chart" (printf "%s-%s" .root.Chart.Name .root.Chart.Version | replace "+" "_"))
-}}
{{ include "tollgate.selectorLabels" . }}
{{- range $own }}
{{- if not (hasKey $given (first .)) }}
{{ first . }}: {{ last . | quote }}
{{- end }}
{{- end }}
{{- include "tollgate.furtherLabels" $given }}
{{- end -}}

{{/* Labels that were given, each on a line of its own, without those that select pods. */}}
{{- define "tollgate.furtherLabels" -}}
{{- with omit . "app.kubernetes.io/name" "app.kubernetes.io/instance" "app.kubernetes.io/component" }}
{{ toYaml . }}
{{- end -}}
{{- end -}}

{{/*
Metadata of an object: a dict of root, component, name and, if any, labels and annotations of its own, another namespace,
or isClusterWide.
*/}}
{{- define "tollgate.metadata" -}}
name: {{ .name | quote }}
{{- if not .isClusterWide }}
namespace: {{ .namespace | default .root.Release.Namespace | quote }}
{{- end }}
labels:
  {{- include "tollgate.labels" . | nindent 2 }}
{{- with merge (dict) (.annotations | default dict) .root.Values.commonAnnotations }}
annotations:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- end -}}

{{- define "tollgate.image" -}}
{{- $tag := .image.tag | default .root.Chart.AppVersion -}}
{{- if and (eq $tag "latest") (not .image.digest) -}}
{{- fail "an image may not be named by the tag latest: what runs must be known; give a version or a digest" -}}
{{- end -}}
{{- $repository := .image.repository -}}
{{- with .root.Values.global.imageRegistry }}{{ $repository = printf "%s/%s" (trimSuffix "/" .) $repository }}{{ end -}}
{{- if .image.digest -}}
{{- printf "%s@%s" $repository .image.digest -}}
{{- else -}}
{{- printf "%s:%s" $repository $tag -}}
{{- end -}}
{{- end -}}

{{- define "tollgate.operator.serviceAccount" -}}
{{- if .Values.operator.serviceAccount.create -}}
{{- .Values.operator.serviceAccount.name | default (printf "%s-operator" (include "tollgate.fullname" .)) -}}
{{- else -}}
{{- required "operator.serviceAccount.name is needed where operator.serviceAccount.create is false" .Values.operator.serviceAccount.name -}}
{{- end -}}
{{- end -}}

{{- define "tollgate.proxy.serviceAccount" -}}
{{- if .Values.proxy.serviceAccount.create -}}
{{- .Values.proxy.serviceAccount.name | default (printf "%s-proxy" (include "tollgate.fullname" .)) -}}
{{- else -}}
{{- required "proxy.serviceAccount.name is needed where proxy.serviceAccount.create is false" .Values.proxy.serviceAccount.name -}}
{{- end -}}
{{- end -}}

{{- define "tollgate.operator.settingsMap" -}}
{{- printf "%s-operator" (include "tollgate.fullname" .) -}}
{{- end -}}

{{/* Empty ConfigMap that owns the objects that the operators make for themselves, whatever their account and settings are. */}}
{{- define "tollgate.operator.owner" -}}
{{- printf "%s-owner" (include "tollgate.fullname" .) -}}
{{- end -}}

{{/* The headless Service that proxies resolve; also the name in the certificate. */}}
{{- define "tollgate.push.host" -}}
{{- printf "%s-push.%s.svc" (include "tollgate.fullname" .) .Release.Namespace -}}
{{- end -}}

{{- define "tollgate.push.tlsSecret" -}}
{{- if eq .Values.tls.mode "ExistingSecret" -}}
{{- required "tls.existingSecret is needed for tls.mode ExistingSecret" .Values.tls.existingSecret -}}
{{- else -}}
{{- printf "%s-push-tls" (include "tollgate.fullname" .) -}}
{{- end -}}
{{- end -}}

{{- define "tollgate.push.caSecret" -}}
{{- printf "%s-push-ca" (include "tollgate.fullname" .) -}}
{{- end -}}

{{- define "tollgate.push.bundle" -}}
{{- printf "%s-push-ca" (include "tollgate.fullname" .) -}}
{{- end -}}

{{- define "tollgate.lastGoodSecret" -}}
{{- printf "%s-last-good" (include "tollgate.fullname" .) -}}
{{- end -}}

{{- define "tollgate.lease" -}}
{{- printf "%s-operator" (include "tollgate.fullname" .) -}}
{{- end -}}

{{/* Of the tokens by which proxies and operators prove themselves: no other release's are worth anything here. */}}
{{- define "tollgate.push.audience" -}}
{{- printf "%s.%s" (include "tollgate.fullname" .) .Release.Namespace -}}
{{- end -}}
