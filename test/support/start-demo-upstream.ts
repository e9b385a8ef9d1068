/** The demo upstream on a free port, for tests of what it says to its clients. */
import assert from "node:assert/strict";
import { createDemoUpstream } from "#examples/demo-upstream/server";

export interface RunningDemoUpstream {
  /** `http://127.0.0.1:PORT` */
  readonly origin: string;
  /** Posts a JSON value or a form, with a bearer token. */
  post(path: string, body: object | FormData): Promise<Response>;
  /** Posts, wants 200 and gives the JSON of the reply. */
  json(path: string, body: object | FormData): Promise<unknown>;
  close(): void;
}

export async function startDemoUpstream(): Promise<RunningDemoUpstream> {
  const server = createDemoUpstream({ paceMs: 0 });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  assert.ok(typeof address === "object" && address !== null);
  const origin = `http://127.0.0.1:${address.port}`;
  const post = (path: string, body: object | FormData): Promise<Response> =>
    fetch(`${origin}${path}`, {
      method: "POST",
      headers: {
        authorization: "Bearer demo",
        ...(body instanceof FormData ? {} : { "content-type": "application/json" }),
      },
      body: body instanceof FormData ? body : JSON.stringify(body),
    });
  return {
    origin,
    post,
    json: async (path, body) => {
      const response = await post(path, body);
      const text = await response.text();
      assert.equal(response.status, 200, text);
      return JSON.parse(text);
    },
    close: () => {
      server.close();
      server.closeAllConnections();
    },
  };
}

/** The data of each server-sent event, as JSON, without `[DONE]`. */
export function eventsOf(stream: string): readonly unknown[] {
  return [...stream.matchAll(/^data: (.*)$/gm)]
    .map(([, data = ""]) => data)
    .filter((data) => data !== "[DONE]")
    .map((data): unknown => JSON.parse(data));
}
