import assert from "node:assert/strict";
import { describe, it } from "mocha";
import { type AccessRecord, createAccessLog } from "#proxy/observe/access-log";
import { zeroUsage } from "#proxy/settle/usage";
import type { Key } from "#proxy/snapshot/types.gen";

const key: Key = {
  kind: "key",
  namespace: "team",
  name: "bot",
  state: "Active",
  credentials: [],
  metadata: { cost: 'a"b' },
};
const record: AccessRecord = {
  timeMs: Date.UTC(2026, 10, 21, 12, 0, 0, 7),
  requestId: "req_1",
  key,
  clientAddress: "::1",
  format: "Messages",
  model: "claude",
  route: "team/claude",
  channel: "team/anthropic",
  isStream: true,
  status: 200,
  errorCode: undefined,
  end: "--",
  durationMs: 123.456,
  firstByteMs: 10,
  upstreamMs: 100.001,
  requestBytes: 10,
  responseBytes: 20,
  usage: { ...zeroUsage, input: 5, output: 7, reasoning: 2 },
  costNanos: 1_500_000_000n,
  isEstimated: true,
  attempts: 2,
  traceparent: "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
};

function lines(records: readonly AccessRecord[], format: "json" | "text"): string[] {
  let written = "";
  const log = createAccessLog({
    format,
    destination: {
      write: (text) => {
        written += text;
      },
    },
  });
  for (const each of records) log.write(each);
  log.close();
  return written.split("\n").slice(0, -1);
}

describe("access log", () => {
  it("writes one JSON line a request, with the allowed fields and no other", () => {
    assert.deepEqual(JSON.parse(lines([record], "json")[0] ?? ""), {
      time: "2026-11-21T12:00:00.007Z",
      request: "req_1",
      key: "team/bot",
      metadata: { cost: 'a"b' },
      client: "::1",
      format: "Messages",
      route: "team/claude",
      channel: "team/anthropic",
      model: "claude",
      stream: true,
      status: 200,
      end: "--",
      duration_ms: 123.46,
      first_byte_ms: 10,
      upstream_ms: 100,
      request_bytes: 10,
      response_bytes: 20,
      attempts: 2,
      tokens: { input: 5, output: 7, reasoning: 2 },
      cost_nanos: 1_500_000_000,
      estimated: true,
      traceparent: record.traceparent,
    });
  });

  it("writes what was used by the piece, and only that", () => {
    const units = {
      images: [
        { size: "1024x1024", quality: undefined, count: 2 },
        { size: "512x512", quality: undefined, count: 1 },
      ],
      audioMilliseconds: 12_500,
      characters: 40,
    };
    const { images, audio_seconds, characters } = JSON.parse(lines([{ ...record, units }], "json")[0] ?? "");
    assert.deepEqual([images, audio_seconds, characters], [3, 12.5, 40]);
    const one = Object.keys(JSON.parse(lines([{ ...record, units: { characters: 1 } }], "json")[0] ?? ""));
    assert.ok(one.includes("characters") && !one.includes("images") && !one.includes("audio_seconds"));
    assert.match(
      lines([{ ...record, units }], "text")[0] ?? "",
      / {2}3 images {2}12\.5 s of audio {2}40 characters {2}/,
    );
  });

  it("keeps hostile text inside its field, in one line", () => {
    const hostile = 'x","status":200}\n{"forged":true\u2028\u001b[2J';
    const [line, ...others] = lines(
      [{ ...record, model: hostile, requestId: hostile, clientAddress: hostile, traceparent: hostile }],
      "json",
    );
    assert.deepEqual(others, []);
    assert.equal(JSON.parse(line ?? "").model, hostile);
    const text = lines([{ ...record, model: `${hostile}\u009b2J\u202e` }], "text");
    assert.equal(text.length, 1);
    assert.equal(/[\u001b\u0080-\u009f\u2028\u202e]/.test(text[0] ?? ""), false);
  });

  it("leaves out what a refused request never had", () => {
    const refused = {
      ...record,
      key: undefined,
      model: undefined,
      route: "",
      channel: "",
      firstByteMs: undefined,
      upstreamMs: undefined,
      usage: undefined,
      costNanos: undefined,
      isEstimated: false,
      traceparent: undefined,
      status: 401,
      errorCode: "unknown_key",
      end: "PR",
    } as const;
    const line = JSON.parse(lines([refused], "json")[0] ?? "");
    assert.deepEqual(Object.keys(line), [
      "time",
      "request",
      "client",
      "format",
      "stream",
      "status",
      "error",
      "end",
      "duration_ms",
      "request_bytes",
      "response_bytes",
      "attempts",
    ]);
  });

  it("follows the clock across seconds", () => {
    const times = lines(
      [record, { ...record, timeMs: record.timeMs + 995 }, { ...record, timeMs: record.timeMs + 60_000 }],
      "json",
    ).map((line) => JSON.parse(line).time);
    assert.deepEqual(times, ["2026-11-21T12:00:00.007Z", "2026-11-21T12:00:01.002Z", "2026-11-21T12:01:00.007Z"]);
  });

  it("is readable as text", () => {
    assert.equal(
      lines([record], "text")[0],
      "12:00:00.007  200  team/bot  Messages claude  -> team/anthropic  5+9 tokens (estimated)  1.5 credits  123 ms  " +
        '{"cost":"a\\"b"}',
    );
  });
});
