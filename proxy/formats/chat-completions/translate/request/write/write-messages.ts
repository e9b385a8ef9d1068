/**
 * Writes turns as chat messages (docs/design/translation.md 4.1 to 4.3 and 5.5).
 *
 * Every call gets its own `tool` message right behind the assistant message that made it, in the order of the calls;
 * content that a tool message cannot hold follows in a message of the user.
 */
import type { JsonObject } from "#proxy/json/json-value";
import type { CallPart, MediaPart, Part, ProviderState, ResultPart, TextPart, Turn } from "#proxy/neutral/conversation";
import type { StateKeeper } from "#proxy/neutral/state/keeper";
import { functionArguments } from "#proxy/neutral/tools/custom-tools";
import type { FittedNames } from "#proxy/neutral/tools/fitted-names";
import type { ToolNames } from "#proxy/neutral/tools/tool-names";
import type { ChatTraits } from "#proxy/neutral/traits/chat-traits";
import { hasText, type MarkAbility, placeMarks } from "#proxy/neutral/turns/cache-marks";
import { demoteSystem } from "#proxy/neutral/turns/demote-system";
import { pairResults } from "#proxy/neutral/turns/pair-results";
import { unreachable } from "#proxy/runtime/unreachable";
import { shortCallId } from "./short-call-id.ts";
import { type ContentWriter, writeContent } from "./write-content.ts";
import { fillThinking, type StatesOfParts, writeThinking } from "./write-thinking.ts";

export interface MessageWriting extends ContentWriter {
  readonly names: ToolNames;
  /** Ids of calls as the target takes them; none where it takes any. */
  readonly ids: FittedNames | undefined;
  readonly states: StateKeeper;
}

const noFiles: readonly JsonObject[] = [];

export function writeMessages(turns: readonly Turn[], writer: MessageWriting): readonly JsonObject[] {
  const paired = pairResults(placeMarks(turns, markAbility(writer.traits), writer.losses));
  const placed = writer.traits.systemFirst ? joinLeadingSystem(demoteSystem(paired)) : paired;
  const messages: JsonObject[] = [];
  /** Files of a message with calls: nothing may stand between it and its results. */
  let waiting = noFiles;
  for (const run of runsOfTurns(placed)) {
    for (const message of writeRun(run, writer)) messages.push(message);
    const files = writeFiles(run, writer);
    for (const message of waiting) messages.push(message);
    waiting = files;
    if (hasCall(run)) continue;
    for (const message of waiting) messages.push(message);
    waiting = noFiles;
  }
  return fillThinking(messages);
}

/** Calls and thinking stand in members of the message that have no place for marks. */
function markAbility({ isOpenAI, takesCacheControl }: ChatTraits): MarkAbility {
  return {
    takes: ({ isBreakpoint }) => takesCacheControl || (isOpenAI && isBreakpoint === true),
    hasPlace: (part, role) => {
      if (part.kind === "result") return hasText(part);
      return part.kind === "text" || (part.kind === "media" && role !== "assistant");
    },
    isBlank: (text) => text === "",
  };
}

function hasCall(run: readonly Turn[]): boolean {
  return run.some(({ role, parts }) => role === "assistant" && parts.some(({ kind }) => kind === "call"));
}

/** Templates that want the system text first take one such message. */
function joinLeadingSystem(turns: readonly Turn[]): readonly Turn[] {
  const first = turns.findIndex(({ role }) => role !== "system");
  const leading = turns.slice(0, first < 0 ? turns.length : first);
  if (leading.length < 2) return turns;
  return [{ role: "system", parts: leading.flatMap(({ parts }) => parts) }, ...turns.slice(leading.length)];
}

/** Neighbouring assistant turns are one message: a provider wants results right behind the message that called. */
function runsOfTurns(turns: readonly Turn[]): Turn[][] {
  const runs: Turn[][] = [];
  for (const turn of turns) {
    const last = runs.at(-1);
    if (turn.role === "assistant" && last?.[0]?.role === "assistant") last.push(turn);
    else runs.push([turn]);
  }
  return runs;
}

function writeRun(run: readonly Turn[], writer: MessageWriting): JsonObject[] {
  const [turn] = run;
  if (turn === undefined) return [];
  switch (turn.role) {
    case "system":
      return writeSystem(turn, writer);
    case "assistant":
      return writeAssistant(run, writer);
    case "tool":
    case "user":
      return writeUser(turn, writer);
    default:
      return unreachable(turn.role);
  }
}

/** One text of all parts, unless marks for the cache must keep their places. */
function writeSystem(turn: Turn, writer: MessageWriting): JsonObject[] {
  const texts = turn.parts.filter((part): part is TextPart => part.kind === "text" && part.text !== "");
  if (texts.length === 0) return [];
  const role = turn.isDeveloper === true && writer.traits.isOpenAI ? "developer" : "system";
  const isMarked = texts.some(({ cache }) => cache !== undefined);
  const content = isMarked ? writeContent(texts, writer) : texts.map(({ text }) => text).join("\n\n");
  return [namedMessage(role, turn, content)];
}

/** Names of other formats may hold what OpenAI refuses. */
function namedMessage(role: string, { name }: Turn, content: unknown): JsonObject {
  const isValid = name !== undefined && /^[^\s<|\\/>]{1,64}$/.test(name);
  return isValid ? { role, name, content } : { role, content };
}

/** Results first, each a message of its own; then their media, then what the user said. */
function writeUser(turn: Turn, writer: MessageWriting): JsonObject[] {
  const results = turn.parts.filter((part) => part.kind === "result");
  const messages = results.map((result) => writeResult(result, writer));
  const shown = results.flatMap(mediaOfResult);
  if (shown.length > 0) messages.push({ role: "user", content: writeContent(shown, writer) });
  const said = visibleParts(turn.parts);
  if (said.length > 0) messages.push(namedMessage("user", turn, writeContent(said, writer)));
  return messages;
}

/** Empty text stays only where it is all there is. */
function visibleParts(parts: readonly Part[]): (TextPart | MediaPart)[] {
  const content: (TextPart | MediaPart)[] = [];
  for (const part of parts) {
    if (part.kind === "refusal") content.push({ kind: "text", text: part.text });
    else if (part.kind === "text" || part.kind === "media") content.push(part);
  }
  const full = content.filter((part) => part.kind !== "text" || part.text !== "");
  return full.length > 0 ? full : content.slice(0, 1);
}

function writeResult(result: ResultPart, writer: MessageWriting): JsonObject {
  const text = result.content.flatMap((part) => (part.kind === "text" ? [part.text] : [])).join("\n");
  const isMarked = result.isError !== true || /^error\b/i.test(text);
  const content = isMarked ? text : `Error: ${text}`;
  const cached: TextPart = { kind: "text", text: content, cache: result.cache };
  return { role: "tool", tool_call_id: writeId(result.callId, writer), content: writeContent([cached], writer) };
}

function mediaOfResult({ name, callId, content }: ResultPart): (TextPart | MediaPart)[] {
  const media = content.filter((part) => part.kind === "media");
  if (media.length === 0) return [];
  return [{ kind: "text", text: `Tool result for ${name ?? callId}:` }, ...media];
}

function writeAssistant(run: readonly Turn[], writer: MessageWriting): JsonObject[] {
  const parts = run.flatMap((turn) => turn.parts);
  const text = run
    .map(textOfTurn)
    .filter((said) => said !== "")
    .join("\n\n");
  const refusal = parts.flatMap((part) => (part.kind === "refusal" ? [part.text] : [])).join("");
  const calls = parts.filter((part) => part.kind === "call");
  if (text === "" && refusal === "" && calls.length === 0) return [];
  const states = statesOfParts(parts, writer);
  return [
    {
      role: "assistant",
      ...spoken(text, refusal, writer),
      ...markedContent(run, refusal, writer),
      ...writeThinking(states),
      ...writeDetails([...states.values()].flat()),
      ...(calls.length === 0
        ? {}
        : { tool_calls: calls.map((call) => writeCall(call, states.get(call) ?? [], writer)) }),
    },
  ];
}

/** An assistant message has no place for files that the model made. */
function writeFiles(run: readonly Turn[], writer: MessageWriting): readonly JsonObject[] {
  if (run[0]?.role !== "assistant") return noFiles;
  const media = run.flatMap(({ parts }) => parts.filter((part) => part.kind === "media"));
  if (media.length === 0) return noFiles;
  return [{ role: "user", content: writeContent([{ kind: "text", text: "From your answer:" }, ...media], writer) }];
}

/** Parts of one turn are fragments of one text. */
function textOfTurn({ parts }: Turn): string {
  return parts.flatMap((part) => (part.kind === "text" ? [part.text] : [])).join("");
}

function spoken(text: string, refusal: string, { traits }: MessageWriting): JsonObject {
  if (refusal === "") return { content: text === "" ? null : text };
  if (traits.isOpenAI && text === "") return { content: null, refusal };
  return { content: text + refusal };
}

/** Content in parts, where marks for the cache must keep their places; nothing without marks. */
function markedContent(run: readonly Turn[], refusal: string, writer: MessageWriting): JsonObject {
  if (!run.some(({ parts }) => parts.some(({ cache }) => cache !== undefined))) return {};
  const texts: TextPart[] = [];
  let text = "";
  for (const turn of run) {
    if (textOfTurn(turn) !== "" && (text !== "" || texts.length > 0)) text += "\n\n";
    for (const part of turn.parts) {
      if (part.kind !== "text") continue;
      text += part.text;
      if (part.cache === undefined) continue;
      texts.push({ kind: "text", text, cache: part.cache });
      text = "";
    }
  }
  const rest = text + refusal;
  return { content: writeContent(rest === "" ? texts : [...texts, { kind: "text", text: rest }], writer) };
}

/** A call's state that came back in a reasoning part before it is the call's again (docs/design/translation.md 6.2). */
function statesOfParts(parts: readonly Part[], writer: MessageWriting): StatesOfParts {
  const states = new Map<Part, readonly ProviderState[]>();
  let waiting: ProviderState | undefined;
  for (const part of parts) {
    const own = statesOf(part, writer);
    const isOfCall = part.kind === "call";
    states.set(part, isOfCall && waiting !== undefined && signatureAmong(own) === undefined ? [...own, waiting] : own);
    if (isOfCall) waiting = undefined;
    else if (part.kind === "reasoning") waiting = signatureAmong(own) ?? waiting;
  }
  return states;
}

function signatureAmong(states: readonly ProviderState[]) {
  return states.find((state) => state.kind === "thought-signature");
}

function statesOf(part: Part, { states }: MessageWriting): readonly ProviderState[] {
  return part.kind === "reasoning" || part.kind === "text" || part.kind === "call" ? states.recover(part) : [];
}

/** Only ever lists that this channel gave itself. */
function writeDetails(states: readonly ProviderState[]): JsonObject {
  const lists: Record<string, readonly JsonObject[]> = {};
  for (const state of states) {
    if (state.kind === "reasoning-details") lists[state.member] = [...(lists[state.member] ?? []), ...state.entries];
  }
  return lists;
}

function writeId(id: string, { traits, ids }: MessageWriting): string {
  return traits.takesShortIds ? shortCallId(id) : (ids?.toUpstream(id) ?? id);
}

function writeCall(call: CallPart, states: readonly ProviderState[], writer: MessageWriting): JsonObject {
  const { traits, names } = writer;
  const name = names.toUpstream(call.name);
  const id = writeId(call.id, writer);
  if (call.tool === "custom" && traits.takesCustomTools) {
    return { id, type: "custom", custom: { name, input: call.arguments } };
  }
  const text = functionArguments(call);
  const written = { id, type: "function", function: { name, arguments: text.trim() === "" ? "{}" : text } };
  const signature = signatureAmong(states);
  if (signature === undefined) return written;
  return { ...written, extra_content: { google: { thought_signature: signature.data } } };
}
