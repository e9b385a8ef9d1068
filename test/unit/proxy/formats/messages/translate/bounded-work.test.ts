/** Bodies within the gateway's limits that would take a careless translator seconds: the event loop serves others too. */
import assert from "node:assert/strict";
import { parseInput } from "#proxy/formats/messages/translate/reply/parse-input";
import { closeSchema } from "#proxy/formats/messages/translate/request/write/closed-schema";
import type { JsonObject } from "#proxy/json/json-value";
import type { Part, Turn } from "#proxy/neutral/conversation";
import { OpenStates } from "#test/support/translation/exchange";
import {
  assistant,
  call,
  conversation,
  result,
  system,
  text,
  tool,
  user,
  writeBody,
} from "#test/support/translation/messages-exchange";

const many = 10_000;
/** Of this process's own time: far above what any of these take, far below what squares of the count would. */
const limitMs = 2_000;

/** Processor time of a piece of work, which the machine's other work does not change. */
function costMs(work: () => void): number {
  const before = process.cpuUsage();
  work();
  const { user: userMicros, system: systemMicros } = process.cpuUsage(before);
  return (userMicros + systemMicros) / 1_000;
}

function times<Item>(make: (index: number) => Item, count = many): Item[] {
  return Array.from({ length: count }, (_, index) => make(index));
}

const states = new OpenStates();
const signed = (index: number): Part => ({
  kind: "reasoning",
  text: "",
  states: [{ type: "sealed", envelope: states.seal([{ kind: "thinking", text: "T", signature: `SIG${index}` }]) }],
});

function chain(length: number): JsonObject {
  const definitions: Record<string, JsonObject> = { last: { type: "string" } };
  for (const index of times((number) => number, length)) definitions[`D${index}`] = { $ref: `#/$defs/D${index + 1}` };
  return { type: "object", properties: { a: { $ref: "#/$defs/D0" } }, $defs: definitions };
}

describe("messages translator: work is bounded", () => {
  const rows: { name: string; turns: Turn[] }[] = [
    { name: "turns of the assistant in a row", turns: [user(text("hi")), ...times(() => assistant(text("a")))] },
    {
      name: "calls of one id",
      turns: [user(text("hi")), assistant(...times(() => call("a"))), tool(...times(() => result("a")))],
    },
    {
      name: "calls in turns of their own",
      turns: [user(text("hi")), ...times((index) => assistant(call(`c${index}`)))],
    },
    { name: "results without calls", turns: times(() => tool(result("a"))) },
    { name: "thinking in a row", turns: [user(text("hi")), assistant(...times(signed), text("a"))] },
    { name: "system turns in a row", turns: [user(text("hi")), ...times(() => system(text("s")))] },
    {
      name: "system turns between others",
      turns: times((index) => (index % 2 === 0 ? user(text("a")) : system(text("s")))),
    },
  ];
  for (const { name, turns } of rows) {
    it(`writes ${many} ${name} in time`, () => {
      assert.ok(costMs(() => writeBody(conversation({ turns }))) < limitMs);
    });
  }

  it("follows references only so far", () => {
    assert.equal(closeSchema(chain(many)), undefined);
  });

  it("gives up on arguments that open brackets without end", () => {
    const nonsense = "[".repeat(1_000_000);
    assert.ok(costMs(() => assert.deepEqual(Object.keys(parseInput(nonsense)), ["_raw"])) < limitMs);
    assert.ok(costMs(() => parseInput(`{"a":[${'{"b":1},'.repeat(100_000)}nonsense`)) < limitMs);
  });
});
