/** Speaks to upstreams of Google's `:embedContent` and `:batchEmbedContents` (https://ai.google.dev/api/embeddings). */
import type { Dialect, WrittenCall } from "#proxy/endpoints/dialects/dialect";
import { missingUsage } from "#proxy/endpoints/embeddings/call/count-input";
import type { EmbeddingCall } from "#proxy/endpoints/embeddings/call/embedding-call";
import { asCount, SaidFields, textsOf } from "#proxy/endpoints/embeddings/call/said-fields";
import { taskFor } from "#proxy/endpoints/embeddings/call/tasks";
import { readGoogle } from "#proxy/endpoints/embeddings/vectors/read-own-shapes";
import { vectorReader } from "#proxy/endpoints/embeddings/vectors/vector-reader";
import { applyPlanRules, applyUnsupportedPolicy, removeUnsupported } from "#proxy/formats/body/body-rules";
import type { UpstreamPlan } from "#proxy/formats/format";
import { BodyEditor } from "#proxy/json/body-editor";
import { JsonCursor } from "#proxy/json/json-cursor";
import { type ScannedObject, scanMembers, type ValueRange } from "#proxy/json/strict-json";
import { hasRules, writtenBody } from "./written-body.ts";

export const googleDialect: Dialect<EmbeddingCall> = {
  write: (call, plan) => (call.endpoint.format === "EmbedContent" ? editClients(call, plan) : writeOpenAIs(call, plan)),
  missingUsage,
  reader: (call) => vectorReader(call, readGoogle),
};

/** One input is `embedContent`, several are a batch with one request each. */
function writeOpenAIs(call: EmbeddingCall, plan: UpstreamPlan): WrittenCall {
  const texts = textsOf(call);
  const fields = new SaidFields(call, plan.unsupported);
  const model = nameOf(plan);
  const taskType = fields.take("task", (value) => taskFor("Google", value));
  const outputDimensionality = fields.take("dimensions", asCount);
  // Google cuts what is too long unless it is told otherwise, which this API cannot be.
  fields.take("truncate", (value) => (value === true || value === "END" ? true : undefined));
  const dropped = fields.lost(plan.channel);
  const requests = texts.map((text) =>
    writtenBody({ model, content: { parts: [{ text }] }, taskType, outputDimensionality }, plan),
  );
  const [first] = requests;
  if (requests.length === 1 && first !== undefined) return { body: first, dropped, verb: "embedContent" };
  return { body: batchOf(requests), dropped, verb: "batchEmbedContents" };
}

function batchOf(requests: readonly Buffer[]): Buffer {
  const pieces: Buffer[] = [Buffer.from('{"requests":[')];
  for (const [index, request] of requests.entries()) pieces.push(index === 0 ? empty : commaBytes, request);
  pieces.push(Buffer.from("]}"));
  return Buffer.concat(pieces);
}

const empty = Buffer.alloc(0);
const commaBytes = Buffer.from(",");

function nameOf({ upstreamModel }: UpstreamPlan): string {
  return `models/${upstreamModel}`;
}

function editClients({ body, endpoint, requests }: EmbeddingCall, plan: UpstreamPlan): WrittenCall {
  const { verb = "embedContent" } = endpoint;
  const model = JSON.stringify(nameOf(plan));
  if (verb === "embedContent") return { ...editRequest(body, plan, model), verb };
  const named = body.hits.filter(({ path }) => path.length === 3 && path[0] === "requests");
  const isPlain = !hasRules(plan) && (plan.unsupported ?? []).length === 0 && named.length === requests.length;
  if (isPlain) return { body: withValue(body.bytes, named, model), dropped: [], verb };
  return { ...editRequests(body, plan, model), verb };
}

function editRequest(
  request: ScannedObject,
  plan: UpstreamPlan,
  model: string,
): { readonly body: Buffer; readonly dropped: readonly string[] } {
  const editor = new BodyEditor(request);
  removeUnsupported(editor, plan);
  const dropped = applyUnsupportedPolicy(editor, plan, "EmbedContent");
  applyPlanRules(editor, plan);
  editor.set("model", model);
  return { body: editor.build(), dropped };
}

/** Rules are about the call of one content: they hold for each request of a batch. */
function editRequests(body: ScannedObject, plan: UpstreamPlan, model: string): WrittenCall {
  const { bytes } = body;
  const pieces: Buffer[] = [];
  const dropped = new Set<string>();
  const cursor = new JsonCursor(bytes, body.member("requests")?.valueStart ?? 0);
  let from = 0;
  cursor.array(() => {
    const { start, end } = cursor.skip();
    const request = editRequest(scanMembers(bytes.subarray(start, end), 0, end - start), plan, model);
    pieces.push(bytes.subarray(from, start), request.body);
    for (const name of request.dropped) dropped.add(name);
    from = end;
  });
  pieces.push(bytes.subarray(from));
  return { body: Buffer.concat(pieces), dropped: [...dropped] };
}

function withValue(bytes: Buffer, places: readonly ValueRange[], text: string): Buffer {
  const value = Buffer.from(text);
  const pieces: Buffer[] = [];
  let from = 0;
  for (const { valueStart, valueEnd } of places) {
    pieces.push(bytes.subarray(from, valueStart), value);
    from = valueEnd;
  }
  pieces.push(bytes.subarray(from));
  return Buffer.concat(pieces);
}
