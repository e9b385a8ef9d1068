import assert from "node:assert/strict";
import fc from "fast-check";
import { readEvents } from "#proxy/formats/aggregate/read-events";
import { aggregateStream } from "#proxy/formats/messages/translate/aggregate/aggregate-stream";
import { MessageSplicer } from "#proxy/formats/messages/translate/paused-turn/splice-turn";
import type { PausedTurn } from "#proxy/formats/turn-splicer";
import { lastStep, pausedStep, stepEvents, type TurnStep, wholeStep } from "#test/support/translation/messages-turn";

const request = Buffer.from('{"model":"m","max_tokens":100000,"messages":[{"role":"user","content":"hi"}]}');

const limits = { eventBytesMax: 64 * 1024, responseBytesMax: 256 * 1024 };

interface Spliced {
  readonly bytes: Buffer;
  readonly pauses: readonly PausedTurn[];
}

/** What a turn is spliced to, each body cut where `cut` says. */
function splice(
  bodies: readonly (string | Buffer)[],
  cut: (body: Buffer) => readonly Buffer[] = (body) => [body],
): Spliced {
  const splicer = new MessageSplicer(request, limits);
  const out: Buffer[] = [];
  const pauses: PausedTurn[] = [];
  for (const body of bodies) {
    for (const chunk of cut(Buffer.from(body))) out.push(splicer.push(chunk));
    const { passed, pause } = splicer.endBody();
    out.push(passed);
    if (pause === undefined) break;
    pauses.push(pause);
    if (pauses.length === bodies.length) out.push(splicer.stop());
    else splicer.resume();
  }
  return { bytes: Buffer.concat(out), pauses };
}

/** What a pause took is told at once, beside the end that waits. */
const withoutUsageTold = (bytes: Buffer): string =>
  bytes.toString().replace(/event: message_delta\ndata: \{"type":"message_delta","delta":\{\},.*\n\n/g, "");

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
        const message = isRaw ? JSON.parse(bytes.toString()) : aggregateStream(readEvents(bytes)).reply;
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
      assert.equal(withoutUsageTold(bytes), text);
    });
  }

  it("tell what they took before anybody knows whether they go on", () => {
    const splicer = new MessageSplicer(request, limits);
    const out = splicer.push(Buffer.from(body(pausedStep, 1))).toString();
    assert.match(out, /"delta":\{\},"usage":\{"input_tokens":100,.*"output_tokens":20/);
    assert.doesNotMatch(out, /pause_turn|message_stop/);
    assert.equal(splicer.isPaused, true);
  });

  it("leave out what a message says behind its end, whole or half", () => {
    const want = splice([body(pausedStep, 1), body(lastStep, 2)]).bytes.toString();
    for (const tail of ["data: [DONE]\n\n", "data: [DONE]", 'data: {"half', "event: error\ndata: {}\n\n", ": x\n\n"]) {
      assert.equal(splice([body(pausedStep, 1) + tail, body(lastStep, 2)]).bytes.toString(), want, tail);
    }
  });

  it("are read as what their first byte that is no blank says", () => {
    const told = String(wholeStep(pausedStep, 1).body);
    const halves = (whole: Buffer): Buffer[] => [whole.subarray(0, 2), whole.subarray(2)];
    for (const blank of ["\n\n", "\ufeff", "  "]) {
      const bodies = [blank + told, blank + String(wholeStep(lastStep, 2).body)];
      const { bytes, pauses } = splice(bodies, halves);
      assert.equal(pauses.length, 1);
      assert.equal(bytes.toString(), splice(bodies).bytes.toString());
    }
  });

  it("do not go on when it is to keep nothing: what was held back passes", () => {
    const splicer = new MessageSplicer(request, limits);
    splicer.push(Buffer.from(body(pausedStep, 1)));
    assert.equal(splicer.forget().length, 0);
    assert.equal(splicer.heldBytes, 0);
    assert.equal(splicer.endBody().pause, undefined);
    const ofObject = new MessageSplicer(request, limits);
    const [start, rest] = [
      Buffer.from('{"stop_reason":"pause_turn",'),
      Buffer.from('"content":[{"type":"text","text":"x"}]}'),
    ];
    assert.equal(ofObject.push(start).length, 0);
    assert.deepEqual(ofObject.forget(), start);
    assert.deepEqual(ofObject.push(rest), rest);
    assert.deepEqual(ofObject.endBody(), { passed: Buffer.alloc(0), pause: undefined });
  });

  it("drop a start that is repeated, and pass another one for the filter to refuse", () => {
    const later = body(lastStep, 2);
    const [start = ""] = later.split("event: ping");
    const startsOf = (bytes: Buffer): unknown[] =>
      [...readEvents(bytes)].flatMap(({ json }) =>
        json["type"] === "message_start" ? [Object(json["message"]).id] : [],
      );
    assert.deepEqual(startsOf(splice([body(pausedStep, 1), start + later]).bytes), ["msg_1"]);
    const other = start.replace("msg_2", "msg_3") + later;
    assert.deepEqual(startsOf(splice([body(pausedStep, 1), other]).bytes), ["msg_1", "msg_2"]);
  });

  it("pass an event beyond the cap, in whichever of them, for the filter to refuse", () => {
    const endless = `data: ${"x".repeat(70_000)}`;
    assert.equal(splice([endless]).bytes.toString(), endless);
    assert.ok(
      splice([body(pausedStep, 1), endless])
        .bytes.toString()
        .endsWith(endless),
    );
  });

  it("pass an object that is longer than any may be, for others to refuse", () => {
    const long = `{"content":"${"x".repeat(300_000)}`;
    assert.deepEqual(new MessageSplicer(request, limits).push(Buffer.from(long)), Buffer.from(long));
    assert.ok(
      splice([body(pausedStep, 1), long])
        .bytes.toString()
        .endsWith(long),
    );
  });

  it("pass a first object that is none", () => {
    for (const text of ['{"pause_turn":', '{"stop_reason":"pause_turn"}', '{"stop_reason":"pause_turn","content":1}']) {
      assert.equal(splice([text]).bytes.toString(), text);
    }
  });

  it("pass later bytes that are no text, and objects that are no message, as they are: the filter refuses them", () => {
    const broken = Buffer.from(body(lastStep, 2).replace("It rains", "It \u00ff"));
    broken[broken.indexOf(0xc3)] = 0xff;
    for (const later of [
      broken,
      '{"type":"error","error":{"type":"overloaded_error"}}',
      '{"content":[1]}',
      '{"content":[',
    ]) {
      const { bytes } = splice([body(pausedStep, 1), later]);
      assert.deepEqual(bytes.subarray(-later.length), Buffer.from(later));
    }
  });

  it("leave out empty texts of what is sent back", () => {
    const { pauses } = splice([
      body({ ...pausedStep, content: [...pausedStep.content, { type: "text", text: "" }] }, 1),
    ]);
    const sent = JSON.parse(String(pauses[0]?.request));
    assert.deepEqual(sent.messages.at(-1).content, pausedStep.content);
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
      const event = new MessageSplicer(request, limits).fail(row.status, Buffer.from(row.body)).toString();
      assert.match(event, /^event: error\ndata: .*\n\n$/);
      assert.ok(event.includes(`"type":"${row.want}"`), event);
    });
  }
});
