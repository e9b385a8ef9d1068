/**
 * docs/design/reliability.md D3, D4, D6 and D8 on the wire: framing sent upstream, chunks and trailers, early answers,
 * 100-continue.
 */
import assert from "node:assert/strict";
import { createServer, type Server, type Socket } from "node:net";
import { after, before, describe, it } from "mocha";
import { waitFor } from "#test/support/wait-for";
import { chatBody, chunked, forbiddenMark, goodRequest, rawRequest, refusedBody } from "./rig/raw-request.ts";
import { assertNoSecret, checkRefusal, errorCode, expectServed, naturalReply, upstreamSaw, useRig } from "./rig/rig.ts";
import { channelManifest, clientKeys } from "./rig/rig-manifests.ts";

const te = "Transfer-Encoding: chunked";

function chunkedRequest(body: Buffer, headers: readonly string[] = [], key: string | null = clientKeys.good): Buffer {
  const head = rawRequest({
    key,
    framing: "none",
    body: "",
    headers: ["Content-Type: application/json", te, ...headers],
  });
  return Buffer.concat([head, body]);
}

describe("D3: framing sent upstream, byte by byte", () => {
  let listener: Server;
  const received: Buffer[] = [];
  const sockets = new Set<Socket>();
  before(async () => {
    listener = createServer((socket) => {
      sockets.add(socket);
      socket.on("error", () => undefined);
      socket.on("data", (bytes) => {
        received.push(bytes);
        const whole = Buffer.concat(received).toString("latin1");
        if (!isComplete(whole)) return;
        socket.end("HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n{}");
      });
    });
    await new Promise<void>((resolve) => listener.unref().listen(0, "127.0.0.1", resolve));
  });
  const rig = useRig({
    manifests: () => {
      const address = listener.address();
      assert.ok(typeof address === "object" && address !== null);
      return { "raw.yaml": channelManifest(`http://127.0.0.1:${address.port}/base`, "raw").concat(rawRoute) };
    },
  });
  const rawRoute = `---
apiVersion: tollgate.dev/v1alpha1
kind: ModelRoute
metadata: {name: raw, namespace: default}
spec:
  model: raw
  targets: [{name: main, channelRef: {name: raw}}]
  price: {inputPerMillion: "1", outputPerMillion: "2"}
`;

  after(() => {
    for (const socket of sockets) socket.destroy();
    listener.close();
  });

  const text = chatBody("raw", "hello");
  const odd = [
    "Connection: content-length, x-a",
    "TE: trailers",
    "Trailer: X-T",
    "Keep-Alive: timeout=5",
    "X-A: 1",
    "Content-Encoding: identity",
    "Accept-Encoding: gzip",
    "Max-Forwards: 1",
    "Proxy-Connection: keep-alive",
    "Content-MD5: x",
  ];
  for (const [name, bytes] of [
    ["a length", rawRequest({ body: text, headers: odd })],
    ["chunks of one byte", chunkedRequest(chunked(text, 1), odd)],
    [
      "trailers",
      chunkedRequest(Buffer.concat([chunked(text).subarray(0, -2), Buffer.from("Host: evil\r\nX-T: 1\r\n\r\n")]), odd),
    ],
    ["HTTP/1.0", rawRequest({ version: "HTTP/1.0", body: text, headers: odd })],
    [
      "leading zeroes in the length",
      rawRequest({ framing: "none", body: text, headers: [`Content-Length: 000${text.length}`, ...odd] }),
    ],
  ] as const) {
    it(`is one Content-Length and nothing else for ${name}`, async () => {
      received.length = 0;
      await waitFor("the route", async () => (await rig().gateway.explain("default/good", "raw")).allowed);
      await rig().exchange(bytes);
      const whole = Buffer.concat(received).toString("latin1");
      const headEnd = whole.indexOf("\r\n\r\n");
      const [requestLine, ...lines] = whole.slice(0, headEnd).split("\r\n");
      assert.equal(requestLine, "POST /base/chat/completions HTTP/1.1");
      const fields = lines.map(
        (line) => /^([a-z-]+): ([\x20-\x7e]+)$/i.exec(line) ?? assert.fail(`line ${JSON.stringify(line)}`),
      );
      const names = fields.map((field) => (field[1] ?? "").toLowerCase());
      assert.equal(new Set(names).size, names.length, "a header stands there twice");
      const allowed = [
        "host",
        "connection",
        "content-type",
        "accept",
        "accept-encoding",
        "user-agent",
        "authorization",
        "content-length",
      ];
      assert.deepEqual(
        names.filter((header) => !allowed.includes(header)),
        [],
      );
      const value = (header: string): string | undefined =>
        fields.find((field) => field[1]?.toLowerCase() === header)?.[2];
      assert.match(value("connection") ?? "keep-alive", /^keep-alive$/);
      const body = whole.slice(headEnd + 4);
      assert.equal(value("content-length"), String(body.length));
      assert.deepEqual(JSON.parse(body), JSON.parse(text));
    });
  }
});

function isComplete(whole: string): boolean {
  const headEnd = whole.indexOf("\r\n\r\n");
  const length = Number(/content-length: ([0-9]+)/i.exec(whole)?.[1] ?? Number.NaN);
  return headEnd >= 0 && whole.length >= headEnd + 4 + length;
}

describe("chunks, early answers and expectations", () => {
  const rig = useRig({ flags: ["--limits-json-body=1MiB"] });

  describe("D4: chunks", () => {
    const text = chatBody("open-a", "fine");
    const sized = (extension: string): string => `${text.length.toString(16)}${extension}\r\n${text}\r\n0\r\n\r\n`;
    for (const [name, body] of [
      ["an extension", Buffer.from(sized(";a=b"))],
      ["a quoted extension", Buffer.from(sized(';a="b c"'))],
      ["extensions of 2 KB", Buffer.from(sized(`;a=${"b".repeat(2_000)}`))],
      ["chunks of one byte", chunked(text, 1)],
      ["a last chunk of many zeroes", Buffer.from(sized("").replace("\r\n0\r\n", "\r\n0000000000\r\n"))],
      ["upper-case hex", Buffer.from(sized("").replace(/^[0-9a-f]+/, (hex) => hex.toUpperCase()))],
      [
        "trailers",
        Buffer.from(
          sized("").slice(0, -2).concat(`Authorization: Bearer ${clientKeys.suspended}\r\nHost: evil\r\n\r\n`),
        ),
      ],
    ] as const) {
      it(`serves ${name}, and the request behind`, async () => {
        const client = await rig().connect();
        client.write(Buffer.concat([chunkedRequest(body), goodRequest("behind")]));
        await expectServed(rig(), client, "fine");
        await expectServed(rig(), client, "behind");
        client.close();
        const received = rig().upstream.requests.at(-1);
        assert.equal(JSON.stringify(received?.rawHeaders).includes(clientKeys.suspended), false);
      });
    }

    for (const [name, body] of [
      ["a Content-Length among the trailers", Buffer.from(`1\r\n{\r\n0\r\nContent-Length: 3\r\n\r\n`)],
      ["one extension of 64 KB", Buffer.from(`1;a=${"b".repeat(65_536)}\r\n{\r\n0\r\n\r\n`)],
      [
        "one byte a chunk with 2 KB of extension each",
        Buffer.from(
          `${[...refusedBody.repeat(4)].map((letter) => `1;${"e".repeat(2_000)}\r\n${letter}\r\n`).join("")}0\r\n\r\n`,
        ),
      ],
      ["trailers of 64 KB", Buffer.from(`1\r\n{\r\n0\r\n${`X-T: ${"b".repeat(1_000)}\r\n`.repeat(64)}\r\n`)],
    ] as const) {
      it(`refuses ${name}`, async () => {
        const count = rig().upstream.requests.length;
        const client = await rig().connect();
        client.write(Buffer.concat([chunkedRequest(body), goodRequest(forbiddenMark)]));
        const response = await client.readResponse();
        assert.ok([400, 413, 431].includes(response.status), `status ${response.status}`);
        await client.readToEnd();
        client.close();
        assert.equal(rig().upstream.requests.length, count);
      });
    }
  });

  describe("D6: an answer while the body is still coming", () => {
    const huge = Buffer.alloc(3_000_000, "x");
    for (const [name, bytes, status] of [
      [
        "401 with a declared length",
        rawRequest({
          key: null,
          framing: "none",
          body: "",
          headers: ["Content-Type: application/json", "Content-Length: 9000000"],
        }),
        401,
      ],
      ["401 with chunks", chunkedRequest(Buffer.from("fffff\r\n"), [], null), 401],
      [
        "413 by the length",
        rawRequest({
          framing: "none",
          body: "",
          headers: ["Content-Type: application/json", "Content-Length: 9000000"],
        }),
        413,
      ],
      [
        "404 with chunks",
        Buffer.from(chunkedRequest(Buffer.from("fffff\r\n")).toString().replace("/v1/chat/completions", "/nowhere")),
        404,
      ],
      [
        "415 with chunks",
        Buffer.from(chunkedRequest(Buffer.from("fffff\r\n")).toString().replace("application/json", "text/plain")),
        415,
      ],
    ] as const) {
      it(`${name}: the answer arrives, the rest is never a request`, async () => {
        const count = rig().upstream.requests.length;
        const client = await rig().connect();
        client.write(bytes);
        client.write(huge);
        const response = await client.readResponse();
        assert.equal(response.status, status);
        assert.equal(response.header("connection"), "close");
        assertNoSecret(response);
        client.write(goodRequest(forbiddenMark));
        await waitFor("the end of the connection", () => client.isEnded);
        assert.equal(client.received.length, 0);
        client.close();
        assert.equal(rig().upstream.requests.length, count);
      });
    }

    it("drains a short body and serves what comes behind it", async () => {
      const client = await rig().connect();
      const body = "x".repeat(60_000);
      const bytes = rawRequest({ key: null, body });
      client.write(bytes.subarray(0, bytes.length - 30_000));
      assert.equal((await client.readResponse()).status, 401);
      client.write(bytes.subarray(bytes.length - 30_000));
      client.write(goodRequest("behind"));
      await expectServed(rig(), client, "behind");
      client.close();
    });

    it("executes nothing for a client that has left its pipeline", async () => {
      rig().upstream.replyWith({ delayHeadMs: 300, body: "{}" });
      const client = await rig().connect();
      try {
        client.write(Buffer.concat([rawRequest({ body: chatBody("open-a", "slow") }), goodRequest(forbiddenMark)]));
        const [slow] = await upstreamSaw(rig(), "slow");
        client.reset();
        await waitFor("the upstream to see the close", () => slow?.abortedAtMs);
        assert.equal(rig().upstream.requests.at(-1), slow, "the request behind was executed");
      } finally {
        client.close();
        rig().upstream.replyWith(naturalReply);
      }
    });
  });

  describe("D8: expectations", () => {
    const expecting = (key: string | null, expect = "100-continue"): string =>
      `POST /v1/chat/completions HTTP/1.1\r\nHost: gateway.test\r\n${key === null ? "" : `Authorization: Bearer ${key}\r\n`}Content-Type: application/json\r\nExpect: ${expect}\r\nContent-Length: ${chatBody("open-a", "fine").length}\r\n\r\n`;

    it("says 100 Continue to whom it knows, then serves", async () => {
      const client = await rig().connect();
      client.write(expecting(clientKeys.good));
      assert.equal((await client.readResponse()).status, 100);
      client.write(chatBody("open-a", "fine"));
      await expectServed(rig(), client, "fine");
      client.close();
    });

    it("serves whoever does not wait", async () => {
      const client = await rig().connect();
      client.write(expecting(clientKeys.good) + chatBody("open-a", "fine"));
      assert.equal((await client.readResponse()).status, 100);
      await expectServed(rig(), client, "fine");
      client.close();
    });

    it("refuses strangers before 100 Continue, and reads nothing behind", async () => {
      for (const key of [null, clientKeys.unknown]) {
        const client = await rig().connect();
        client.write(expecting(key));
        const response = await client.readResponse();
        assert.equal(response.status, 401);
        assert.equal(errorCode(response), "invalid_api_key");
        assert.equal(response.header("connection"), "close");
        client.write(goodRequest(forbiddenMark));
        assert.equal((await client.readToEnd()).length, 0);
        client.close();
      }
    });

    const givenAway: readonly (readonly [what: string, from: string, to: string, status: number])[] = [
      ["a body that is too large", "Content-Length: ", "Content-Length: 9", 413],
      ["a body that is no JSON", "application/json", "text/plain", 415],
      ["an encoding that nobody knows", "Expect:", "Content-Encoding: lzma\r\nExpect:", 415],
    ];
    for (const [what, from, to, status] of givenAway) {
      it(`asks for no body where the head tells of ${what}`, async () => {
        const client = await rig().connect();
        const zeros = status === 413 ? "00000000" : "";
        client.write(
          expecting(clientKeys.good)
            .replace(from, to)
            .replace(/\r\n\r\n$/, `${zeros}\r\n\r\n`),
        );
        const response = await client.readResponse();
        assert.equal(response.status, status);
        assert.equal(response.header("connection"), "close");
        client.close();
      });
    }

    for (const value of ["200-ok", "100-continue, x", "x-100-continue-x", "", "100 continue"]) {
      it(`refuses Expect: ${value}`, () =>
        checkRefusal(rig(), {
          name: value,
          bytes: rawRequest({ headers: [`Expect: ${value}`] }),
          status: 417,
          code: "expectation_failed",
          connection: "closed",
        }));
    }
  });
});
