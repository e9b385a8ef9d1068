/** What becomes of reservations and connections when a session ends while something of it is still awaited. */
import assert from "node:assert/strict";
import { afterEach, describe, it } from "mocha";
import type { UpstreamSide } from "#proxy/endpoints/realtime/session/realtime-session";
import { GatewayError } from "#proxy/errors";
import { frame } from "#test/support/realtime/raw-frames";
import { SessionBench } from "#test/support/realtime/session-bench";
import { waitFor, within } from "#test/support/wait-for";

describe("RealtimeSession", () => {
  let bench: SessionBench;
  afterEach(() => bench.close());

  const ask = frame('{"type":"response.create"}');

  for (const [name, leave] of [
    ["both sides break off", () => bench.close()],
    [
      "the client breaks off before the upstream does",
      () => {
        bench.client.destroy();
        bench.upstream.once("data", () => bench.upstream.destroy());
      },
    ],
  ] as const) {
    it(`gives back what is being reserved when ${name}, and reserves nothing more`, async () => {
      bench = await SessionBench.start();
      const running = bench.run();
      bench.client.write(Buffer.concat([ask, ask, ask]));
      await waitFor("the first to be reserved", () => bench.reserving === 1);
      leave();
      await waitFor("the ends", () => bench.isGone("client") && bench.isGone("upstream"));
      bench.reserve();
      await within(2_000, "the end of the session", running);
      assert.deepEqual(bench.ledger, ["released r1"]);
      assert.equal(bench.reserving, 0);
    });
  }

  it("reads no more of a client that does not read its refusals", async () => {
    bench = await SessionBench.start();
    bench.refusal = new GatewayError("invalid_json", "no");
    const running = bench.run();
    const count = 60_000;
    bench.client.pause();
    bench.client.write(Buffer.concat(Array<Buffer>(count).fill(frame("{"))));
    await waitFor("the client to wait", () => bench.isClientPaused && bench.waitingForClient > 0);
    // 256 KiB, and the refusals of what came in one read.
    assert.ok(bench.waitingForClient < 8 * 1024 ** 2, String(bench.waitingForClient));
    let told = 0;
    bench.client.on("data", (chunk: Buffer) => {
      told += chunk.toString("latin1").split("invalid_json").length - 1;
    });
    bench.client.resume();
    // A chunk may end inside of the word.
    await waitFor("all refusals", () => told > count * 0.99);
    bench.close();
    await running;
  });

  it("breaks off an upstream that opens when the client has left: nobody would wait for its close", async () => {
    let opened: (side: UpstreamSide) => void = () => undefined;
    let side: UpstreamSide | undefined;
    bench = await SessionBench.start((made) => {
      side = made;
      return new Promise((resolve) => {
        opened = resolve;
      });
    });
    const running = bench.runLate();
    bench.client.write(
      frame('{"type":"session.update","session":{"audio":{"input":{"transcription":{"model":"scribe"}}}}}'),
    );
    const made = await waitFor("the upstream to be asked for", () => side);
    // The far end never closes by itself.
    bench.upstream.removeAllListeners("end").resume();
    let isCut = false;
    bench.upstream.once("end", () => {
      isCut = true;
    });
    bench.client.destroy();
    await waitFor("the session to know", () => bench.isGone("client"));
    opened(made);
    await waitFor("the upstream's end", () => isCut);
    await waitFor("the first message to be reserved", () => bench.reserving === 1);
    bench.reserve();
    await within(2_000, "the end of the session", running);
    assert.deepEqual(bench.ledger, ["released r1"]);
  });
});
