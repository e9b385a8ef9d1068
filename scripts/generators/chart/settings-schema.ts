/**
 * The part of the settings' schema that `operator.settings` and `proxy.settings` of the chart may hold: what that command
 * reads, less what the chart sets from values of its own.
 */

interface SchemaNode {
  readonly type?: string;
  readonly format?: string;
  readonly properties?: Readonly<Record<string, SchemaNode>>;
  readonly items?: SchemaNode;
  readonly "x-commands"?: readonly string[];
  readonly "x-flag-only"?: boolean;
  readonly [keyword: string]: unknown;
}

/** Settings that the chart itself writes, or that have no meaning in a pod. A name covers all below it. */
const chartOwned: { readonly [command: string]: ReadonlySet<string> } = {
  operator: new Set([
    "manifests",
    "kubernetes",
    "lease.name",
    "data",
    "operatorAdmin",
    "egress",
    "quota",
    "logs",
    "push.socket",
    "push.listen",
    "push.serverName",
    "push.audience",
    "push.token",
    "push.proxyAccount",
    "push.operatorAccount",
    "push.proxyLabels",
    "push.configMap",
    "push.lastGoodSecret",
    "push.tls.mode",
    "push.tls.ca",
    "push.tls.cert",
    "push.tls.key",
    "push.tls.dnsNames",
    "push.tls.secret",
  ]),
  proxy: new Set([
    "listen",
    "admin",
    "data",
    "spool",
    "operator",
    "proxyName",
    "sharePort",
    "trustedProxies",
    "tls",
    "egress",
    "quota.store",
    "quota.redis",
    "quota.failureMode",
    "lastGood",
    "limits.inFlightBytes",
    "drain",
    "logs",
    "push.tls",
    "push.token",
    "push.serverName",
  ]),
};

const formats: { readonly [format: string]: string } = {
  duration: "#/definitions/duration",
  size: "#/definitions/size",
  cidr: "#/definitions/cidr",
};

/** @returns a schema of values.schema.json */
export function chartSettingsSchema(root: SchemaNode, command: "operator" | "proxy"): object {
  return prune(root, command, "") ?? { type: "object", additionalProperties: false };
}

function prune(node: SchemaNode, command: string, name: string): object | undefined {
  if (chartOwned[command]?.has(name) === true) return undefined;
  if (node.properties === undefined) {
    const isRead = node["x-commands"]?.includes(command) === true && node["x-flag-only"] !== true;
    return isRead ? toValue(node) : undefined;
  }
  const properties = Object.entries(node.properties).flatMap(([member, child]) => {
    const kept = prune(child, command, name === "" ? member : `${name}.${member}`);
    return kept === undefined ? [] : [[member, kept] as const];
  });
  if (properties.length === 0) return undefined;
  return { type: "object", additionalProperties: false, properties: Object.fromEntries(properties) };
}

function toValue(node: SchemaNode): object {
  const reference = formats[node.format ?? ""];
  if (reference !== undefined) return { $ref: reference };
  const kept = ["type", "enum", "pattern", "minimum", "maximum", "description"] as const;
  const value = Object.fromEntries(kept.flatMap((keyword) => (keyword in node ? [[keyword, node[keyword]]] : [])));
  return node.items === undefined ? value : { ...value, items: toValue(node.items) };
}
