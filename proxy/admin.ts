/**
 * The proxy's admin port: health, readiness, metrics, the live configuration and dry runs of decisions.
 *
 * Read-only, for people and scrapers inside; the chart exposes it to neither clients nor the internet. Secrets appear as
 * fingerprints only, and no raw key is ever taken in a URL. Started by `main.ts` beside the data port, with which it
 * shares no path.
 */
import express, { type Express, type Request, type Response } from "express";
import { type ExplainQuestion, explain } from "./explain.ts";
import type { ProxyMetrics } from "./observe/metrics.ts";
import { fingerprint } from "./observe/redact.ts";
import type { ProxySettings } from "./settings.ts";
import type { Snapshot } from "./snapshot/snapshot.ts";
import type { Channel, Credential } from "./snapshot/types.gen.ts";

export interface AdminOptions {
  /** Ready: a first snapshot is live and the proxy is not draining. `reason` is shown when not. */
  readonly readiness: () => { readonly isReady: boolean; readonly reason: string };
  readonly metrics: Pick<ProxyMetrics, "render" | "contentType">;
  readonly snapshot: () => Snapshot;
  readonly settings: ProxySettings;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
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
    const { isReady, reason } = options.readiness();
    response
      .status(isReady ? 200 : 503)
      .type("text/plain")
      .send(isReady ? "ready\n" : `${reason}\n`);
  });

  app.get("/metrics", async (_request, response) => {
    response.set("content-type", options.metrics.contentType).send(await options.metrics.render());
  });

  app.get("/debug/config", (_request, response) => {
    response.json(describeConfig(options.snapshot(), options.settings));
  });

  app.get("/debug/explain", (request, response) => explainCall(request, response, options));

  app.use((_request, response) => {
    response.status(404).type("text/plain").send("not found\n");
  });
  return app;
}

function explainCall(request: Request, response: Response, options: AdminOptions): void {
  const snapshot = options.snapshot();
  const question = readQuestion(request, snapshot);
  if ("refusal" in question) response.status(question.status).json({ error: question.refusal });
  else response.json(explain(question, snapshot, options.now()));
}

interface UnreadableQuestion {
  readonly status: number;
  readonly refusal: string;
}

function readQuestion(request: Request, snapshot: Snapshot): ExplainQuestion | UnreadableQuestion {
  const [key, model, ip, format] = ["key", "model", "ip", "format"].map((name) => readQuery(request, name));
  if (key === undefined || model === undefined) {
    return {
      status: 400,
      refusal: "Give key=NAMESPACE/NAME and model=NAME; ip=ADDRESS and format=FORMAT are optional.",
    };
  }
  const [namespace = "", name = "", ...more] = key.split("/");
  // Whoever pastes a raw key is told so without an echo of it.
  if (name === "" || more.length > 0) return { status: 400, refusal: "key must be NAMESPACE/NAME, never a raw key." };
  const wireFormat = readFormat(format);
  if (wireFormat === undefined) {
    return { status: 400, refusal: "format must be ChatCompletions, Responses, Messages or GenerateContent." };
  }
  const found = snapshot.keyByName(namespace, name);
  if (found === undefined) return { status: 404, refusal: "There is no such key in the live configuration." };
  return { key: found, credential: undefined, model, clientAddress: ip, format: wireFormat };
}

function readQuery(request: Request, name: string): string | undefined {
  const value = request.query[name];
  return typeof value === "string" && value !== "" ? value : undefined;
}

/** The chat format of this name; `ChatCompletions` when none is given. */
export function readFormat(text: string | undefined): ExplainQuestion["format"] | undefined {
  switch (text) {
    case undefined:
      return "ChatCompletions";
    case "ChatCompletions":
    case "Responses":
    case "Messages":
    case "GenerateContent":
      return text;
    default:
      return undefined;
  }
}

function describeConfig(snapshot: Snapshot, settings: ProxySettings): object {
  return {
    revision: snapshot.revision,
    digest: snapshot.digest,
    keys: snapshot.keyCount,
    fleet: snapshot.fleet,
    routeCount: snapshot.routes.length,
    channelCount: snapshot.channels.length,
    routes: snapshot.routes.slice(0, shownMax),
    channels: snapshot.channels.slice(0, shownMax).map((channel) => describeChannel(channel, snapshot)),
    settings,
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
