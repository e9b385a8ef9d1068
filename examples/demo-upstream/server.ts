/**
 * An upstream for trying and testing: speaks the four chat formats as their providers do, without a model.
 *
 * Answers echo the question, call the first declared tool when asked to, fit a JSON schema when one is given, report
 * usage, and stream at a human pace. Faults are had by model name (`demo-fault-500`) or by the header `x-demo-fault`: a
 * status such as `429`, `cut` (the stream is cut half-way), `error-event` (an error inside the stream) or `stall` (never
 * an answer). It serves the quickstart and the tests; for any other bytes the tests have `test/support/fake-upstream.ts`.
 */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";
import { chatCompletions } from "./chat-completions.ts";
import { answer } from "./conversation.ts";
import { BadRequest, type DemoFormat } from "./format.ts";
import { generateContent } from "./generate-content.ts";
import { isObject, type JsonObject, text } from "./json-view.ts";
import { messages } from "./messages.ts";
import { responses } from "./responses.ts";

export interface DemoUpstreamOptions {
  /** Pause before each event of a stream; 0: full speed. */
  readonly paceMs: number;
  /** Only this credential is taken; undefined: any that is not empty. */
  readonly credential?: string;
}

/** Larger bodies are refused: the gateway in front allows 32 MiB. */
const bodyBytesMax = 40 * 1024 * 1024;
const bodyTimeoutMs = 60_000;

interface Call {
  readonly format: DemoFormat;
  readonly isGemini: boolean;
  readonly modelInPath: string | undefined;
  /** How Gemini-style streams are framed; undefined: the body says whether to stream. */
  readonly geminiStream: "none" | "sse" | "array";
}

/** Creates the server; the caller listens and closes. */
export function createDemoUpstream(options: DemoUpstreamOptions): Server {
  let serial = 0;
  return createServer({ requestTimeout: bodyTimeoutMs }, (request, response) => {
    serial += 1;
    serve(request, response, serial, options).catch(() => response.destroy());
  });
}

async function serve(
  request: IncomingMessage,
  response: ServerResponse,
  serial: number,
  options: DemoUpstreamOptions,
): Promise<void> {
  const url = new URL(request.url ?? "/", "http://demo");
  const call = matchCall(url);
  if (call === undefined || request.method !== "POST") {
    sendJson(
      response,
      404,
      chatCompletions.writeError(404, `Unknown request URL: ${request.method} ${url.pathname}`, undefined),
    );
    return;
  }
  if (!hasCredential(request, url, call, options)) {
    sendJson(response, 401, call.format.writeError(401, "Incorrect API key provided.", undefined));
    return;
  }
  try {
    const body = await readBody(request);
    await reply({ request, response, call, body, serial, paceMs: options.paceMs });
  } catch (error) {
    if (!(error instanceof BadRequest)) throw error;
    sendJson(response, 400, call.format.writeError(400, error.message, error.param));
  }
}

function matchCall(url: URL): Call | undefined {
  const plain = { isGemini: false, modelInPath: undefined, geminiStream: "none" } as const;
  switch (url.pathname) {
    case "/v1/chat/completions":
      return { format: chatCompletions, ...plain };
    case "/v1/responses":
      return { format: responses, ...plain };
    case "/v1/messages":
      return { format: messages, ...plain };
    default: {
      const match = /^\/v1(?:beta|alpha)?\/models\/(.+):(generateContent|streamGenerateContent)$/.exec(url.pathname);
      if (match?.[1] === undefined) return undefined;
      const framing = url.searchParams.get("alt") === "sse" ? "sse" : "array";
      return {
        format: generateContent,
        isGemini: true,
        modelInPath: decodeURIComponent(match[1]),
        geminiStream: match[2] === "generateContent" ? "none" : framing,
      };
    }
  }
}

function hasCredential(request: IncomingMessage, url: URL, call: Call, options: DemoUpstreamOptions): boolean {
  const bearer = /^Bearer (.+)$/.exec(request.headers.authorization ?? "")?.[1];
  const own = call.isGemini
    ? (text(request.headers["x-goog-api-key"]) ?? url.searchParams.get("key") ?? undefined)
    : text(request.headers["x-api-key"]);
  const given = call.format === chatCompletions || call.format === responses ? bearer : (own ?? bearer);
  return options.credential === undefined ? given !== undefined && given !== "" : given === options.credential;
}

async function readBody(request: IncomingMessage): Promise<JsonObject> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of request) {
    size += chunk.length;
    if (size > bodyBytesMax) throw new BadRequest("", "The request is too large.");
    chunks.push(chunk);
  }
  try {
    const body: unknown = JSON.parse(Buffer.concat(chunks).toString("utf8"));
    if (isObject(body)) return body;
  } catch {
    // Told below, like a body that is no object.
  }
  throw new BadRequest("", "We could not parse the JSON body of your request.");
}

interface Exchange {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly call: Call;
  readonly body: JsonObject;
  readonly serial: number;
  readonly paceMs: number;
}

async function reply(exchange: Exchange): Promise<void> {
  const { request, response, call, body, serial } = exchange;
  const question = call.format.readQuestion(body, call.modelInPath);
  const fault = text(request.headers["x-demo-fault"]) ?? /^demo-fault-([a-z0-9-]+)$/.exec(question.model)?.[1];
  if (fault !== undefined && /^[45][0-9]{2}$/.test(fault)) {
    sendJson(
      response,
      Number(fault),
      call.format.writeError(Number(fault), `The demo upstream was asked to fail with ${fault}.`, undefined),
    );
    return;
  }
  // A stall is ended by the client or by the gateway's timeout; the server's end closes it too.
  if (fault === "stall") return;
  const context = { question, answer: answer(question), body, serial, createdAt: Math.floor(Date.now() / 1000) };
  const isStream = call.isGemini ? call.geminiStream !== "none" : body["stream"] === true;
  if (isStream) await sendStream(exchange, call.format.writeStream(context), fault);
  else sendJson(response, 200, call.format.writeReply(context));
}

async function sendStream(exchange: Exchange, events: readonly string[], fault: string | undefined): Promise<void> {
  const { response, call, paceMs } = exchange;
  const isArray = call.geminiStream === "array";
  response.writeHead(200, {
    "content-type": isArray ? "application/json; charset=UTF-8" : "text/event-stream; charset=utf-8",
    "cache-control": "no-cache",
    "x-request-id": `req_demo${exchange.serial}`,
  });
  const half = Math.ceil(events.length / 2);
  for (const [index, event] of events.entries()) {
    if (response.destroyed) return;
    if (index === half && fault === "cut") {
      // What was written goes out first; then FIN, without the end of the chunked body.
      response.socket?.end();
      return;
    }
    if (index === half && fault === "error-event") {
      response.end(
        frame(call, call.format.writeStreamError("The demo upstream was asked to fail."), index) + (isArray ? "]" : ""),
      );
      return;
    }
    if (paceMs > 0) await sleep(paceMs);
    if (!response.write(frame(call, event, index))) await drained(response);
  }
  response.end(isArray ? "]" : undefined);
}

function frame(call: Call, event: string, index: number): string {
  switch (call.geminiStream) {
    case "none":
      return event;
    case "sse":
      return `data: ${event}\r\n\r\n`;
    case "array":
      return `${index === 0 ? "[" : ",\r\n"}${event}`;
  }
}

function drained(response: ServerResponse): Promise<void> {
  return new Promise((resolve) => {
    const done = (): void => {
      response.off("drain", done).off("close", done);
      resolve();
    };
    response.on("drain", done).on("close", done);
  });
}

function sendJson(response: ServerResponse, status: number, body: unknown): void {
  const bytes = Buffer.from(JSON.stringify(body));
  response.writeHead(status, {
    "content-type": "application/json",
    "content-length": bytes.length,
    "x-request-id": "req_demo",
  });
  response.end(bytes);
}
