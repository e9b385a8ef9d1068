/** Status and Events of an object of ours, as anybody reads them. */
import type { ControlPlane } from "#test/support/kube-control-plane";
import { waitFor } from "#test/support/wait-for";
import { objectPath } from "./objects.ts";

type Members = Readonly<Record<string, unknown>>;

/** The whole status; empty where there is none yet. */
export async function statusOf(
  plane: ControlPlane,
  kind: string,
  name: string,
  namespace = "default",
): Promise<Members> {
  return members(members(await plane.must("GET", objectPath(kind, namespace, name)))["status"]);
}

/** `True Programmed`: status and reason of one condition; `none` where it is not there. */
export async function conditionOf(
  plane: ControlPlane,
  kind: string,
  name: string,
  type: string,
  namespace = "default",
): Promise<string> {
  const { conditions } = await statusOf(plane, kind, name, namespace);
  const found = list(conditions).find((condition) => condition["type"] === type);
  return found === undefined ? "none" : `${String(found["status"])} ${String(found["reason"])}`;
}

/** Names of all objects of a kind whose condition reads as given. */
export async function namesWith(plane: ControlPlane, kind: string, type: string, expected: string): Promise<string[]> {
  const { items } = members(await plane.must("GET", objectPath(kind, "default")));
  return list(items)
    .filter(({ status }) =>
      list(members(status)["conditions"]).some(
        (condition) =>
          condition["type"] === type && `${String(condition["status"])} ${String(condition["reason"])}` === expected,
      ),
    )
    .map(({ metadata }) => String(members(metadata)["name"]));
}

/** The message of one condition. */
export async function messageOf(plane: ControlPlane, kind: string, name: string, type: string): Promise<string> {
  const { conditions } = await statusOf(plane, kind, name);
  return String(list(conditions).find((condition) => condition["type"] === type)?.["message"]);
}

/** Waits until a condition reads as given, as `conditionOf` tells it. */
export async function waitForCondition(
  plane: ControlPlane,
  kind: string,
  name: string,
  type: string,
  expected: string,
  deadlineMs = 10_000,
): Promise<void> {
  let last = "";
  await waitFor(
    `${kind} ${name}: ${type} to be ${expected}`,
    async () => {
      last = await conditionOf(plane, kind, name, type);
      return last === expected;
    },
    { deadlineMs, everyMs: 50 },
  ).catch((cause: unknown) => {
    throw new Error(`${kind} ${name}: ${type} is ${last} and not ${expected}`, { cause });
  });
}

export interface ToldEvent {
  readonly type: string;
  readonly reason: string;
  readonly note: string;
  /** How often; 1 without a series. */
  readonly count: number;
}

/** Events about an object of this name. */
export async function eventsOf(plane: ControlPlane, name: string, namespace = "default"): Promise<ToldEvent[]> {
  const events = members(await plane.must("GET", `/apis/events.k8s.io/v1/namespaces/${namespace}/events`));
  return list(events["items"])
    .filter((event) => members(event["regarding"])["name"] === name)
    .map((event) => ({
      type: String(event["type"]),
      reason: String(event["reason"]),
      note: String(event["note"]),
      count: Number(members(event["series"])["count"] ?? 1),
    }));
}

function members(value: unknown): Members {
  return typeof value === "object" && value !== null ? Object.fromEntries(Object.entries(value)) : {};
}

function list(value: unknown): Members[] {
  return Array.isArray(value) ? value.map(members) : [];
}
