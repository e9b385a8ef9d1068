/**
 * Speaks to upstreams whose calls and replies have the shape of OpenAI's `/v1/embeddings`: OpenAI itself, Azure, vLLM
 * and many others, and Voyage and Jina, who give some members other names
 * (https://platform.openai.com/docs/api-reference/embeddings, https://docs.voyageai.com/reference/embeddings-api,
 * https://api.jina.ai/redoc).
 */
import type { Dialect, WrittenCall } from "#proxy/endpoints/dialects/dialect";
import { editJsonBody } from "#proxy/endpoints/dialects/edit-json-body";
import type { EmbeddingCall } from "#proxy/endpoints/embeddings/call/embedding-call";
import { asCount, asTruncation, refuseLost, SaidFields, textsOf } from "#proxy/endpoints/embeddings/call/said-fields";
import { type TaskVendor, taskFor } from "#proxy/endpoints/embeddings/call/tasks";
import { readVectorList } from "#proxy/endpoints/embeddings/vectors/read-vector-list";
import { vectorReader } from "#proxy/endpoints/embeddings/vectors/vector-reader";
import { isAbsent } from "#proxy/formats/body/body-rules";
import type { UpstreamPlan } from "#proxy/formats/format";
import type { BodyEditor } from "#proxy/json/body-editor";
import { providerOf } from "#proxy/providers/providers";
import type { Channel } from "#proxy/snapshot/types.gen";
import { writtenBody } from "./written-body.ts";

/** The names of a vendor; undefined for what it has no member for. */
interface VendorNames {
  readonly dimensions: string;
  readonly truncate?: string;
  readonly task?: { readonly name: string; readonly vendor: TaskVendor };
  /** Where the encoding stands; `float` is what it sends without being asked, and no value of it. */
  readonly encoding?: string;
  /** Members of the interface that it refuses as unknown. */
  readonly unknown: readonly string[];
}

const usual: VendorNames = { dimensions: "dimensions", unknown: [] };

const voyage: VendorNames = {
  dimensions: "output_dimension",
  truncate: "truncation",
  task: { name: "input_type", vendor: "Voyage" },
  encoding: "encoding_format",
  unknown: ["user", "late_chunking"],
};

const jina: VendorNames = {
  dimensions: "dimensions",
  truncate: "truncate",
  task: { name: "task", vendor: "Jina" },
  encoding: "embedding_type",
  unknown: [],
};

export const openAIDialect = listDialect(usual);
export const voyageDialect = listDialect(voyage);
export const jinaDialect = listDialect(jina);

function listDialect(names: VendorNames): Dialect<EmbeddingCall> {
  return {
    write: (call, plan) =>
      call.endpoint.format === "Embeddings" ? editClients(call, plan, names) : writeGoogles(call, plan, names),
    reader: (call) => vectorReader(call, readVectorList),
  };
}

function editClients({ body }: EmbeddingCall, plan: UpstreamPlan, names: VendorNames): WrittenCall {
  const lost: string[] = [];
  const written = editJsonBody(body, "Embeddings", plan, (editor) => {
    // The response is encoded as the client asked, whatever an upstream without a choice sends.
    if (providerOf(plan.channel).unsupported.Embeddings?.includes("encoding_format") === true) {
      editor.remove("encoding_format");
    }
    if (names !== usual) lost.push(...rename(editor, plan.channel, names));
  });
  refuseLost(lost, plan.channel);
  return lost.length === 0 ? written : { ...written, dropped: [...written.dropped, ...lost] };
}

/** @returns members of the client's that the vendor does not know, or not with that value */
function rename(editor: BodyEditor, { privacy }: Channel, names: VendorNames): readonly string[] {
  const lost: string[] = [];
  const move = (from: string, to: string | undefined, say = (text: string): string | undefined => text): void => {
    const text = editor.text(from);
    if (to === undefined || text === undefined) return;
    const value = isAbsent(editor, from) ? undefined : say(text);
    if (value !== undefined && (from === to || isAbsent(editor, to))) editor.set(to, value);
    // Under the vendor's own name it is for the vendor to judge.
    if (from === to) return;
    if (value === undefined && !isAbsent(editor, from)) lost.push(from);
    editor.remove(from);
  };
  move("dimensions", names.dimensions);
  for (const from of ["truncate", "truncation"]) move(from, names.truncate, sayTruncation);
  const { task } = names;
  // What no vendor calls so may be a task that came later: the upstream's own name passes.
  const sayTask = (text: string): string =>
    task === undefined ? text : JSON.stringify(taskFor(task.vendor, JSON.parse(text)) ?? JSON.parse(text));
  for (const from of ["input_type", "task"]) move(from, task?.name, sayTask);
  move("encoding_format", names.encoding);
  if (names.encoding !== undefined && editor.text(names.encoding) === '"float"') editor.remove(names.encoding);
  for (const name of names.unknown) {
    // Who the client says it is would not have gone out: nothing is lost with it.
    const isStripped = name === "user" && privacy.clientMetadata === "Strip";
    if (!isAbsent(editor, name) && !isStripped) lost.push(name);
    editor.remove(name);
  }
  return lost;
}

function sayTruncation(text: string): string | undefined {
  const truncation = asTruncation(JSON.parse(text));
  return truncation === undefined ? undefined : String(truncation);
}

function writeGoogles(call: EmbeddingCall, plan: UpstreamPlan, names: VendorNames): WrittenCall {
  const texts = textsOf(call);
  const fields = new SaidFields(call, plan.unsupported);
  const { task } = names;
  const members: Record<string, unknown> = {
    model: plan.upstreamModel,
    input: call.endpoint.verb === "embedContent" ? texts[0] : texts,
    [names.dimensions]: fields.take("dimensions", asCount),
  };
  if (task !== undefined) members[task.name] = fields.take("task", (value) => taskFor(task.vendor, value));
  return { body: writtenBody(members, plan), dropped: fields.lost(plan.channel) };
}
