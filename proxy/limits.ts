/**
 * Holds every bound of the proxy with its reason: limits on reads, waits and queues (docs/design/reliability.md S1).
 *
 * A proxy runs with `defaultLimits` unless a setting says otherwise; tests pass their own object with shorter waits.
 * Times are milliseconds, sizes bytes.
 */
export interface ProxyLimits {
  /** All request headers must have arrived (slow-header attacks). */
  readonly headersTimeoutMs: number;
  /** Longest silence inside a request body. */
  readonly bodyIdleTimeoutMs: number;
  /** A whole JSON body. */
  readonly bodyTimeoutMs: number;
  /** How often the two above are checked by the server. */
  readonly connectionsCheckMs: number;
  /** More header lines are refused with 431: each is looked at several times. */
  readonly headerCountMax: number;
  readonly headerBytesMax: number;
  readonly targetBytesMax: number;
  readonly jsonBodyBytesMax: number;
  /** Deeper JSON overflows the stack of whatever recurses over it later. */
  readonly jsonDepthMax: number;
  /** More keys block the event loop for tenths of a second wherever they are parsed. */
  readonly jsonKeysMax: number;
  /** A whole form (`multipart/form-data`): its files go to disk as they come, so that it may be larger than JSON. */
  readonly formBytesMax: number;
  /** One file of a form; what providers take of a picture. */
  readonly formFileBytesMax: number;
  /** All fields of a form together: they are held in memory. */
  readonly formFieldBytesMax: number;
  /** An edit of pictures has sixteen of them, a mask and some twenty fields. */
  readonly formPartsMax: number;
  /** A whole form: files come over slow lines. */
  readonly formTimeoutMs: number;
  /** Files of all forms together on disk; beyond it requests get 503. */
  readonly spoolBytesMax: number;
  /**
   * Request bodies of all requests together, with the waiting part of long replies and what the translation of a large body
   * holds; beyond it requests get 503.
   */
  readonly inFlightBytesMax: number;
  /** Requests served at once; beyond it new ones get 503. */
  readonly inFlightRequestsMax: number;
  /** Open client connections. */
  readonly connectionsMax: number;
  /** Of these from one client address; none from a trusted proxy's (`http/connections-by-address.ts`). */
  readonly connectionsPerAddressMax: number;
  /** Longer than the usual load balancer's 60 s, so that it closes first. */
  readonly keepAliveTimeoutMs: number;
  /** One event of a stream: images arrive as base64 lines. */
  readonly eventBytesMax: number;
  /** One reply that is not streamed. */
  readonly replyBodyBytesMax: number;
  /** A client that takes nothing of its stream for so long is cut: its queue must not be held for ever. */
  readonly slowReaderTimeoutMs: number;
  /** A client of any stream gets a sign of life so often, when it gets nothing else; 0: never. */
  readonly clientSilenceMs: number;
  /** A realtime session that is open for longer ends: as long as at OpenAI. */
  readonly realtimeSessionMs: number;
  /** One message of a realtime session, either way: OpenAI takes 15 MiB of audio in one. */
  readonly realtimeMessageBytesMax: number;
  /** Both sides of a realtime session are pinged so often; one that is not heard of in between is dead. */
  readonly realtimePingMs: number;
  readonly connectTimeoutMs: number;
  /** Without streaming the first byte is the whole reply; clients wait ten minutes. */
  readonly firstByteTimeoutMs: number;
  readonly firstByteStreamTimeoutMs: number;
  /** Between complete events, pings and comments included. */
  readonly streamIdleTimeoutMs: number;
  /** 0: none. */
  readonly totalTimeoutMs: number;
  readonly upstreamHeaderBytesMax: number;
  /** A reservation that nobody keeps alive lapses after this. */
  readonly reservationTtlMs: number;
  /** New connections are still accepted this long after SIGTERM, until load balancers have noticed. */
  readonly endpointLagMs: number;
  readonly drainTimeoutMs: number;
  /** Keys are honoured so long after the operator last confirmed them (docs/design/reliability.md N3). 0: for ever. */
  readonly keyStalenessMaxMs: number;
  /** Half-open push connections: beat, and dead after. */
  readonly pushHeartbeatMs: number;
  readonly pushDeadMs: number;
}

const MiB = 1024 * 1024;

export const defaultLimits: ProxyLimits = {
  headersTimeoutMs: 5_000,
  bodyIdleTimeoutMs: 10_000,
  bodyTimeoutMs: 60_000,
  connectionsCheckMs: 1_000,
  headerCountMax: 100,
  headerBytesMax: 16 * 1024,
  targetBytesMax: 8 * 1024,
  jsonBodyBytesMax: 32 * MiB,
  jsonDepthMax: 64,
  jsonKeysMax: 50_000,
  formBytesMax: 100 * MiB,
  formFileBytesMax: 50 * MiB,
  formFieldBytesMax: MiB,
  formPartsMax: 40,
  formTimeoutMs: 300_000,
  spoolBytesMax: 1024 * MiB,
  inFlightBytesMax: 256 * MiB,
  inFlightRequestsMax: 10_000,
  connectionsMax: 20_000,
  connectionsPerAddressMax: 10_000,
  keepAliveTimeoutMs: 75_000,
  eventBytesMax: 32 * MiB,
  replyBodyBytesMax: 64 * MiB,
  slowReaderTimeoutMs: 30_000,
  clientSilenceMs: 15_000,
  realtimeSessionMs: 3_600_000,
  realtimeMessageBytesMax: 16 * MiB,
  realtimePingMs: 20_000,
  connectTimeoutMs: 2_000,
  firstByteTimeoutMs: 600_000,
  firstByteStreamTimeoutMs: 120_000,
  streamIdleTimeoutMs: 300_000,
  totalTimeoutMs: 0,
  upstreamHeaderBytesMax: 64 * 1024,
  reservationTtlMs: 60_000,
  endpointLagMs: 5_000,
  drainTimeoutMs: 600_000,
  keyStalenessMaxMs: 0,
  pushHeartbeatMs: 10_000,
  pushDeadMs: 30_000,
};
