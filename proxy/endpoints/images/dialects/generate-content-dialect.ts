/**
 * Says calls of the image endpoints in generateContent, to models that answer with pictures: the prompt and the pictures
 * to be edited are one user turn, and each picture takes a request (docs/design/images.md 5).
 */
import type { Dialect, WrittenCall } from "#proxy/endpoints/dialects/dialect";
import type { ImageCall, SourceImage } from "#proxy/endpoints/images/call/image-call";
import type { ImageContext } from "#proxy/endpoints/images/call/image-context";
import { GatewayError } from "#proxy/errors";
import type { UpstreamPlan } from "#proxy/formats/format";
import { blockReasonOf } from "#proxy/formats/generate-content/native/block-reason";
import { readUsage } from "#proxy/formats/generate-content/native/read-usage";
import type { StreamedBody } from "#proxy/http1/client/upstream";
import { asList, asText, type JsonObject, member, memberAt } from "#proxy/json/json-value";
import { Base64Body } from "#proxy/multipart/base64-body";
import { SegmentedBody } from "#proxy/multipart/write-form";
import { mediaFromUrl } from "#proxy/neutral/media/data-url";
import { sniffMimeOfBytes } from "#proxy/neutral/media/sniff-mime";
import type { TokenUsage } from "#proxy/settle/usage";
import { furtherRequests, lostMembers, numberValue, ruledMembers, textValue } from "./google-call.ts";
import { type GoogleFormat, GoogleImageReader, type GooglePicture, type GoogleReply } from "./google-reader.ts";
import { contentRatios, googleSize } from "./google-sizes.ts";

export function generateContentDialect(context: ImageContext): Dialect<ImageCall> {
  return {
    write: (call, plan) => writeCall(call, plan, context),
    reader: (call) => new GoogleImageReader(call, context, format),
  };
}

const said = ["seed", "aspect_ratio"];

function writeCall(call: ImageCall, plan: UpstreamPlan, context: ImageContext): WrittenCall {
  const dropped = lostMembers(call, plan, said);
  const members = ruledMembers({ generationConfig: generationConfig(call, plan) }, plan);
  // A rule may have put other contents there.
  const contents = members.text("contents") === undefined ? contentsOf(call) : ["{"];
  const rest = members.write();
  const end = contents.length === 1 || rest === "" ? rest : `,${rest}`;
  const body = bodyOf([...contents, `${end}}`]);
  const one = { body, contentType: undefined, isStream: false, verb: "generateContent" };
  return { ...one, dropped, further: furtherRequests(Array(call.count - 1).fill(one), call, context, format) };
}

function generationConfig(call: ImageCall, plan: UpstreamPlan): JsonObject {
  const size = googleSize(textValue(call, "size", plan), contentRatios);
  const aspectRatio = textValue(call, "aspect_ratio", plan) ?? size?.aspectRatio;
  const seed = numberValue(call, "seed", plan);
  const imageConfig = { ...(aspectRatio && { aspectRatio }), ...(size?.imageSize && { imageSize: size.imageSize }) };
  return {
    responseModalities: ["TEXT", "IMAGE"],
    ...(seed === undefined ? {} : { seed }),
    ...(Object.keys(imageConfig).length === 0 ? {} : { imageConfig }),
  };
}

/** The beginning of the body: pictures first, since the prompt speaks of them. */
function contentsOf({ sources, prompt }: ImageCall): readonly (string | StreamedBody)[] {
  const pieces: (string | StreamedBody)[] = ['{"contents":[{"role":"user","parts":['];
  for (const source of sources) pieces.push(...partOf(source), ",");
  pieces.push(`{"text":${JSON.stringify(prompt)}}]}]`);
  return pieces;
}

function partOf(source: SourceImage): readonly (string | StreamedBody)[] {
  if (source.kind === "file") {
    const { content } = source.file;
    const mime = sniffMimeOfBytes(content.start) ?? "image/png";
    return [`{"inlineData":{"mimeType":${JSON.stringify(mime)},"data":"`, new Base64Body(content), '"}}'];
  }
  const { where } = source;
  const found = source.kind === "text" ? mediaFromUrl(source.text, "image", where) : undefined;
  if (found?.source.type !== "data") {
    // Another vendor's id means nothing there, and models differ in which addresses they open, if any.
    const message = `'${where}' must be the picture itself for this model: a data URL or base64, no address and no id.`;
    throw new GatewayError("unsupported_parameter", message, { param: where });
  }
  return [JSON.stringify({ inlineData: { mimeType: found.mime ?? "image/png", data: found.source.base64 } })];
}

/** In one piece where no file has to be read for it. */
function bodyOf(pieces: readonly (string | StreamedBody)[]): Buffer | StreamedBody {
  const texts = pieces.filter((piece) => typeof piece === "string");
  if (texts.length === pieces.length) return Buffer.from(texts.join(""));
  return new SegmentedBody(pieces.map((piece) => (typeof piece === "string" ? Buffer.from(piece) : piece)));
}

/** Finish reasons for which there is no picture, and asking again would not help. */
const refusals: ReadonlySet<string> = new Set([
  ...["SAFETY", "PROHIBITED_CONTENT", "BLOCKLIST", "SPII", "RECITATION"],
  ...["IMAGE_SAFETY", "IMAGE_PROHIBITED_CONTENT", "IMAGE_RECITATION"],
]);

const format: GoogleFormat = { read: readReply, picturesOfRequest: 1 };

function readReply(reply: JsonObject): GoogleReply | undefined {
  if (!["candidates", "promptFeedback", "usageMetadata"].some((name) => Object.hasOwn(reply, name))) return undefined;
  const candidates = asList(reply["candidates"]);
  const reasons = candidates.map((candidate) => asText(member(candidate, "finishReason")));
  return {
    pictures: candidates.flatMap((candidate) => asList(memberAt(candidate, "content", "parts")).flatMap(picturesOf)),
    usage: usageOf(reply["usageMetadata"]),
    refusal: blockReasonOf(reply) ?? reasons.find((reason) => refusals.has(reason)),
  };
}

/** Drafts among the thoughts are no pictures of the reply. */
function picturesOf(part: unknown): readonly GooglePicture[] {
  const base64 = asText(memberAt(part, "inlineData", "data"));
  const mime = asText(memberAt(part, "inlineData", "mimeType"));
  return base64 === "" || member(part, "thought") === true || !mime.startsWith("image/") ? [] : [{ base64, mime }];
}

/** Without details the output is that of pictures. */
function usageOf(metadata: unknown): TokenUsage | undefined {
  const usage = readUsage(metadata);
  if (usage === undefined || asList(member(metadata, "candidatesTokensDetails")).length > 0) return usage;
  return { ...usage, output: 0, imageOutput: usage.imageOutput + usage.output };
}
