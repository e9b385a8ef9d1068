/**
 * The built-in kinds of Kubernetes that manifests for the gateway hold: Secrets, ConfigMaps and Namespaces.
 *
 * The checks are those of the API server about the form of these objects; all other fields belong to Kubernetes.
 */
import type { ObjectMetadata } from "#operator/resources/types.gen";
import type { KindSchema, StructuralSchema } from "./structural-schema.ts";

/** A Secret after validation: `stringData` is merged into `data`, as the API server does. Never to be printed. */
export interface Secret {
  readonly apiVersion: "v1";
  readonly kind: "Secret";
  readonly metadata: ObjectMetadata;
  readonly type: string;
  /** Base64 values by key. */
  readonly data?: { readonly [key: string]: string };
  readonly immutable?: boolean;
}

export interface ConfigMap {
  readonly apiVersion: "v1";
  readonly kind: "ConfigMap";
  readonly metadata: ObjectMetadata;
  readonly data?: { readonly [key: string]: string };
  /** Base64 values by key. */
  readonly binaryData?: { readonly [key: string]: string };
  readonly immutable?: boolean;
}

/** A Namespace, whose labels selectors read. Its own `metadata.namespace` is empty. */
export interface Namespace {
  readonly apiVersion: "v1";
  readonly kind: "Namespace";
  readonly metadata: ObjectMetadata;
}

const text: StructuralSchema = { type: "string" };
const texts: StructuralSchema = { type: "object", additionalProperties: text };
// Line breaks inside are accepted, as Go's decoder accepts them.
const base64: StructuralSchema = {
  type: "object",
  additionalProperties: {
    type: "string",
    pattern:
      "^(?:(?:[A-Za-z0-9+/][\\r\\n]*){4})*(?:(?:[A-Za-z0-9+/][\\r\\n]*){2}(?:=[\\r\\n]*){2}|(?:[A-Za-z0-9+/][\\r\\n]*){3}=[\\r\\n]*)?$",
  },
};
const envelope = { apiVersion: text, kind: text, metadata: { type: "object" } } as const;

export const builtinKinds: readonly KindSchema[] = [
  {
    apiVersion: "v1",
    kind: "Secret",
    scope: "Namespaced",
    schema: {
      type: "object",
      properties: {
        ...envelope,
        type: { type: "string", default: "Opaque" },
        data: base64,
        stringData: texts,
        immutable: { type: "boolean" },
      },
    },
  },
  {
    apiVersion: "v1",
    kind: "ConfigMap",
    scope: "Namespaced",
    schema: {
      type: "object",
      properties: { ...envelope, data: texts, binaryData: base64, immutable: { type: "boolean" } },
    },
  },
  {
    apiVersion: "v1",
    kind: "Namespace",
    scope: "Cluster",
    schema: {
      type: "object",
      properties: {
        ...envelope,
        spec: { type: "object", properties: { finalizers: { type: "array", items: text } } },
        status: { type: "object", properties: { phase: text } },
      },
    },
  },
];
