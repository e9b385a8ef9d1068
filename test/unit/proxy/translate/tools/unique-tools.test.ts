import assert from "node:assert/strict";
import { uniqueTools } from "../../../../../proxy/translate/tools/unique-tools.ts";

describe("uniqueTools()", () => {
  it("keeps the last of several tools with one name, and every provider-run tool", () => {
    const tools = [
      { kind: "function", name: "f", description: "old" },
      { kind: "hosted", tool: "web-search", type: "web_search" },
      { kind: "custom", name: "g" },
      { kind: "function", name: "f", description: "new" },
      { kind: "hosted", tool: "web-search", type: "web_search" },
    ] as const;
    assert.deepEqual(uniqueTools(tools), tools.slice(1));
  });
});
