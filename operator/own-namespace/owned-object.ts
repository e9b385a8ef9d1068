/** Secrets and ConfigMaps of the operator's own namespace that the operators keep for themselves, by the API server. */
import type { OwnedData, VersionedData } from "../certificates/owned-data.ts";
import type { ApiClient } from "../kubernetes/api-client.ts";
import { ApiError } from "../kubernetes/api-error.ts";
import { type ApiResource, configMapResource, isRecord, secretResource } from "../kubernetes/api-object.ts";
import type { OwnerReference } from "./own-account.ts";

export interface OwnedObjectOptions {
  readonly client: Pick<ApiClient, "get" | "create" | "update">;
  readonly namespace: string;
  readonly name: string;
  /** Of a new object, so that people see whose it is. */
  readonly labels?: Readonly<Record<string, string>>;
  /** With which a new object is removed. */
  readonly owner?: OwnerReference | undefined;
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
  const metadata = { namespace, name, labels, ...(owner !== undefined && { ownerReferences: [owner] }) };
  return {
    async read(): Promise<VersionedData | undefined> {
      try {
        const object = await client.get(resource, namespace, name);
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
        if (version === undefined) await client.create(resource, { metadata, data: encoded }, { namespace });
        else {
          const present = await client.get(resource, namespace, name);
          // Labels and owners that others gave it stay.
          if (present.metadata.resourceVersion !== version) return false;
          await client.update(resource, { ...present, data: encoded });
        }
        return true;
      } catch (error) {
        // Somebody was faster: made it, changed it or took it away.
        if (error instanceof ApiError && (error.status === 409 || error.status === 404)) return false;
        throw error;
      }
    },
  };
}

function mapValues(data: Readonly<Record<string, unknown>>, convert: (text: string) => string): Record<string, string> {
  return Object.fromEntries(
    Object.entries(data).flatMap(([key, value]) => (typeof value === "string" ? [[key, convert(value)]] : [])),
  );
}
