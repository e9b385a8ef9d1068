/**
 * The benchmark's figures of translation: what a call costs whose client and upstream speak different formats.
 *
 * The client speaks Anthropic's messages, the upstream chat completions: the commonest pair of coding agents. A call is
 * measured against the bare proxy, a stream against the gateway's own pass-through of the same stream, an image of 5 MB
 * by all the CPU time that the proxy takes for it, which is more than its event loop was held.
 */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Figure } from "./figure.ts";
import { cpuMs, median } from "./processes.ts";

export interface TranslatedContext {
  readonly folder: string;
  /** Origin of the gateway, and of the bare proxy. */
  readonly data: string;
  readonly bare: string;
  readonly proxyPid: number;
  readonly barePid: number;
  readonly rounds: number;
  readonly roundMs: number;
  readonly load: (url: string, bodyFile: string, connections: number, durationMs: number) => Promise<LoadCounts>;
  readonly progress: (text: string) => void;
}

interface LoadCounts {
  readonly succeeded: number;
  readonly failed: number;
  readonly chunks: number;
  readonly firstFailure?: string;
}

/** One kind of load and whose CPU time it takes. */
interface Side {
  readonly name: string;
  readonly url: string;
  readonly body: object;
  readonly pid: number;
  readonly connections: number;
  readonly unit: "succeeded" | "chunks";
}

const system = "You are a helpful assistant.";
const text = "A long conversation has many words in it, and some of them repeat. ".repeat(13).slice(0, 850);
const imageBytes = 5_000_000;

function chatBody(stream: boolean): object {
  const messages = [
    { role: "system", content: system },
    { role: "user", content: text },
  ];
  const options = stream ? { stream: true, stream_options: { include_usage: true } } : {};
  return { model: modelFor(stream), messages, temperature: 0.7, max_tokens: 200, ...options };
}

function messagesBody(content: unknown, stream = false): object {
  const messages = [{ role: "user", content }];
  const options = stream ? { stream: true } : {};
  return { model: modelFor(stream), system, messages, temperature: 0.7, max_tokens: 200, ...options };
}

function modelFor(stream: boolean): string {
  return stream ? "bench-stream" : "bench-reply";
}

function imageContent(): unknown {
  // Bytes without a pattern, the same in every run.
  const bytes = Buffer.alloc((imageBytes * 3) / 4);
  for (let index = 0, state = 1; index < bytes.length; index += 1) {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) | 0;
    bytes[index] = state >>> 24;
  }
  const source = { type: "base64", media_type: "image/png", data: bytes.toString("base64") };
  return [
    { type: "image", source },
    { type: "text", text: "What is this?" },
  ];
}

export async function measureTranslation(context: TranslatedContext): Promise<readonly Figure[]> {
  const { data, bare, proxyPid, barePid } = context;
  const call = { url: `${data}/v1/messages`, pid: proxyPid };
  const small = { connections: 16, unit: "succeeded" } as const;
  const streaming = { connections: 32, unit: "chunks" } as const;
  const image = { connections: 1, unit: "succeeded" } as const;
  const bareCall = { name: "bare", url: `${bare}/reply/v1/chat/completions`, pid: barePid };
  const passed = { name: "same format", url: `${data}/v1/chat/completions`, pid: proxyPid };
  const [bareUs, callUs] = await alternate(context, [
    { ...small, ...bareCall, body: chatBody(false) },
    { ...small, name: "translated", ...call, body: messagesBody(text) },
  ]);
  const [passedUs, streamUs] = await alternate(context, [
    { ...streaming, ...passed, body: chatBody(true) },
    { ...streaming, name: "translated", ...call, body: messagesBody(text, true) },
  ]);
  const [imageUs = []] = await alternate(context, [
    { ...image, name: "translated image", ...call, body: messagesBody(imageContent()) },
  ]);
  return [
    {
      name: "translated call 1 KB: requests per CPU second, to the bare proxy",
      value: ratio(bareUs, callUs),
      limit: 0.5,
      unit: "x",
      isUpperLimit: false,
      detail: `bare ${shown(bareUs)} us, gateway ${shown(callUs)} us a request`,
    },
    {
      name: "translated stream: CPU per chunk, to the same stream passed through",
      value: ratio(streamUs, passedUs),
      limit: 3,
      unit: "x",
      isUpperLimit: true,
      detail: `same format ${shown(passedUs)} us, translated ${shown(streamUs)} us a chunk`,
    },
    {
      name: "translated image of 5 MB: CPU of all threads",
      value: median(imageUs) / 1_000,
      limit: 60,
      unit: "ms",
      isUpperLimit: true,
      detail: `${imageUs.length} rounds, the event loop is held for less`,
    },
  ];
}

/** CPU microseconds a unit of each side, one figure a round: in turns, so that the machine's moods meet all alike. */
async function alternate(context: TranslatedContext, sides: readonly Side[]): Promise<readonly (readonly number[])[]> {
  const { rounds, roundMs, load, progress, folder } = context;
  const files = sides.map((side, index) => {
    const file = join(folder, `translated-${index}.json`);
    writeFileSync(file, JSON.stringify(side.body));
    return file;
  });
  const costs: number[][] = sides.map(() => []);
  for (let round = 0; round <= rounds; round += 1) {
    for (const [index, side] of sides.entries()) {
      const beforeMs = cpuMs(side.pid);
      // The first round is for the compiler.
      const counts = await load(side.url, files[index] ?? "", side.connections, round === 0 ? 6 * roundMs : roundMs);
      if (counts.failed > 0) throw new Error(`${counts.failed} calls to ${side.url} failed: ${counts.firstFailure}`);
      if (round === 0) continue;
      const cost = ((cpuMs(side.pid) - beforeMs) * 1_000) / counts[side.unit];
      costs[index]?.push(cost);
      progress(`${side.name} ${round}/${rounds}: ${cost.toFixed(1)} us`);
    }
  }
  return costs;
}

/** Median of the rounds' ratios. */
function ratio(dividends: readonly number[] = [], divisors: readonly number[] = []): number {
  return median(dividends.map((dividend, round) => dividend / (divisors[round] ?? Number.NaN)));
}

function shown(costs: readonly number[] = []): string {
  return median(costs).toFixed(1);
}
