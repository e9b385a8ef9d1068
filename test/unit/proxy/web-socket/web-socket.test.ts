/** Frames pass from one connection to another as they came, in order, however slow the reader is. */
import assert from "node:assert/strict";
import { type AddressInfo, connect, createServer, type Server, type Socket } from "node:net";
import { afterEach, beforeEach, describe, it } from "mocha";
import { WebSocketConnection, type WebSocketListener } from "#proxy/web-socket/web-socket";
import { frame } from "#test/support/realtime/raw-frames";
import { waitFor } from "#test/support/wait-for";

const silent: WebSocketListener = {
  onMessage: () => undefined,
  onReadEnd: () => undefined,
  onDrained: () => undefined,
  onClosed: () => undefined,
};

describe("WebSocketConnection", () => {
  let server: Server;
  let ours: Socket;
  let theirs: Socket;
  let connection: WebSocketConnection;

  beforeEach(async () => {
    server = createServer();
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const accepted = new Promise<Socket>((resolve) => server.once("connection", resolve));
    const { port } = server.address() as AddressInfo;
    theirs = connect(port, "127.0.0.1");
    ours = await accepted;
    connection = new WebSocketConnection(ours, Buffer.alloc(0), { role: "server", messageBytesMax: 1_000_000 });
    ours.on("data", (chunk: Buffer) => connection.receive(chunk));
  });
  afterEach(() => {
    theirs.destroy();
    ours.destroy();
    server.close();
  });

  it("sends frames that lie in memory which is written into again, while its reader takes nothing", async () => {
    theirs.pause();
    connection.listen(silent);
    const memory = Buffer.alloc(16 * 1024);
    const wanted: Buffer[] = [];
    for (let count = 0; count < 1_000; count += 1) {
      const bytes = frame(String(count % 10).repeat(5_000), { isMasked: false });
      bytes.copy(memory);
      connection.pass(memory.subarray(0, bytes.length));
      connection.flush();
      wanted.push(bytes);
    }
    assert.ok(connection.waitingBytes > 0, "the kernel took all: this proves nothing");
    const received: Buffer[] = [];
    theirs.on("data", (chunk: Buffer) => received.push(chunk)).resume();
    const whole = Buffer.concat(wanted);
    await waitFor("all", () => received.reduce((bytes, { length }) => bytes + length, 0) === whole.length);
    assert.ok(Buffer.concat(received).equals(whole));
  });

  it("sends what lies side by side in one write, before anything of its own", async () => {
    connection.listen(silent);
    const [one, two] = [frame("one", { isMasked: false }), frame("two", { isMasked: false })];
    const memory = Buffer.concat([one, two]);
    connection.pass(memory.subarray(0, one.length));
    connection.pass(memory.subarray(one.length));
    assert.equal(ours.bytesWritten, 0);
    connection.send("three");
    const received: Buffer[] = [];
    theirs.on("data", (chunk: Buffer) => received.push(chunk));
    const wanted = Buffer.concat([memory, frame("three", { isMasked: false })]);
    await waitFor("all", () => Buffer.concat(received).length === wanted.length);
    assert.ok(Buffer.concat(received).equals(wanted));
  });

  it("reads what came before anybody listened, in order", async () => {
    const told: string[] = [];
    connection.receive(frame("one"));
    connection.receive(frame("two"));
    connection.listen({ ...silent, onMessage: (payload) => told.push(payload.toString()) });
    connection.receive(frame("three"));
    await waitFor("all", () => told.length === 3);
    assert.deepEqual(told, ["one", "two", "three"]);
  });

  it("answers the last of many pings that came together", async () => {
    connection.listen(silent);
    const received: Buffer[] = [];
    theirs.on("data", (chunk: Buffer) => received.push(chunk));
    await new Promise<void>((resolve) => process.nextTick(resolve));
    connection.receive(Buffer.concat(["a", "b", "c"].map((text) => frame(text, { opcode: 9 }))));
    connection.receive(frame("d", { opcode: 9 }));
    const wanted = Buffer.concat(["c", "d"].map((text) => frame(text, { opcode: 10, isMasked: false })));
    await waitFor("the pongs", () => Buffer.concat(received).length >= wanted.length);
    assert.ok(Buffer.concat(received).equals(wanted));
  });

  it("ends the read also where what it tells throws: the memory is read into again", async () => {
    let ends = 0;
    connection.listen({
      ...silent,
      onMessage: () => {
        throw new Error("our own fault");
      },
      onReadEnd: () => {
        ends += 1;
      },
    });
    await new Promise<void>((resolve) => process.nextTick(resolve));
    assert.throws(() => connection.receive(frame("one")), /our own fault/);
    assert.equal(ends, 1);
  });

  for (const [name, bytes, wanted] of [
    ["a close that the other side says", frame(Buffer.from([0x03, 0xea]), { opcode: 8 }), [1002, "", false]],
    ["a violation", frame("x", { reserved: 4 }), [1002, "", true]],
  ] as const) {
    it(`tells ${name} as such`, async () => {
      let closed: readonly [number, string, boolean] | undefined;
      connection.listen({
        ...silent,
        onClosed: (...all) => {
          closed = all;
        },
      });
      theirs.resume().write(bytes);
      await waitFor("the end", () => closed);
      assert.deepEqual(closed, wanted);
    });
  }

  it("answers pings with what they hold, and a close with its code", async () => {
    let closed: readonly [number, string] | undefined;
    connection.listen({
      ...silent,
      onClosed: (code, reason) => {
        closed = [code, reason];
      },
    });
    const received: Buffer[] = [];
    theirs.on("data", (chunk: Buffer) => received.push(chunk));
    theirs.write(frame("are you there", { opcode: 9 }));
    theirs.write(frame(Buffer.from([0x0f, 0xa0, 0x62, 0x79, 0x65]), { opcode: 8 }));
    await waitFor("the end", () => closed);
    assert.deepEqual(closed, [4_000, "bye"]);
    const pong = frame("are you there", { opcode: 10, isMasked: false });
    const close = frame(Buffer.from([0x0f, 0xa0]), { opcode: 8, isMasked: false });
    assert.ok(Buffer.concat(received).equals(Buffer.concat([pong, close])));
  });
});
