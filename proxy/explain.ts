/**
 * Explains the decision that the proxy would make about a call, without making it: no reservation, no upstream, no
 * secret.
 *
 * Pure. Serves `/debug/explain` of a running proxy and `tollgate explain` over files. It calls the very functions that
 * enforce (`describeLiveness`, `decide`, the order of targets), so that its result cannot differ from theirs.
 */

import { describeLiveness } from "./authenticate/find-key.ts";
import { decide, decideModel } from "./authorize/decide.ts";
import { askedInResponses } from "./dispatch/chat/asked-in-responses.ts";
import type { Endpoint } from "./endpoints/endpoint.ts";
import { endpoints } from "./endpoints/endpoints.ts";
import { servedForms } from "./endpoints/served-forms.ts";
import { errorTable } from "./errors.ts";
import { clientFormats } from "./formats/registry.ts";
import { type IpAddress, parseIpAddress } from "./http/address/ip-address.ts";
import type { ChatWireFormat, Protocol } from "./neutral/wire.ts";
import { chatFormatsFor } from "./route/chat-formats.ts";
import { type OtherWay, obstacleOf, type RouteTarget, type ServedCall, spokenTo } from "./route/select-target.ts";
import { upstreamModelOf } from "./route/upstream-model.ts";
import type { Snapshot } from "./snapshot/snapshot.ts";
import type { Capability, Channel, Key, Limit, Route, WireFormat } from "./snapshot/types.gen.ts";

export interface ExplainQuestion {
  /** `namespace/name`; never the key itself. */
  readonly key: string;
  /** Name of the one credential that was presented; undefined looks at all of the key's. */
  readonly credential?: string | undefined;
  readonly model: string;
  /** Undefined: the address is not looked at. */
  readonly address?: string | undefined;
  /** The client's format, which tells the endpoint; `ChatCompletions` when absent. */
  readonly format?: WireFormat | undefined;
}

export interface Explanation {
  readonly allowed: boolean;
  /** Status that the client would see; `OpenAI`-style where protocols differ. */
  readonly status: number;
  /** Error code of the refusal. */
  readonly refused?: string;
  readonly message: string;
  readonly account?: string;
  readonly credentials?: readonly { readonly name: string; readonly state: string }[];
  readonly route?: string;
  /** In the order in which they would be considered. */
  readonly targets?: readonly ExplainedTarget[];
  /** Limits that would be reserved, with who sets them. */
  readonly limits?: readonly ExplainedLimit[];
}

export interface ExplainedTarget {
  readonly name: string;
  readonly channel: string;
  readonly upstreamModel: string;
  readonly priority: number;
  readonly weight: number;
  /** `yes`, `yes, translated to FORMAT`, or `no: ` and why. */
  readonly usable: string;
}

export interface ExplainedLimit {
  readonly from: string;
  readonly name: string;
  readonly text: string;
}

/** How calls of one format of clients are served. */
interface ExplainedForm {
  readonly protocol: Protocol;
  readonly capability: Capability;
  /** Of channels; the client's own first. */
  readonly formats: readonly WireFormat[];
  readonly instead?: OtherWay | undefined;
  /** As of `Endpoint`. */
  readonly formatsOf?: Endpoint["formatsOf"];
}

const forms = new Map<WireFormat, ExplainedForm>();

/** What they ask of an upstream follows from another call. */
const followers: ReadonlySet<string> = new Set(["count-tokens", "stored-responses"]);

for (const endpoint of endpoints) {
  if (followers.has(endpoint.name)) continue;
  for (const { client, protocol, native, converted } of servedForms(endpoint)) {
    if (client === "Models" || client === "None") continue;
    const formats = [...native, ...converted].map(({ format }) => format);
    const { capability, instead, formatsOf } = endpoint;
    forms.set(client, { protocol, capability, formats, instead, ...(formatsOf && { formatsOf }) });
  }
}

/** The formats of clients that a question may name. */
export const explainedFormats: readonly WireFormat[] = [...forms.keys()];

/** The format of this name, `ChatCompletions` when none is given; undefined for a name that no endpoint has. */
export function readFormat(text = "ChatCompletions"): WireFormat | undefined {
  return explainedFormats.find((format) => format === text);
}

/** @param nowMs milliseconds since the epoch: keys live by the clock */
export function explain(question: ExplainQuestion, snapshot: Snapshot, nowMs: number): Explanation {
  const [namespace = "", name = ""] = question.key.split("/");
  const key = snapshot.keyByName(namespace, name);
  if (key === undefined) return refuse("unknown_key", `There is no key ${question.key} in the live configuration.`);
  const credentials = describeCredentials(key, snapshot, nowMs);
  const dead = describeDeath(question, credentials);
  if (dead !== undefined) return { ...refuse("unknown_key", dead), credentials };
  const address = readAddress(question.address);
  if (address === "unreadable")
    return { ...refuse("ip_not_allowed", `"${question.address}" is not an IP address.`), credentials };
  return { ...explainRoute(question, address, key, snapshot), credentials };
}

function refuse(code: keyof typeof errorTable, message: string): Explanation {
  return { allowed: false, status: errorTable[code].status, refused: code, message };
}

function explainRoute(
  question: ExplainQuestion,
  address: IpAddress | undefined,
  key: Key,
  snapshot: Snapshot,
): Explanation {
  const format = question.format ?? "ChatCompletions";
  const form = forms.get(format);
  if (form === undefined) return refuse("unknown_url", `No endpoint serves ${format}.`);
  const { protocol, capability } = form;
  const call = { key, snapshot, protocol, capability, model: question.model };
  const decision = address === undefined ? decideModel(call) : decide({ ...call, clientAddress: address });
  if (!decision.allowed) return refuse(decision.refused, decision.message);
  const { route } = decision;
  const targets = explainTargets(route, question.model, format, snapshot);
  const verdict = targets.some((target) => target.usable.startsWith("yes"))
    ? { allowed: true, status: 200, message: allowedMessage(route) }
    : refuse("no_available_channel", "No target of the route can serve a call now.");
  return {
    ...verdict,
    ...(key.account === undefined ? {} : { account: `${key.namespace}/${key.account}` }),
    route: `${route.namespace}/${route.name}`,
    targets,
    limits: explainLimits(key, route, snapshot),
  };
}

/** What is left of them only a call itself can tell. */
function allowedMessage({ namespace, name }: Route): string {
  return `The call would go to the route ${namespace}/${name}; limits and balance are not checked.`;
}

function describeCredentials(key: Key, snapshot: Snapshot, nowMs: number): { name: string; state: string }[] {
  return key.credentials.map((credential) => ({
    name: credential.name,
    state: describeLiveness({ key, credential }, snapshot, nowMs) ?? "live",
  }));
}

function describeDeath(question: ExplainQuestion, all: readonly { name: string; state: string }[]): string | undefined {
  const chosen = question.credential === undefined ? all : all.filter(({ name }) => name === question.credential);
  if (chosen.some(({ state }) => state === "live")) return undefined;
  if (chosen.length === 0) return "The key has no credential.";
  return `No credential of the key is live: ${chosen.map(({ name, state }) => `${name} is ${state}`).join(", ")}.`;
}

function readAddress(text: string | undefined): IpAddress | undefined | "unreadable" {
  return text === undefined ? undefined : (parseIpAddress(text) ?? "unreadable");
}

function explainTargets(route: Route, model: string, format: WireFormat, snapshot: Snapshot): ExplainedTarget[] {
  return route.targets
    .map((target) => ({
      name: target.name,
      channel: target.channel,
      upstreamModel: upstreamModelIn(snapshot, route, target, model),
      priority: target.priority,
      weight: target.weight,
      usable: describeTarget(target, { route, model, format }, snapshot),
    }))
    .sort((left, right) => left.priority - right.priority || right.weight - left.weight);
}

function upstreamModelIn(snapshot: Snapshot, route: Route, target: RouteTarget, model: string): string {
  const channel = snapshot.channel(target.channel);
  return channel === undefined ? (target.upstreamModel ?? model) : upstreamModelOf({ channel, route, target }, model);
}

/** One candidate is asked for, as nearly always. */
function describeTarget(
  target: RouteTarget,
  { route, model, format }: { readonly route: Route; readonly model: string; readonly format: WireFormat },
  snapshot: Snapshot,
): string {
  const { capability, formats, instead } = forms.get(format) ?? noForm;
  const asked = { route, model, format };
  const call: ServedCall = {
    route,
    model,
    capability,
    formats,
    instead,
    formatsOn: (one, channel) => formatsOn(one, channel, asked),
  };
  const obstacle = obstacleOf(target, call, snapshot);
  if (obstacle !== undefined) return `no: ${obstacle}`;
  const channel = snapshot.channel(target.channel);
  const spoken = channel && spokenTo(target, channel, call)?.format;
  return spoken === undefined || spoken === format ? "yes" : `yes, translated to ${spoken}`;
}

const noForm: ExplainedForm = { protocol: "OpenAI", capability: "Chat", formats: [] };

/** In the order in which they are preferred on a channel. */
function formatsOn(
  target: RouteTarget,
  channel: Channel,
  { route, model, format }: { readonly route: Route; readonly model: string; readonly format: WireFormat },
): readonly WireFormat[] {
  if (!isChatFormat(format)) {
    const { formats, formatsOf } = forms.get(format) ?? noForm;
    return formatsOf?.(format, upstreamModelOf({ channel, route, target }, model)) ?? formats;
  }
  const call = { model, candidates: 1, endpoint: { format } };
  return chatFormatsFor(format, askedInResponses(call, route, target, channel));
}

function isChatFormat(format: WireFormat): format is ChatWireFormat {
  return Object.hasOwn(clientFormats, format);
}

function explainLimits(key: Key, route: Route, snapshot: Snapshot): ExplainedLimit[] {
  const account = key.account === undefined ? undefined : snapshot.account(key.namespace, key.account);
  const own = key.limits ?? [];
  return [
    ...own.map((limit) => describeLimit("key", limit)),
    ...(own.length === 0 ? (account?.defaultKeyLimits ?? []) : []).map((limit) =>
      describeLimit("account, for keys without limits", limit),
    ),
    ...(account?.limits ?? []).map((limit) => describeLimit("account", limit)),
    ...(route.limits ?? []).map((limit) => describeLimit("route", limit)),
  ];
}

function describeLimit(from: string, limit: Limit): ExplainedLimit {
  const amount = limit.unit === "Cost" ? `${Number(limit.limit) / 1e9} credits` : `${limit.limit} ${limit.unit}`;
  const span = limit.period === "Lifetime" ? "in all" : `per ${limit.period}`;
  return {
    from,
    name: limit.name,
    text: `${amount} ${span}, ${limit.algorithm}${limit.mode === "Shadow" ? ", only watched" : ""}`,
  };
}
