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
import { type AskedCall, askedInResponses } from "#proxy/dispatch/chat/asked-in-responses";
import { applyBodyRules } from "#proxy/formats/body/body-rules";
import { MemberTexts } from "#proxy/formats/body/member-texts";
import { outputMembers, type TextFormat } from "#proxy/formats/body/output-members";
import { readCheckedCount } from "#proxy/formats/body/parameter-rules";
import type { ChatCall } from "#proxy/formats/format";
import { isObject, parseJson } from "#proxy/json/json-value";
import type { ChatWireFormat } from "#proxy/neutral/wire";
import { type ParameterNames, parameterNames } from "#proxy/parameters/parameter-names";
import { providers } from "#proxy/providers/providers";
import { chatFormatsFor } from "#proxy/route/chat-formats";
import { type RouteTarget, spokenFormat } from "#proxy/route/select-target";
import type { Snapshot } from "#proxy/snapshot/snapshot";
import type { BodyRules, Channel, Route } from "#proxy/snapshot/types.gen";

interface RuledTarget {
  readonly target: RouteTarget;
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
  readonly endpoint: { readonly format: TextFormat };
};

/**
 * @param formatOn in which a target is asked; undefined for one that cannot be
 * @returns undefined where every target gets what the client set
 */
export function worstCaseOutput(
  call: CountedCall,
  route: Route,
  snapshot: Channels,
  formatOn: (target: RouteTarget, channel: Channel) => TextFormat | undefined,
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
    const format = formatOn(target.target, target.channel);
    if (format === undefined) continue;
    const isUnsupported = (path: string): boolean => ruled.unsupported.some((names) => isMember(names, path, format));
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

/** The format in which a chat call is asked of a target. */
export function chatFormatOn(
  call: AskedCall,
  route: Route,
): (target: RouteTarget, channel: Channel) => ChatWireFormat | undefined {
  const { format } = call.endpoint;
  return (target, channel) =>
    spokenFormat(channel, chatFormatsFor(format, askedInResponses(call, route, target, channel)))?.format;
}

/** Caps are exact: a model that refuses one of two names may take the other. */
function isMember({ members }: ParameterNames, path: string, format: TextFormat): boolean {
  return members[format === "Completions" ? "ChatCompletions" : format].includes(path);
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
  format: TextFormat,
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
  // Whichever name the client has for its cap goes out under the one of the upstream.
  if (format === "Completions") {
    const [n, bestOf] = ["n", "best_of"].map((name) => readCheckedCount(sent, name));
    return [bodyOf({ max_tokens: readCheckedCount(sent, "max_tokens") ?? outputCap, n, best_of: bestOf })];
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
function askedOf(body: MemberTexts, format: TextFormat): { outputCap: number | undefined; candidates: number } {
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
