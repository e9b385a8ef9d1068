/**
 * Reads the push protocol's messages from lines or bodies that may be damaged or hostile: every member is checked,
 * unknown members are ignored, and no error message repeats a value.
 */
import type {
  AccountReport,
  DownMessage,
  Hello,
  KeyReport,
  QuotaReport,
  RefusalCode,
  Reject,
  Report,
  UpMessage,
  Upsert,
} from "./messages.ts";
import { rejectsMax, removedUidsMax, watchesMax } from "./messages.ts";
import { isResourceVersion, noVersions, type ResourceVersions } from "./resource-versions.ts";

/** A message that cannot be understood. */
export class MessageError extends Error {
  readonly code = "bad_frame";
}

type Members = Readonly<Record<string, unknown>>;

const keysReportedMax = 10_000;

/** @throws MessageError when the text is no message that goes down. */
export function parseDownMessage(text: string): DownMessage {
  const members = parseObject(text);
  switch (members["type"]) {
    case "welcome":
      return {
        type: "welcome",
        protocol: integer(members, "protocol"),
        operator: string(members, "operator"),
        stream: string(members, "stream"),
        epoch: integer(members, "epoch"),
        revision: integer(members, "revision"),
        digest: string(members, "digest"),
        sync: oneOf(members, "sync", ["none", "difference", "full"] as const),
        complete: versions(members, "complete"),
        versions: versions(members, "versions"),
      };
    case "transaction":
      return { type: "transaction", ...change(members), ...content(members) };
    case "begin":
      return { type: "begin", ...change(members) };
    case "part":
      return {
        type: "part",
        revision: integer(members, "revision"),
        index: integer(members, "index"),
        ...content(members),
      };
    case "commit":
      return { type: "commit", revision: integer(members, "revision"), parts: integer(members, "parts") };
    case "revoke":
      return {
        type: "revoke",
        revision: integer(members, "revision"),
        keys: strings(members, "keys"),
        credentials: strings(members, "credentials"),
        versions: versions(members, "versions"),
      };
    case "ping":
    case "pong":
      return { type: members["type"], at: integer(members, "at") };
    case "goaway":
      return { type: "goaway", withinMs: integer(members, "withinMs"), reason: string(members, "reason") };
    default:
      throw new MessageError("the type is unknown");
  }
}

/** @throws MessageError */
export function parseHello(value: unknown): Hello {
  const members = asMembers(value);
  if (members["type"] !== "hello") throw new MessageError("a stream must begin with hello");
  const zone = members["zone"];
  return {
    type: "hello",
    protocols: integers(members, "protocols"),
    build: string(members, "build"),
    proxy: string(members, "proxy"),
    ...(typeof zone === "string" ? { zone } : {}),
    capabilities: strings(members, "capabilities"),
    epoch: integer(members, "epoch"),
    revision: integer(members, "revision"),
    digest: string(members, "digest"),
    sums: string(members, "sums"),
    rejects: rejects(members),
    versions: versions(members, "versions"),
  };
}

/** @throws MessageError when the value is no message that goes up. */
export function parseUpMessage(value: unknown): UpMessage {
  const members = asMembers(value);
  switch (members["type"]) {
    case "acknowledgement":
      return {
        type: "acknowledgement",
        revision: integer(members, "revision"),
        digest: string(members, "digest"),
        applyMs: finite(members, "applyMs"),
        rejects: rejects(members),
        rejectCount: integer(members, "rejectCount"),
        ...refusal(members),
      };
    case "report":
      return report(members);
    case "ping":
    case "pong":
      return { type: members["type"], at: integer(members, "at") };
    default:
      throw new MessageError("the type is unknown");
  }
}

function change(members: Members) {
  const buckets = integers(members, "buckets");
  if (buckets.some((bucket) => bucket > 255)) throw new MessageError("buckets: out of range");
  return {
    epoch: integer(members, "epoch"),
    revision: integer(members, "revision"),
    base: string(members, "base"),
    digest: string(members, "digest"),
    buckets,
    versions: versions(members, "versions"),
    removedUids: removedUids(members),
  };
}

/** Absent from peers that know nothing of versions. */
function versions(members: Members, name: string): ResourceVersions {
  if (members[name] === undefined) return noVersions;
  const entries = Object.entries(asMembers(members[name]));
  if (entries.length > watchesMax) throw new MessageError(`${name}: too many`);
  return Object.fromEntries(
    entries.map(([watch, version]) => {
      if (typeof version !== "string" || !isResourceVersion(version)) {
        throw new MessageError(`${name}: must hold versions`);
      }
      return [watch, version];
    }),
  );
}

function removedUids(members: Members): string[] {
  if (members["removedUids"] === undefined) return [];
  const uids = strings(members, "removedUids");
  if (uids.length > removedUidsMax) throw new MessageError("removedUids: too many");
  return uids;
}

function content(members: Members) {
  const upserts = array(members, "upserts").map((item): Upsert => {
    const upsert = asMembers(item);
    const { uid } = upsert;
    return { id: string(upsert, "id"), object: upsert["object"], ...(typeof uid === "string" && { uid }) };
  });
  return { upserts, removes: strings(members, "removes") };
}

function rejects(members: Members): Reject[] {
  const items = array(members, "rejects");
  if (items.length > rejectsMax) throw new MessageError("rejects: too many");
  return items.map((item) => {
    const reject = asMembers(item);
    return {
      id: string(reject, "id"),
      severity: oneOf(reject, "severity", ["denied", "held"] as const),
      code: reject["code"] === "removed" ? "removed" : "invalid_object",
      message: string(reject, "message"),
    };
  });
}

const refusalCodes: readonly RefusalCode[] = [
  "bad_frame",
  "frame_too_large",
  "unexpected_message",
  "wrong_base",
  "wrong_digest",
  "duplicate_id",
  "stale_revision",
  "stale_operator",
];

function refusal(members: Members) {
  if (members["refused"] === undefined) return {};
  const refused = asMembers(members["refused"]);
  return { refused: { code: oneOf(refused, "code", refusalCodes), message: string(refused, "message") } };
}

function quota(item: unknown): QuotaReport {
  const members = asMembers(item);
  return {
    name: string(members, "name"),
    unit: oneOf(members, "unit", ["Requests", "Tokens", "InputTokens", "OutputTokens", "Cost"] as const),
    isEnforced: members["isEnforced"] === true,
    used: amount(members, "used"),
    limit: amount(members, "limit"),
    ...(members["resetAt"] !== undefined && { resetAt: integer(members, "resetAt") }),
  };
}

/** A list that older proxies do not send. */
function optionalArray(members: Members, name: string): readonly unknown[] {
  const items = members[name] === undefined ? [] : array(members, name);
  if (items.length > keysReportedMax) throw new MessageError(`${name}: too many`);
  return items;
}

function amount(members: Members, name: string): string {
  const text = string(members, name);
  if (!/^-?[0-9]{1,30}$/.test(text)) throw new MessageError(`${name}: must be a whole number`);
  return text;
}

function report(members: Members): Report {
  const keys = array(members, "keys");
  if (keys.length > keysReportedMax) throw new MessageError("keys: too many");
  return {
    type: "report",
    ...(members["isShared"] === true && { isShared: true }),
    keys: keys.map((item): KeyReport => {
      const key = asMembers(item);
      return {
        key: string(key, "key"),
        lastUsedAt: integer(key, "lastUsedAt"),
        requests: integer(key, "requests"),
        quotas: optionalArray(key, "quotas").map(quota),
      };
    }),
    accounts: optionalArray(members, "accounts").map((item): AccountReport => {
      const account = asMembers(item);
      return {
        account: string(account, "account"),
        consumed: amount(account, "consumed"),
        reserved: amount(account, "reserved"),
      };
    }),
    ejected: array(members, "ejected").map((item) => {
      const ejected = asMembers(item);
      return {
        channel: string(ejected, "channel"),
        credential: string(ejected, "credential"),
        reason: string(ejected, "reason"),
      };
    }),
  };
}

function parseObject(text: string): Members {
  try {
    return asMembers(JSON.parse(text));
  } catch (cause) {
    // The parser's own message would quote the text, which may hold a secret.
    throw cause instanceof MessageError ? cause : new MessageError("is not JSON");
  }
}

function asMembers(value: unknown): Members {
  if (typeof value !== "object" || value === null || Array.isArray(value)) throw new MessageError("must be an object");
  return value as Members;
}

function string(members: Members, name: string): string {
  const value = members[name];
  if (typeof value !== "string") throw new MessageError(`${name}: must be a string`);
  return value;
}

function integer(members: Members, name: string): number {
  const value = members[name];
  if (typeof value !== "number" || !Number.isSafeInteger(value) || value < 0) {
    throw new MessageError(`${name}: must be a non-negative integer`);
  }
  return value;
}

function finite(members: Members, name: string): number {
  const value = members[name];
  if (typeof value !== "number" || !Number.isFinite(value)) throw new MessageError(`${name}: must be a number`);
  return value;
}

function array(members: Members, name: string): readonly unknown[] {
  const value = members[name];
  if (!Array.isArray(value)) throw new MessageError(`${name}: must be an array`);
  return value;
}

function strings(members: Members, name: string): string[] {
  return array(members, name).map((item) => {
    if (typeof item !== "string") throw new MessageError(`${name}: must hold strings`);
    return item;
  });
}

function integers(members: Members, name: string): number[] {
  return array(members, name).map((item) => {
    if (typeof item !== "number" || !Number.isSafeInteger(item) || item < 0) {
      throw new MessageError(`${name}: must hold non-negative integers`);
    }
    return item;
  });
}

function oneOf<Choice extends string>(members: Members, name: string, choices: readonly Choice[]): Choice {
  const choice = choices.find((one) => one === members[name]);
  if (choice === undefined) throw new MessageError(`${name}: is not one of the known values`);
  return choice;
}
