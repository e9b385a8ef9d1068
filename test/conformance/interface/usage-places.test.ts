/** Usage where vendors of chat completions put it: told and billed right, for every client, streamed or not. */
import assert from "node:assert/strict";
import { after, before, describe, it } from "mocha";
import type { TokenUsage } from "#proxy/settle/usage";
import { httpCall } from "#test/support/conformance/http-call";
import { InProcessGateway } from "#test/support/conformance/in-process-gateway";
import {
  channelManifest,
  channelSecretManifest,
  clientKey,
  keyManifest,
  manifestOf,
  routeManifest,
} from "#test/support/conformance/manifests";
import { FakeUpstream } from "#test/support/fake-upstream";

const price = {
  inputPerMillion: "3",
  cachedInputPerMillion: "0.3",
  cacheWritePerMillion: "3.75",
  outputPerMillion: "15",
};
const prompt = [{ role: "user", content: "hi" }];
const clients = {
  chat: { path: "/v1/chat/completions", body: { model: "m", messages: prompt } },
  messages: { path: "/v1/messages", body: { model: "m", max_tokens: 4_096, messages: prompt } },
  responses: { path: "/v1/responses", body: { model: "m", input: "hi" } },
  gemini: {
    path: "/v1beta/models/m:generateContent",
    streamPath: "/v1beta/models/m:streamGenerateContent?alt=sse",
    body: { contents: [{ role: "user", parts: [{ text: "hi" }] }] },
  },
} as const;
type Client = keyof typeof clients;

interface Place {
  readonly name: string;
  readonly usage?: object;
  readonly ofChoice?: object;
  readonly beside?: object;
  readonly want: Partial<TokenUsage>;
  readonly costNanos: bigint;
}

const counts = { prompt_tokens: 3_000, completion_tokens: 100, total_tokens: 3_100 };
const cachedTwoThousand = { want: { input: 1_000, cacheRead: 2_000, output: 100 }, costNanos: 5_100_000n };
const written = { want: { input: 1_000, cacheRead: 1_200, cacheWrite: 800, output: 100 }, costNanos: 7_860_000n };

const places: readonly Place[] = [
  { name: "usage.cached_tokens", usage: { ...counts, cached_tokens: 2_000 }, ...cachedTwoThousand },
  { name: "choices[0].usage", ofChoice: { ...counts, cached_tokens: 2_000 }, ...cachedTwoThousand },
  {
    name: "choices[0].usage beside an empty one",
    usage: {},
    ofChoice: { ...counts, prompt_tokens_details: { cached_tokens: 2_000 } },
    ...cachedTwoThousand,
  },
  { name: "x_groq.usage", beside: { x_groq: { usage: { ...counts, cached_tokens: 2_000 } } }, ...cachedTwoThousand },
  {
    name: "prompt_cache_hit_tokens",
    usage: { ...counts, prompt_cache_hit_tokens: 2_000, prompt_cache_miss_tokens: 1_000, prompt_tokens_details: null },
    ...cachedTwoThousand,
  },
  {
    name: "numbers in strings and fractions",
    usage: { prompt_tokens: "3000", completion_tokens: 100.9, cached_tokens: "2000.0" },
    ...cachedTwoThousand,
  },
  {
    name: "the names of the responses API",
    usage: { input_tokens: 3_000, output_tokens: 100, input_tokens_details: { cached_tokens: 2_000 } },
    ...cachedTwoThousand,
  },
  {
    name: "more cached than there is",
    usage: { ...counts, cached_tokens: 9_000 },
    want: { input: 0, cacheRead: 3_000, output: 100 },
    costNanos: 2_400_000n,
  },
  {
    name: "prompt_tokens_details.cache_creation_input_tokens",
    usage: { ...counts, prompt_tokens_details: { cached_tokens: 1_200, cache_creation_input_tokens: 800 } },
    ...written,
  },
  {
    name: "prompt_tokens_details.cache_creation alone",
    usage: {
      ...counts,
      prompt_tokens_details: { cached_tokens: 1_200, cache_creation: { ephemeral_5m_input_tokens: 800 } },
    },
    ...written,
  },
  {
    name: "both ways to tell what was written",
    usage: {
      ...counts,
      prompt_tokens_details: {
        cached_tokens: 1_200,
        cache_creation_input_tokens: 800,
        cache_creation: { ephemeral_5m_input_tokens: 800 },
        cache_type: "ephemeral",
      },
    },
    ...written,
  },
];

describe("pitfall 157: usage in vendors' own places", () => {
  let upstream: FakeUpstream;
  let gateway: InProcessGateway;

  before(async () => {
    upstream = await FakeUpstream.start();
    const manifests = manifestOf(
      keyManifest("k"),
      channelSecretManifest(),
      channelManifest("m", upstream.origin, { formats: [{ type: "ChatCompletions" }] }),
      routeManifest("m", { price }),
    );
    gateway = await InProcessGateway.start({ manifests });
  });
  after(async () => {
    await gateway?.close();
    await upstream?.close();
  });

  async function call(client: Client, stream: boolean, more: object = {}) {
    const { path, body } = clients[client];
    const isFlagged = stream && client !== "gemini";
    const answer = await httpCall({
      origin: gateway.origin,
      path: stream && client === "gemini" ? clients.gemini.streamPath : path,
      headers: { authorization: `Bearer ${clientKey("k")}` },
      body: JSON.stringify({ ...body, ...(isFlagged ? { stream } : {}), ...more }),
    });
    return { answer, record: await gateway.recordOf(String(answer.headers["x-request-id"])) };
  }

  for (const client of ["chat", "messages", "responses", "gemini"] as const) {
    for (const stream of [false, true]) {
      for (const { name, want, costNanos, ...place } of places) {
        it(`${client}${stream ? ", streamed" : ""}: ${name}`, async () => {
          upstream.replyWith(stream ? streamOf(place) : bodyOf(place));
          const { answer, record } = await call(client, stream);
          assert.equal(answer.status, 200, answer.body.toString());
          assert.deepEqual({ ...record.usage, ...want }, record.usage);
          assert.deepEqual([record.costNanos, record.isEstimated], [costNanos, false]);
          if (client === "messages") {
            assert.match(answer.body.toString(), new RegExp(`"cache_read_input_tokens":${want.cacheRead}\\b`));
          }
        });
      }
    }
  }

  it("chat, streamed: a client that did not ask sees what the vendor sends by itself, and no more", async () => {
    upstream.replyWith(streamOf({ usage: { ...counts, cached_tokens: 2_000 }, ofChoice: counts }));
    const { answer } = await call("chat", true);
    const text = answer.body.toString();
    assert.match(text, /"finish_reason":"stop","usage":\{"prompt_tokens":3000/);
    assert.doesNotMatch(text, /cached_tokens/);
    assert.match(text, /\[DONE\]/);
  });

  it("chat and messages, streamed: usage in several chunks is the last one that says something", async () => {
    const chunk = (usage: object) => ({ id: "c", object: "chat.completion.chunk", choices: [], usage });
    const half = { prompt_tokens: 3_000, completion_tokens: 50 };
    const empty = { prompt_tokens: 0, completion_tokens: 0, total_tokens: 0 };
    for (const client of ["chat", "messages"] as const) {
      const { body, headers } = streamOf({ usage: { ...counts, cached_tokens: 2_000 } }, [chunk(half)], [chunk(empty)]);
      upstream.replyWith({ body, headers });
      const { record } = await call(client, true);
      assert.equal(record.costNanos, 5_100_000n, client);
    }
  });
});

type Told = Pick<Place, "usage" | "ofChoice" | "beside">;

function bodyOf({ usage, ofChoice, beside }: Told) {
  const message = { role: "assistant", content: "x" };
  const choice = { index: 0, message, finish_reason: "stop", ...(ofChoice && { usage: ofChoice }) };
  const body = { id: "c", object: "chat.completion", created: 1, model: "m", choices: [choice], usage, ...beside };
  return { body: JSON.stringify(body) };
}

function streamOf({ usage, ofChoice, beside }: Told, before: readonly object[] = [], after: readonly object[] = []) {
  const chunk = { id: "c", object: "chat.completion.chunk", created: 1, model: "m" };
  const text = { ...chunk, choices: [{ index: 0, delta: { role: "assistant", content: "x" }, finish_reason: null }] };
  const end = { index: 0, delta: {}, finish_reason: "stop", ...(ofChoice && { usage: ofChoice }) };
  const finish = { ...chunk, choices: [end], ...beside };
  const own = usage === undefined ? [] : [{ ...chunk, choices: [], usage }];
  const chunks = [text, ...before, finish, ...own, ...after].map((value) => `data: ${JSON.stringify(value)}\n\n`);
  return { headers: { "content-type": "text/event-stream" }, body: `${chunks.join("")}data: [DONE]\n\n` };
}
