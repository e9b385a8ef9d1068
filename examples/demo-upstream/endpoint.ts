/** What each path of the demo upstream gives: a call in, a reply out. The list of them is `endpoints.ts`. */
import type { DemoFile } from "./http/read-form.ts";
import type { JsonObject } from "./json-view.ts";

/** A call as every endpoint gets it. */
export interface DemoCall {
  /** The JSON body, or the fields of a form, where a name that came several times has a list. */
  readonly body: JsonObject;
  /** Files of a form, in order. */
  readonly files: readonly DemoFile[];
  /** The model that path or body names; undefined where neither does. */
  readonly model: string | undefined;
  readonly query: URLSearchParams;
  /** Number of this call, unique in the server: base of ids. */
  readonly serial: number;
  /** Seconds since the epoch. */
  readonly createdAt: number;
}

/** A body that is sent at once. */
export interface WholeReply {
  readonly kind: "whole";
  readonly contentType: string;
  readonly body: string | Buffer;
}

/** A body that is sent piece by piece, at the server's pace. */
export interface StreamedReply {
  readonly kind: "streamed";
  readonly contentType: string;
  readonly pieces: readonly (string | Buffer)[];
  /** Sent behind the last piece. */
  readonly ending?: string;
  /** Sent half-way, before `ending`, when a call asks for an error inside its stream; without one the stream is cut. */
  readonly errorPiece?: string;
}

export type DemoReply = WholeReply | StreamedReply;

/** Served with POST. */
export interface DemoEndpoint {
  /** Its group `model` is the model in the path, percent-encoded. */
  readonly path: RegExp;
  /** The header that holds the credential, beside a bearer token; `bearer`: nothing else is taken. */
  readonly keyHeader: "bearer" | "x-api-key" | "x-goog-api-key";
  /** @throws BadRequest */
  reply(call: DemoCall): DemoReply;
  writeError(status: number, message: string, param: string | undefined): unknown;
}

/** A reply that is one JSON value. */
export function jsonReply(body: unknown): WholeReply {
  return { kind: "whole", contentType: "application/json", body: JSON.stringify(body) };
}

/** A stream of server-sent events, each complete with its blank line. */
export function eventsReply(events: readonly string[], errorPiece: string): StreamedReply {
  return { kind: "streamed", contentType: "text/event-stream; charset=utf-8", pieces: events, errorPiece };
}

/** An event with the name that its data has as `type`. */
export function namedEvent(data: { readonly type: string } & JsonObject): string {
  return `event: ${data.type}\ndata: ${JSON.stringify(data)}\n\n`;
}
