/**
 * Codex and others on upstreams of other formats: tools that stand in `additional_tools` items, a search that the client
 * runs, shells and patches. What goes out is a function, what comes back an item of the tool's own type.
 */
import assert from "node:assert/strict";
import { describe, it } from "mocha";
import { useTranslationRig } from "#test/support/conformance/translation-rig";
import type { DigestProtocol } from "#test/support/digest/facts";

type Json = Record<string, unknown>;
type Upstream = Exclude<DigestProtocol, "openai-responses">;

const schema = { type: "object", properties: { a: { type: "string" } } };
const fn = (name: string): Json => ({ type: "function", name, parameters: schema, strict: false });
const clientTools = [
  { type: "local_shell" },
  { type: "shell", environment: { type: "local" } },
  { type: "apply_patch" },
  {
    type: "tool_search",
    execution: "client",
    description: "D",
    parameters: { type: "object", properties: { goal: { type: "string" } } },
  },
];
const additional = {
  type: "additional_tools",
  role: "developer",
  tools: [
    { type: "namespace", name: "ns", description: "N", tools: [fn("f"), { type: "custom", name: "c" }] },
    fn("plain"),
    ...clientTools,
  ],
};
const ask = { role: "user", content: "q" };

/** What the model of each format says when it calls one tool. */
const answers: Readonly<Record<Upstream, (name: string, args: Json) => string>> = {
  "openai-chat": (name, args) =>
    JSON.stringify({
      id: "c",
      object: "chat.completion",
      choices: [
        {
          index: 0,
          finish_reason: "tool_calls",
          message: {
            role: "assistant",
            content: null,
            tool_calls: [{ id: "call_1", type: "function", function: { name, arguments: JSON.stringify(args) } }],
          },
        },
      ],
      usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 },
    }),
  "anthropic-messages": (name, input) =>
    JSON.stringify({
      id: "m",
      type: "message",
      role: "assistant",
      model: "m",
      stop_reason: "tool_use",
      content: [{ type: "tool_use", id: "call_1", name, input }],
      usage: { input_tokens: 1, output_tokens: 1 },
    }),
  gemini: (name, args) =>
    JSON.stringify({
      candidates: [
        { content: { role: "model", parts: [{ functionCall: { id: "call_1", name, args } }] }, finishReason: "STOP" },
      ],
      usageMetadata: { promptTokenCount: 1, candidatesTokenCount: 1, totalTokenCount: 2 },
    }),
};

/** Names of the functions that reached the upstream. */
function namesIn(to: Upstream, body: Json): unknown[] {
  const { tools } = Object(body);
  if (to === "openai-chat") return tools.map((tool: Json) => Object(tool["function"]).name);
  if (to === "gemini")
    return tools.flatMap((tool: Json) => Object(tool["functionDeclarations"]).map(({ name }: Json) => name));
  return tools.map(({ name }: Json) => name);
}

/** Ids of calls and of results in a history that reached the upstream. */
function pairsIn(to: Upstream, body: Json): { calls: unknown[]; results: unknown[] } {
  const { messages, contents } = Object(body);
  if (to === "openai-chat") {
    return {
      calls: messages.flatMap((it: Json) =>
        (Object(it)["tool_calls"] ?? []).map((call: Json) => Object(call["function"]).name),
      ),
      results: messages.filter(({ role }: Json) => role === "tool").map(({ content }: Json) => content),
    };
  }
  const parts = (messages ?? contents).flatMap((it: Json) => it["content"] ?? it["parts"]);
  if (to === "gemini") {
    return {
      calls: parts.flatMap((part: Json) => Object(part["functionCall"]).name ?? []),
      results: parts.flatMap((part: Json) =>
        part["functionResponse"] === undefined ? [] : [JSON.stringify(part["functionResponse"])],
      ),
    };
  }
  return {
    calls: parts.flatMap((part: Json) => (part["type"] === "tool_use" ? [part["name"]] : [])),
    results: parts.flatMap((part: Json) => (part["type"] === "tool_result" ? [JSON.stringify(part["content"])] : [])),
  };
}

const calls: readonly (readonly [name: string, args: Json, want: Json])[] = [
  ["ns__f", { a: "x" }, { type: "function_call", name: "f", namespace: "ns", arguments: '{"a":"x"}' }],
  ["ns__c", { input: "free" }, { type: "custom_tool_call", name: "c", namespace: "ns", input: "free" }],
  ["plain", { a: "x" }, { type: "function_call", name: "plain" }],
  ["tool_search", { goal: "mail" }, { type: "tool_search_call", execution: "client", arguments: { goal: "mail" } }],
  [
    "local_shell",
    { command: ["ls", "-l"], timeout_ms: 5 },
    { type: "local_shell_call", action: { type: "exec", command: ["ls", "-l"], env: {}, timeout_ms: 5 } },
  ],
  [
    "shell",
    { commands: ["ls"], max_output_length: 100 },
    {
      type: "shell_call",
      action: { commands: ["ls"], timeout_ms: null, max_output_length: 100 },
      environment: { type: "local" },
    },
  ],
  [
    "apply_patch",
    { type: "update_file", path: "a.txt", diff: "@@\n-a\n+b" },
    { type: "apply_patch_call", operation: { type: "update_file", path: "a.txt", diff: "@@\n-a\n+b" } },
  ],
  [
    "apply_patch",
    { type: "delete_file", path: "a.txt" },
    { type: "apply_patch_call", operation: { type: "delete_file", path: "a.txt" } },
  ],
];

const found = { type: "namespace", name: "mail", description: "M", tools: [fn("send")] };
const history: readonly Json[] = [
  ask,
  {
    type: "tool_search_call",
    id: "tsc_1",
    call_id: "call_t",
    execution: "client",
    status: "completed",
    arguments: { goal: "mail" },
  },
  { type: "tool_search_output", call_id: "call_t", execution: "client", status: "completed", tools: [found] },
  {
    type: "local_shell_call",
    id: "lsh_1",
    call_id: "call_l",
    status: "completed",
    action: { type: "exec", command: ["ls"], env: {} },
  },
  { type: "local_shell_call_output", id: "lsh_1", output: "OUT-L" },
  { type: "shell_call", call_id: "call_s", action: { commands: ["ls"] }, status: "completed" },
  {
    type: "shell_call_output",
    call_id: "call_s",
    max_output_length: 10,
    output: [{ stdout: "OUT-S", stderr: "", outcome: { type: "exit", exit_code: 0 } }],
  },
  { type: "apply_patch_call", call_id: "call_p", status: "completed", operation: { type: "delete_file", path: "a" } },
  { type: "apply_patch_call_output", call_id: "call_p", status: "failed", output: "OUT-P" },
];

describe("pitfall 171: tools that the client runs", () => {
  const rig = useTranslationRig();
  const sentBody = (): Json => JSON.parse(String(rig().upstream.requests.at(-1)?.body));

  for (const to of ["openai-chat", "anthropic-messages", "gemini"] as const) {
    for (const stream of [false, true]) {
      for (const [name, args, want] of calls) {
        it(`${to}${stream ? ", streamed" : ""}: ${name} of additional_tools comes back as ${want["type"]}`, async () => {
          rig().upstream.replyWith({ body: answers[to](name, args) });
          const answer = await rig().call("openai-responses", to, stream, { input: [additional, ask] });
          const text = answer.body.toString();
          assert.equal(answer.status, 200, text);
          assert.deepEqual(namesIn(to, sentBody()), [
            ...["ns__f", "ns__c", "plain", "local_shell", "shell", "apply_patch", "tool_search"],
          ]);
          const items: Json[] = Object(stream ? eventsOf(text).at(-1)?.["response"] : JSON.parse(text)).output;
          const item = Object(items.at(-1));
          assert.deepEqual({ ...item, ...want, call_id: "call_1", status: "completed" }, item);
          if (!stream) return;
          const done = eventsOf(text).filter(({ type }) => type === "response.output_item.done");
          assert.deepEqual(Object(done.at(-1))["item"], item);
          const added = eventsOf(text).filter(({ type }) => type === "response.output_item.added");
          assert.equal(Object(added.at(-1)?.["item"]).type, want["type"]);
        });
      }
    }

    for (const inNamespace of [false, true]) {
      it(`${to}: that a tool was deferred until a search found it is no loss${inNamespace ? ", in a namespace" : ""}`, async () => {
        const deferred = { ...fn("send"), defer_loading: true };
        const tools = inNamespace ? [{ type: "namespace", name: "mail", tools: [deferred] }] : [deferred];
        const call = { type: "tool_search_call", call_id: "call_t", execution: "client", arguments: { goal: "mail" } };
        const output = { type: "tool_search_output", call_id: "call_t", execution: "client", tools };
        const input = [ask, call, output];
        const answer = await rig().call("openai-responses", to, false, { input, tools: clientTools });
        assert.equal(answer.status, 200, answer.body.toString());
        assert.doesNotMatch(String(answer.headers["x-tollgate-dropped"]), /defer_loading/);
        assert.ok(namesIn(to, sentBody()).includes(inNamespace ? "mail__send" : "send"));
      });
    }

    it(`${to}: the history of such tools goes out as calls and results, and what was found can be called`, async () => {
      rig().upstream.replyWith({ body: answers[to]("mail__send", { a: "x" }) });
      const answer = await rig().call("openai-responses", to, false, { input: [...history], tools: clientTools });
      assert.equal(answer.status, 200, answer.body.toString());
      const body = sentBody();
      const { calls: called, results } = pairsIn(to, body);
      assert.deepEqual(called, ["tool_search", "local_shell", "shell", "apply_patch"]);
      assert.equal(results.length, 4);
      for (const [index, word] of ["mail__send", "OUT-L", "OUT-S", "OUT-P"].entries()) {
        assert.match(String(results[index]), new RegExp(word));
      }
      assert.ok(namesIn(to, body).includes("mail__send"));
      const item = JSON.parse(answer.body.toString()).output.at(-1);
      assert.deepEqual([item.type, item.namespace, item.name], ["function_call", "mail", "send"]);
      // A namespace has no place for its words elsewhere.
      assert.deepEqual(String(answer.headers["x-tollgate-dropped"]).match(/input[^,]*/g), [
        "input[2].tools[0].description",
      ]);
    });

    it(`${to}: what the provider runs itself stays dropped and named`, async () => {
      rig().upstream.replyWith({ body: answers[to]("plain", {}) });
      const tools = [fn("plain"), { type: "tool_search" }, { type: "shell", environment: { type: "container_auto" } }];
      const answer = await rig().call("openai-responses", to, false, { input: [ask], tools });
      assert.equal(answer.status, 200, answer.body.toString());
      assert.deepEqual(namesIn(to, sentBody()), ["plain"]);
      assert.match(String(answer.headers["x-tollgate-dropped"]), /tools\[1\].*tools\[2\]/);
    });
  }

  it("a function of the client's own that is called shell stays one", async () => {
    rig().upstream.replyWith({ body: answers["openai-chat"]("shell", { a: "x" }) });
    const answer = await rig().call("openai-responses", "openai-chat", false, {
      input: [ask],
      tools: [fn("shell"), { type: "shell" }],
    });
    assert.equal(JSON.parse(answer.body.toString()).output.at(-1).type, "function_call");
  });

  it("a choice may name such a tool by its type", async () => {
    rig().upstream.replyWith({ body: answers["openai-chat"]("shell", { commands: ["ls"] }) });
    const body = { input: [ask], tools: clientTools, tool_choice: { type: "shell" } };
    const answer = await rig().call("openai-responses", "openai-chat", false, body);
    assert.equal(answer.status, 200, answer.body.toString());
    assert.deepEqual(sentBody()["tool_choice"], { type: "function", function: { name: "shell" } });
  });
});

function eventsOf(text: string): Json[] {
  return text.split("\n").flatMap((line) => (line.startsWith("data: {") ? [JSON.parse(line.slice(6))] : []));
}
