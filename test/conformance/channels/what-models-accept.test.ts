/**
 * What a model accepts decides what it is sent, by its name or, for a name of one's own, by what its channel tells
 * (`models[].traits`): through the whole gateway, for clients of every other format, streamed or not.
 */
import assert from "node:assert/strict";
import { after, before, describe, it } from "mocha";
import type { ChatWireFormat } from "#proxy/neutral/wire";
import { type ChatCallForm, callForms } from "#test/support/conformance/chat-calls";
import { type HttpAnswer, httpCall } from "#test/support/conformance/http-call";
import { InProcessGateway } from "#test/support/conformance/in-process-gateway";
import {
  channelManifest,
  channelSecretManifest,
  keyManifest,
  manifestOf,
  routeManifest,
} from "#test/support/conformance/manifests";
import { naturalReply } from "#test/support/conformance/natural-replies";
import { FakeUpstream } from "#test/support/fake-upstream";

const parameters = { type: "object", properties: { a: { type: "string" } } };

/** A tool that must be called, thinking and length, as each format's client says them. */
const wishes: Readonly<
  Record<ChatWireFormat, { tool: object; forced: object; on: object; off: object; long: object }>
> = {
  ChatCompletions: {
    tool: { tools: [{ type: "function", function: { name: "f", parameters } }] },
    forced: { tool_choice: "required" },
    on: { reasoning_effort: "high" },
    off: { reasoning_effort: "none" },
    long: { max_tokens: 900_000 },
  },
  Responses: {
    tool: { tools: [{ type: "function", name: "f", parameters, strict: false }] },
    forced: { tool_choice: { type: "function", name: "f" } },
    on: { reasoning: { effort: "high" } },
    off: { reasoning: { effort: "none" } },
    long: { max_output_tokens: 900_000 },
  },
  Messages: {
    tool: { tools: [{ name: "f", input_schema: parameters }] },
    forced: { tool_choice: { type: "any" } },
    on: { thinking: { type: "adaptive" }, output_config: { effort: "high" } },
    off: { thinking: { type: "disabled" } },
    long: { max_tokens: 900_000 },
  },
  GenerateContent: {
    tool: { tools: [{ functionDeclarations: [{ name: "f", parametersJsonSchema: parameters }] }] },
    forced: { toolConfig: { functionCallingConfig: { mode: "ANY", allowedFunctionNames: ["f"] } } },
    on: { generationConfig: { thinkingConfig: { thinkingBudget: 8000 } } },
    off: { generationConfig: { thinkingConfig: { thinkingBudget: 0 } } },
    long: { generationConfig: { maxOutputTokens: 900_000 } },
  },
};

const choiceField: Readonly<Record<ChatWireFormat, string>> = {
  ChatCompletions: "tool_choice",
  Responses: "tool_choice",
  Messages: "tool_choice",
  GenerateContent: "toolConfig.functionCallingConfig",
};

describe("what models accept", () => {
  let upstream: FakeUpstream;
  let gateway: InProcessGateway;

  before(async () => {
    upstream = await FakeUpstream.start();
    const target = (channel: string, upstreamModel: string): object => ({
      targets: [{ name: "main", channelRef: { name: channel }, upstreamModel }],
    });
    const only = (provider: string, base: string, formats: readonly string[], more: object = {}): object => ({
      provider,
      baseURL: `${upstream.origin}${base}`,
      formats: formats.map((type) => ({ type })),
      ...more,
    });
    const own = [
      { name: "deployment-claude", traits: { like: "claude-opus-5-5", maxOutputTokens: 5000 } },
      { name: "team-*", traits: { forcedTools: "Refused", thinking: "Always" } },
    ];
    const chat = [
      { name: "deployment-gpt", traits: { like: "gpt-5.6", maxOutputTokens: 5000 } },
      { name: "stubborn", traits: { toolsWithThinking: "Refused" } },
    ];
    gateway = await InProcessGateway.start({
      manifests: manifestOf(
        channelSecretManifest(),
        keyManifest("main"),
        channelManifest("messages", upstream.origin, only("Anthropic", "", ["Messages"], { models: own })),
        channelManifest(
          "strict",
          upstream.origin,
          only("Anthropic", "", ["Messages"], { unsupportedParameters: "Reject" }),
        ),
        channelManifest("chat", upstream.origin, only("OpenAI", "/v1", ["ChatCompletions"])),
        channelManifest(
          "server",
          upstream.origin,
          only("OpenAICompatible", "/v1", ["ChatCompletions"], { models: chat }),
        ),
        channelManifest("responses", upstream.origin, only("OpenAI", "/v1", ["Responses"])),
        channelManifest("both", upstream.origin, only("OpenAI", "/v1", ["ChatCompletions", "Responses"])),
        channelManifest(
          "both-own",
          upstream.origin,
          only("OpenAICompatible", "/v1", ["ChatCompletions", "Responses"], { models: chat }),
        ),
        ...["claude-opus-5-5", "claude-fable-5-1", "claude-haiku-5-5", "deployment-claude", "team-x"].map((model) =>
          routeManifest(model, target("messages", model)),
        ),
        routeManifest("bedrock-name", target("messages", "eu.anthropic.claude-sonnet-5-5-20261001-v1:0")),
        routeManifest("rejecting", target("strict", "claude-opus-5-5")),
        ...["gpt-5.4", "gpt-5.6", "gpt-4o", "gpt-5.1"].map((model) =>
          routeManifest(`chat-${model}`, target("chat", model)),
        ),
        routeManifest("responses-gpt-4.1", target("responses", "gpt-4.1")),
        routeManifest("deployment-gpt", target("server", "deployment-gpt")),
        routeManifest("capped-by-route", { ...target("server", "unheard-of"), info: { maxOutputTokens: 7000 } }),
        routeManifest("both-gpt-5.4", target("both", "gpt-5.4")),
        routeManifest("both-gpt-4o", target("both", "gpt-4o")),
        routeManifest("both-stubborn", target("both-own", "stubborn")),
      ),
    });
  });
  after(async () => {
    await gateway.close();
    await upstream.close();
  });

  async function ask(form: ChatCallForm, model: string, stream: boolean, ...more: readonly object[]) {
    upstream.forget();
    upstream.replyWith(naturalReply);
    const body = Object.assign({}, form.body(model, stream), ...more);
    const answer: HttpAnswer = await httpCall({
      origin: gateway.origin,
      path: form.path(model, stream),
      headers: form.headers("main"),
      body: JSON.stringify(body),
    });
    const sent = upstream.requests.at(-1);
    const dropped = String(answer.headers["x-tollgate-dropped"] ?? "");
    return { answer, path: sent?.target ?? "", sent: Object(sent?.json()), dropped };
  }

  for (const form of callForms) {
    const { format } = form;
    const { tool, forced, on, off, long } = wishes[format];
    for (const stream of [false, true]) {
      const manner = `${format}${stream ? ", streamed" : ""}`;

      if (format !== "Messages") {
        for (const model of ["claude-opus-5-5", "claude-fable-5-1", "bedrock-name", "deployment-claude", "team-x"]) {
          it(`pitfall 168: ${model} is not forced, and not told to stop thinking (${manner})`, async () => {
            const { sent, dropped, answer } = await ask(form, model, stream, tool, forced, off);
            assert.equal(answer.status, 200);
            assert.deepEqual(sent.tool_choice, { type: "auto" });
            assert.ok(dropped.includes(choiceField[format]), dropped);
            assert.notEqual(sent.thinking?.type, "disabled");
            if (model !== "team-x") assert.equal(sent.output_config.effort, "low");
          });
        }

        it(`pitfall 168: claude-haiku-5-5 is forced, and told to stop thinking (${manner})`, async () => {
          const { sent, dropped } = await ask(form, "claude-haiku-5-5", stream, tool, forced, off);
          assert.match(sent.tool_choice.type, /^(?:any|tool)$/);
          assert.deepEqual(sent.thinking, { type: "disabled" });
          assert.equal(dropped.includes(choiceField[format]), false);
        });

        it(`pitfall 168: a channel that rejects says so (${manner})`, async () => {
          const { answer, sent } = await ask(form, "rejecting", stream, tool, forced);
          assert.equal(answer.status, 400);
          assert.ok(answer.body.toString().includes(choiceField[format]), answer.body.toString());
          assert.deepEqual(sent, {});
        });

        it(`pitfall 160: the cap of a model of one's own is the channel's (${manner})`, async () => {
          const { sent } = await ask(form, "deployment-claude", stream, long);
          assert.equal(sent.max_tokens, 5000);
        });
      }
      if (format === "ChatCompletions") continue;

      it(`pitfall 151: functions and thinking on chat completions of gpt-5.4 (${manner})`, async () => {
        const { sent, dropped } = await ask(form, "chat-gpt-5.4", stream, tool, on);
        assert.equal("reasoning_effort" in sent, false);
        assert.equal(sent.tools.length, 1);
        assert.notEqual(dropped, "");
      });

      for (const model of ["chat-gpt-5.6", "deployment-gpt"]) {
        it(`pitfall 151: functions on chat completions of ${model} (${manner})`, async () => {
          const thinking = await ask(form, model, stream, tool, on);
          assert.equal(thinking.sent.reasoning_effort, "none");
          assert.notEqual(thinking.dropped, "");
          const silent = await ask(form, model, stream, tool);
          assert.equal(silent.sent.reasoning_effort, "none");
          assert.equal(silent.dropped, "");
          const alone = await ask(form, model, stream, on);
          assert.notEqual(alone.sent.reasoning_effort, "none");
          assert.equal(typeof alone.sent.reasoning_effort, "string");
        });
      }

      it(`pitfall 151: gpt-5.1 takes both (${manner})`, async () => {
        const { sent } = await ask(form, "chat-gpt-5.1", stream, tool, on);
        assert.equal(typeof sent.reasoning_effort, "string");
      });

      for (const model of ["both-gpt-5.4", "both-stubborn"]) {
        it(`pitfall 151: ${model} is asked in Responses (${manner})`, async () => {
          const { path, sent } = await ask(form, model, stream, tool, on);
          assert.equal(path, "/v1/responses");
          assert.equal(typeof sent.reasoning.effort, "string");
        });
      }

      for (const [model, member, cap] of [
        ["chat-gpt-4o", "max_completion_tokens", 16_384],
        ["deployment-gpt", "max_completion_tokens", 5000],
        ["capped-by-route", "max_tokens", 7000],
      ] as const) {
        it(`pitfall 160: ${model} is asked for ${cap} tokens at most (${manner})`, async () => {
          const { sent, dropped } = await ask(form, model, stream, long);
          assert.equal(sent[member], cap);
          assert.match(dropped, /max_?(?:output)?_?tokens/i);
        });
      }

      if (format === "Responses") continue;
      it(`pitfall 160: gpt-4.1 in Responses is asked for 32768 tokens at most (${manner})`, async () => {
        const { sent, dropped } = await ask(form, "responses-gpt-4.1", stream, long);
        assert.equal(sent.max_output_tokens, 32_768);
        assert.match(dropped, /max_?(?:output)?_?tokens/i);
      });
    }
  }

  it("pitfall 151: what only chat completions can say stays there for Gemini clients", async () => {
    const gemini = callForms.find(({ format }) => format === "GenerateContent");
    assert.ok(gemini);
    const several = { generationConfig: { candidateCount: 2 } };
    assert.equal((await ask(gemini, "both-gpt-5.4", false, several)).path, "/v1/chat/completions");
    assert.equal((await ask(gemini, "both-gpt-4o", false)).path, "/v1/chat/completions");
  });
});
