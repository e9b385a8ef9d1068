/** Passes calls of the image endpoints on to upstreams that serve the same: in the client's own JSON or form. */
import type { Dialect, WrittenCall } from "#proxy/endpoints/dialects/dialect";
import { editJsonBody } from "#proxy/endpoints/dialects/edit-json-body";
import { editForm } from "#proxy/endpoints/forms/edit-form";
import type { ImageCall } from "#proxy/endpoints/images/call/image-call";
import type { ImageContext } from "#proxy/endpoints/images/call/image-context";
import { GatewayError } from "#proxy/errors";
import type { UpstreamPlan } from "#proxy/formats/format";
import type { BodyEditor } from "#proxy/json/body-editor";
import { readString } from "#proxy/json/strict-json";
import { OpenAIImageReader } from "./open-ai-reader.ts";

export function openAIDialect(context: ImageContext): Dialect<ImageCall> {
  return { write: writeCall, reader: (call) => new OpenAIImageReader(call, context) };
}

function writeCall(call: ImageCall, plan: UpstreamPlan): WrittenCall {
  const { body, form, endpoint } = call;
  const isRefused = refusesResponseFormat(plan.upstreamModel) && body.member("response_format") !== undefined;
  const lost = isRefused ? lostResponseFormat(call, plan) : [];
  const edit = (editor: BodyEditor): void => {
    if (isRefused) editor.remove("response_format");
  };
  const written =
    form === undefined
      ? editJsonBody(body, endpoint.format, plan, edit)
      : editForm({ form, fields: body }, endpoint.format, plan, edit);
  return lost.length === 0 ? written : { ...written, dropped: [...lost, ...written.dropped] };
}

/** They always give the picture itself, and do not know the parameter: OpenAI, "Create image", `response_format`. */
function refusesResponseFormat(model: string): boolean {
  return /(?:^|\/)(?:gpt-image|chatgpt-image)/.test(model);
}

/** Only a client that wants an address gets something else than it asked for. */
function lostResponseFormat({ body }: ImageCall, { channel }: UpstreamPlan): readonly string[] {
  const member = body.member("response_format");
  if (member === undefined || readString(body, member) !== "url") return [];
  if (channel.unsupportedParameters === "Ignore") return ["response_format"];
  const message = "'response_format' is not supported by this model: it gives pictures as base64.";
  throw new GatewayError("unsupported_parameter", message, { param: "response_format" });
}
