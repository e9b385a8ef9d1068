/**
 * Calls that go on from earlier responses, through the whole gateway: conversations that it keeps itself, responses that
 * a provider keeps, and what no other key ever finds.
 */
import assert from "node:assert/strict";
import { type HttpAnswer, httpCall } from "#test/support/conformance/http-call";
import { InProcessGateway } from "#test/support/conformance/in-process-gateway";
import {
  channelManifest,
  channelSecretManifest,
  clientKey,
  keyManifest,
  manifestOf,
  routeManifest,
} from "#test/support/conformance/manifests";
import { naturalReply } from "#test/support/conformance/natural-replies";
import { at, list } from "#test/support/digest/facts";
import { FakeUpstream, type ReceivedRequest, type ScriptedReply } from "#test/support/fake-upstream";
import { waitFor } from "#test/support/wait-for";

const chatOnly = { formats: [{ type: "ChatCompletions" }] };
const responsesOnly = { formats: [{ type: "Responses" }] };
/** For the natural answer of a format, which looks at nothing else. */
const request0: ReceivedRequest = {
  method: "POST",
  target: "",
  rawHeaders: [],
  headers: {},
  body: Buffer.alloc(0),
  json: () => undefined,
  receivedAtMs: 0,
  abortedAtMs: undefined,
  finishedAtMs: undefined,
};
const twoTargets = ["one", "two"].map((name) => ({ name, channelRef: { name: `native-${name}` } }));

describe("calls that go on from earlier responses", () => {
  let gateway: InProcessGateway;
  let upstream: FakeUpstream;
  let made = 0;

  before(async () => {
    upstream = await FakeUpstream.start();
    gateway = await InProcessGateway.start({
      manifests: manifestOf(
        channelSecretManifest(),
        keyManifest("main"),
        keyManifest("thief"),
        channelManifest("translated", upstream.origin, chatOnly),
        routeManifest("translated"),
        channelManifest("thinking", upstream.origin, {
          provider: "AnthropicCompatible",
          formats: [{ type: "Messages" }],
        }),
        routeManifest("thinking"),
        channelManifest("private", upstream.origin, { ...chatOnly, privacy: { store: "ForceFalse" } }),
        routeManifest("private"),
        channelManifest("native-one", upstream.origin, { ...responsesOnly, baseURL: `${upstream.origin}/one/v1` }),
        channelManifest("native-two", upstream.origin, { ...responsesOnly, baseURL: `${upstream.origin}/two/v1` }),
        routeManifest("native", { targets: twoTargets }),
        channelManifest("shared", upstream.origin, { ...responsesOnly, upstreamObjects: "Shared" }),
        routeManifest("shared"),
        channelManifest("limited", upstream.origin, {
          ...responsesOnly,
          limits: [{ name: "one", unit: "Requests", limit: "1", period: "Hour", algorithm: "FixedWindow" }],
        }),
        routeManifest("limited"),
      ),
    });
  });
  after(async () => {
    await gateway.close();
    await upstream.close();
  });
  beforeEach(() => {
    upstream.forget();
    upstream.replyWith(reply);
  });

  /** Natural answers, but that each response has an id of its own. */
  function reply(request: ReceivedRequest): ScriptedReply {
    made += 1;
    const { body, ...rest } = naturalReply(request);
    return { ...rest, body: `${body}`.replaceAll('"resp_1"', `"resp_up${made}"`) };
  }

  function create(body: object, key = "main"): Promise<HttpAnswer> {
    return httpCall({
      origin: gateway.origin,
      path: "/v1/responses",
      headers: { authorization: `Bearer ${clientKey(key)}` },
      body: JSON.stringify({ model: "translated", input: "one", ...body }),
    });
  }

  /** The response object of an answer, streamed or whole. */
  function responseOf(answer: HttpAnswer): unknown {
    assert.equal(answer.status, 200, answer.body.toString());
    const text = answer.body.toString();
    if (!text.startsWith("event:")) return answer.json();
    const last = text.trimEnd().split("\n\n").at(-1) ?? "";
    return at(JSON.parse(last.slice(last.indexOf("data: ") + 6)), "response");
  }

  async function made1(body: object = {}, key = "main"): Promise<string> {
    return String(at(responseOf(await create(body, key)), "id"));
  }

  function sent(): unknown {
    return upstream.requests.at(-1)?.json();
  }

  function assertNotFound(answer: HttpAnswer, param = "previous_response_id"): void {
    assert.equal(answer.status, 400, answer.body.toString());
    const error = at(answer.json(), "error");
    assert.deepEqual([at(error, "code"), at(error, "param")], ["previous_response_not_found", param]);
  }

  for (const stream of [false, true]) {
    it(`tells a provider of another format the whole conversation, ${stream ? "streamed" : "whole"}`, async () => {
      const first = await made1({ stream, instructions: "old" });
      const second = responseOf(
        await create({ stream, input: "two", instructions: "new", previous_response_id: first }),
      );
      assert.equal(at(second, "previous_response_id"), first);
      assert.deepEqual(
        list(at(sent(), "messages")).map((message) => [at(message, "role"), at(message, "content")]),
        [
          ["system", "new"],
          ["user", "one"],
          ["assistant", "hi"],
          ["user", "two"],
        ],
      );
      const third = await create({ stream, input: "three", previous_response_id: String(at(second, "id")) });
      assert.equal(third.status, 200);
      assert.equal(list(at(sent(), "messages")).length, 5);
    });
  }

  const thought = { type: "thinking", thinking: "T", signature: "SIG" };
  const use = { type: "tool_use", id: "toolu_1", name: "f", input: { x: 1 } };
  const useUnstored = { ...use, id: "toolu_2" };

  function thinkAndUseTool(called: object): ScriptedReply {
    const natural = Object(JSON.parse(`${naturalReply({ ...request0, target: "/v1/messages" }).body}`));
    return { body: JSON.stringify({ ...natural, content: [thought, called], stop_reason: "tool_use" }) };
  }

  it("gives a provider its own thinking back with the result of a tool", async () => {
    upstream.replyWith(thinkAndUseTool(use));
    const tools = [{ type: "function", name: "f" }];
    const asked = { model: "thinking", tools, reasoning: { effort: "low", summary: "auto" } };
    const first = responseOf(await create(asked));
    upstream.replyWith(reply);
    const output = { type: "function_call_output", call_id: "toolu_1", output: "1" };
    const second = await create({ ...asked, previous_response_id: at(first, "id"), input: [output] });
    assert.equal(second.status, 200, second.body.toString());
    const [, assistant, results] = list(at(sent(), "messages"));
    assert.deepEqual(at(assistant, "content"), [thought, use]);
    assert.equal(at(list(at(results, "content"))[0], "tool_use_id"), "toolu_1");
  });

  for (const { store, called, kept } of [
    { store: undefined, called: use, kept: [thought, use] },
    { store: false, called: useUnstored, kept: [useUnstored] },
  ]) {
    it(`remembers ${store === false ? "no " : ""}thinking for a client whose format cannot carry it, store: ${store}`, async () => {
      const chat = (messages: unknown) =>
        httpCall({
          origin: gateway.origin,
          path: "/v1/chat/completions",
          headers: { authorization: `Bearer ${clientKey("main")}` },
          body: JSON.stringify({
            model: "thinking",
            ...(store === undefined ? {} : { store }),
            reasoning_effort: "low",
            tools: [{ type: "function", function: { name: "f" } }],
            messages,
          }),
        });
      upstream.replyWith(thinkAndUseTool(called));
      const asked = { role: "user", content: "one" };
      const first = (await chat([asked])).json();
      const { message } = Object(list(at(first, "choices"))[0]);
      upstream.replyWith(reply);
      const result = { role: "tool", tool_call_id: at(list(at(message, "tool_calls"))[0], "id"), content: "1" };
      const second = await chat([asked, message, result]);
      assert.equal(second.status, 200, second.body.toString());
      assert.deepEqual(at(list(at(sent(), "messages"))[1], "content"), kept);
    });
  }

  it("replaces a reference to an item that it keeps", async () => {
    const first = responseOf(await create({}));
    const itemId = at(list(at(first, "output"))[0], "id");
    await create({
      input: [
        { type: "item_reference", id: itemId },
        { role: "user", content: "two" },
      ],
    });
    assert.deepEqual(
      list(at(sent(), "messages")).map((message) => at(message, "content")),
      ["hi", "two"],
    );
  });

  it("shows no conversation to another key, and asks nobody", async () => {
    const first = await made1();
    upstream.forget();
    assertNotFound(await create({ previous_response_id: first }, "thief"));
    const item = at(list(at(responseOf(await create({})), "output"))[0], "id");
    upstream.forget();
    assertNotFound(await create({ input: [{ type: "item_reference", id: item }] }, "thief"), "input[0].id");
    assert.equal(upstream.requests.length, 0);
  });

  it("answers many calls that go on from one turn, and holds nothing for them afterwards", async () => {
    const first = await made1();
    const calls = Array.from({ length: 8 }, (_, index) =>
      create({ previous_response_id: index % 4 === 3 ? "resp_invented" : first }),
    );
    const statuses = (await Promise.all(calls)).map(({ status }) => status);
    assert.deepEqual(statuses, [200, 200, 200, 400, 200, 200, 200, 400]);
    await waitFor("all bytes are released", () => gateway.inFlightBytes === 0);
  });

  it("keeps nothing with store: false, and says so", async () => {
    const response = responseOf(await create({ store: false }));
    assert.equal(at(response, "store"), false);
    assertNotFound(await create({ previous_response_id: at(response, "id") }));
  });

  it("keeps nothing where the channel forbids storing, and says so", async () => {
    const response = responseOf(await create({ model: "private" }));
    assert.equal(at(response, "store"), false);
    assertNotFound(await create({ model: "private", previous_response_id: at(response, "id") }));
  });

  it("knows no response that nobody made", async () => {
    for (const model of ["translated", "native"]) {
      assertNotFound(await create({ model, previous_response_id: "resp_invented" }));
    }
    assert.equal(upstream.requests.length, 0);
  });

  for (const stream of [false, true]) {
    it(`goes to the provider that keeps a response, and to no other, ${stream ? "streamed" : "whole"}`, async () => {
      for (let round = 0; round < 6; round += 1) {
        const first = await made1({ model: "native", stream });
        const home = upstream.requests.at(-1)?.target;
        assert.match(first, /^resp_up/);
        for (let turn = 0; turn < 3; turn += 1) {
          const next = await create({ model: "native", stream, input: "more", previous_response_id: first });
          assert.equal(next.status, 200);
          assert.equal(upstream.requests.at(-1)?.target, home);
          assert.equal(at(sent(), "previous_response_id"), first);
          assert.equal(at(sent(), "input"), "more");
        }
      }
    });
  }

  it("lets no other key go on from what a provider keeps", async () => {
    const first = await made1({ model: "native" });
    upstream.forget();
    assertNotFound(await create({ model: "native", previous_response_id: first }, "thief"));
    assert.equal(upstream.requests.length, 0);
  });

  it("says that the provider which keeps a response is busy, not that there is no such response", async () => {
    const first = await made1({ model: "limited" });
    const next = await create({ model: "limited", previous_response_id: first });
    assert.equal(next.status, 503, next.body.toString());
    assert.equal(at(next.json(), "error", "code"), "no_available_channel");
  });

  it("does not go on elsewhere from what a provider keeps", async () => {
    const first = await made1({ model: "native" });
    upstream.forget();
    assertNotFound(await create({ model: "translated", previous_response_id: first }));
    assert.equal(upstream.requests.length, 0);
  });

  it("keeps no place of a response that its provider does not store", async () => {
    const first = await made1({ model: "native", store: false });
    assertNotFound(await create({ model: "native", previous_response_id: first }));
  });

  it("leaves what it does not know to a provider whose objects are shared", async () => {
    const answer = await create({ model: "shared", previous_response_id: "resp_theirs" });
    assert.equal(answer.status, 200);
    assert.equal(at(sent(), "previous_response_id"), "resp_theirs");
  });

  it("takes a conversation that it keeps to a provider of the format as items", async () => {
    const first = await made1();
    const answer = await create({ model: "native", input: "two", previous_response_id: first });
    assert.equal(answer.status, 200);
    const body = sent();
    assert.equal(at(body, "previous_response_id"), undefined);
    assert.deepEqual(
      list(at(body, "input")).map((item) => at(item, "role")),
      ["user", "assistant", "user"],
    );
    assert.ok(list(at(body, "input")).every((item) => at(item, "id") === undefined));
  });
});
