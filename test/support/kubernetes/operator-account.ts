/**
 * A ServiceAccount with what an operator needs, and no more (docs/design/operations.md 2.1), and a kubeconfig for it.
 */
import type { ControlPlane, RoleRule } from "#test/support/kube-control-plane";

const read = ["list", "watch"];
const ownKinds = ["apikeys", "channels", "modelroutes", "accounts"];

/** In watched namespaces. @param generatesKeys with the permission to create Secrets */
export function watchRules(generatesKeys: boolean): RoleRule[] {
  return [
    { apiGroups: ["tollgate.dev"], resources: ownKinds, verbs: read },
    { apiGroups: ["tollgate.dev"], resources: ownKinds.map((kind) => `${kind}/status`), verbs: ["patch"] },
    { apiGroups: [""], resources: ["secrets", "configmaps"], verbs: read },
    { apiGroups: ["events.k8s.io"], resources: ["events"], verbs: ["create", "patch"] },
    ...(generatesKeys ? [{ apiGroups: [""], resources: ["secrets"], verbs: ["create"] }] : []),
  ];
}

/** In the operator's own namespace. */
const ownRules: readonly RoleRule[] = [
  { apiGroups: ["coordination.k8s.io"], resources: ["leases"], verbs: ["get", "create", "update"] },
  { apiGroups: [""], resources: ["pods"], verbs: read },
  { apiGroups: [""], resources: ["secrets", "configmaps"], verbs: ["get", "create", "update"] },
];

const clusterRules: readonly RoleRule[] = [
  { apiGroups: ["authentication.k8s.io"], resources: ["tokenreviews"], verbs: ["create"] },
];

export interface OperatorAccountOptions {
  /** Undefined: the whole cluster. */
  readonly watchNamespaces?: readonly string[];
  readonly generatesKeys?: boolean;
  /** Port of something in front of the API server. */
  readonly port?: number;
}

/** @returns a kubeconfig whose user is the ServiceAccount `<namespace>/<name>` */
export async function operatorAccount(
  plane: ControlPlane,
  namespace: string,
  name: string,
  options: OperatorAccountOptions = {},
): Promise<string> {
  const { watchNamespaces, generatesKeys = false, port } = options;
  const watching = watchRules(generatesKeys);
  const namespaced: Record<string, RoleRule[]> = { [namespace]: [...ownRules] };
  for (const watched of watchNamespaces ?? []) namespaced[watched] = [...(namespaced[watched] ?? []), ...watching];
  const cluster = watchNamespaces === undefined ? [...clusterRules, ...watching] : [...clusterRules];
  await plane.createAccount(namespace, name, { namespaced, cluster });
  const token = await plane.tokenOf(namespace, name);
  return plane.kubeconfig({ token, namespace, ...(port !== undefined && { port }) });
}
