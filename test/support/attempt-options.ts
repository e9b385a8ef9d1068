/** What attempts of unit tests are made of, unless a test says otherwise. */
import type { Pool } from "undici";
import { InFlightBytes } from "#proxy/http/in-flight-bytes";
import { defaultLimits } from "#proxy/limits";
import type { AttemptOptions } from "#proxy/upstream/attempt-options";
import { UndiciUpstream } from "#proxy/upstream/pools/undici-upstream";
import type { ReplyReader } from "#proxy/upstream/reply/reply-reader";

export function attemptOptions(origin: string, pool: Pool, reader: ReplyReader): AttemptOptions {
  return {
    upstream: new UndiciUpstream(origin, pool),
    request: {
      path: "/",
      headers: [],
      body: Buffer.from("{}"),
      connectTimeoutMs: 60_000,
      // Longer than any test waits for what it is about.
      timeouts: { firstByteMs: 60_000, idleMs: 60_000, totalMs: 60_000 },
    },
    reader,
    limits: defaultLimits,
    inFlightBytes: new InFlightBytes(defaultLimits.inFlightBytesMax),
    dropped: [],
    client: undefined,
    onPiece: () => undefined,
  };
}
