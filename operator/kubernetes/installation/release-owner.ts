/**
 * Finds the owner of the objects that the operators make for themselves: a ConfigMap that lives as long as the release
 * (the chart has an empty one for it).
 *
 * The cluster deletes the objects with it, so that an uninstalled release leaves nothing behind. No other object would
 * do: ServiceAccount and settings may be replaced under a running release.
 */
import type { ApiClient, CallOptions } from "#operator/kubernetes/api/api-client";
import { isApiStatus } from "#operator/kubernetes/api/api-error";
import { type ApiObject, configMapResource, isRecord } from "#operator/kubernetes/api/api-object";

/**
 * An operator that lives this long after the ConfigMap was deleted is not being uninstalled: somebody deleted a ConfigMap
 * that looked unused. Objects with a deleted owner are deleted again and again, among them the CA that new proxies trust.
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
  /** Whether the object has this owner. The owner is then known, even if it is deleted before it was ever read. */
  owns(object: ApiObject): boolean;
  /**
   * Reads the owner again: a replaced one has another uid, and objects with the former uid are deleted.
   *
   * @returns undefined when there is none: new objects then have no owner. @throws when the API server cannot tell
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
        // The release is being uninstalled: objects made now are deleted with the former owner.
        goneAtMs ??= now();
        if (now() - goneAtMs >= believedGoneMs) return undefined;
      }
      return last;
    },
  };
}
