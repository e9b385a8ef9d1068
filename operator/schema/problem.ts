/** A problem of a manifest, in terms of the field that a person wrote. */

/** Member names and list positions from the document's root. */
export type FieldPath = readonly (string | number)[];

export interface Problem {
  readonly path: FieldPath;
  /** `path` as people write it: `spec.limits[0].unit`. Empty for the document as a whole. */
  readonly field: string;
  /** The problem and the remedy; begins like the API server's own message where there is one. */
  readonly message: string;
  /** The broken restriction: a schema keyword, a CEL rule's text, or `unknown`, `kind`, `metadata`, `syntax`, `reference`. */
  readonly rule: string;
}

export function makeProblem(path: FieldPath, rule: string, message: string): Problem {
  return { path, field: formatField(path), message, rule };
}

/** Writes a path as Kubernetes does: members by dots, positions and unusual member names in brackets. */
export function formatField(path: FieldPath): string {
  let field = "";
  for (const step of path) {
    if (typeof step === "number" || !/^[A-Za-z_][A-Za-z0-9_-]*$/.test(step)) field += `[${step}]`;
    else field += field === "" ? step : `.${step}`;
  }
  return field;
}
