/**
 * Serves the proxy's admin port: health, readiness, metrics, the live configuration and dry runs of decisions.
 *
 * The port is read-only and for people and scrapers inside the cluster; the chart exposes it to neither clients nor
 * the internet. Secrets appear as fingerprints only, and no URL takes a raw key. `main.ts` starts it beside the data
 * port, with which it shares no path.
 */
import { createServer, type Server } from "node:http";
import express, { type Express, type Request, type Response } from "express";
import { type ExplainQuestion, type Explanation, explainedFormats, readFormat } from "./explain.ts";
import type { ProxyMetrics } from "./observe/metrics.ts";
import { fingerprint } from "./observe/redact.ts";
import type { ListenAddress } from "./settings.ts";
import type { Snapshot } from "./snapshot/snapshot.ts";
import type { Channel, Credential } from "./snapshot/types.gen.ts";

export interface AdminOptions {
  readonly listen: ListenAddress;
  readonly metrics: Pick<ProxyMetrics, "render" | "contentType">;
  readonly snapshots: { pin(): Snapshot; readonly isReady: boolean };
  /** A draining proxy is not ready: load balancers must look elsewhere. */
  readonly isDraining: () => boolean;
  readonly explain: (question: ExplainQuestion) => Explanation;
}

export interface RunningAdmin {
  /** Where it really listens. */
  readonly address: ListenAddress;
  close(): Promise<void>;
}

/** Idle and slow connections of scrapers are ended; nothing large is ever read. */
const adminTimeouts = { headersTimeout: 5_000, requestTimeout: 10_000, keepAliveTimeout: 30_000 };

/** Opens the admin port. @throws Error when it cannot be opened */
export async function startAdmin(options: AdminOptions): Promise<RunningAdmin> {
  const server = createServer(adminTimeouts, createAdminApp(options));
  const { host, port } = options.listen;
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(port, host, () => {
      server.off("error", reject);
      resolve();
    });
  });
  const address = server.address();
  return {
    address: { host, port: typeof address === "object" && address !== null ? address.port : port },
    close: () => closeServer(server),
  };
}

function closeServer(server: Server): Promise<void> {
  return new Promise((resolve) => {
    server.close(() => resolve());
    server.closeAllConnections();
  });
}

/** Routes and channels shown by `/debug/config` at most. */
const shownMax = 1_000;

/** Creates the app; the caller listens and closes. */
export function createAdminApp(options: AdminOptions): Express {
  const app = express();
  app.enable("strict routing");
  app.enable("case sensitive routing");
  app.disable("x-powered-by");
  app.disable("etag");
  app.use((_request, response, next) => {
    response.set({ "cache-control": "no-store", "x-content-type-options": "nosniff" });
    next();
  });

  app.get("/healthz", (_request, response) => {
    response.type("text/plain").send("ok\n");
  });

  app.get("/readyz", (_request, response) => {
    const problem = options.isDraining() ? "draining" : options.snapshots.isReady ? undefined : "no configuration yet";
    response
      .status(problem === undefined ? 200 : 503)
      .type("text/plain")
      .send(`${problem ?? "ready"}\n`);
  });

  app.get("/metrics", async (_request, response) => {
    response.set("content-type", options.metrics.contentType).send(await options.metrics.render());
  });

  app.get("/debug/config", (_request, response) => {
    response.json(describeConfig(options.snapshots.pin()));
  });

  app.get("/debug/explain", (request, response) => explainCall(request, response, options));

  app.use((_request, response) => {
    response.status(404).type("text/plain").send("not found\n");
  });
  return app;
}

function explainCall(request: Request, response: Response, options: AdminOptions): void {
  const question = readQuestion(request);
  if ("problem" in question) response.status(400).json({ error: question.problem });
  else response.json(options.explain(question));
}

function readQuestion(request: Request): ExplainQuestion | { readonly problem: string } {
  const [key, model, address, format] = ["key", "model", "ip", "format"].map((name) => readQuery(request, name));
  if (key === undefined || model === undefined) {
    return { problem: "Give key=NAMESPACE/NAME and model=NAME; ip=ADDRESS and format=FORMAT are optional." };
  }
  // A raw key that somebody pastes is refused without an echo of it.
  if (!/^[a-z0-9.-]+\/[a-z0-9.-]+$/.test(key)) return { problem: "key must be NAMESPACE/NAME, never a raw key." };
  const wireFormat = readFormat(format);
  if (wireFormat === undefined) {
    return { problem: `format must be one of ${explainedFormats.join(", ")}.` };
  }
  return { key, model, address, format: wireFormat };
}

function readQuery(request: Request, name: string): string | undefined {
  const value = request.query[name];
  return typeof value === "string" && value !== "" ? value : undefined;
}

function describeConfig(snapshot: Snapshot): object {
  return {
    revision: snapshot.revision,
    digest: snapshot.digest,
    keys: snapshot.keyCount,
    fleet: snapshot.fleet,
    routeCount: snapshot.routes.length,
    channelCount: snapshot.channels.length,
    routes: snapshot.routes.slice(0, shownMax),
    channels: snapshot.channels.slice(0, shownMax).map((channel) => describeChannel(channel, snapshot)),
  };
}

/** Header values and key material may be secrets of the upstream, so they show as fingerprints. */
function describeChannel(channel: Channel, snapshot: Snapshot): object {
  const secret = (name: string): Credential | undefined => snapshot.credential(channel.namespace, channel.name, name);
  return {
    ...channel,
    credentials: channel.credentials.map((credential) => {
      const held = secret(credential.name);
      return { ...credential, fingerprint: held === undefined ? undefined : fingerprint(held.secret) };
    }),
    headersSet: channel.headersSet?.map(({ name, value }) => ({ name, fingerprint: fingerprint(value) })),
    tls:
      channel.tls === undefined
        ? undefined
        : {
            ...channel.tls,
            privateKey: channel.tls.privateKey === undefined ? undefined : fingerprint(channel.tls.privateKey),
          },
    proxyURL: channel.proxyURL === undefined ? undefined : withoutCredentials(channel.proxyURL),
    body:
      channel.body === undefined
        ? undefined
        : { ...channel.body, default: describeMembers(channel.body.default), set: describeMembers(channel.body.set) },
  };
}

function describeMembers(
  members: readonly { readonly field: string; readonly value: unknown }[] | undefined,
): object[] | undefined {
  return members?.map(({ field, value }) => ({ field, fingerprint: fingerprint(JSON.stringify(value) ?? "") }));
}

function withoutCredentials(url: string): string {
  const parsed = new URL(url);
  parsed.username = "";
  parsed.password = "";
  return parsed.href;
}
