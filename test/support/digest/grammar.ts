/**
 * What a client of each format may insist on in a stream beyond its facts: order of events, their names, the end. The
 * rules are those of docs/design/recorded-traffic.md 1.
 */
import { at, type DigestProtocol, list } from "./facts.ts";
import { type ParsedReply, parseReply, type ReplyEvent } from "./parse-reply.ts";

/** @returns one sentence for each rule the stream breaks; none for a clean one */
export function checkGrammar(protocol: DigestProtocol, bytes: Buffer): string[] {
  const reply = parseReply(bytes);
  if (reply.events === undefined) return ["not a stream"];
  const problems = new Set<string>(checks[protocol](reply, reply.events));
  if (!/(?:\n\n|\r\n\r\n|\r\r)$/.test(bytes.toString("latin1"))) problems.add("no blank line at the end");
  for (const line of bytes.toString("utf8").split(/\r\n|\n|\r/)) {
    if (!/^(?:|:.*|(?:data|event|id|retry)(?::.*)?)$/s.test(line)) problems.add(`a stray line: ${line.slice(0, 40)}`);
  }
  return [...problems];
}

type Check = (reply: ParsedReply, events: readonly ReplyEvent[]) => Iterable<string>;

const checks: Readonly<Record<DigestProtocol, Check>> = {
  "openai-chat": checkChat,
  "openai-responses": checkResponses,
  "anthropic-messages": checkMessages,
  gemini: checkGemini,
};

function* checkChat(reply: ParsedReply, events: readonly ReplyEvent[]): Iterable<string> {
  const all = events.map((event) => event.json);
  const chunks = all.filter((chunk) => at(chunk, "error") === undefined);
  const isError = chunks.length < all.length;
  if (events.some((event) => event.name !== undefined)) yield "an event line";
  if (new Set(chunks.map((chunk) => at(chunk, "id"))).size > 1) yield "more than one id";
  if (chunks.some((chunk) => at(chunk, "object") !== "chat.completion.chunk")) yield "an object of another kind";
  const finishes = chunks
    .flatMap((chunk) => list(at(chunk, "choices")))
    .filter((choice) => at(choice, "index") === 0 && typeof at(choice, "finish_reason") === "string");
  if (finishes.length !== 1 && !isError) yield `${finishes.length} finish reasons`;
  if (!reply.hasDone && !isError) yield "no [DONE]";
}

const terminal = new Set(["response.completed", "response.incomplete", "response.failed", "error"]);

function* checkResponses(reply: ParsedReply, events: readonly ReplyEvent[]): Iterable<string> {
  if (events[0]?.name !== "response.created") yield `begins with ${events[0]?.name}`;
  let open = 0;
  for (const [index, { name, json }] of events.entries()) {
    if (name !== at(json, "type")) yield "an event named otherwise than its type";
    const number = at(json, "sequence_number");
    if (typeof number !== "number") yield "no sequence_number";
    else if (index > 0 && number !== Number(at(events[index - 1]?.json, "sequence_number")) + 1)
      yield "a gap in sequence_number";
    if (name === "response.output_item.added") open += 1;
    if (name === "response.output_item.done") open -= 1;
  }
  if (open !== 0) yield "items added and done do not balance";
  if (!terminal.has(events.at(-1)?.name ?? "")) yield "no terminal event at the end";
  if (reply.hasDone) yield "[DONE]";
}

function* checkMessages(reply: ParsedReply, events: readonly ReplyEvent[]): Iterable<string> {
  const real = events.filter((event) => event.name !== "ping");
  if (real[0]?.name !== "message_start") yield `begins with ${real[0]?.name}`;
  let next = 0;
  let open: unknown;
  let starts = 0;
  for (const { name, json } of real) {
    if (name !== at(json, "type")) yield "an event named otherwise than its type";
    if (name === "message_start") starts += 1;
    if (name === "content_block_start") {
      if (open !== undefined) yield "blocks overlap";
      open = at(json, "index");
      if (open !== next) yield "block indexes do not count 0, 1, 2";
      next += 1;
    }
    if (name === "content_block_stop") {
      if (at(json, "index") !== open) yield "a block stops that is not open";
      open = undefined;
    }
  }
  if (starts !== 1) yield `${starts} message_start`;
  const isError = real.at(-1)?.name === "error";
  if (open !== undefined && !isError) yield "a block is not stopped";
  if (!isError && real.every((event) => event.name !== "message_delta")) yield "no message_delta";
  if (!isError && real.at(-1)?.name !== "message_stop") yield "no message_stop at the end";
  if (reply.hasDone) yield "[DONE]";
}

function* checkGemini(reply: ParsedReply, events: readonly ReplyEvent[]): Iterable<string> {
  for (const { name, json } of events) {
    if (name !== undefined) yield "an event line";
    const isReply = ["candidates", "promptFeedback", "usageMetadata", "error"].some(
      (member) => at(json, member) !== undefined,
    );
    if (!isReply) yield "a chunk that is neither a reply nor an error";
  }
  if (reply.hasDone) yield "[DONE]";
}
