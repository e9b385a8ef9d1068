import assert from "node:assert/strict";
import { chatCompletionsUpstream as chatCompletions } from "#proxy/formats/chat-completions/native/upstream-format";
import type { UpstreamFormat } from "#proxy/formats/format";
import { generateContentUpstream as generateContent } from "#proxy/formats/generate-content/native/upstream-format";
import { defaultLimits } from "#proxy/limits";
import type { Channel, Route, Timeouts } from "#proxy/snapshot/types.gen";
import { buildUpstreamRequest } from "#proxy/upstream/request/build-upstream-request";
import type { UpstreamRequest } from "#proxy/upstream/upstream-exchange";
import { callOf } from "#test/support/digest/stream-call";
import { wireChannel, wireCredential, wireRoute } from "#test/support/wire-objects";

const secret = "not a real secret&=";

interface Build {
  readonly format?: UpstreamFormat;
  readonly model?: string;
  readonly stream?: boolean;
  readonly channel?: Partial<Channel>;
  readonly route?: Partial<Route>;
  readonly target?: Partial<Route["targets"][number]>;
  readonly path?: string;
  readonly clientHeaders?: Readonly<Record<string, string>>;
  readonly outputCap?: number;
  readonly hasCredential?: boolean;
}

function build(options: Build = {}): UpstreamRequest {
  const { format = chatCompletions, model = "m", stream = true, path = "/chat/completions" } = options;
  const call =
    format === generateContent
      ? { ...callOf(format, {}, { modelInPath: model }), stream }
      : callOf(format, stream ? { model } : { model, stream: false, stream_options: undefined });
  const target = { name: "t", channel: "team-a/a", priority: 0, weight: 1, ...options.target };
  return buildUpstreamRequest(
    format,
    call,
    {
      route: wireRoute("m", options.route),
      target,
      channel: wireChannel("a", options.channel),
      credential: options.hasCredential === false ? undefined : wireCredential("a", "main", secret),
      path,
    },
    options.clientHeaders ?? {},
    { outputCap: options.outputCap },
    defaultLimits,
  );
}

/** Every value of a header. */
function headersOf({ fixedHeaders = [], headers }: UpstreamRequest): readonly string[] {
  return [...fixedHeaders, ...headers];
}

function values(request: UpstreamRequest, name: string): string[] {
  const headers = headersOf(request);
  return headers.filter((_, index) => index % 2 === 1 && headers[index - 1] === name);
}

function bodyOf({ body }: UpstreamRequest): Record<string, unknown> {
  return JSON.parse(body.toString("utf8"));
}

describe("the address of an upstream request", () => {
  const gemini = { format: generateContent, path: "/models/{model}:{verb}" };
  const query: Partial<Channel> = { auth: { location: "Query", name: "key", scheme: "Raw" } };
  const encoded = "key=not%20a%20real%20secret%26%3D";
  for (const row of [
    { name: "is the channel's prefix and the format's path", options: {}, want: "/v1/chat/completions" },
    {
      name: "asks a Gemini-style stream for events",
      options: gemini,
      want: "/v1/models/m:streamGenerateContent?alt=sse",
    },
    {
      name: "asks nothing for a whole Gemini-style reply",
      options: { ...gemini, stream: false },
      want: "/v1/models/m:generateContent",
    },
    {
      name: "carries a credential that belongs into the query, encoded",
      options: { channel: query },
      want: `/v1/chat/completions?${encoded}`,
    },
    {
      name: "joins both",
      options: { ...gemini, channel: query },
      want: `/v1/models/m:streamGenerateContent?alt=sse&${encoded}`,
    },
    {
      name: "appends to the query of a path",
      options: { channel: query, path: "/c?api-version=1" },
      want: `/v1/c?api-version=1&${encoded}`,
    },
    {
      name: "has no empty credential",
      options: { channel: query, hasCredential: false },
      want: "/v1/chat/completions",
    },
    {
      name: "names the upstream's model",
      options: { ...gemini, stream: false, target: { upstreamModel: "org/real" } },
      want: "/v1/models/org%2Freal:generateContent",
    },
  ]) {
    it(row.name, () => {
      const request = build(row.options);
      assert.equal(request.path, row.want);
      assert.ok(request.path.startsWith("/"), "the address is the pool's, the path alone is the request's");
    });
  }
});

describe("the headers of an upstream request", () => {
  it("are ours, with the credential as a bearer token", () => {
    assert.deepEqual(headersOf(build()), [
      ...["content-type", "application/json", "accept", "text/event-stream", "accept-encoding", "identity"],
      ...["user-agent", "tollgate", "authorization", `Bearer ${secret}`],
    ]);
  });

  it("carry the credential as it is where the channel says so", () => {
    const request = build({ channel: { auth: { location: "Header", name: "x-api-key", scheme: "Raw" } } });
    assert.deepEqual(values(request, "x-api-key"), [secret]);
    assert.deepEqual(values(request, "authorization"), []);
  });

  it("carry none that belongs into the query, and none of a channel without one", () => {
    const inQuery = build({ channel: { auth: { location: "Query", name: "key", scheme: "Raw" } } });
    assert.ok(!headersOf(inQuery).some((text) => text.includes(secret)));
    assert.deepEqual(values(build({ hasCredential: false }), "authorization"), []);
  });

  it("accept JSON for a whole reply", () =>
    assert.deepEqual(values(build({ stream: false }), "accept"), ["application/json"]));

  it("pass on the client's, but for those that the channel removes or sets itself", () => {
    const request = build({
      clientHeaders: { "anthropic-beta": "a", "openai-organization": "client", "x-kept": "1" },
      channel: {
        headersRemove: ["Anthropic-Beta"],
        headersSet: [
          { name: "OpenAI-Organization", value: "ours" },
          { name: "x-new", value: "2" },
        ],
      },
    });
    assert.deepEqual(values(request, "anthropic-beta"), []);
    assert.deepEqual(values(request, "openai-organization"), ["ours"]);
    assert.deepEqual(values(request, "x-kept"), ["1"]);
    assert.deepEqual(values(request, "x-new"), ["2"]);
  });

  it("follow a rotated credential on the same channel object", () => {
    const channel = wireChannel("a");
    const headersWith = (text: string): string[] => {
      const upstream = {
        route: wireRoute("m"),
        target: { name: "t", channel: "team-a/a", priority: 0, weight: 1 },
        channel,
        credential: wireCredential("a", "main", text),
        path: "/c",
      };
      const call = callOf(chatCompletions);
      return values(
        buildUpstreamRequest(chatCompletions, call, upstream, {}, { outputCap: undefined }, defaultLimits),
        "authorization",
      );
    };
    for (let round = 0; round < 200; round += 1) {
      assert.deepEqual(headersWith(`secret-${round}`), [`Bearer secret-${round}`]);
    }
  });
});

describe("the model of an upstream request", () => {
  const models = [
    { name: "exact", upstreamName: "mapped" },
    { name: "exact-*", upstreamName: "prefixed-*" },
    { name: "exact-long-*", upstreamName: "longer-*" },
    { name: "plain*" },
    { name: "fixed-*", upstreamName: "always-this" },
    { name: "star", upstreamName: "a*b" },
  ];
  for (const row of [
    { name: "is the client's without a mapping", model: "other", want: "other" },
    { name: "is that of the exact name", model: "exact", want: "mapped" },
    { name: "keeps the rest behind a prefix", model: "exact-1", want: "prefixed-1" },
    { name: "follows the longest prefix", model: "exact-long-1", want: "longer-1" },
    { name: "is the client's where the entry maps to nothing", model: "plain-x", want: "plain-x" },
    { name: "may be one for all of a prefix", model: "fixed-x", want: "always-this" },
    { name: "reads no pattern in the client's name", model: "exact-$&$1$`", want: "prefixed-$&$1$`" },
    { name: "keeps a star where the name has none", model: "star", want: "a*b" },
  ]) {
    it(row.name, () => assert.equal(bodyOf(build({ model: row.model, channel: { models } }))["model"], row.want));
  }

  for (const { name, model, want } of [
    { name: "an alias as the route's model", model: "short", want: "mapped" },
    { name: "an alias by its own entry where there is one", model: "star", want: "a*b" },
    { name: "a name that is no alias as it stands", model: "other", want: "other" },
  ])
    it(`is for ${name}`, () => {
      const route = { model: "exact", aliases: ["short", "star"] };
      assert.equal(bodyOf(build({ model, channel: { models }, route }))["model"], want);
    });

  it("is the target's own before any mapping", () => {
    const request = build({ model: "exact", channel: { models }, target: { upstreamModel: "target's" } });
    assert.equal(bodyOf(request)["model"], "target's");
  });
});

describe("the body of an upstream request", () => {
  it("has the cap of a fleet that caps calls, and none otherwise", () => {
    assert.equal(bodyOf(build({ outputCap: 77 }))["max_completion_tokens"], 77);
    assert.equal(bodyOf(build())["max_completion_tokens"], undefined);
  });

  it("follows the rules of the channel, then those of the target", () => {
    const request = build({
      channel: { body: { set: [{ field: "temperature", value: 1 }] } },
      target: { parameters: { set: [{ field: "temperature", value: 0.5 }] } },
    });
    assert.equal(bodyOf(request)["temperature"], 0.5);
  });
});

describe("the timeouts of an upstream request", () => {
  const { firstByteStreamTimeoutMs, firstByteTimeoutMs, streamIdleTimeoutMs, totalTimeoutMs } = defaultLimits;
  const usual = { firstByteMs: firstByteStreamTimeoutMs, idleMs: streamIdleTimeoutMs, totalMs: totalTimeoutMs };
  const rows: readonly { name: string; route?: Timeouts; channel?: Timeouts; stream?: boolean; want: object }[] = [
    { name: "are the proxy's own for a stream", want: usual },
    { name: "wait longer for a whole reply", stream: false, want: { ...usual, firstByteMs: firstByteTimeoutMs } },
    {
      name: "are the channel's",
      channel: { firstByteMs: 1, streamIdleMs: 2, totalMs: 3 },
      want: { firstByteMs: 1, idleMs: 2, totalMs: 3 },
    },
    {
      name: "are the route's",
      route: { firstByteMs: 1, streamIdleMs: 2, totalMs: 3 },
      want: { firstByteMs: 1, idleMs: 2, totalMs: 3 },
    },
    {
      name: "are the narrower of both, each by itself",
      route: { firstByteMs: 10, streamIdleMs: 1, totalMs: 5 },
      channel: { firstByteMs: 1, streamIdleMs: 10, totalMs: 5 },
      want: { firstByteMs: 1, idleMs: 1, totalMs: 5 },
    },
    { name: "take 0 for the widest", route: { totalMs: 0 }, channel: { totalMs: 50 }, want: { ...usual, totalMs: 50 } },
    { name: "can be switched off by one", channel: { firstByteMs: 0 }, want: { ...usual, firstByteMs: 0 } },
    {
      name: "can be switched off by both",
      route: { streamIdleMs: 0 },
      channel: { streamIdleMs: 0 },
      want: { ...usual, idleMs: 0 },
    },
  ];
  for (const row of rows) {
    it(row.name, () => {
      const request = build({
        stream: row.stream ?? true,
        channel: { timeouts: row.channel ?? {} },
        route: row.route === undefined ? {} : { timeouts: row.route },
      });
      assert.deepEqual(request.timeouts, row.want);
    });
  }
});
