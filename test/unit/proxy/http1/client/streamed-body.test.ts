/** Bodies that are sent piece by piece, by both upstreams: connections of our own, and undici's for channels with a proxy. */
import assert from "node:assert/strict";
import { createServer, type Server, type Socket } from "node:net";
import { Pool } from "undici";
import { ConnectionPool } from "#proxy/http1/client/connection-pool";
import type { StreamedBody, Upstream, UpstreamControl } from "#proxy/http1/client/upstream";
import { armDeadline } from "#proxy/runtime/deadlines";
import { EgressPolicy } from "#proxy/snapshot/egress-policy";
import { guardedLookup } from "#proxy/upstream/pools/guarded-connector";
import { UndiciUpstream } from "#proxy/upstream/pools/undici-upstream";
import { waitFor, within } from "#test/support/wait-for";

const answer = (text: string): string => `HTTP/1.1 200 OK\r\ncontent-length: ${text.length}\r\n\r\n${text}`;
const pieceBytes = 100_000;

/** A body whose pieces share their memory, which tells how often it was asked. */
class CountedBody implements StreamedBody {
  readonly length: number;
  asked = 0;
  /** Readers that were opened and are not closed. */
  open = 0;
  readonly #pieces: number;
  readonly #failsAt: number;

  /** @param pieces that really come @param failsAt the number of the piece that cannot be read */
  constructor(length: number, pieces = length / pieceBytes, failsAt = Number.POSITIVE_INFINITY) {
    this.length = length;
    this.#pieces = pieces;
    this.#failsAt = failsAt;
  }

  async *chunks(): AsyncGenerator<Buffer> {
    this.open += 1;
    const memory = Buffer.alloc(pieceBytes);
    try {
      for (let piece = 0; piece < this.#pieces; piece += 1) {
        await new Promise((resolve) => setImmediate(resolve));
        if (piece === this.#failsAt) throw new Error("the disk failed");
        this.asked += 1;
        yield memory.fill(97 + (piece % 26));
      }
    } finally {
      this.open -= 1;
    }
  }
}

function isLetter(bytes: Buffer, offset: number): boolean {
  for (let index = 0; index < bytes.length; index += 1) {
    if (bytes[index] !== 97 + (Math.floor((offset + index) / pieceBytes) % 26)) return false;
  }
  return true;
}

interface Received {
  head: string;
  bytes: number;
  isRight: boolean;
}

for (const { name, open } of [
  {
    name: "ConnectionPool",
    open: (port: number): Upstream =>
      new ConnectionPool({
        origin: new URL(`http://127.0.0.1:${port}`),
        headBytesMax: 16_384,
        lookup: guardedLookup(new EgressPolicy(["127.0.0.0/8"])),
        armDeadline,
        checkHost: () => undefined,
        tls: {},
      }),
  },
  {
    name: "UndiciUpstream",
    open: (port: number): Upstream => {
      const origin = `http://127.0.0.1:${port}`;
      return new UndiciUpstream(origin, new Pool(origin, { pipelining: 1 }));
    },
  },
]) {
  describe(`${name}, with a body that is streamed`, () => {
    let server: Server;
    let upstream: Upstream;
    let accepted = 0;
    const sockets = new Set<Socket>();
    let received: Received = { head: "", bytes: 0, isRight: true };
    /** Called with each piece of the body that arrives. */
    let onBody: (socket: Socket, received: Received) => void = () => {};

    beforeEach(async () => {
      accepted = 0;
      received = { head: "", bytes: 0, isRight: true };
      server = createServer((socket) => {
        accepted += 1;
        sockets.add(socket);
        socket.on("error", () => {}).on("close", () => sockets.delete(socket));
        socket.on("data", (bytes) => {
          const isBegin = bytes.toString("latin1", 0, 4) === "POST";
          const end = isBegin ? bytes.indexOf("\r\n\r\n") + 4 : 0;
          if (isBegin) received = { head: bytes.toString("latin1", 0, end), bytes: 0, isRight: true };
          const body = bytes.subarray(end);
          received.isRight &&= isLetter(body, received.bytes);
          received.bytes += body.length;
          onBody(socket, received);
        });
      });
      await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
      const address = server.address();
      upstream = open(typeof address === "object" && address !== null ? address.port : 0);
    });
    afterEach(async () => {
      await upstream.destroy();
      for (const socket of sockets) socket.destroy();
      server.close();
    });

    function send(body: StreamedBody, onStart: (control: UpstreamControl) => void = () => {}): Promise<string> {
      const whole = new Promise<string>((resolve, reject) => {
        let text = "";
        upstream.send(
          { path: "/v1", headers: ["content-type", "text/plain"], body, connectTimeoutMs: 1_000 },
          {
            onStart,
            onHead: () => {},
            onData: (chunk) => {
              text += chunk.toString();
            },
            onEnd: () => resolve(text),
            onError: reject,
          },
        );
      });
      return within(15_000, "the answer", whole);
    }

    /** Answers when the whole body is there. */
    function answerAtEnd(length: number): void {
      onBody = (socket, { bytes }) => bytes === length && socket.write(answer("fine"));
    }

    it("sends all of it with its length, each time anew, over one connection", async () => {
      const body = new CountedBody(3_000_000);
      answerAtEnd(3_000_000);
      for (let call = 1; call <= 3; call += 1) {
        assert.equal(await send(body), "fine");
        assert.match(received.head, /\r\ncontent-length: 3000000\r\n/i);
        assert.doesNotMatch(received.head, /transfer-encoding/i);
        assert.deepEqual([received.bytes, received.isRight, body.open], [3_000_000, true, 0]);
      }
      // undici gives up a connection whose response came before it had looked for the end of the body.
      if (name === "ConnectionPool") assert.equal(accepted, 1);
    });

    for (const length of [3_000, 300_000]) {
      it(`sends a body whose pieces lie in memory, ${length} bytes`, async () => {
        const whole = Buffer.concat([97, 98, 99].map((letter) => Buffer.alloc(pieceBytes, letter))).subarray(0, length);
        const pieces = [whole.subarray(0, 1_000), whole.subarray(1_000, 1_000), whole.subarray(1_000)];
        const chunks = async function* (): AsyncGenerator<Buffer> {
          yield* pieces;
        };
        answerAtEnd(length);
        for (let call = 1; call <= 2; call += 1) {
          assert.equal(await send({ length, pieces, chunks }), "fine");
          assert.deepEqual([received.bytes, received.isRight], [length, true]);
        }
      });
    }

    it("sends a body of no bytes", async () => {
      onBody = (socket) => socket.write(answer("fine"));
      assert.equal(await send(new CountedBody(0)), "fine");
      assert.match(received.head, /\r\ncontent-length: 0\r\n/i);
    });

    it("reads no more of it than the upstream takes (F1)", async () => {
      const body = new CountedBody(20_000_000);
      onBody = (socket) => socket.pause();
      const whole = send(body);
      let before = -1;
      // Until the buffers of the kernel are full.
      await waitFor(
        "the sender to wait",
        () => {
          const isSame = before === body.asked && body.asked > 0;
          before = body.asked;
          return isSame;
        },
        { everyMs: 50 },
      );
      assert.ok(body.asked < 180, `${body.asked} of 200 pieces were read`);
      answerAtEnd(20_000_000);
      for (const socket of sockets) socket.resume();
      assert.equal(await whole, "fine");
      assert.deepEqual([received.bytes, received.isRight, body.open], [20_000_000, true, 0]);
    });

    it("uses no connection again on which the response came before the body was sent", async () => {
      const body = new CountedBody(20_000_000);
      let isFirst = true;
      onBody = (socket) => {
        if (isFirst) socket.write(answer("early"));
        isFirst = false;
        socket.pause();
      };
      assert.equal(await send(body), "early");
      await waitFor("the body to be left", () => body.open === 0);
      answerAtEnd(pieceBytes);
      assert.equal(await send(new CountedBody(pieceBytes)), "fine");
      assert.equal(accepted, 2);
    });

    it("leaves the body when its request is aborted (H1)", async () => {
      const body = new CountedBody(20_000_000);
      onBody = (socket) => socket.pause();
      let control: UpstreamControl | undefined;
      let isOver = false;
      const over = (): void => {
        isOver = true;
      };
      send(body, (given) => {
        control = given;
      }).then(over, over);
      await waitFor("some of the body", () => body.asked > 3);
      control?.abort();
      await waitFor("the body to be left", () => body.open === 0);
      onBody = () => {};
      for (const socket of sockets) socket.resume();
      await waitFor("the close", () => sockets.size === 0);
      assert.equal(isOver, name === "UndiciUpstream");
    });

    it("fails when the upstream closes within the body", async () => {
      const body = new CountedBody(20_000_000);
      onBody = (socket) => socket.destroy();
      await assert.rejects(send(body));
      await waitFor("the body to be left", () => body.open === 0);
    });

    for (const { how, body } of [
      { how: "cannot be read to its end", body: new CountedBody(2_000_000, 20, 10) },
      { how: "is shorter than it said", body: new CountedBody(2_000_000, 19) },
      { how: "is longer than it said", body: new CountedBody(1_950_000, 20) },
    ]) {
      it(`fails, and closes its connection, when the body ${how}`, async () => {
        let mostBytes = 0;
        onBody = (_socket, { bytes }) => {
          mostBytes = Math.max(mostBytes, bytes);
        };
        await assert.rejects(send(body));
        await waitFor("the close", () => sockets.size === 0);
        assert.ok(mostBytes < body.length, "the upstream may take this for a whole request");
        assert.equal(body.open, 0);
        answerAtEnd(pieceBytes);
        assert.equal(await send(new CountedBody(pieceBytes)), "fine");
      });
    }
  });
}
