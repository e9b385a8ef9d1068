/**
 * Edits a client's form for an upstream that speaks the client's format: files, order, names and types of parts stay, and
 * fields change as members of a JSON body would (`edit-json-body.ts`).
 */
import { randomBytes } from "node:crypto";
import type { WrittenCall } from "#proxy/endpoints/dialects/dialect";
import { editMembers } from "#proxy/endpoints/dialects/edit-json-body";
import type { UpstreamPlan } from "#proxy/formats/format";
import { BodyEditor } from "#proxy/json/body-editor";
import { asObject, type JsonObject } from "#proxy/json/json-value";
import type { ScannedObject } from "#proxy/json/strict-json";
import type { Form, FormPart } from "#proxy/multipart/form";
import { boundaryOf, writeForm } from "#proxy/multipart/write-form";
import type { WireFormat } from "#proxy/snapshot/types.gen";

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

function changedParts({ parts }: Pick<Form, "parts">, fields: ScannedObject, edited: Buffer): readonly FormPart[] {
  if (edited === fields.bytes) return parts;
  const before = membersOf(fields.bytes);
  const after = membersOf(edited);
  const changed: FormPart[] = [];
  for (const part of parts) {
    const isMember = part.kind === "field" && Object.hasOwn(before, part.name);
    if (!isMember || after[part.name] === before[part.name]) changed.push(part);
    else if (Object.hasOwn(after, part.name)) changed.push({ ...part, value: textOf(after[part.name]) });
  }
  for (const [name, value] of Object.entries(after)) {
    if (!Object.hasOwn(before, name)) changed.push({ kind: "field", name, value: textOf(value) });
  }
  return changed;
}

/** The bytes were scanned, or written by the editor: they are an object. */
function membersOf(bytes: Buffer): JsonObject {
  return asObject(JSON.parse(bytes.toString())) ?? {};
}

function textOf(value: unknown): string {
  return typeof value === "string" ? value : JSON.stringify(value);
}
