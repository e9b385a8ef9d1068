/**
 * Shares equal parts of wire objects: thousands of keys carry the same limits, restrictions and labels, and each parse
 * makes new copies. It keeps two generations of recent values, so its memory is bounded and values in use survive.
 */
import type { Capability, Key, Labels, Limits, WireObject } from "#proxy/snapshot/types.gen";

const generationSizeMax = 2048;
/** Longer values are rarely shared, and their text is what the table holds on to. */
const textLengthMax = 4096;

/** Values that read alike, as one. */
export class SharedValues<Value> {
  #young = new Map<string, Value>();
  #old = new Map<string, Value>();

  /** @returns the first value seen that reads like this one. */
  share(value: Value): Value {
    // A different order of members only misses a chance to share.
    const text = typeof value === "string" ? value : JSON.stringify(value);
    if (text.length > textLengthMax) return value;
    const young = this.#young.get(text);
    if (young !== undefined) return young;
    const shared = this.#old.get(text) ?? value;
    if (this.#young.size >= generationSizeMax) {
      this.#old = this.#young;
      this.#young = new Map();
    }
    this.#young.set(text, shared);
    return shared;
  }
}

export class Interner {
  readonly #names = new SharedValues<string>();
  readonly #lists = new SharedValues<string[]>();
  readonly #labels = new SharedValues<Labels>();
  readonly #limits = new SharedValues<Limits>();
  readonly #protocols = new SharedValues<NonNullable<Key["protocols"]>>();
  readonly #capabilities = new SharedValues<Capability[]>();

  /** Replaces parts of a freshly parsed object by equal ones seen before. The object must not be in use yet. */
  shareParts(object: WireObject): WireObject {
    if (object.kind === "key") this.#shareKeyParts(object);
    return object;
  }

  #shareKeyParts(key: Key): void {
    key.namespace = this.#names.share(key.namespace);
    if (key.account !== undefined) key.account = this.#names.share(key.account);
    if (key.labels !== undefined) key.labels = this.#labels.share(key.labels);
    if (key.metadata !== undefined) key.metadata = this.#labels.share(key.metadata);
    if (key.modelsAllow !== undefined) key.modelsAllow = this.#lists.share(key.modelsAllow);
    if (key.modelsDeny !== undefined) key.modelsDeny = this.#lists.share(key.modelsDeny);
    if (key.cidrsAllow !== undefined) key.cidrsAllow = this.#lists.share(key.cidrsAllow);
    if (key.cidrsDeny !== undefined) key.cidrsDeny = this.#lists.share(key.cidrsDeny);
    if (key.protocols !== undefined) key.protocols = this.#protocols.share(key.protocols);
    if (key.capabilities !== undefined) key.capabilities = this.#capabilities.share(key.capabilities);
    if (key.limits !== undefined) key.limits = this.#limits.share(key.limits);
    for (const credential of key.credentials) credential.name = this.#names.share(credential.name);
  }
}
