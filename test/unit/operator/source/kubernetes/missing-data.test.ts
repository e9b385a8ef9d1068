import assert from "node:assert/strict";
import { setImmediate as turn } from "node:timers/promises";
import type { ListOptions } from "#operator/kubernetes/api/api-client";
import { ApiError } from "#operator/kubernetes/api/api-error";
import { type ApiList, type ApiObject, secretResource } from "#operator/kubernetes/api/api-object";
import { ListWatch } from "#operator/kubernetes/watch/list-watch";
import { Reachability } from "#operator/kubernetes/watch/reachability";
import { defaultWatchTimings } from "#operator/kubernetes/watch/timings";
import { WatchCounters } from "#operator/kubernetes/watch/watch-counters";
import { ClusterStore } from "#operator/source/kubernetes/cluster-store";
import { MissingData } from "#operator/source/kubernetes/missing-data";
import { waitFor } from "#test/support/wait-for";

/** More than are asked for one by one, so that a list is asked for instead. */
const many = 150;
const nameOf = (number: number) => `s-${String(number).padStart(3, "0")}`;
const secrets = Array.from({ length: 2 * many }, (_, number): ApiObject => {
  const name = nameOf(number);
  const metadata = { namespace: "team-a", name, uid: `uid-${name}`, resourceVersion: String(1_000 + number) };
  return { metadata, data: { key: Buffer.from(`sk-${"a".repeat(20)}${name}`).toString("base64") } };
});

function keyOf(number: number, namespace = "team-a"): ApiObject {
  const name = `key-${number}`;
  const resourceVersion = String(2_000 + number);
  return {
    apiVersion: "tollgate.dev/v1alpha1",
    metadata: { namespace, name, uid: `uid-${name}`, resourceVersion, generation: 1 },
    spec: { credentials: [{ name: "main", secretKeyRef: { name: nameOf(number), key: "key" } }] },
  };
}

/** Time enough for the first page, and for all that follows from one answer. */
async function someTurns(): Promise<void> {
  for (let turns = 0; turns < 20; turns += 1) await turn();
}

/** A store of keys whose Secrets are listed in two pages by a server without streaming lists. */
function open() {
  const asked = {
    /** First pages. */
    lists: 0,
    watches: 0,
    /** A namespace in which the operator has no rights any more. */
    forbidden: "nobody's",
    /** Holds up what comes after the first page. */
    secondPage: Promise.resolve(),
  };
  const client = {
    async list(_resource: unknown, options: ListOptions = {}): Promise<ApiList> {
      const { namespace, fieldSelector, limit, continueToken } = options;
      await turn();
      if (namespace === asked.forbidden) throw new ApiError("forbidden", { code: "refused", status: 403 });
      const resourceVersion = "3000";
      const name = /metadata\.name=([^,]+)/.exec(fieldSelector ?? "")?.[1];
      if (name !== undefined) {
        const items = secrets.filter(({ metadata }) => metadata.name === name);
        return { resourceVersion, continueToken: undefined, items };
      }
      const from = Number(continueToken ?? 0);
      if (from === 0) asked.lists += 1;
      const items = secrets.slice(from, from + (limit ?? secrets.length));
      if (from > 0) await asked.secondPage;
      const end = from + items.length;
      return { resourceVersion, continueToken: end < secrets.length ? String(end) : undefined, items };
    },
    async *watch(_resource: unknown, options: { sendInitialEvents?: boolean; signal?: AbortSignal | undefined }) {
      if (options.sendInitialEvents) throw new ApiError("not offered", { code: "refused", status: 422 });
      asked.watches += 1;
      const { promise, reject } = Promise.withResolvers<never>();
      options.signal?.addEventListener("abort", () => reject(options.signal?.reason), { once: true });
      yield await promise;
    },
  };
  const timings = { ...defaultWatchTimings, pageSize: many };
  const onChange = () => undefined;
  const reachability = new Reachability({ probe: async () => undefined, timings, onChange });
  const failures: unknown[] = [];
  const onFailure = (error: unknown) => failures.push(error);
  const missing = new MissingData({
    client,
    reachability,
    timings,
    onFound: (kind, object) => store.put(kind, object),
    relist: () => watch.relist("wanted"),
    onFailure,
  });
  const store: ClusterStore = new ClusterStore({ onChange, fetchMissing: (references) => missing.fetch(references) });
  store.open();
  const watch = new ListWatch({
    client,
    resource: secretResource,
    namespace: undefined,
    fieldSelector: "type!=example",
    sink: store.sinkFor("Secret", undefined),
    reachability,
    timings,
    counters: new WatchCounters(),
    onFailure,
    onRewind: onChange,
  });
  watch.start();
  const keys = store.sinkFor("ApiKey", undefined);
  return {
    store,
    asked,
    failures,
    addKeys(from: number, to: number, namespace?: string) {
      for (let number = from; number < to; number += 1) keys.put(keyOf(number, namespace));
    },
    async [Symbol.asyncDispose]() {
      missing.close();
      reachability.close();
      await watch.close();
    },
  };
}

describe("missing data", () => {
  it("asks one by one for a few", async () => {
    await using rig = open();
    await waitFor("the watch", () => rig.asked.watches === 1);
    rig.addKeys(0, 10);
    await waitFor("the Secrets", () => rig.store.countOf("Secret") === 10);
    assert.equal(rig.asked.lists, 1, "the first list and no other");
  });

  it("asks for those of others while a namespace refuses every question", async () => {
    await using rig = open();
    await waitFor("the watch", () => rig.asked.watches === 1);
    rig.asked.forbidden = "team-b";
    rig.addKeys(0, 10, "team-b");
    await waitFor("the refusals", () => rig.failures.length >= 4);
    rig.addKeys(0, 10);
    await waitFor("the Secrets", () => rig.store.countOf("Secret") === 10);
    assert.equal(rig.asked.lists, 1, "the first list and no other");
  });

  it("lists all for many", async () => {
    await using rig = open();
    await waitFor("the watch", () => rig.asked.watches === 1);
    rig.addKeys(0, many);
    await waitFor("the Secrets", () => rig.store.countOf("Secret") === many);
    assert.ok(rig.asked.lists > 1);
    assert.deepEqual(rig.failures, []);
  });

  it("loses none of many that a list under way had passed before they were wanted", async () => {
    await using rig = open();
    const rest = Promise.withResolvers<void>();
    await waitFor("the watch", () => rig.asked.watches === 1);
    rig.asked.secondPage = rest.promise;
    const { lists } = rig.asked;
    // All of the second page, so that those of the first are not wanted when that is read.
    rig.addKeys(many, 2 * many);
    await waitFor("another list", () => rig.asked.lists === lists + 1);
    await someTurns();
    rig.addKeys(0, many);
    // Taken without their Secrets they ask once more, also while the list is being read.
    await someTurns();
    rest.resolve();
    await waitFor("the Secrets", () => rig.store.countOf("Secret") === 2 * many);
    assert.deepEqual(rig.failures, []);
  });
});
