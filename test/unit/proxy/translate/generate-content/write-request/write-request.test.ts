import assert from "node:assert/strict";
import { GatewayError } from "../../../../../../proxy/errors.ts";
import type { JsonObject } from "../../../../../../proxy/protocols/json-value.ts";
import type { Conversation, MediaPart, Tool, Turn } from "../../../../../../proxy/translate/conversation.ts";
import { generateContentTranslator } from "../../../../../../proxy/translate/generate-content/translator.ts";
import { openKeeper, targetOf, writeFor } from "../replay.ts";

const user: Turn = { role: "user", parts: [{ kind: "text", text: "hi" }] };
const png: MediaPart = {
  kind: "media",
  media: "image",
  mime: "image/png",
  source: { type: "data", base64: "iVBORw0KGgo=" },
};
const f: Tool = { kind: "function", name: "f", description: "F" };
const g: Tool = {
  kind: "function",
  name: "g",
  schema: { type: "object", properties: { x: { type: "integer" } }, required: ["x"] },
};
const search: Tool = { kind: "hosted", tool: "web-search", type: "web_search", where: "tools[0]" };

function call(id: string, name: string, args = "{}"): Extract<Turn["parts"][number], { kind: "call" }> {
  return { kind: "call", id, name, tool: "function", arguments: args };
}
function result(callId: string, text: string): Extract<Turn["parts"][number], { kind: "result" }> {
  return { kind: "result", callId, content: [{ kind: "text", text }] };
}
function contentsFor(
  turns: readonly Turn[],
  model = "gemini-2.5-flash",
  provider: "Gemini" | "VertexAI" = "Gemini",
): unknown {
  return writeFor({ turns }, targetOf(model, provider)).body["contents"];
}

describe("writeRequest() of generateContent: parameters", () => {
  for (const row of [
    {
      name: "pitfall 101: keeps zeros",
      sampling: { temperature: 0, topP: 0, presencePenalty: 0, seed: 0 },
      config: { temperature: 0, topP: 0, presencePenalty: 0, seed: 0 },
    },
    {
      name: "clamps the temperature",
      sampling: { temperature: 3 },
      config: { temperature: 2 },
      dropped: ["temperature"],
    },
    { name: "rounds top k", sampling: { topK: 39.6 }, config: { topK: 40 } },
    { name: "says nothing of one candidate", sampling: { candidates: 1 }, config: undefined },
    { name: "asks for candidates", sampling: { candidates: 2 }, config: { candidateCount: 2 } },
    { name: "drops a seed beyond 32 bits", sampling: { seed: 2 ** 40 }, config: undefined, dropped: ["seed"] },
    {
      name: "asks for probabilities",
      sampling: { logprobs: true, topLogprobs: 2 },
      config: { responseLogprobs: true, logprobs: 2 },
    },
    { name: "drops a bias", sampling: { logitBias: { "1": 5 } }, config: undefined, dropped: ["logitBias"] },
  ]) {
    it(row.name, () => {
      const written = writeFor({ sampling: row.sampling });
      assert.deepEqual(written.body["generationConfig"], row.config);
      assert.deepEqual(written.dropped, row.dropped ?? []);
    });
  }

  it("pitfall 107: sends the output cap", () => {
    assert.deepEqual(writeFor({ outputCap: 9 }).body["generationConfig"], { maxOutputTokens: 9 });
  });

  it("sends five stop sequences and looks for the others in the answer", () => {
    const written = writeFor({ sampling: { stop: ["1", "2", "3", "4", "5", "6"] } });
    assert.deepEqual(written.body["generationConfig"], { stopSequences: ["1", "2", "3", "4", "5"] });
    assert.deepEqual(written.adaptation.stop, ["6"]);
  });

  it("declares what Google has no member for", () => {
    const written = writeFor({
      user: "u",
      metadata: { a: "b" },
      promptCacheKey: "k",
      parallelTools: false,
      verbosity: "low",
      store: true,
      unread: ["prediction"],
    });
    assert.deepEqual(
      new Set(written.dropped),
      new Set(["user", "metadata", "promptCacheKey", "parallelTools", "verbosity", "store", "prediction"]),
    );
    assert.throws(() => writeFor({ user: "u" }, targetOf("gemini-3-pro"), "Reject"), GatewayError);
  });

  for (const row of [
    { tier: "default", want: "standard" },
    { tier: "flex", want: "flex" },
    { tier: "auto", want: undefined },
    { tier: "scale", want: undefined, dropped: ["serviceTier"] },
    { tier: "constructor", want: undefined, dropped: ["serviceTier"] },
  ]) {
    it(`writes the service tier ${row.tier}`, () => {
      const written = writeFor({ serviceTier: row.tier });
      assert.deepEqual([written.body["serviceTier"], written.dropped], [row.want, row.dropped ?? []]);
    });
  }

  for (const row of [
    { name: "JSON", format: { kind: "json" }, want: { responseMimeType: "application/json" } },
    {
      name: "G5: a schema",
      format: { kind: "schema", schema: { type: "object", properties: { n: { type: "integer" } } } },
      want: {
        responseMimeType: "application/json",
        responseJsonSchema: { type: "object", properties: { n: { type: "integer" } } },
      },
    },
    {
      name: "a schema for a model that knows no JSON Schema",
      model: "gemini-2.0-flash",
      format: {
        kind: "schema",
        schema: { type: "object", properties: { n: { type: "integer" }, a: { type: "string" } } },
      },
      want: {
        responseMimeType: "application/json",
        responseSchema: {
          type: "OBJECT",
          properties: { n: { type: "INTEGER" }, a: { type: "STRING" } },
          propertyOrdering: ["n", "a"],
        },
      },
    },
    {
      name: "words",
      format: { kind: "enum", values: ["a"] },
      want: { responseMimeType: "text/x.enum", responseSchema: { type: "STRING", enum: ["a"] } },
    },
  ] as const) {
    it(`writes the form of the answer: ${row.name}`, () => {
      const written = writeFor({ answerFormat: row.format }, targetOf("model" in row ? row.model : "gemini-3-pro"));
      assert.deepEqual(written.body["generationConfig"], row.want);
    });
  }

  it("asks image models for images, speech models for audio, and others for what the client wants", () => {
    const modalities = (model: string, asked: Partial<Conversation> = {}): unknown =>
      Reflect.get(writeFor(asked, targetOf(model)).body["generationConfig"] ?? {}, "responseModalities");
    assert.deepEqual(modalities("gemini-2.5-flash-image"), ["TEXT", "IMAGE"]);
    assert.deepEqual(modalities("gemini-2.5-pro-preview-tts"), ["AUDIO"]);
    assert.deepEqual(modalities("gemini-3-pro", { modalities: ["text", "image"] }), ["TEXT", "IMAGE"]);
    assert.equal(modalities("gemini-3-pro", { modalities: ["text"] }), undefined);
  });

  it("names the voice", () => {
    const { body } = writeFor({ modalities: ["audio"], audioOutput: { voice: "Kore", format: "wav" } });
    assert.deepEqual(body["generationConfig"], {
      responseModalities: ["AUDIO"],
      speechConfig: { voiceConfig: { prebuiltVoiceConfig: { voiceName: "Kore" } } },
    });
  });
});

describe("writeRequest() of generateContent: thinking", () => {
  const on = { mode: "on", show: true } as const;
  for (const row of [
    { name: "nothing asked, nothing sent", model: "gemini-3-pro", wish: undefined, want: undefined },
    {
      name: "an effort",
      model: "gemini-3.5-flash",
      wish: { ...on, effort: "medium" },
      want: { thinkingLevel: "MEDIUM", includeThoughts: true },
    },
    {
      name: "medium for a model without it",
      model: "gemini-3-pro-preview",
      wish: { ...on, effort: "medium" },
      want: { thinkingLevel: "HIGH", includeThoughts: true },
    },
    {
      name: "more than high",
      model: "gemini-3-pro",
      wish: { mode: "on", effort: "max" },
      want: { thinkingLevel: "HIGH" },
    },
    {
      name: "pitfall 97: minimal where there is no MINIMAL",
      model: "gemini-flash-latest",
      wish: { mode: "on", effort: "minimal" },
      want: { thinkingLevel: "LOW" },
    },
    {
      name: "pitfall 97: off where there is no MINIMAL",
      model: "gemini-3.7-flash",
      wish: { mode: "off" },
      want: { thinkingLevel: "LOW" },
    },
    {
      name: "pitfall 97: off where there is MINIMAL",
      model: "gemini-3-flash",
      wish: { mode: "off", show: true },
      want: { thinkingLevel: "MINIMAL" },
    },
    {
      name: "a budget for a model of levels",
      model: "gemini-3-pro",
      wish: { mode: "on", budget: 2000 },
      want: { thinkingLevel: "LOW" },
    },
    {
      name: "auto for a model of levels",
      model: "gemini-3-pro",
      wish: { mode: "auto", show: true },
      want: { includeThoughts: true },
    },
    {
      name: "G1: an effort for a model of budgets",
      model: "gemini-2.5-flash",
      wish: { ...on, effort: "medium" },
      want: { thinkingBudget: 8192, includeThoughts: true },
    },
    {
      name: "all that a model of budgets has",
      model: "gemini-2.5-pro",
      wish: { mode: "on", effort: "max" },
      want: { thinkingBudget: 32_768 },
    },
    {
      name: "too much for a model of budgets",
      model: "gemini-2.5-flash",
      wish: { mode: "on", budget: 99_999 },
      want: { thinkingBudget: 24_576 },
    },
    {
      name: "too little for the small model",
      model: "gemini-2.5-flash-lite",
      wish: { mode: "on", budget: 10 },
      want: { thinkingBudget: 512 },
    },
    { name: "off", model: "gemini-2.5-flash", wish: { mode: "off" }, want: { thinkingBudget: 0 } },
    {
      name: "off for a model that always thinks",
      model: "gemini-2.5-pro",
      wish: { mode: "off" },
      want: { thinkingBudget: 128 },
    },
    {
      name: "auto for a model of budgets",
      model: "gemini-2.5-pro",
      wish: { mode: "auto" },
      want: { thinkingBudget: -1 },
    },
    {
      name: "a model that does not think",
      model: "gemini-2.0-flash",
      wish: { ...on, effort: "high" },
      want: undefined,
      dropped: ["reasoning"],
    },
    {
      name: "an unknown model of the vendor",
      model: "models/nova",
      wish: { ...on, effort: "low" },
      want: { thinkingLevel: "LOW", includeThoughts: true },
    },
    {
      name: "an unknown model elsewhere",
      model: "nova",
      provider: "GeminiCompatible",
      wish: { mode: "on", effort: "low" },
      want: { thinkingBudget: 2048 },
    },
  ] as const) {
    it(row.name, () => {
      const written = writeFor(
        { reasoning: row.wish },
        targetOf(row.model, "provider" in row ? row.provider : "Gemini"),
      );
      assert.deepEqual(Reflect.get(written.body["generationConfig"] ?? {}, "thinkingConfig"), row.want);
      assert.deepEqual(written.dropped, "dropped" in row ? row.dropped : []);
    });
  }
});

describe("writeRequest() of generateContent: tools", () => {
  it("pitfall 78: says nothing of tools when there are none", () => {
    const { body } = writeFor({ tools: [], toolChoice: { type: "required" } });
    assert.deepEqual(Object.keys(body), ["contents"]);
  });

  it("declares all functions at once, those without arguments without parameters", () => {
    const { body } = writeFor({
      tools: [f, g, { kind: "function", name: "h", schema: { type: "object", properties: {} } }],
    });
    assert.deepEqual(body["tools"], [
      {
        functionDeclarations: [
          { name: "f", description: "F" },
          {
            name: "g",
            parametersJsonSchema: { type: "object", properties: { x: { type: "integer" } }, required: ["x"] },
          },
          { name: "h" },
        ],
      },
    ]);
  });

  it("pitfall 67: converts schemas for models that know no JSON Schema", () => {
    const { body } = writeFor({ tools: [g] }, targetOf("gemini-2.0-flash"));
    assert.deepEqual(body["tools"], [
      {
        functionDeclarations: [
          { name: "g", parameters: { type: "OBJECT", properties: { x: { type: "INTEGER" } }, required: ["x"] } },
        ],
      },
    ]);
  });

  for (const row of [
    { name: "pitfall 77: none", choice: { type: "none" }, want: { mode: "NONE" } },
    { name: "pitfall 77: auto", choice: { type: "auto" }, want: { mode: "AUTO" } },
    { name: "pitfall 77: required", choice: { type: "required" }, want: { mode: "ANY" } },
    {
      name: "pitfall 77: one function",
      choice: { type: "named", name: "f" },
      want: { mode: "ANY", allowedFunctionNames: ["f"] },
    },
    {
      name: "some functions",
      choice: { type: "required", only: ["f", "g"] },
      want: { mode: "ANY", allowedFunctionNames: ["f", "g"] },
    },
    {
      name: "perhaps some functions",
      choice: { type: "auto", only: ["f"] },
      want: { mode: "VALIDATED", allowedFunctionNames: ["f"] },
    },
    { name: "nothing", choice: undefined, want: undefined },
  ] as const) {
    it(`writes the choice: ${row.name}`, () => {
      const { body } = writeFor({ tools: [f, g], toolChoice: row.choice });
      assert.deepEqual(body["toolConfig"], row.want === undefined ? undefined : { functionCallingConfig: row.want });
    });
  }

  it("leaves other tools out where a model knows no VALIDATED", () => {
    const { body } = writeFor(
      { tools: [f, g], toolChoice: { type: "auto", only: ["f"] } },
      targetOf("gemini-2.0-flash"),
    );
    assert.deepEqual(body["tools"], [{ functionDeclarations: [{ name: "f", description: "F" }] }]);
    assert.deepEqual(body["toolConfig"], { functionCallingConfig: { mode: "AUTO" } });
  });

  it("pitfall 82: checks the calls of strict tools where the model can", () => {
    const strict = { ...g, strict: true } as const;
    const mode = (model: string): unknown =>
      writeFor({ tools: [strict], toolChoice: { type: "auto" } }, targetOf(model)).body["toolConfig"];
    assert.deepEqual(mode("gemini-3-pro"), { functionCallingConfig: { mode: "VALIDATED" } });
    assert.deepEqual(mode("gemini-2.0-flash"), { functionCallingConfig: { mode: "AUTO" } });
  });

  it("pitfall 80: sends built-in tools that Google has, and refuses others", () => {
    assert.deepEqual(writeFor({ tools: [search] }).body["tools"], [{ googleSearch: {} }]);
    const fileSearch: Tool = { kind: "hosted", tool: "file-search", type: "file_search", where: "tools[0]" };
    assert.throws(
      () => writeFor({ tools: [fileSearch] }),
      (error) => error instanceof GatewayError && error.param === "tools[0]",
    );
    assert.deepEqual(writeFor({ tools: [f, fileSearch] }).dropped, ["tools[0]"]);
  });

  it("mixes built-in tools and functions only for models that can", () => {
    assert.deepEqual(writeFor({ tools: [f, search] }).body["tools"], [
      { functionDeclarations: [{ name: "f", description: "F" }] },
      { googleSearch: {} },
    ]);
    const older = writeFor({ tools: [f, search] }, targetOf("gemini-2.5-pro"));
    assert.deepEqual(older.body["tools"], [{ functionDeclarations: [{ name: "f", description: "F" }] }]);
    assert.deepEqual(older.dropped, ["tools[0]"]);
  });

  it("names no function in the choice that is not declared", () => {
    const written = writeFor({ tools: [f], toolChoice: { type: "named", name: "web_search" } });
    assert.equal(written.body["toolConfig"], undefined);
    assert.deepEqual(written.dropped, ["toolChoice"]);
    const { body } = writeFor({ tools: [f], toolChoice: { type: "required", only: ["f", "x"] } });
    assert.deepEqual(body["toolConfig"], { functionCallingConfig: { mode: "ANY", allowedFunctionNames: ["f"] } });
  });

  it("leaves built-in tools out where none may be used, and declares that it cannot ask for one", () => {
    const none = writeFor({ tools: [f, search], toolChoice: { type: "none" } });
    assert.deepEqual(none.body["tools"], [{ functionDeclarations: [{ name: "f", description: "F" }] }]);
    assert.deepEqual(writeFor({ tools: [search], toolChoice: { type: "required" } }).dropped, ["toolChoice"]);
  });

  it("keeps the last of several tools with one name, and declares the others", () => {
    const written = writeFor({ tools: [{ ...f, description: "old", where: "tools[0]" }, f] });
    assert.deepEqual(written.body["tools"], [{ functionDeclarations: [{ name: "f", description: "F" }] }]);
    assert.deepEqual(written.dropped, ["tools[0]"]);
  });

  it("asks for a search once, and declares what Google's knows not", () => {
    const limited: Tool = { ...search, search: { allowedDomains: ["a.test"], maxUses: 2 } };
    const written = writeFor({ tools: [limited, search] });
    assert.deepEqual(written.body["tools"], [{ googleSearch: {} }]);
    assert.deepEqual(written.dropped, ["tools[0].allowed_domains", "tools[0].max_uses"]);
  });

  it("gives tools names that Google takes, everywhere, and says how to undo it", () => {
    const written = writeFor({
      tools: [{ kind: "function", name: "2/x" }],
      toolChoice: { type: "named", name: "2/x" },
      turns: [user, { role: "assistant", parts: [call("a", "2/x")] }, { role: "tool", parts: [result("a", "1")] }],
    });
    assert.ok(!JSON.stringify(written.body).includes("2/x"));
    assert.deepEqual([...(written.adaptation.toolNames ?? [])], [["_2_x", "2/x"]]);
  });

  it("wraps custom tools and their calls", () => {
    const written = writeFor({
      tools: [{ kind: "custom", name: "sql" }],
      turns: [user, { role: "assistant", parts: [{ ...call("a", "sql", "SELECT 1"), tool: "custom" }] }],
    });
    assert.ok(JSON.stringify(written.body).includes('"args":{"input":"SELECT 1"}'));
    assert.deepEqual(written.adaptation.customTools, new Set(["sql"]));
  });
});

describe("writeRequest() of generateContent: turns", () => {
  it("pitfall 103: puts leading system and developer text into the system instruction", () => {
    const { body } = writeFor({
      turns: [
        { role: "system", parts: [{ kind: "text", text: "S" }] },
        {
          role: "system",
          isDeveloper: true,
          parts: [
            { kind: "text", text: "D" },
            { kind: "text", text: "" },
          ],
        },
        user,
      ],
    });
    assert.deepEqual(body["systemInstruction"], { parts: [{ text: "S" }, { text: "D" }] });
  });

  it("pitfall 105: leaves later system text in its place", () => {
    const { body } = writeFor({ turns: [user, { role: "system", parts: [{ kind: "text", text: "S" }] }, user] });
    assert.equal(body["systemInstruction"], undefined);
    assert.deepEqual(body["contents"], [
      { role: "user", parts: [{ text: "hi" }, { text: "<system>\nS\n</system>" }, { text: "hi" }] },
    ]);
  });

  it("tells models without a system instruction in the user's words", () => {
    const { body } = writeFor(
      { turns: [{ role: "system", parts: [{ kind: "text", text: "S" }] }, user] },
      targetOf("gemma-3-27b-it"),
    );
    assert.deepEqual(Object.keys(body), ["contents"]);
    assert.deepEqual(body["contents"], [{ role: "user", parts: [{ text: "S" }, { text: "hi" }] }]);
  });

  it("declares caching hints and what provider-run tools did", () => {
    const cache = { ttl: "5m" };
    const written = writeFor({
      tools: [{ ...f, cache, where: "tools.0" }],
      turns: [
        { role: "system", parts: [{ kind: "text", text: "S", cache, where: "system.0" }] },
        { role: "user", parts: [{ kind: "text", text: "hi", cache, where: "messages.0.content.0" }] },
        { role: "assistant", parts: [{ kind: "hosted", type: "server_tool_use", where: "messages.1.content.0" }] },
      ],
    });
    assert.deepEqual(
      new Set(written.dropped),
      new Set([
        "system.0.cache_control",
        "messages.0.content.0.cache_control",
        "messages.1.content.0",
        "tools.0.cache_control",
      ]),
    );
  });

  it("begins with the user, come what may", () => {
    assert.deepEqual(contentsFor([{ role: "assistant", parts: [{ kind: "text", text: "x" }] }, user]), [
      { role: "user", parts: [{ text: "." }] },
      { role: "model", parts: [{ text: "x" }] },
      { role: "user", parts: [{ text: "hi" }] },
    ]);
    assert.deepEqual(contentsFor([]), [{ role: "user", parts: [{ text: "." }] }]);
  });

  it("pitfall 75: puts all results first and alone, in the order of the calls", () => {
    assert.deepEqual(
      contentsFor([
        user,
        { role: "assistant", parts: [call("a", "f"), call("b", "g")] },
        { role: "tool", parts: [result("b", "2"), result("a", "1")] },
        user,
      ]),
      [
        { role: "user", parts: [{ text: "hi" }] },
        {
          role: "model",
          parts: [{ functionCall: { name: "f", args: {} } }, { functionCall: { name: "g", args: {} } }],
        },
        {
          role: "user",
          parts: [
            { functionResponse: { name: "f", response: { output: "1" } } },
            { functionResponse: { name: "g", response: { output: "2" } } },
          ],
        },
        { role: "user", parts: [{ text: "hi" }] },
      ],
    );
  });

  it("answers a call that nobody answered", () => {
    assert.deepEqual(
      Reflect.get(Object(contentsFor([user, { role: "assistant", parts: [call("a", "f")] }, user])), 2),
      {
        role: "user",
        parts: [{ functionResponse: { name: "f", response: { error: "[no result]" } } }],
      },
    );
  });

  for (const row of [
    { name: "pitfall 74: a list goes behind output", text: "[1,2]", want: { output: "[1,2]" } },
    { name: "pitfall 74: a number goes behind output", text: "3", want: { output: "3" } },
    { name: "pitfall 74: an object is the response", text: '{"a":{"b":1}}', want: { a: { b: 1 } } },
    { name: "a text that only begins like an object", text: "{x", want: { output: "{x" } },
    { name: "an empty text", text: "", want: { output: "" } },
  ]) {
    it(`writes a result: ${row.name}`, () => {
      const contents = contentsFor([
        user,
        { role: "assistant", parts: [call("a", "f")] },
        { role: "tool", parts: [result("a", row.text)] },
      ]);
      assert.deepEqual(Reflect.get(Object(contents), 2).parts[0].functionResponse.response, row.want);
    });
  }

  it("keeps images of a result with it for models that take them there, else beside all results", () => {
    const turns: Turn[] = [
      user,
      { role: "assistant", parts: [call("a", "f")] },
      { role: "tool", parts: [{ kind: "result", callId: "a", content: [png] }] },
    ];
    const inlineData = { mimeType: "image/png", data: "iVBORw0KGgo=" };
    assert.deepEqual(Reflect.get(Object(contentsFor(turns, "gemini-3-pro")), 2).parts, [
      { functionResponse: { name: "f", response: { output: "" }, parts: [{ inlineData }] } },
    ]);
    assert.deepEqual(Reflect.get(Object(contentsFor(turns)), 2).parts, [
      { functionResponse: { name: "f", response: { output: "" } } },
      { inlineData },
    ]);
  });

  for (const row of [
    { name: "pitfall 84: empty arguments are an empty object", args: "", want: {} },
    { name: "pitfall 84: an empty object stays one", args: "{}", want: {} },
    { name: "arguments that are no object go behind a member", args: "[1]", want: { $raw: "[1]" } },
    { name: "arguments that were cut off go behind a member", args: '{"a":', want: { $raw: '{"a":' } },
  ]) {
    it(`writes a call: ${row.name}`, () => {
      const contents = contentsFor([user, { role: "assistant", parts: [call("a", "f", row.args)] }]);
      assert.deepEqual(Reflect.get(Object(contents), 1).parts[0].functionCall.args, row.want);
    });
  }

  it("keeps the digits of large numbers", () => {
    const { body } = writeFor({
      turns: [user, { role: "assistant", parts: [call("a", "f", '{"n":12345678901234567890}')] }],
    });
    assert.ok(JSON.stringify(body).includes('"args":{"n":12345678901234567890}'));
  });

  it("never touches a prototype", () => {
    contentsFor([user, { role: "assistant", parts: [call("a", "f", '{"__proto__":{"polluted":1}}')] }]);
    assert.equal(Reflect.get({}, "polluted"), undefined);
  });

  it("pitfall 65: sends Google's own ids back with call and result, and no others", () => {
    const turns = (id: string): Turn[] => [
      user,
      { role: "assistant", parts: [call(id, "f")] },
      { role: "tool", parts: [result(id, "1")] },
    ];
    const ids = (id: string, provider: "Gemini" | "VertexAI"): unknown => {
      const contents = Object(contentsFor(turns(id), "gemini-3-pro", provider));
      return [contents[1].parts[0].functionCall.id, contents[2].parts[0].functionResponse.id];
    };
    assert.deepEqual(ids("8xju7mua", "Gemini"), ["8xju7mua", "8xju7mua"]);
    assert.deepEqual(ids("call_1", "Gemini"), [undefined, undefined]);
  });

  it("pitfall 64: sends Vertex AI no ids", () => {
    const turns: Turn[] = [user, { role: "assistant", parts: [{ ...call("8xju7mua", "f"), isNativeId: true }] }];
    assert.ok(!JSON.stringify(contentsFor(turns, "gemini-3-pro", "VertexAI")).includes("8xju7mua"));
  });
});

describe("writeRequest() of generateContent: files", () => {
  for (const row of [
    { name: "an image", part: png, want: { inlineData: { mimeType: "image/png", data: "iVBORw0KGgo=" } } },
    {
      name: "an audio, with Google's word for MP3",
      part: { kind: "media", media: "audio", mime: "audio/mpeg", source: { type: "data", base64: "AA==" } },
      want: { inlineData: { mimeType: "audio/mp3", data: "AA==" } },
    },
    {
      name: "a file of unknown type by its bytes",
      part: { kind: "media", media: "image", source: { type: "data", base64: "R0lGODlhAQ==" } },
      want: { inlineData: { mimeType: "image/gif", data: "R0lGODlhAQ==" } },
    },
    {
      name: "a text document",
      part: { kind: "media", media: "document", source: { type: "text", text: "é" } },
      want: { inlineData: { mimeType: "text/plain", data: "w6k=" } },
    },
    {
      name: "a file that Google holds",
      part: {
        kind: "media",
        media: "video",
        mime: "video/mp4",
        source: { type: "file", owner: "google", id: "files/a" },
      },
      want: { fileData: { mimeType: "video/mp4", fileUri: "files/a" } },
    },
  ] satisfies { name: string; part: MediaPart; want: JsonObject }[]) {
    it(`writes ${row.name}`, () => {
      assert.deepEqual(contentsFor([{ role: "user", parts: [row.part] }]), [{ role: "user", parts: [row.want] }]);
    });
  }

  it("pitfall 113: wants every address fetched, and refuses one that was not", () => {
    const part: MediaPart = {
      kind: "media",
      media: "image",
      source: { type: "url", url: "https://x.test/a.png" },
      where: "messages[0].content[1]",
    };
    assert.equal(generateContentTranslator.needsDownload?.(part, targetOf("gemini-3-pro")), true);
    assert.equal(generateContentTranslator.needsDownload?.(png, targetOf("gemini-3-pro")), false);
    assert.throws(
      () => contentsFor([{ role: "user", parts: [part] }]),
      (error) => error instanceof GatewayError && error.param === "messages[0].content[1]",
    );
  });

  it("refuses a file that only another provider can read", () => {
    const part: MediaPart = {
      kind: "media",
      media: "image",
      source: { type: "file", owner: "openai", id: "file-1" },
      where: "x",
    };
    assert.throws(() => contentsFor([{ role: "user", parts: [part] }]), GatewayError);
  });

  it("asks for one resolution when all images agree", () => {
    const low = { ...png, detail: "low" };
    const config = (...parts: MediaPart[]) => writeFor({ turns: [{ role: "user", parts }] });
    assert.deepEqual(config(low, low).body["generationConfig"], { mediaResolution: "MEDIA_RESOLUTION_LOW" });
    const mixed = config({ ...low, where: "a" }, { ...png, detail: "high", where: "b" });
    assert.equal(mixed.body["generationConfig"], undefined);
    assert.deepEqual(mixed.dropped, ["a.detail", "b.detail"]);
    assert.deepEqual(config({ ...png, detail: "auto" }).dropped, []);
  });
});

describe("writeRequest() of generateContent: signatures", () => {
  const sealed = (data: string) =>
    [{ type: "sealed", envelope: openKeeper.seal([{ kind: "thought-signature", data }]) }] as const;
  const partsOf = (parts: Turn["parts"], model = "gemini-3-pro"): unknown =>
    Reflect.get(Object(contentsFor([user, { role: "assistant", parts }], model)), 1).parts;

  it("pitfall 88: puts a call's signature beside it, not into it", () => {
    assert.deepEqual(partsOf([{ ...call("a", "f"), states: sealed("SIG") }]), [
      { functionCall: { name: "f", args: {} }, thoughtSignature: "SIG" },
    ]);
  });

  it("pitfall 87: leaves parallel calls behind the first unsigned", () => {
    assert.deepEqual(partsOf([{ ...call("a", "f"), states: sealed("SIG") }, call("b", "g")]), [
      { functionCall: { name: "f", args: {} }, thoughtSignature: "SIG" },
      { functionCall: { name: "g", args: {} } },
    ]);
  });

  it("puts a signature that stood on thinking onto the call that follows", () => {
    assert.deepEqual(partsOf([{ kind: "reasoning", text: "T", states: sealed("SIG") }, call("a", "f")]), [
      { functionCall: { name: "f", args: {} }, thoughtSignature: "SIG" },
    ]);
  });

  it("pitfall 89: keeps the signature of an empty text", () => {
    assert.deepEqual(
      partsOf([
        { kind: "text", text: "Hi" },
        { kind: "text", text: "", states: sealed("SIG") },
      ]),
      [{ text: "Hi" }, { text: "", thoughtSignature: "SIG" }],
    );
  });

  it("pitfall 90: signs the first call of each step of the current turn with what Google documents", () => {
    const contents = contentsFor(
      [
        user,
        { role: "assistant", parts: [call("old", "f")] },
        { role: "tool", parts: [result("old", "0")] },
        user,
        { role: "assistant", parts: [call("a", "f"), call("b", "g")] },
        { role: "tool", parts: [result("a", "1"), result("b", "2")] },
        { role: "assistant", parts: [call("c", "f")] },
        { role: "tool", parts: [result("c", "3")] },
      ],
      "gemini-3-pro",
    );
    const signatures = Object(contents)
      .filter(({ role }: JsonObject) => role === "model")
      .map(({ parts }: { parts: JsonObject[] }) => parts.map((part) => part["thoughtSignature"] ?? ""));
    const skip = "skip_thought_signature_validator";
    assert.deepEqual(signatures, [[""], [skip, ""], [skip]]);
  });

  it("leaves out a turn of which nothing is left", () => {
    const turns: Turn[] = [user, { role: "assistant", parts: [{ kind: "reasoning", text: "T" }] }, user];
    assert.deepEqual(contentsFor(turns), [{ role: "user", parts: [{ text: "hi" }, { text: "hi" }] }]);
  });

  it("signs nothing for models that do not ask", () => {
    assert.deepEqual(partsOf([call("a", "f")], "gemini-2.5-pro"), [{ functionCall: { name: "f", args: {} } }]);
  });

  it("never sends thinking, nor a client's native state", () => {
    const states = [{ type: "native", state: { kind: "thought-signature", data: "X" } }] as const;
    assert.deepEqual(
      partsOf([
        { kind: "reasoning", text: "T", states },
        { kind: "text", text: "Hi" },
      ]),
      [{ text: "Hi" }],
    );
  });
});
