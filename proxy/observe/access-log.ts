/**
 * Writes one log line for each request, by allow-list: the record type below is everything that can ever appear.
 *
 * Prompts, replies, header values (but `traceparent`), queries and keys have no place in it; keys appear by
 * namespace/name. It is built for speed: the part of a key, route or channel is rendered once and kept, the rest is
 * joined by hand, and lines go to an asynchronous destination that collects them. The request pipeline calls it once,
 * at the end of each request.
 */
import picocolors from "picocolors";
import { pino } from "pino";
import { countImages } from "#proxy/settle/image-price";
import type { ChargedUnits } from "#proxy/settle/price";
import { inputTokens, outputTokens, type TokenUsage } from "#proxy/settle/usage";
import type { Key } from "#proxy/snapshot/types.gen";
import type { MetricFormat } from "./metric-slot.ts";
import { oneLine } from "./one-line.ts";
import { PlaceMap } from "./place-map.ts";

/**
 * Who ended the exchange, then in which phase, after HAProxy's two letters.
 *
 * Who: `-` nobody, it is complete; `C` the client left; `c` the client was too slow; `S` the upstream failed or cut;
 * `s` the upstream was too slow; `P` the gateway refused by policy; `R` a resource or quota was used up; `I` internal
 * error; `D` drain; `K` the key was revoked.
 * Phase: `R` reading the request; `Q` reserving or choosing a target; `C` connecting; `H` waiting for the upstream's
 * head or first byte; `D` data was flowing; `-` complete.
 */
export type EndCode =
  `${"-" | "C" | "c" | "S" | "s" | "P" | "R" | "I" | "D" | "K"}${"-" | "R" | "Q" | "C" | "H" | "D"}`;

/** All that is ever logged of a request. Times in milliseconds, absent where the phase was not reached. */
export interface AccessRecord {
  readonly timeMs: number;
  readonly requestId: string;
  /** Undefined when the caller was not authenticated. */
  readonly key: Key | undefined;
  /** As decided by trusted proxies. */
  readonly clientAddress: string;
  readonly format: MetricFormat;
  /** Public model name; undefined when not read. Cut at 256 characters. */
  readonly model: string | undefined;
  /** `namespace/name`, empty when none. */
  readonly route: string;
  readonly channel: string;
  readonly isStream: boolean;
  /** Status sent; 0 when the client left before one was. */
  readonly status: number;
  /** Error code of `errors.ts`; undefined for success. */
  readonly errorCode: string | undefined;
  readonly end: EndCode;
  readonly durationMs: number;
  readonly firstByteMs: number | undefined;
  readonly upstreamMs: number | undefined;
  readonly requestBytes: number;
  readonly responseBytes: number;
  readonly usage: TokenUsage | undefined;
  /** Images, audio and characters; undefined where the call used none. */
  readonly units?: ChargedUnits | undefined;
  readonly costNanos: bigint | undefined;
  /** Usage was estimated, because the upstream reported none. */
  readonly isEstimated: boolean;
  readonly attempts: number;
  /** The client's, checked for its form. */
  readonly traceparent: string | undefined;
}

export interface AccessLog {
  write(record: AccessRecord): void;
  /** Writes what is still collected, at once: before the process ends. */
  close(): void;
}

/** Where lines go; pino's destination is one. */
export interface LineDestination {
  write(line: string): unknown;
  flushSync?(): void;
}

export interface AccessLogOptions {
  readonly format: "json" | "text";
  readonly destination: LineDestination;
  readonly colors?: boolean;
}

/** Lines are collected this long, or until this many characters: one write for many requests. */
const collectMs = 100;
const collectCharacters = 32 * 1024;

/** The usual destination: a file descriptor, written to asynchronously. @param descriptor 1 for standard output */
export function accessLogDestination(descriptor: number): LineDestination {
  return pino.destination({ fd: descriptor, sync: false });
}

export function createAccessLog(options: AccessLogOptions): AccessLog {
  const { destination } = options;
  const render = options.format === "json" ? createJsonRenderer() : createTextRenderer(options.colors ?? false);
  let collected = "";
  let timer: NodeJS.Timeout | undefined;
  const flush = (): void => {
    clearTimeout(timer);
    timer = undefined;
    if (collected === "") return;
    destination.write(collected);
    collected = "";
  };
  return {
    write: (record) => {
      collected += render(record);
      if (collected.length >= collectCharacters) flush();
      else timer ??= setTimeout(flush, collectMs).unref();
    },
    close: () => {
      flush();
      destination.flushSync?.();
    },
  };
}

function createJsonRenderer(): (record: AccessRecord) => string {
  const keyParts = new WeakMap<Key, string>();
  const placeParts = new PlaceMap<string>();
  const time = createTimeRenderer();
  return (record) => {
    let line = `{"time":"${time(record.timeMs)}","request":${quote(record.requestId)}`;
    if (record.key !== undefined) line += keyPart(record.key, keyParts);
    line += `,"client":${quote(record.clientAddress)}${placePart(record, placeParts)}`;
    if (record.model !== undefined) line += `,"model":${quote(record.model.slice(0, 256))}`;
    line += `,"stream":${record.isStream},"status":${record.status}`;
    if (record.errorCode !== undefined) line += `,"error":"${record.errorCode}"`;
    line += `,"end":"${record.end}","duration_ms":${round(record.durationMs)}`;
    if (record.firstByteMs !== undefined) line += `,"first_byte_ms":${round(record.firstByteMs)}`;
    if (record.upstreamMs !== undefined) line += `,"upstream_ms":${round(record.upstreamMs)}`;
    line += `,"request_bytes":${record.requestBytes},"response_bytes":${record.responseBytes},"attempts":${record.attempts}`;
    if (record.usage !== undefined) line += usagePart(record.usage);
    if (record.units !== undefined) line += unitsPart(record.units);
    if (record.costNanos !== undefined) line += `,"cost_nanos":${record.costNanos}`;
    if (record.isEstimated) line += `,"estimated":true`;
    if (record.traceparent !== undefined) line += `,"traceparent":${quote(record.traceparent)}`;
    return `${line}}\n`;
  };
}

/** ISO 8601 in UTC; the part down to the second is kept, because it is the same for many lines. */
function createTimeRenderer(): (timeMs: number) => string {
  let second = Number.NaN;
  let prefix = "";
  return (timeMs) => {
    const nowSecond = Math.floor(timeMs / 1000);
    if (nowSecond !== second) {
      second = nowSecond;
      prefix = new Date(nowSecond * 1000).toISOString().slice(0, 20);
    }
    return `${prefix}${String(Math.floor(timeMs) - second * 1000).padStart(3, "0")}Z`;
  };
}

/** Text that needs no escaping is quoted as it is: most of it is, and `JSON.stringify` costs more than the test. */
function quote(text: string): string {
  return /^[\w.:/@-]*$/.test(text) ? `"${text}"` : JSON.stringify(text);
}

/** Hundredths as they follow whole milliseconds: a fraction of binary numbers costs more to write than all else. */
const hundredths = Array.from({ length: 100 }, (_, count) => String(count / 100).slice(1));

/** To hundredths of a millisecond, as `JSON.stringify` would write it. */
function round(milliseconds: number): string {
  const count = Math.max(0, Math.round(milliseconds * 100));
  const rest = count % 100;
  return `${(count - rest) / 100}${hundredths[rest]}`;
}

function keyPart(key: Key, parts: WeakMap<Key, string>): string {
  let part = parts.get(key);
  if (part === undefined) {
    const metadata = key.metadata === undefined ? "" : `,"metadata":${JSON.stringify(key.metadata)}`;
    part = `,"key":${JSON.stringify(`${key.namespace}/${key.name}`)}${metadata}`;
    parts.set(key, part);
  }
  return part;
}

/** Route, channel and format are of the configuration: bounded, but removed ones would stay, so the cache starts anew. */
const placePartCountMax = 10_000;

function placePart(record: AccessRecord, parts: PlaceMap<string>): string {
  const { route, channel, format } = record;
  let part = parts.get(route, channel, format);
  if (part === undefined) {
    part = `,"format":"${format}"`;
    if (route !== "") part += `,"route":${JSON.stringify(route)}`;
    if (channel !== "") part += `,"channel":${JSON.stringify(channel)}`;
    if (parts.size >= placePartCountMax) parts.clear();
    parts.set(route, channel, format, part);
  }
  return part;
}

function usagePart(usage: TokenUsage): string {
  let part = `,"tokens":{"input":${usage.input},"output":${usage.output}`;
  if (usage.cacheRead > 0) part += `,"cache_read":${usage.cacheRead}`;
  if (usage.cacheWrite > 0) part += `,"cache_write":${usage.cacheWrite}`;
  if (usage.cacheWrite1h > 0) part += `,"cache_write_1h":${usage.cacheWrite1h}`;
  if (usage.reasoning > 0) part += `,"reasoning":${usage.reasoning}`;
  if (usage.audioInput > 0) part += `,"audio_input":${usage.audioInput}`;
  if (usage.audioOutput > 0) part += `,"audio_output":${usage.audioOutput}`;
  if (usage.imageInput > 0) part += `,"image_input":${usage.imageInput}`;
  if (usage.imageOutput > 0) part += `,"image_output":${usage.imageOutput}`;
  if (usage.searches > 0) part += `,"searches":${usage.searches}`;
  return `${part}}`;
}

function unitsPart(units: ChargedUnits): string {
  const { characters = 0, audioMilliseconds = 0 } = units;
  const images = countImages(units.images);
  let part = images > 0 ? `,"images":${images}` : "";
  if (audioMilliseconds > 0) part += `,"audio_seconds":${audioMilliseconds / 1000}`;
  if (characters > 0) part += `,"characters":${characters}`;
  return part;
}

function createTextRenderer(isColored: boolean): (record: AccessRecord) => string {
  const colors = picocolors.createColors(isColored);
  return (record) => {
    const paint =
      record.status >= 500 || record.status === 0 ? colors.red : record.status >= 400 ? colors.yellow : colors.green;
    const key = record.key === undefined ? "-" : `${record.key.namespace}/${record.key.name}`;
    const metadata = record.key?.metadata;
    const parts = [
      colors.dim(new Date(record.timeMs).toISOString().slice(11, 23)),
      paint(String(record.status)),
      key,
      record.model === undefined ? record.format : `${record.format} ${oneLine(record.model.slice(0, 256))}`,
    ];
    if (record.channel !== "") parts.push(`-> ${record.channel}`);
    if (record.usage !== undefined)
      parts.push(
        `${inputTokens(record.usage)}+${outputTokens(record.usage)} tokens${record.isEstimated ? " (estimated)" : ""}`,
      );
    if (record.units !== undefined) parts.push(...unitTexts(record.units));
    if (record.costNanos !== undefined) parts.push(`${formatCredits(record.costNanos)} credits`);
    parts.push(`${Math.round(record.durationMs)} ms`);
    if (record.errorCode !== undefined) parts.push(paint(record.errorCode));
    if (record.end !== "--") parts.push(colors.dim(record.end));
    if (metadata !== undefined) parts.push(colors.dim(oneLine(JSON.stringify(metadata))));
    return `${parts.join("  ")}\n`;
  };
}

function unitTexts(units: ChargedUnits): string[] {
  const { characters = 0, audioMilliseconds = 0 } = units;
  const images = countImages(units.images);
  return [
    ...(images > 0 ? [`${images} images`] : []),
    ...(audioMilliseconds > 0 ? [`${audioMilliseconds / 1000} s of audio`] : []),
    ...(characters > 0 ? [`${characters} characters`] : []),
  ];
}

/** Nano-credits as a decimal number without trailing zeros. */
function formatCredits(costNanos: bigint): string {
  const fraction = String(costNanos % 1_000_000_000n)
    .padStart(9, "0")
    .replace(/0+$/, "");
  return `${costNanos / 1_000_000_000n}${fraction === "" ? "" : `.${fraction}`}`;
}
