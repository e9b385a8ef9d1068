/** One connection on the wire: order, ends, waits. What each request says is tested by the parser's own tests. */
import assert from "node:assert/strict";
import { buildAuthority, buildLeaf } from "#operator/certificates/build-certificate";
import type { Exchange } from "#proxy/http1/server/exchange";
import { Http1Server, type Http1ServerOptions } from "#test/support/http1-server";
import { RawClient } from "#test/support/raw-client";
import { waitFor } from "#test/support/wait-for";

const get = "GET / HTTP/1.1\r\nHost: x\r\n\r\n";
const post = (body: string, ...headers: string[]): string =>
  ["POST / HTTP/1.1", "Host: x", `Content-Length: ${body.length}`, ...headers, "", body].join("\r\n");

function answer({ response }: Exchange, text: string, headers: readonly string[] = []): void {
  response.writeHead(200, headers, text.length);
  response.end(Buffer.from(text));
}

function readText({ request }: Exchange): Promise<string> {
  return new Promise((resolve) => {
    let text = "";
    request.read({
      onChunk: (chunk) => {
        text += chunk.toString("latin1");
      },
      onEnd: () => resolve(text),
      onFailed: (error) => resolve(error === undefined ? "gone" : error.code),
    });
  });
}

describe("ClientConnection", () => {
  let server: Http1Server | undefined;
  let client: RawClient | undefined;
  afterEach(async () => {
    client?.close();
    await server?.close();
  });

  async function start(
    handle: Http1ServerOptions["handle"],
    limits: Http1ServerOptions["limits"] = {},
  ): Promise<RawClient> {
    server = await Http1Server.start({ handle, limits });
    client = await RawClient.connect({ port: server.port });
    return client;
  }

  it("answers a pipeline in its order, one request at a time", async () => {
    let open = 0;
    let openMost = 0;
    const to = await start(async (exchange) => {
      open += 1;
      openMost = Math.max(openMost, open);
      const text = await readText(exchange);
      await new Promise((resolve) => setImmediate(resolve));
      open -= 1;
      answer(exchange, text);
    });
    const texts = Array.from({ length: 60 }, (_, index) => String(index).repeat(index + 1));
    to.write(texts.map((text) => post(text)).join(""));
    for (const text of texts) assert.equal((await to.readResponse()).body.toString(), text);
    assert.equal(openMost, 1);
  });

  for (const [name, head] of [
    ["a pipeline that grows while its first request is answered", "GET / HTTP/1.1\r\nHost: x\r\n\r\n"],
    ["a body that is longer than it said", "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 10\r\n\r\n"],
    ["what stands behind a request over HTTP/1.0", "POST / HTTP/1.0\r\n\r\n"],
    ["what stands behind the last request", "GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"],
  ] as const) {
    it(`answers the first request of ${name}, and closes`, async () => {
      let served = 0;
      const to = await start(async (exchange) => {
        served += 1;
        await new Promise((resolve) => setTimeout(resolve, 50));
        answer(exchange, "a");
      });
      to.write(head + "x".repeat(40_000));
      const response = await to.readResponse();
      assert.deepEqual([response.body.toString(), response.header("connection")], ["a", "close"]);
      assert.equal((await to.readToEnd()).length, 0);
      assert.equal(served, 1);
    });
  }

  for (const [bytes, leaves] of [
    [3_000_000, false],
    [500_000, true],
  ] as const) {
    it(`${leaves ? "hears of a client that leaves" : "cuts a client that goes on sending"} while it is answered`, async () => {
      let closed = 0;
      const to = await start((exchange) => {
        exchange.whenClosed(() => {
          closed += 1;
        });
      });
      to.write(get + "x".repeat(bytes));
      if (leaves) to.socket.end();
      await waitFor("the end of the exchange", () => closed === 1 && server?.openRequests === 0);
    });
  }

  it("serves large bodies over TLS, where the next may come before the last answer has ended", async () => {
    const validity = { notBeforeMs: Date.now() - 86_400_000, notAfterMs: Date.now() + 86_400_000 };
    const authority = await buildAuthority("test", validity);
    const leaf = await buildLeaf(authority, { ...validity, dnsNames: ["localhost"] });
    server = await Http1Server.start({
      tls: { key: leaf.privateKey, cert: leaf.certificate },
      handle: async (exchange) => answer(exchange, String((await readText(exchange)).length)),
    });
    const { port } = server;
    const body = "x".repeat(60_000);
    await Promise.all(
      Array.from({ length: 8 }, async () => {
        const to = await RawClient.connect({ port, ca: authority.certificate });
        for (let count = 0; count < 100; count += 1) {
          to.write(post(body));
          assert.equal((await to.readResponse()).body.toString(), "60000");
        }
        to.close();
      }),
    );
  });

  it("tells a client that the server ends, also in the answer to a request that began before", async () => {
    let exchange: Exchange | undefined;
    const to = await start(
      (given) => {
        exchange = given;
      },
      { drainTimeoutMs: 5_000 },
    );
    to.write(get);
    await waitFor("the request", () => exchange !== undefined);
    const ended = server?.drain();
    answer(exchange ?? assert.fail(), "a");
    assert.equal((await to.readResponse()).header("connection"), "close");
    await ended;
    server = undefined;
  });

  for (const isAsked of [true, false]) {
    it(`${isAsked ? "goes on" : "closes"} behind a body that waits to be asked for and ${isAsked ? "was" : "was not"}`, async () => {
      const to = await start(async (exchange) => {
        if (isAsked) {
          exchange.response.writeContinue();
          await readText(exchange);
        }
        answer(exchange, "a");
      });
      to.write("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\nExpect: 100-continue\r\n\r\n");
      if (isAsked) {
        await waitFor("the question", () => to.received.includes("100 Continue"));
        to.write("abc");
        assert.equal((await to.readResponse()).status, 100);
      }
      assert.equal((await to.readResponse()).header("connection"), isAsked ? "keep-alive" : "close");
      if (!isAsked) assert.equal((await to.readToEnd()).length, 0);
    });
  }

  it("is done with a request that was answered, whatever is still to come of its body", async () => {
    const to = await start((exchange) => answer(exchange, "a"));
    to.write("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 1000\r\n\r\na");
    assert.equal((await to.readResponse()).status, 200);
    assert.equal(server?.openRequests, 0);
    to.write("a".repeat(999) + get);
    assert.equal((await to.readResponse()).status, 200);
  });

  it("tells clients how long it is kept, and the day", async () => {
    const to = await start((exchange) => answer(exchange, "a", ["x-a", "b"]), { keepAliveTimeoutMs: 42_000 });
    to.write(get);
    const response = await to.readResponse();
    assert.deepEqual(
      ["x-a", "connection", "keep-alive", "content-length", "transfer-encoding"].map((name) => response.header(name)),
      ["b", "keep-alive", "timeout=42", "1", undefined],
    );
    assert.ok(Math.abs(Date.parse(response.header("date") ?? "") - Date.now()) < 5_000);
  });

  for (const [name, request] of [
    ["asks for it", `GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n${get}`],
    ["speaks HTTP/1.0", `GET / HTTP/1.0\r\nConnection: keep-alive\r\n\r\n${get}`],
    ["asks for another protocol", `GET / HTTP/1.1\r\nHost: x\r\nConnection: upgrade\r\nUpgrade: h2c\r\n\r\n${get}`],
  ] as const) {
    it(`closes behind the answer to a client that ${name}`, async () => {
      const to = await start((exchange) => answer(exchange, "a"));
      to.write(request);
      assert.equal((await to.readResponse()).header("connection"), "close");
      assert.equal((await to.readToEnd()).length, 0);
    });
  }

  it("hears of a client that leaves while it is answered", async () => {
    let hasClosed = false;
    const to = await start((exchange) => {
      exchange.whenClosed(() => {
        hasClosed = true;
      });
    });
    to.write(get);
    await waitFor("the request", () => server?.openRequests === 1);
    to.socket.end();
    await waitFor("its end", () => hasClosed && server?.openRequests === 0);
  });

  it("hears of a client that leaves behind a large body", async () => {
    let hasClosed = false;
    const body = "a".repeat(500_000);
    const to = await start(async (exchange) => {
      await new Promise((resolve) => setTimeout(resolve, 50));
      assert.equal((await readText(exchange)).length, body.length);
      exchange.whenClosed(() => {
        hasClosed = true;
      });
      to.socket.end();
    });
    to.write(post(body));
    await waitFor("its end", () => hasClosed);
  });

  it("reads little of a body that nobody asks for", async () => {
    let exchange: Exchange | undefined;
    const to = await start((given) => {
      exchange = given;
    });
    to.write("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 100000000\r\n\r\n");
    const piece = Buffer.alloc(1024 * 1024, "a");
    for (let count = 0; count < 100; count += 1) to.write(piece);
    await waitFor("the request", () => exchange !== undefined);
    await new Promise((resolve) => setTimeout(resolve, 200));
    // The kernel's buffers on both sides hold some.
    assert.ok(to.socket.writableLength > 50_000_000, `${to.socket.writableLength} bytes wait`);
  });

  it("forgets the rest of a short body that was answered early, and serves what stands behind it", async () => {
    const to = await start((exchange) => answer(exchange, exchange.request.url));
    const bytes = post("x".repeat(50_000)).concat(get.replace("/", "/next"));
    to.write(bytes.slice(0, 20_000));
    assert.equal((await to.readResponse()).body.toString(), "/");
    to.write(bytes.slice(20_000));
    assert.equal((await to.readResponse()).body.toString(), "/next");
  });

  it("tells whoever reads a body that it is broken, and reads nothing behind it", async () => {
    let count = 0;
    const to = await start(async (exchange) => {
      count += 1;
      answer(exchange, await readText(exchange));
    });
    to.write(`POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhelloX\r\n${get}`);
    const response = await to.readResponse();
    assert.deepEqual([response.body.toString(), response.header("connection")], ["AMBIGUOUS_FRAMING", "close"]);
    await to.readToEnd();
    assert.equal(count, 1);
  });

  it("answers what is no HTTP behind the answers to what stood before it", async () => {
    const to = await start(async (exchange) => {
      await new Promise((resolve) => setTimeout(resolve, 20));
      answer(exchange, "fine");
    });
    to.write(`${get}${get}nonsense\r\n\r\n${get}`);
    assert.equal((await to.readResponse()).body.toString(), "fine");
    assert.equal((await to.readResponse()).body.toString(), "fine");
    const refusal = await to.readResponse();
    assert.deepEqual([refusal.status, JSON.parse(refusal.body.toString()).error.code], [400, "invalid_header"]);
    assert.equal((await to.readToEnd()).length, 0);
  });

  it("cuts a client whose bytes made our own code fail, says so in the log, and serves others", async () => {
    const to = await start((exchange) => {
      exchange.request.read({
        onChunk: () => {
          throw new TypeError("planted");
        },
        onEnd: () => {},
        onFailed: () => {},
      });
    });
    to.write(post("x"));
    assert.equal((await to.readToEnd()).length, 0);
    assert.deepEqual(server?.faults, ["reading a request failed for an unexpected reason"]);
    await waitFor("the end of the exchange", () => server?.openRequests === 0);
    const other = await RawClient.connect({ port: server?.port ?? 0 });
    other.write("nonsense\r\n\r\n");
    assert.equal((await other.readResponse()).status, 400);
    other.close();
  });

  describe("in time", () => {
    const limits = { headersTimeoutMs: 150, keepAliveTimeoutMs: 0, bodyTimeoutMs: 150, connectionsCheckMs: 20 };
    const answered = (exchange: Exchange): void => answer(exchange, "a");

    for (const [name, bytes] of [
      ["says nothing", ""],
      ["says empty lines", "\r\n\r\n"],
      ["stops in its head", "GET / HTTP/1.1\r\nHo"],
    ] as const) {
      it(`refuses a client that ${name}`, async () => {
        const to = await start(answered, limits);
        to.write(bytes);
        assert.equal((await to.readResponse()).status, 408);
        await to.readToEnd();
      });
    }

    it("refuses a later head that stops", async () => {
      const to = await start(answered, { ...limits, keepAliveTimeoutMs: 60_000 });
      to.write(get);
      assert.equal((await to.readResponse()).status, 200);
      to.write("GET / HT");
      assert.equal((await to.readResponse()).status, 408);
    });

    it("closes a connection that is idle, and one that says nothing but empty lines", async () => {
      for (const texts of [[""], ["\r\n"], ["\r", "\n"]]) {
        const to = await start(answered, limits);
        to.write(get);
        assert.equal((await to.readResponse()).status, 200);
        let written = 0;
        const timer = setInterval(() => {
          to.write(texts[written % texts.length] ?? "");
          written += 1;
        }, 70);
        assert.equal((await to.readToEnd()).length, 0);
        clearInterval(timer);
        to.close();
        await server?.close();
      }
    });

    for (const [name, given] of [
      ["never ends a body that was answered", { bodyTimeoutMs: 60_000, bodyIdleTimeoutMs: 150 }],
      ["ends a body that was answered too slowly", { bodyTimeoutMs: 300, bodyIdleTimeoutMs: 60_000 }],
    ] as const) {
      it(`closes a connection whose client ${name}`, async () => {
        const to = await start(answered, { ...limits, ...given, keepAliveTimeoutMs: 60_000 });
        to.write(post("x".repeat(1_000)).slice(0, -900));
        const timer = given.bodyTimeoutMs === 300 ? setInterval(() => to.write("x"), 20) : undefined;
        assert.equal((await to.readResponse()).status, 200);
        assert.equal((await to.readToEnd()).length, 0);
        clearInterval(timer);
      });
    }

    it("leaves a client alone that waits for its answer", async () => {
      const to = await start(async (exchange) => {
        await new Promise((resolve) => setTimeout(resolve, 400));
        answer(exchange, "late");
      }, limits);
      to.write(get);
      assert.equal((await to.readResponse()).body.toString(), "late");
    });
  });
});
