/** Reads the calls of `/v1/images/generations`, `/edits` and `/variations` (docs/design/images.md 1 and 2). */
import { readFormFields } from "#proxy/endpoints/forms/form-fields";
import { GatewayError } from "#proxy/errors";
import {
  booleanRule,
  checkParameters,
  integerRule,
  invalidValue,
  kindRule,
  readCheckedCount,
  readCheckedText,
  readFlag,
  requireMember,
  requireModel,
} from "#proxy/formats/body/parameter-rules";
import { readString, type ScannedObject, scanJsonObject } from "#proxy/json/strict-json";
import type { ProxyLimits } from "#proxy/limits";
import type { Form } from "#proxy/multipart/form";
import type { CallPath } from "#proxy/neutral/wire";
import type { ImageCall } from "./image-call.ts";
import { checkSources, readFormSources, readJsonSources, type SourceImages } from "./read-sources.ts";

/** Beyond what any provider takes, and within what a reservation can count. */
const framesMax = 256;

const rules = [
  kindRule("prompt", "string"),
  integerRule("n", 1, 128),
  kindRule("size", "string"),
  kindRule("quality", "string"),
  kindRule("response_format", "string"),
  kindRule("background", "string", "object"),
  kindRule("output_format", "string"),
  integerRule("output_compression", 0, 100),
  booleanRule("stream"),
  integerRule("partial_images", 0, 3),
  integerRule("frame_count", 1, framesMax),
];

/** Fields that are texts, whatever they look like. */
const texts: ReadonlySet<string> = new Set([
  ...["model", "prompt", "size", "quality", "response_format", "background", "output_format"],
  ...["moderation", "style", "user", "input_fidelity", "safety_identifier", "image", "mask"],
]);

/** Parts of which a form may have several. */
export const repeatedImageParts: ReadonlySet<string> = new Set(["image"]);

const noSources: SourceImages = { sources: [], mask: undefined };

/** @throws GatewayError `missing_parameter`, `invalid_type`, `invalid_value`, `invalid_json` */
export function readGeneration(bytes: Buffer, endpoint: CallPath, limits: ProxyLimits): ImageCall {
  const body = scanBody(bytes, limits);
  return readImageCall(body, endpoint, undefined, noSources, requirePrompt(body));
}

/** JSON, with pictures by address, as text or by id. @throws GatewayError as `readGeneration` */
export function readJsonEdit(bytes: Buffer, endpoint: CallPath, limits: ProxyLimits): ImageCall {
  const body = scanBody(bytes, limits);
  const prompt = promptOf(body, endpoint);
  const images = readJsonSources(body);
  checkSources(images);
  return readImageCall(body, endpoint, undefined, images, prompt);
}

/** @throws GatewayError as `readGeneration` */
export function readFormEdit(form: Form, endpoint: CallPath, limits: ProxyLimits): ImageCall {
  const body = readFormFields(form, texts, limits);
  const prompt = promptOf(body, endpoint);
  const images = readFormSources(form);
  checkSources(images);
  return readImageCall(body, endpoint, form, images, prompt);
}

function scanBody(bytes: Buffer, limits: ProxyLimits): ScannedObject {
  return scanJsonObject(bytes, { depthMax: limits.jsonDepthMax, keysMax: limits.jsonKeysMax });
}

/** A variation is made of a picture alone. */
function promptOf(body: ScannedObject, { format }: CallPath): string {
  return format === "ImageVariations" ? "" : requirePrompt(body);
}

function requirePrompt(body: ScannedObject): string {
  const member = requireMember(body, "prompt");
  const prompt = readString(body, member);
  if (prompt === undefined) throw new GatewayError("invalid_type", "'prompt' must be a string.", { param: "prompt" });
  if (prompt === "") throw invalidValue("prompt", "must not be empty");
  return prompt;
}

function readImageCall(
  body: ScannedObject,
  endpoint: CallPath,
  form: Form | undefined,
  { sources, mask }: SourceImages,
  prompt: string,
): ImageCall {
  const model = requireModel(body);
  checkParameters(body, rules);
  const size = readCheckedText(body, "size");
  checkSize(size);
  checkResponseFormat(readCheckedText(body, "response_format"));
  const all = mask === undefined ? sources : [...sources, mask];
  return {
    endpoint,
    model,
    stream: readFlag(body, "stream"),
    body,
    form,
    upstreamObjects: all.filter(({ kind }) => kind === "id").map(({ where }) => where),
    prompt,
    count: readCheckedCount(body, "n") ?? 1,
    asked: { size, quality: readCheckedText(body, "quality") },
    partialImages: readCheckedCount(body, "partial_images") ?? 0,
    frames: readCheckedCount(body, "frame_count") ?? 1,
    isDrawnAsText: readCheckedText(body, "output_format") === "svg",
    sources,
    mask,
  };
}

/** docs/design/images.md 1. */
function checkSize(size: string | undefined): void {
  if (size === undefined || size === "auto" || /^[1-9]\d{0,4}x[1-9]\d{0,4}$/.test(size)) return;
  throw invalidValue("size", "must be <width>x<height> in pixels, such as 1024x1024, or auto");
}

function checkResponseFormat(format: string | undefined): void {
  if (format === undefined || format === "url" || format === "b64_json") return;
  throw invalidValue("response_format", "must be url or b64_json");
}
