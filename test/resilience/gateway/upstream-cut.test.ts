/**
 * docs/design/reliability.md G3: a stream cut at every byte never looks complete, and what was whole has been
 * forwarded.
 */
import assert from "node:assert/strict";
import { after, before, describe, it } from "mocha";
import { chunk, streamHead } from "#test/support/resilience/byte-upstream";
import type { Answer } from "#test/support/resilience/call-gateway";
import { type FormatUnderTest, formats } from "#test/support/resilience/formats";
import { type Rig, startRig } from "#test/support/resilience/rig";
import { waitFor } from "#test/support/wait-for";

type CutKind = "fin" | "reset" | "fin without chunks";

describe("an upstream that breaks off at any byte", function () {
  this.timeout(120_000);
  let rig: Rig;

  before(async () => {
    rig = await startRig({ flags: ["--logs-level=silent", "--no-logs-access"] });
  });

  after(() => rig?.close());

  for (const format of formats) {
    for (const kind of ["fin", "reset", "fin without chunks"] as const) {
      // The two that look most alike to a client get every offset; the third a sample.
      const step = kind === "reset" ? 11 : kind === "fin" ? 5 : 1;
      it(`never makes ${format.name} look complete when cut by ${kind}, every ${step} bytes`, async () => {
        const events = format.events("ab");
        const wire = wireOf(events, kind);
        const completeFrom = completeOffset(wire, format);
        let cuts = 0;
        let begun = 0;
        const failures: string[] = [];
        for (let offset = 0; offset < wire.length; offset += step) {
          rig.upstream.replyWith(({ socket }) => {
            socket.write(wire.subarray(0, offset), () => (kind === "reset" ? socket.resetAndDestroy() : socket.end()));
          });
          const answer = await rig.call({ format });
          // A reset may overtake bytes that were sent before it.
          const sent = kind === "reset" ? undefined : wire.subarray(0, offset).toString("latin1");
          const problem = judge(answer, format, events, sent, offset >= completeFrom);
          if (answer.status === 200) begun += 1;
          if (problem !== undefined) failures.push(`offset ${offset}: ${problem}`);
          cuts += 1;
        }
        console.log(`      cuts ${cuts}, that looked complete or lost an event: ${failures.length}`);
        assert.deepEqual(failures.slice(0, 5), []);
        assert.ok(begun > cuts / 2, "most cuts came after the first event");
      });
    }
  }

  it("leaves nothing reserved or open", async () => {
    await rig.settleDown();
    await waitFor("all upstream connections to close", () => rig.upstream.openConnections === 0);
  });
});

function wireOf(events: readonly string[], kind: CutKind): Buffer {
  if (kind === "fin without chunks") {
    return Buffer.from(`HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\r\n${events.join("")}`);
  }
  return Buffer.concat([Buffer.from(streamHead), ...events.map((event) => chunk(event)), chunk("")]);
}

/** From here on the upstream has said all that makes the answer complete. */
function completeOffset(wire: Buffer, format: FormatUnderTest): number {
  return wire.indexOf(format.terminator) + format.terminator.length;
}

/**
 * @param sent all that certainly arrived; undefined where that is not known
 * @param mayEnd the upstream has said all that makes the answer complete
 * @returns what is wrong with the client's answer
 */
function judge(
  answer: Answer,
  format: FormatUnderTest,
  events: readonly string[],
  sent: string | undefined,
  mayEnd: boolean,
): string | undefined {
  if (answer.status !== 200) {
    if (answer.status !== 502) return `status ${answer.status}`;
    return mayEnd && sent !== undefined ? "an error although all had come" : undefined;
  }
  const lost = sent === undefined ? undefined : events.find((event) => sent.includes(event) && !holds(answer, event));
  if (lost !== undefined) return `an event that was whole is missing: ${lost.slice(0, 80)}`;
  const showsEnd = answer.text.includes(format.terminator);
  if (showsEnd && !mayEnd) return "a terminator that never came";
  const hasFailed = format.errorEvent.test(answer.text);
  if (!showsEnd && !hasFailed) return `no error event: ${answer.text.slice(-200)}`;
  // Google's streams have no terminator but the end of the body: what ends uncleanly has not ended.
  const isWhole = showsEnd && !(hasFailed && !format.failsCleanly);
  if (isWhole && hasFailed) return "a terminator and an error event";
  const endsCleanly = isWhole || format.failsCleanly;
  if (answer.isComplete !== endsCleanly) return endsCleanly ? "no clean end" : "a clean end";
  return undefined;
}

function holds(answer: Answer, event: string): boolean {
  return answer.text.includes(event.trimEnd());
}
