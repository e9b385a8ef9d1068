/**
 * A client that takes its response slowly but all the time gets it, over TLS as well, where one large write shows nothing of
 * what was taken of it; one that takes nothing is cut.
 */
import assert from "node:assert/strict";
import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { connect as connectTls } from "node:tls";
import { before, describe, it } from "mocha";
import { buildAuthority, buildLeaf } from "#operator/certificates/build-certificate";
import type { ClientResponse } from "#proxy/http1/server/client-response";
import { defaultLimits } from "#proxy/limits";
import { ClientStream } from "#proxy/upstream/client/client-stream";
import { endResponse } from "#proxy/upstream/client/end-response";
import { Http1Server } from "#test/support/http1-server";
import { waitFor } from "#test/support/wait-for";

/** More than the kernel takes for a client that reads nothing. */
const large = Buffer.alloc(24 * 1024 * 1024, "x");
/** Long enough for a machine that is busy with other things. */
const silenceMs = 2_000;
/** The response takes several times as long as a client may be silent. */
const bytesATurn = large.length / 20;
const turnMs = silenceMs / 8;
const day = 24 * 3_600_000;
const limits = { ...defaultLimits, slowReaderTimeoutMs: silenceMs };

type Responder = (response: ClientResponse) => void;

interface Told {
  drained: number;
  slow: number;
}

interface Received {
  readonly bytes: number;
  /** The last of what was sent. */
  readonly end: string;
  /** Whether the server takes its response for finished. */
  readonly isFinished: boolean;
}

interface Row {
  readonly name: string;
  readonly reads: boolean;
  readonly respond: (told: Told) => Responder;
  readonly want: {
    readonly isFinished?: boolean;
    readonly isAll?: boolean;
    /** Little of it, and no clean end. */
    readonly isPart?: boolean;
    readonly told?: Told;
    readonly end?: RegExp;
  };
}

/** One event of that size, in the manner of a stream, with whatever follows it. */
function streamed(end: (client: ClientStream) => void, told: Told): Responder {
  return (response) => {
    const client = new ClientStream(response, "text/event-stream", [], limits);
    client.listenWith({
      onDrain: () => {
        told.drained += 1;
      },
      onSlowReader: () => {
        told.slow += 1;
      },
    });
    assert.equal(client.write([large]), false);
    end(client);
  };
}

describe("slow clients", function () {
  this.timeout(30_000);
  let tls: { readonly key: string; readonly cert: string; readonly ca: string };

  before(async () => {
    const validity = { notBeforeMs: Date.now() - day, notAfterMs: Date.now() + day };
    const authority = await buildAuthority("test", validity);
    const leaf = await buildLeaf(authority, { ...validity, dnsNames: ["localhost"] });
    tls = { key: leaf.privateKey, cert: leaf.certificate, ca: authority.certificate };
  });

  async function receive(transport: "TCP" | "TLS", reads: boolean, respond: Responder): Promise<Received> {
    let response: ClientResponse | undefined;
    const server = await Http1Server.start({
      limits: { slowReaderTimeoutMs: silenceMs },
      ...(transport === "TLS" ? { tls } : {}),
      handle: (exchange) => {
        response = exchange.response;
        setImmediate(() => respond(exchange.response));
      },
    });
    const { port } = server;
    const socket =
      transport === "TLS" ? connectTls({ port, ca: tls.ca, servername: "localhost" }) : connect(port, "127.0.0.1");
    const chunks: Buffer[] = [];
    socket.on("error", () => {});
    await once(socket, transport === "TLS" ? "secureConnect" : "connect");
    const timer = reads ? readSlowly(socket, chunks) : undefined;
    if (!reads) socket.pause();
    socket.write("GET / HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n");
    try {
      await waitFor("the end of the response", () => (reads ? socket.closed : response?.closed === true), {
        deadlineMs: 20_000,
      });
    } finally {
      clearInterval(timer);
      socket.destroy();
      await server.close();
    }
    return {
      bytes: chunks.reduce((sum, { length }) => sum + length, 0),
      end: endOf(chunks),
      isFinished: response?.writableFinished === true,
    };
  }

  function readSlowly(socket: Socket, chunks: Buffer[]): NodeJS.Timeout {
    let taken = 0;
    socket.on("data", (chunk) => {
      chunks.push(chunk);
      taken += chunk.length;
      if (taken < bytesATurn) return;
      taken = 0;
      socket.pause();
    });
    return setInterval(() => socket.resume(), turnMs);
  }

  function endOf(chunks: readonly Buffer[]): string {
    return Buffer.concat(chunks.slice(-2)).subarray(-100).toString("latin1");
  }

  const whole: Responder = (response) => {
    response.writeHead(200, [], large.length);
    endResponse(response, large);
  };

  const behind = Buffer.from("behind");
  const gone = Buffer.from("data: gone\n\n");
  const nobody = (): Told => ({ drained: 0, slow: 0 });
  const rows: readonly Row[] = [
    {
      name: "have all of a large response",
      reads: true,
      respond: () => whole,
      want: { isFinished: true, isAll: true },
    },
    { name: "are cut where they take nothing of it", reads: false, respond: () => whole, want: { isFinished: false } },
    {
      name: "have all of a stream with a large event, and what comes behind it",
      reads: true,
      respond: (told) =>
        streamed((client) => {
          client.write([behind]);
          client.endClean();
          client.release();
        }, told),
      want: { isFinished: true, isAll: true, end: /behind\r\n0\r\n\r\n$/ },
    },
    {
      name: "are asked for more when they have taken a large event",
      reads: true,
      respond: (told) =>
        streamed((client) => {
          const timer = setInterval(() => {
            if (told.drained === 0) return;
            clearInterval(timer);
            client.endClean();
          }, turnMs);
        }, told),
      want: { isFinished: true, isAll: true, told: { drained: 1, slow: 0 } },
    },
    {
      name: "hear of an error behind a large event",
      reads: true,
      respond: (told) =>
        streamed((client) => {
          void client.endFailed(gone, "sent", false);
          client.release();
        }, told),
      want: { isAll: true, end: /data: gone\n\n\r\n$/ },
    },
    {
      name: "hear of an error behind a large event, and have a clean end behind that where it was asked for",
      reads: true,
      respond: (told) =>
        streamed((client) => {
          void client.endFailed(gone, "sent", true);
          client.release();
        }, told),
      want: { isFinished: true, isAll: true, end: /data: gone\n\n\r\n0\r\n\r\n$/ },
    },
    {
      name: "have no clean end behind half of a large event, whatever was asked for",
      reads: true,
      respond: (told) => streamed((client) => void client.endFailed(gone, "withheld", true), told),
      want: { isPart: true, end: /xxx(?:\r\n)?$/ },
    },
    {
      name: "have a clean end where nothing waits that could be withheld",
      reads: true,
      respond: () => (response) => {
        const client = new ClientStream(response, "text/event-stream", [], limits);
        client.write([behind]);
        void client.endFailed(gone, "withheld", true);
      },
      want: { isFinished: true, end: /data: gone\n\n\r\n0\r\n\r\n$/ },
    },
    {
      name: "are cut where they take nothing of an error behind it, whose end would be clean",
      reads: false,
      respond: (told) => streamed((client) => void client.endFailed(gone, "sent", true), told),
      want: { isFinished: false },
    },
    {
      name: "get no more of a large event where what waits is withheld, and no error behind half of one",
      reads: true,
      respond: (told) => streamed((client) => void client.endFailed(gone, "withheld", false), told),
      want: { isPart: true, end: /xxx(?:\r\n)?$/ },
    },
    {
      name: "hear of an error where nothing waits that could be withheld",
      reads: true,
      respond: () => (response) => {
        const client = new ClientStream(response, "text/event-stream", [], limits);
        client.write([behind]);
        void client.endFailed(gone, "withheld", false);
      },
      want: { isPart: true, end: /data: gone\n\n\r\n$/ },
    },
    {
      name: "are cut where they take nothing of a large event",
      reads: false,
      respond: (told) => streamed(() => {}, told),
      want: { isFinished: false, told: { drained: 0, slow: 1 } },
    },
    {
      name: "are cut where they take nothing of an error behind it",
      reads: false,
      respond: (told) => streamed((client) => void client.endFailed(gone, "sent", false), told),
      want: { isFinished: false },
    },
  ];

  for (const transport of ["TCP", "TLS"] as const) {
    describe(`over ${transport}`, () => {
      let results: readonly PromiseSettledResult<Received & { readonly told: Told }>[];
      // Side by side: all they do is wait.
      before(async () => {
        results = await Promise.allSettled(
          rows.map(async ({ reads, respond }) => {
            const told = nobody();
            return { ...(await receive(transport, reads, respond(told))), told };
          }),
        );
      });

      for (const [index, { name, want }] of rows.entries()) {
        it(name, () => {
          const result = results[index];
          assert.equal(result?.status, "fulfilled", String(result?.status === "rejected" ? result.reason : ""));
          const { bytes, end, isFinished, told } = result.value;
          if (want.isFinished !== undefined) assert.equal(isFinished, want.isFinished);
          if (want.isAll === true) assert.ok(bytes >= large.length, `${bytes} bytes`);
          if (want.isPart === true) assert.ok(bytes > 0 && bytes < large.length / 2, `${bytes} bytes`);
          if (want.told !== undefined) assert.deepEqual(told, want.told);
          if (want.end !== undefined) assert.match(end, want.end);
        });
      }
    });
  }
});
