import assert from "node:assert/strict";
import fc from "fast-check";
import { GatewayError } from "../../../../../../proxy/errors.ts";
import type { JsonObject } from "../../../../../../proxy/protocols/json-value.ts";
import type { Conversation } from "../../../../../../proxy/translate/conversation.ts";
import { generateContentTranslator } from "../../../../../../proxy/translate/generate-content/translator.ts";
import { endpoint, openKeeper } from "../replay.ts";

const hi = { role: "user", parts: [{ text: "hi" }] };

function read(body: JsonObject): Conversation {
  return generateContentTranslator.readRequest(body, endpoint);
}

/** What a body says beyond its turns, without members that are absent. */
function present(value: unknown): unknown {
  return JSON.parse(JSON.stringify(value));
}

describe("readRequest() of generateContent: parameters", () => {
  it("takes model and streaming from the path", () => {
    const streamed = generateContentTranslator.readRequest({ contents: "hi" }, { ...endpoint, geminiStream: "array" });
    assert.deepEqual([streamed.model, streamed.stream, read({ contents: "hi" }).stream], ["m", true, false]);
  });

  for (const row of [
    {
      name: "pitfall 101: keeps zeros",
      config: { temperature: 0, topP: 0, presencePenalty: 0, seed: 0 },
      want: { sampling: { temperature: 0, topP: 0, presencePenalty: 0, seed: 0 } },
    },
    {
      name: "reads every sampling parameter",
      config: {
        topK: 40,
        frequencyPenalty: 1,
        stopSequences: ["END"],
        candidateCount: 2,
        responseLogprobs: true,
        logprobs: 3,
        maxOutputTokens: 5,
      },
      want: {
        sampling: { topK: 40, frequencyPenalty: 1, stop: ["END"], candidates: 2, logprobs: true, topLogprobs: 3 },
        outputCap: 5,
      },
    },
    {
      name: "pitfall 112: reads snake_case",
      config: { top_p: 0.5, max_output_tokens: 7, thinking_config: { thinking_budget: 0, include_thoughts: true } },
      want: { sampling: { topP: 0.5 }, outputCap: 7, reasoning: { mode: "off", show: true } },
    },
    { name: "reads a number that is a text", config: { maxOutputTokens: "9" }, want: { outputCap: 9 } },
    {
      name: "a negative budget leaves thinking to the model",
      config: { thinkingConfig: { thinkingBudget: -1 } },
      want: { reasoning: { mode: "auto", show: false } },
    },
    {
      name: "a budget switches thinking on",
      config: { thinkingConfig: { thinkingBudget: 512 } },
      want: { reasoning: { mode: "on", budget: 512, show: false } },
    },
    {
      name: "a level is an effort",
      config: { thinkingConfig: { thinkingLevel: "LOW", includeThoughts: true } },
      want: { reasoning: { mode: "on", effort: "low", show: true } },
    },
    {
      name: "thoughts alone leave thinking to the model",
      config: { thinkingConfig: { includeThoughts: true } },
      want: { reasoning: { mode: "auto", show: true } },
    },
    { name: "an empty thinking config says nothing", config: { thinkingConfig: {} }, want: {} },
    {
      name: "JSON without a schema",
      config: { responseMimeType: "application/json" },
      want: { answerFormat: { kind: "json" } },
    },
    { name: "plain text says nothing", config: { responseMimeType: "text/plain" }, want: {} },
    {
      name: "a response schema becomes JSON Schema",
      config: {
        responseMimeType: "application/json",
        responseSchema: { type: "OBJECT", properties: { n: { type: "INTEGER" } } },
      },
      want: {
        answerFormat: {
          kind: "schema",
          schema: { type: "object", properties: { n: { type: "integer" } } },
          strict: false,
        },
      },
    },
    {
      name: "G5: a JSON Schema stays what it is, and is strict where it keeps the rules",
      config: {
        responseMimeType: "application/json",
        responseJsonSchema: {
          type: "object",
          properties: { n: { type: "integer" } },
          required: ["n"],
          additionalProperties: false,
        },
      },
      want: {
        answerFormat: {
          kind: "schema",
          schema: {
            type: "object",
            properties: { n: { type: "integer" } },
            required: ["n"],
            additionalProperties: false,
          },
          strict: true,
        },
      },
    },
    {
      name: "an enum is one of its words",
      config: { responseMimeType: "text/x.enum", responseSchema: { type: "STRING", enum: ["a", "b"] } },
      want: { answerFormat: { kind: "enum", values: ["a", "b"] } },
    },
    {
      name: "modalities and a voice",
      config: {
        responseModalities: ["TEXT", "AUDIO"],
        speechConfig: { voiceConfig: { prebuiltVoiceConfig: { voiceName: "Kore" } } },
      },
      want: { modalities: ["text", "audio"], audioOutput: { voice: "Kore" } },
    },
    {
      name: "pitfall 110: declares what has no neutral place, and refuses nothing for it",
      config: { imageConfig: { imageSize: "1K" }, mediaResolution: "MEDIA_RESOLUTION_LOW" },
      want: { unread: ["generationConfig.imageConfig", "generationConfig.mediaResolution"] },
    },
  ] satisfies { name: string; config: JsonObject; want: JsonObject }[]) {
    it(row.name, () => {
      const got = read({ contents: "hi", generationConfig: row.config });
      const want = { model: "m", stream: false, tools: [], sampling: {}, unread: [], ...row.want };
      const { turns: _turns, ...rest } = got;
      assert.deepEqual(present(rest), want);
    });
  }

  it("pitfall 112: reads generation parameters at the top level, the config wins", () => {
    const got = read({ contents: "hi", temperature: 1, max_output_tokens: 3, generation_config: { temperature: 0.5 } });
    assert.deepEqual(present([got.sampling, got.outputCap]), [{ temperature: 0.5 }, 3]);
    assert.deepEqual(got.unread, []);
  });

  it("reads common members of the interface", () => {
    const got = read({
      contents: "hi",
      user: { id: "u1" },
      metadata: { a: "b", n: 1 },
      safety_identifier: "s",
      serviceTier: "standard",
      store: false,
      safetySettings: [{ category: "C", threshold: "T" }],
      labels: { team: "x" },
    });
    assert.deepEqual(
      [got.user, got.metadata, got.safetyIdentifier, got.serviceTier, got.store, got.safetySettings, got.unread],
      ["u1", { a: "b", n: "1" }, "s", "default", false, [{ category: "C", threshold: "T" }], ["labels"]],
    );
  });
});

describe("readRequest() of generateContent: tools", () => {
  it("reads declarations, built-in tools and the choice", () => {
    const got = read({
      contents: [hi],
      tools: [
        {
          function_declarations: [
            { name: "f", description: "F" },
            { name: "g", parameters: { type: "OBJECT", properties: { snake_case: { type: "STRING" } } } },
            { name: "h", parametersJsonSchema: { type: "object", additionalProperties: false } },
          ],
        },
        { googleSearch: {} },
        { code_execution: {} },
        { urlContext: {} },
      ],
      tool_config: { function_calling_config: { mode: "ANY", allowed_function_names: ["f", "g"] } },
    });
    assert.deepEqual(got.tools, [
      { kind: "function", name: "f", description: "F", where: "tools[0].functionDeclarations[0]" },
      {
        kind: "function",
        name: "g",
        schema: { type: "object", properties: { snake_case: { type: "string" } } },
        where: "tools[0].functionDeclarations[1]",
      },
      {
        kind: "function",
        name: "h",
        schema: { type: "object", additionalProperties: false },
        where: "tools[0].functionDeclarations[2]",
      },
      { kind: "hosted", tool: "web-search", type: "googleSearch", where: "tools[1].googleSearch" },
      { kind: "hosted", tool: "code", type: "code_execution", where: "tools[2].code_execution" },
      { kind: "hosted", tool: "web-fetch", type: "urlContext", where: "tools[3].urlContext" },
    ]);
    assert.deepEqual(got.toolChoice, { type: "required", only: ["f", "g"] });
  });

  for (const row of [
    { name: "AUTO", calling: { mode: "AUTO" }, want: { type: "auto" } },
    { name: "NONE", calling: { mode: "NONE" }, want: { type: "none" } },
    { name: "ANY", calling: { mode: "ANY" }, want: { type: "required" } },
    {
      name: "ANY of one function",
      calling: { mode: "ANY", allowedFunctionNames: ["f"] },
      want: { type: "named", name: "f" },
    },
    {
      name: "VALIDATED of some",
      calling: { mode: "VALIDATED", allowedFunctionNames: ["f"] },
      want: { type: "auto", only: ["f"] },
    },
    { name: "a mode that is a number", calling: { mode: 2 }, want: { type: "required" } },
    { name: "no mode", calling: {}, want: undefined },
  ]) {
    it(`reads the choice: ${row.name}`, () => {
      const got = read({ contents: "hi", toolConfig: { functionCallingConfig: row.calling } });
      assert.deepEqual(got.toolChoice, row.want);
    });
  }

  it("makes functions strict where calls are validated, and only there", () => {
    const tools = { functionDeclarations: [{ name: "f" }] };
    const withMode = (mode: string): Conversation =>
      read({
        contents: "hi",
        tools,
        toolConfig: { functionCallingConfig: { mode, allowedFunctionNames: ["f"] } },
      });
    for (const mode of ["AUTO", "ANY", "NONE"]) assert.ok(!("strict" in (withMode(mode).tools[0] ?? {})), mode);
    const got = withMode("VALIDATED");
    assert.deepEqual(got.tools, [
      { kind: "function", name: "f", strict: true, where: "tools.functionDeclarations[0]" },
    ]);
  });
});

describe("readRequest() of generateContent: contents", () => {
  for (const row of [
    { name: "a text", contents: "hi", want: [["user", "hi"]] },
    { name: "a content", contents: { parts: [{ text: "hi" }] }, want: [["user", "hi"]] },
    { name: "a part", contents: { text: "hi" }, want: [["user", "hi"]] },
    { name: "texts and parts", contents: ["a", { text: "b" }], want: [["user", "a", "b"]] },
    { name: "contents without role", contents: [{ parts: [{ text: "hi" }] }], want: [["user", "hi"]] },
    { name: "parts that are one part", contents: [{ role: "user", parts: { text: "hi" } }], want: [["user", "hi"]] },
    {
      name: "pitfall 139: contents without parts are nobody's",
      contents: [hi, { role: "model", parts: [] }, hi],
      want: [
        ["user", "hi"],
        ["user", "hi"],
      ],
    },
    {
      name: "thoughts apart from text",
      contents: [hi, { role: "model", parts: [{ text: "T", thought: true }, { text: "Hi" }] }],
      want: [
        ["user", "hi"],
        ["assistant", "(T)", "Hi"],
      ],
    },
  ]) {
    it(`reads ${row.name}`, () => {
      const spoken = read({ contents: row.contents }).turns.map(({ role, parts }) => [
        role,
        ...parts.map((part) =>
          part.kind === "reasoning" ? `(${part.text})` : part.kind === "text" ? part.text : part.kind,
        ),
      ]);
      assert.deepEqual(spoken, row.want);
    });
  }

  for (const value of [
    "S",
    { parts: [{ text: "S" }] },
    { role: "user", parts: [{ text: "S" }] },
    { text: "S" },
    ["S"],
    { parts: { text: "S" } },
  ]) {
    it(`reads a system instruction written as ${JSON.stringify(value)}`, () => {
      for (const name of ["systemInstruction", "system_instruction"]) {
        const [system] = read({ contents: "hi", [name]: value }).turns;
        assert.deepEqual(
          [system?.role, ...(system?.parts ?? []).map((part) => part.kind === "text" && part.text)],
          ["system", "S"],
        );
      }
    });
  }

  it("pitfall 145: joins the chunks that the SDK's chat keeps as contents, the signature apart", () => {
    const { turns } = read({
      contents: [
        hi,
        { role: "model", parts: [{ text: "he" }] },
        { role: "model", parts: [{ text: "llo" }] },
        { role: "model", parts: [{ text: "", thoughtSignature: "U0lH" }] },
        hi,
      ],
    });
    assert.deepEqual(turns[1], {
      role: "assistant",
      parts: [
        { kind: "text", text: "hello", where: "contents[1].parts[0]" },
        {
          kind: "text",
          text: "",
          where: "contents[3].parts[0]",
          states: [{ type: "native", state: { kind: "thought-signature", data: "U0lH" } }],
        },
      ],
    });
    assert.equal(turns.length, 3);
  });

  it("pitfall 146: pairs results without ids with the calls of several contents, by name in order", () => {
    const call = (x: number) => ({ role: "model", parts: [{ functionCall: { name: "f", args: { x } } }] });
    const result = (output: string) => ({ functionResponse: { name: "f", response: { output } } });
    const { turns } = read({
      contents: [
        hi,
        call(1),
        call(2),
        { role: "model", parts: [{ text: "" }] },
        { role: "user", parts: [result("a"), result("b")] },
      ],
    });
    assert.deepEqual(
      turns.map(({ role, parts }) => [
        role,
        ...parts.map((part) => (part.kind === "call" ? part.id : part.kind === "result" ? part.callId : "")),
      ]),
      [
        ["user", ""],
        ["assistant", "gem_1_0", "gem_1_1"],
        ["tool", "gem_1_0", "gem_1_1"],
      ],
    );
  });

  it("pitfall 63: pairs by id, then by name, and gives an orphan an id of its own", () => {
    const { turns } = read({
      contents: [
        { role: "model", parts: [{ functionCall: { id: "a", name: "f" } }, { functionCall: { name: "g" } }] },
        {
          role: "function",
          parts: [
            { functionResponse: { name: "g", response: {} } },
            { functionResponse: { id: "a", name: "f", response: {} } },
            { functionResponse: { name: "h", response: {} } },
          ],
        },
      ],
    });
    const ids = turns[1]?.parts.map((part) => (part.kind === "result" ? part.callId : ""));
    assert.deepEqual(ids, ["gem_0_1", "a", "gem_1_2"]);
  });

  it("pitfall 28: a call without arguments has an empty object", () => {
    const { turns } = read({ contents: [{ role: "model", parts: [{ functionCall: { name: "f" } }] }] });
    const [part] = turns[0]?.parts ?? [];
    assert.equal(part?.kind === "call" && part.arguments, "{}");
  });

  it("puts results before what the user adds", () => {
    const { turns } = read({
      contents: [
        { role: "model", parts: [{ functionCall: { name: "f" } }] },
        { role: "user", parts: [{ text: "go" }, { functionResponse: { name: "f", response: { output: "1" } } }] },
      ],
    });
    assert.deepEqual(
      turns.slice(1).map(({ role }) => role),
      ["tool", "user"],
    );
  });

  for (const row of [
    { name: "a text behind output", response: { output: "1" }, want: { content: "1" } },
    { name: "a text behind result", response: { result: "1" }, want: { content: "1" } },
    { name: "an object as JSON", response: { a: 1, b: [true] }, want: { content: '{"a":1,"b":[true]}' } },
    { name: "nothing as an empty object", response: undefined, want: { content: "{}" } },
    { name: "an error", response: { error: "boom" }, want: { content: "boom", isError: true } },
    {
      name: "an error that is an object",
      response: { error: { code: 1 } },
      want: { content: '{"code":1}', isError: true },
    },
  ]) {
    it(`reads a result: ${row.name}`, () => {
      const { turns } = read({ contents: [{ parts: [{ functionResponse: { name: "f", response: row.response } }] }] });
      const [part] = turns[0]?.parts ?? [];
      assert.ok(part?.kind === "result");
      const [content] = part.content;
      assert.deepEqual(
        { content: content?.kind === "text" && content.text, ...(part.isError ? { isError: true } : {}) },
        row.want,
      );
    });
  }

  it("reads files of a result", () => {
    const inlineData = { mimeType: "image/png", data: "iVBORw0KGgo=" };
    const { turns } = read({
      contents: [{ parts: [{ functionResponse: { name: "f", response: {}, parts: [{ inlineData }] } }] }],
    });
    const [part] = turns[0]?.parts ?? [];
    assert.deepEqual(
      part?.kind === "result" && part.content.map((content) => content.kind === "media" && content.mime),
      ["image/png"],
    );
  });

  for (const row of [
    {
      name: "an image",
      part: { inline_data: { mime_type: "image/PNG; x=1", data: "iVBORw0K\nGgo=" } },
      want: { media: "image", mime: "image/png", source: { type: "data", base64: "iVBORw0KGgo=" } },
    },
    {
      name: "base64 in the alphabet of URLs",
      part: { inlineData: { mimeType: "audio/wav", data: "_-8=" } },
      want: { media: "audio", mime: "audio/wav", source: { type: "data", base64: "/+8=" } },
    },
    {
      name: "a document",
      part: { inlineData: { mimeType: "application/pdf", data: "JVBERi0=" } },
      want: { media: "document", mime: "application/pdf", source: { type: "data", base64: "JVBERi0=" } },
    },
    {
      name: "an address",
      part: { fileData: { mimeType: "image/jpeg", fileUri: "https://x.test/a.jpg" } },
      want: { media: "image", mime: "image/jpeg", source: { type: "url", url: "https://x.test/a.jpg" } },
    },
    {
      name: "an address whose ending tells",
      part: { fileData: { fileUri: "https://x.test/a.pdf?x" } },
      want: { media: "document", source: { type: "url", url: "https://x.test/a.pdf?x" } },
    },
    {
      name: "a video site",
      part: { fileData: { fileUri: "https://www.youtube.com/watch?v=1" } },
      want: { media: "video", source: { type: "url", url: "https://www.youtube.com/watch?v=1" } },
    },
    {
      name: "a file of the account",
      part: { fileData: { fileUri: "files/abc", mimeType: "video/mp4" } },
      want: { media: "video", mime: "video/mp4", source: { type: "file", owner: "google", id: "files/abc" } },
    },
    {
      name: "a resolution",
      part: {
        inlineData: { mimeType: "image/png", data: "iVBORw0KGgo=" },
        mediaResolution: { level: "MEDIA_RESOLUTION_HIGH" },
      },
      want: { media: "image", mime: "image/png", source: { type: "data", base64: "iVBORw0KGgo=" }, detail: "high" },
    },
  ]) {
    it(`reads ${row.name} as a file`, () => {
      const [part] = read({ contents: [{ parts: [row.part] }] }).turns[0]?.parts ?? [];
      const { where: _where, kind: _kind, ...rest } = part ?? {};
      assert.deepEqual(rest, row.want);
    });
  }

  it("reads what provider-run tools did", () => {
    const { turns } = read({
      contents: [
        hi,
        { role: "model", parts: [{ executableCode: { code: "1" } }, { codeExecutionResult: { output: "1" } }] },
      ],
    });
    assert.deepEqual(
      turns[1]?.parts.map((part) => part.kind === "hosted" && part.type),
      ["executableCode", "codeExecutionResult"],
    );
  });

  it("tells envelopes of this gateway from Google's own signatures", () => {
    const envelope = openKeeper.seal([{ kind: "redacted-thinking", data: "x" }]);
    const thoughtSignature = Buffer.from(envelope).toString("base64");
    const { turns } = read({
      contents: [hi, { role: "model", parts: [{ functionCall: { name: "f" }, thoughtSignature }] }],
    });
    const [part] = turns[1]?.parts ?? [];
    assert.deepEqual(part?.kind === "call" && part.states, [{ type: "sealed", envelope }]);
  });

  it("declares where a video is cut as a loss", () => {
    const part = { fileData: { fileUri: "https://x.test/a.mp4" }, videoMetadata: { startOffset: "1s" } };
    assert.deepEqual(read({ contents: [{ parts: [part] }] }).unread, ["contents[0].parts[0].videoMetadata"]);
  });
});

describe("readRequest() of generateContent: what it refuses", () => {
  const inlineData = { mimeType: "image/png", data: "iVBORw0KGgo=" };
  for (const row of [
    { name: "cached content", body: { cachedContent: "c/1" }, code: "unsupported_parameter", param: "cachedContent" },
    {
      name: "a continuation",
      body: { continuationToken: "t" },
      code: "unsupported_parameter",
      param: "continuationToken",
    },
    {
      name: "a newer form of the answer",
      body: { generationConfig: { responseFormat: [{}] } },
      code: "unsupported_parameter",
      param: "generationConfig.responseFormat",
    },
    {
      name: "an unknown role",
      body: { contents: [hi, { role: "system", parts: [{ text: "x" }] }] },
      code: "invalid_value",
      param: "contents[1].role",
    },
    {
      name: "an unknown kind of part",
      body: { contents: [{ parts: [{ hologram: {} }] }] },
      code: "invalid_value",
      param: "contents[0].parts[0].hologram",
    },
    {
      name: "a part without data",
      body: { contents: [{ parts: [{}] }] },
      code: "invalid_value",
      param: "contents[0].parts[0]",
    },
    {
      name: "a part with two kinds of data",
      body: { contents: [{ parts: [{ text: "x", inlineData }] }] },
      code: "invalid_value",
      param: "contents[0].parts[0]",
    },
    {
      name: "a part that is a number",
      body: { contents: [{ parts: [1] }] },
      code: "invalid_type",
      param: "contents[0].parts[0]",
    },
    { name: "contents that say nothing", body: { contents: [] }, code: "invalid_value", param: "contents" },
    { name: "contents of another type", body: { contents: 1 }, code: "invalid_type", param: "contents" },
    {
      name: "a file without a type",
      body: { contents: [{ parts: [{ inlineData: { data: "AAAA" } }] }] },
      code: "invalid_value",
      param: "contents[0].parts[0].inlineData.mimeType",
    },
    {
      name: "data that is no base64",
      body: { contents: [{ parts: [{ inlineData: { mimeType: "image/png", data: "?" } }] }] },
      code: "invalid_value",
      param: "contents[0].parts[0].inlineData.data",
    },
    {
      name: "a file in Google's storage",
      body: { contents: [{ parts: [{ fileData: { fileUri: "gs://b/a" } }] }] },
      code: "unsupported_parameter",
      param: "contents[0].parts[0].fileData.fileUri",
    },
    {
      name: "a call of the user",
      body: { contents: [{ parts: [{ functionCall: { name: "f" } }] }] },
      code: "invalid_value",
      param: "contents[0].parts[0].functionCall",
    },
    {
      name: "a result of the model",
      body: { contents: [{ role: "model", parts: [{ functionResponse: { name: "f" } }] }] },
      code: "invalid_value",
      param: "contents[0].parts[0].functionResponse",
    },
    {
      name: "arguments that are a list",
      body: { contents: [{ role: "model", parts: [{ functionCall: { name: "f", args: [] } }] }] },
      code: "invalid_type",
      param: "contents[0].parts[0].functionCall.args",
    },
    {
      name: "a result that is a text",
      body: { contents: [{ parts: [{ functionResponse: { name: "f", response: "x" } }] }] },
      code: "invalid_type",
      param: "contents[0].parts[0].functionResponse.response",
    },
    {
      name: "an image in the system instruction",
      body: { systemInstruction: { parts: [{ inlineData }] } },
      code: "invalid_value",
      param: "systemInstruction.parts[0]",
    },
    {
      name: "pitfall 80: an unknown tool",
      body: { tools: [{ telepathy: {} }] },
      code: "invalid_value",
      param: "tools[0].telepathy",
    },
    {
      name: "a declaration without a name",
      body: { tools: [{ functionDeclarations: [{}] }] },
      code: "invalid_value",
      param: "tools[0].functionDeclarations[0].name",
    },
    {
      name: "an unknown mode",
      body: { toolConfig: { functionCallingConfig: { mode: "MAYBE" } } },
      code: "invalid_value",
      param: "toolConfig.functionCallingConfig.mode",
    },
    {
      name: "an unknown level",
      body: { generationConfig: { thinkingConfig: { thinkingLevel: "TOTAL" } } },
      code: "invalid_value",
      param: "generationConfig.thinkingConfig.thinkingLevel",
    },
    {
      name: "an unknown type of answer",
      body: { generationConfig: { responseMimeType: "image/png" } },
      code: "invalid_value",
      param: "generationConfig.responseMimeType",
    },
    {
      name: "several speakers",
      body: { generationConfig: { speechConfig: { multiSpeakerVoiceConfig: {} } } },
      code: "unsupported_parameter",
      param: "generationConfig.speechConfig.multiSpeakerVoiceConfig",
    },
  ]) {
    it(`refuses ${row.name}`, () => {
      assert.throws(
        () => read({ contents: [hi], ...row.body }),
        (error) => error instanceof GatewayError && error.code === row.code && error.param === row.param,
      );
    });
  }

  it("never throws anything else, whatever the JSON is", () => {
    const names = fc.constantFrom(
      ...[
        "contents",
        "parts",
        "role",
        "text",
        "functionCall",
        "functionResponse",
        "args",
        "name",
        "response",
        "inlineData",
      ],
      ...[
        "mimeType",
        "data",
        "tools",
        "functionDeclarations",
        "parameters",
        "generationConfig",
        "thinkingConfig",
        "toolConfig",
      ],
      ...["systemInstruction", "__proto__", "fileData", "fileUri", "thoughtSignature", "responseSchema", "properties"],
    );
    const { value } = fc.letrec<{ value: unknown }>((tie) => ({
      value: fc.oneof(
        { maxDepth: 6 },
        fc.constantFrom<unknown>("model", "user", "x", "", 0, 1, -1, true, null, "https://x.test/a"),
        fc.dictionary(names, tie("value"), { maxKeys: 5, noNullPrototype: false }),
        fc.array(tie("value"), { maxLength: 3 }),
      ),
    }));
    fc.assert(
      fc.property(fc.dictionary(names, value), (body) => {
        try {
          read(body);
        } catch (error) {
          assert.ok(error instanceof GatewayError, String(error));
        }
      }),
      { numRuns: 500 },
    );
  });
});
