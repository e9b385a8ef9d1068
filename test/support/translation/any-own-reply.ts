/** Whole replies of each wire format, with everything that the formats say and members and types that nobody knows. */
import fc from "fast-check";
import type { ChatWireFormat } from "#proxy/neutral/wire";

type AnyObject = fc.Arbitrary<Record<string, unknown>>;

/** Names that no format has, and one that must never be more than a name. */
const unknownName = fc.oneof(fc.stringMatching(/^x_[a-z]{1,8}$/), fc.constant("__proto__"));
const unknownValue = fc.oneof(
  fc.string({ unit: "binary" }),
  fc.integer(),
  fc.boolean(),
  fc.array(fc.string(), { maxLength: 2 }),
  fc.dictionary(fc.string(), fc.integer(), { maxKeys: 2, noNullPrototype: true }),
);
const unknownMembers: AnyObject = fc
  .array(fc.tuple(unknownName, unknownValue), { maxLength: 2 })
  .map((entries) =>
    JSON.parse(`{${entries.map(([name, value]) => `${JSON.stringify(name)}:${JSON.stringify(value)}`).join()}}`),
  );
const text = fc.string({ unit: "binary", maxLength: 20 });
const said = fc.string({ unit: "binary", minLength: 1, maxLength: 20 });
const id = fc.uuid();
const args = fc.dictionary(fc.stringMatching(/^[a-z]{1,5}$/), fc.oneof(text, fc.integer(), fc.constant(null)), {
  maxKeys: 3,
  noNullPrototype: true,
});

/** An object of these members, some of them absent, and unknown ones. */
function anyObject(
  always: Record<string, fc.Arbitrary<unknown>>,
  maybe: Record<string, fc.Arbitrary<unknown>> = {},
): AnyObject {
  const known = fc.record({ ...always, ...maybe }, { requiredKeys: Object.keys(always), noNullPrototype: true });
  return fc.tuple(known, unknownMembers).map(([members, unknown]) => {
    const all = { ...members };
    for (const [name, value] of Object.entries(unknown)) {
      Object.defineProperty(all, name, { value, enumerable: true, configurable: true, writable: true });
    }
    return all;
  });
}

const unknownThing = anyObject(
  { type: fc.stringMatching(/^future_[a-z]{1,6}$/) },
  { id, input: args, content: fc.array(text) },
);

function list(entry: fc.Arbitrary<unknown>, minLength = 0): fc.Arbitrary<unknown[]> {
  return fc.array(entry, { minLength, maxLength: 3 });
}

function ofType(type: string, always: Record<string, fc.Arbitrary<unknown>>, maybe = {}): AnyObject {
  return anyObject({ type: fc.constant(type), ...always }, maybe);
}

const messagesBlock = fc.oneof(
  ofType(
    "text",
    { text },
    { citations: fc.oneof(fc.constant(null), list(ofType("web_search_result_location", { url: text }))) },
  ),
  ofType("thinking", { thinking: text }, { signature: text }),
  ofType("redacted_thinking", { data: text }),
  ofType("tool_use", { id, name: said, input: args }, { caller: args }),
  ofType("server_tool_use", { id, name: said, input: args }),
  ofType("mcp_tool_use", { id, name: said, server_name: said, input: args }),
  ofType("web_search_tool_result", {
    tool_use_id: id,
    content: list(ofType("web_search_result", { encrypted_content: text })),
  }),
  ofType("code_execution_tool_result", { tool_use_id: id, content: anyObject({ stdout: text }) }),
  ofType(
    "compaction",
    { content: fc.oneof(text, fc.constant(null)) },
    { encrypted_content: fc.oneof(text, fc.constant(null)) },
  ),
  unknownThing,
);

const message = anyObject(
  {
    id,
    type: fc.constant("message"),
    role: fc.constant("assistant"),
    model: said,
    content: list(messagesBlock),
    stop_reason: fc.constantFrom("end_turn", "tool_use", "max_tokens", "pause_turn", "refusal", "some_future_reason"),
    stop_sequence: fc.oneof(fc.constant(null), said),
    usage: anyObject(
      { input_tokens: fc.nat(), output_tokens: fc.nat() },
      { cache_read_input_tokens: fc.nat(), service_tier: fc.constant(null), server_tool_use: args },
    ),
  },
  {
    stop_details: fc.oneof(fc.constant(null), args),
    container: fc.oneof(fc.constant(null), anyObject({ id })),
    context_management: fc.oneof(fc.constant(null), args),
  },
);

const annotation = ofType("url_citation", { url: text, title: text });
const logprob = anyObject({ token: text, logprob: fc.integer({ max: 0 }), bytes: list(fc.nat(255)) });
const outputPart = fc.oneof(
  ofType("output_text", { text, annotations: list(annotation), logprobs: list(logprob) }),
  ofType("refusal", { refusal: text }),
  unknownThing,
);
const status = fc.constantFrom("completed", "incomplete", "failed");
const responsesItem = fc.oneof(
  ofType("message", { role: fc.constant("assistant"), content: list(outputPart), status }, { phase: text }),
  ofType(
    "reasoning",
    { summary: list(ofType("summary_text", { text })) },
    { content: list(ofType("reasoning_text", { text })), encrypted_content: fc.oneof(text, fc.constant(null)), status },
  ),
  ofType("function_call", { call_id: id, name: said, arguments: text, status }, { namespace: text }),
  ofType("custom_tool_call", { call_id: id, name: said, input: text }, { status }),
  ofType("web_search_call", { status, action: args }),
  ofType("file_search_call", { status, queries: list(text) }, { results: fc.oneof(fc.constant(null), list(args)) }),
  ofType("code_interpreter_call", {
    status,
    container_id: id,
    code: fc.oneof(text, fc.constant(null)),
    outputs: fc.constant(null),
  }),
  ofType("image_generation_call", { status, result: fc.oneof(text, fc.constant(null)) }, { output_format: text }),
  ofType(
    "mcp_call",
    { server_label: text, name: said, arguments: text },
    { output: text, error: fc.oneof(fc.constant(null), text), status },
  ),
  ofType("mcp_list_tools", { server_label: text, tools: list(args) }, { error: fc.oneof(fc.constant(null), text) }),
  ofType("mcp_approval_request", { server_label: text, name: said, arguments: text }),
  ofType("shell_call", { call_id: id, action: anyObject({ commands: list(text) }), status }),
  ofType("shell_call_output", { call_id: id, output: list(anyObject({ stdout: text, stderr: text })), status }),
  unknownThing,
);

const response = fc
  .tuple(
    anyObject(
      {
        id,
        object: fc.constant("response"),
        created_at: fc.nat(),
        model: said,
        usage: anyObject({ input_tokens: fc.nat(), output_tokens: fc.nat() }),
      },
      { completed_at: fc.nat(), tools: list(args), output_text: text, error: fc.constant(null) },
    ),
    list(responsesItem),
    fc.boolean(),
  )
  .map(([members, items, isCut]) => ({
    ...members,
    ...(isCut
      ? { status: "incomplete", incomplete_details: { reason: "max_output_tokens" } }
      : { status: "completed" }),
    // Ids are unique in a response.
    output: items.map((item, index) => Object.assign(Object(item), { id: `item_${index}` })),
  }));

const functionCall = anyObject({
  id,
  type: fc.constant("function"),
  function: anyObject({ name: said, arguments: args.map((value) => JSON.stringify(value)) }),
});
const customCall = anyObject({ id, type: fc.constant("custom"), custom: anyObject({ name: said, input: text }) });

const choice = anyObject(
  {
    message: anyObject(
      { role: fc.constant("assistant"), content: fc.oneof(text, fc.constant(null), list(ofType("text", { text }), 1)) },
      {
        refusal: fc.oneof(fc.constant(null), text),
        reasoning_content: fc.oneof(fc.constant(null), text),
        annotations: list(annotation),
        tool_calls: list(fc.oneof(functionCall, customCall)),
        audio: fc.record({ id, data: fc.base64String({ minLength: 4 }), transcript: text }, { noNullPrototype: true }),
        function_call: fc.record({ name: said, arguments: text }, { noNullPrototype: true }),
        reasoning_details: list(anyObject({ type: fc.constant("reasoning.text"), text })),
      },
    ),
    finish_reason: fc.constantFrom("stop", "length", "tool_calls", "content_filter", "some_future_reason"),
  },
  {
    logprobs: fc.oneof(
      fc.constant(null),
      fc.record({ content: list(logprob), refusal: fc.constant(null) }, { noNullPrototype: true }),
    ),
    content_filter_results: args,
  },
);

const completion = fc
  .tuple(
    anyObject(
      { id, object: fc.constant("chat.completion"), created: fc.nat(), model: said },
      {
        usage: anyObject({ prompt_tokens: fc.nat(), completion_tokens: fc.nat() }),
        service_tier: fc.oneof(fc.constant(null), text),
        citations: list(text),
      },
    ),
    fc.array(choice, { minLength: 1, maxLength: 3 }),
  )
  .map(([members, choices]) => ({
    ...members,
    choices: choices.map((entry, index) => Object.assign(entry, { index })),
  }));

const part = fc.oneof(
  anyObject({ text }, { thought: fc.boolean(), thoughtSignature: text }),
  anyObject({ functionCall: anyObject({ name: said, args }, { id }) }, { thoughtSignature: text }),
  anyObject({ inlineData: anyObject({ mimeType: text, data: text }) }),
  anyObject({ executableCode: anyObject({ language: text, code: text }) }),
  anyObject({ codeExecutionResult: anyObject({ outcome: text, output: text }) }),
  anyObject({ x_future: args }),
);

const candidate = anyObject(
  {
    content: anyObject({ role: fc.constant("model") }, { parts: list(part) }),
    finishReason: fc.constantFrom("STOP", "MAX_TOKENS", "SOME_FUTURE_REASON"),
  },
  {
    safetyRatings: list(args),
    groundingMetadata: anyObject({ groundingChunks: list(anyObject({ web: args })), webSearchQueries: list(text) }),
    urlContextMetadata: anyObject({ urlMetadata: list(args) }),
    citationMetadata: anyObject({ citationSources: list(args) }),
    logprobsResult: anyObject({ chosenCandidates: list(args) }),
  },
);

const contents = fc
  .tuple(
    anyObject(
      {
        modelVersion: said,
        responseId: id,
        usageMetadata: anyObject({ promptTokenCount: fc.nat(), totalTokenCount: fc.nat() }),
      },
      { createTime: text },
    ),
    fc.array(candidate, { minLength: 1, maxLength: 3 }),
  )
  .map(([members, candidates]) => ({
    ...members,
    candidates: candidates.map((entry, index) => Object.assign(entry, { index })),
  }));

export const anyOwnReply: Readonly<Record<ChatWireFormat, fc.Arbitrary<object>>> = {
  ChatCompletions: completion,
  Responses: response,
  Messages: message,
  GenerateContent: contents,
};
