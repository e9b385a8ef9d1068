/**
 * What goes wrong between two hops, on translated calls: framing, encodings, headers, statuses, and clients that leave.
 * Rows of the reference's list of pitfalls that no single format decides.
 */
import assert from "node:assert/strict";
import { request } from "node:http";
import { gzipSync } from "node:zlib";
import { describe, it } from "mocha";
import { callFormOf } from "#test/support/conformance/chat-calls";
import { httpCall } from "#test/support/conformance/http-call";
import { naturalReply } from "#test/support/conformance/natural-replies";
import { protocols, routeTo, useTranslationRig } from "#test/support/conformance/translation-rig";
import { digest } from "#test/support/digest/digest";
import { waitFor } from "#test/support/wait-for";

const events = { "content-type": "text/event-stream" };
const chunk = (fields: object): string =>
  JSON.stringify({ id: "c1", object: "chat.completion.chunk", created: 1, model: "m", ...fields });
const chatStream = [
  chunk({ choices: [{ index: 0, delta: { role: "assistant", content: "" }, finish_reason: null }] }),
  chunk({ choices: [{ index: 0, delta: { content: "grüß dich 👋" }, finish_reason: null }] }),
  chunk({ choices: [{ index: 0, delta: {}, finish_reason: "stop" }] }),
  chunk({ choices: [], usage: { prompt_tokens: 3, completion_tokens: 4, total_tokens: 7 } }),
  "[DONE]",
]
  .map((data) => `data: ${data}\n\n`)
  .join("");

describe("translated calls on the wire", () => {
  const rig = useTranslationRig();

  it("pitfall 1: an event cut at any byte, inside a character too, is one event", async () => {
    const bytes = Buffer.from(chatStream);
    rig().upstream.replyWith({ headers: events, body: bytes });
    const whole = (await rig().call("anthropic-messages", "openai-chat", true)).body.toString();
    assert.match(whole, /grüß dich 👋/);
    const withoutIds = (text: string): string => text.replace(/tg1\.[\w.-]+|msg_\w+/g, "");
    for (let cut = 1; cut < bytes.length; cut += 1) {
      const head = `HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\nconnection: close\r\n\r\n`;
      const pieces = [bytes.subarray(0, cut), bytes.subarray(cut)];
      const body = pieces.flatMap((piece) => [
        Buffer.from(`${piece.length.toString(16)}\r\n`),
        piece,
        Buffer.from("\r\n"),
      ]);
      rig().upstream.replyWith({ raw: Buffer.concat([Buffer.from(head), ...body, Buffer.from("0\r\n\r\n")]) });
      const answer = await rig().call("anthropic-messages", "openai-chat", true);
      assert.equal(withoutIds(answer.body.toString()), withoutIds(whole), `cut at ${cut}`);
    }
  });

  it("pitfall 2: a data line without its space says the same", async () => {
    rig().upstream.replyWith({ headers: events, body: chatStream.replaceAll("data: ", "data:") });
    const answer = await rig().call("gemini", "openai-chat", true);
    assert.equal(digest("gemini", answer.body).text, "grüß dich 👋");
  });

  for (const stream of [true, false]) {
    it(`pitfall 3, 5: a compressed ${stream ? "stream" : "answer"} that nobody asked for arrives plain and whole`, async () => {
      const body = stream ? chatStream : JSON.stringify(naturalReplyOf("openai-chat"));
      const type = stream ? "text/event-stream" : "application/json";
      const compressed = gzipSync(body);
      rig().upstream.replyWith({
        headers: { "content-type": type, "content-encoding": "gzip" },
        body: compressed,
        framing: "length",
      });
      const answer = await rig().call("openai-responses", "openai-chat", stream);
      assert.equal(answer.status, 200, answer.body.toString());
      assert.equal(answer.isComplete, true);
      assert.equal(answer.header("content-encoding"), undefined);
      assert.equal(digest("openai-responses", answer.body).text, stream ? "grüß dich 👋" : "hi");
    });
  }

  it("pitfall 4: a compressed error is told in the client's words, not compressed", async () => {
    const body = gzipSync('{"error":{"message":"slow down","type":"rate_limit_error"}}');
    rig().upstream.replyWith({
      status: 429,
      headers: { "content-type": "application/json", "content-encoding": "gzip" },
      body,
    });
    const answer = await rig().call("anthropic-messages", "openai-chat", true);
    assert.equal(answer.status, 429);
    assert.equal(answer.header("content-encoding"), undefined);
    assert.equal(Object(answer.json()).error.type, "rate_limit_error");
  });

  it("pitfall 6: a client's compressed body is read and routed by its model", async () => {
    rig().upstream.forget();
    rig().upstream.replyWith(naturalReply);
    const form = callFormOf("openai-chat");
    const model = routeTo("gemini");
    const answer = await httpCall({
      origin: rig().gateway.origin,
      path: form.path(model, false),
      headers: { ...form.headers("main"), "content-encoding": "gzip" },
      body: gzipSync(JSON.stringify(form.body(model, false))),
    });
    assert.equal(answer.status, 200, answer.body.toString());
    assert.equal(rig().upstream.requests[0]?.headers["content-encoding"], undefined);
  });

  it("pitfall 42: a code of an error that nobody knows passes in its own format as it is", async () => {
    const failed = `data: ${JSON.stringify({
      type: "content_block_start",
      index: 0,
      content_block: {
        type: "web_search_tool_result",
        tool_use_id: "srvtoolu_1",
        content: { type: "web_search_tool_result_error", error_code: "code_of_tomorrow" },
      },
    })}\n\n`;
    const [start = ""] = anthropicBeginning.split(/(?<=\n\n)/);
    const end = 'event: message_stop\ndata: {"type":"message_stop"}\n\n';
    const body = `${start}event: content_block_start\n${failed}${end}`;
    rig().upstream.replyWith({ headers: events, body });
    const answer = await rig().call("anthropic-messages", "anthropic-messages", true);
    assert.ok(answer.body.toString().includes(failed));
  });

  it("pitfall 9: an error as the first event is an error, not an empty stream", async () => {
    rig().upstream.replyWith({
      headers: events,
      body: 'event: error\ndata: {"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}\n\n',
    });
    assert.equal((await rig().call("openai-chat", "anthropic-messages", true)).status, 503);
    assert.equal((await rig().call("anthropic-messages", "anthropic-messages", true)).status, 529);
  });

  for (const to of protocols) {
    it(`pitfall 13: a stream that is refused with 429 is 429 for ${to} clients`, async () => {
      rig().upstream.replyWith({ status: 429, body: '{"error":{"message":"slow down"}}' });
      for (const from of protocols) {
        const answer = await rig().call(to, from, true);
        assert.equal(answer.status, 429, from);
        assert.equal(answer.header("content-type"), "application/json");
      }
    });

    it(`pitfall 14: what is no JSON is the upstream's fault for ${to} clients`, async () => {
      for (const body of ["<html>sorry</html>", '{"choices":[', "", "null", "[]", "{}"]) {
        for (const type of ["application/json", "text/html"]) {
          rig().upstream.replyWith({ headers: { "content-type": type }, body });
          for (const from of protocols) {
            const whole = await rig().call(to, from, false);
            assert.equal(whole.status, 502, `${from} ${body}: ${whole.body}`);
            // In its own format a line that is no event passes, as it does in front of every client.
            if (from === to) continue;
            const streamed = await rig().call(to, from, true);
            assert.equal(streamed.status, 502, `${from} ${body}, streamed: ${streamed.body}`);
          }
        }
      }
      assert.equal(rig().gateway.ledger.openCount, 0);
    });

    it(`pitfall 127: an upstream's 404 is 404 for ${to} clients, in their words`, async () => {
      rig().upstream.replyWith({
        status: 404,
        body: '{"error":{"code":404,"message":"models/x is not found","status":"NOT_FOUND"}}',
      });
      assert.equal((await rig().call(to, "gemini", false)).status, 404);
    });

    it(`pitfall 138: ${to} clients are never told to wait for an hour`, async () => {
      rig().upstream.replyWith({ status: 429, headers: { "retry-after": "3600" }, body: "{}" });
      const from = to === "openai-chat" ? "anthropic-messages" : "openai-chat";
      assert.ok(Number((await rig().call(to, from, false)).header("retry-after")) <= 60);
    });
  }

  it("pitfall 111: headers of the client's format stay here, and the upstream's are ours", async () => {
    rig().upstream.forget();
    rig().upstream.replyWith(naturalReply);
    const form = callFormOf("anthropic-messages");
    const call = (model: string) =>
      httpCall({
        origin: rig().gateway.origin,
        path: form.path(model, false),
        headers: { ...form.headers("main"), "anthropic-beta": "some-beta-2026", traceparent: trace },
        body: JSON.stringify(form.body(model, false)),
      });
    for (const to of ["openai-chat", "openai-responses", "gemini"] as const) {
      rig().upstream.forget();
      assert.equal((await call(routeTo(to))).status, 200);
      const names = Object.keys(rig().upstream.requests[0]?.headers ?? {});
      assert.deepEqual(
        names.filter((name) => name.startsWith("anthropic-")),
        [],
        to,
      );
      assert.equal(rig().upstream.requests[0]?.headers["traceparent"], trace);
    }
    rig().upstream.forget();
    await rig().call("openai-chat", "anthropic-messages", false);
    assert.equal(rig().upstream.requests[0]?.headers["anthropic-version"], "2023-06-01");
  });

  for (const to of protocols) {
    const from = to === "anthropic-messages" ? "openai-chat" : "anthropic-messages";
    it(`pitfall 12, 124, 125: a ${to} client that leaves is billed for what was produced, and the upstream is left`, async () => {
      const said = from === "openai-chat" ? chatStream : anthropicBeginning;
      rig().upstream.forget();
      rig().upstream.replyWith({ headers: events, body: said, stallAt: endOfEvent(said, "grüß") });
      const form = callFormOf(to);
      const { requestId } = await leaveWhen(
        {
          origin: rig().gateway.origin,
          path: form.path(routeTo(from), true),
          headers: form.headers("main"),
          body: form.body(routeTo(from), true),
        },
        (text) => text.includes("grüß") || text.includes("good morning"),
      );
      const record = await rig().gateway.recordOf(requestId);
      assert.ok(record.usage !== undefined && record.usage.output > 0, "what was produced is billed");
      assert.ok(record.usage.input > 0, "and the prompt");
      await waitFor("the upstream to be left", () => rig().upstream.requests[0]?.abortedAtMs);
      await waitFor("the ledger to hold nothing", () => rig().gateway.ledger.openCount === 0);
    });
  }
});

/** Bytes up to the end of the event that says this. */
function endOfEvent(stream: string, words: string): number {
  return Buffer.byteLength(stream.slice(0, stream.indexOf("\n\n", stream.indexOf(words)) + 2));
}

const trace = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";

const anthropicBeginning = [
  {
    type: "message_start",
    message: {
      id: "msg_1",
      type: "message",
      role: "assistant",
      model: "m",
      content: [],
      stop_reason: null,
      stop_sequence: null,
      usage: { input_tokens: 3, output_tokens: 1 },
    },
  },
  { type: "content_block_start", index: 0, content_block: { type: "text", text: "" } },
  { type: "content_block_delta", index: 0, delta: { type: "text_delta", text: "good morning, " } },
  { type: "content_block_delta", index: 0, delta: { type: "text_delta", text: "grüß dich und deinen Hund" } },
]
  .map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`)
  .join("");

/** The whole answer of an upstream that says `hi`. */
function naturalReplyOf(protocol: "openai-chat"): unknown {
  const form = callFormOf(protocol);
  const target = form.path("m", false);
  const body = Buffer.from(JSON.stringify(form.body("m", false)));
  const reply = naturalReply({
    method: "POST",
    target,
    rawHeaders: [],
    headers: {},
    body,
    json: () => JSON.parse(body.toString()),
    receivedAtMs: 0,
    abortedAtMs: undefined,
    finishedAtMs: undefined,
  });
  return JSON.parse(String(reply.body));
}

/** Reads a stream until it says enough, and leaves. */
function leaveWhen(
  { origin, path, headers, body }: Leaving,
  isEnough: (text: string) => boolean,
): Promise<{ readonly requestId: string; readonly text: string }> {
  return new Promise((resolve, reject) => {
    const { hostname, port } = new URL(origin);
    const sent = request(
      { hostname, port, path, method: "POST", headers: { "content-type": "application/json", ...headers } },
      (response) => {
        let text = "";
        response.on("data", (piece: Buffer) => {
          text += piece.toString();
          if (!isEnough(text)) return;
          resolve({ requestId: String(response.headers["x-request-id"]), text });
          sent.destroy();
        });
        response.on("error", () => undefined);
        response.on("end", () => reject(new Error(`the stream ended: ${text}`)));
      },
    );
    sent.on("error", () => undefined);
    sent.setTimeout(5_000, () => reject(new Error("no answer in time")));
    sent.end(JSON.stringify(body));
  });
}

interface Leaving {
  readonly origin: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: object;
}
