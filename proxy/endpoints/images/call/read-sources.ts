/** Reads the pictures that a call brings: files of its form, or addresses, texts and ids in its JSON. */
import { baseName } from "#proxy/endpoints/forms/form-fields";
import { GatewayError } from "#proxy/errors";
import { invalidValue, presentMember } from "#proxy/formats/body/parameter-rules";
import { isObject, member } from "#proxy/json/json-value";
import { readJson, type ScannedObject } from "#proxy/json/strict-json";
import type { Form } from "#proxy/multipart/form";
import { sniffMime, sniffMimeOfBytes } from "#proxy/neutral/media/sniff-mime";
import type { SourceImage } from "./image-call.ts";

export interface SourceImages {
  /** To be edited, in the order in which the client gave them. */
  readonly sources: readonly SourceImage[];
  readonly mask: SourceImage | undefined;
}

/** What providers take, by their documentation. */
const sourcesMax = 16;
const takenTypes: ReadonlySet<string | undefined> = new Set(["image/png", "image/jpeg", "image/webp", "image/gif"]);

/** @throws GatewayError `invalid_value` for a second mask: an upstream may take either */
export function readFormSources({ parts }: Pick<Form, "parts">): SourceImages {
  const sources: SourceImage[] = [];
  let mask: SourceImage | undefined;
  for (const part of parts) {
    const { name } = part;
    // SDKs write lists as `image[]`, some libraries as `image[0]`; others repeat `image`.
    const base = baseName(name);
    if (base !== "mask" && base !== "image") continue;
    const source: SourceImage =
      part.kind === "file"
        ? { kind: "file", where: name, file: part }
        : { kind: "text", where: name, text: part.value };
    if (base === "image") sources.push(source);
    else if (mask === undefined) mask = source;
    else throw invalidValue(name, "must be given once, under one name");
  }
  return { sources, mask };
}

/** `images` and `mask` of current SDKs, `image` of vendors. @throws GatewayError `invalid_type` */
export function readJsonSources(body: ScannedObject): SourceImages {
  const sources: SourceImage[] = [];
  for (const name of ["images", "image"]) {
    const found = presentMember(body, name);
    const value = found === undefined ? [] : readJson(body, found);
    // More than any call may have: counted, and refused by their number.
    if (Array.isArray(value) && value.length > sourcesMax) throw tooManySources();
    if (Array.isArray(value)) sources.push(...value.map((each, index) => readSource(each, `${name}[${index}]`)));
    else sources.push(readSource(value, name));
  }
  const mask = presentMember(body, "mask");
  return { sources, mask: mask === undefined ? undefined : readSource(readJson(body, mask), "mask") };
}

function tooManySources(): GatewayError {
  return invalidValue("image", `must be given at most ${sourcesMax} times`);
}

function readSource(value: unknown, where: string): SourceImage {
  const text = textOf(value) ?? textOf(member(value, "image_url")) ?? textOf(member(value, "url"));
  if (text !== undefined) return { kind: "text", where, text };
  const nested = textOf(member(member(value, "image_url"), "url"));
  if (nested !== undefined) return { kind: "text", where, text: nested };
  if (isObject(value) && textOf(member(value, "file_id")) !== undefined)
    return { kind: "id", where: `${where}.file_id` };
  const message = `'${where}' must be an object with 'image_url' or 'file_id', or a string.`;
  throw new GatewayError("invalid_type", message, { param: where });
}

function textOf(value: unknown): string | undefined {
  return typeof value === "string" ? value : undefined;
}

/** @throws GatewayError `missing_parameter`, `invalid_value` */
export function checkSources({ sources, mask }: SourceImages): void {
  if (sources.length === 0) {
    throw new GatewayError("missing_parameter", "Missing required parameter: 'image'.", { param: "image" });
  }
  if (sources.length > sourcesMax) throw tooManySources();
  for (const source of sources) checkSource(source);
  if (mask !== undefined) checkSource(mask);
}

/** By its first bytes: names and types are as clients like them. What lies elsewhere is not looked at. */
function checkSource(source: SourceImage): void {
  if (source.kind === "id") return;
  if (source.kind === "file") {
    if (!takenTypes.has(sniffMimeOfBytes(source.file.content.start))) throw noPicture(source.where);
    return;
  }
  const { text, where } = source;
  if (/^https?:\/\//i.test(text)) return;
  const data = /^data:[^,]{0,256};base64,/i.exec(text);
  const base64 = data === null ? text : text.slice(data[0].length, data[0].length + 64);
  if (!takenTypes.has(sniffMime(base64))) throw noPicture(where);
}

function noPicture(where: string): GatewayError {
  return invalidValue(where, "must be a PNG, JPEG, WebP or GIF");
}
