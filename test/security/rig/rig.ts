/**
 * The real program in front of a recording upstream, and the oracle of docs/design/reliability.md A to F: exact status,
 * exact code, upstream untouched, no secret in the answer, connection as stated; each case alone, behind a good request
 * of the same connection, and in one packet with a good request behind it.
 */
import assert from "node:assert/strict";
import { after, before } from "mocha";
import { FakeUpstream, type ReceivedRequest, type Script, type ScriptedReply } from "#test/support/fake-upstream";
import { RawClient, type RawResponse } from "#test/support/raw-client";
import { type Gateway, startGateway } from "#test/support/start-gateway";
import { waitFor } from "#test/support/wait-for";
import { forbiddenMark, goodRequest } from "./raw-request.ts";
import { channelSecret, clientKeys, rigManifests } from "./rig-manifests.ts";

export interface RigOptions {
  readonly flags?: readonly string[];
  readonly environment?: Readonly<Record<string, string>>;
  /** Further manifests by file name; `rig.yaml` replaces the usual ones. */
  readonly manifests?: (upstream: FakeUpstream) => Readonly<Record<string, string>>;
  readonly script?: Script;
}

export class Rig {
  readonly gateway: Gateway;
  readonly upstream: FakeUpstream;

  constructor(gateway: Gateway, upstream: FakeUpstream) {
    this.gateway = gateway;
    this.upstream = upstream;
  }

  get port(): number {
    return this.gateway.port;
  }

  connect(): Promise<RawClient> {
    return RawClient.connect({ port: this.port });
  }

  /** Sends one request on a connection of its own and reads its answer. */
  async exchange(bytes: string | Buffer, deadlineMs?: number): Promise<RawResponse> {
    const client = await this.connect();
    try {
      client.write(bytes);
      return await client.readResponse(deadlineMs);
    } finally {
      client.close();
    }
  }

  /** Ends everything; fails if any marked request reached the upstream during the run. */
  async close(): Promise<void> {
    await this.gateway.close();
    await this.upstream.close();
    const smuggled = this.upstream.requests.filter(({ body, target }) => `${target}${body}`.includes(forbiddenMark));
    assert.equal(smuggled.length, 0, "a refused request reached the upstream");
  }
}

export async function startRig(options: RigOptions = {}): Promise<Rig> {
  const upstream = await FakeUpstream.start(options.script ?? naturalReply);
  try {
    const gateway = await startGateway({
      manifests: { "rig.yaml": rigManifests(upstream.origin), ...options.manifests?.(upstream) },
      flags: options.flags ?? [],
      environment: options.environment ?? {},
    });
    await gateway.waitUntilServed("default/good", "open-a").catch((error: unknown) => {
      throw new Error(`the rig is not served: ${gateway.logs}`, { cause: error });
    });
    return new Rig(gateway, upstream);
  } catch (error) {
    await upstream.close();
    throw error;
  }
}

/** Starts a rig before the tests of the enclosing `describe` and ends it after them. */
export function useRig(options: RigOptions = {}): () => Rig {
  let rig: Rig | undefined;
  before(async function () {
    this.timeout(30_000);
    rig = await startRig(options);
  });
  after(async function () {
    this.timeout(20_000);
    await rig?.close();
  });
  return () => rig ?? assert.fail("the rig has not been started");
}

export interface Refusal {
  readonly name: string;
  readonly bytes: string | Buffer;
  readonly status: number;
  /** As the format spells it: `error.code` of A, `error.type` of B, `error.status` of C. Undefined: not compared. */
  readonly code?: string;
  /** The connection afterwards. `either`: as the answer's own `Connection` says. */
  readonly connection: "open" | "closed" | "either";
}

/** Has one case refused in all three ways. */
export async function checkRefusal(rig: Rig, refusal: Refusal): Promise<void> {
  const bytes = typeof refusal.bytes === "string" ? Buffer.from(refusal.bytes, "latin1") : refusal.bytes;
  await inWay("alone", async (client) => {
    client.write(bytes);
    const isOpen = await expectRefusal(rig, client, refusal);
    await expectConnection(rig, client, isOpen, false);
  });
  await inWay("after a good request", async (client) => {
    client.write(goodRequest("before"));
    await expectServed(rig, client, "before");
    client.write(bytes);
    const isOpen = await expectRefusal(rig, client, refusal);
    await expectConnection(rig, client, isOpen, false);
  });
  await inWay("in one packet with a good request behind it", async (client) => {
    client.write(Buffer.concat([bytes, goodRequest("behind")]));
    const isOpen = await expectRefusal(rig, client, refusal);
    await expectConnection(rig, client, isOpen, true);
  });

  async function inWay(way: string, run: (client: RawClient) => Promise<void>): Promise<void> {
    const client = await rig.connect();
    try {
      await run(client);
    } catch (error) {
      throw new Error(`${way}: ${error instanceof Error ? error.message : String(error)}`, { cause: error });
    } finally {
      client.close();
    }
  }
}

/** @returns whether the connection stays open */
async function expectRefusal(rig: Rig, client: RawClient, refusal: Refusal): Promise<boolean> {
  const requestsBefore = rig.upstream.requests.length;
  const response = await client.readResponse();
  const text = response.body.toString("utf8");
  assert.equal(response.status, refusal.status, text);
  if (refusal.code !== undefined) assert.equal(errorCode(response), refusal.code, text);
  assertNoSecret(response);
  const isOpen = response.header("connection") !== "close";
  if (refusal.connection !== "either") assert.equal(isOpen ? "open" : "closed", refusal.connection);
  // What follows in the same packet may be served already when the connection stays open.
  if (!isOpen) assert.equal(rig.upstream.requests.length, requestsBefore);
  return isOpen;
}

async function expectConnection(rig: Rig, client: RawClient, isOpen: boolean, isBehind: boolean): Promise<void> {
  const requestsBefore = rig.upstream.requests.length;
  if (!isOpen) {
    assert.equal((await client.readToEnd()).toString("latin1"), "", "there is more than one answer");
    assert.equal(rig.upstream.requests.length, requestsBefore);
    return;
  }
  if (!isBehind) client.write(goodRequest("behind"));
  await expectServed(rig, client, "behind");
}

/** The next answer is the upstream's, to the request with this mark. */
export async function expectServed(rig: Rig, client: RawClient, mark: string): Promise<void> {
  const response = await client.readResponse();
  assert.equal(response.status, 200, response.body.toString("utf8"));
  assertNoSecret(response);
  assert.equal(JSON.parse(response.body.toString("utf8")).choices[0].message.content, `echo ${mark}`);
  assert.ok(rig.upstream.requests.length > 0);
}

/** The code as the answer's own format spells it. */
export function errorCode(response: RawResponse): string | undefined {
  const parsed = JSON.parse(response.body.toString("utf8"));
  if (parsed.type === "error") return parsed.error.type;
  return typeof parsed.error.code === "number" ? parsed.error.status : parsed.error.code;
}

const secrets = [...Object.values(clientKeys), channelSecret];

export function assertNoSecret(response: RawResponse): void {
  const text = `${response.headers.flat().join("\n")}\n${response.body.toString("utf8")}`;
  for (const secret of secrets) assert.equal(text.includes(secret), false, `a secret stands in the answer: ${text}`);
  assert.equal(/ at .*\.[mc]?[jt]s:[0-9]+|node:internal|\/proxy\//.test(text), false, "a stack stands in the answer");
}

/** Waits until the upstream has received this many requests with the mark. */
export function upstreamSaw(rig: Rig, mark: string, count = 1): Promise<ReceivedRequest[]> {
  return waitFor(`the upstream to receive ${count} x ${mark}`, () => {
    const seen = rig.upstream.requests.filter(({ body }) => body.includes(mark));
    return seen.length >= count ? seen : undefined;
  });
}

/** Answers in the format of the path and repeats the prompt, so that an answer shows which request it belongs to. */
export function naturalReply(request: ReceivedRequest): ScriptedReply {
  const text = `echo ${promptOf(request.body.toString("utf8"))}`;
  const usage = { prompt_tokens: 5, completion_tokens: 2, total_tokens: 7 };
  if (request.target.includes("/responses")) {
    const output = [{ type: "message", id: "msg_1", role: "assistant", content: [{ type: "output_text", text }] }];
    const counted = { input_tokens: 5, output_tokens: 2, total_tokens: 7 };
    return json({ id: "resp_1", object: "response", status: "completed", model: "m", output, usage: counted });
  }
  if (request.target.includes("/messages")) {
    const counted = { input_tokens: 5, output_tokens: 2 };
    const content = [{ type: "text", text }];
    return json({
      id: "msg_1",
      type: "message",
      role: "assistant",
      model: "m",
      content,
      stop_reason: "end_turn",
      usage: counted,
    });
  }
  if (request.target.includes("Content")) {
    const counted = { promptTokenCount: 5, candidatesTokenCount: 2, totalTokenCount: 7 };
    const candidates = [{ content: { role: "model", parts: [{ text }] }, finishReason: "STOP", index: 0 }];
    const reply = { candidates, usageMetadata: counted, modelVersion: "m" };
    if (!request.target.includes("streamGenerateContent")) return json(reply);
    return { headers: { "content-type": "text/event-stream" }, body: `data: ${JSON.stringify(reply)}\n\n` };
  }
  const head = { id: "chatcmpl-1", created: 1, model: "m" };
  if (/"stream":\s*true/.test(request.body.toString("utf8"))) {
    const chunk = { ...head, object: "chat.completion.chunk" };
    const events = [
      { ...chunk, choices: [{ index: 0, delta: { role: "assistant", content: text }, finish_reason: null }] },
      { ...chunk, choices: [{ index: 0, delta: {}, finish_reason: "stop" }] },
      { ...chunk, choices: [], usage },
    ];
    const body = [...events.map((event) => JSON.stringify(event)), "[DONE]"]
      .map((data) => `data: ${data}\n\n`)
      .join("");
    return { headers: { "content-type": "text/event-stream" }, body };
  }
  const message = { role: "assistant", content: text };
  return json({ ...head, object: "chat.completion", choices: [{ index: 0, message, finish_reason: "stop" }], usage });
}

function promptOf(body: string): string {
  return /"(?:content|text|input)":\s*"([^"]*)"/.exec(body)?.[1] ?? "";
}

function json(value: unknown): ScriptedReply {
  return { body: JSON.stringify(value) };
}

/** Prints a figure in the form that all suites share. */
export function figure(name: string, value: number, limit: number, unit: string, isMet = value <= limit): void {
  console.log(`      ${name} ${value.toFixed(2)} ${unit} limit ${limit} ${unit} ${isMet ? "ok" : "EXCEEDED"}`);
}
