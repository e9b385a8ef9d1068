/**
 * Shares equal parts of wire objects: thousands of keys carry the same limits, restrictions and labels, and each parse
 * makes them anew. Keeps two generations of recently seen values, so its memory is bounded and values in use survive.
 */
import type { Key, WireObject } from "../types.gen.ts";

const generationSizeMax = 4096;
/** Longer values are rarely shared, and their text is what the table holds on to. */
const textLengthMax = 4096;

export class Interner {
  #young = new Map<string, unknown>();
  #old = new Map<string, unknown>();

  /** Replaces parts of a freshly parsed object by equal ones seen before. The object must not be in use yet. */
  shareParts(object: WireObject): WireObject {
    if (object.kind === "key") this.#shareKeyParts(object);
    return object;
  }

  #shareKeyParts(key: Key): void {
    key.namespace = this.#share(key.namespace);
    if (key.account !== undefined) key.account = this.#share(key.account);
    if (key.labels !== undefined) key.labels = this.#share(key.labels);
    if (key.metadata !== undefined) key.metadata = this.#share(key.metadata);
    if (key.modelsAllow !== undefined) key.modelsAllow = this.#share(key.modelsAllow);
    if (key.modelsDeny !== undefined) key.modelsDeny = this.#share(key.modelsDeny);
    if (key.cidrsAllow !== undefined) key.cidrsAllow = this.#share(key.cidrsAllow);
    if (key.cidrsDeny !== undefined) key.cidrsDeny = this.#share(key.cidrsDeny);
    if (key.protocols !== undefined) key.protocols = this.#share(key.protocols);
    if (key.capabilities !== undefined) key.capabilities = this.#share(key.capabilities);
    if (key.limits !== undefined) key.limits = this.#share(key.limits);
    for (const credential of key.credentials) credential.name = this.#share(credential.name);
  }

  #share<Value>(value: Value): Value {
    // Order of members matters to nobody here: a different order only misses a chance to share.
    const text = JSON.stringify(value);
    if (text.length > textLengthMax) return value;
    const found = this.#young.get(text) ?? this.#old.get(text);
    const shared = found ?? value;
    if (found === undefined || !this.#young.has(text)) {
      if (this.#young.size >= generationSizeMax) {
        this.#old = this.#young;
        this.#young = new Map();
      }
      this.#young.set(text, shared);
    }
    // The text is the value's own JSON, so what was found under it has the value's type.
    return shared as Value;
  }
}
