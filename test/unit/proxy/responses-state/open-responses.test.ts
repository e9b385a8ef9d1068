import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { openResponses } from "#proxy/responses-state/open-responses";
import { EmbeddedResponses } from "#proxy/responses-state/store/embedded-responses";
import { MemoryResponses } from "#proxy/responses-state/store/memory-responses";

describe("openResponses()", () => {
  const folder = mkdtempSync(path.join(tmpdir(), "tollgate-responses-"));
  after(() => rmSync(folder, { recursive: true, force: true }));

  it("keeps on disk where there is a data folder", async () => {
    const warnings: string[] = [];
    const store = await openResponses({ dataFolder: folder }, { warn: (message) => warnings.push(message) });
    assert.ok(store instanceof EmbeddedResponses);
    assert.deepEqual(warnings, []);
    await store.close();
  });

  it("keeps in memory where there is none to write to, and says so", async () => {
    const file = path.join(folder, "file");
    writeFileSync(file, "");
    const warnings: string[] = [];
    const store = await openResponses({ dataFolder: file }, { warn: (message) => warnings.push(message) });
    assert.ok(store instanceof MemoryResponses);
    assert.equal(warnings.length, 1);
  });
});
