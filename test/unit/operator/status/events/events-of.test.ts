import assert from "node:assert/strict";
import { eventsOf } from "#operator/status/events/events-of";
import type { StatusDocument } from "#operator/status/status-document";

/** @param conditions `Type=Status Reason` or `Type=Status Reason: message` */
function document(conditions: readonly string[], status: object = {}): StatusDocument {
  return {
    apiVersion: "tollgate.dev/v1alpha1",
    kind: "ApiKey",
    metadata: { namespace: "a", name: "one" },
    status: {
      ...status,
      conditions: conditions.map((text) => {
        const [, type = "", value = "", reason = "", message = "words"] =
          /^(\w+)=(\w+) (\w+)(?:: (.*))?$/.exec(text) ?? assert.fail(text);
        const known = value === "True" || value === "False" ? value : "Unknown";
        return { type, status: known, reason, message, lastTransitionTime: "2026-11-21T12:00:00Z" } as const;
      }),
    },
  };
}

const quota = (used: string, resetAt?: string) => ({
  usage: [{ name: "month", used, limit: "200", ...(resetAt !== undefined && { resetAt }) }],
});
const balance = (consumed: string) => ({ balance: { granted: "10.5", consumed } });

interface Row {
  readonly name: string;
  readonly before?: StatusDocument;
  readonly after: StatusDocument;
  readonly told: readonly string[];
}

const rows: readonly Row[] = [
  {
    name: "nothing of a new object that is well",
    after: document([
      "Accepted=True Valid",
      "ResolvedRefs=True Resolved",
      "Programmed=False Pending",
      "Active=True Active",
    ]),
    told: [],
  },
  {
    name: "what is wrong with a new object",
    after: document(["Accepted=False Conflicted", "Programmed=False Pending", "Active=False NotYetValid"]),
    told: ["Warning Conflicted"],
  },
  {
    name: "that it is served in part",
    after: document(["Accepted=True PartiallyValid"]),
    told: ["Warning PartiallyValid"],
  },
  {
    name: "that it is well again",
    before: document(["ResolvedRefs=False SecretNotFound"]),
    after: document(["ResolvedRefs=True Resolved"]),
    told: ["Normal Resolved"],
  },
  {
    name: "nothing when what was on its way arrives",
    before: document(["ResolvedRefs=Unknown Pending", "Active=Unknown NotYetValid", "Programmed=False Pending"]),
    after: document(["ResolvedRefs=True Resolved", "Active=True Active", "Programmed=True Programmed"]),
    told: [],
  },
  {
    name: "the same reason with another message",
    before: document(["ResolvedRefs=False SecretNotFound: one"]),
    after: document(["ResolvedRefs=False SecretNotFound: two"]),
    told: ["Warning SecretNotFound"],
  },
  {
    name: "a refusal by a proxy, and no counts",
    before: document(["Programmed=False Pending: 1 of 2"]),
    after: document(["Programmed=False Rejected"]),
    told: ["Warning Rejected"],
  },
  {
    name: "nothing that thousands would say of one cause",
    before: document(["Programmed=True Programmed", "Active=True Active"]),
    after: document(["Programmed=False NoProxies", "Active=False AccountUnfunded"]),
    told: [],
  },
  {
    name: "what somebody wanted, without a warning",
    before: document(["Active=True Active"]),
    after: document(["Active=False Suspended"]),
    told: ["Normal Suspended"],
  },
  {
    name: "nothing of a target that others make up for",
    after: document(["ResolvedRefs=False ChannelNotReady", "Available=True Available"]),
    told: [],
  },
  { name: "half of a quota", after: document([], quota("100")), told: ["Normal QuotaThreshold"] },
  {
    name: "the highest threshold only",
    before: document([], quota("99")),
    after: document([], quota("170")),
    told: ["Warning QuotaThreshold"],
  },
  { name: "no threshold twice", before: document([], quota("160")), after: document([], quota("190")), told: [] },
  {
    name: "a used up quota by its condition alone",
    before: document(["Active=True Active"], quota("190")),
    after: document(["Active=False QuotaExhausted"], quota("200")),
    told: ["Warning QuotaExhausted"],
  },
  {
    name: "thresholds anew in the next period",
    before: document([], quota("190", "2026-11-01T00:00:00Z")),
    after: document([], quota("100", "2026-12-01T00:00:00Z")),
    told: ["Normal QuotaThreshold"],
  },
  {
    name: "a credit that comes to its end",
    before: document([], balance("5.3")),
    after: document([], balance("8.5")),
    told: ["Warning BalanceThreshold"],
  },
];

describe("eventsOf", () => {
  for (const { name, before, after, told } of rows) {
    it(`tells ${name}`, () => {
      assert.deepEqual(
        eventsOf(before, after).map(({ type, reason }) => `${type} ${reason}`),
        told,
      );
    });
  }
});
