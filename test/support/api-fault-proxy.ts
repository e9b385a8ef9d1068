/**
 * Stands in front of an API server and makes it misbehave: wrong answers, garbage, lines cut in half, watches that end.
 * It ends TLS with the API server's own certificate, so that its clients notice nothing. For faults of the network below
 * (cut, stall, refuse) put a `FaultRelay` in front of it.
 */
import { once } from "node:events";
import type { IncomingMessage, ServerResponse } from "node:http";
import { Agent, createServer, request, type Server } from "node:https";
import type { ControlPlane } from "./kube-control-plane.ts";

/** A question that passes. */
export interface PassingRequest {
  readonly method: string;
  /** Plural of the resource: `apikeys`. */
  readonly resource: string;
  readonly isWatch: boolean;
  readonly query: URLSearchParams;
}

/** An answer instead of the API server's. */
export interface FalseAnswer {
  readonly status: number;
  readonly body?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

export class ApiFaultProxy {
  /** Asked at each question; undefined: it passes. */
  fault: (passing: PassingRequest) => FalseAnswer | undefined = () => undefined;
  /** Asked for each piece of an answer; what it returns passes instead. */
  rewrite: ((passing: PassingRequest, piece: Buffer) => Buffer) | undefined;
  /** What was asked so far. */
  readonly passed: PassingRequest[] = [];
  readonly #watches = new Map<ServerResponse, PassingRequest>();
  readonly #server: Server;
  readonly #agent = new Agent({ keepAlive: true, rejectUnauthorized: false });

  private constructor(plane: ControlPlane) {
    this.#server = createServer(plane.certificate, (incoming, response) => this.#carry(plane.port, incoming, response));
  }

  static async start(plane: ControlPlane): Promise<ApiFaultProxy> {
    const proxy = new ApiFaultProxy(plane);
    proxy.#server.listen(0, "127.0.0.1");
    await once(proxy.#server, "listening");
    return proxy;
  }

  get port(): number {
    const address = this.#server.address();
    return typeof address === "object" && address !== null ? address.port : 0;
  }

  /** Open watches of a resource, or of all. */
  watchCount(resource?: string): number {
    return [...this.#watchesOf(resource)].length;
  }

  /** Writes into open watches, between whatever else comes. */
  inject(text: string, resource?: string): void {
    for (const response of this.#watchesOf(resource)) response.write(text);
  }

  /** Ends watches as a server does whose time is over; `cutLine` leaves half a line behind. */
  endWatches({ resource, cutLine = false }: { resource?: string; cutLine?: boolean } = {}): void {
    for (const response of this.#watchesOf(resource)) {
      if (cutLine) response.write('{"type":"ADDED","object":{"metadata":{"name":"ha');
      response.end();
    }
  }

  /** Passes everything through again. */
  heal(): void {
    this.fault = () => undefined;
    this.rewrite = undefined;
  }

  async close(): Promise<void> {
    this.#server.close();
    this.#server.closeAllConnections();
    this.#agent.destroy();
  }

  *#watchesOf(resource: string | undefined): Generator<ServerResponse> {
    for (const [response, passing] of this.#watches) {
      if (resource === undefined || passing.resource === resource) yield response;
    }
  }

  #carry(port: number, incoming: IncomingMessage, response: ServerResponse): void {
    const url = new URL(incoming.url ?? "/", "https://localhost");
    const parts = url.pathname.split("/").filter((part) => part !== "");
    const afterVersion = parts.slice(parts[0] === "api" ? 2 : 3);
    const isInNamespace = afterVersion[0] === "namespaces" && afterVersion.length > 2;
    const passing: PassingRequest = {
      method: incoming.method ?? "",
      resource: (isInNamespace ? afterVersion[2] : afterVersion[0]) ?? parts[0] ?? "",
      isWatch: url.searchParams.get("watch") === "true",
      query: url.searchParams,
    };
    this.passed.push(passing);
    const answer = this.fault(passing);
    if (answer !== undefined) {
      incoming.resume();
      response
        .writeHead(answer.status, { "content-type": "application/json", ...answer.headers })
        .end(answer.body ?? "{}");
      return;
    }
    const { method, url: path, headers } = incoming;
    const outgoing = request({ port, method, path, headers, agent: this.#agent, host: "127.0.0.1" }, (reply) => {
      response.writeHead(reply.statusCode ?? 502, reply.headers);
      response.flushHeaders();
      if (passing.isWatch) this.#watches.set(response, passing);
      reply.on("data", (piece: Buffer) => response.write(this.rewrite?.(passing, piece) ?? piece));
      reply.on("end", () => response.end());
      reply.on("error", () => response.destroy());
    });
    outgoing.on("error", () => response.destroy());
    response.on("close", () => {
      this.#watches.delete(response);
      outgoing.destroy();
    });
    response.on("error", () => undefined);
    incoming.pipe(outgoing);
  }
}
