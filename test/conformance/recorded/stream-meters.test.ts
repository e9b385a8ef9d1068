/**
 * Every recorded stream through its format's filter: whole, in pieces, with other line ends, and cut at every byte.
 *
 * What the client gets must state the recorded facts, however the network cut the bytes; it equals the upstream's bytes
 * where nothing has to be edited; and a stream that was cut is never complete.
 */
import assert from "node:assert/strict";
import type { StreamFilter } from "#proxy/formats/format";
import { upstreamFormats } from "#proxy/formats/registry";
import type { ChatWireFormat } from "#proxy/neutral/wire";
import { inputTokens, outputTokens } from "#proxy/settle/usage";
import { editedReplies } from "#test/support/conformance/recorded-edits";
import { compare } from "#test/support/digest/compare";
import { type DigestProtocol, digest } from "#test/support/digest/digest";
import { explainAbsence, type Recorded, readRecorded } from "#test/support/digest/recorded";
import { callOf } from "#test/support/digest/stream-call";

const formats: Readonly<Record<DigestProtocol, ChatWireFormat>> = {
  "openai-chat": "ChatCompletions",
  "openai-responses": "Responses",
  "anthropic-messages": "Messages",
  gemini: "GenerateContent",
};
const eventBytesMax = 32 * 1024 * 1024;

const splits: readonly { name: string; size: (random: () => number) => number }[] = [
  { name: "whole", size: () => Number.MAX_SAFE_INTEGER },
  { name: "in pieces of 7 bytes", size: () => 7 },
  { name: "in pieces of 1 byte", size: () => 1 },
  { name: "in random pieces", size: (random) => 1 + Math.floor(random() * 400) },
];
const lineEnds: readonly { name: string; end: string }[] = [
  { name: "as recorded", end: "" },
  { name: "LF", end: "\n" },
  { name: "CRLF", end: "\r\n" },
  { name: "CR", end: "\r" },
];

const recorded = readRecorded()?.filter((reply) => reply.isStream || reply.id.includes("jsonarray"));

describe("stream filters on recorded streams", () => {
  if (recorded === undefined) {
    it(explainAbsence("stream filters on recorded streams"));
    return;
  }
  for (const reply of recorded) {
    for (const { name, end } of lineEnds)
      it(`passes ${reply.id}, line ends ${name}, however it is cut`, () => passHoweverCut(reply, end));
  }
  for (const reply of smallest(recorded)) {
    it(`never takes ${reply.id} for complete when it is cut`, () => cutEverywhere(reply));
  }
});

function passHoweverCut(reply: Recorded, end: string): void {
  const bytes = withLineEnds(reply.bytes(), end);
  const upstream = digest(reply.protocol, bytes);
  const outputs = new Set<string>();
  for (const { size } of splits) {
    const random = seededRandom(bytes.length);
    const filter = meterFor(reply.protocol);
    const output = run(filter, bytes, () => size(random));
    outputs.add(output.toString("utf8"));
    checkMeter(filter, reply, upstream);
    if (reply.expected["status"] === "error") continue;
    if (!isEdited(reply)) assert.equal(output.equals(bytes), true, "bytes must pass unchanged");
    const client = digest(reply.protocol, output);
    if (upstream.warnings.includes("no [DONE]")) assert.deepEqual(client.warnings, []);
    assert.deepEqual(compare(upstream, client, { sameProtocol: true }), []);
  }
  assert.equal(outputs.size, 1, "what passes must not depend on where the network cut");
}

function checkMeter(filter: StreamFilter, reply: Recorded, upstream: ReturnType<typeof digest>): void {
  const isError = reply.expected["status"] === "error";
  assert.equal(filter.violation, undefined);
  assert.equal(filter.error !== undefined, isError, "error");
  assert.equal(filter.isComplete, !isError, "complete");
  assert.equal(filter.heldBytes, 0);
  if (upstream.usage === null) return;
  const { usage } = filter;
  assert.ok(usage !== undefined, "usage");
  assert.deepEqual(
    { input: inputTokens(usage), output: outputTokens(usage), cache_read: usage.cacheRead, reasoning: usage.reasoning },
    {
      input: upstream.usage.input,
      output: upstream.usage.output,
      cache_read: upstream.usage.cache_read,
      reasoning: upstream.usage.reasoning ?? 0,
    },
  );
}

/** Cut before its last event, no stream is complete and only whole events pass. */
function cutEverywhere(reply: Recorded): void {
  const bytes = reply.bytes();
  const end = lastEventStart(bytes);
  for (let length = 0; length < end; length += 1) {
    const filter = meterFor(reply.protocol);
    const cut = bytes.subarray(0, length);
    const output = Buffer.concat([...filter.push(cut), ...filter.end()]);
    assert.equal(filter.isComplete, false, `complete although cut at byte ${length}`);
    const passed = output.toString("utf8").trimEnd();
    assert.equal(bytes.toString("utf8").startsWith(passed), true, `other bytes at ${length}`);
    if (passed !== "") assert.doesNotThrow(() => digest(reply.protocol, output), `half an event at ${length}`);
  }
}

/** The last event that carries the end: the terminator, or the finish frame where a body just ends. */
function lastEventStart(bytes: Buffer): number {
  const text = bytes.toString("latin1").trimEnd();
  return Math.max(text.lastIndexOf("\n\n"), text.lastIndexOf("\r\n\r\n")) + 1;
}

/** A few streams of each protocol whose last event completes them. */
function smallest(all: readonly Recorded[]): readonly Recorded[] {
  const finishesLate = new Set(["stream-tool-gemini3", "stream-thinking-then-tool", "stream-text-max-tokens"]);
  const chosen: Recorded[] = [];
  for (const protocol of Object.keys(formats)) {
    const fitting = all
      .filter((reply) => reply.protocol === protocol && reply.isStream && reply.expected["status"] === "ok")
      .filter((reply) => !isEdited(reply))
      .filter((reply) => protocol !== "gemini" || finishesLate.has(reply.id.split("/").at(-1) ?? ""))
      .filter((reply) => protocol !== "openai-chat" || !endsWithUsageInFinish(reply.bytes()))
      .sort((left, right) => left.bytes().length - right.bytes().length);
    chosen.push(...fitting.slice(0, 5));
  }
  return chosen;
}

/** Such a stream is whole without its `[DONE]`: some vendors never send one. */
function endsWithUsageInFinish(bytes: Buffer): boolean {
  return /"finish_reason":\s*"[^\n]*"usage":\s*\{/.test(bytes.toString("utf8"));
}

function isEdited(reply: Recorded): boolean {
  return editedReplies[reply.id.replace(/^upstream\//, "")] !== undefined;
}

function meterFor(protocol: DigestProtocol): StreamFilter {
  const format = upstreamFormats[formats[protocol]];
  return format.createStreamFilter(callOf(format), eventBytesMax);
}

function run(filter: StreamFilter, bytes: Buffer, size: () => number): Buffer {
  const passed: Buffer[] = [];
  for (let position = 0; position < bytes.length; ) {
    const next = Math.min(bytes.length, position + size());
    // Copied, because a filter that kept a reference to reused memory would pass otherwise.
    passed.push(...filter.push(Buffer.from(bytes.subarray(position, next))));
    position = next;
  }
  passed.push(...filter.end());
  return Buffer.concat(passed);
}

function withLineEnds(bytes: Buffer, end: string): Buffer {
  return end === "" ? bytes : Buffer.from(bytes.toString("utf8").replace(/\r\n|\n|\r/g, end));
}

function seededRandom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state * 1_103_515_245 + 12_345) % 2_147_483_648;
    return state / 2_147_483_648;
  };
}
