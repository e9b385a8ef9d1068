/** How the package `ws` reads frames: the oracle of our own reader. */
import { Writable } from "node:stream";
import { setImmediate } from "node:timers/promises";
import * as ws from "ws";

/** What a reader told, one line an event. */
export type Told = readonly string[];

export interface ReaderOptions {
  /** We are the server: what comes is masked. */
  readonly isServer: boolean;
  readonly messageBytesMax: number;
}

const codes: Readonly<Record<string, number>> = {
  WS_ERR_INVALID_UTF8: 1007,
  WS_ERR_TOO_MANY_BUFFERED_PARTS: 1008,
  WS_ERR_UNSUPPORTED_MESSAGE_LENGTH: 1009,
  WS_ERR_UNSUPPORTED_DATA_PAYLOAD_LENGTH: 1009,
};

export async function readByWs(chunks: readonly Buffer[], options: ReaderOptions): Promise<Told> {
  const Receiver: unknown = Reflect.get(ws, "Receiver");
  if (typeof Receiver !== "function") throw new Error("ws has no receiver");
  const { isServer, messageBytesMax: maxPayload } = options;
  const receiver: unknown = Reflect.construct(Receiver, [{ isServer, maxPayload }]);
  if (!(receiver instanceof Writable)) throw new Error("the receiver of ws is no stream");
  const told: string[] = [];
  receiver.on("message", (data: Buffer, isBinary: boolean) => {
    told.push(`${isBinary ? "binary" : "text"} ${data.toString("latin1")}`);
  });
  receiver.on("ping", (data: Buffer) => told.push(`ping ${data.toString("latin1")}`));
  receiver.on("conclude", (code: number, reason: Buffer) => told.push(`close ${code} ${reason.toString()}`));
  receiver.on("error", (error: Error & { code?: string }) => {
    told.push(`violation ${codes[error.code ?? ""] ?? 1002}`);
  });
  for (const chunk of chunks) {
    if (receiver.writable) receiver.write(Buffer.from(chunk));
    await setImmediate();
  }
  await setImmediate();
  return told;
}
