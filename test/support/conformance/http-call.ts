/** One HTTP call by Node's own client, whose answer is read to its end however it ends. */
import { Agent, request } from "node:http";

export interface HttpCall {
  readonly origin: string;
  /** POST with a body, GET without one. */
  readonly method?: string;
  readonly path: string;
  readonly headers?: Readonly<Record<string, string | string[]>>;
  readonly body?: string | Buffer;
}

export interface HttpAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body: Buffer;
  /** False when the connection ended before the body was complete. */
  readonly isComplete: boolean;
  /** One header's value, or undefined. */
  header(name: string): string | undefined;
  /** The body parsed. */
  json(): unknown;
}

const agent = new Agent({ keepAlive: true, maxSockets: 16 });
const timeoutMs = 15_000;

/** @throws Error when no head comes, or none in time */
export function httpCall(call: HttpCall): Promise<HttpAnswer> {
  const { origin, path, body } = call;
  const { hostname, port } = new URL(origin);
  const method = call.method ?? (body === undefined ? "GET" : "POST");
  const headers = { ...(body === undefined ? {} : { "content-type": "application/json" }), ...call.headers };
  return new Promise((resolve, reject) => {
    // A path as given: a URL object would normalise it.
    const sent = request({ hostname, port, path, method, headers, agent, timeout: timeoutMs }, (response) => {
      const chunks: Buffer[] = [];
      const finish = (): void => resolve(answerOf(response, Buffer.concat(chunks)));
      response.on("data", (chunk: Buffer) => chunks.push(chunk));
      response.on("end", finish).on("error", finish);
    });
    sent.on("timeout", () => sent.destroy(new Error(`no answer to ${method} ${path} within ${timeoutMs} ms`)));
    sent.on("error", reject);
    sent.end(body);
  });
}

function answerOf(
  response: { statusCode?: number | undefined; headers: HttpAnswer["headers"]; complete: boolean },
  body: Buffer,
): HttpAnswer {
  const { headers } = response;
  return {
    status: response.statusCode ?? 0,
    headers,
    body,
    isComplete: response.complete,
    header: (name) => (headers[name] === undefined ? undefined : String(headers[name])),
    json: () => JSON.parse(body.toString("utf8")),
  };
}
