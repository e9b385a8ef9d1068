/**
 * Makes the Secret that a `generate` credential asks for, in the cluster: owned by its ApiKey, so that it goes with it,
 * written once and never over another (RESOURCES.md, ApiKey).
 */
import type { WantedSecret } from "../compile/result.ts";
import type { ApiClient } from "../kubernetes/api-client.ts";
import { isApiStatus } from "../kubernetes/api-error.ts";
import { secretResource } from "../kubernetes/api-object.ts";
import type { Leadership } from "../leader/leadership.ts";
import type { ResourceSet } from "../resources/resource.ts";
import { mintKey } from "./generate-secret.ts";

export interface CreateSecretOptions {
  readonly client: Pick<ApiClient, "create">;
  readonly leadership: Pick<Leadership, "isLeader">;
  readonly source: { current(): ResourceSet };
  readonly randomBytes: (count: number) => Uint8Array;
  readonly log: { info(message: string): void; warn(message: string): void };
}

/** Never throws: what could not be written is asked for again by a later pass. */
export async function createSecret(wanted: WantedSecret, options: CreateSecretOptions): Promise<void> {
  const { client, leadership, source, randomBytes, log } = options;
  const { namespace, secretName, key, prefix, ownerName } = wanted;
  const uid = source.current().apiKeys.get(`${namespace}/${ownerName}`)?.metadata.uid;
  // Without the owner's uid the Secret would outlive it.
  if (!leadership.isLeader() || uid === undefined) return;
  const owner = { apiVersion: "tollgate.dev/v1alpha1", kind: "ApiKey", name: ownerName, uid, controller: true };
  const secret = {
    metadata: { name: secretName, namespace, ownerReferences: [owner] },
    type: "Opaque",
    stringData: { [key]: mintKey(prefix, randomBytes) },
  };
  try {
    await client.create(secretResource, secret, { namespace });
    log.info(`ApiKey ${namespace}/${ownerName}: key written to the Secret ${secretName}`);
  } catch (error) {
    // It stands there already, whoever wrote it; the watch brings it.
    if (isApiStatus(error, 409)) return;
    log.warn(
      `ApiKey ${namespace}/${ownerName}: the Secret ${secretName} cannot be created: ${error instanceof Error ? error.message : String(error)}`,
    );
  }
}
