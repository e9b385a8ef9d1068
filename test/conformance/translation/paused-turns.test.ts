/**
 * Turns that a messages upstream pauses (docs/design/translation.md 8.1): the gateway goes on with them for clients of
 * other formats, who see one answer, and as far as the limits of the caller have room.
 */
import assert from "node:assert/strict";
import { after, before, describe, it } from "mocha";
import { asList, member } from "#proxy/json/json-value";
import { callFormOf } from "#test/support/conformance/chat-calls";
import { type HttpAnswer, httpCall } from "#test/support/conformance/http-call";
import { InProcessGateway } from "#test/support/conformance/in-process-gateway";
import {
  channelManifest,
  channelSecretManifest,
  keyManifest,
  manifestOf,
  routeManifest,
} from "#test/support/conformance/manifests";
import { routeTo, useTranslationRig } from "#test/support/conformance/translation-rig";
import { digest } from "#test/support/digest/digest";
import type { DigestProtocol } from "#test/support/digest/facts";
import { FakeUpstream, type ReceivedRequest, type ScriptedReply } from "#test/support/fake-upstream";
import {
  stepEvents as events,
  pausedStep as first,
  lastStep as last,
  wholeStep as whole,
} from "#test/support/translation/messages-turn";
import { waitFor } from "#test/support/wait-for";

/** What asks for a search, which is why a provider pauses. */
const asking: Partial<Record<DigestProtocol, object>> = {
  "openai-chat": { web_search_options: {}, max_completion_tokens: 1_000 },
  "openai-responses": { tools: [{ type: "web_search" }], max_output_tokens: 1_000 },
  gemini: { tools: [{ googleSearch: {} }], generationConfig: { maxOutputTokens: 1_000 } },
};
const clients = ["openai-chat", "openai-responses", "gemini"] as const;

/** A chat client's stream that it may leave. */
function openStream(origin: string, signal: AbortSignal): Promise<Response> {
  const form = callFormOf("openai-chat");
  const model = routeTo("anthropic-messages");
  return fetch(`${origin}${form.path(model, true)}`, {
    method: "POST",
    headers: { ...form.headers("main"), "content-type": "application/json" },
    body: JSON.stringify({ ...form.body(model, true), ...asking["openai-chat"] }),
    signal,
  });
}

const bodyOf = (request: ReceivedRequest | undefined): unknown => request?.json();
const answersOf = (request: ReceivedRequest | undefined): unknown => asList(member(bodyOf(request), "messages")).at(-1);

describe("a turn that a messages upstream pauses", () => {
  const rig = useTranslationRig();

  function script(...replies: readonly ScriptedReply[]): void {
    rig().upstream.forget();
    rig().upstream.replyWith((_, index) => replies[index] ?? { status: 500, body: "{}" });
  }

  const ask = (from: DigestProtocol, stream: boolean, body: object = {}): Promise<HttpAnswer> =>
    rig().call(from, "anthropic-messages", stream, { ...asking[from], ...body });

  for (const from of clients) {
    for (const stream of [false, true]) {
      for (const [manner, tell] of [
        ["as events", events],
        ["whole", whole],
      ] as const) {
        it(`is one answer to ${from}, ${stream ? "" : "not "}streamed, told ${manner}`, async () => {
          script(tell(first, 1), events(last, 2));
          const answer = await ask(from, stream);
          assert.equal(answer.isComplete, true);
          assert.equal(answer.status, 200, answer.body.toString());
          const facts = digest(from, answer.body);
          assert.equal(facts.text, "Let me look. It rains.");
          assert.equal(facts.finish, "stop");
          assert.deepEqual([facts.usage?.input, facts.usage?.output], [250, 28]);
          assert.equal(rig().upstream.requests.length, 2);
          const { usage, isEstimated, attempts } = await rig().gateway.recordOf(String(answer.header("x-request-id")));
          assert.deepEqual([usage?.input, usage?.output, usage?.searches], [250, 28, 3]);
          assert.deepEqual([isEstimated, attempts], [false, 1]);
        });
      }
    }
  }

  it("is sent back word for word behind the conversation, and asked for no more than is left of the cap", async () => {
    const container = { id: "container_1", expires_at: "2030-01-01T00:00:00Z" };
    script(events({ ...first, container }, 1), events({ ...last, reason: "pause_turn" }, 2), events(last, 3));
    const answer = await ask("openai-chat", true);
    assert.equal(digest("openai-chat", answer.body).text, "Let me look. It rains.It rains.");
    const [begun, second, third] = rig().upstream.requests;
    assert.deepEqual(answersOf(second), { role: "assistant", content: first.content });
    assert.deepEqual(answersOf(third), { role: "assistant", content: [...first.content, ...last.content] });
    const { messages, max_tokens: cap, ...rest } = JSON.parse(String(begun?.body));
    assert.equal(cap, 1_000);
    assert.deepEqual(bodyOf(second), {
      ...rest,
      container: "container_1",
      max_tokens: 980,
      messages: [...messages, { role: "assistant", content: first.content }],
    });
    assert.equal(member(bodyOf(third), "max_tokens"), 972);
    assert.equal(second?.headers["x-api-key"], begun?.headers["x-api-key"]);
  });

  it("is one answer however its bytes are cut", async () => {
    for (const fragmentBytes of [1, 7]) {
      script({ ...events(first, 1), fragmentBytes }, { ...events(last, 2), fragmentBytes });
      const answer = await ask("openai-responses", true);
      assert.equal(digest("openai-responses", answer.body).text, "Let me look. It rains.");
      assert.equal(answer.isComplete, true);
    }
  });

  it("ends as it is after five requests more", async () => {
    script(...Array.from({ length: 8 }, (_, index) => events(first, index)));
    const answer = await ask("openai-chat", false);
    assert.equal(rig().upstream.requests.length, 6);
    const facts = digest("openai-chat", answer.body);
    assert.equal(facts.text, "Let me look. ".repeat(6));
    assert.equal(facts.finish, "stop");
    assert.deepEqual([facts.usage?.input, facts.usage?.output], [600, 120]);
  });

  it("ends at its length where nothing is left of the client's cap", async () => {
    for (const stream of [false, true]) {
      script(events({ ...first, usage: { input_tokens: 5, output_tokens: 1_000 } }, 1), events(last, 2));
      const facts = digest("openai-chat", (await ask("openai-chat", stream)).body);
      assert.equal(facts.finish, "length");
      assert.equal(rig().upstream.requests.length, 1);
    }
  });

  it("waits for the client where it holds a call of the client's", async () => {
    const call = { type: "tool_use", id: "toolu_1", name: "lookup", input: { a: 1 } };
    script(events({ ...first, content: [...first.content, call] }, 1), events(last, 2));
    const tools = [{ type: "function", function: { name: "lookup", parameters: { type: "object" } } }];
    const facts = digest("openai-chat", (await ask("openai-chat", true, { tools })).body);
    assert.equal(rig().upstream.requests.length, 1);
    assert.equal(facts.finish, "tool_calls");
  });

  it("is the client's own business where the client speaks the format", async () => {
    script(events(first, 1), events(last, 2));
    const tools = [{ type: "web_search_20250305", name: "web_search" }];
    const answer = await rig().call("anthropic-messages", "anthropic-messages", true, { tools });
    assert.match(answer.body.toString(), /"stop_reason":"pause_turn"/);
    assert.equal(rig().upstream.requests.length, 1);
  });

  const words = "one two three four ".repeat(50);
  const overloaded = { type: "error", error: { type: "overloaded_error", message: "Overloaded" } };
  const failures: readonly (readonly [string, ScriptedReply])[] = [
    ["is refused", { status: 529, body: JSON.stringify(overloaded) }],
    ["is refused by a page", { status: 502, headers: { "content-type": "text/html" }, body: "<html>Bad</html>" }],
    ["is reset", { resetAtOnce: true }],
    ["is cut", { ...events(last, 2), cutAt: 500 }],
    ["ends before it is complete", { ...events(last, 2), body: String(events(last, 2).body).slice(0, 500) }],
    ["is no answer", { body: '{"hello":1}' }],
    ["is no JSON", { body: '{"content":[' }],
    ["is an error with a success status", { body: JSON.stringify(overloaded) }],
    [
      "is no text",
      { ...events(last, 2), body: Buffer.from(String(events(last, 2).body).replace("rains", "\u00ff"), "latin1") },
    ],
    ["is compressed", { ...events(last, 2), headers: { "content-encoding": "gzip" } }],
  ];
  for (const [name, reply] of failures) {
    for (const from of clients) {
      it(`ends visibly, and is charged for what was said, where what follows ${name}: ${from}`, async () => {
        script(events(first, 1), reply);
        const streamed = await ask(from, true);
        assert.notEqual(digest(from, streamed.body).finish, "stop", streamed.body.toString());
        assert.equal(digest(from, streamed.body).status, "error");
        assert.equal(streamed.isComplete, from !== "gemini");
        script(events(first, 1), reply);
        const unstreamed = await ask(from, false);
        assert.ok(unstreamed.status >= 429, unstreamed.body.toString());
        assert.equal(rig().upstream.requests.length, 2, "no other attempt");
        for (const answer of [streamed, unstreamed]) {
          const { usage } = await rig().gateway.recordOf(String(answer.header("x-request-id")));
          assert.ok((usage?.input ?? 0) >= 100 && (usage?.output ?? 0) >= 20, JSON.stringify(usage));
        }
      });
    }
  }

  it("is left in whatever request it is when its client leaves", async () => {
    const stalling = events(last, 2);
    script(events(first, 1), { ...stalling, stallAt: 500 });
    const abort = new AbortController();
    const answer = await openStream(rig().gateway.origin, abort.signal);
    await waitFor("the second request", () => rig().upstream.requests[1]);
    await answer.body?.getReader().read();
    abort.abort();
    await waitFor("the upstream to be left", () => rig().upstream.requests[1]?.abortedAtMs);
    const { usage } = await rig().gateway.recordOf(String(answer.headers.get("x-request-id")));
    assert.ok((usage?.input ?? 0) >= 250 && (usage?.output ?? 0) >= 20, JSON.stringify(usage));
  });

  it("is charged for what a later request said on top of what the earlier ones took", async () => {
    const said = { ...last, content: [{ type: "text", text: words }] };
    const cut = String(events(said, 2).body).indexOf('"stop_reason":"end_turn"');
    script(events({ ...first, usage: { input_tokens: 100, output_tokens: 700 } }, 1), {
      ...events(said, 2),
      cutAt: cut,
    });
    const answer = await ask("openai-chat", true);
    assert.equal(digest("openai-chat", answer.body).status, "error");
    const { usage, isEstimated } = await rig().gateway.recordOf(String(answer.header("x-request-id")));
    assert.equal(usage?.input, 250);
    assert.ok((usage?.output ?? 0) >= 850 && (usage?.output ?? 0) <= 950, `${usage?.output}`);
    assert.equal(isEstimated, true);
  });

  const usageRows: readonly {
    readonly name: string;
    readonly first?: object;
    readonly second?: object;
    readonly cut?: true;
    readonly input: number;
    readonly output: readonly [number, number];
  }[] = [
    { name: "whole, with all told", input: 250, output: [28, 28] },
    { name: "whole, with nothing told", second: {}, input: 100 + 120, output: [180, 260] },
    { name: "whole, with its prompt told", second: { input_tokens: 150 }, input: 250, output: [180, 260] },
    { name: "cut, with its prompt told", second: { input_tokens: 150 }, cut: true, input: 250, output: [180, 260] },
    { name: "cut, with nothing told", second: {}, cut: true, input: 100 + 120, output: [180, 260] },
    {
      name: "cut, after one that says what cannot be",
      first: { input_tokens: 1e12, output_tokens: 20 },
      second: {},
      cut: true,
      input: 2 * 16 * 1024 * 1024,
      output: [20, 300],
    },
  ];
  for (const row of usageRows) {
    it(`is charged by what was told and said, as far as it can be true: ${row.name}`, async () => {
      const said = { ...last, content: [{ type: "text", text: words }], usage: row.second ?? last.usage ?? {} };
      const reply = events(said, 2);
      // What a start says of the answer itself says nothing.
      const bodyText = String(reply.body).replaceAll(/"output_tokens":1[,}]/g, (found) => found.replace("1", "0"));
      const cutAt = bodyText.indexOf("event: message_delta");
      script(
        events({ ...first, usage: row.first ?? first.usage ?? {} }, 1),
        row.cut === true ? { ...reply, body: bodyText, cutAt } : { ...reply, body: bodyText },
      );
      const answer = await ask("openai-chat", true);
      const { usage } = await rig().gateway.recordOf(String(answer.header("x-request-id")));
      assert.equal(usage?.input, row.input);
      const output = usage?.output ?? 0;
      assert.ok(output >= row.output[0] && output <= row.output[1], `${output}`);
    });
  }

  it("leaves its connections to others, also where its end does not fit into the client's buffers", async () => {
    const long = { ...last, content: [{ type: "text", text: "x".repeat(300_000) }] };
    for (const replies of [
      [events(first, 1), whole(long, 2)],
      [events({ ...first, content: long.content, usage: { input_tokens: 1, output_tokens: 1_000 } }, 1)],
      [
        events(first, 1),
        { ...events(long, 2), body: `${events(long, 2).body}`.replace("event: message_stop", "event: error") },
      ],
    ]) {
      script(...replies);
      await ask("openai-chat", true);
      script(events(last, 1));
      assert.equal(digest("openai-chat", (await ask("openai-chat", true)).body).text, "It rains.");
    }
  });

  it("leaves nothing held", async () => {
    await waitFor("all to be settled", () => rig().gateway.ledger.openCount === 0);
    assert.equal(rig().gateway.inFlightBytes, 0);
  });
});

describe("a paused turn that nobody goes on with", () => {
  const rig = useTranslationRig({}, { firstByteStreamTimeoutMs: 300, firstByteTimeoutMs: 300, streamIdleTimeoutMs: 0 });

  for (const stream of [false, true]) {
    it(`ends visibly in time, ${stream ? "" : "not "}streamed, and is charged for what was said`, async () => {
      rig().upstream.forget();
      rig().upstream.replyWith((_, index) =>
        index === 0 ? events(first, 1) : { ...events(last, 2), delayHeadMs: 3_000 },
      );
      const answer = await rig().call("openai-chat", "anthropic-messages", stream, asking["openai-chat"]);
      assert.match(answer.body.toString(), /no reply came in time/);
      assert.equal(answer.status, stream ? 200 : 504);
      assert.equal(digest("openai-chat", answer.body, answer.status).status, "error");
      const { usage } = await rig().gateway.recordOf(String(answer.header("x-request-id")));
      assert.deepEqual([usage?.input, usage?.output], [100, 20]);
      await waitFor("the upstream to be left", () => rig().upstream.requests[1]?.abortedAtMs);
    });
  }

  it("is charged for the prompt of a request that its client left before its answer began", async () => {
    rig().upstream.forget();
    rig().upstream.replyWith((_, index) =>
      index === 0 ? events(first, 1) : { ...events(last, 2), delayHeadMs: 3_000 },
    );
    const abort = new AbortController();
    const answer = await openStream(rig().gateway.origin, abort.signal);
    await waitFor("the second request", () => rig().upstream.requests[1]);
    abort.abort();
    const { usage } = await rig().gateway.recordOf(String(answer.headers.get("x-request-id")));
    assert.deepEqual([usage?.input, usage?.output], [100 + 120, 20]);
  });
});

describe("the limits of a paused turn", () => {
  const model = "limited";
  let upstream: FakeUpstream;
  let gateway: InProcessGateway;

  before(async () => {
    upstream = await FakeUpstream.start();
    const tokens = (limit: string) => [{ name: "tokens", unit: "Tokens", limit, period: "Day" }];
    const limited = (name: string, limits: readonly object[]) => [
      channelManifest(name, upstream.origin, { provider: "Anthropic", formats: [{ type: "Messages" }], limits }),
      routeManifest(name, {
        targets: [{ name: "main", channelRef: { name }, upstreamModel: "claude-sonnet-4-5" }],
      }),
    ];
    gateway = await InProcessGateway.start({
      manifests: manifestOf(
        channelSecretManifest(),
        keyManifest("wide", { limits: tokens("1M") }),
        keyManifest("narrow", { limits: tokens("1200") }),
        keyManifest("counted", { limits: [{ name: "calls", unit: "Requests", limit: "10", period: "Day" }] }),
        ...limited(model, [{ name: "calls", unit: "Requests", limit: "100", period: "Day" }]),
        ...limited("narrow-channel", tokens("1200")),
        ...limited("spare-one", []),
        ...limited("spare-two", []),
        routeManifest("two-channels", {
          failover: { maxAttempts: 3 },
          targets: ["spare-one", "spare-two"].map((name) => ({
            name,
            channelRef: { name },
            upstreamModel: "claude-sonnet-4-5",
          })),
        }),
      ),
    });
  });
  after(async () => {
    await gateway?.close();
    await upstream?.close();
  });

  async function ask(key: string, name = model, next: ScriptedReply = events(last, 2)): Promise<HttpAnswer> {
    upstream.forget();
    const steps = [events(first, 1), next];
    upstream.replyWith((_, index) => steps[index] ?? { status: 500, body: "{}" });
    const form = callFormOf("openai-chat");
    const answer = await httpCall({
      origin: gateway.origin,
      path: form.path(name, false),
      headers: form.headers(key),
      body: JSON.stringify({ ...form.body(name, false), ...asking["openai-chat"] }),
    });
    await waitFor("all to be settled", () => gateway.ledger.openCount === 0);
    return answer;
  }

  it("have room: the key is charged for the sum, as one request, and the channel for two", async () => {
    assert.equal(digest("openai-chat", (await ask("wide")).body).text, "Let me look. It rains.");
    assert.equal(gateway.ledger.read("key/default/wide/tokens")?.posted, 278n);
    await ask("counted");
    assert.equal(gateway.ledger.read("key/default/counted/calls")?.posted, 1n);
    assert.equal(gateway.ledger.read(`channel/default/${model}/calls`)?.posted, 4n);
  });

  it("are charged for what was said where the rest is refused, which no other target is asked for", async () => {
    const posted = (): bigint => gateway.ledger.read("key/default/wide/tokens")?.posted ?? 0n;
    const before = posted();
    const answer = await ask("wide", "two-channels", { status: 529, body: "{}" });
    assert.ok(answer.status >= 500, answer.body.toString());
    assert.equal(upstream.requests.length, 2);
    assert.equal(posted() - before, 120n);
  });

  for (const [whose, key, name, counter] of [
    ["the key", "narrow", model, "key/default/narrow/tokens"],
    ["the channel", "wide", "narrow-channel", "channel/default/narrow-channel/tokens"],
  ] as const) {
    it(`of ${whose} have none: the turn ends with its pause, below the ceiling`, async () => {
      const answer = await ask(key, name);
      const facts = digest("openai-chat", answer.body);
      assert.deepEqual([facts.text, facts.finish], ["Let me look. ", "stop"]);
      assert.equal(upstream.requests.length, 1);
      const reading = gateway.ledger.read(counter);
      assert.deepEqual([reading?.posted, reading?.pending], [120n, 0n]);
    });
  }
});
