/** Streams whose events are lost, doubled, out of order, of another answer, of no known kind, or wrong inside. */
import { parseJson } from "#proxy/json/json-value";
import { readEventFields, splitEvents } from "#proxy/sse/event-fields";
import { mutateJson, type Vocabulary } from "./mutate-json.ts";
import type { Random } from "./random.ts";

type Mutation = (
  events: Buffer[],
  random: Random,
  others: readonly (readonly Buffer[])[],
  vocabulary: Vocabulary,
) => void;

const oddEvents = [
  "data: [DONE]\n\n",
  'event: ping\ndata: {"type":"ping"}\n\n',
  'event: new_kind\ndata: {"type":"new_kind","x":1}\n\n',
  ": comment\n\n",
  "data:\n\n",
  "event: error\n\n",
  "data: null\n\n",
  "data: []\n\n",
  "data: 1\n\n",
  "data: {}\n\n",
  'data: {"error":{"message":"x"}}\n\n',
  "data: {\ndata: }\n\n",
  'data: {"type":',
  "<html>\n\n",
  '{"error":{"code":503}}\n\n',
  "id: 1\nretry: 5\ndata: {}\n\n",
];

const mutations: readonly Mutation[] = [
  function drop(events, random) {
    events.splice(random.below(events.length), 1 + random.below(3));
  },
  function double(events, random) {
    const at = random.below(events.length);
    events.splice(at, 0, ...events.slice(at, at + 1 + random.below(3)));
  },
  function swap(events, random) {
    const one = random.below(events.length);
    const two = random.chance(0.7) ? Math.min(one + 1, events.length - 1) : random.below(events.length);
    const [first, second] = [events[one], events[two]];
    if (first === undefined || second === undefined) return;
    events[one] = second;
    events[two] = first;
  },
  function endAgain(events, random) {
    events.push(...events.slice(-1 - random.below(4)));
  },
  function beginAgain(events, random) {
    events.splice(random.below(events.length + 1), 0, ...events.slice(0, 1 + random.below(3)));
  },
  function spliceOther(events, random, others) {
    const other = random.pick(others);
    const start = random.below(other.length);
    events.splice(random.below(events.length + 1), 0, ...other.slice(start, start + random.size(4)));
  },
  function cutEnd(events, random) {
    events.length = random.below(events.length) + 1;
  },
  function odd(events, random) {
    events.splice(random.below(events.length + 1), 0, Buffer.from(random.pick(oddEvents)));
  },
  function many(events, random) {
    const at = random.below(events.length);
    const event = events[at] ?? Buffer.alloc(0);
    const times = Math.min(random.size(12), Math.ceil(100_000 / Math.max(1, event.length)));
    events.splice(at, 0, ...Array.from({ length: times }, () => event));
  },
  changeInside,
  changeInside,
  changeInside,
  changeInside,
];

function changeInside(events: Buffer[], random: Random, _others: unknown, vocabulary: Vocabulary): void {
  const at = random.below(events.length);
  const { name, data } = readEventFields(events[at] ?? Buffer.alloc(0));
  if (data === undefined) return;
  const document = parseJson(data);
  if (document === undefined) return;
  const text = mutateJson(document, random, vocabulary);
  events[at] = Buffer.from(`${name === undefined ? "" : `event: ${name}\n`}data: ${text}\n\n`);
}

/** A stream that comes from these events by up to four mutations. */
export function mutateStream(
  stream: readonly Buffer[],
  random: Random,
  others: readonly (readonly Buffer[])[],
  vocabulary: Vocabulary,
): Buffer {
  const events = shortened(stream, random);
  for (let times = 1 + random.below(4); times > 0 && events.length > 0; times -= 1) {
    random.pick(mutations)(events, random, others, vocabulary);
  }
  return Buffer.concat(events);
}

/** Longer streams say the same over and over: beginning and end, and some of what is between. */
function shortened(stream: readonly Buffer[], random: Random): Buffer[] {
  const kept = 24;
  if (stream.length <= 2 * kept || random.chance(0.05)) return [...stream];
  const start = kept / 3 + random.below(stream.length - kept);
  return [...stream.slice(0, kept / 3), ...stream.slice(start, start + kept / 3), ...stream.slice(-kept / 3)];
}

/** The events of a stream, each with its blank line. */
export function eventsOf(stream: Buffer): readonly Buffer[] {
  return splitEvents(stream);
}

/** What the events hold as JSON, for the vocabulary of mutations. */
export function documentsOf(events: readonly Buffer[]): readonly unknown[] {
  return events.flatMap((event) => parseJson(readEventFields(event).data ?? "") ?? []);
}
