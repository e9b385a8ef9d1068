import assert from "node:assert/strict";
import { createServer, type Server, type Socket } from "node:net";
import { ConnectionPool } from "#proxy/http1/client/connection-pool";
import type { UpstreamControl } from "#proxy/http1/client/upstream";
import { armDeadline } from "#proxy/runtime/deadlines";
import { EgressPolicy } from "#proxy/snapshot/egress-policy";
import { guardedLookup } from "#proxy/upstream/pools/guarded-connector";
import { waitFor, within } from "#test/support/wait-for";

const answer = (body: string, headers = ""): string =>
  `HTTP/1.1 200 OK\r\n${headers}content-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`;

interface Heard {
  readonly text: string;
  readonly statuses: readonly number[];
}

describe("ConnectionPool", () => {
  let server: Server;
  let pool: ConnectionPool;
  const sockets = new Set<Socket>();
  let accepted = 0;
  /** What a connection of the upstream does with what it reads; its number counts from 1. */
  let serve: (socket: Socket, text: string, number: number) => void;

  beforeEach(async () => {
    accepted = 0;
    serve = (socket) => socket.write(answer("fine"));
    server = createServer((socket) => {
      accepted += 1;
      const number = accepted;
      sockets.add(socket);
      socket.on("error", () => undefined).on("close", () => sockets.delete(socket));
      socket.on("data", (bytes) => serve(socket, bytes.toString("latin1"), number));
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const address = server.address();
    const port = typeof address === "object" && address !== null ? address.port : 0;
    pool = new ConnectionPool({
      origin: new URL(`http://127.0.0.1:${port}`),
      headBytesMax: 16_384,
      lookup: guardedLookup(new EgressPolicy(["127.0.0.0/8"])),
      armDeadline,
      checkHost: () => undefined,
      tls: {},
    });
  });

  afterEach(async () => {
    await pool.destroy();
    for (const socket of sockets) socket.destroy();
    server.close();
  });

  function send(
    body: Buffer | string = "{}",
    onStart: (control: UpstreamControl) => void = () => undefined,
    onData: () => void = () => undefined,
  ): Promise<Heard> {
    const whole = new Promise<Heard>((resolve, reject) => {
      let text = "";
      const statuses: number[] = [];
      pool.send(
        {
          path: "/v1",
          headers: ["content-type", "application/json"],
          body: Buffer.from(body),
          connectTimeoutMs: 1_000,
        },
        {
          onStart,
          onHead: (status) => statuses.push(status),
          onData: (chunk) => {
            text += chunk.toString();
            onData();
          },
          onEnd: () => resolve({ text, statuses }),
          onError: reject,
        },
      );
    });
    return within(5_000, "the answer", whole);
  }

  it("sends one request after the other over one connection", async () => {
    for (let call = 0; call < 20; call += 1) assert.equal((await send()).text, "fine");
    assert.equal(accepted, 1);
  });

  it("gives each of many requests at once its own answer", async () => {
    serve = (socket, text) => socket.write(answer(text.slice(-4)));
    const calls = Array.from({ length: 50 }, (_, index) => String(1_000 + index));
    const heard = await Promise.all(calls.map((body) => send(body)));
    assert.deepEqual(
      heard.map(({ text }) => text),
      calls,
    );
    assert.equal(accepted, 50);
  });

  it("passes interim answers on before the answer", async () => {
    serve = (socket) => socket.write(`HTTP/1.1 100 Continue\r\n\r\n${answer("late")}`);
    assert.deepEqual(await send(), { text: "late", statuses: [100, 200] });
  });

  for (const row of [
    { name: "an answer with bytes behind it", bytes: `${answer("fine")}MARK` },
    { name: "an answer that closes", bytes: answer("fine", "connection: close\r\n") },
    { name: "an answer whose connection lasts no longer", bytes: answer("fine", "keep-alive: timeout=1\r\n") },
    { name: "HTTP/1.0", bytes: answer("fine").replace("1.1", "1.0") },
  ]) {
    it(`uses no connection again after ${row.name}`, async () => {
      serve = (socket) => socket.write(row.bytes);
      for (let call = 1; call <= 3; call += 1) {
        assert.equal((await send()).text, "fine");
        assert.equal(accepted, call);
      }
    });
  }

  it("uses no connection again whose time is over, also before the sweep has come by", async () => {
    serve = (socket) => socket.write(answer("fine", "keep-alive: timeout=60\r\n"));
    await send();
    const now = performance.now.bind(performance);
    performance.now = () => now() + 59_000;
    try {
      const late = send();
      performance.now = now;
      assert.equal((await late).text, "fine");
    } finally {
      performance.now = now;
    }
    assert.equal(accepted, 2);
  });

  it("uses no connection again on which a request was answered before it was written", async () => {
    serve = (socket, text, number) => {
      if (number > 1) {
        if (text.endsWith("}")) socket.write(answer("second"));
        return;
      }
      socket.pause();
      socket.write(answer("too long"));
    };
    assert.equal((await send(Buffer.alloc(32_000_000, "x"))).text, "too long");
    assert.equal((await send()).text, "second");
    assert.equal(accepted, 2);
  });

  it("uses no connection again on which a long body was refused, which may be unread", async () => {
    serve = (socket, text, number) => {
      if (text.endsWith("}")) socket.write(answer(`connection ${number}`));
      else if (text.startsWith("POST")) {
        socket.pause();
        socket.write(answer("too long").replace("200 OK", "413 Too Large"));
      }
    };
    assert.deepEqual(await send(Buffer.alloc(100_000, "x")), { text: "too long", statuses: [413] });
    assert.equal((await send()).text, "connection 2");
    assert.equal((await send()).text, "connection 2");
  });

  it("uses no connection again that the upstream wrote to unasked", async () => {
    await send();
    for (const socket of sockets) socket.write(answer("MARK"));
    await waitFor("the connection to be closed", () => sockets.size === 0);
    assert.equal((await send()).text, "fine");
    assert.equal(accepted, 2);
  });

  it("opens another connection when the upstream closed the idle one", async () => {
    await send();
    for (const socket of sockets) socket.end();
    await waitFor("the connection to be closed", () => sockets.size === 0);
    assert.equal((await send()).text, "fine");
  });

  it("closes a connection at once when its request is aborted, and says nothing more", async () => {
    let seen = 0;
    serve = () => {
      seen += 1;
    };
    let control: UpstreamControl | undefined;
    let isOver = false;
    const over = (): void => {
      isOver = true;
    };
    send("{}", (given) => {
      control = given;
    }).then(over, over);
    await waitFor("the request", () => seen === 1);
    control?.abort();
    await waitFor("the close", () => sockets.size === 0);
    assert.equal(isOver, false);
    serve = (socket) => socket.write(answer("next"));
    assert.equal((await send()).text, "next");
  });

  it("may be aborted from within a piece of the answer", async () => {
    serve = (socket) =>
      socket.write("HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n1\r\na\r\n1\r\nb\r\n0\r\n\r\n");
    let control: UpstreamControl | undefined;
    let pieces = 0;
    void send(
      "{}",
      (given) => {
        control = given;
      },
      () => {
        pieces += 1;
        control?.abort();
      },
    ).catch(() => undefined);
    await waitFor("the close", () => accepted === 1 && sockets.size === 0);
    assert.equal(pieces, 1);
  });

  it("holds the upstream back while it is paused", async () => {
    const size = 64 * 1024 * 1024;
    serve = (socket) =>
      socket.write(
        Buffer.concat([Buffer.from(`HTTP/1.1 200 OK\r\ncontent-length: ${size}\r\n\r\n`), Buffer.alloc(size, "x")]),
      );
    let control: UpstreamControl | undefined;
    let isPaused = false;
    const whole = send(
      "{}",
      (given) => {
        control = given;
      },
      () => {
        if (isPaused) return;
        isPaused = true;
        control?.pause();
      },
    );
    await waitFor("the pause", () => isPaused);
    const [upstream] = sockets;
    await new Promise((resolve) => setImmediate(resolve));
    assert.ok((upstream?.writableLength ?? 0) > size / 2, "the upstream could write on");
    control?.resume();
    assert.equal((await whole).text.length, size);
  });

  for (const row of [
    { name: "closes before it answers", act: (socket: Socket) => socket.end() },
    { name: "resets", act: (socket: Socket) => socket.resetAndDestroy() },
    { name: "closes inside a body", act: (socket: Socket) => socket.end(answer("whole").slice(0, -1)) },
    { name: "switches the protocol", act: (socket: Socket) => socket.write("HTTP/1.1 101 x\r\nupgrade: x\r\n\r\n") },
    { name: "speaks no HTTP", act: (socket: Socket) => socket.write("220 mail\r\n") },
  ]) {
    it(`fails the request of an upstream that ${row.name}, once, and closes`, async () => {
      serve = row.act;
      await assert.rejects(send());
      await waitFor("the close", () => sockets.size === 0);
      serve = (socket) => socket.write(answer("next"));
      assert.equal((await send()).text, "next");
    });
  }

  it("refuses a request that must not stand on the wire, and keeps its connection", async () => {
    await send();
    const bad = new Promise((_resolve, reject) => {
      pool.send(
        { path: "/v1", headers: ["x-a", "b\r\nc: d"], body: Buffer.alloc(0), connectTimeoutMs: 1_000 },
        {
          onStart: () => undefined,
          onHead: () => undefined,
          onData: () => undefined,
          onEnd: () => undefined,
          onError: reject,
        },
      );
    });
    await assert.rejects(bad, { code: "HEADER_SYNTAX" });
    await send();
    assert.equal(accepted, 1);
  });

  it("lets go of idle connections when it is closed, and of the others when they are done", async () => {
    await send();
    let release: (() => void) | undefined;
    serve = (socket) => {
      release = () => socket.write(answer("late"));
    };
    const running = send();
    await waitFor("the request to arrive", () => release !== undefined);
    pool.close();
    release?.();
    assert.equal((await running).text, "late");
    await waitFor("the close", () => sockets.size === 0);
  });
});
