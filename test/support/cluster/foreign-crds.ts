/** Stand-ins for the CRDs of other projects whose kinds the chart makes: names and versions, and any content. */

const kinds = [
  { group: "monitoring.coreos.com", version: "v1", kind: "PodMonitor", plural: "podmonitors" },
  { group: "monitoring.coreos.com", version: "v1", kind: "ServiceMonitor", plural: "servicemonitors" },
  { group: "monitoring.coreos.com", version: "v1", kind: "PrometheusRule", plural: "prometheusrules" },
  { group: "cert-manager.io", version: "v1", kind: "Certificate", plural: "certificates" },
  { group: "gateway.networking.k8s.io", version: "v1", kind: "HTTPRoute", plural: "httproutes" },
] as const;

export const foreignCrds = kinds.map(({ group, version, kind, plural }) => ({
  apiVersion: "apiextensions.k8s.io/v1",
  kind: "CustomResourceDefinition",
  metadata: {
    name: `${plural}.${group}`,
    // Groups of the Kubernetes project itself must say so.
    annotations: { "api-approved.kubernetes.io": "unapproved, a stand-in for tests" },
  },
  spec: {
    group,
    scope: "Namespaced",
    names: { kind, listKind: `${kind}List`, plural, singular: kind.toLowerCase() },
    versions: [
      {
        name: version,
        served: true,
        storage: true,
        schema: { openAPIV3Schema: { type: "object", "x-kubernetes-preserve-unknown-fields": true } },
      },
    ],
  },
}));
