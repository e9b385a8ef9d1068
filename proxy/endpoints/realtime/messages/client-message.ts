/**
 * Reads a client's message strictly, finds the models that it names and edits them (PURE).
 *
 * The same rules hold as for the body of a call (`json/strict-json.ts`): what the gateway reads is what the upstream will
 * read. Every other byte passes as it came, so that members which nobody knows yet survive.
 */
import { GatewayError } from "#proxy/errors";
import { capOutput } from "#proxy/formats/body/output-members";
import { BodyEditor } from "#proxy/json/body-editor";
import { parseJson } from "#proxy/json/json-value";
import {
  foldCase,
  type Member,
  readNumber,
  readString,
  readText,
  type ScannedObject,
  type ScanOptions,
  scanJsonObject,
  scanMembers,
} from "#proxy/json/strict-json";
import type { Channel } from "#proxy/snapshot/types.gen";

export interface ClientMessage {
  readonly type: string;
  /** Repeated by the upstream in an error about this message. */
  readonly eventId: string | undefined;
  readonly body: ScannedObject;
  /** Objects inside of it that have been looked into, by where they begin: each is scanned once. */
  readonly nested: Map<number, ScannedObject>;
}

/** A model as a message names it. */
export interface NamedModel {
  readonly use: "conversation" | "transcription";
  readonly path: readonly string[];
  readonly model: string;
}

/** Where a message of today's and of the beta interface names a model; also where some upstreams read one. */
const modelPlaces: readonly (readonly [NamedModel["use"], readonly string[]])[] = [
  ["conversation", ["model"]],
  ["conversation", ["session", "model"]],
  ["conversation", ["response", "model"]],
  ["transcription", ["session", "audio", "input", "transcription", "model"]],
  ["transcription", ["session", "input_audio_transcription", "model"]],
];
const betaCap = "max_response_output_tokens";
const capMembers = ["max_output_tokens", betaCap] as const;
const transcriptionPlaces = [
  ["session", "audio", "input", "transcription"],
  ["session", "input_audio_transcription"],
];
/** Of parts of an item: what they hold is no text (`usage/message-size.ts`). */
const measuredMembers: readonly string[] = ["audio", "image_url"];
/** Members that decide what a message does: an upstream that folds case must not find others. */
const routingMembers = new Set(["type", "session", "response", "event_id", "model"]);

/** @throws GatewayError `invalid_json`, `missing_parameter`, `invalid_type` */
export function readClientMessage(bytes: Buffer, bounds: ScanOptions): ClientMessage {
  const body = scanJsonObject(bytes, { ...bounds, watch: measuredMembers });
  for (const { name } of body.members) {
    const folded = foldCase(name);
    if (folded !== name && routingMembers.has(folded)) throw otherCase(name, folded);
  }
  const type = body.member("type");
  if (type === undefined) throw new GatewayError("missing_parameter", "'type' is missing.", { param: "type" });
  const name = readString(body, type);
  if (name === undefined) throw new GatewayError("invalid_type", "'type' must be a string.", { param: "type" });
  return { type: name, eventId: readString(body, body.member("event_id")), body, nested: new Map() };
}

/** @throws GatewayError `invalid_type` for a model that is no name, `invalid_json` for a member that stands twice */
export function namedModels(message: ClientMessage): NamedModel[] {
  const named: NamedModel[] = [];
  for (const [use, path] of modelPlaces) {
    const found = find(message, path);
    if (found === undefined || found.member.kind === "null") continue;
    const model = readString(found.owner, found.member);
    if (model === undefined) {
      const param = path.join(".");
      throw new GatewayError("invalid_type", `'${param}' must be a string.`, { param });
    }
    named.push({ use, path, model });
  }
  return named;
}

/** What is changed in a message before it goes upstream. */
export interface MessageEdits {
  /** The models that it names, by the upstream's names. */
  readonly models: readonly { readonly path: readonly string[]; readonly upstreamModel: string }[];
  /** An id by which the upstream can tell an error about it; the client's own stays. */
  readonly eventId?: string;
  /** The channel keeps them from its provider. */
  readonly dropsMetadata?: boolean;
  /** The most tokens of a response where the message sets none; undefined: it stays without. */
  readonly cap?: { readonly owner: "response" | "session"; readonly tokens: number | undefined };
}

/** @returns the message as the upstream gets it */
export function editMessage(message: ClientMessage, edits: MessageEdits): Buffer {
  const { body, eventId } = message;
  const editor = new BodyEditor(body);
  for (const { path, upstreamModel } of edits.models) {
    editorAt(editor, path.slice(0, -1)).set(path.at(-1) ?? "", JSON.stringify(upstreamModel));
  }
  if (eventId === undefined && edits.eventId !== undefined) editor.set("event_id", JSON.stringify(edits.eventId));
  if (edits.dropsMetadata === true && find(message, ["response", "metadata"]) !== undefined) {
    editor.nested("response").remove("metadata");
  }
  if (edits.cap?.tokens !== undefined) setCap(editor.nested(edits.cap.owner), edits.cap.owner, edits.cap.tokens);
  return editor.build();
}

/** In the member that says that there is none; else by the name of the beta interface where the session is of that one. */
function setCap(editor: BodyEditor, owner: "response" | "session", tokens: number): void {
  const own = owner === "session" && !editor.has("type") ? betaCap : capMembers[0];
  capOutput(editor, tokens, capMembers, own);
}

/** Whether the message ends the transcription of what the client says. */
export function endsTranscription(message: ClientMessage): boolean {
  return transcriptionPlaces.some((path) => find(message, path)?.member.kind === "null");
}

/** Where the message asks for a transcription and names no model for it: the upstream would take one of its own. */
export function unnamedTranscription(message: ClientMessage): readonly string[] | undefined {
  return transcriptionPlaces.find((path) => {
    const model = find(message, [...path, "model"]);
    return find(message, path)?.member.kind === "object" && (model === undefined || model.member.kind === "null");
  });
}

/**
 * Objects that the upstream's account keeps may be another tenant's (docs/design/configuration.md 2.2).
 * @throws GatewayError `unsupported_parameter`
 */
export function refuseUpstreamObjects(
  message: ClientMessage,
  { upstreamObjects }: Pick<Channel, "upstreamObjects">,
): void {
  if (upstreamObjects === "Shared") return;
  for (const path of [
    ["session", "prompt"],
    ["response", "prompt"],
  ]) {
    const found = find(message, path);
    if (found === undefined || found.member.kind === "null") continue;
    const param = path.join(".");
    throw new GatewayError(
      "unsupported_parameter",
      `'${param}' names an object of the upstream's account, which is not shared. Leave it out.`,
      { param },
    );
  }
}

/**
 * The most tokens that a message allows its response or its session to say; undefined where it says nothing of it.
 * @throws GatewayError `invalid_value` where it says so twice: an upstream reads either name
 */
export function outputCapOf(message: ClientMessage, owner: "response" | "session"): number | "none" | undefined {
  const [found, second] = capMembers.flatMap((name) => find(message, [owner, name]) ?? []);
  if (found === undefined) return undefined;
  if (second !== undefined) {
    const param = `${owner}.${second.member.name}`;
    const text = `'${param}' must not stand beside '${owner}.${found.member.name}'. Send one of them.`;
    throw new GatewayError("invalid_value", text, { param });
  }
  const cap = readNumber(found.owner, found.member);
  return cap !== undefined && Number.isSafeInteger(cap) && cap > 0 ? cap : "none";
}

/** Whether a response stands beside the conversation: the next one does not read it. */
export function asksOutOfBand(message: ClientMessage): boolean {
  const found = find(message, ["response", "conversation"]);
  return found !== undefined && readString(found.owner, found.member) === "none";
}

/** What the upstream repeats when the response begins. */
export function metadataOf(message: ClientMessage): unknown {
  const found = find(message, ["response", "metadata"]);
  return found === undefined ? undefined : parseJson(readText(found.owner, found.member));
}

type Found = { readonly owner: ScannedObject; readonly member: Member };

/** @throws GatewayError `invalid_json` where an object on the way has a member twice, or the next one in another case */
function find(message: ClientMessage, path: readonly string[]): Found | undefined {
  let owner = message.body;
  for (const [depth, name] of path.entries()) {
    refuseOtherCase(owner, name);
    const member = owner.member(name);
    if (member === undefined) return undefined;
    if (depth === path.length - 1) return { owner, member };
    if (member.kind !== "object") return undefined;
    owner = scannedAt(message, member);
  }
  return undefined;
}

/** An object of the message's top level; undefined where it has none of this name. */
export function nestedObject(message: ClientMessage, name: string): ScannedObject | undefined {
  const member = message.body.member(name);
  return member?.kind === "object" ? scannedAt(message, member) : undefined;
}

function scannedAt({ body, nested }: ClientMessage, { valueStart, valueEnd }: Member): ScannedObject {
  const known = nested.get(valueStart);
  if (known !== undefined) return known;
  const scanned = scanMembers(body.bytes, valueStart, valueEnd);
  nested.set(valueStart, scanned);
  return scanned;
}

/** An upstream that folds case would find it where the gateway does not. */
function refuseOtherCase({ members }: ScannedObject, wanted: string): void {
  for (const { name } of members) {
    if (name !== wanted && foldCase(name) === wanted) throw otherCase(name, wanted);
  }
}

function otherCase(name: string, wanted: string): GatewayError {
  return new GatewayError("invalid_json", `The member ${JSON.stringify(name)} must be spelled "${wanted}".`);
}

function editorAt(editor: BodyEditor, path: readonly string[]): BodyEditor {
  return path.reduce((outer, name) => outer.nested(name), editor);
}
