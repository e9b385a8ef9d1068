import assert from "node:assert/strict";
import { aggregateReply } from "#proxy/neutral/aggregate-reply";
import { InvalidReply } from "#proxy/neutral/reply";
import {
  added,
  blocksOf,
  call,
  completed,
  created,
  delta,
  done,
  type Event,
  factsOf,
  message,
  said,
  streamOf,
} from "#test/support/translation/responses-events";
import { readStream } from "#test/support/translation/responses-exchange";

const thoughts = { type: "reasoning", id: "rs_1", summary: [] };
const custom = { type: "custom_tool_call", id: "ctc_1", call_id: "call_1", name: "f", input: "" };

/** A call whose arguments are said in one way and finished in another. */
function calling(piece: string, finished: unknown): Event[] {
  return [
    added(0, call),
    delta(0, piece, "function_call_arguments"),
    done(0, { ...call, arguments: finished }),
    completed(),
  ];
}

describe("responses: a finished value that does not continue what was said", () => {
  for (const row of [
    {
      name: "arguments in another spelling leave those that were said",
      events: calling('{"a":1,"b":2}', '{"b": 2, "a": 1.0}'),
      want: ['call call_1 f {"a":1,"b":2}'],
    },
    {
      name: "arguments as an object leave those that were said, digits and all",
      events: calling('{"a":12345678901234567890}', JSON.parse(`{"a":12345678901234567890}`)),
      want: ['call call_1 f {"a":12345678901234567890}'],
    },
    {
      name: "an end without arguments leaves those that were said",
      events: calling('{"a":1}', ""),
      want: ['call call_1 f {"a":1}'],
    },
    {
      name: "an end with the empty object of the beginning leaves those that were said",
      events: calling('{"a":1}', "{}"),
      want: ['call call_1 f {"a":1}'],
    },
    {
      name: "arguments that continue what was said are completed",
      events: calling('{"a":', '{"a":1}'),
      want: ['call call_1 f {"a":1}'],
    },
    {
      name: "blanks are no arguments yet",
      events: calling(" ", '{"a":1}'),
      want: ['call call_1 f  {"a":1}'],
    },
    {
      name: "text stays as it was said",
      events: [
        added(0, message),
        delta(0, "Hello wrld"),
        { type: "response.output_text.done", output_index: 0, content_index: 0, text: "Hello, world!" },
        done(0, said("Hello, world!")),
        completed(),
      ],
      want: ["text Hello wrld"],
    },
    {
      name: "a refusal stays as it was said",
      events: [
        added(0, message),
        delta(0, "I can not", "refusal"),
        done(0, { ...message, content: [{ type: "refusal", refusal: "I cannot help." }] }),
        completed(),
      ],
      want: ["refusal I can not"],
    },
    {
      name: "thoughts stay as they were said",
      events: [
        added(0, thoughts),
        delta(0, "long thought", "reasoning_text"),
        done(0, { ...thoughts, summary: [{ type: "summary_text", text: "a summary that is longer" }] }),
        completed(),
      ],
      want: ["reasoning long thought"],
    },
  ]) {
    it(row.name, () => assert.deepEqual(factsOf(blocksOf(...row.events)), row.want));
  }

  for (const row of [
    { name: "other arguments than those that were said", events: calling('{"a":1}', '{"a":2}') },
    { name: "half arguments that the finished ones do not continue", events: calling('{"a":1', '{"a": 1}') },
    { name: "half arguments that are never finished", events: calling('{"a":1', "").with(2, completed()) },
    { name: "half arguments whose end says nothing", events: calling('{"a":1', "") },
    {
      name: "input of a custom call that was said with a hole in it",
      events: [
        added(0, custom),
        delta(0, "rm -rf /tmp/", "custom_tool_call_input"),
        delta(0, "x", "custom_tool_call_input"),
        done(0, { ...custom, input: "rm -rf /tmp/build/x" }),
        completed(),
      ],
    },
  ]) {
    it(`pitfall 150: refuses ${row.name}`, () => {
      assert.throws(() => readStream(streamOf([created, ...row.events])), InvalidReply);
    });
  }

  it("keeps such half arguments of a reply that was cut", () => {
    const events = calling('{"a":1', '{"a": 1}').with(3, { ...completed(), type: "response.incomplete" });
    const [candidate] = aggregateReply(readStream(streamOf([created, ...events]))).candidates;
    assert.deepEqual(factsOf(candidate?.blocks ?? []), ['call call_1 f {"a":1']);
    assert.equal(candidate?.finish.reason, "length");
    const details = { incomplete_details: { reason: "content_filter" } };
    const filtered = events.with(3, { type: "response.incomplete", response: { status: "incomplete", ...details } });
    const [other] = aggregateReply(readStream(streamOf([created, ...filtered]))).candidates;
    assert.equal(other?.finish.reason, "content-filter");
  });

  it("refuses a reply longer than anybody writes", () => {
    const piece = delta(0, "a".repeat(1024 * 1024));
    const events = [created, added(0, message), ...Array.from({ length: 17 }, () => piece)];
    assert.throws(() => readStream(streamOf(events)), InvalidReply);
  });
});
