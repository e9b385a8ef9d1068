/** The bytes of answers, as a client receives them. */
import assert from "node:assert/strict";
import type { Exchange } from "#proxy/http1/server/exchange";
import { Http1Server } from "#test/support/http1-server";
import { RawClient } from "#test/support/raw-client";

const large = Buffer.alloc(100_000, "x");

describe("ClientResponse", () => {
  /** All bytes of the answer; the day stands as `D`. */
  async function received(handle: (exchange: Exchange) => void, request = "GET / HTTP/1.1"): Promise<string> {
    const server = await Http1Server.start({ handle });
    const client = await RawClient.connect({ port: server.port });
    try {
      client.write(`${request}\r\nHost: x\r\nConnection: close\r\n\r\n`);
      const bytes = await client.readToEnd();
      if (client.socket.errored !== null) return "reset";
      return bytes.toString("latin1").replace(/date: [^\r]+/, "date: D");
    } finally {
      client.close();
      await server.close();
    }
  }

  const start = (framing: string): string =>
    `HTTP/1.1 200 OK\r\nx-a: b\r\ndate: D\r\nconnection: close\r\n${framing}\r\n`;
  const rows: readonly (readonly [
    name: string,
    handle: (exchange: Exchange) => void,
    want: string,
    request?: string,
  ])[] = [
    [
      "of a known length in one write",
      ({ response }) => {
        response.writeHead(200, ["x-a", "b"], 5);
        response.end(Buffer.from("hello"));
      },
      `${start("content-length: 5\r\n")}hello`,
    ],
    [
      "without a body",
      ({ response }) => {
        response.writeHead(200, ["x-a", "b"], 0);
        response.end();
      },
      start("content-length: 0\r\n"),
    ],
    [
      "of a known length in several writes, one of them large",
      ({ response }) => {
        response.writeHead(200, ["x-a", "b"], 100_007);
        response.write(Buffer.from("hello"));
        response.write(large);
        response.end(Buffer.from("ab"));
      },
      `${start("content-length: 100007\r\n")}hello${large}ab`,
    ],
    [
      "in chunks; an empty write ends nothing",
      ({ response }) => {
        response.writeHead(200, ["x-a", "b"]);
        response.write(Buffer.from("hello"));
        response.write(Buffer.alloc(0));
        response.write(large);
        response.end(Buffer.from("ab"));
      },
      `${start("transfer-encoding: chunked\r\n")}5\r\nhello\r\n186a0\r\n${large}\r\n2\r\nab\r\n0\r\n\r\n`,
    ],
    [
      "in chunks, without one",
      ({ response }) => {
        response.writeHead(200, ["x-a", "b"]);
        response.end();
      },
      `${start("transfer-encoding: chunked\r\n")}0\r\n\r\n`,
    ],
    [
      "over HTTP/1.0, which knows no chunks",
      ({ response }) => {
        response.writeHead(200, ["x-a", "b"]);
        response.write(Buffer.from("hello"));
        response.end(Buffer.from("ab"));
      },
      `${start("")}helloab`,
      "GET / HTTP/1.0",
    ],
    [
      "to HEAD, without its body",
      ({ response }) => {
        response.writeHead(200, ["x-a", "b"], 5);
        response.end(Buffer.from("hello"));
      },
      start("content-length: 5\r\n"),
      "HEAD / HTTP/1.1",
    ],
    [
      "that is broken off, without its end",
      ({ response }) => {
        response.writeHead(200, ["x-a", "b"]);
        response.write(Buffer.from("hello"), () => response.breakOff());
      },
      `${start("transfer-encoding: chunked\r\n")}5\r\nhello\r\n`,
    ],
    [
      "over HTTP/1.0 that is cut: with a reset",
      ({ response }) => {
        response.writeHead(200, ["x-a", "b"]);
        response.write(Buffer.from("hello"), () => setTimeout(() => response.destroy(), 20));
      },
      "reset",
      "GET / HTTP/1.0",
    ],
    [
      "that is shorter than it said: without a clean end",
      ({ response }) => {
        response.writeHead(200, ["x-a", "b"], 7);
        response.end(Buffer.from("hello"));
      },
      "",
    ],
    [
      "that is longer than it said: cut",
      ({ response }) => {
        response.writeHead(200, ["x-a", "b"], 3);
        response.write(Buffer.from("hel"));
        assert.throws(() => response.end(Buffer.from("lo")), /longer/);
      },
      `${start("content-length: 3\r\n")}hel`,
    ],
  ];
  for (const [name, handle, want, request] of rows)
    it(`writes an answer ${name}`, async () => assert.equal(await received(handle, request), want));

  it("asks for a body that waits to be asked for", async () => {
    const text = await received((exchange) => {
      assert.equal(exchange.response.expectsContinue, true);
      exchange.response.writeContinue();
      exchange.response.writeHead(200, [], 0);
      exchange.response.end();
    }, "GET / HTTP/1.1\r\nExpect: 100-continue");
    assert.match(text, /^HTTP\/1\.1 100 Continue\r\n\r\nHTTP\/1\.1 200 OK\r\n/);
  });

  for (const headers of [
    ["x-a", "b\r\nx-evil: 1"],
    ["x-a", "b\nc"],
    ["x-a", "\0"],
    ["x-a", "\u{1f511}"],
    ["x a", "b"],
    ["x-a\r\n", "b"],
    ["", "b"],
    ["Content-Length", "1"],
    ["transfer-encoding", "chunked"],
    ["Connection", "close"],
  ]) {
    it(`refuses to write the header ${JSON.stringify(headers)}`, async () => {
      let thrown: unknown;
      await received(({ response }) => {
        try {
          response.writeHead(200, headers, 0);
        } catch (error) {
          thrown = error;
        }
        response.destroy();
      });
      assert.ok(thrown instanceof Error && "code" in thrown && thrown.code === "HEADER_SYNTAX", String(thrown));
    });
  }
});
