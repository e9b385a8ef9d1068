/**
 * Finds objects of a valid set that the operator would refuse: compiles the set and reports each refusal at its field.
 *
 * The schema knows neither time zones nor forbidden addresses, nor which preset fits which provider. Once the manifests are served,
 * `Accepted=False` tells of them (docs/design/configuration.md 1.1); `tollgate validate` tells before. A refusal that
 * depends on a setting, which may be given elsewhere, is a warning. Pure.
 */
import { compile, defaultCompileSettings } from "#operator/compile/compile";
import { MutableResourceSet } from "#operator/resources/mutable-resource-set";
import { type FieldPath, makeProblem } from "#operator/schema/problem";
import type { ReferenceProblem } from "#operator/schema/references/object-set";
import type { KnownObject } from "#operator/schema/validate-resource";
import { toResource } from "#operator/source/read-resource";

/** With these ranges, only addresses that no setting allows are refused. */
const everywhere: readonly string[] = ["0.0.0.0/0", "::/0"];

/**
 * @param objects validated objects; of several with one identity the first counts, as in a folder
 * @param found problems that are known already and are not reported twice
 * @param egressAllowCIDRs the setting of the operator; none: it is not known, and addresses that it may allow are warnings
 */
export function checkCompiled(
  objects: readonly KnownObject[],
  found: readonly ReferenceProblem[],
  egressAllowCIDRs: readonly string[],
): ReferenceProblem[] {
  const resources = new MutableResourceSet();
  const speakers = new Map<string, KnownObject>();
  for (const object of objects) {
    const { namespace = "", name } = object.metadata;
    const identity = `${object.kind}/${namespace}/${name}`;
    if (speakers.has(identity)) continue;
    speakers.set(identity, object);
    resources.set(toResource(object, { generation: 1 }));
  }
  const compiled = (allowed: readonly string[]) =>
    compile(resources, { ...defaultCompileSettings, egressAllowCIDRs: [...allowed] }).results;
  const results = compiled(egressAllowCIDRs);
  const certain = egressAllowCIDRs.length === 0 ? compiled(everywhere) : results;
  return [...results].flatMap(([key, { kind, namespace, name, accepted }]) => {
    const object = speakers.get(`${kind}/${namespace}/${name}`);
    if (object === undefined || accepted.status !== "False") return [];
    const { path, message } = placeOf(accepted.message, object);
    const problem = makeProblem(path, "compile", message);
    const isKnown = found.some(
      (other) => other.object === object && other.severity === "error" && other.problem.field.startsWith(problem.field),
    );
    const severity = certain.get(key)?.accepted.status === "False" ? "error" : "warning";
    return isKnown ? [] : [{ object, problem, severity }];
  });
}

/** Conditions begin with the field when one causes them: `spec.limits[daily].timeZone: …`. */
function placeOf(text: string, object: KnownObject): { readonly path: FieldPath; readonly message: string } {
  const [whole, field] = /^(spec(?:\.\w+|\[[^\]]*\])*): /.exec(text) ?? [];
  const message = (whole === undefined ? text : text.slice(whole.length)).replace(/\.$/, "");
  return { path: field === undefined ? [] : pathOf(field, object), message };
}

/** Conditions name items by name or type; files have them at a position. */
function pathOf(field: string, object: KnownObject): FieldPath {
  const path: (string | number)[] = [];
  let at: unknown = object;
  for (const [, key, member = ""] of field.matchAll(/\[([^\]]*)\]|([^.[]+)/g)) {
    const step = key === undefined ? member : Array.isArray(at) ? positionOf(key, at) : key;
    if (step === -1) break;
    path.push(step);
    at = typeof at === "object" && at !== null ? Reflect.get(at, step) : undefined;
  }
  return path;
}

function positionOf(key: string, items: readonly unknown[]): number {
  const named = items.findIndex(
    (item) =>
      typeof item === "object" && item !== null && ("name" in item ? item.name : Reflect.get(item, "type")) === key,
  );
  return named === -1 && /^\d+$/.test(key) && Number(key) < items.length ? Number(key) : named;
}
