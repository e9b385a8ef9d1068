import assert from "node:assert/strict";
import type { MediaPart, Turn } from "#proxy/neutral/conversation";
import {
  call,
  contentsFor,
  result,
  targetOf,
  user,
  writeFor,
} from "#test/unit/proxy/formats/generate-content/translate/replay";

const png: MediaPart = {
  kind: "media",
  media: "image",
  mime: "image/png",
  source: { type: "data", base64: "iVBORw0KGgo=" },
};

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
      tools: [{ kind: "function", name: "f", cache, where: "tools.0" }],
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

  it("pairs the results of calls that share an id by their order", () => {
    const contents = contentsFor([
      user,
      { role: "assistant", parts: [call("a", "read"), call("a", "delete")] },
      { role: "tool", parts: [result("a", "1"), result("a", "2")] },
    ]);
    assert.deepEqual(Object(contents).at(-1), {
      role: "user",
      parts: [
        { functionResponse: { name: "read", response: { output: "1" } } },
        { functionResponse: { name: "delete", response: { output: "2" } } },
      ],
    });
  });

  it("writes a result for a call without one", () => {
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

  it("joins several texts of a result, whatever they look like together", () => {
    const content = ["{", "}"].map((text) => ({ kind: "text", text }) as const);
    const turns: Turn[] = [
      user,
      { role: "assistant", parts: [call("a", "f")] },
      { role: "tool", parts: [{ kind: "result", callId: "a", content }] },
    ];
    const response = Reflect.get(Object(contentsFor(turns)), 2).parts[0].functionResponse.response;
    assert.deepEqual(response, { output: "{\n}" });
  });

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
