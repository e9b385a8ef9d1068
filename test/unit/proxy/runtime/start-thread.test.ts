import assert from "node:assert/strict";
import { once } from "node:events";
import { describe, it } from "mocha";
import { startThread } from "#proxy/runtime/start-thread";

describe("startThread()", function () {
  this.timeout(20_000);

  it("starts a thread whose young objects stay few, whatever it allocates", async () => {
    const thread = startThread("../../../support/allocating-thread", import.meta.url);
    const [bytes] = await once(thread, "message");
    assert.ok(bytes > 0 && bytes < 8 * 1024 * 1024, `${bytes} bytes`);
    await thread.terminate();
  });
});
