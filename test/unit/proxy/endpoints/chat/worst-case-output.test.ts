import assert from "node:assert/strict";
import { chatFormatOn, worstCaseOutput } from "#proxy/endpoints/chat/worst-case-output";
import { upstreamFormats } from "#proxy/formats/registry";
import { BodyEditor } from "#proxy/json/body-editor";
import type { ChatWireFormat } from "#proxy/neutral/wire";
import type { BodyRules, Channel, Route } from "#proxy/snapshot/types.gen";
import { channelOf, readBody, routeOf } from "#test/support/calls/read-body";

const bases: Readonly<Record<ChatWireFormat, object>> = {
  ChatCompletions: { model: "m", messages: [{ role: "user", content: "hi" }] },
  Responses: { model: "m", input: "hi" },
  Messages: { model: "m", messages: [{ role: "user", content: "hi" }] },
  GenerateContent: { contents: [{ role: "user", parts: [{ text: "hi" }] }] },
};

interface Upstream {
  /** Spoken by the channel; the client's own unless given. */
  readonly format?: ChatWireFormat;
  readonly provider?: Channel["provider"];
  readonly state?: Channel["state"];
  readonly body?: BodyRules;
  readonly parameters?: BodyRules;
}

interface Case {
  readonly client?: ChatWireFormat;
  readonly call?: object;
  readonly upstreams: readonly Upstream[];
  readonly route?: Route["parameters"];
}

const set = (field: string, value: unknown): BodyRules => ({ set: [{ field, value }] });
const fill = (field: string, value: unknown): BodyRules => ({ default: [{ field, value }] });

function sent({ client = "ChatCompletions", call = {}, upstreams, route: rules }: Case) {
  const channels = new Map<string, Channel>();
  const targets = upstreams.map(({ format = client, provider, state, body, parameters }, index) => {
    const formats = [{ type: format, path: "/x" }];
    channels.set(
      `ns/${index}`,
      channelOf({ formats, ...(provider && { provider }), ...(state && { state }), ...(body && { body }) }),
    );
    return { name: `t${index}`, channel: `ns/${index}`, priority: 0, weight: 1, ...(parameters && { parameters }) };
  });
  const route = routeOf({ targets, ...(rules && { parameters: rules }) });
  const read = readBody(upstreamFormats[client], { ...bases[client], ...call });
  const snapshot = { channel: (id: string) => channels.get(id) };
  return { found: worstCaseOutput(read, route, snapshot, chatFormatOn(read, route)), channels, route, read };
}

describe("worstCaseOutput()", () => {
  const bounded = (outputCap: number, candidates = 1) => ({ outputCap, isOpen: false, candidates, addedBytes: 0 });
  const open = (outputCap?: number) => ({ outputCap, isOpen: true, candidates: 1, addedBytes: 0 });
  /** Unread: a body that this gateway would not take of a client. */
  const rows: readonly (Case & { name: string; want: object | undefined; isUnread?: true })[] = [
    { name: "nothing where no rule is", call: { max_tokens: 10 }, upstreams: [{}], want: undefined },
    {
      name: "no bound where a rule says less than nothing, as some servers spell it",
      call: { max_tokens: 50 },
      upstreams: [{ body: set("max_tokens", -1) }],
      want: open(),
      isUnread: true,
    },
    {
      name: "nothing where rules are of other members",
      upstreams: [{ body: set("x", 1), parameters: { remove: ["y"] } }],
      want: undefined,
    },
    {
      name: "nothing where the model lacks another parameter",
      upstreams: [{}],
      route: [{ name: "top_k", supported: false }],
      want: undefined,
    },
    {
      name: "the text that rules add, of the target that gets most",
      call: { max_tokens: 10 },
      upstreams: [
        { body: set("preamble", "x".repeat(98)), parameters: fill("tools", [{ type: "x" }]) },
        { body: set("preamble", "x".repeat(8)) },
        {},
      ],
      want: { ...bounded(10), addedBytes: 100 + 14 },
    },
    {
      name: "what a channel sets over the client's",
      call: { max_tokens: 10 },
      upstreams: [{ body: set("max_tokens", 5_000) }],
      want: bounded(5_000),
    },
    {
      name: "what a target sets over its channel's",
      call: { max_tokens: 10 },
      upstreams: [{ body: set("max_tokens", 9_000), parameters: set("max_tokens", 5_000) }],
      want: bounded(5_000),
    },
    {
      name: "a smaller one that is set",
      call: { max_tokens: 900 },
      upstreams: [{ body: set("max_tokens", 64) }],
      want: bounded(64),
    },
    {
      name: "the greater of two names",
      call: { max_completion_tokens: 900 },
      upstreams: [{ body: set("max_tokens", 64) }],
      want: bounded(900),
    },
    { name: "a default where the client set none", upstreams: [{ body: fill("max_tokens", 64) }], want: bounded(64) },
    {
      name: "the client's own before a default",
      call: { max_tokens: 10 },
      upstreams: [{ body: fill("max_tokens", 64) }],
      want: bounded(10),
    },
    {
      name: "none where a rule takes it out",
      call: { max_tokens: 10 },
      upstreams: [{ body: { remove: ["max_tokens"] } }],
      want: open(),
    },
    {
      name: "none where a rule sets what is no number",
      isUnread: true,
      call: { max_tokens: 10 },
      upstreams: [{ body: set("max_tokens", "all") }],
      want: open(),
    },
    {
      name: "none where the model does not support the member",
      call: { max_tokens: 10 },
      upstreams: [{}],
      route: [{ name: "max_tokens", supported: false }],
      want: open(),
    },
    {
      name: "the other member where the model supports that",
      call: { max_completion_tokens: 10 },
      upstreams: [{}],
      route: [{ name: "max_tokens", supported: false }],
      want: bounded(10),
    },
    { name: "whole tokens", isUnread: true, upstreams: [{ body: set("max_tokens", 63.5) }], want: bounded(64) },
    {
      name: "the most of all targets",
      call: { max_tokens: 10 },
      upstreams: [{}, { body: set("max_tokens", 500) }, { body: set("max_tokens", 100) }],
      want: bounded(500),
    },
    {
      name: "a target that gets none beside others",
      upstreams: [{}, { body: set("max_tokens", 5_000) }],
      want: open(5_000),
    },
    {
      name: "nothing of a channel that takes no calls",
      call: { max_tokens: 10 },
      upstreams: [{ body: set("n", 1) }, { state: "Disabled", body: set("max_tokens", 5_000) }],
      want: bounded(10),
    },
    {
      name: "candidates that a rule sets",
      call: { max_tokens: 10 },
      upstreams: [{ body: set("n", 4) }],
      want: bounded(10, 4),
    },
    {
      name: "candidates of the client that no rule takes out",
      call: { max_tokens: 10, n: 3 },
      upstreams: [{ body: fill("n", 4) }],
      want: bounded(10, 3),
    },
    {
      name: "a cap of responses",
      client: "Responses",
      call: { max_output_tokens: 10 },
      upstreams: [{ body: set("max_output_tokens", 5_000) }],
      want: bounded(5_000),
    },
    {
      name: "a cap of messages",
      client: "Messages",
      call: { max_tokens: 10 },
      upstreams: [{ body: set("max_tokens", 5_000) }],
      want: bounded(5_000),
    },
    {
      name: "a config of generateContent",
      client: "GenerateContent",
      call: { max_output_tokens: 10 },
      upstreams: [{ body: set("generationConfig", { maxOutputTokens: 5_000, candidateCount: 2 }) }],
      want: bounded(5_000, 2),
    },
    {
      name: "a config in snake_case beside the client's",
      isUnread: true,
      client: "GenerateContent",
      call: { max_output_tokens: 10 },
      upstreams: [{ body: set("generation_config", { max_output_tokens: 5_000 }) }],
      want: bounded(5_000),
    },
    {
      name: "none where a config without one replaces the client's",
      client: "GenerateContent",
      call: { max_output_tokens: 10 },
      upstreams: [{ body: set("generationConfig", { seed: 1 }) }],
      want: open(),
    },
    {
      name: "a default config that is used or not",
      client: "GenerateContent",
      upstreams: [{ body: fill("generationConfig", { maxOutputTokens: 5_000 }) }],
      want: open(5_000),
    },
    {
      name: "none of generateContent that the model does not support",
      client: "GenerateContent",
      call: { max_output_tokens: 10 },
      upstreams: [{}],
      route: [{ name: "max_output_tokens", supported: false }],
      want: open(),
    },
    {
      name: "the upstream's name in a translated call",
      client: "Responses",
      call: { max_output_tokens: 10 },
      upstreams: [{ format: "ChatCompletions", body: set("max_tokens", 5_000) }],
      want: bounded(5_000),
    },
    {
      name: "both names where a translation writes the other one",
      client: "Responses",
      call: { max_output_tokens: 9_000 },
      upstreams: [{ format: "ChatCompletions", provider: "OpenAI", body: set("max_tokens", 5_000) }],
      want: bounded(9_000),
    },
    {
      name: "no default where a translation to messages brings its own cap",
      upstreams: [{ format: "Messages", body: fill("max_tokens", 64) }],
      want: open(),
    },
    {
      name: "a cap set on translated messages",
      upstreams: [{ format: "Messages", body: set("max_tokens", 64) }],
      want: bounded(64),
    },
    {
      name: "a cap set on translated responses",
      upstreams: [{ format: "Responses", body: set("max_output_tokens", 64) }],
      want: bounded(64),
    },
  ];
  for (const { name, want, isUnread: _, ...given } of rows) {
    it(`finds ${name}`, () => assert.deepEqual(sent(given).found, want));
  }

  // The estimate and the edits must not come apart: what is found is what the edited body says.
  for (const { name, isUnread, want: _, ...given } of rows) {
    if (isUnread !== true)
      it(`finds no less than the body asks for: ${name}`, () => {
        const { found, channels, route, read } = sent(given);
        const { format, ...endpoint } = read.endpoint;
        for (const target of route.targets) {
          const channel = channels.get(target.channel);
          if (channel?.state !== "Active" || channel.formats[0]?.type !== format) continue;
          const editor = new BodyEditor(read.body);
          const unsupported = (given.route ?? []).map((rule) => rule.name);
          const plan = {
            channel,
            upstreamModel: "u",
            targetRules: target.parameters,
            outputCap: undefined,
            unsupported,
          };
          upstreamFormats[format].editBody(read, plan, editor);
          const text = editor.build().toString();
          const edited = readBody(
            upstreamFormats[format],
            format === "Messages" ? { max_tokens: 1, ...JSON.parse(text) } : text,
            endpoint,
          );
          const asked = found ?? {
            outputCap: read.outputCap,
            isOpen: read.outputCap === undefined,
            candidates: read.candidates,
          };
          assert.ok(edited.outputCap === undefined ? asked.isOpen : edited.outputCap <= (asked.outputCap ?? 0));
          assert.ok(edited.candidates <= asked.candidates);
        }
      });
  }
});
