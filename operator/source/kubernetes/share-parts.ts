/**
 * Shares equal parts of keys to save memory: thousands of keys carry the same restrictions, limits and labels, and each
 * parse makes them anew. Objects of a `ResourceSet` are immutable, so sharing has no effect.
 */

import type { ApiKeyResource, ObjectMeta } from "#operator/resources/resource";
import type { ApiKeySpec } from "#operator/resources/types.gen";
import { SharedValues } from "#proxy/snapshot/index/intern";

export class KeyParts {
  readonly #names = new SharedValues<string>();
  readonly #labels = new SharedValues<ObjectMeta["labels"]>();
  readonly #models = new SharedValues<NonNullable<ApiKeySpec["models"]>>();
  readonly #addresses = new SharedValues<NonNullable<ApiKeySpec["clientCIDRs"]>>();
  readonly #limits = new SharedValues<NonNullable<ApiKeySpec["limits"]>>();
  readonly #accounts = new SharedValues<NonNullable<ApiKeySpec["accountRef"]>>();

  /** The same key with parts seen before in the place of equal ones. */
  share({ metadata, spec, ...rest }: ApiKeyResource): ApiKeyResource {
    const own = {
      ...metadata,
      namespace: this.#names.share(metadata.namespace),
      labels: this.#labels.share(metadata.labels),
    };
    if (spec === undefined) return { ...rest, metadata: own };
    const { models, clientCIDRs, limits, accountRef } = spec;
    const parts = {
      ...(models && { models: this.#models.share(models) }),
      ...(clientCIDRs && { clientCIDRs: this.#addresses.share(clientCIDRs) }),
      ...(limits && { limits: this.#limits.share(limits) }),
      ...(accountRef && { accountRef: this.#accounts.share(accountRef) }),
    };
    return { ...rest, metadata: own, spec: { ...spec, ...parts } };
  }
}
