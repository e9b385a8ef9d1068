import assert from "node:assert/strict";
import { ApiError, type ApiErrorFacts } from "#operator/kubernetes/api/api-error";
import type { ApiObject } from "#operator/kubernetes/api/api-object";
import { Backoff } from "#operator/kubernetes/watch/backoff";
import { EventWriter } from "#operator/status/events/event-writer";
import { waitFor } from "#test/support/wait-for";

const regarding = { kind: "ApiKey", namespace: "a", name: "one", uid: "uid-1" } as const;
const facts = { type: "Warning", reason: "SecretNotFound", action: "ResolvedRefs", note: "Create it." } as const;

describe("EventWriter", () => {
  let created: ApiObject[];
  let counted: ApiObject[];
  let faults: ApiErrorFacts[];
  let attempts: number;
  let isLeader: boolean;
  let nowMs: number;
  let writer: EventWriter;

  const fail = () => {
    attempts += 1;
    const fault = faults.shift();
    if (fault !== undefined) throw new ApiError("refused", fault);
  };
  const open = (): EventWriter =>
    new EventWriter({
      client: {
        async create(_resource, object) {
          fail();
          created.push(object as ApiObject);
          return {};
        },
        async apply(_resource, object) {
          fail();
          counted.push(object);
          return object;
        },
      },
      leadership: { isLeader: () => isLeader, onChange: () => () => undefined },
      isReachable: () => true,
      podName: "operator-0",
      log: { warn() {} },
      now: () => nowMs,
      seriesMs: { first: 20, every: 60_000 },
      backoff: new Backoff(10, 20),
    });

  beforeEach(() => {
    [created, counted, faults] = [[], [], []];
    attempts = 0;
    isLeader = true;
    nowMs = Date.UTC(2026, 10, 21, 12);
    writer = open();
  });
  afterEach(() => writer.close());

  it("creates an Event with all that the API asks for", async () => {
    writer.send(regarding, facts);
    await waitFor("the Event", () => created.length === 1);
    const [event = assert.fail()] = created;
    assert.match(event.metadata.name, /^one\.[0-9a-f]{16}$/);
    assert.deepEqual(
      { ...event, metadata: undefined },
      {
        metadata: undefined,
        eventTime: "2026-11-21T12:00:00.000000Z",
        ...facts,
        regarding: { apiVersion: "tollgate.dev/v1alpha1", ...regarding },
        reportingController: "tollgate.dev/operator",
        reportingInstance: "operator-0",
      },
    );
  });

  it("counts what happens again in a series, and tells other things apart", async () => {
    writer.send(regarding, facts);
    await waitFor("the Event", () => created.length === 1);
    for (let count = 0; count < 5; count += 1) writer.send(regarding, facts);
    await waitFor("the count", () => counted.length === 1);
    assert.equal(counted[0]?.metadata.name, created[0]?.metadata.name);
    assert.deepEqual(counted[0]?.["series"], { count: 6, lastObservedTime: "2026-11-21T12:00:00.000000Z" });
    writer.send({ ...regarding, uid: "uid-2" }, facts);
    writer.send(regarding, { ...facts, note: "Another." });
    await waitFor("two more", () => created.length === 3);
    assert.equal(new Set(created.map(({ metadata }) => metadata.name)).size, 3);
    nowMs += 31 * 60_000;
    writer.send(regarding, facts);
    await waitFor("it as news", () => created.length === 4);
  });

  it("finds what an operator before it told", async () => {
    writer.send(regarding, facts);
    await waitFor("the Event", () => created.length === 1);
    const name = created[0]?.metadata.name;
    writer.close();
    writer = open();
    faults.push({ code: "refused", status: 409, reason: "AlreadyExists" });
    writer.send(regarding, facts);
    await waitFor("the attempt", () => attempts === 2);
    assert.equal(writer.results.get("failed"), undefined);
    writer.send(regarding, facts);
    await waitFor("the count", () => counted.length === 1);
    assert.equal(counted[0]?.metadata.name, name);
  });

  it("tries again what was not taken, and lets go of what is refused", async () => {
    faults.push({ code: "unreachable" }, { code: "refused", status: 429, retryAfterMs: 30 });
    writer.send(regarding, facts);
    await waitFor("the Event", () => created.length === 1);
    faults.push({ code: "refused", status: 403 });
    writer.send({ ...regarding, uid: "uid-2" }, facts);
    await waitFor("the attempt", () => attempts === 4);
    writer.send({ ...regarding, uid: "uid-3" }, facts);
    await waitFor("the next", () => created.length === 2);
    assert.equal(attempts, 5);
  });

  it("drops what is too much, and counts it", () => {
    for (let index = 0; index < 600; index += 1) writer.send({ ...regarding, uid: `uid-${index}` }, facts);
    assert.equal(writer.results.get("dropped"), 100);
  });

  it("shortens a note to what the API takes", async () => {
    writer.send(regarding, { ...facts, note: "x".repeat(5_000) });
    await waitFor("the Event", () => created.length === 1);
    assert.equal(String(created[0]?.["note"]).length, 1_024);
  });

  it("tells nothing where another operator leads", async () => {
    writer.send(regarding, facts);
    isLeader = false;
    writer.send({ ...regarding, uid: "uid-2" }, facts);
    isLeader = true;
    writer.send({ ...regarding, uid: "uid-3" }, facts);
    await waitFor("the Events", () => created.length === 2);
    const uids = created.map((event) => JSON.stringify(event["regarding"]));
    assert.ok(!uids.some((text) => text.includes("uid-2")));
  });
});
