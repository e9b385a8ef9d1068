import assert from "node:assert/strict";
import { generateContentClientTranslator } from "#proxy/formats/generate-content/translate/client-translator";
import type { JsonObject } from "#proxy/json/json-value";
import type { Conversation } from "#proxy/neutral/conversation";
import { endpoint, openKeeper } from "#test/unit/proxy/formats/generate-content/translate/replay";

const hi = { role: "user", parts: [{ text: "hi" }] };

function read(body: JsonObject): Conversation {
  return generateContentClientTranslator.readRequest(body, endpoint);
}

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
    {
      name: "a user's thought as text, since only a model thinks",
      contents: [{ role: "user", parts: [{ text: "T", thought: true }, { text: "hi" }] }],
      want: [["user", "T", "hi"]],
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

  it("pitfall 145: joins the chunks that the SDK's chat keeps as contents, and their signature", () => {
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
        {
          kind: "text",
          text: "hello",
          where: "contents[1].parts[0]",
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

  it("reads files of a result, with the label of their bytes", () => {
    const inlineData = { mimeType: "image/jpeg", data: "iVBORw0KGgo=" };
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
      name: "an image with another one's label",
      part: { inlineData: { mimeType: "image/jpeg", data: "iVBORw0KGgo=" } },
      want: { media: "image", mime: "image/png", source: { type: "data", base64: "iVBORw0KGgo=" } },
    },
    {
      name: "an image with a label that is none",
      part: { inlineData: { mimeType: "image/jpg", data: "/9j/4AAQSkY=" } },
      want: { media: "image", mime: "image/jpeg", source: { type: "data", base64: "/9j/4AAQSkY=" } },
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
    {
      name: "a resolution by its number",
      part: { inlineData: { mimeType: "image/png", data: "iVBORw0KGgo=" }, mediaResolution: { level: 1 } },
      want: { media: "image", mime: "image/png", source: { type: "data", base64: "iVBORw0KGgo=" }, detail: "low" },
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

  it("pitfall 110: declares members beside the content that it does not know", () => {
    const content = {
      role: "user",
      parts: [{ text: "hi", aura: 1, partMetadata: { a: 1 } }],
      mood: "x",
    };
    assert.deepEqual(read({ contents: [content] }).unmapped, [
      "contents[0].mood",
      "contents[0].parts[0].aura",
      "contents[0].parts[0].partMetadata",
    ]);
  });

  it("declares where a video is cut as a loss", () => {
    const part = { fileData: { fileUri: "https://x.test/a.mp4" }, videoMetadata: { startOffset: "1s" } };
    assert.deepEqual(read({ contents: [{ parts: [part] }] }).unmapped, ["contents[0].parts[0].videoMetadata"]);
  });
});
