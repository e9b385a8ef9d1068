/**
 * The operator's admin port: health, readiness, metrics and the view of the fleet.
 *
 * It is read-only and shows no key material. Open it inside the cluster only: it names every object and proxy.
 */
import express, { type Express } from "express";
import type { Registry } from "prom-client";
import type { Compilation } from "./compile/compilation.ts";
import type { ObjectResult } from "./compile/result.ts";
import type { Fleet } from "./push/fleet.ts";
import type { Publisher } from "./push/publisher.ts";

/** A problem of the source (a manifest file, a folder), in words for a person. */
export interface ProblemReport {
  /** The file and line, or the object. */
  readonly where: string;
  readonly message: string;
}

export interface AdminOptions {
  readonly compilation: Pick<Compilation, "refusedIds" | "results">;
  readonly publisher: Publisher;
  readonly fleet: Fleet;
  readonly registry: Registry;
  readonly sourceProblems: () => readonly ProblemReport[];
}

export function createAdminApp(options: AdminOptions): Express {
  const { compilation, publisher, fleet, registry } = options;
  const app = express();
  app.enable("strict routing");
  app.enable("case sensitive routing");
  app.disable("x-powered-by");

  app.get("/healthz", (_request, response) => {
    response.type("text/plain").send("ok\n");
  });

  // Ready once the source has been read: proxies can be served.
  app.get("/readyz", (_request, response) => {
    const isReady = publisher.hasPublished;
    response
      .status(isReady ? 200 : 503)
      .type("text/plain")
      .send(isReady ? "ready\n" : "the operator has not read its source yet\n");
  });

  app.get("/metrics", async (_request, response) => {
    response.type(registry.contentType).send(await registry.metrics());
  });

  app.get("/debug/fleet", (_request, response) => {
    const { revision, digest, keyCount, size } = publisher.snapshot;
    response.json({
      revision,
      digest,
      keys: keyCount,
      sizeBytes: size,
      proxies: fleet.view(),
      refusedByOperator: [
        ...[...compilation.refusedIds].map((id) => ({ id, ...refusalOf(compilation.results.get(id)) })),
        ...[...publisher.problems].map(([id, problem]) => ({ id, ...problem })),
      ],
      problems: options.sourceProblems(),
    });
  });
  return app;
}

function refusalOf(result: ObjectResult | undefined) {
  return { reason: result?.accepted.reason, message: result?.accepted.message };
}
