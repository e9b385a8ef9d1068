/** Reads and writes the Secrets and ConfigMaps that the operators keep for themselves in their own namespace. */
import type { OwnedData, VersionedData } from "#operator/certificates/owned-data";
import type { ApiClient } from "#operator/kubernetes/api/api-client";
import { ApiError, isApiStatus } from "#operator/kubernetes/api/api-error";
import {
  type ApiObject,
  type ApiResource,
  configMapResource,
  isRecord,
  secretResource,
} from "#operator/kubernetes/api/api-object";
import type { ReleaseOwner } from "./release-owner.ts";

export interface OwnedObjectOptions {
  readonly client: Pick<ApiClient, "get" | "create" | "update">;
  readonly namespace: string;
  readonly name: string;
  /** Labels of a new object, so that people see who made it. */
  readonly labels?: Readonly<Record<string, string>>;
  /** The owner with which the object is deleted. */
  readonly owner?: ReleaseOwner | undefined;
}

export function ownedConfigMap(options: OwnedObjectOptions): OwnedData {
  return ownedObject(options, configMapResource, { read: (text) => text, write: (text) => text });
}

export function ownedSecret(options: OwnedObjectOptions): OwnedData {
  return ownedObject(options, secretResource, {
    read: (text) => Buffer.from(text, "base64").toString("utf8"),
    write: (text) => Buffer.from(text, "utf8").toString("base64"),
  });
}

interface Encoding {
  read(text: string): string;
  write(text: string): string;
}

function ownedObject(options: OwnedObjectOptions, resource: ApiResource, encoding: Encoding): OwnedData {
  const { client, namespace, name, owner } = options;
  const labels = options.labels ?? { "app.kubernetes.io/managed-by": "tollgate" };
  return {
    async read(): Promise<VersionedData | undefined> {
      try {
        const object = await owned(await client.get(resource, namespace, name), resource, options);
        const data = isRecord(object["data"]) ? object["data"] : {};
        return { data: mapValues(data, encoding.read), version: object.metadata.resourceVersion ?? "" };
      } catch (error) {
        if (error instanceof ApiError && error.status === 404) return undefined;
        throw error;
      }
    },
    async write(data, version) {
      const encoded = mapValues(data, encoding.write);
      try {
        if (version === undefined) {
          const by = await owner?.read();
          const metadata = { namespace, name, labels, ...(by !== undefined && { ownerReferences: [by] }) };
          await client.create(resource, { metadata, data: encoded }, { namespace });
        } else {
          const present = await client.get(resource, namespace, name);
          // Labels and owners set by others stay.
          if (present.metadata.resourceVersion !== version) return false;
          await client.update(resource, { ...present, data: encoded });
        }
        return true;
      } catch (error) {
        // Another writer was faster: it created, changed or deleted the object.
        if (error instanceof ApiError && (error.status === 409 || error.status === 404)) return false;
        throw error;
      }
    },
  };
}

/**
 * Adds our owner to an object that lacks it, such as one that another version made. Other owners stay: the object lives
 * as long as one of them.
 *
 * @returns the object as it is now
 */
async function owned(
  object: ApiObject,
  resource: ApiResource,
  { client, owner }: OwnedObjectOptions,
): Promise<ApiObject> {
  // An object that has the owner needs no check: when the owner is replaced, the object is deleted with it.
  if (owner === undefined || owner.owns(object)) return object;
  const wanted = await owner.read();
  if (wanted === undefined) return object;
  const { metadata } = object;
  const present: readonly unknown[] = Array.isArray(metadata.ownerReferences) ? metadata.ownerReferences : [];
  try {
    return await client.update(resource, {
      ...object,
      metadata: { ...metadata, ownerReferences: [...present, wanted] },
    });
  } catch (error) {
    // Another writer was faster, or the cluster lets only those change owners who may delete: the content is still good.
    if ([403, 404, 409].some((status) => isApiStatus(error, status))) return object;
    throw error;
  }
}

function mapValues(data: Readonly<Record<string, unknown>>, convert: (text: string) => string): Record<string, string> {
  return Object.fromEntries(
    Object.entries(data).flatMap(([key, value]) => (typeof value === "string" ? [[key, convert(value)]] : [])),
  );
}
