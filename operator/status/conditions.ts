/**
 * Computes the conditions of an object from the compiler's verdicts and the proxies' acknowledgements
 * (docs/design/configuration.md 1.1, 1.5).
 *
 * It is pure; the clock is an argument. `Programmed` becomes true only when every ready proxy has acknowledged this
 * version, and stays true for this version while pods come and go. It becomes false with a new version, a refusal or
 * the loss of every proxy.
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

/** Proxies named in a message; the rest are counted. */
const missingMax = 5;

/** Refusals quoted in a message, and the characters of each. */
const refusalsMax = 5;
const refusalCharactersMax = 1_000;
/** The bound of the CRDs. */
const messageCharactersMax = 32_768;

/** The acknowledgements of all wire objects of a resource, combined. */
export interface ResourceAcknowledgement {
  readonly state: ReasonOf<"Programmed">;
  readonly readyProxies: number;
  readonly acknowledgedBy: number;
  readonly rejects: readonly ObjectRefusal[];
  /** Some of the ready proxies that do not hold it yet, and why where that is known. */
  readonly missing?: readonly string[];
  /** Fields that some proxies do not know, and those proxies; the state may be worse than `ProxyTooOld`. */
  readonly tooOld?: {
    readonly fields: readonly string[];
    readonly proxies: readonly string[];
    /** The version in force meanwhile. */
    readonly inForce: "before" | "nowhere" | "elsewhere";
  };
}

/** Facts from outside the compiler. */
export interface Surroundings {
  readonly nowMs: number;
  /** Whether this version was programmed before. */
  readonly wasProgrammed: boolean;
  /** Conditions as last written, for `lastTransitionTime`. */
  readonly before?: readonly Condition[];
  /** The account of a key. */
  readonly account?: AccountResult;
  /** The key's account, or the account itself, has no credit left. */
  readonly isUnfunded?: boolean;
  /** Names of the key's quotas that are used up. */
  readonly exhaustedQuotas?: readonly string[];
  /** Those of them whose period never ends. */
  readonly endlessQuotas?: readonly string[];
  /** Refusals of a channel's credentials, as proxies report them; absent: none, which tells nothing about its calls. */
  readonly health?: ChannelHealth & { readonly hasTraffic: boolean };
  /** Not every proxy has had the time to report: the observed health of a channel stays until then. */
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
    return "The operator has just become leader and has no reports of the proxies yet; wait a moment.";
  const known = `Acknowledged by ${acknowledgedBy} of ${readyProxies} ready proxies`;
  if (missing.length === 0) return `${known}; wait for the others.`;
  const others = readyProxies - acknowledgedBy - missing.length;
  return `${known}; wait for ${missing.join(", ")}${others > 0 ? ` and ${others} more` : ""}, or see why not.`;
}

/** Grouped by cause and not by proxy: during an upgrade proxies come and go one by one. */
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
  return `A proxy refused it: ${told.join("; ")}${more}. Run operator and proxies of one version.`;
}

const refusedBy = / \(by [^()]*\)/g;

/** The first of them, and how many more there are. */
function named(proxies: readonly string[]): string {
  const others = proxies.length - missingMax;
  return `${proxies.slice(0, missingMax).join(", ")}${others > 0 ? ` and ${others} more` : ""}`;
}

/** The meaning of a message of `Programmed`, without counts and names of proxies, which come and go. */
export function programmedMeaning(condition: Condition): string {
  const { message } = condition;
  if (hasReason(condition, "Programmed", "Rejected")) return message.replace(refusedBy, "");
  return hasReason(condition, "Programmed", "ProxyTooOld") ? message.slice(0, message.indexOf(":")) : "";
}

type InForce = NonNullable<ResourceAcknowledgement["tooOld"]>["inForce"];

function inTheMeantime(inForce: InForce, kind: ObjectResult["kind"]): string {
  const isKey = kind === "ApiKey";
  switch (inForce) {
    case "before":
      return "The previous version stays in force on all proxies";
    case "nowhere":
      return isKey ? "All proxies deny the key until then" : "No proxy uses it until then";
    case "elsewhere":
      return `Proxies that do not know all of its fields ${isKey ? "deny the key" : "go on without this version"}`;
    default:
      return inForce satisfies never;
  }
}

function tooOldMessage({ kind }: ObjectResult, { tooOld }: ResourceAcknowledgement): string {
  const { fields = ["one of its fields"], proxies = [], inForce = "elsewhere" } = tooOld ?? {};
  const who = proxies.length === 0 ? "a proxy that is not connected to this operator" : named(proxies);
  return `${inTheMeantime(inForce, kind)}: ${fields.join(", ")} unknown to ${who}. Upgrade these proxies.`;
}

function programmed(
  result: ObjectResult,
  acknowledgement: ResourceAcknowledgement,
  wasProgrammed: boolean,
): Verdict<"Programmed"> {
  const { state, readyProxies, rejects } = acknowledgement;
  if (result.wireIds.length === 0) {
    return no("Pending", "The operator sends nothing of it to the proxies; see Accepted and ResolvedRefs.");
  }
  switch (state) {
    case "Rejected":
      return no("Rejected", rejectedMessage(rejects));
    case "ProxyTooOld":
      return no("ProxyTooOld", tooOldMessage(result, acknowledgement));
    case "NoProxies":
      return no("NoProxies", "No proxy is connected and ready; start one.");
    case "Programmed":
      return yes("Programmed", `Acknowledged by every ready proxy (${readyProxies}).`);
    case "Pending":
      if (wasProgrammed) return yes("Programmed", "Acknowledged by every proxy that was ready then.");
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
    // A key that waits for its generated Secret needs no action.
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
      "This installation requires an account for each key; create a new key with spec.accountRef.",
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
  // Draining credentials get no more calls, and a report may name one that is gone.
  const asked = result.credentials.filter(({ resolved, state }) => resolved && state === "Active");
  const ejected = asked.flatMap(({ name }) => (health?.ejected.includes(name) ? [name] : []));
  if (health?.hasTraffic && health.ejected.length === 0) return yes("Healthy", "Calls go through.");
  if (ejected.length > 0) return unhealthy(ejected, health?.formerInUse ?? [], asked.length);
  const reported = isHealthPartial === true ? before?.find((one) => isVerdict(one, "Healthy")) : undefined;
  if (reported !== undefined) return reported;
  const message =
    health?.hasTraffic === false
      ? "The channel has had no call yet."
      : "No failure is known; proxies report only credentials that the provider refuses.";
  return { status: "Unknown", reason: "NoTraffic", message };
}

/** @param asked how many credentials calls may use */
function unhealthy(ejected: readonly string[], formerInUse: readonly string[], asked: number): Verdict<"Healthy"> {
  const former = ejected.filter((name) => formerInUse.includes(name)).join(", ");
  const refusedNames = ejected.filter((name) => !formerInUse.includes(name));
  const refused = refusedNames.join(", ");
  const mend = "Replace the refused secrets.";
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
  if (result.wireIds.length === 0) return no("NotAccepted", "The account's keys are refused; see Accepted.");
  if (result.creditNanos === undefined)
    return yes("Unlimited", "No credit is set, so only limits bound what its keys spend.");
  if (isUnfunded) return no("BalanceExhausted", "The credit is used up; raise spec.credit.");
  return yes("Funded", "There is credit left.");
}

/** Combines the acknowledgements of several wire objects of one resource: the worst counts. */
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
