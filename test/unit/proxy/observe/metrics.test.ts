import assert from "node:assert/strict";
import { afterEach, beforeEach, describe, it } from "mocha";
import { zeroCounts } from "#proxy/admit/count/ledger-counts";
import { BucketHistogram } from "#proxy/observe/bucket-histogram";
import { ProxyMetrics } from "#proxy/observe/metrics";
import { RequestRecord } from "#proxy/observe/request-record";
import { zeroUsage } from "#proxy/settle/usage";

describe("ProxyMetrics", () => {
  let metrics: ProxyMetrics;

  beforeEach(() => {
    metrics = new ProxyMetrics();
  });

  afterEach(() => metrics.close());

  async function own(): Promise<string[]> {
    return (await metrics.render()).split("\n").filter((line) => line.startsWith("tollgate_"));
  }

  it("shows requests, tokens, cost and durations by closed labels", async () => {
    const slot = metrics.slot("team/gpt", "team/openai", "ChatCompletions");
    slot.finish("ok", 120, 30, 10, 0.4);
    slot.finish("rate_limited", 1, Number.NaN, Number.NaN, 0.2);
    slot.consume({ ...zeroUsage, input: 100, output: 50 }, 1_500_000_001n, true);
    metrics.attempt("team/openai", "ok");
    metrics.quotaDecision("reserved");
    metrics.ledgerTook("reserve", 0.2);
    metrics.requestStarted();
    const lines = await own();
    const place = 'route="team/gpt",channel="team/openai",format="ChatCompletions"';
    for (const line of [
      `tollgate_requests_total{${place},outcome="ok"} 1`,
      `tollgate_requests_total{${place},outcome="rate_limited"} 1`,
      `tollgate_tokens_total{${place},class="input"} 100`,
      `tollgate_tokens_total{${place},class="output"} 50`,
      `tollgate_cost_credits_total{${place}} 1.500000001`,
      `tollgate_usage_estimated_total{${place}} 1`,
      `tollgate_quota_decisions_total{decision="reserved"} 1`,
      'tollgate_upstream_attempts_total{channel="team/openai",outcome="ok"} 1',
      'tollgate_request_duration_seconds_count{channel="team/openai",format="ChatCompletions"} 2',
      'tollgate_time_to_first_token_seconds_count{channel="team/openai",format="ChatCompletions"} 1',
      'tollgate_ledger_operation_seconds_count{operation="reserve"} 1',
      "tollgate_requests_in_flight 1",
    ]) {
      assert.ok(lines.includes(line), `${line}\nnot in\n${lines.join("\n")}`);
    }
  });

  it("shows the state of a shared store, and nothing where there is none", async () => {
    const shown = async (): Promise<string[]> =>
      (await own()).filter((line) => /^tollgate_ledger_(store|undelivered|lost)/.test(line));
    const ledger = { openCount: 0, counts: zeroCounts() };
    metrics.watchLedger(() => ledger);
    assert.deepEqual(await shown(), []);
    metrics.watchLedger(() => ({ ...ledger, shared: { isUsable: false, undelivered: 3, lost: 2 } }));
    assert.deepEqual((await shown()).sort(), [
      "tollgate_ledger_lost_total 2",
      "tollgate_ledger_store_usable 0",
      "tollgate_ledger_undelivered 3",
    ]);
  });

  it("shows the state of the configuration once it is watched", async () => {
    assert.equal(
      (await own()).some((line) => line.startsWith("tollgate_config_revision ")),
      false,
    );
    metrics.watchConfig(() => ({
      revision: 7,
      silentForMs: 1_500,
      ageMs: undefined,
      rejects: 2,
      keyCount: 3,
      isConnected: true,
      isStale: true,
    }));
    const lines = await own();
    for (const line of [
      "tollgate_config_revision 7",
      "tollgate_config_silent_seconds 1.5",
      "tollgate_config_rejects_total 2",
      "tollgate_config_keys 3",
      "tollgate_config_connected 1",
      "tollgate_config_stale 1",
    ]) {
      assert.ok(lines.includes(line), line);
    }
  });

  it("has a bounded number of series, whatever runs away", async () => {
    for (let index = 0; index < 6_000; index += 1)
      metrics.slot(`ns/r${index}`, "ns/c", "Messages").finish("ok", 1, 1, 1, 1);
    const lines = (await own()).filter((line) => line.startsWith("tollgate_requests_total"));
    assert.equal(lines.length, 5_001);
    assert.ok(lines.some((line) => line.includes('route="other"') && line.endsWith(" 1000")));
  });

  it("counts what was used by the piece where something was", async () => {
    const record = new RequestRecord("req_1", performance.now(), Date.now());
    Object.assign(record, { route: "team/pictures", channel: "team/openai", format: "ChatCompletions" });
    record.units = { images: [{ size: undefined, quality: undefined, count: 3 }], audioMilliseconds: 1_500 };
    record.report(metrics, undefined);
    const lines = (await own()).filter((line) => line.includes('route="team/pictures"'));
    const labels = 'route="team/pictures",channel="team/openai",format="ChatCompletions"';
    assert.ok(lines.includes(`tollgate_images_total{${labels}} 3`), lines.join("\n"));
    assert.ok(lines.includes(`tollgate_audio_seconds_total{${labels}} 1.5`));
    assert.ok(!lines.some((line) => line.startsWith("tollgate_characters_total")));
  });

  it("keeps each slot", () => {
    assert.equal(metrics.slot("a", "b", "Models"), metrics.slot("a", "b", "Models"));
    assert.notEqual(metrics.slot("a", "b", "Models"), metrics.slot("a", "b", "None"));
  });

  it("records a request in far less than a microsecond's worth of work", () => {
    const slot = metrics.slot("a", "b", "ChatCompletions");
    const rounds = 100_000;
    const usage = { ...zeroUsage, input: 100, output: 50 };
    const measure = (): number => {
      const startedAt = process.hrtime.bigint();
      for (let index = 0; index < rounds; index += 1) {
        slot.finish("ok", 120, 30, 10, 0.4);
        slot.consume(usage, 12_345n, false);
      }
      return Number(process.hrtime.bigint() - startedAt) / rounds;
    };
    const bestNs = Math.min(...Array.from({ length: 5 }, measure));
    assert.ok(bestNs < 1_000, `${bestNs} ns`);
  });
});

describe("BucketHistogram", () => {
  for (const row of [
    { name: "a value on a bound in its bucket", value: 10, want: [1, 1, 1] },
    { name: "a value between bounds in the higher bucket", value: 10.1, want: [0, 1, 1] },
    { name: "a value above all bounds in the last", value: 1_000, want: [0, 0, 1] },
    { name: "no value that is not a number", value: Number.NaN, want: [0, 0, 0] },
    { name: "no value below zero", value: -1, want: [0, 0, 0] },
  ]) {
    it(`counts ${row.name}`, () => {
      const histogram = new BucketHistogram([0.01, 0.1]);
      histogram.observe(row.value);
      assert.deepEqual(histogram.cumulative(), row.want);
    });
  }
});
