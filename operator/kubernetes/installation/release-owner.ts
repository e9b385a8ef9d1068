/**
 * What owns the things that the operators make for themselves: a ConfigMap that lives as long as the release (the chart has an
 * empty one for it). The cluster removes what it owns with it, so that an uninstalled release leaves nothing behind, and with
 * nothing else: ServiceAccount and settings may be replaced under a running release.
 */
import type { ApiClient, CallOptions } from "#operator/kubernetes/api/api-client";
import { isApiStatus } from "#operator/kubernetes/api/api-error";
import { type ApiObject, configMapResource, isRecord } from "#operator/kubernetes/api/api-object";

/**
 * An operator that lives this long after the ConfigMap went is not being uninstalled: somebody deleted what looks unused.
 * What bears a dead owner is removed again and again, with it the CA that new proxies are to trust.
 */
const believedGoneMs = 2 * 60_000;

/** As in `metadata.ownerReferences`. */
export interface OwnerReference {
  readonly apiVersion: string;
  readonly kind: string;
  readonly name: string;
  readonly uid: string;
}

export interface ReleaseOwner {
  /** Whether the object bears it. Then it is known from now on, also when it is gone before it was ever read. */
  owns(object: ApiObject): boolean;
  /**
   * Reads it anew, as one that was replaced has another uid, and what names the former is removed.
   *
   * @returns undefined where there is none: then what is made has no owner. @throws when the API server cannot say
   */
  read(options?: CallOptions): Promise<OwnerReference | undefined>;
}

/** @param now monotonic, milliseconds */
export function releaseOwner(
  client: Pick<ApiClient, "get">,
  namespace: string,
  name: string,
  now: () => number = () => performance.now(),
): ReleaseOwner {
  const { apiVersion, kind } = configMapResource;
  let last: OwnerReference | undefined;
  let goneAtMs: number | undefined;
  return {
    owns({ metadata }) {
      const references: readonly unknown[] = Array.isArray(metadata.ownerReferences) ? metadata.ownerReferences : [];
      const ours = references.filter(isRecord).find((one) => one["kind"] === kind && one["name"] === name);
      const uid = ours?.["uid"];
      if (typeof uid === "string") last ??= { apiVersion, kind, name, uid };
      return ours !== undefined;
    },
    async read(options) {
      try {
        const { uid } = (await client.get(configMapResource, namespace, name, options)).metadata;
        if (uid !== undefined) last = { apiVersion, kind, name, uid };
        goneAtMs = undefined;
      } catch (error) {
        if (!isApiStatus(error, 404)) throw error;
        // The release is being uninstalled: what is made all the same goes with what is gone.
        goneAtMs ??= now();
        if (now() - goneAtMs >= believedGoneMs) return undefined;
      }
      return last;
    },
  };
}
