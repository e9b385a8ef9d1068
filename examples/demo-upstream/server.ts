/**
 * An upstream for trying and testing: speaks what providers speak (`endpoints.ts`), without a model.
 *
 * Chat echoes the question, calls the first declared tool when asked to, fits a JSON schema when one is given. Pictures
 * show their prompt, near texts have near vectors, speech is a tune, a transcript says how much was heard. Everything
 * reports usage, and streams run at a human pace. Faults are had by model name (`demo-fault-500`) or by the header
 * `x-demo-fault`: a status such as `429`, `cut` (the stream is cut half-way), `error-event` (an error inside the stream)
 * or `stall` (never a reply). It serves the quickstart and the tests; for any other bytes the tests have
 * `test/support/fake-upstream.ts`.
 */
import { type IncomingMessage, Server, type ServerResponse } from "node:http";
import { writeError } from "./chat-completions.ts";
import type { DemoEndpoint } from "./endpoint.ts";
import { matchEndpoint } from "./endpoints.ts";
import { BadRequest } from "./format.ts";
import { readBody } from "./http/read-body.ts";
import { sendJson, sendReply } from "./http/send-reply.ts";
import { text } from "./json-view.ts";
import { acceptRealtime } from "./realtime/accept-realtime.ts";

export interface DemoUpstreamOptions {
  /** Pause before each event of a stream; 0: full speed. */
  readonly paceMs: number;
  /** Only this credential is taken; undefined: any that is not empty. */
  readonly credential?: string;
}

const bodyTimeoutMs = 60_000;

/** Creates the server; the caller listens and closes. */
export function createDemoUpstream(options: DemoUpstreamOptions): Server {
  return new DemoServer(options);
}

class DemoServer extends Server {
  readonly #endSessions: () => void;
  #serial = 0;

  constructor(options: DemoUpstreamOptions) {
    super({ requestTimeout: bodyTimeoutMs }, (request, response) => {
      this.#serial += 1;
      serve(request, response, this.#serial, options).catch(() => response.destroy());
    });
    this.#endSessions = acceptRealtime(this, options);
  }

  /** WebSockets too, which Node's own leaves open. */
  override closeAllConnections(): void {
    super.closeAllConnections();
    this.#endSessions();
  }
}

async function serve(
  request: IncomingMessage,
  response: ServerResponse,
  serial: number,
  options: DemoUpstreamOptions,
): Promise<void> {
  const { method = "GET" } = request;
  const url = new URL(request.url ?? "/", "http://demo");
  const match = method === "POST" ? matchEndpoint(url.pathname) : undefined;
  if (match === undefined) {
    sendJson(response, 404, writeError(404, `Unknown request URL: ${method} ${url.pathname}`, undefined));
    return;
  }
  const { endpoint, modelInPath } = match;
  if (!hasCredential(request, url, endpoint, options)) {
    sendJson(response, 401, endpoint.writeError(401, "Incorrect API key provided.", undefined));
    return;
  }
  try {
    const { fields: body, files } = await readBody(request);
    const model = modelInPath ?? text(body["model"]);
    const fault = text(request.headers["x-demo-fault"]) ?? faultOf(model);
    if (fault !== undefined && /^[45][0-9]{2}$/.test(fault)) {
      const message = `The demo upstream was asked to fail with ${fault}.`;
      sendJson(response, Number(fault), endpoint.writeError(Number(fault), message, undefined));
      return;
    }
    const createdAt = Math.floor(Date.now() / 1000);
    const reply = endpoint.reply({ body, files, model, query: url.searchParams, serial, createdAt });
    // A stall is ended by the client or by the gateway's timeout; the server's end closes it too.
    if (fault === "stall") return;
    await sendReply(response, reply, { serial, paceMs: options.paceMs, fault });
  } catch (error) {
    if (!(error instanceof BadRequest)) throw error;
    sendJson(response, 400, endpoint.writeError(400, error.message, error.param));
  }
}

function faultOf(model: string | undefined): string | undefined {
  return /^demo-fault-([a-z0-9-]+)$/.exec(model ?? "")?.[1];
}

function hasCredential(
  request: IncomingMessage,
  url: URL,
  { keyHeader }: DemoEndpoint,
  options: DemoUpstreamOptions,
): boolean {
  const bearer = /^Bearer (.+)$/.exec(request.headers.authorization ?? "")?.[1];
  const own = keyHeader === "bearer" ? undefined : text(request.headers[keyHeader]);
  const inQuery = keyHeader === "x-goog-api-key" ? (url.searchParams.get("key") ?? undefined) : undefined;
  const given = own ?? inQuery ?? bearer;
  return options.credential === undefined ? given !== undefined && given !== "" : given === options.credential;
}
