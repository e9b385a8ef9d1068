/**
 * Confines a fault of the compiler to the object on which it occurs (docs/design/reliability.md J8): the object is
 * refused, its previous version stays, a key is denied, and all other objects go on.
 *
 * Faults of manifests never come here; the compilers of the kinds report them.
 */
import { referenceKey, referencesOf } from "#operator/resources/reference-index";
import type { AnyResource, OwnKind, OwnResource } from "#operator/resources/resource";
import type { CompiledState, PassChanges } from "./compiled-state.ts";
import { type ObjectResult, refused, resolved } from "./result.ts";

export class FaultGuard {
  readonly #state: CompiledState;
  /** Objects whose references cannot be read, with the fault: no change would trigger them, so none is compiled again. */
  readonly #unread = new Map<string, unknown>();

  constructor(state: CompiledState) {
    this.#state = state;
  }

  /** The references of an object; none when they cannot be read, and then the object is refused until it changes. */
  referencesOf(key: string, resource: AnyResource | undefined): readonly string[] {
    this.#unread.delete(key);
    if (resource === undefined) return [];
    try {
      return referencesOf(resource);
    } catch (cause) {
      this.#unread.set(key, cause);
      return [];
    }
  }

  /** Whether the references of an object could not be read. */
  isUnread(kind: OwnKind, identity: string): boolean {
    return this.#unread.has(`${kind}/${identity}`);
  }

  /**
   * Runs work that concerns one object alone.
   *
   * @param id of its result
   * @param resource undefined: it is gone, so that there is nothing to refuse
   * @returns whether it went well; the object is refused where it did not
   */
  attempt(id: string, resource: OwnResource | undefined, pass: PassChanges, work: () => void): boolean {
    try {
      const key = resource && referenceKey(resource.kind, resource.metadata.namespace, resource.metadata.name);
      if (key !== undefined && this.#unread.has(key)) throw this.#unread.get(key);
      work();
      pass.faults.delete(id);
      return true;
    } catch (cause) {
      if (resource === undefined) throw cause;
      const before = this.#state.results.get(id);
      if (resource.kind === "ApiKey") this.#state.put(id, undefined, pass);
      this.#state.putResult(id, refusedResult(id, resource, before), pass);
      if (this.#state.results.get(id) !== before) pass.faults.set(id, cause);
      return false;
    }
  }
}

function refusedResult(id: string, resource: OwnResource, before: ObjectResult | undefined): ObjectResult {
  const { kind, metadata } = resource;
  const { namespace, name, generation } = metadata;
  const accepted = refused("Invalid", messageFor(kind, before));
  const base = { id, namespace, name, generation, accepted, wireIds: [] } as const;
  if (before !== undefined && kind !== "ApiKey") return { ...before, generation, accepted };
  switch (kind) {
    case "ApiKey": {
      const facts = { state: "Active", accountRequired: false, credentials: [] } as const;
      return { ...base, kind, ...facts, resolvedRefs: resolved };
    }
    case "Channel":
      return {
        ...base,
        kind,
        state: "Active",
        modelCount: undefined,
        refersToCertificates: false,
        credentials: [],
        resolvedRefs: resolved,
      };
    case "ModelRoute": {
      const available = refused("NotAccepted", "The route is not served; see Accepted.");
      return { ...base, kind, model: name, targets: [], available, resolvedRefs: resolved };
    }
    case "Account":
      return { ...base, kind, state: "Active" };
    default:
      return kind satisfies never;
  }
}

function messageFor(kind: OwnKind, before: ObjectResult | undefined): string {
  const matter = "The operator fails on this object, which is a fault of the operator; its log has the cause.";
  const mend = "Change the spec, or upgrade the operator.";
  if (kind === "ApiKey") return `${matter} ${mend} The key is denied until then.`;
  const isServed = (before?.wireIds.length ?? 0) > 0;
  return `${matter} ${mend} ${isServed ? "The previous version is served." : "Nothing of it is served until then."}`;
}
