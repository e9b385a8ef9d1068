/**
 * The push endpoint: an Express app that turns HTTP into `ProxyConnection`s.
 *
 * `POST /push/v1/stream` with a hello answers with a reply that never ends, one JSON message a line;
 * `POST /push/v1/streams/<id>/messages` carries messages up. Nothing of the configuration is written before
 * `authenticateProxy` has said who asks: over the Unix socket of standalone mode that is whoever may open the socket,
 * over TLS it will be the bearer of a token. To look at it:
 * `curl -N --unix-socket data/push.sock -H 'content-type: application/json' -d @hello.json http://operator/push/v1/stream`.
 */
import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { createServer, type IncomingMessage, type Server } from "node:http";
import express, { type ErrorRequestHandler, type Express, type Request, type Response } from "express";
import { type Hello, protocolVersion, type Report } from "../../proxy/snapshot/push/messages.ts";
import { MessageError, parseHello, parseUpMessage } from "../../proxy/snapshot/push/parse-message.ts";
import { systemTimers, type Timers } from "../../proxy/snapshot/push/timers.ts";
import { type LineSink, ProxyConnection } from "./connection.ts";
import type { Fleet } from "./fleet.ts";
import type { Publisher } from "./publisher.ts";

/** Who a request comes from; posts for a stream must come from whoever opened it. */
export interface ProxyIdentity {
  readonly name: string;
}

export interface PushAppOptions {
  readonly publisher: Publisher;
  readonly fleet: Fleet;
  /** Distinguishes this run of this operator from all others. */
  readonly operator: string;
  readonly epoch: number;
  readonly heartbeatMs: number;
  readonly deadMs: number;
  readonly authenticateProxy: (request: IncomingMessage) => Promise<ProxyIdentity | undefined>;
  readonly onReport?: (proxy: string, report: Report) => void;
  readonly timers?: Timers;
}

/** A hello is a few KiB, an acknowledgement at most 1,000 rejects, a report at most 10,000 keys. */
const messageBytesMax = 2 * 1024 * 1024;

/**
 * Parts that may wait in a stream. Several, or on a busy machine each part would wait for a turn of both processes; few,
 * or a revocation would wait behind them and slow proxies would cost memory.
 */
const unsentBytesMax = 2 * 1024 * 1024;

/** @returns the server of the push endpoint; whoever calls it listens and closes. */
export function createPushServer(options: PushAppOptions): Server {
  // Longer than the pause between two beats: a post must not meet a connection that is just being closed.
  return createServer({ keepAliveTimeout: 6 * options.heartbeatMs }, createPushApp(options));
}

/** The app alone. */
export function createPushApp(options: PushAppOptions): Express {
  const app = express();
  app.enable("strict routing");
  app.enable("case sensitive routing");
  app.disable("x-powered-by");
  app.disable("etag");
  const identities = new WeakMap<ProxyConnection, string>();

  app.use(async (request, response, next) => {
    const identity = await options.authenticateProxy(request);
    if (identity === undefined) {
      response.sendStatus(401);
      return;
    }
    response.locals["identity"] = identity.name;
    next();
  });
  app.use(express.json({ limit: messageBytesMax, strict: true }));

  app.post(`/push/v${protocolVersion}/stream`, (request, response) => {
    const hello = parseHello(request.body);
    if (!hello.protocols.includes(protocolVersion)) {
      response.status(426).json({ error: `this operator speaks version ${protocolVersion}` });
      return;
    }
    if (!options.publisher.hasPublished) {
      // Its own view is not complete yet: an empty one would empty the proxy.
      response.status(503).json({ error: "the operator is not ready" });
      return;
    }
    identities.set(openStream(options, hello, request, response), String(response.locals["identity"]));
  });

  app.post(`/push/v${protocolVersion}/streams/:id/messages`, (request, response) => {
    const connection = options.fleet.connection(request.params.id);
    if (connection === undefined || identities.get(connection) !== response.locals["identity"]) {
      response.status(409).json({ error: "this operator does not hold that stream" });
      return;
    }
    connection.receive(parseUpMessage(request.body));
    response.status(204).end();
  });

  app.use(((error, _request, response, _next) => {
    // A parser's own message would quote the body.
    const status = error instanceof MessageError ? 400 : statusOf(error);
    if (response.headersSent) response.destroy();
    else response.status(status).json({ error: error instanceof MessageError ? error.message : "not understood" });
  }) satisfies ErrorRequestHandler);
  return app;
}

function openStream(options: PushAppOptions, hello: Hello, request: Request, response: Response): ProxyConnection {
  response.status(200).setHeader("content-type", "application/x-ndjson");
  response.setHeader("cache-control", "no-store");
  response.flushHeaders();
  request.socket.setNoDelay(true);
  const connection = new ProxyConnection(
    {
      id: randomUUID(),
      operator: options.operator,
      epoch: options.epoch,
      hello,
      sink: sinkTo(response),
      timers: options.timers ?? systemTimers,
      heartbeatMs: options.heartbeatMs,
      deadMs: options.deadMs,
      onChange: (changed) => options.fleet.update(changed),
      ...(options.onReport === undefined ? {} : { onReport: options.onReport }),
    },
    options.publisher.snapshot,
  );
  response.on("close", () => connection.close("the proxy closed the stream"));
  response.on("error", () => connection.close("the stream broke"));
  options.fleet.join(connection);
  connection.start();
  return connection;
}

function sinkTo(response: Response): LineSink {
  return {
    write: (line) => {
      if (!response.writable) return false;
      response.write(line);
      return response.writableLength < unsentBytesMax;
    },
    async drained() {
      // It may have drained since the write: then the event has passed and will not come again.
      if (!response.writableNeedDrain && !response.destroyed) return;
      const ended = new AbortController();
      const onClose = () => ended.abort();
      response.once("close", onClose);
      try {
        if (response.destroyed) ended.abort();
        await once(response, "drain", { signal: ended.signal });
      } finally {
        response.off("close", onClose);
      }
    },
    end: () => {
      response.end();
      // A peer that reads nothing would keep the socket for ever.
      setTimeout(() => response.destroy(), 1_000).unref();
    },
  };
}

function statusOf(error: unknown): number {
  const status = typeof error === "object" && error !== null && "status" in error ? error.status : undefined;
  return typeof status === "number" && status >= 400 && status < 500 ? status : 500;
}
