import assert from "node:assert/strict";
import fc from "fast-check";
import { foldStream } from "../../../../../../proxy/translate/messages/own-format/fold-stream.ts";
import { MessageSplicer } from "../../../../../../proxy/translate/messages/paused-turn/splice-turn.ts";
import { readEvents } from "../../../../../../proxy/translate/own-format/read-events.ts";
import { InvalidReply } from "../../../../../../proxy/translate/reply.ts";
import type { PausedTurn } from "../../../../../../proxy/translate/turn-splicer.ts";
import {
  lastStep,
  pausedStep,
  stepEvents,
  type TurnStep,
  wholeStep,
} from "../../../../../support/translation/messages-turn.ts";

const request = Buffer.from('{"model":"m","max_tokens":100000,"messages":[{"role":"user","content":"hi"}]}');

interface Spliced {
  readonly bytes: Buffer;
  readonly pauses: readonly PausedTurn[];
}

/** What a turn is spliced to, each body cut where `cut` says. */
function splice(
  bodies: readonly (string | Buffer)[],
  cut: (body: Buffer) => readonly Buffer[] = (body) => [body],
): Spliced {
  const splicer = new MessageSplicer(request, 64 * 1024);
  const out: Buffer[] = [];
  const pauses: PausedTurn[] = [];
  for (const body of bodies) {
    for (const chunk of cut(Buffer.from(body))) out.push(splicer.push(chunk));
    const { passed, pause } = splicer.endBody();
    out.push(passed);
    if (pause === undefined) break;
    pauses.push(pause);
    out.push(pauses.length === bodies.length ? splicer.stop() : splicer.goOn());
  }
  return { bytes: Buffer.concat(out), pauses };
}

const body = (step: TurnStep, index: number): string => String(stepEvents(step, index).body);

const anyStep = fc.record({
  content: fc.array(
    fc.oneof(
      fc.string({ minLength: 1, unit: "grapheme" }).map((text) => ({ type: "text", text })),
      fc.uuid().map((id) => ({ type: "server_tool_use", id, name: "web_search", input: { query: id } })),
      fc.uuid().map((id) => ({ type: "web_search_tool_result", tool_use_id: id, content: [{ title: id }] })),
    ),
    { minLength: 1, maxLength: 4 },
  ),
  usage: fc.record({ input_tokens: fc.integer({ min: 1, max: 99 }), output_tokens: fc.integer({ min: 1, max: 99 }) }),
  isWhole: fc.boolean(),
});

describe("the messages of a paused turn", () => {
  it("are one message: all blocks in order, the last reason, the sum of usage; wherever the network cuts them", () => {
    fc.assert(
      fc.property(fc.array(anyStep, { minLength: 1, maxLength: 5 }), fc.integer({ min: 1, max: 97 }), (steps, size) => {
        const told = steps.map((step, index) => ({
          ...step,
          reason: index < steps.length - 1 ? "pause_turn" : "end_turn",
        }));
        const bodies = told.map((step, index) =>
          step.isWhole ? String(wholeStep(step, index).body) : body(step, index),
        );
        const { bytes, pauses } = splice(bodies);
        assert.equal(pauses.length, steps.length - 1);
        const isRaw = steps.length === 1 && steps[0]?.isWhole === true;
        const message = isRaw ? JSON.parse(bytes.toString()) : foldStream(readEvents(bytes)).reply;
        assert.deepEqual(
          message["content"],
          steps.flatMap(({ content }) => content),
        );
        assert.equal(message["stop_reason"], "end_turn");
        const sum = (name: "input_tokens" | "output_tokens"): number =>
          steps.reduce((total, { usage }) => total + usage[name], 0);
        const { input_tokens: input, output_tokens: output } = Object(message["usage"]);
        assert.deepEqual([input, output], [sum("input_tokens"), sum("output_tokens")]);
        const pieces = (whole: Buffer): Buffer[] =>
          Array.from({ length: Math.ceil(whole.length / size) }, (_, at) =>
            whole.subarray(at * size, at * size + size),
          );
        assert.equal(splice(bodies, pieces).bytes.toString(), bytes.toString());
      }),
    );
  });

  it("are told with indexes that rise, and one start and end", () => {
    const { bytes } = splice([
      body(pausedStep, 1),
      body({ ...pausedStep, content: lastStep.content }, 2),
      body(lastStep, 3),
    ]);
    const events = [...readEvents(bytes)].map(({ json }) => json);
    const starts = events.filter(({ type }) => type === "content_block_start").map(({ index }) => index);
    assert.deepEqual(starts, [0, 1, 2, 3, 4, 5]);
    const count = (type: string): number => events.filter((event) => event["type"] === type).length;
    assert.deepEqual([count("message_start"), count("message_stop")], [1, 1]);
  });

  it("pass byte for byte where none is paused", () => {
    for (const text of [
      body(lastStep, 1),
      String(wholeStep(lastStep, 1).body),
      "<html>",
      '{"error":{}}',
      "",
      "data: x\n\n",
    ]) {
      assert.equal(splice([text]).bytes.toString(), text);
    }
  });

  it("say what the turn has used, in all and last", () => {
    const { pauses } = splice([body(pausedStep, 1), body({ ...lastStep, reason: "pause_turn" }, 2), body(lastStep, 3)]);
    assert.deepEqual(
      pauses.map(({ used, last }) => [used.input, used.output, used.searches, last.input, last.output]),
      [
        [100, 20, 1, 100, 20],
        [250, 28, 3, 150, 8],
      ],
    );
    assert.deepEqual(
      pauses.map(({ outputCap }) => outputCap),
      [99_980, 99_972],
    );
  });

  for (const [name, text] of [
    ["it was cut before its end", body(pausedStep, 1).slice(0, body(pausedStep, 1).lastIndexOf("event: message_stop"))],
    ["nothing was said", body({ ...pausedStep, content: [] }, 1)],
    ["nobody knows what it used", body({ ...pausedStep, usage: {} }, 1).replaceAll('"output_tokens":1', '"x":1')],
    [
      "it has a call of the client's",
      body({ ...pausedStep, content: [{ type: "tool_use", id: "t", name: "n", input: {} }] }, 1),
    ],
    [
      "a piece came for no block",
      body(pausedStep, 1).replace('"content_block_delta","index":0', '"content_block_delta","index":9'),
    ],
  ] as const) {
    it(`do not go on where ${name}: what came passes`, () => {
      const { bytes, pauses } = splice([text]);
      assert.equal(pauses.length, 0);
      assert.equal(bytes.toString(), text);
    });
  }

  it("do not go on when it is to keep nothing", () => {
    const splicer = new MessageSplicer(request, 64 * 1024);
    splicer.push(Buffer.from(body(pausedStep, 1)));
    splicer.forget();
    assert.equal(splicer.endBody().pause, undefined);
  });

  it("pass a second start among the later as it is, for the meter to refuse", () => {
    const later = body(lastStep, 2);
    const [start = ""] = later.split("event: ping");
    const { bytes } = splice([body(pausedStep, 1), start + later]);
    const starts = [...readEvents(bytes)].filter(({ json }) => json["type"] === "message_start");
    assert.deepEqual(
      starts.map(({ json }) => Object(json["message"]).id),
      ["msg_1", "msg_2"],
    );
  });

  it("refuse an event beyond the cap, in whichever of them", () => {
    const endless = Buffer.from(`data: ${"x".repeat(70_000)}`);
    assert.throws(() => splice([endless]), InvalidReply);
    assert.throws(() => splice([body(pausedStep, 1), endless]), InvalidReply);
  });

  for (const row of [
    { status: 429, body: "", want: "rate_limit_error" },
    { status: 529, body: "<html>", want: "overloaded_error" },
    { status: 500, body: "{}", want: "api_error" },
    { status: 418, body: "", want: "invalid_request_error" },
    { status: 200, body: "\u0000", want: "api_error" },
    { status: 400, body: '{"type":"error","error":{"type":"odd_error","message":"m"}}', want: "odd_error" },
  ]) {
    it(`tell a refusal with ${row.status} and ${row.body === "" ? "nothing" : JSON.stringify(row.body)} as ${row.want}`, () => {
      const event = new MessageSplicer(request, 1_024).fail(row.status, Buffer.from(row.body)).toString();
      assert.match(event, /^event: error\ndata: .*\n\n$/);
      assert.ok(event.includes(`"type":"${row.want}"`), event);
    });
  }
});
