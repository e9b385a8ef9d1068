/**
 * What owns the things that the operators make for themselves: a ConfigMap that lives as long as the release (the chart has an
 * empty one for it). The cluster removes what it owns with it, so that an uninstalled release leaves nothing behind, and with
 * nothing else: ServiceAccount and settings may be replaced under a running release.
 */
import type { ApiClient, CallOptions } from "../kubernetes/api-client.ts";
import { isApiStatus } from "../kubernetes/api-error.ts";
import { type ApiObject, configMapResource, isRecord } from "../kubernetes/api-object.ts";

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

export function releaseOwner(client: Pick<ApiClient, "get">, namespace: string, name: string): ReleaseOwner {
  const { apiVersion, kind } = configMapResource;
  let last: OwnerReference | undefined;
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
      } catch (error) {
        // The release is being uninstalled: what is made all the same goes with what is gone.
        if (!isApiStatus(error, 404)) throw error;
      }
      return last;
    },
  };
}
