/**
 * The part of Kubernetes' structural schemas that the custom resources use.
 *
 * The generator refuses a CRD with any other keyword, so that the offline validation cannot miss a restriction that the
 * API server enforces.
 */
export interface StructuralSchema {
  readonly type?: "object" | "array" | "string" | "integer" | "boolean";
  readonly properties?: { readonly [name: string]: StructuralSchema };
  readonly additionalProperties?: StructuralSchema;
  readonly items?: StructuralSchema;
  readonly required?: readonly string[];
  readonly enum?: readonly string[];
  readonly default?: unknown;
  readonly nullable?: boolean;
  readonly format?: "int32" | "int64" | "date-time";
  readonly pattern?: string;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly minItems?: number;
  readonly maxItems?: number;
  readonly maxProperties?: number;
  readonly "x-kubernetes-list-type"?: "atomic" | "set" | "map";
  readonly "x-kubernetes-list-map-keys"?: readonly string[];
  readonly "x-kubernetes-preserve-unknown-fields"?: boolean;
  readonly "x-kubernetes-validations"?: readonly ValidationRule[];
}

/** One rule in the Common Expression Language; see `cel/check-rules.ts`. */
export interface ValidationRule {
  readonly rule: string;
  readonly message: string;
  /** Never FieldValueDuplicate: the API server leaves the message out of its response. */
  readonly reason: "FieldValueInvalid" | "FieldValueForbidden" | "FieldValueRequired";
  /** Path below the node that the problem is reported at, for example `.limit`. */
  readonly fieldPath?: string;
}

/** One kind of object with the schema of its whole document but `metadata`. */
export interface KindSchema {
  readonly apiVersion: string;
  readonly kind: string;
  readonly scope: "Namespaced" | "Cluster";
  readonly schema: StructuralSchema;
}

/** All keywords of `StructuralSchema`; `description` is dropped on the way. */
export const schemaKeywords: ReadonlySet<string> = new Set([
  "type",
  "properties",
  "additionalProperties",
  "items",
  "required",
  "enum",
  "default",
  "nullable",
  "format",
  "pattern",
  "minLength",
  "maxLength",
  "minimum",
  "maximum",
  "minItems",
  "maxItems",
  "maxProperties",
  "x-kubernetes-list-type",
  "x-kubernetes-list-map-keys",
  "x-kubernetes-preserve-unknown-fields",
  "x-kubernetes-validations",
]);
