import assert from "node:assert/strict";
import { setTimeout as wait } from "node:timers/promises";
import { ApiError, type ApiErrorFacts } from "#operator/kubernetes/api/api-error";
import type { ApiObject } from "#operator/kubernetes/api/api-object";
import { Backoff } from "#operator/kubernetes/watch/backoff";
import { ObservedStatuses } from "#operator/status/cluster/observed-statuses";
import { StatusContention } from "#operator/status/cluster/status-contention";
import { StatusWriter } from "#operator/status/cluster/status-writer";
import type { StatusDocument } from "#operator/status/status-document";
import { waitFor } from "#test/support/wait-for";

const sinceText = "2026-11-21T12:00:00Z";

/** An API server of accounts: versions count, preconditions hold, faults come in the order given. */
class FakeApiServer {
  readonly objects = new Map<string, ApiObject>();
  readonly applied: ApiObject[] = [];
  /** When each came, in milliseconds of this process. */
  readonly appliedAtMs: number[] = [];
  /** Thrown by the next calls, the first first. */
  readonly faults: ApiErrorFacts[] = [];
  lists = 0;
  inFlight = 0;
  mostInFlight = 0;
  attempts: number[] = [];
  /** Resolved before each answer but faults. */
  gate: Promise<void> = Promise.resolve();
  #version = 100;

  put(name: string, changes: { uid?: string; generation?: number; status?: unknown } = {}): ApiObject {
    const { uid = `uid-${name}`, generation = 1, status } = changes;
    this.#version += 1;
    const metadata = { namespace: "a", name, uid, generation, resourceVersion: String(this.#version) };
    const object = { metadata, ...(status !== undefined && { status }) };
    this.objects.set(name, object);
    return object;
  }

  async apply(
    _resource: unknown,
    object: ApiObject,
    options: { signal?: AbortSignal | undefined },
  ): Promise<ApiObject> {
    this.attempts.push(performance.now());
    this.inFlight += 1;
    this.mostInFlight = Math.max(this.mostInFlight, this.inFlight);
    if (this.faults.length === 0) await this.gate;
    this.inFlight -= 1;
    options.signal?.throwIfAborted();
    const fault = this.faults.shift();
    if (fault !== undefined) throw new ApiError("refused", fault);
    const present = this.objects.get(object.metadata.name);
    if (present === undefined) throw new ApiError("gone", { code: "refused", status: 404 });
    if (present.metadata.resourceVersion !== object.metadata.resourceVersion)
      throw new ApiError("conflict", { code: "refused", status: 409 });
    this.applied.push(object);
    this.appliedAtMs.push(performance.now());
    const { uid = "", generation = 1 } = present.metadata;
    return this.put(object.metadata.name, { uid, generation, status: object["status"] });
  }

  async list(_resource: unknown, { fieldSelector = "" }: { fieldSelector?: string | undefined }) {
    this.lists += 1;
    const object = this.objects.get(fieldSelector.replace("metadata.name=", ""));
    return { resourceVersion: String(this.#version), continueToken: undefined, items: object ? [object] : [] };
  }
}

function funded(name: string, reason: string, changes: Partial<StatusDocument["status"]> = {}): StatusDocument {
  const condition = { type: "Funded", reason, message: reason, observedGeneration: 1, lastTransitionTime: sinceText };
  return {
    apiVersion: "tollgate.dev/v1alpha1",
    kind: "Account",
    metadata: { namespace: "a", name },
    status: { observedGeneration: 1, conditions: [{ ...condition, status: "True" }], ...changes },
  };
}

describe("StatusWriter", () => {
  let api: FakeApiServer;
  let observedStatuses: ObservedStatuses;
  let writer: StatusWriter;
  let desired: Map<string, StatusDocument>;
  let told: string[];
  let contested: string[];
  let isLeader: boolean;
  let isReachable: boolean;
  let leaderChanged: () => void;

  beforeEach(() => {
    api = new FakeApiServer();
    observedStatuses = new ObservedStatuses();
    desired = new Map();
    told = [];
    contested = [];
    isLeader = true;
    isReachable = true;
    writer = new StatusWriter({
      client: api,
      leadership: {
        isLeader: () => isLeader,
        onChange(callback) {
          leaderChanged = callback;
          return () => undefined;
        },
      },
      observedStatuses,
      desired(id) {
        const document = desired.get(id);
        return document && { document, uid: `uid-${document.metadata.name}` };
      },
      ids: () => desired.keys(),
      isReachable: () => isReachable,
      onWritten: (before, after) =>
        told.push(`${before?.status.conditions[0]?.reason} ${after.status.conditions[0]?.reason}`),
      onContested: (_document, _uid, why) => contested.push(why),
      contention: new StatusContention(100, 800),
      log: { warn() {}, error() {} },
      backoff: new Backoff(60, 200, () => 1),
    });
  });
  afterEach(() => writer.close());

  /** The watch brings an object. */
  const see = (object: ApiObject) => observedStatuses.observe("Account", object);
  const want = (document: StatusDocument) => {
    const id = `account/a/${document.metadata.name}`;
    desired.set(id, document);
    writer.enqueue(id);
  };
  const untilIdle = () => waitFor("nothing to wait", () => writer.depth === 0);
  const results = () => Object.fromEntries(writer.results);

  it("writes what differs in meaning, with the uid and the version it was made for", async () => {
    const { metadata } = api.put("one");
    see(api.objects.get("one") ?? assert.fail());
    want(funded("one", "Funded"));
    await untilIdle();
    assert.equal(api.applied.length, 1);
    const { uid, resourceVersion } = metadata;
    assert.deepEqual(api.applied[0]?.metadata, { namespace: "a", name: "one", uid, resourceVersion });
    assert.deepEqual(told, ["undefined Funded"]);
  });

  it("writes nothing where the same stands already, whoever wrote it and since whenever", async () => {
    const { status } = funded("one", "Funded");
    const conditions = status.conditions.map((condition) => ({
      ...condition,
      lastTransitionTime: "2025-01-01T00:00:00Z",
    }));
    see(api.put("one", { status: { ...status, conditions } }));
    want(funded("one", "Funded"));
    await untilIdle();
    assert.deepEqual(api.applied, []);
    want(funded("one", "Unlimited"));
    await untilIdle();
    // It has been true for a year, only the reason is new.
    assert.match(JSON.stringify(api.applied[0]), /2025-01-01/);
  });

  it("writes what changes meanwhile together, and once", async () => {
    see(api.put("one"));
    for (const reason of ["Funded", "Unlimited", "Funded"]) want(funded("one", reason));
    await untilIdle();
    assert.equal(api.applied.length, 1);
  });

  it("has one write in flight an object, and few over all", async () => {
    const gate = Promise.withResolvers<void>();
    api.gate = gate.promise;
    for (let index = 0; index < 30; index += 1) {
      see(api.put(`n${index}`));
      want(funded(`n${index}`, "Funded"));
    }
    await waitFor("as many as there may be", () => api.inFlight === 8);
    want(funded("n0", "Unlimited"));
    gate.resolve();
    await untilIdle();
    assert.equal(api.mostInFlight, 8);
    assert.equal(results()["conflict"], undefined);
    assert.equal(JSON.stringify(api.objects.get("n0")).includes("Unlimited"), true);
  });

  it("does not begin a second write of an object while one is in flight", async () => {
    const gate = Promise.withResolvers<void>();
    api.gate = gate.promise;
    see(api.put("one"));
    want(funded("one", "Funded"));
    await waitFor("a write in flight", () => api.inFlight === 1);
    want(funded("one", "Unlimited"));
    await waitFor("its turn to pass", () => writer.oldestMs > 250);
    assert.equal(api.attempts.length, 1);
    gate.resolve();
    await untilIdle();
    assert.equal(api.applied.length, 2);
  });

  it("writes a few hundred at once, and more at an even pace", async () => {
    for (let index = 0; index < 260; index += 1) {
      see(api.put(`n${index}`));
      want(funded(`n${index}`, "Funded"));
    }
    await untilIdle();
    const [first = 0] = api.attempts;
    // Sixty beyond the burst, at a hundred a second.
    assert.ok((api.attempts.at(-1) ?? 0) - first >= 550, "no pace at all");
  });

  it("looks again after a conflict when the watch brings what came first", async () => {
    see(api.put("one"));
    api.put("one", { status: { conditions: [] } });
    want(funded("one", "Funded"));
    await waitFor("the conflict", () => results()["conflict"] === 1);
    see(api.objects.get("one") ?? assert.fail());
    await untilIdle();
    assert.deepEqual([api.applied.length, api.lists], [1, 0]);
  });

  it("asks for the object where the watch brings nothing, as after a restore from a backup", async () => {
    const later = api.put("one");
    see({ ...later, metadata: { ...later.metadata, resourceVersion: "999999" } });
    want(funded("one", "Funded"));
    await untilIdle();
    assert.deepEqual([api.applied.length, api.lists], [1, 1]);
  });

  it("lets go of an object that is gone, and of one that is another by now", async () => {
    see(api.put("one"));
    api.objects.delete("one");
    want(funded("one", "Funded"));
    await untilIdle();
    assert.equal(results()["gone"], 1);
    see(api.put("two", { uid: "another" }));
    want(funded("two", "Funded"));
    await waitFor("it to wait for the compiler", () => writer.depth === 1 && writer.oldestMs > 100);
    assert.deepEqual(api.applied, []);
  });

  it("does not try a status again that is refused for what it is, but the next one", async () => {
    see(api.put("one"));
    api.faults.push({ code: "refused", status: 422 });
    want(funded("one", "Funded"));
    await untilIdle();
    writer.enqueue("account/a/one");
    await untilIdle();
    assert.deepEqual(results(), { invalid: 1 });
    want(funded("one", "Unlimited"));
    await untilIdle();
    assert.equal(api.applied.length, 1);
  });

  for (const { name, fault, result, leastMs } of [
    {
      name: "too many requests",
      fault: { code: "refused", status: 429, retryAfterMs: 150 },
      result: "throttled",
      leastMs: 150,
    },
    { name: "a missing permission", fault: { code: "refused", status: 403 }, result: "forbidden", leastMs: 50 },
    { name: "a server that fails", fault: { code: "refused", status: 500 }, result: "failed", leastMs: 50 },
    { name: "a connection that breaks", fault: { code: "unreachable" }, result: "failed", leastMs: 50 },
    { name: "no answer in time", fault: { code: "timeout" }, result: "failed", leastMs: 50 },
  ] as const) {
    it(`slows down at ${name}, one at a time, and forgets nothing`, async () => {
      const failures = 3;
      const gate = Promise.withResolvers<void>();
      api.gate = gate.promise;
      for (let count = 0; count < failures; count += 1) api.faults.push(fault);
      for (let index = 0; index < 3; index += 1) {
        see(api.put(`n${index}`));
        want(funded(`n${index}`, "Funded"));
      }
      await waitFor("the failures", () => results()[result] === failures);
      await waitFor("the next attempt", () => api.inFlight > 0);
      await wait(50);
      assert.equal(api.inFlight, 1);
      gate.resolve();
      await waitFor("all to be written", () => api.applied.length === 3);
      const waitedMs = (api.attempts[failures] ?? 0) - (api.attempts[failures - 1] ?? 0);
      assert.ok(waitedMs >= leastMs, `${waitedMs} ms`);
    });
  }

  it("waits for an API server that is away without asking it", async () => {
    isReachable = false;
    see(api.put("one"));
    want(funded("one", "Funded"));
    await waitFor("its turn to pass", () => writer.oldestMs > 300);
    assert.deepEqual(api.attempts, []);
    isReachable = true;
    await untilIdle();
    assert.equal(api.applied.length, 1);
  });

  it("writes nothing of what waited when it leads no longer, nor what is in flight", async () => {
    const gate = Promise.withResolvers<void>();
    api.gate = gate.promise;
    for (const name of ["one", "two"]) see(api.put(name));
    want(funded("one", "Funded"));
    await waitFor("a write in flight", () => api.inFlight === 1);
    want(funded("two", "Funded"));
    isLeader = false;
    leaderChanged();
    gate.resolve();
    await untilIdle();
    want(funded("two", "Unlimited"));
    assert.deepEqual([api.applied.length, writer.depth, told.length], [0, 0, 0]);
  });

  it("asks itself before each write whether it leads still", async () => {
    see(api.put("one"));
    want(funded("one", "Funded"));
    // The process was paused: nobody has told it anything yet.
    isLeader = false;
    await untilIdle();
    assert.deepEqual(api.attempts, []);
  });

  it("goes on where its Lease had run out and was renewed before anybody took it", async () => {
    see(api.put("one"));
    want(funded("one", "Funded"));
    isLeader = false;
    await untilIdle();
    isLeader = true;
    await waitFor("the write", () => api.applied.length === 1);
  });

  it("puts right what somebody else wrote over it", async () => {
    see(api.put("one"));
    want(funded("one", "Funded"));
    await untilIdle();
    see(api.put("one", { status: funded("one", "BalanceExhausted").status }));
    await untilIdle();
    assert.equal(api.applied.length, 2);
  });

  describe("whose status somebody else changes back each time", () => {
    const undoing: NodeJS.Timeout[] = [];
    afterEach(() => {
      for (const timer of undoing.splice(0)) clearInterval(timer);
    });

    /** Another writes whenever we did. */
    const undoAll = (name: string, managedFields?: object[]) => {
      const undo = () => {
        const present = api.objects.get(name) ?? assert.fail();
        if (!JSON.stringify(present).includes('"reason":"Funded"')) return;
        const { generation = 1 } = present.metadata;
        const undone = api.put(name, { generation, status: funded(name, "Unlimited").status });
        see({ ...undone, metadata: { ...undone.metadata, managedFields } });
      };
      undoing.push(setInterval(undo, 1));
    };

    it("are written ever more seldom, but at once for a new spec, and it is said once a namespace", async () => {
      for (const name of ["one", "two"]) {
        see(api.put(name));
        want(funded(name, "Funded"));
        undoAll(name);
      }
      const timesOf: number[] = [];
      await waitFor("five writes", () => {
        const times = api.appliedAtMs.filter((_, index) => api.applied[index]?.metadata.name === "one");
        timesOf.splice(0, timesOf.length, ...times);
        return times.length >= 5;
      });
      const gaps = timesOf.slice(1).map((atMs, index) => atMs - (timesOf[index] ?? 0));
      for (const [index, leastMs] of [100, 200, 400, 800].entries())
        assert.ok((gaps[index] ?? 0) > leastMs * 0.9, `waited ${gaps.join()}`);
      assert.equal(contested.length, 1);
      assert.match(
        contested[0] ?? "",
        /^Another operator also writes the status of Account a\/(one|two), because two releases/,
      );

      desired.set("account/a/one", funded("one", "Funded", { observedGeneration: 2 }));
      see(api.put("one", { generation: 2, status: funded("one", "Unlimited").status }));
      const changedMs = performance.now();
      await waitFor("the write", () => JSON.stringify(api.applied).includes('"status":{"observedGeneration":2'));
      assert.ok(performance.now() - changedMs < 400);
    });

    it("name who else it is, where that is no operator", async () => {
      see(api.put("one"));
      want(funded("one", "Funded"));
      const time = "2026-11-21T12:00:00Z";
      const ofStatus = (manager: string) => ({ manager, time, operation: "Update", subresource: "status" });
      undoAll("one", [ofStatus("sync-robot"), ofStatus("tollgate-status")]);
      await waitFor("it to be said", () => contested.length === 1);
      assert.match(contested[0] ?? "", /^sync-robot also writes the status of Account a\/one/);
    });
  });
});
