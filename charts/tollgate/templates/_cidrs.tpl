{{/* Checks address ranges. The API server accepts a range only when its address is the first of the range. */}}

{{/*
Refuses what is no range, and in a NetworkPolicy one that the API server would not take, and says what to write. Called with
a dict of range, the name of its value and whether a NetworkPolicy holds it. IPv4 written within IPv6 is left to them.
*/}}
{{- define "tollgate.checkRange" -}}
{{- $prefix := splitList "/" .range | last | atoi -}}
{{- $address := splitList "/" .range | first -}}
{{- $isFour := not (contains ":" $address) -}}
{{- $width := ternary 8 16 $isFour -}}
{{- $parts := include "tollgate.addressParts" $address | fromJsonArray -}}
{{- if $isFour | or (not (contains "." $address)) -}}
{{- $largest := 0 -}}
{{- range $parts }}{{ $largest = max $largest . }}{{ end -}}
{{- if or (ne (len $parts) (ternary 4 8 $isFour)) (gt $prefix (ternary 32 128 $isFour)) (gt $largest (ternary 255 65535 $isFour)) -}}
{{- fail (printf "%s: %q is no range of addresses: write one such as 10.0.0.0/8 or fd00::/8" .value .range) -}}
{{- end -}}
{{- $masked := list -}}
{{- $hasMore := false -}}
{{- range $index, $part := $parts -}}
{{- $size := 1 -}}
{{- /* As many of the part's bits as are behind the prefix. */ -}}
{{- range until (sub (mul (add1 $index) $width) $prefix | min $width | max 0 | int) }}{{ $size = mul $size 2 }}{{ end -}}
{{- $rest := mod $part $size -}}
{{- if $rest }}{{ $hasMore = true }}{{ end -}}
{{- $masked = append $masked (printf (ternary "%d" "%x" $isFour) (sub $part $rest)) -}}
{{- end -}}
{{- if and $hasMore .isInPolicy -}}
{{- $first := regexReplaceAll "(:0)+$" (join (ternary "." ":" $isFour) $masked) "::" -}}
{{- fail (printf "%s: %q does not begin its range: write %s/%d for the whole of it, or %s/%d for this address alone" .value .range $first $prefix $address (ternary 32 128 $isFour)) -}}
{{- end -}}
{{- end -}}
{{- end -}}

{{/*
Refuses a range of addresses that no proxy ever calls: link-local ones, those of metadata services, multicast and what is
unspecified (proxy/snapshot/egress-policy.ts). Called as the one above.
*/}}
{{- define "tollgate.checkCallable" -}}
{{- $never := list
  "^0\\.[0-9.]+/([89]|[1-3][0-9])$"
  "^169\\.254\\.[0-9.]+/(1[6-9]|[23][0-9])$"
  "^(22[4-9]|23[0-9])\\.[0-9.]+/([4-9]|[1-3][0-9])$"
  "^(168\\.63\\.129\\.16|255\\.255\\.255\\.255)/32$"
  "^(::|fd00:ec2::254)/128$"
  "^fe[89ab][0-9a-f]:[0-9a-f:]*/([1-9][0-9]|1[0-9][0-9])$"
  "^ff[0-9a-f][0-9a-f]:[0-9a-f:]*/([89]|[1-9][0-9]|1[0-9][0-9])$" -}}
{{- $range := .range -}}
{{- $value := .value -}}
{{- range $never -}}
{{- if regexMatch . (lower $range) -}}
{{- fail (printf "%s: %q allows nothing: link-local, metadata and multicast addresses are never called; remove it" $value $range) -}}
{{- end -}}
{{- end -}}
{{- end -}}

{{/* The parts of an address between its dots or colons, as a JSON list of numbers. */}}
{{- define "tollgate.addressParts" -}}
{{- $numbers := list -}}
{{- if not (contains ":" .) -}}
{{- range splitList "." . }}{{ $numbers = append $numbers (atoi .) }}{{ end -}}
{{- else -}}
{{- $halves := splitList "::" . -}}
{{- $parts := splitList ":" (first $halves) | compact -}}
{{- if eq (len $halves) 2 -}}
{{- $tail := splitList ":" (last $halves) | compact -}}
{{- range until (sub 8 (add (len $parts) (len $tail)) | max 0 | int) }}{{ $parts = append $parts "0" }}{{ end -}}
{{- $parts = concat $parts $tail -}}
{{- end -}}
{{- /* YAML can read hexadecimal numbers. */ -}}
{{- range $parts }}{{ $numbers = append $numbers (get (printf "part: 0x%s" . | fromYaml) "part") }}{{ end -}}
{{- end -}}
{{- $numbers | toJson -}}
{{- end -}}
