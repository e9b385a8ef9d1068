import assert from "node:assert/strict";
import {
  assistant,
  call,
  conversation,
  result,
  text,
  tool,
  user,
  writeBody,
} from "#test/support/translation/messages-exchange";

const compatible = { model: "glm-9", provider: "AnthropicCompatible" } as const;

describe("messages: writeRequest, cache marks", () => {
  const marked = (ttl?: string) => text("x", { cache: ttl === undefined ? {} : { ttl } });

  function marksOf(body: object): string[] {
    return [...JSON.stringify(body).matchAll(/"cache_control":(\{[^}]*\})/g)].map(([, mark]) => mark ?? "");
  }

  it("pitfall 106: keeps marks of texts, calls, results and tools", () => {
    const turns = [user(marked()), assistant(call("a", { cache: {} })), tool(result("a", "x", { cache: {} }))];
    const { body } = writeBody(conversation({ turns, tools: [{ kind: "function", name: "f", cache: {} }] }));
    assert.equal(marksOf(body).length, 4);
  });
  it("says times of other vendors in its own", () => {
    const turns = [user(marked("12h"), marked("1h"), marked("30m"), marked("5m"))];
    assert.deepEqual(
      marksOf(writeBody(conversation({ turns })).body).map((mark) => JSON.parse(mark).ttl),
      ["1h", "1h", "5m", "5m"],
    );
  });
  it("keeps the last four, declared, and one less beside the automatic mark", () => {
    const turns = [user(...["a", "b", "c", "d", "e"].map((content) => text(content, { cache: {} })))];
    const { body, dropped } = writeBody(conversation({ turns }));
    assert.equal(marksOf(body).length, 4);
    assert.equal(Object(body["messages"])[0].content[0].cache_control, undefined);
    assert.deepEqual(dropped, ["cache_control"]);
    assert.equal(marksOf(writeBody(conversation({ turns, automaticCache: {} })).body).length, 4);
  });
  it("counts the marks inside of results", () => {
    const inner = ["a", "b", "c"].map((content) => ({ kind: "text", text: content, cache: {} }) as const);
    const answer = { kind: "result", callId: "a", content: inner, cache: {} } as const;
    const turns = [user(marked()), assistant(call("a")), tool(answer)];
    const { body, dropped } = writeBody(conversation({ turns }));
    assert.equal(marksOf(body).length, 4);
    assert.deepEqual(dropped, ["cache_control"]);
  });
  it("never lets an hour stand behind five minutes", () => {
    const turns = [user(marked("1h"), marked(), marked("1h"))];
    assert.deepEqual(
      marksOf(writeBody(conversation({ turns })).body).map((mark) => JSON.parse(mark).ttl),
      ["1h", undefined, "5m"],
    );
  });
  it("names no times to compatible servers", () => {
    const turns = [user(marked("1h"))];
    assert.deepEqual(marksOf(writeBody(conversation({ turns }), compatible).body), ['{"type":"ephemeral"}']);
  });
  it("marks no empty text", () => {
    const turns = [user(text("", { cache: {} }), text("a"))];
    assert.deepEqual(marksOf(writeBody(conversation({ turns })).body), []);
  });
});
