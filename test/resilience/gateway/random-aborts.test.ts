/**
 * docs/design/reliability.md H3: thousands of clients that leave at random points leave nothing behind and are billed
 * what was produced.
 */
import assert from "node:assert/strict";
import { readdirSync } from "node:fs";
import { encode } from "gpt-tokenizer/encoding/o200k_base";
import { after, before, describe, it } from "mocha";
import { chunk, streamHead } from "#test/support/resilience/byte-upstream";
import { type FormatUnderTest, formatOf, formats } from "#test/support/resilience/formats";
import { apiKey, channel, route, secret } from "#test/support/resilience/manifests";
import { proxyProcessOf, residentBytes } from "#test/support/resilience/processes";
import { type Rig, startRig } from "#test/support/resilience/rig";
import { waitFor } from "#test/support/wait-for";

const clients = 2_000;
const atOnce = 48;
const prompt = "count the words of this and then say all of them again please";

describe("many clients that leave at random", function () {
  this.timeout(120_000);
  let rig: Rig;

  before(async () => {
    const limits = [{ name: "tokens", unit: "Tokens", limit: "1G", period: "Day" }];
    rig = await startRig({
      objects: ([port = 0]) => [
        secret(),
        apiKey("main", { limits, concurrency: { maxInFlight: 1000 } }),
        channel("c0", port),
        route("echo", ["c0"]),
      ],
      flags: ["--logs-level=warn"],
    });
  });
  after(() => rig?.close());

  it(`leave nothing reserved, open or unbilled: ${clients} of them`, async () => {
    const known = new Map(
      formats.map((format) => [
        format,
        format.events(prompt).map((event) => ({
          bytes: chunk(event),
          length: Buffer.byteLength(event),
          tokens: encode(textOf(event)).length,
        })),
      ]),
    );
    const eventsOf = (format: FormatUnderTest) => known.get(format) ?? [];
    const proxy = await proxyProcessOf(rig.gateway);
    let wholeReplies = 0;
    rig.upstream.replyWith(({ socket, head }) => {
      const events = eventsOf(formatOf(head));
      socket.write(streamHead);
      let index = 0;
      const next = (): void => {
        if (socket.destroyed || socket.readableEnded || index > events.length) return;
        if (index === events.length) {
          socket.write(chunk(""));
          wholeReplies += 1;
        } else {
          socket.write(events[index]?.bytes ?? "");
        }
        index += 1;
        setTimeout(next, 5);
      };
      next();
    });
    // The first connections and threads are not leaks.
    await Promise.all(formats.map((format) => rig.call({ format })));
    await rig.settleDown();
    const filesBefore = readdirSync(`/proc/${proxy}/fd`).length;
    const warmUp = rig.gateway.accessLog.length;
    let started = 0;
    const one = async (): Promise<void> => {
      while (started < clients) {
        const format = formats[started % formats.length];
        started += 1;
        if (format === undefined) return;
        const client = await rig.open({ format, prompt });
        await new Promise((resolve) => setTimeout(resolve, Math.random() * 250));
        if (Math.random() < 0.5) client.reset();
        else client.close();
      }
    };
    await Promise.all(Array.from({ length: atOnce }, one));
    await rig.settleDown();
    // A reset may overtake its own request: what the proxy never saw has no line.
    const served = (await rig.gateway.metric("tollgate_requests_total")) - warmUp;
    const lines = await waitFor("all access lines", () => {
      const all = rig.gateway.accessLog.slice(warmUp);
      return all.length === served && all;
    });
    assert.ok(served > clients / 2);
    await waitFor("upstream connections to close", () => rig.upstream.openConnections <= 4, { deadlineMs: 10_000 });
    await waitFor("the proxy's sockets to close", () => readdirSync(`/proc/${proxy}/fd`).length <= filesBefore + 4, {
      deadlineMs: 10_000,
    });
    // What went to the client says how far its stream had come: its bytes end with an event.
    const outputOf = (line: Record<string, unknown>): number =>
      Number(Reflect.get(Object(line["tokens"]), "output") ?? 0);
    const cut = lines.filter((line) => line["end"] !== "--");
    const charged = cut.reduce((sum, line) => sum + outputOf(line), 0);
    const forwarded = cut.reduce((sum, line) => {
      let left = Number(line["response_bytes"]);
      for (const event of eventsOf(formatOfLine(line))) {
        if (left <= 0) break;
        left -= event.length;
        sum += event.tokens;
      }
      return sum;
    }, 0);
    const share = Math.abs(charged - forwarded) / forwarded;
    const ends = new Map<string, number>();
    for (const line of lines) ends.set(String(line["end"]), (ends.get(String(line["end"])) ?? 0) + 1);
    console.log(`      ends ${JSON.stringify(Object.fromEntries(ends))}, whole replies ${wholeReplies}`);
    console.log(
      `      charged ${charged} output tokens for ${cut.length} cut streams, forwarded ${forwarded}, apart ${(share * 100).toFixed(2)} %, limit 2 %`,
    );
    console.log(`      RSS ${Math.round(residentBytes(proxy) / 1e6)} MB`);
    assert.ok(share <= 0.02);
  });
});

function textOf(event: string): string {
  const data = /data: (.*)/.exec(event)?.[1] ?? "";
  if (/"type":"response\.(output_text\.done|content_part|output_item|completed|created|in_progress)/.test(data))
    return "";
  return JSON.parse(/"(?:content|text|delta)":("(?:[^"\\]|\\.)*")/.exec(data)?.[1] ?? '""');
}

function formatOfLine(line: Record<string, unknown>): FormatUnderTest {
  const known = formats.find(({ name }) => name === line["format"]);
  if (known === undefined) throw new TypeError("a line without a format");
  return known;
}
