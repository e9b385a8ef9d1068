import assert from "node:assert/strict";
import { parseUpMessage } from "../../../../proxy/snapshot/push/parse-message.ts";
import { UsageReport } from "../../../../proxy/sync/usage-report.ts";

describe("UsageReport", () => {
  it("counts by key, keeps the latest use and begins anew after a report", () => {
    const usage = new UsageReport();
    usage.note("team-a/one", 5);
    usage.note("team-a/one", 3);
    usage.note("team-a/two", 4);
    assert.deepEqual(usage.report()?.keys, [
      { key: "team-a/one", lastUsedAt: 5, requests: 2 },
      { key: "team-a/two", lastUsedAt: 4, requests: 1 },
    ]);
    assert.equal(usage.report(), undefined);
  });

  it("stays within what the operator reads, however many keys there are", () => {
    const usage = new UsageReport();
    for (let index = 0; index < 20_000; index += 1) usage.note(`team-a/key-${index}`, index);
    const report = usage.report();
    assert.equal(report?.keys.length, 10_000);
    assert.equal(parseUpMessage(JSON.parse(JSON.stringify(report))).type, "report");
  });
});
