/** Reasons of Events that no condition has. The table of Events in `docs/status.md` comes from it. */

interface EventReasonRow {
  readonly types: readonly ("Normal" | "Warning")[];
  /** The text in `docs/status.md`; neighbours with the same types and words share a row there. */
  readonly toldWhen: string;
}

const usedPartly = "a quota or a credit is used to 50 % or 80 %; at 100 % the condition says so";

export const eventReasons = {
  QuotaThreshold: { types: ["Normal", "Warning"], toldWhen: usedPartly },
  BalanceThreshold: { types: ["Normal", "Warning"], toldWhen: usedPartly },
  SecretNotCreated: {
    types: ["Warning"],
    toldWhen: "the operator could not create the Secret of a `generate` credential",
  },
  KeyReplaced: {
    types: ["Warning"],
    toldWhen: "the Secret of a `generate` credential was deleted: the operator made a new key, and callers need it",
  },
  StatusContested: {
    types: ["Warning"],
    toldWhen:
      "somebody else changes back the status of this object, and perhaps of others of its namespace: mostly a second release that watches the namespace too. The operator writes contested statuses ever more rarely, at last once a minute",
  },
  KeyExpiring: { types: ["Warning"], toldWhen: "a key ends within seven days and no credential of it lives longer" },
} as const satisfies { readonly [reason: string]: EventReasonRow };

export type EventReason = keyof typeof eventReasons;
