/**
 * The twelve readers of translation as a fuzzer drives them: bytes of one format in, through the whole pure pipeline
 * with the writers of all formats behind it, its own one's other manner among them. A refusal is an answer; anything else that is thrown is a crash.
 */
import assert from "node:assert/strict";
import { GatewayError } from "#proxy/errors";
import { InvalidReply } from "#proxy/neutral/reply";
import type { ChatWireFormat } from "#proxy/neutral/wire";
import { readTranslatableCall, type Translation, withoutSealedState } from "#proxy/translate/translation";
import { aggregated, bridgeOf, passed } from "#test/support/translation/own-format-exchange";
import { formats, readCallOf, translate, translationOf } from "#test/support/translation/pure-translation";
import type { Corpus } from "./corpus.ts";
import { damageBytes } from "./mutate-bytes.ts";
import { mutateJson } from "./mutate-json.ts";
import { mutateStream } from "./mutate-stream.ts";
import type { Random } from "./random.ts";

/** Runs one step of the pipeline: what blocks the event loop at once. */
export type Measure = <Result>(step: string, run: () => Result) => Result;

export interface FuzzedReader {
  readonly name: string;
  /** An input that nearly is what this reader expects. */
  mutate(random: Random): Buffer;
  /** @throws whatever is no refusal */
  run(input: Buffer, random: Random, measure: Measure): void;
}

export const readerNames: readonly string[] = formats.flatMap((format) => [
  `${format} requests`,
  `${format} replies`,
  `${format} streams`,
]);

/** A larger input says nothing that a smaller one does not. */
const inputBytesMax = 256 * 1024;

const signsOfSuccess = /data: \[DONE\]|"type":"(?:message_stop|response\.completed|response\.incomplete)"/;

export function createReaders(corpora: Readonly<Record<ChatWireFormat, Corpus>>): readonly FuzzedReader[] {
  const translations = new Translations(corpora);
  return formats.flatMap((format) => {
    const corpus = corpora[format];
    const { requests, replies, streams, vocabulary } = corpus;
    const others = formats.flatMap((other) => (other === format ? streams : corpora[other].streams.slice(0, 3)));
    return [
      {
        name: `${format} requests`,
        mutate: (random) => damaged(Buffer.from(mutateJson(random.pick(requests), random, vocabulary)), random),
        run: (input, random, measure) => runRequest(format, input, random, measure),
      },
      {
        name: `${format} replies`,
        mutate: (random) => damaged(Buffer.from(mutateJson(random.pick(replies), random, vocabulary)), random),
        run: (input, random, measure) => runReply(translations, format, input, random, measure),
      },
      {
        name: `${format} streams`,
        mutate: (random) => damaged(mutateStream(random.pick(streams), random, others, vocabulary), random),
        run: (input, random, measure) => runStream(translations, format, input, random, measure),
      },
    ] satisfies FuzzedReader[];
  });
}

function damaged(input: Buffer, random: Random): Buffer {
  return (random.chance(0.15) ? damageBytes(input, random) : input).subarray(0, inputBytesMax);
}

/** Undefined for a refusal. */
function unlessRefused<Result>(run: () => Result): Result | undefined {
  try {
    return run();
  } catch (error) {
    if (error instanceof GatewayError || error instanceof InvalidReply) return undefined;
    throw error;
  }
}

function runRequest(format: ChatWireFormat, input: Buffer, random: Random, measure: Measure): void {
  const stream = random.chance(0.5);
  const call = unlessRefused(() => measure("read the call", () => readCallOf(format, input, stream)));
  if (call === undefined) return;
  unlessRefused(() => measure("take sealed state out", () => withoutSealedState(call)));
  const client = unlessRefused(() => measure("read the conversation", () => readTranslatableCall(call)));
  if (client === undefined) return;
  const policy = random.chance(0.8) ? "Ignore" : "Reject";
  for (const to of formats) {
    if (to === format) continue;
    const translation = unlessRefused(() => measure(`write for ${to}`, () => translate(client, to, policy)));
    if (translation !== undefined) JSON.parse(translation.upstreamCall.body.bytes.toString("utf8"));
  }
}

function runReply(
  translations: Translations,
  format: ChatWireFormat,
  input: Buffer,
  random: Random,
  measure: Measure,
): void {
  unlessRefused(() => {
    const bridge = bridgeOf(format);
    const reading = measure("read usage", () => bridge.readReply(input));
    if (reading.error !== undefined) return;
    const stream = Buffer.concat(measure("stream for its own format", () => bridge.streamOfReply(input)));
    aggregated(format, stream);
  });
  for (const client of formats) {
    if (client === format) continue;
    const translation = translations.pick(client, format, random);
    unlessRefused(() => {
      const reading = measure("read usage", () => translation.readReply(input));
      reading.produced();
      if (reading.error !== undefined) return;
      const answer = measure(`translate for ${client}`, () => translation.translateReply(input));
      JSON.parse(answer.body.toString("utf8"));
      measure(`stream for ${client}`, () => translation.streamOfReply(input));
    });
  }
}

function runStream(
  translations: Translations,
  format: ChatWireFormat,
  input: Buffer,
  random: Random,
  measure: Measure,
): void {
  unlessRefused(() => {
    const events = measure("filter for its own format", () => passed(format, input));
    JSON.parse(measure("fold for its own format", () => bridgeOf(format).translateReply(events)).body.toString("utf8"));
  });
  // A long stream byte by byte says nothing that a short one does not, and takes all the time.
  const pieceBytes = Math.max(Math.ceil(input.length / 500), random.pick([1, 7, 100, 1_000, 16_384, 65_536]));
  for (const client of formats) {
    if (client === format) continue;
    const filter = translations.pick(client, format, random).createStreamFilter(1 << 20);
    let said = "";
    for (let at = 0; at < input.length && isGoing(filter); at += pieceBytes) {
      const piece = input.subarray(at, at + pieceBytes);
      said += text(measure(`push for ${client}`, () => filter.push(piece)));
    }
    if (isGoing(filter)) said += text(measure(`end for ${client}`, () => filter.end()));
    filter.produced();
    if (filter.isComplete && filter.error === undefined && filter.violation === undefined) continue;
    said += filter
      .fail(new GatewayError("upstream_error", "The upstream failed."), { requestId: "fuzz" })
      .toString("utf8");
    assert.doesNotMatch(said, signsOfSuccess, `a failed stream looks whole to ${client} clients`);
  }
}

function isGoing(filter: ReturnType<Translation["createStreamFilter"]>): boolean {
  return filter.error === undefined && filter.violation === undefined && !filter.isCut;
}

function text(pieces: readonly Buffer[]): string {
  return pieces.map((piece) => piece.toString("utf8")).join("");
}

/** Calls of every client's format to every upstream's, as the goldens hold them: they decide how an answer is adapted. */
class Translations {
  readonly #corpora: Readonly<Record<ChatWireFormat, Corpus>>;
  readonly #made = new Map<string, readonly Translation[]>();

  constructor(corpora: Readonly<Record<ChatWireFormat, Corpus>>) {
    this.#corpora = corpora;
  }

  pick(client: ChatWireFormat, upstream: ChatWireFormat, random: Random): Translation {
    const name = `${client} ${upstream}`;
    let made = this.#made.get(name);
    if (made === undefined) {
      made = this.#corpora[client].requests.flatMap(
        (body) => unlessRefused(() => translationOf(upstream, client, body, false)) ?? [],
      );
      this.#made.set(name, made);
    }
    return random.pick(made);
  }
}
