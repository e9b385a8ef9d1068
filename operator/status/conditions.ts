/**
 * Conditions of an object: what compiling found, merged with what the proxies acknowledged (RESOURCES.md R4, R12).
 *
 * Pure; the clock is an argument. `Programmed` is true only when every ready proxy acknowledged this version, and then
 * stays true for it while pods come and go: it falls with a new version, a rejection or the loss of every proxy.
 */
import type { AccountResult, ChannelResult, KeyResult, ObjectResult } from "#operator/compile/result";
import type { ObjectRefusal } from "#operator/push/fleet";
import {
  type ConditionType,
  hasReason,
  isVerdict,
  type ReasonOf,
  type Verdict,
  type VerdictOf,
} from "#operator/resources/reasons";
import type { Condition } from "#operator/resources/types.gen";
import type { ChannelHealth } from "./credential-health.ts";

/** Named in a message; the rest is a number. */
const missingMax = 5;

/** Reasons of refusals named in a message, and how much of each. */
const refusalsMax = 5;
const refusalCharactersMax = 1_000;
/** As the CRDs bound it. */
const messageCharactersMax = 32_768;

/** What the fleet says about the wire objects of a resource, all taken together. */
export interface ResourceAcknowledgement {
  readonly state: ReasonOf<"Programmed">;
  readonly readyProxies: number;
  readonly acknowledgedBy: number;
  readonly rejects: readonly ObjectRefusal[];
  /** Some of the ready proxies that do not hold it yet, and why where that is known. */
  readonly missing?: readonly string[];
  /** Fields that some proxies do not know, and which these are; the state may be worse than `ProxyTooOld`. */
  readonly tooOld?: {
    readonly fields: readonly string[];
    readonly proxies: readonly string[];
    /** What holds meanwhile. */
    readonly inForce: "before" | "nowhere" | "elsewhere";
  };
}

/** What is known from outside the compiler. */
export interface Surroundings {
  readonly nowMs: number;
  /** Whether this version was programmed before. */
  readonly wasProgrammed: boolean;
  /** Conditions as last written, for `lastTransitionTime`. */
  readonly before?: readonly Condition[];
  /** The account of a key. */
  readonly account?: AccountResult;
  /** The account of this key, or this account, has nothing left. */
  readonly isUnfunded?: boolean;
  /** Names of the key's quotas that are used up. */
  readonly exhaustedQuotas?: readonly string[];
  /** Those of them that never begin anew. */
  readonly endlessQuotas?: readonly string[];
  /** What the proxies report against a channel; absent: nothing, which says nothing about its calls. */
  readonly health?: ChannelHealth & { readonly hasTraffic: boolean };
  /** Not every proxy has had the time to report: what was said of a channel before holds until then. */
  readonly isHealthPartial?: boolean;
}

/** All conditions of an object, in the order people read them. */
export function conditionsOf(
  result: ObjectResult,
  acknowledgement: ResourceAcknowledgement,
  surroundings: Surroundings,
): Condition[] {
  const verdicts: TypedVerdict[] = [["Accepted", result.accepted]];
  if (result.resolvedRefs) verdicts.push(["ResolvedRefs", result.resolvedRefs]);
  verdicts.push(["Programmed", programmed(result, acknowledgement, surroundings.wasProgrammed)]);
  switch (result.kind) {
    case "ApiKey":
      verdicts.push(["Active", active(result, surroundings, acknowledgement)]);
      break;
    case "Channel":
      verdicts.push(["Healthy", healthy(result, surroundings)]);
      break;
    case "ModelRoute":
      verdicts.push(["Available", result.available]);
      break;
    case "Account":
      verdicts.push(["Funded", funded(result, surroundings)]);
      break;
    default:
      result satisfies never;
  }
  return verdicts.map(([type, verdict]) => toCondition(type, verdict, result.generation, surroundings));
}

/** The type of a condition with a verdict that such a condition can have. */
type TypedVerdict = { [Type in ConditionType]: readonly [Type, Verdict<Type>] }[ConditionType];

function toCondition(
  type: ConditionType,
  verdict: Verdict,
  generation: number,
  { before, nowMs }: Surroundings,
): Condition {
  const same = before?.find((condition) => condition.type === type && condition.status === verdict.status);
  return {
    type,
    status: verdict.status,
    reason: verdict.reason,
    message: verdict.message.slice(0, messageCharactersMax),
    observedGeneration: generation,
    lastTransitionTime: same?.lastTransitionTime ?? new Date(nowMs).toISOString().replace(/\.\d+Z$/, "Z"),
  };
}

function no<Reason extends ReasonOf<ConditionType, "False">>(
  reason: Reason,
  message: string,
): VerdictOf<"False", Reason> {
  return { status: "False", reason, message };
}

function yes<Reason extends ReasonOf<ConditionType, "True">>(
  reason: Reason,
  message: string,
): VerdictOf<"True", Reason> {
  return { status: "True", reason, message };
}

function pendingMessage({ readyProxies, acknowledgedBy, missing = [] }: ResourceAcknowledgement): string {
  if (readyProxies === 0)
    return "The operator has just started to lead and has not heard the proxies yet; wait a moment.";
  const known = `Acknowledged by ${acknowledgedBy} of ${readyProxies} ready proxies`;
  if (missing.length === 0) return `${known}; wait for the others.`;
  const others = readyProxies - acknowledgedBy - missing.length;
  return `${known}; wait for ${missing.join(", ")}${others > 0 ? ` and ${others} more` : ""}, or see why not.`;
}

/** By what was said and not by who said it: while proxies are upgraded they come and go one by one. */
function rejectedMessage(rejects: readonly ObjectRefusal[]): string {
  const names = new Map<string, string[]>();
  for (const { by, why } of rejects) {
    const known = names.get(why);
    if (known === undefined) names.set(why, [by]);
    else known.push(by);
  }
  const whys = [...names.keys()].sort();
  const told = whys.slice(0, refusalsMax).map((why) => {
    return `${why.slice(0, refusalCharactersMax)} (by ${named(names.get(why) ?? [])})`;
  });
  const others = whys.length - told.length;
  const more = others > 0 ? ` and ${others} more` : "";
  return `A proxy refused it: ${told.join("; ")}${more}. Run one version of operator and proxies.`;
}

const refusedBy = / \(by [^()]*\)/g;

/** The first of them, and how many more there are. */
function named(proxies: readonly string[]): string {
  const others = proxies.length - missingMax;
  return `${proxies.slice(0, missingMax).join(", ")}${others > 0 ? ` and ${others} more` : ""}`;
}

/** What of the message of `Programmed` is meaning; counts and names of proxies come and go. */
export function programmedMeaning(condition: Condition): string {
  const { message } = condition;
  if (hasReason(condition, "Programmed", "Rejected")) return message.replace(refusedBy, "");
  return hasReason(condition, "Programmed", "ProxyTooOld") ? message.slice(0, message.indexOf(":")) : "";
}

const meanwhile = {
  before: "The version before stays in force on all proxies",
  nowhere: "Denied by all proxies until then",
  elsewhere: "Denied by the proxies that do not know all of it",
} as const;

function tooOldMessage({ tooOld }: ResourceAcknowledgement): string {
  const { fields = ["a field of it"], proxies = [], inForce = "elsewhere" } = tooOld ?? {};
  const who = proxies.length === 0 ? "a proxy that is not connected here now" : named(proxies);
  return `${meanwhile[inForce]}: ${fields.join(", ")} unknown to ${who}. Upgrade these proxies.`;
}

function programmed(
  result: ObjectResult,
  acknowledgement: ResourceAcknowledgement,
  wasProgrammed: boolean,
): Verdict<"Programmed"> {
  const { state, readyProxies, rejects } = acknowledgement;
  if (result.wireIds.length === 0) {
    return no("Pending", "Nothing of it is sent to the proxies; see Accepted and ResolvedRefs.");
  }
  switch (state) {
    case "Rejected":
      return no("Rejected", rejectedMessage(rejects));
    case "ProxyTooOld":
      return no("ProxyTooOld", tooOldMessage(acknowledgement));
    case "NoProxies":
      return no("NoProxies", "No proxy is connected and ready; start one.");
    case "Programmed":
      return yes("Programmed", `Acknowledged by every ready proxy (${readyProxies}).`);
    case "Pending":
      if (wasProgrammed) return yes("Programmed", "Acknowledged by every proxy that was ready at that time.");
      return no("Pending", pendingMessage(acknowledgement));
    default:
      return state satisfies never;
  }
}

function active(result: KeyResult, surroundings: Surroundings, { tooOld }: ResourceAcknowledgement): Verdict<"Active"> {
  const { nowMs, account, isUnfunded } = surroundings;
  if (result.state === "Suspended") return no("Suspended", "Calls get 401; set spec.state to Active to allow them.");
  if (result.expiresAtMs !== undefined && result.expiresAtMs <= nowMs) {
    return no("Expired", "Calls get 401; move spec.expiresAt or issue another key.");
  }
  if (result.wireIds.length === 0) {
    // A key that waits for its generated Secret is on its way: nobody has to do anything.
    const isComing = result.resolvedRefs?.status === "Unknown";
    const message = "Calls get 401; see Accepted and ResolvedRefs.";
    return { status: isComing ? "Unknown" : "False", reason: "NotYetValid", message };
  }
  if (tooOld?.inForce === "nowhere")
    return no("NotYetValid", "Calls get 401 until proxies are upgraded; see Programmed.");
  const usable = result.credentials.filter((credential) => credential.usable);
  const live = usable.filter((credential) => (credential.notAfterMs ?? Number.POSITIVE_INFINITY) > nowMs);
  if (live.length === 0) return no("Expired", "Every credential has expired; add one or move its notAfter.");
  if (live.every((credential) => (credential.notBeforeMs ?? 0) > nowMs)) {
    return no("NotYetValid", "No credential is valid yet; see their notBefore.");
  }
  if (result.accountRequired)
    return no(
      "AccountRequired",
      "This installation wants an account for each key; create another with spec.accountRef.",
    );
  if (account?.state === "Suspended")
    return no("AccountSuspended", `Account ${account.name} is suspended; calls are refused.`);
  if (isUnfunded)
    return no("AccountUnfunded", `Account ${result.account ?? ""} has no credit left; raise its spec.credit.`);
  const quotas = usedUp(surroundings);
  return quotas === undefined ? yes("Active", "Calls with this key are accepted.") : no("QuotaExhausted", quotas);
}

function usedUp({ exhaustedQuotas = [], endlessQuotas = [] }: Surroundings): string | undefined {
  if (exhaustedQuotas.length === 0) return undefined;
  const names = `Used up: ${exhaustedQuotas.join(", ")}`;
  if (endlessQuotas.length === 0) return `${names}; raise the limit or wait for its period to end.`;
  return `${names}; raise the limit: the period of ${endlessQuotas.join(", ")} does not end.`;
}

function healthy(result: ChannelResult, { health, isHealthPartial, before }: Surroundings): Verdict<"Healthy"> {
  // Draining credentials are asked nothing more, and a report may speak of one that is gone.
  const asked = result.credentials.filter(({ resolved, state }) => resolved && state === "Active");
  const ejected = asked.flatMap(({ name }) => (health?.ejected.includes(name) ? [name] : []));
  if (health?.hasTraffic && health.ejected.length === 0) return yes("Healthy", "Calls go through.");
  if (ejected.length > 0) return unhealthy(ejected, health?.formerInUse ?? [], asked.length);
  const reported = isHealthPartial === true ? before?.find((one) => isVerdict(one, "Healthy")) : undefined;
  if (reported !== undefined) return reported;
  const message =
    health?.hasTraffic === false
      ? "No call has gone through it yet."
      : "Nothing is known against it; proxies tell only of credentials that the provider refuses.";
  return { status: "Unknown", reason: "NoTraffic", message };
}

/** @param asked how many credentials calls may be made with */
function unhealthy(ejected: readonly string[], formerInUse: readonly string[], asked: number): Verdict<"Healthy"> {
  const former = ejected.filter((name) => formerInUse.includes(name)).join(", ");
  const refusedNames = ejected.filter((name) => !formerInUse.includes(name));
  const refused = refusedNames.join(", ");
  const mend = "Put a secret that it accepts.";
  if (refusedNames.length === asked)
    return no("AllCredentialsEjected", `The provider refuses every credential: ${refused}. ${mend}`);
  const parts = [
    refused !== "" && `The provider refuses ${refused}.`,
    former !== "" &&
      `The provider refuses the new secret of ${former}; calls go on with the former one while it works.`,
  ];
  return no("Degraded", [...parts.filter((part) => part !== false), mend].join(" "));
}

function funded(result: AccountResult, { isUnfunded }: Surroundings): Verdict<"Funded"> {
  if (result.wireIds.length === 0) return no("NotAccepted", "Its keys are refused; see Accepted.");
  if (result.creditNanos === undefined)
    return yes("Unlimited", "No credit is set; its keys spend without bound but for limits.");
  if (isUnfunded) return no("BalanceExhausted", "The credit is used up; raise spec.credit.");
  return yes("Funded", "There is credit left.");
}

/** What several wire objects of one resource come to: the worst of them. */
export function combineAcknowledgements(all: readonly ResourceAcknowledgement[]): ResourceAcknowledgement {
  const [first] = all;
  if (!first) return { state: "Pending", readyProxies: 0, acknowledgedBy: 0, rejects: [] };
  const order: readonly ResourceAcknowledgement["state"][] = [
    "Rejected",
    "ProxyTooOld",
    "NoProxies",
    "Pending",
    "Programmed",
  ];
  const state = order.find((candidate) => all.some((one) => one.state === candidate)) ?? first.state;
  const tooOld = all.find((one) => one.tooOld !== undefined)?.tooOld;
  return {
    state,
    readyProxies: first.readyProxies,
    acknowledgedBy: Math.min(...all.map((one) => one.acknowledgedBy)),
    rejects: all.flatMap((one) => one.rejects),
    missing: [...new Set(all.flatMap(({ missing = [] }) => missing))].slice(0, missingMax),
    ...(tooOld && { tooOld }),
  };
}
