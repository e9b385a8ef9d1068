/**
 * Opens the stream of an authenticated proxy: it first rules out time travel (docs/design/configuration.md 3.12), then
 * connects a `ProxyConnection` to the response.
 *
 * A proxy that has seen more of the source than this operator is told nothing until the operator has caught up, and is
 * sent to another operator when that takes too long. When the source itself went back, as after a restore, the epoch is
 * raised instead, or that proxy would be sent away for ever.
 */
import { randomUUID } from "node:crypto";
import { once } from "node:events";
import type { Request, Response } from "express";
import type { DownMessage, Hello } from "#proxy/snapshot/push/messages";
import { MessageError } from "#proxy/snapshot/push/parse-message";
import { systemTimers } from "#proxy/snapshot/push/timers";
import { type LineSink, ProxyConnection } from "./connection.ts";
import type { PushAppOptions } from "./push-options.ts";

/**
 * Parts that may wait in a stream. With one, each part would wait for both processes to be scheduled on a busy machine;
 * with many, a revocation would wait behind them and slow proxies would cost memory.
 */
const unsentBytesMax = 2 * 1024 * 1024;
/** Rule 12; less when the proxy gives a silent operator up earlier. */
const catchUpMaxMs = 30_000;
/** A proxy may know of restores that the source has forgotten, but not of a thousand. */
const epochsAheadMax = 1_000;
/** A replica that merely lags catches up within this time; after it, the source is asked whether it went back. */
const suspicionMs = 1_000;
const elsewhereWithinMs = 2_000;

/** @returns undefined when the proxy was sent away. */
export async function acceptStream(
  options: PushAppOptions,
  hello: Hello,
  request: Request,
  response: Response,
): Promise<ProxyConnection | undefined> {
  const epoch = await epochFor(options, hello);
  if (epoch < hello.epoch) {
    response.status(503).json({ error: "the operator cannot read the epoch now; try again" });
    return undefined;
  }
  response.status(200).setHeader("content-type", "application/x-ndjson");
  response.setHeader("cache-control", "no-store");
  response.flushHeaders();
  request.socket.setNoDelay(true);
  const gone = new AbortController();
  response.once("close", () => gone.abort());
  const isCurrent = epoch > hello.epoch || (await catchUp(options, hello, gone.signal));
  if (gone.signal.aborted) return undefined;
  if (!isCurrent) {
    options.onBehind?.();
    const reason = "this operator has seen less of the source than this proxy";
    const goAway: DownMessage = { type: "goaway", withinMs: elsewhereWithinMs, reason };
    response.end(`${JSON.stringify(goAway)}\n`);
    return undefined;
  }
  return connect(options, hello, response);
}

/** The epoch to serve this proxy in; lower than the proxy's own while the true one is unknown. */
async function epochFor({ epochs }: PushAppOptions, hello: Hello): Promise<number> {
  if (epochs === undefined) return 1;
  if (hello.epoch <= epochs.current) return epochs.current;
  // Another operator raised it, or the restore of a backup lowered it.
  const known = epochs.current;
  const stored = await epochs.refresh().catch(() => known);
  if (hello.epoch > stored + epochsAheadMax) throw new MessageError("epoch: out of range");
  return hello.epoch <= stored ? stored : await epochs.raise(hello.epoch).catch(() => stored);
}

async function catchUp(options: PushAppOptions, hello: Hello, gone: AbortSignal): Promise<boolean> {
  const { progress, epochs, sourceWentBack, listBehind, timers = systemTimers } = options;
  if (progress === undefined) return true;
  const catchUpMs = Math.min(catchUpMaxMs, (options.deadMs * 5) / 6);
  const firstMs = Math.min(suspicionMs, catchUpMs / 2);
  if (await progress.catchUp(hello.versions, firstMs, timers, gone)) return true;
  if (gone.aborted) return false;
  if (epochs !== undefined && (await sourceWentBack?.(hello.versions).catch(() => false)) === true) {
    // Below a new epoch the proxy's past counts no longer.
    if ((await epochs.raise(hello.epoch).catch(() => 0)) > hello.epoch) return true;
  }
  listBehind?.(hello.versions);
  return progress.catchUp(hello.versions, catchUpMs - firstMs, timers, gone);
}

function connect(options: PushAppOptions, hello: Hello, response: Response): ProxyConnection {
  const { progress, uids, epochs, onReport, onRefusedAsDeleted } = options;
  const epoch = epochs?.current ?? 1;
  const connection = new ProxyConnection(
    {
      id: randomUUID(),
      operator: options.operator,
      epoch,
      hello,
      sink: sinkTo(response),
      timers: options.timers ?? systemTimers,
      heartbeatMs: options.heartbeatMs,
      deadMs: options.deadMs,
      onChange: (changed) => options.fleet.update(changed),
      ...(onReport !== undefined && { onReport }),
      onRefusedAsDeleted: (ids) => {
        // A stream of an earlier epoch is about to end: its proxy accepts the refused objects in the next one.
        if ((epochs?.current ?? 1) === epoch) onRefusedAsDeleted?.(ids);
      },
      ...(progress !== undefined && { progress }),
      ...(uids !== undefined && { uids }),
    },
    options.publisher.snapshot,
  );
  response.on("close", () => connection.close("the proxy closed the stream"));
  response.on("error", () => connection.close("the stream broke"));
  options.fleet.join(connection);
  connection.start();
  return connection;
}

function sinkTo(response: Response): LineSink {
  return {
    write: (line) => {
      if (!response.writable) return false;
      response.write(line);
      return response.writableLength < unsentBytesMax;
    },
    async drained() {
      // It may have drained since the write: then the event has passed and will not come again.
      if (!response.writableNeedDrain && !response.destroyed) return;
      const ended = new AbortController();
      const onClose = () => ended.abort();
      response.once("close", onClose);
      try {
        if (response.destroyed) ended.abort();
        await once(response, "drain", { signal: ended.signal });
      } finally {
        response.off("close", onClose);
      }
    },
    end: () => {
      response.end();
      // A peer that reads nothing would keep the socket for ever.
      setTimeout(() => response.destroy(), 1_000).unref();
    },
  };
}
