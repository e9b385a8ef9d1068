/**
 * The table of all reasons of conditions, each with its statuses and its meaning. Types, `docs/status.md` and the
 * goldens of the compiler come from it, and a reason that is not here does not compile.
 *
 * The table is among the resources because conditions are part of their contract: the compiler gives some reasons and
 * the status reconciler others, and the compiler does not know the status. Pure.
 */
import type { Condition } from "./types.gen.ts";

export type ConditionStatus = Condition["status"];

export interface ReasonRow {
  readonly statuses: readonly ConditionStatus[];
  /** The text in `docs/status.md`; neighbours with the same status and meaning share a row there. */
  readonly means: string;
}

const secretUnusable =
  "create or correct the Secret. A Secret that was generated for another ApiKey belongs to that one alone, and one of type `helm.sh/release.v1` is never read. Where the chart's `operator.generateKeys` is off, create the Secret of a `generate` credential too";
const configMapUnusable = "create or correct the ConfigMap with the CA bundle";
const targetUnusable =
  "a target is missing, is not served itself, or is in a namespace that the operator does not watch; the route uses its other targets";
const outsideItsTimes = "outside of its times, or nothing of it is served";
const seeAccount = "see the account";
const callersFail = "callers get 503 or do not find the model";

/** By type of the condition, in the order in which people read them. */
export const conditionReasons = {
  Accepted: {
    Valid: { statuses: ["True"], means: "nothing to do" },
    PartiallyValid: {
      statuses: ["True"],
      means:
        "served without the elements that the message names, such as fields that are not there yet; the message says what happens instead",
    },
    Conflicted: {
      statuses: ["False"],
      means: "another object already has the key or the public name; the message names it",
    },
    Invalid: {
      statuses: ["False"],
      means:
        "the manifest breaks a rule. A key is denied until it is corrected. Any other object keeps its last good version when its manifest breaks the schema, and the message says so; an object that the schema allows and that cannot work (a preset that does not fit its provider, an address that must not be called, an unknown time zone) is not served. Also for a deleted key that finalizers still hold: it is denied from the deletion on, and the message names the finalizers",
    },
    Cycle: { statuses: ["False"], means: "routes lead back to each other" },
    NeedsSharedStore: {
      statuses: ["False"],
      means:
        "each proxy counts for itself, so several proxies would grant a quota (limits of a Day or longer or in Cost, credit) several times. Run one proxy, or use rates",
    },
  },
  ResolvedRefs: {
    Resolved: { statuses: ["True"], means: "nothing to do" },
    Pending: {
      statuses: ["Unknown"],
      means:
        "a Secret is being created, or the Secret of a former ApiKey of this name is still to be deleted; that one is never used",
    },
    SecretNotFound: { statuses: ["False"], means: secretUnusable },
    SecretKeyNotFound: { statuses: ["False"], means: secretUnusable },
    InvalidSecret: { statuses: ["False"], means: secretUnusable },
    AccountNotFound: { statuses: ["False"], means: "the account is missing or not accepted; the key is denied" },
    ConfigMapNotFound: { statuses: ["False"], means: configMapUnusable },
    InvalidConfigMap: { statuses: ["False"], means: configMapUnusable },
    ChannelNotFound: { statuses: ["False"], means: targetUnusable },
    ChannelNotReady: { statuses: ["False"], means: targetUnusable },
    RouteNotFound: { statuses: ["False"], means: targetUnusable },
    RouteNotReady: { statuses: ["False"], means: targetUnusable },
    NotAllowed: {
      statuses: ["False"],
      means:
        "the channel does not admit this namespace: see its `allowedNamespaces`, or label the namespace. Or it selects namespaces by labels while `operator.namespaceSelectors` is off",
    },
    Cycle: { statuses: ["False"], means: "a target leads back to this route" },
  },
  Programmed: {
    Programmed: { statuses: ["True"], means: "live everywhere" },
    Pending: { statuses: ["False"], means: "on its way, or nothing of it is sent: see the other conditions" },
    NoProxies: { statuses: ["False"], means: "no proxy is connected and ready" },
    Rejected: {
      statuses: ["False"],
      means: "a proxy refused it: operator and proxies have different versions",
    },
    ProxyTooOld: {
      statuses: ["False"],
      means: "connected proxies do not know one of its fields; the message names both. Upgrade those proxies",
    },
  },
  Active: {
    Active: { statuses: ["True"], means: "calls are accepted" },
    Suspended: { statuses: ["False"], means: "`spec.state` says so" },
    // Unknown for a key that waits for its generated Secret: no action is needed.
    NotYetValid: { statuses: ["False", "Unknown"], means: outsideItsTimes },
    Expired: { statuses: ["False"], means: outsideItsTimes },
    QuotaExhausted: { statuses: ["False"], means: "a quota is used up until its period ends; the message names it" },
    AccountUnfunded: { statuses: ["False"], means: seeAccount },
    AccountSuspended: { statuses: ["False"], means: seeAccount },
    AccountRequired: { statuses: ["False"], means: "this installation requires an account for each key" },
  },
  Healthy: {
    Healthy: { statuses: ["True"], means: "calls go through" },
    NoTraffic: {
      statuses: ["Unknown"],
      means:
        "no failure is known; proxies report only credentials that the provider refuses, so this stays even with traffic",
    },
    Degraded: {
      statuses: ["False"],
      means:
        "the provider refuses some of its credentials, or an edited secret; calls go on with the others, or with the former secret while it works",
    },
    AllCredentialsEjected: { statuses: ["False"], means: "the provider refuses every credential" },
  },
  Available: {
    Available: { statuses: ["True"], means: "at least one target can be chosen" },
    NoUsableTarget: { statuses: ["False"], means: callersFail },
    NotAccepted: { statuses: ["False"], means: callersFail },
  },
  Funded: {
    Funded: { statuses: ["True"], means: "there is credit left" },
    Unlimited: { statuses: ["True"], means: "no credit is set" },
    NotAccepted: { statuses: ["False"], means: "the account is refused and with it its keys; see `Accepted`" },
    BalanceExhausted: { statuses: ["False"], means: "the credit is used up; raise `spec.credit`" },
  },
} as const satisfies { readonly [type: string]: { readonly [reason: string]: ReasonRow } };

type Table = typeof conditionReasons;

export type ConditionType = keyof Table;

type StatusOf<Row> = Row extends { readonly statuses: readonly (infer Status)[] } ? Status : never;

/** The reasons of one or several conditions; with `Status`, only those with that status. */
export type ReasonOf<
  Type extends ConditionType,
  Status extends ConditionStatus = ConditionStatus,
> = Type extends ConditionType
  ? {
      [Reason in keyof Table[Type]]: Status & StatusOf<Table[Type][Reason]> extends never ? never : Reason;
    }[keyof Table[Type]]
  : never;

/** A verdict about one condition: a row of the table, and a message. */
export type Verdict<Type extends ConditionType = ConditionType> = Type extends ConditionType
  ? {
      [Reason in keyof Table[Type]]: {
        readonly status: StatusOf<Table[Type][Reason]>;
        readonly reason: Reason;
        /** The problem and the remedy; never key material. */
        readonly message: string;
      };
    }[keyof Table[Type]]
  : never;

/** A verdict of one status, of whatever condition has such a reason. */
export interface VerdictOf<Status extends ConditionStatus, Reason extends ReasonOf<ConditionType, Status>> {
  readonly status: Status;
  readonly reason: Reason;
  readonly message: string;
}

type Read = Pick<Condition, "type" | "status" | "reason" | "message">;

/** Whether a condition that was read has this type and a reason and status of the table. */
export function isVerdict<Type extends ConditionType, From extends Read>(
  condition: From,
  type: Type,
): condition is From & Verdict<Type> {
  const rows: { readonly [reason: string]: ReasonRow } = conditionReasons[type];
  const row = Object.hasOwn(rows, condition.reason) ? rows[condition.reason] : undefined;
  return condition.type === type && row?.statuses.includes(condition.status) === true;
}

/** Whether a condition has this type and one of these reasons. */
export function hasReason<Type extends ConditionType>(
  condition: Pick<Condition, "type" | "reason">,
  type: Type,
  ...reasons: readonly ReasonOf<Type>[]
): boolean {
  return condition.type === type && reasons.some((reason) => reason === condition.reason);
}
