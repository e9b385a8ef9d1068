/**
 * Finds the most that any target of a route may be asked to read and produce, where body rules or the route change the
 * client's call: a rule that sets `max_tokens` to 5000 turns a call with a cap of 10 into one that costs 5000, and a
 * system prompt that a rule sets is paid for with every call.
 *
 * The reservation is made before a target is chosen (docs/design/requests.md 2) and a ceiling is a ceiling
 * (docs/design/limits-and-money.md 1), so it covers the most that any target of the route would send. The rules are
 * those that edit the body later, applied to the few members that count. A second estimate for the chosen target would
 * reserve less where targets differ, but it could refuse a call that was already admitted. The rules that count are
 * found once for each route; other calls pass at once.
 */
import type { WorstCaseOutput } from "#proxy/admit/estimate-cost";
import { askedInResponses } from "#proxy/dispatch/chat/asked-in-responses";
import { applyBodyRules } from "#proxy/formats/body/body-rules";
import { MemberTexts } from "#proxy/formats/body/member-texts";
import { outputMembers } from "#proxy/formats/body/output-members";
import { readCheckedCount } from "#proxy/formats/body/parameter-rules";
import type { ChatCall } from "#proxy/formats/format";
import { isObject, parseJson } from "#proxy/json/json-value";
import type { ChatWireFormat } from "#proxy/neutral/wire";
import { type ParameterNames, parameterNames } from "#proxy/parameters/parameter-names";
import { providers } from "#proxy/providers/providers";
import { chatFormatsFor } from "#proxy/route/chat-formats";
import { spokenFormat } from "#proxy/route/select-target";
import type { Snapshot } from "#proxy/snapshot/snapshot";
import type { BodyRules, Channel, Route, WireFormat } from "#proxy/snapshot/types.gen";

interface RuledTarget {
  readonly target: Route["targets"][number];
  readonly channel: Channel;
  readonly rules: readonly BodyRules[];
}

interface RuledRoute {
  readonly targets: readonly RuledTarget[];
  /** Parameters that the model does not support: they are taken out before the rules. */
  readonly unsupported: readonly ParameterNames[];
  /** Whether anything changes the length or the number of candidates. */
  readonly changesOutput: boolean;
  /** JSON that the rules of one target add to a body, at most. */
  readonly addedBytes: number;
}

/** Top-level members by which a rule changes the length or the number of candidates. */
const namesThatCount: ReadonlySet<string> = new Set(
  Object.values(outputMembers).flatMap(({ inside, caps, candidates }) => inside ?? [...caps, ...candidates]),
);
const capPaths: ReadonlySet<string> = new Set(
  Object.values(outputMembers).flatMap(({ inside = [""], caps }) =>
    inside.flatMap((object) => caps.map((cap) => (object === "" ? cap : `${object}.${cap}`))),
  ),
);

type Channels = Pick<Snapshot, "channel">;

/** The part of a call that counts. */
export type CountedCall = Pick<ChatCall, "model" | "body" | "outputCap" | "candidates"> & {
  readonly endpoint: Pick<ChatCall["endpoint"], "format">;
};

/**
 * @param alike a format with the members of the call's own, which some channels speak in its place
 * @returns undefined where every target gets what the client set
 */
export function worstCaseOutput(
  call: CountedCall,
  route: Route,
  snapshot: Channels,
  alike?: WireFormat,
): WorstCaseOutput | undefined {
  const ruled = ruledRoute(route, snapshot);
  if (ruled === undefined) return undefined;
  const { addedBytes } = ruled;
  const { outputCap, candidates } = call;
  if (!ruled.changesOutput) return { outputCap, isOpen: outputCap === undefined, candidates, addedBytes };
  const most: { outputCap: number | undefined; isOpen: boolean; candidates: number } = {
    outputCap: undefined,
    isOpen: false,
    candidates: 1,
  };
  for (const target of ruled.targets) {
    const format = formatOf(call, route, target, alike);
    if (format === undefined) continue;
    const isUnsupported = (path: string): boolean =>
      ruled.unsupported.some(({ members }) => members[format].includes(path));
    for (const body of bodiesFor(call, target.channel, format, isUnsupported)) {
      for (const rules of target.rules) applyBodyRules(body, rules);
      const asked = askedOf(body, format);
      most.isOpen ||= asked.outputCap === undefined;
      if (asked.outputCap !== undefined) most.outputCap = Math.max(most.outputCap ?? 0, asked.outputCap);
      most.candidates = Math.max(most.candidates, asked.candidates);
    }
  }
  return { ...most, addedBytes };
}

/** The format that a target is spoken to in, as far as its members go. */
function formatOf(
  call: CountedCall,
  route: Route,
  { target, channel }: RuledTarget,
  alike: WireFormat | undefined,
): ChatWireFormat | undefined {
  const own = call.endpoint.format;
  if (alike !== undefined && spokenFormat(channel, [alike]) !== undefined) return own;
  const isInResponses = askedInResponses(call, route, target, channel);
  return spokenFormat(channel, chatFormatsFor(own, isInResponses))?.format;
}

/** A snapshot never changes, so what of a route counts in it is found once. */
const ruledRoutes = new WeakMap<Channels, Map<Route, RuledRoute | "none">>();

function ruledRoute(route: Route, snapshot: Channels): RuledRoute | undefined {
  let routes = ruledRoutes.get(snapshot);
  if (routes === undefined) {
    routes = new Map();
    ruledRoutes.set(snapshot, routes);
  }
  let ruled = routes.get(route);
  if (ruled === undefined) {
    ruled = findRules(route, snapshot) ?? "none";
    routes.set(route, ruled);
  }
  return ruled === "none" ? undefined : ruled;
}

function findRules(route: Route, snapshot: Channels): RuledRoute | undefined {
  const targets = route.targets.flatMap((target) => {
    const { channel: id, parameters } = target;
    const channel = snapshot.channel(id);
    if (channel === undefined || channel.state !== "Active") return [];
    return [{ target, channel, rules: [channel.body, parameters].filter((rules) => rules !== undefined) }];
  });
  const unsupported = (route.parameters ?? [])
    .filter(({ supported }) => supported === false)
    .map(({ name }) => parameterNames(name))
    .filter(({ members }) => Object.values(members).some((paths) => paths.some((path) => capPaths.has(path))));
  const changesOutput = unsupported.length > 0 || targets.some(({ rules }) => rules.some(counts));
  const addedBytes = Math.max(0, ...targets.map(({ rules }) => rules.reduce((sum, rule) => sum + bytesOf(rule), 0)));
  return changesOutput || addedBytes > 0 ? { targets, unsupported, changesOutput, addedBytes } : undefined;
}

/** What rules may put into a body besides numbers and flags, whether the client sent the same member or not. */
function bytesOf({ set = [], default: filled = [] }: BodyRules): number {
  let bytes = 0;
  for (const { field, value } of [...set, ...filled]) {
    const mayHoldText = typeof value === "string" || (typeof value === "object" && value !== null);
    if (mayHoldText && !namesThatCount.has(field)) bytes += Buffer.byteLength(JSON.stringify(value));
  }
  return bytes;
}

function counts({ set = [], default: filled = [], remove: removed = [] }: BodyRules): boolean {
  return [...[...set, ...filled].map(({ field }) => field), ...removed].some((name) => namesThatCount.has(name));
}

/** What the body holds before the rules; several where that depends on what is not known yet. */
function bodiesFor(
  call: CountedCall,
  { provider }: Channel,
  format: ChatWireFormat,
  isUnsupported: (path: string) => boolean,
): readonly MemberTexts[] {
  const { outputCap, candidates, body: sent } = call;
  const bodyOf = (values: Readonly<Record<string, unknown>>): MemberTexts => {
    const body = new MemberTexts();
    for (const [name, value] of Object.entries(values)) {
      if (value !== undefined && !isUnsupported(name)) body.set(name, JSON.stringify(value));
    }
    return body;
  };
  if (format === "GenerateContent") {
    const cap = isUnsupported("generationConfig.maxOutputTokens") ? undefined : outputCap;
    const config = bodyOf({ generationConfig: { maxOutputTokens: cap, candidateCount: candidates } });
    // Without these the config may be there for something else or not at all, and a rule's default for it is used then.
    return outputCap === undefined && candidates === 1 ? [config, bodyOf({})] : [config];
  }
  if (format === call.endpoint.format) {
    const { caps, candidates: counted } = outputMembers[format];
    return [bodyOf(Object.fromEntries([...caps, ...counted].map((name) => [name, readCheckedCount(sent, name)])))];
  }
  if (format === "ChatCompletions") return [bodyOf({ [providers[provider].chatCapMember]: outputCap, n: candidates })];
  if (format === "Responses") return [bodyOf({ max_output_tokens: outputCap })];
  // A translation to messages always has a cap: the model's own where the client set none, so that no default is used.
  return [bodyOf({ max_tokens: outputCap ?? "the model's own" })];
}

/** The most that a body asks for: of two caps a server may take either. What is no number caps nothing. */
function askedOf(body: MemberTexts, format: ChatWireFormat): { outputCap: number | undefined; candidates: number } {
  const { inside, caps, candidates } = outputMembers[format];
  const objects = inside === undefined ? [body] : inside.map((name) => membersIn(body.text(name)));
  const numbersAt = (names: readonly string[]): number[] =>
    objects.flatMap((object) => names.map((name) => countIn(object.text(name)))).filter((count) => count !== undefined);
  const found = numbersAt(caps);
  const outputCap = found.length === 0 || found.includes(Number.POSITIVE_INFINITY) ? undefined : Math.max(...found);
  const counted = numbersAt(candidates).filter((count) => Number.isFinite(count));
  return { outputCap, candidates: Math.max(1, ...counted) };
}

function membersIn(text: string | undefined): MemberTexts {
  const members = new MemberTexts();
  const value = text === undefined ? undefined : parseJson(text);
  if (!isObject(value)) return members;
  for (const [name, inner] of Object.entries(value)) members.set(name, JSON.stringify(inner));
  return members;
}

/** @returns undefined for what is absent or null, infinity for what bounds nothing */
function countIn(text: string | undefined): number | undefined {
  if (text === undefined || text === "null") return undefined;
  const count = Number(text);
  // Some servers write no cap as a negative number.
  return count >= 0 ? Math.ceil(count) : Number.POSITIVE_INFINITY;
}
