{{/* Arithmetic over quantities and durations, which Kubernetes and people write as text. */}}

{{/* Bytes of a memory quantity such as 1Gi, 512M or 1000000. */}}
{{- define "tollgate.bytes" -}}
{{- /* Numbers of values are floating: as text a whole one would be 1.073741824e+09. */ -}}
{{- $text := kindIs "float64" . | ternary (printf "%.0f" .) (toString .) -}}
{{- $units := dict "Ki" 1024 "Mi" 1048576 "Gi" 1073741824 "Ti" 1099511627776 "k" 1000 "M" 1000000 "G" 1000000000 "T" 1000000000000 "" 1 -}}
{{- $number := regexFind "^[0-9]+([.][0-9]+)?" $text -}}
{{- $unit := trimPrefix $number $text -}}
{{- if or (eq $number "") (not (hasKey $units $unit)) -}}
{{- fail (printf "%q is no amount of memory: write 512Mi or 1Gi" $text) -}}
{{- end -}}
{{- mulf (float64 $number) (get $units $unit) | int64 -}}
{{- end -}}

{{/* Bytes of a container's limit of memory; nothing where there is none. Called with its resources, if any. */}}
{{- define "tollgate.memoryLimit" -}}
{{- $limits := (. | default dict).limits | default dict -}}
{{- with $limits.memory -}}
{{- $bytes := include "tollgate.bytes" . -}}
{{- /* Less holds no program; most often a unit was forgotten. */ -}}
{{- if lt (int64 $bytes) 134217728 -}}
{{- fail (printf "a limit of memory of %v is %s bytes: write at least 128Mi" . $bytes) -}}
{{- end -}}
{{- $bytes -}}
{{- end -}}
{{- end -}}

{{/* Half of a container's memory for the heap, in MiB; nothing where there is no limit. */}}
{{- define "tollgate.heapMiB" -}}
{{- with include "tollgate.memoryLimit" . -}}
{{- div (int64 .) 2097152 -}}
{{- end -}}
{{- end -}}

{{/* A quarter of a container's memory for request bodies in flight, in KiB. */}}
{{- define "tollgate.inFlightKiB" -}}
{{- with include "tollgate.memoryLimit" . -}}
{{- div (int64 .) 4096 -}}
{{- end -}}
{{- end -}}

{{/* Milliseconds of a duration such as 600s, 1m30s or 500ms. */}}
{{- define "tollgate.milliseconds" -}}
{{- $units := dict "h" 3600000 "m" 60000 "s" 1000 "ms" 1 -}}
{{- $sum := 0 -}}
{{- range regexFindAll "[0-9]+(ms|h|m|s)" (toString .) -1 -}}
{{- $number := regexFind "^[0-9]+" . -}}
{{- $sum = add $sum (mul (int64 $number) (get $units (trimPrefix $number .))) -}}
{{- end -}}
{{- $sum -}}
{{- end -}}
