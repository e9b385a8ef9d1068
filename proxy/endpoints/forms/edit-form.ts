/**
 * Edits a client's form for an upstream that speaks the client's format: order, names and types of parts stay, and they
 * change as members of a JSON body would (`edit-json-body.ts`): all parts of a member together.
 */
import { randomBytes } from "node:crypto";
import type { WrittenCall } from "#proxy/endpoints/dialects/dialect";
import { editMembers } from "#proxy/endpoints/dialects/edit-json-body";
import type { UpstreamPlan } from "#proxy/formats/format";
import { BodyEditor } from "#proxy/json/body-editor";
import { asObject } from "#proxy/json/json-value";
import type { ScannedObject } from "#proxy/json/strict-json";
import type { Form, FormField, FormPart } from "#proxy/multipart/form";
import { boundaryOf, writeForm } from "#proxy/multipart/write-form";
import type { WireFormat } from "#proxy/snapshot/types.gen";
import { baseName } from "./form-fields.ts";

/** A form, and its fields as `readFormFields` reads them. */
export interface ReadForm {
  readonly form: Pick<Form, "parts">;
  readonly fields: ScannedObject;
}

/**
 * The body reads the files anew each time it is sent, so that another attempt can send it again.
 *
 * @param edit what the endpoint itself changes, before any rule
 * @throws GatewayError `unsupported_parameter` under `unsupportedParameters: Reject`
 */
export function editForm(
  { form, fields }: ReadForm,
  format: WireFormat,
  plan: UpstreamPlan,
  edit?: (editor: BodyEditor) => void,
): WrittenCall {
  const editor = new BodyEditor(fields);
  edit?.(editor);
  const dropped = editMembers(editor, fields, format, plan);
  const { body, contentType } = writeForm(changedParts(form, fields, editor.build()), boundaryOf(randomBytes(16)));
  return { body, contentType, dropped };
}

/** A member that was edited is one field, in the place of its first part. */
function changedParts({ parts }: Pick<Form, "parts">, fields: ScannedObject, edited: Buffer): readonly FormPart[] {
  if (edited === fields.bytes) return parts;
  const before = membersOf(fields.bytes);
  const after = membersOf(edited);
  const changed: FormPart[] = [];
  const written = new Set<string>();
  for (const part of parts) {
    const name = baseName(part.name);
    const text = after.get(name);
    if (text === before.get(name)) changed.push(part);
    else if (text !== undefined && !written.has(name)) changed.push(fieldOf(name, text));
    written.add(name);
  }
  for (const [name, text] of after) if (!before.has(name)) changed.push(fieldOf(name, text));
  return changed;
}

/** JSON texts by name. The bytes were scanned, or written by the editor: they are an object. */
function membersOf(bytes: Buffer): ReadonlyMap<string, string> {
  const members = Object.entries(asObject(JSON.parse(bytes.toString())) ?? {});
  return new Map(members.map(([name, value]) => [name, JSON.stringify(value)]));
}

function fieldOf(name: string, jsonText: string): FormField {
  const value: unknown = JSON.parse(jsonText);
  return { kind: "field", name, value: typeof value === "string" ? value : jsonText };
}
