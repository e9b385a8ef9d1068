/** Frames that break RFC 6455, lie about their length or never end: each closes its own session and harms no other. */
import assert from "node:assert/strict";
import { describe, it } from "mocha";
import { closeCodeOf, frame, rawRealtime } from "#test/support/realtime/raw-frames";
import { type RealtimeRig, useRealtimeRig } from "#test/support/realtime/realtime-rig";
import { waitFor } from "#test/support/wait-for";

const MiB = 1024 * 1024;
const clear = '{"type":"input_audio_buffer.clear"}';
const badText = Buffer.from([0x7b, 0x22, 0xff, 0xfe, 0x22, 0x7d]);
const closeOf = (code: number, reason: Buffer | string = ""): Buffer =>
  Buffer.concat([Buffer.from([code >> 8, code & 0xff]), Buffer.from(reason)]);

const rows: readonly (readonly [name: string, bytes: Buffer, code: number])[] = [
  ["a frame without a mask", frame(clear, { isMasked: false }), 1002],
  ["RSV1, which no extension was agreed for", frame(clear, { reserved: 4 }), 1002],
  ["RSV2", frame(clear, { reserved: 2 }), 1002],
  ["RSV3", frame(clear, { reserved: 1 }), 1002],
  ["a reserved opcode", frame(clear, { opcode: 3 }), 1002],
  ["a reserved control opcode", frame("", { opcode: 11 }), 1002],
  ["a ping in fragments", frame("", { opcode: 9, isFinal: false }), 1002],
  ["a ping of 126 bytes", frame("p".repeat(126), { opcode: 9 }), 1002],
  ["a close in fragments", frame(closeOf(1000), { opcode: 8, isFinal: false }), 1002],
  ["a continuation of nothing", frame(clear, { opcode: 0 }), 1002],
  ["a message inside another", Buffer.concat([frame("{", { isFinal: false }), frame(clear)]), 1002],
  ["a length of seven bits in two bytes", frame(clear, { lengthBytes: 2 }), 1002],
  ["a length of seven bits in eight bytes", frame(clear, { lengthBytes: 8 }), 1002],
  ["a length of two bytes in eight", frame("x".repeat(300), { lengthBytes: 8 }), 1002],
  ["text that is not UTF-8", frame(badText), 1007],
  [
    "text that is not UTF-8 over two frames",
    Buffer.concat([frame(Buffer.from([0x7b, 0xe2, 0x82]), { isFinal: false }), frame("}", { opcode: 0 })]),
    1007,
  ],
  ["a close of one byte", frame(Buffer.from([3]), { opcode: 8 }), 1002],
  ["a close with a code that is never sent", frame(closeOf(1005), { opcode: 8 }), 1002],
  ["a close with a code of nobody", frame(closeOf(999), { opcode: 8 }), 1002],
  ["a close whose reason is not UTF-8", frame(closeOf(1000, badText), { opcode: 8 }), 1007],
  ["a frame that says it is 2^63 bytes long", frame("x", { declared: 2n ** 63n }), 1009],
  ["a frame that says it is 4 GiB long", frame("x", { declared: 2n ** 32n }), 1009],
  ["a frame that says it is a byte too long", frame("x", { declared: BigInt(MiB) + 1n }), 1009],
  [
    "fragments that are too long together",
    Buffer.concat([frame("x".repeat(MiB), { isFinal: false }), frame("x", { opcode: 0 })]),
    1009,
  ],
  [
    "fragments without end",
    Buffer.concat([
      frame("", { isFinal: false }),
      ...Array.from({ length: 140_000 }, () => frame("", { opcode: 0, isFinal: false })),
    ]),
    1008,
  ],
];

describe("frames of a WebSocket", function () {
  this.timeout(30_000);
  let rig: RealtimeRig;
  useRealtimeRig({ flags: ["--limits-realtime-message=1MiB"] }, (started) => {
    rig = started;
  });

  for (const [name, bytes, code] of rows) {
    it(`${name}: ${code}, and nothing of it reaches the upstream`, async () => {
      const client = await rawRealtime(rig.gateway.port);
      const { session } = rig.upstream;
      client.write(bytes);
      const received = await client.readUntil("the close", (all) => closeCodeOf(all) !== undefined);
      assert.equal(closeCodeOf(received), code);
      await waitFor("the upstream's close", () => session.closed);
      assert.equal(session.texts.length, 0);
      client.close();
    });
  }

  it("a frame that is cut short by the client's end ends the session", async () => {
    const client = await rawRealtime(rig.gateway.port);
    const { session } = rig.upstream;
    client.write(frame(clear).subarray(0, 10));
    client.end();
    await waitFor("the upstream's close", () => session.closed);
    assert.equal(session.texts.length, 0);
    client.close();
  });

  it("a message in frames of one byte, each byte in a packet of its own, passes whole", async () => {
    const client = await rawRealtime(rig.gateway.port);
    const { session } = rig.upstream;
    const last = clear.length - 1;
    const frames = [...clear].map((letter, index) =>
      frame(letter, { opcode: index === 0 ? 1 : 0, isFinal: index === last }),
    );
    await client.writeInPieces(Buffer.concat(frames), 1);
    await session.waitFor("input_audio_buffer.clear");
    assert.deepEqual(session.texts, [clear]);
    client.close();
  });

  it("what an upstream breaks is told to the client as the upstream's fault", async () => {
    for (const bytes of [
      frame(clear),
      frame(clear, { isMasked: false, reserved: 4 }),
      frame(badText, { isMasked: false }),
    ]) {
      const client = await rig.connect();
      await client.waitFor("session.created");
      rig.upstream.session.raw.write(bytes);
      const { code } = await client.waitClosed();
      assert.equal(code, 1011);
      assert.equal(client.lastError["code"], "upstream_error");
    }
  });

  it("a hundred sessions that send nothing are counted, and one more is served beside them", async () => {
    const clients = await Promise.all(Array.from({ length: 100 }, () => rig.connect()));
    assert.equal(await rig.gateway.metric("tollgate_requests_in_flight"), 100);
    const one = await rig.connect();
    one.send({ type: "response.create" });
    await one.waitFor("response.done");
    assert.ok(clients.every(({ closed }) => closed === undefined));
  });
});

describe("more sessions than a proxy takes", function () {
  this.timeout(30_000);
  let rig: RealtimeRig;
  useRealtimeRig({ flags: ["--limits-in-flight-requests=3", "--limits-in-flight-bytes=4MiB"] }, (started) => {
    rig = started;
  });

  it("hold no more of unfinished messages together than bodies may", async () => {
    const clients = await Promise.all([rawRealtime(rig.gateway.port), rawRealtime(rig.gateway.port)]);
    const half = frame("x".repeat(3 * MiB), { declared: 8n * BigInt(MiB) });
    for (const client of clients) client.write(half);
    await waitFor("one of them to be closed", () => clients.some(({ received }) => closeCodeOf(received) === 1013));
    for (const client of clients) client.close();
  });

  it("are refused with 503, and those that are open go on", async () => {
    const open = await Promise.all([rig.connect(), rig.connect(), rig.connect()]);
    const refused = await rig.refused();
    assert.equal(refused.status, 503);
    assert.equal(JSON.parse(refused.body).error.code, "overloaded");
    for (const client of open) {
      client.send({ type: "response.create" });
      await client.waitFor("response.done");
    }
  });
});
