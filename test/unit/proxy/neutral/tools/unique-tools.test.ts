import assert from "node:assert/strict";
import { GatewayError } from "#proxy/errors";
import { Losses } from "#proxy/neutral/losses/losses";
import { uniqueTools } from "#proxy/neutral/tools/unique-tools";

describe("uniqueTools()", () => {
  const tools = [
    { kind: "function", name: "f", description: "old", where: "tools[0].function" },
    { kind: "hosted", tool: "web-search", type: "web_search" },
    { kind: "custom", name: "g" },
    { kind: "function", name: "f", description: "new" },
    { kind: "hosted", tool: "web-search", type: "web_search" },
  ] as const;

  it("keeps the last of several tools with one name, and every provider-run tool, and says what is left out", () => {
    const losses = new Losses("Ignore");
    assert.deepEqual(uniqueTools(tools, losses), tools.slice(1));
    assert.deepEqual(losses.dropped, ["tools[0].function"]);
  });

  it("refuses them where the channel rejects what is left out", () => {
    assert.throws(
      () => uniqueTools(tools, new Losses("Reject")),
      (error) => error instanceof GatewayError && error.param === "tools[0].function",
    );
  });
});
