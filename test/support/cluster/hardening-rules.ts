/**
 * What Polaris calls a danger in its published configuration, rule by rule under its names, in our own words: Polaris
 * itself is a Go module that not every module proxy has. No rule has an exemption. Pure.
 */
import type { ChartObject } from "./render-chart.ts";

export interface HardeningRule {
  readonly id: string;
  /** Whether the object breaks it. */
  readonly isBrokenBy: (object: ChartObject) => boolean;
  /** An object that breaks it. */
  readonly example: ChartObject;
}

interface Container {
  readonly image?: string;
  readonly env?: readonly { readonly name: string; readonly value?: string }[];
  readonly securityContext?: SecurityContext;
}

interface SecurityContext {
  readonly privileged?: boolean;
  readonly allowPrivilegeEscalation?: boolean;
  readonly runAsNonRoot?: boolean;
  readonly runAsUser?: number;
  readonly capabilities?: { readonly add?: readonly string[] };
}

interface PodSpec {
  readonly containers?: readonly Container[];
  readonly initContainers?: readonly Container[];
  readonly securityContext?: SecurityContext;
  readonly hostIPC?: boolean;
  readonly hostPID?: boolean;
  readonly hostNetwork?: boolean;
}

interface RoleRule {
  readonly apiGroups?: readonly string[];
  readonly resources?: readonly string[];
  readonly verbs?: readonly string[];
}

const sensitiveName =
  /password|token|bearer|secret|^AZURE_.+KEY$|^GOOGLE_APPLICATION_CREDENTIALS$|^OCI_CLI_KEY_CONTENT$/i;
const privateKey = /-BEGIN\s.*PRIVATE KEY-/i;
const dangerousCapabilities = ["ALL", "SYS_ADMIN", "NET_ADMIN"];

export const hardeningRules: readonly HardeningRule[] = [
  podRule("hostIPCSet", { hostIPC: true }, ({ hostIPC }) => hostIPC === true),
  podRule("hostPIDSet", { hostPID: true }, ({ hostPID }) => hostPID === true),
  podRule("hostNetworkSet", { hostNetwork: true }, ({ hostNetwork }) => hostNetwork === true),
  containerRule(
    "runAsRootAllowed",
    {},
    ({ securityContext: own }, { securityContext: pods }) =>
      (own?.runAsNonRoot ?? pods?.runAsNonRoot) !== true && !((own?.runAsUser ?? pods?.runAsUser ?? 0) > 0),
  ),
  containerRule(
    "runAsPrivileged",
    { securityContext: { privileged: true } },
    ({ securityContext }) => securityContext?.privileged === true,
  ),
  containerRule(
    "privilegeEscalationAllowed",
    {},
    ({ securityContext }) => securityContext?.allowPrivilegeEscalation !== false,
  ),
  containerRule(
    "dangerousCapabilities",
    { securityContext: { capabilities: { add: ["NET_ADMIN"] } } },
    ({ securityContext }) =>
      securityContext?.capabilities?.add?.some((name) => dangerousCapabilities.includes(name.toUpperCase())) === true,
  ),
  containerRule(
    "tagNotSpecified",
    { image: "registry.example.com/app" },
    ({ image = "" }) => !/@sha256:[0-9a-f]{64}$|:(?!latest$)[\w.-]+$/.test(image),
  ),
  containerRule("sensitiveContainerEnvVar", { env: [{ name: "API_TOKEN", value: "x" }] }, ({ env = [] }) =>
    env.some(({ name, value = "" }) => sensitiveName.test(name) || privateKey.test(value)),
  ),
  {
    id: "sensitiveConfigmapContent",
    example: { ...plain("ConfigMap"), data: { "db-password": "x" } },
    isBrokenBy: ({ kind, data }) =>
      kind === "ConfigMap" &&
      Object.entries(data ?? {}).some(([name, value]) => sensitiveName.test(name) || privateKey.test(String(value))),
  },
  roleRule("rolePodExecAttach", ["pods/exec"], ["create"]),
  roleRule("clusterAdmin", ["*"], ["*"]),
  {
    id: "clusterrolebindingClusterAdmin",
    example: { ...plain("ClusterRoleBinding"), roleRef: { kind: "ClusterRole", name: "cluster-admin" } },
    isBrokenBy: ({ kind, roleRef }) =>
      (kind === "ClusterRoleBinding" || kind === "RoleBinding") &&
      typeof roleRef === "object" &&
      roleRef !== null &&
      "name" in roleRef &&
      (roleRef.name === "cluster-admin" || roleRef.name === "admin"),
  },
];

function plain(kind: string): ChartObject {
  return { apiVersion: "v1", kind, metadata: { name: "example" } };
}

function podRule(id: string, broken: PodSpec, isBroken: (spec: PodSpec) => boolean): HardeningRule {
  return {
    id,
    example: { ...plain("Pod"), spec: broken },
    isBrokenBy: (object) => {
      const spec = podSpecOf(object);
      return spec !== undefined && isBroken(spec);
    },
  };
}

function containerRule(
  id: string,
  broken: Container,
  isBroken: (container: Container, spec: PodSpec) => boolean,
): HardeningRule {
  return podRule(id, { containers: [broken] }, (spec) =>
    [...(spec.initContainers ?? []), ...(spec.containers ?? [])].some((container) => isBroken(container, spec)),
  );
}

/** A role that grants one of the verbs on one of the resources, or everything. */
function roleRule(id: string, resources: readonly string[], verbs: readonly string[]): HardeningRule {
  return {
    id,
    example: { ...plain("Role"), rules: [{ apiGroups: [""], resources, verbs }] },
    isBrokenBy: ({ kind, rules }) =>
      (kind === "Role" || kind === "ClusterRole") &&
      Array.isArray(rules) &&
      rules.some(
        (rule: RoleRule) =>
          rule.resources?.some((name) => name === "*" || resources.includes(name)) === true &&
          rule.verbs?.some((verb) => verb === "*" || verbs.includes(verb)) === true,
      ),
  };
}

/** Of a pod, or of what makes pods. */
function podSpecOf({ kind, spec }: ChartObject): PodSpec | undefined {
  if (typeof spec !== "object" || spec === null) return undefined;
  if (kind === "Pod") return spec;
  if ("template" in spec && typeof spec.template === "object" && spec.template !== null && "spec" in spec.template)
    return spec.template.spec as PodSpec;
  return undefined;
}
