/**
 * Says calls for pictures to Imagen (`:predict`), which makes up to four with one request (docs/design/images.md 5), and
 * passes on those of clients that speak its format (docs/design/images.md 6).
 */
import type { Dialect, WrittenCall } from "#proxy/endpoints/dialects/dialect";
import { WholeReader } from "#proxy/endpoints/dialects/whole-reader";
import type { ImageCall } from "#proxy/endpoints/images/call/image-call";
import type { ImageContext } from "#proxy/endpoints/images/call/image-context";
import { countKinds } from "#proxy/endpoints/images/replies/read-images";
import { applyPlanRules, applyUnsupportedPolicy, removeUnsupported } from "#proxy/formats/body/body-rules";
import type { UpstreamPlan } from "#proxy/formats/format";
import { BodyEditor } from "#proxy/json/body-editor";
import { asList, asText, isObject, type JsonObject, member, parseJson } from "#proxy/json/json-value";
import type { WrittenRequest } from "#proxy/upstream/request/build-upstream-request";
import { furtherRequests, lostMembers, numberValue, ruledMembers, textValue } from "./google-call.ts";
import { type GoogleFormat, GoogleImageReader, type GoogleReply } from "./google-reader.ts";
import { googleSize, predictRatios } from "./google-sizes.ts";

/** `sampleCount`: Google, "Imagen", section "Configuration". */
export const picturesOfRequest = 4;

export function predictDialect(context: ImageContext): Dialect<ImageCall> {
  return {
    write: (call, plan) => writeCall(call, plan, context),
    reader: (call) => new GoogleImageReader(call, context, format),
  };
}

const said = ["output_format", "output_compression", "aspect_ratio", "seed"];

/** For clients that speak the same: the model stands in the path, and the reply passes as it came. */
export function ownPredictDialect({ chargedKind }: ImageContext): Dialect<ImageCall> {
  return {
    write: ({ body }, plan) => {
      const editor = new BodyEditor(body);
      removeUnsupported(editor, plan);
      const dropped = applyUnsupportedPolicy(editor, plan, "Predict");
      applyPlanRules(editor, plan);
      return { body: editor.build(), dropped };
    },
    reader: () =>
      new WholeReader((body) => {
        const json = parseJson(body.toString("utf8"));
        const isReply = isObject(json) && (json["error"] ?? undefined) === undefined && readReply(json) !== undefined;
        if (!isReply) return undefined;
        const kinds = asList(json["predictions"])
          .filter(isPicture)
          .map(() => chargedKind({ size: undefined, quality: undefined }));
        return { usage: undefined, units: { images: countKinds(kinds) }, response: () => body };
      }),
  };
}

/** Also one that lies in the client's own storage; filtered ones are neither. */
function isPicture(prediction: unknown): boolean {
  return ["bytesBase64Encoded", "gcsUri"].some((name) => asText(member(prediction, name)) !== "");
}

function writeCall(call: ImageCall, plan: UpstreamPlan, context: ImageContext): WrittenCall {
  const dropped = lostMembers(call, plan, said);
  const requests: WrittenRequest[] = [];
  for (let left = call.count; left > 0; left -= picturesOfRequest) {
    requests.push({ body: bodyOf(call, plan, Math.min(left, picturesOfRequest)), isStream: false });
  }
  const [first = { body: bodyOf(call, plan, 1), isStream: false }, ...further] = requests;
  return { ...first, dropped, further: furtherRequests(further, call, context, format) };
}

function bodyOf(call: ImageCall, plan: UpstreamPlan, sampleCount: number): Buffer {
  const size = googleSize(textValue(call, "size", plan), predictRatios);
  const format = textValue(call, "output_format", plan);
  const compressionQuality = numberValue(call, "output_compression", plan);
  const outputOptions = {
    ...(format === undefined ? {} : { mimeType: `image/${format}` }),
    ...(compressionQuality === undefined ? {} : { compressionQuality }),
  };
  const parameters = {
    sampleCount,
    aspectRatio: textValue(call, "aspect_ratio", plan) ?? size?.aspectRatio,
    // It makes no larger ones.
    sampleImageSize: size?.imageSize === undefined ? undefined : "2K",
    seed: numberValue(call, "seed", plan),
    outputOptions: Object.keys(outputOptions).length === 0 ? undefined : outputOptions,
    includeRaiReason: true,
  };
  return Buffer.from(`{${ruledMembers({ instances: [{ prompt: call.prompt }], parameters }, plan).write()}}`);
}

const format: GoogleFormat = { read: readReply, picturesOfRequest };

function readReply(reply: JsonObject): GoogleReply | undefined {
  // Nothing is what it says when it has filtered everything.
  if (Object.keys(reply).length > 0 && !Object.hasOwn(reply, "predictions")) return undefined;
  const predictions = asList(reply["predictions"]);
  const reason = predictions.map((each) => asText(member(each, "raiFilteredReason"))).find((text) => text !== "");
  const pictures = predictions.flatMap((each) => {
    const base64 = asText(member(each, "bytesBase64Encoded"));
    return base64 === "" ? [] : [{ base64, mime: asText(member(each, "mimeType")) || "image/png" }];
  });
  return {
    pictures,
    usage: undefined,
    refusal: reason ?? (pictures.length === 0 ? "no picture passed its filters" : undefined),
  };
}
