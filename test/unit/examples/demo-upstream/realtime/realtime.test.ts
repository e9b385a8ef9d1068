/** Realtime sessions over real WebSockets, with the official SDK's client and without. */
import assert from "node:assert/strict";
import { once } from "node:events";
import { connect as connectTo, type Socket } from "node:net";
import { after, before, describe, it } from "mocha";
import OpenAI from "openai-7";
import { OpenAIRealtimeWS } from "openai-7/realtime/ws";
import { WebSocket } from "ws";
import { list, member } from "#examples/demo-upstream/json-view";
import { type RunningDemoUpstream, startDemoUpstream } from "#test/support/start-demo-upstream";

const authorization = { headers: { authorization: "Bearer demo" } };

/** Sends messages and gives what the server says, up to an event of the type `until`. */
async function converse(socket: WebSocket, messages: readonly unknown[], until: string): Promise<readonly unknown[]> {
  const heard: unknown[] = [];
  const ended = new Promise<void>((resolve, reject) => {
    socket.on("message", (data) => {
      const event: unknown = JSON.parse(String(data));
      heard.push(event);
      if (member(event, "type") === until) resolve();
    });
    socket.on("error", reject).on("close", () => reject(new Error("the session ended")));
  });
  if (socket.readyState !== socket.OPEN) await once(socket, "open");
  for (const message of messages) socket.send(typeof message === "string" ? message : JSON.stringify(message));
  await ended;
  return heard;
}

const typesOf = (events: readonly unknown[]): unknown[] => events.map((event) => member(event, "type"));
const ask = (said: string): object => ({
  type: "conversation.item.create",
  item: { type: "message", role: "user", content: [{ type: "input_text", text: said }] },
});

describe("demo upstream, realtime", () => {
  let demo: RunningDemoUpstream;
  let url = "";
  const sockets: WebSocket[] = [];

  before(async () => {
    demo = await startDemoUpstream();
    url = `${demo.origin.replace("http", "ws")}/v1/realtime`;
  });

  after(() => {
    for (const socket of sockets) socket.terminate();
    demo.close();
  });

  function connect(search: string, ...rest: [] | [protocols: readonly string[]]): WebSocket {
    const [protocols] = rest;
    const socket =
      protocols === undefined
        ? new WebSocket(`${url}${search}`, authorization)
        : new WebSocket(`${url}${search}`, [...protocols]);
    sockets.push(socket);
    return socket;
  }

  it("repeats what was said, piece by piece, with usage", async () => {
    const events = await converse(
      connect("?model=m"),
      [ask("good morning"), { type: "response.create" }],
      "response.done",
    );
    const deltas = events.map((event) => member(event, "delta") ?? "").join("");
    assert.match(deltas, /model m\. You said: good morning$/);
    const response = member(events.at(-1), "response");
    const content = list(member(list(member(response, "output"))[0], "content"));
    assert.deepEqual(content, [{ type: "output_text", text: deltas }]);
    const usage = member(response, "usage");
    assert.deepEqual([member(usage, "input_tokens"), Number(member(usage, "output_tokens")) > 5], [3, true]);
    assert.deepEqual(typesOf(events).slice(0, 4), [
      "session.created",
      "conversation.item.added",
      "conversation.item.done",
      "response.created",
    ]);
    const ids = events.map((event) => member(event, "event_id"));
    assert.equal(new Set(ids).size, ids.length);
  });

  it("takes changes of the session, and cuts a response at its cap", async () => {
    const update = { type: "session.update", session: { type: "realtime", model: "other", instructions: "Be brief." } };
    const events = await converse(
      connect("?model=m"),
      [update, ask("hi"), { type: "response.create", response: { max_output_tokens: 2 } }],
      "response.done",
    );
    assert.equal(member(member(events[1], "session"), "model"), "other");
    const response = member(events.at(-1), "response");
    assert.equal(member(response, "status"), "incomplete");
    assert.equal(member(member(response, "usage"), "output_tokens"), 2);
  });

  it("counts audio as its own class of tokens", async () => {
    const append = { type: "input_audio_buffer.append", audio: Buffer.alloc(9600).toString("base64") };
    const events = await converse(
      connect("?model=m"),
      [append, { type: "input_audio_buffer.commit" }, { type: "response.create" }],
      "response.done",
    );
    const details = member(member(member(events.at(-1), "response"), "usage"), "input_token_details");
    assert.equal(member(details, "audio_tokens"), 2);
    assert.ok(typesOf(events).includes("input_audio_buffer.committed"));
  });

  for (const [name, message, code] of [
    ["a message that is no JSON", "{", null],
    ["an event without a type", {}, null],
    ["an event of an unknown type", { type: "tea.make", event_id: "mine" }, "invalid_value"],
    ["a change of nothing", { type: "session.update" }, null],
    ["an item that is none", { type: "conversation.item.create" }, null],
    ["a cancellation of nothing", { type: "response.cancel" }, "response_cancel_not_active"],
  ] as const) {
    it(`refuses ${name} with an event, and goes on`, async () => {
      const events = await converse(connect("?model=m"), [message, { type: "response.create" }], "response.done");
      const error = member(events[1], "error");
      assert.deepEqual([member(events[1], "type"), member(error, "code")], ["error", code]);
      assert.equal(member(error, "event_id"), member(message, "event_id") ?? null);
    });
  }

  it("opens a session for transcription, which names no model", async () => {
    const [created] = await converse(connect("?intent=transcription"), [], "session.created");
    assert.equal(member(member(created, "session"), "model"), undefined);
  });

  it("takes a browser's key from the subprotocols and accepts the other one", async () => {
    const socket = connect("?model=m", ["realtime", "openai-insecure-api-key.demo"]);
    await converse(socket, [], "session.created");
    assert.equal(socket.protocol, "realtime");
  });

  for (const [name, path, headers, status] of [
    ["another path", "/v1/other?model=m", authorization, 404],
    ["no credential", "/v1/realtime?model=m", {}, 401],
    ["no model", "/v1/realtime", authorization, 400],
    ["a fault that the model's name asks for", "/v1/realtime?model=demo-fault-503", authorization, 503],
  ] as const) {
    it(`refuses an upgrade with ${name}`, async () => {
      const socket = new WebSocket(`${demo.origin.replace("http", "ws")}${path}`, headers);
      const [, response] = await once(socket, "unexpected-response");
      assert.equal(response.statusCode, status);
    });
  }

  it("serves the official SDK's client", async () => {
    const client = new OpenAI({ baseURL: `${demo.origin}/v1`, apiKey: "demo" });
    // It takes wss addresses alone: TLS is left out below it.
    const createConnection = (): Socket => connectTo(Number(new URL(demo.origin).port), "127.0.0.1");
    const realtime = new OpenAIRealtimeWS({ model: "m", options: { createConnection } }, client);
    sockets.push(realtime.socket);
    const done = new Promise<string>((resolve, reject) => {
      realtime.on("error", reject);
      realtime.on("response.output_text.done", ({ text }) => resolve(text));
    });
    await once(realtime.socket, "open");
    realtime.send({
      type: "conversation.item.create",
      item: { type: "message", role: "user", content: [{ type: "input_text", text: "good morning" }] },
    });
    realtime.send({ type: "response.create" });
    assert.match(await done, /You said: good morning/);
    realtime.close();
  });

  it("ends its sessions with its connections", async () => {
    const other = await startDemoUpstream();
    const socket = new WebSocket(`${other.origin.replace("http", "ws")}/v1/realtime?model=m`, authorization);
    await once(socket, "open");
    const closed = once(socket, "close");
    other.close();
    assert.deepEqual((await closed)[0], 1006);
  });
});
