/** A streamed call of which a test reads what has come so far, and which it may leave. */
import { request } from "node:http";
import type { DigestProtocol } from "#test/support/digest/facts";
import { callFormOf } from "./chat-calls.ts";

export interface OpenStream {
  status(): number | undefined;
  text(): string;
  isComplete(): boolean;
  readonly ended: Promise<void>;
  leave(): void;
}

export function openStream(origin: string, to: DigestProtocol, model: string): OpenStream {
  const form = callFormOf(to);
  const { hostname, port } = new URL(origin);
  const headers = { ...form.headers("main"), "content-type": "application/json" };
  let status: number | undefined;
  let text = "";
  let isComplete = false;
  let end = (): void => undefined;
  const ended = new Promise<void>((resolve) => {
    end = resolve;
  });
  const sent = request({ hostname, port, path: form.path(model, true), method: "POST", headers }, (response) => {
    status = response.statusCode;
    response.setEncoding("utf8").on("data", (piece: string) => {
      text += piece;
    });
    response
      .on("error", () => undefined)
      .on("close", () => {
        isComplete = response.complete;
        end();
      });
  });
  sent.on("error", end);
  sent.end(JSON.stringify(form.body(model, true)));
  return { status: () => status, text: () => text, isComplete: () => isComplete, ended, leave: () => sent.destroy() };
}
