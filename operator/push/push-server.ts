/**
 * The push endpoint: an Express app that turns HTTP requests into `ProxyConnection`s.
 *
 * `POST /push/v1/stream` with a hello has a response that never ends, with one JSON message a line; `POST
 * /push/v1/streams/<id>/messages` carries messages up. Nothing of the configuration is written before
 * `authenticateProxy` has identified the peer: over the Unix socket of standalone mode every peer that can open the
 * socket is accepted, over TLS the bearer of a pod's token (`tls-listener.ts`). To watch a stream: `curl -N
 * --unix-socket data/push.sock -H 'content-type: application/json' -d @hello.json http://operator/push/v1/stream`.
 */
import { createServer, type Server } from "node:http";
import express, { type ErrorRequestHandler, type Express, type Response } from "express";
import { protocolVersion } from "#proxy/snapshot/push/messages";
import { MessageError, parseHello, parseUpMessage } from "#proxy/snapshot/push/parse-message";
import { type RefusalReason, ReviewUnavailableError } from "./authenticate/peer.ts";
import type { ProxyConnection } from "./connection.ts";
import { acceptStream } from "./open-stream.ts";
import type { ProxyIdentity, PushAppOptions } from "./push-options.ts";

/** A hello is a few KiB, an acknowledgement at most 1,000 rejects, a report at most 10,000 keys. */
const messageBytesMax = 2 * 1024 * 1024;

/** @returns the push endpoint over plain HTTP; the caller must listen where no stranger can connect */
export function createPushServer(options: PushAppOptions): Server {
  return createServer({ keepAliveTimeout: keepAliveMs(options) }, createPushApp(options));
}

/** Longer than the pause between two beats: a post must not meet a connection that is just being closed. */
export function keepAliveMs({ heartbeatMs }: Pick<PushAppOptions, "heartbeatMs">): number {
  return 6 * heartbeatMs;
}

/** The app alone. */
export function createPushApp(options: PushAppOptions): Express {
  const app = express();
  app.enable("strict routing");
  app.enable("case sensitive routing");
  app.disable("x-powered-by");
  app.disable("etag");
  const owners = new WeakMap<ProxyConnection, string>();

  app.use(async (request, response, next) => {
    const identity = await options.authenticateProxy(request);
    if (identity === undefined) {
      response.sendStatus(401);
      return;
    }
    response.locals["identity"] = identity;
    next();
  });

  if (options.peers !== undefined) {
    app.use(`/peers/v${protocolVersion}`, (_request, response, next) => {
      if (identityOf(response).role === "operator") next();
      else refuse(response, options, "wrong_role");
    });
    app.use(`/peers/v${protocolVersion}`, options.peers);
  }
  app.use((_request, response, next) => {
    if (identityOf(response).role === "operator") refuse(response, options, "wrong_role");
    else next();
  });
  app.use(express.json({ limit: messageBytesMax, strict: true }));

  app.post(`/push/v${protocolVersion}/stream`, async (request, response) => {
    const hello = parseHello(request.body);
    const { name, pod } = identityOf(response);
    if (pod !== undefined && hello.proxy !== pod) {
      refuse(response, options, "wrong_pod");
      return;
    }
    if (!hello.protocols.includes(protocolVersion)) {
      response.status(426).json({ error: `this operator speaks version ${protocolVersion}` });
      return;
    }
    if (!options.publisher.hasPublished) {
      // The operator has not read its source yet: an empty configuration would empty the proxy.
      response.status(503).json({ error: "the operator is not ready" });
      return;
    }
    const connection = await acceptStream(options, hello, request, response);
    if (connection !== undefined) owners.set(connection, name);
  });

  app.post(`/push/v${protocolVersion}/streams/:id/messages`, (request, response) => {
    const connection = options.fleet.connection(request.params.id);
    if (connection === undefined || owners.get(connection) !== identityOf(response).name) {
      response.status(409).json({ error: "this operator does not hold that stream" });
      return;
    }
    connection.receive(parseUpMessage(request.body));
    response.status(204).end();
  });

  app.use(((error, _request, response, _next) => {
    if (response.headersSent) response.destroy();
    else if (error instanceof ReviewUnavailableError) {
      response.status(503).json({ error: "the operator cannot check the token now; try again" });
      // The parser's message would quote the body.
    } else if (error instanceof MessageError) response.status(400).json({ error: error.message });
    else response.status(statusOf(error)).json({ error: "the operator does not understand the message" });
  }) satisfies ErrorRequestHandler);
  return app;
}

function identityOf(response: Response): ProxyIdentity {
  const { identity } = response.locals;
  return identity;
}

function refuse(response: Response, options: PushAppOptions, reason: RefusalReason): void {
  options.onRefused?.(reason);
  response.sendStatus(403);
}

function statusOf(error: unknown): number {
  const status = typeof error === "object" && error !== null && "status" in error ? error.status : undefined;
  return typeof status === "number" && status >= 400 && status < 500 ? status : 500;
}
