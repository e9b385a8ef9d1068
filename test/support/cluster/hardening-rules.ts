/**
 * What Polaris calls a danger by default, as of the commit that the suite names, rule by rule under its names and in our
 * own words: Polaris itself is a Go module that not every module proxy has. To these comes `linuxHardening`, by default
 * a warning, in its documentation a danger.
 *
 * Where a verdict differs, ours is the stricter: nothing is exempt, be it by name or by annotation, a registry's port is
 * no tag, and binding a role that is not rendered is refused even if every cluster has it. Pure.
 */
import type { ChartObject } from "./render-chart.ts";

/** What is rendered together; the first object is the one in question. */
export type Rendering = readonly [ChartObject, ...ChartObject[]];

export interface HardeningRule {
  readonly id: string;
  /** Whether the object breaks it, all being what it is rendered with. */
  readonly isBrokenBy: (object: ChartObject, all: readonly ChartObject[]) => boolean;
  readonly broken: readonly Rendering[];
  /** Those that come close. */
  readonly kept: readonly Rendering[];
}

interface Container {
  readonly image?: string;
  readonly env?: readonly { readonly name: string; readonly value?: string; readonly valueFrom?: object }[];
  readonly securityContext?: SecurityContext;
}

interface SecurityContext {
  readonly privileged?: boolean;
  readonly allowPrivilegeEscalation?: boolean;
  readonly runAsNonRoot?: boolean;
  readonly runAsUser?: number;
  readonly seccompProfile?: { readonly type: string };
  readonly capabilities?: { readonly add?: readonly string[]; readonly drop?: readonly string[] };
}

interface PodSpec {
  readonly containers: readonly Container[];
  readonly initContainers?: readonly Container[];
  readonly securityContext?: SecurityContext;
  readonly hostIPC?: boolean;
  readonly hostPID?: boolean;
  readonly hostNetwork?: boolean;
}

/** A container, and what its pod says for all of them. */
type ContainerCase = readonly [Container, SecurityContext?];

interface RoleRule {
  readonly apiGroups?: readonly string[];
  readonly resources?: readonly string[];
  readonly verbs?: readonly string[];
}

/** A right that no role should give. */
interface Power {
  readonly isGivenBy: (rule: RoleRule) => boolean;
  /** Roles that have it in every cluster. */
  readonly knownRoles: readonly string[];
  readonly giving: readonly RoleRule[];
  readonly notGiving: readonly RoleRule[];
}

type RoleKind = "Role" | "ClusterRole";
type BindingKind = `${RoleKind}Binding`;

const rbac = "rbac.authorization.k8s.io";
const sensitiveName =
  /password|token|bearer|secret|^AZURE_.+KEY$|^GOOGLE_APPLICATION_CREDENTIALS$|^OCI_CLI_KEY_CONTENT$/i;
const privateKey = /-BEGIN\s[\s\S]*?PRIVATE KEY-/i;
const sensitiveNames = [
  "API_TOKEN",
  "bearer",
  "DbPassword",
  "aws_secret_access_key",
  "AZURE_MAPS_KEY",
  "GOOGLE_APPLICATION_CREDENTIALS",
  "OCI_CLI_KEY_CONTENT",
];
const aKey = "-----BEGIN EC PRIVATE KEY-----";
const allVerbs = ["get", "list", "watch", "create", "update", "patch", "delete"];

/** To run programs in pods, by whichever method a client opens the stream. */
const exec: Power = {
  isGivenBy: ({ apiGroups = [], resources = [], verbs = [] }) =>
    ["", "*"].some((group) => apiGroups.includes(group)) &&
    ["pods/exec", "pods/attach", "*"].some((resource) => resources.includes(resource)) &&
    ["get", "create", "*"].some((verb) => verbs.includes(verb)),
  knownRoles: [],
  giving: [
    ruleOf([""], ["pods/exec"], ["create"]),
    ruleOf([""], ["pods", "pods/attach"], ["list", "get"]),
    ruleOf(["*"], ["*"], ["*"]),
  ],
  notGiving: [
    ruleOf([""], ["pods"], ["get", "create"]),
    ruleOf([""], ["pods/exec"], ["list"]),
    ruleOf(["tollgate.dev"], ["*"], ["*"]),
  ],
};

/** Every verb on every resource. */
const everything: Power = {
  isGivenBy: ({ apiGroups = [], resources = [], verbs = [] }) =>
    apiGroups.includes("*") &&
    resources.includes("*") &&
    (verbs.includes("*") || allVerbs.every((verb) => verbs.includes(verb))),
  knownRoles: ["cluster-admin"],
  giving: [ruleOf(["*"], ["*"], ["*"]), ruleOf(["*"], ["*"], allVerbs)],
  notGiving: [
    ruleOf(["*"], ["*"], allVerbs.slice(1)),
    ruleOf(["*"], ["pods"], ["*"]),
    ruleOf(["tollgate.dev"], ["*"], ["*"]),
  ],
};

export const hardeningRules: readonly HardeningRule[] = [
  // Whoever shares the node's IPC reads the memory that others share there.
  podRule("hostIPCSet", ({ hostIPC }) => hostIPC === true, { hostIPC: true }, { hostIPC: false }),
  // Whoever sees the node's processes can read their environment and signal them.
  podRule("hostPIDSet", ({ hostPID }) => hostPID === true, { hostPID: true }, { hostPID: false }),
  // No NetworkPolicy holds on the node's network, and what listens on its loopback is reachable.
  podRule("hostNetworkSet", ({ hostNetwork }) => hostNetwork === true, { hostNetwork: true }, { hostNetwork: false }),
  // Root in a container is root on the node once it gets out; what the pod says, a container can undo.
  containerRule(
    "runAsRootAllowed",
    ({ securityContext: own = {} }, pods) => !refusesRoot(own) && (!refusesRoot(pods) || undoesIt(own)),
    [
      [{}],
      [{ securityContext: { runAsUser: 0 } }, { runAsNonRoot: true }],
      [{ securityContext: { runAsNonRoot: false } }, { runAsUser: 1 }],
      [{ securityContext: {} }, { runAsUser: 0 }],
    ],
    [
      [{}, { runAsNonRoot: true }],
      [{}, { runAsUser: 1 }],
      [{ securityContext: { runAsUser: 1 } }],
      [{ securityContext: { runAsNonRoot: true } }, { runAsUser: 0 }],
    ],
  ),
  // A privileged container has the node's devices and every capability.
  containerRule(
    "runAsPrivileged",
    ({ securityContext }) => securityContext?.privileged === true,
    [[{ securityContext: { privileged: true } }]],
    [[{}], [{ securityContext: { privileged: false } }]],
  ),
  // Kubernetes lets set-user-id programs gain rights unless told otherwise, and only a container can tell.
  containerRule(
    "privilegeEscalationAllowed",
    ({ securityContext }) => securityContext?.allowPrivilegeEscalation !== false,
    [[{}], [{ securityContext: { allowPrivilegeEscalation: true } }], [{}, { allowPrivilegeEscalation: false }]],
    [[{ securityContext: { allowPrivilegeEscalation: false } }]],
  ),
  // Each of them is next to being root on the node; the runtime takes names in any case.
  containerRule(
    "dangerousCapabilities",
    ({ securityContext }) =>
      securityContext?.capabilities?.add?.some((name) => /^(ALL|SYS_ADMIN|NET_ADMIN)$/i.test(name)) === true,
    ["ALL", "SYS_ADMIN", "net_admin"].map((name) => [{ securityContext: { capabilities: { add: ["CHOWN", name] } } }]),
    [[{}], [{ securityContext: { capabilities: { add: ["CHOWN"], drop: ["ALL"] } } }]],
  ),
  // A container that keeps all that its runtime gives, with no filter of system calls, meets the whole kernel.
  containerRule(
    "linuxHardening",
    ({ securityContext: { seccompProfile, capabilities: { add = [], drop = [] } = {} } = {} }, pods) => {
      const seccomp = (seccompProfile ?? pods.seccompProfile)?.type ?? "Unconfined";
      return seccomp === "Unconfined" && (drop.length === 0 || add.some((name) => /^ALL$/i.test(name)));
    },
    [
      [{}],
      [{ securityContext: { seccompProfile: { type: "Unconfined" } } }, { seccompProfile: { type: "RuntimeDefault" } }],
      [{ securityContext: { capabilities: { drop: [] } } }],
      [{ securityContext: { capabilities: { drop: ["ALL"], add: ["all"] } } }],
    ],
    [
      [{}, { seccompProfile: { type: "RuntimeDefault" } }],
      [{ securityContext: { seccompProfile: { type: "Localhost" } } }, { seccompProfile: { type: "Unconfined" } }],
      [{ securityContext: { capabilities: { drop: ["ALL"] } } }],
    ],
  ),
  // What `latest` is changes between two starts of one pod.
  containerRule(
    "tagNotSpecified",
    ({ image = "" }) => !/.:(?!latest$)[\w.-]+$/.test(image),
    [{}, { image: "app" }, { image: "app:latest" }, { image: "localhost:5000/app" }, { image: ":1" }].map((it) => [it]),
    [{ image: "localhost:5000/app:latest-1" }, { image: `app@sha256:${"0a".repeat(32)}` }].map((it) => [it]),
  ),
  // Whoever may read a pod reads what stands in it; a reference to a Secret shows nothing.
  containerRule(
    "sensitiveContainerEnvVar",
    ({ env = [] }) =>
      env.some(({ name, value = "" }) => value !== "" && (sensitiveName.test(name) || privateKey.test(value))),
    [
      ...sensitiveNames.map((name): ContainerCase => [{ env: [{ name, value: "x" }] }]),
      [
        {
          env: [
            { name: "API_KEY", value: "x" },
            { name: "PEM", value: aKey },
          ],
        },
      ],
    ],
    [
      [{ env: [{ name: "API_TOKEN", valueFrom: { secretKeyRef: { name: "a", key: "b" } } }] }],
      [{ env: [{ name: "API_TOKEN", value: "" }] }],
      [{ env: [{ name: "API_KEY", value: "x" }] }],
    ],
  ),
  // A ConfigMap is read by many who may read no Secret.
  {
    id: "sensitiveConfigmapContent",
    isBrokenBy: ({ kind, data }) =>
      kind === "ConfigMap" &&
      Object.entries(data ?? {}).some(([name, value]) => sensitiveName.test(name) || privateKey.test(String(value))),
    broken: [...sensitiveNames.map((name) => ({ [name]: "" })), { "a.pem": aKey }].map((data) => [
      objectOf("ConfigMap", { data }),
    ]),
    kept: [
      [objectOf("ConfigMap", {})],
      [objectOf("ConfigMap", { data: { "a.pem": "-----BEGIN CERTIFICATE-----" } })],
      [objectOf("Secret", { data: { token: "x" } })],
    ],
  },
  // Whoever gets into a pod has all that it has: its credentials, its volumes, its place in the network.
  roleRule("clusterrolePodExecAttach", "ClusterRole", exec),
  roleRule("rolePodExecAttach", "Role", exec),
  bindingRule("clusterrolebindingPodExecAttach", "ClusterRoleBinding", "ClusterRole", exec),
  bindingRule("rolebindingClusterRolePodExecAttach", "RoleBinding", "ClusterRole", exec),
  bindingRule("rolebindingRolePodExecAttach", "RoleBinding", "Role", exec),
  // Whoever may do everything makes of any flaw of the program the loss of the namespace or the cluster.
  bindingRule("clusterrolebindingClusterAdmin", "ClusterRoleBinding", "ClusterRole", everything),
  bindingRule("rolebindingClusterAdminClusterRole", "RoleBinding", "ClusterRole", everything),
  bindingRule("rolebindingClusterAdminRole", "RoleBinding", "Role", everything),
];

function refusesRoot({ runAsUser = 0, runAsNonRoot }: SecurityContext): boolean {
  return runAsUser > 0 || runAsNonRoot === true;
}

function undoesIt({ runAsUser = 1, runAsNonRoot = true }: SecurityContext): boolean {
  return runAsUser === 0 || !runAsNonRoot;
}

function ruleOf(apiGroups: readonly string[], resources: readonly string[], verbs: readonly string[]): RoleRule {
  return { apiGroups, resources, verbs };
}

function objectOf(kind: string, members: object, metadata: object = {}): ChartObject {
  return { apiVersion: "v1", kind, metadata: { name: "example", ...metadata }, ...members };
}

function podRule(
  id: string,
  isBroken: (spec: PodSpec) => boolean,
  broken: Partial<PodSpec>,
  kept: Partial<PodSpec>,
): HardeningRule {
  return specRule(id, isBroken, [{ containers: [], ...broken }], [{ containers: [], ...kept }]);
}

/** For every container, one that runs before the others too. */
function containerRule(
  id: string,
  isBroken: (container: Container, pods: SecurityContext) => boolean,
  broken: readonly ContainerCase[],
  kept: readonly ContainerCase[],
): HardeningRule {
  const specsOf = ([container, securityContext = {}]: ContainerCase): readonly PodSpec[] => [
    { securityContext, containers: [container] },
    { securityContext, containers: [], initContainers: [container] },
  ];
  return specRule(
    id,
    ({ securityContext = {}, initContainers = [], containers }) =>
      [...initContainers, ...containers].some((container) => isBroken(container, securityContext)),
    broken.flatMap(specsOf),
    kept.flatMap(specsOf),
  );
}

function specRule(
  id: string,
  isBroken: (spec: PodSpec) => boolean,
  broken: readonly PodSpec[],
  kept: readonly PodSpec[],
): HardeningRule {
  const renderingsOf = (spec: PodSpec): readonly Rendering[] => [
    [objectOf("Pod", { spec })],
    [objectOf("StatefulSet", { spec: { template: { spec } } })],
    [objectOf("CronJob", { spec: { jobTemplate: { spec: { template: { spec } } } } })],
  ];
  return {
    id,
    isBrokenBy: (object) => {
      const spec = podSpecIn(object);
      return spec !== undefined && isBroken(spec);
    },
    broken: broken.flatMap(renderingsOf),
    kept: kept.flatMap(renderingsOf),
  };
}

/** Whatever the kind is: of a pod, of what makes pods, and of what makes those. */
function podSpecIn(object: object): PodSpec | undefined {
  if ("containers" in object) return object as PodSpec;
  for (const [name, inner] of Object.entries(object))
    if (/^(jobTemplate|spec|template)$/.test(name) && typeof inner === "object" && inner !== null)
      return podSpecIn(inner);
  return undefined;
}

function roleRule(id: string, kind: RoleKind, power: Power): HardeningRule {
  return {
    id,
    isBrokenBy: (object) => object.kind === kind && gives(object, power),
    broken: [[objectOf(kind, {})], ...power.giving.map((rule): Rendering => [objectOf(kind, { rules: [rule] })])],
    kept: [[], ...power.notGiving.map((rule) => [rule])].map((rules) => [objectOf(kind, { rules })]),
  };
}

/** A role without rules of its own is given some by others. */
function gives({ metadata, rules }: ChartObject, { isGivenBy, knownRoles }: Power): boolean {
  return knownRoles.includes(metadata.name) || !Array.isArray(rules) || rules.some(isGivenBy);
}

function homeOf(kind: BindingKind | RoleKind): object {
  return kind.startsWith("Cluster") ? {} : { namespace: "home" };
}

/** No binding binds a role that has the power, or one that is not there to be looked at. */
function bindingRule(id: string, kind: BindingKind, roleKind: RoleKind, power: Power): HardeningRule {
  const otherKind = roleKind === "Role" ? "ClusterRole" : "Role";
  const binding = (to: object = {}) =>
    objectOf(kind, { roleRef: { apiGroup: rbac, kind: roleKind, name: "example", ...to } }, homeOf(kind));
  const harmless = ruleOf([""], ["pods"], ["list"]);
  const role = (rule = harmless, metadata = homeOf(roleKind)) => objectOf(roleKind, { rules: [rule] }, metadata);
  const toOther = binding({ kind: otherKind });
  return {
    id,
    isBrokenBy: (object, all) => object.kind === kind && bindsBadly(object, roleKind, power, all),
    broken: [
      [binding()],
      [objectOf(kind, {}), role()],
      [binding({ name: "another" }), role()],
      [binding({ apiGroup: "" }), role()],
      [binding(), role(harmless, { namespace: "another" })],
      ...(kind === "RoleBinding" && roleKind === "ClusterRole" ? [] : [[toOther] as const]),
      ...power.knownRoles.map((name): Rendering => [binding({ name }), role(harmless, { name })]),
      ...power.giving.map((rule): Rendering => [binding(), role(rule)]),
    ],
    kept: [
      ...(kind === "RoleBinding" ? [[toOther, role(power.giving[0])] as const] : []),
      ...(kind === "RoleBinding" && roleKind === "ClusterRole" ? [[toOther] as const] : []),
      ...[harmless, ...power.notGiving].map((rule): Rendering => [binding(), role(rule)]),
    ],
  };
}

function bindsBadly(
  { kind, metadata, roleRef }: ChartObject,
  roleKind: RoleKind,
  power: Power,
  all: readonly ChartObject[],
): boolean {
  const bound: { readonly apiGroup?: string; readonly kind?: string; readonly name?: string } = roleRef ?? {};
  const roles = all.filter(
    (role) => role.kind === roleKind && [undefined, metadata.namespace].includes(role.metadata.namespace),
  );
  // Another rule's concern; yet Polaris wants to see some Role beside every RoleBinding.
  if (kind === "RoleBinding" && bound.kind !== undefined && bound.kind !== roleKind)
    return roleKind === "Role" && roles.length === 0;
  const role = roles.find(({ metadata: { name } }) => name === bound.name);
  return bound.apiGroup !== rbac || bound.kind !== roleKind || role === undefined || gives(role, power);
}
