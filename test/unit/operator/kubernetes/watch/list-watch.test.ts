import assert from "node:assert/strict";
import { setImmediate as turn } from "node:timers/promises";
import type { ListOptions, WatchOptions } from "#operator/kubernetes/api/api-client";
import { ApiError } from "#operator/kubernetes/api/api-error";
import { type ApiList, secretResource } from "#operator/kubernetes/api/api-object";
import { ListWatch } from "#operator/kubernetes/watch/list-watch";
import { Reachability } from "#operator/kubernetes/watch/reachability";
import { defaultWatchTimings, type WatchTimings } from "#operator/kubernetes/watch/timings";
import { WatchCounters } from "#operator/kubernetes/watch/watch-counters";
import type { WatchEvent } from "#operator/kubernetes/watch/watch-events";
import { waitFor, within } from "#test/support/wait-for";

/** Longer than any test: whoever waits that long asks once. */
const longMs = 60_000;
const notOffered = new ApiError("no streaming lists", { code: "refused", status: 422 });
const page = (version: number, continueToken?: string): ApiList => ({
  resourceVersion: String(version),
  continueToken,
  items: [],
});
const listEnd = (version: number): WatchEvent => ({
  type: "BOOKMARK",
  resourceVersion: String(version),
  isInitialEnd: true,
});
const added = (version: number): WatchEvent => ({
  type: "ADDED",
  object: { metadata: { namespace: "team-a", name: `s-${version}`, resourceVersion: String(version) } },
});

async function untilAborted(signal: AbortSignal | undefined): Promise<never> {
  signal?.throwIfAborted();
  const { promise, reject } = Promise.withResolvers<never>();
  signal?.addEventListener("abort", () => reject(signal.reason), { once: true });
  return promise;
}

/** Time enough for a hundred questions, were they asked without a wait. */
async function manyTurns(): Promise<void> {
  for (let turns = 0; turns < 500; turns += 1) await turn();
}

/** A list-watch of an API server that answers as the test says at the moment: at first, all at once and with nothing. */
function open({ timings = {}, isStreaming = false }: { timings?: Partial<WatchTimings>; isStreaming?: boolean } = {}) {
  const all = { ...defaultWatchTimings, ...timings };
  const asked = { lists: 0, streams: 0, watches: 0, probes: 0 };
  const answers = {
    list: async (_options: ListOptions): Promise<ApiList> => page(100),
    stream: async function* (): AsyncGenerator<WatchEvent, void> {
      yield listEnd(100);
    },
    events: async function* (): AsyncGenerator<WatchEvent, void> {},
    probe: async (): Promise<void> => undefined,
  };
  const reachability = new Reachability({
    probe: () => {
      asked.probes += 1;
      return answers.probe();
    },
    timings: all,
    onChange: () => undefined,
  });
  const counters = new WatchCounters();
  const failures: unknown[] = [];
  const put: string[] = [];
  /** Lists that the sink still keeps. */
  const held = new Set<symbol>();
  const watch = new ListWatch({
    client: {
      // A network never answers in the same turn.
      list: async (_resource, options: ListOptions = {}) => {
        asked.lists += 1;
        await turn();
        return answers.list(options);
      },
      watch: async function* (_resource, { sendInitialEvents, signal }: WatchOptions) {
        await turn();
        if (sendInitialEvents) {
          if (!isStreaming) throw notOffered;
          asked.streams += 1;
          yield* answers.stream();
        }
        asked.watches += 1;
        yield* answers.events();
        await untilAborted(signal);
      },
    },
    resource: secretResource,
    namespace: undefined,
    sink: {
      beginList: () => {
        const list = Symbol("list");
        held.add(list);
        return { add() {}, remove() {}, finish() {}, differences: () => [], drop: () => held.delete(list) };
      },
      put: ({ metadata }) => put.push(metadata.name),
      remove: () => undefined,
    },
    reachability,
    timings: all,
    counters,
    onFailure: (error) => failures.push(error),
    onRewind: () => undefined,
  });
  watch.start();
  return {
    watch,
    counters,
    failures,
    asked,
    answers,
    put,
    held,
    /** Everything is listed, and the watch that follows under way. */
    watching: () => waitFor("the watch", () => asked.watches === 1),
    async [Symbol.asyncDispose]() {
      reachability.close();
      await watch.close();
    },
  };
}

describe("list-watch", () => {
  for (const reason of ["wanted", "behind"] as const) {
    it(`waits after a list that was asked for (${reason}) and failed, and tells of it`, async () => {
      await using rig = open({ timings: { backoffMinMs: longMs, backoffMaxMs: longMs } });
      const { watch, asked, answers, failures, counters } = rig;
      await rig.watching();
      const refusal = new ApiError("no", { code: "refused", status: 403 });
      answers.list = async () => Promise.reject(refusal);
      asked.lists = 0;
      watch.relist(reason);
      await manyTurns();
      assert.equal(asked.lists, 1);
      assert.deepEqual(failures, [refusal]);
      assert.equal(counters.failures.get("403"), 1);
    });
  }

  it("waits as long as the server says after a list that was asked for", async () => {
    await using rig = open({ timings: { backoffMinMs: 1, backoffMaxMs: longMs } });
    const { watch, asked, answers } = rig;
    await rig.watching();
    answers.list = async () => {
      throw new ApiError("too many", { code: "refused", status: 429, retryAfterMs: longMs });
    };
    asked.lists = 0;
    watch.relist("wanted");
    await manyTurns();
    assert.equal(asked.lists, 1);
  });

  it("leaves it to one to ask whether the server is there when a list that was asked for found nobody", async () => {
    await using rig = open();
    const { watch, asked, answers } = rig;
    await rig.watching();
    answers.probe = () => new Promise(() => undefined);
    answers.list = async () => {
      throw new ApiError("nobody", { code: "unreachable" });
    };
    asked.lists = 0;
    watch.relist("wanted");
    await waitFor("the question whether it is there", () => asked.probes > 0);
    await manyTurns();
    assert.deepEqual([asked.lists, asked.probes], [1, 1]);
  });

  it("waits also where the question whether the server went back fails before a list that was asked for", async () => {
    await using rig = open({ timings: { backoffMinMs: 1, backoffMaxMs: longMs } });
    const { watch, asked, answers } = rig;
    const broken = Promise.withResolvers<never>();
    const isBack = Promise.withResolvers<void>();
    answers.events = async function* () {
      yield await broken.promise;
    };
    answers.probe = () => isBack.promise;
    await rig.watching();
    broken.reject(new ApiError("broken", { code: "unreachable" }));
    await waitFor("the question whether it is there", () => asked.probes === 1);
    watch.relist("behind");
    const limits: unknown[] = [];
    answers.list = async ({ limit }) => {
      limits.push(limit);
      throw new ApiError("too many", { code: "refused", status: 429, retryAfterMs: longMs });
    };
    isBack.resolve();
    await waitFor("a list", () => limits.length > 0);
    await manyTurns();
    assert.deepEqual(limits, [1]);
  });

  it("lists once more when that was asked for while a list was being read, page by page", async () => {
    await using rig = open({ timings: { backoffMinMs: longMs, backoffMaxMs: longMs } });
    const { watch, asked, answers, counters, failures } = rig;
    await rig.watching();
    const second = Promise.withResolvers<ApiList>();
    answers.list = ({ continueToken }) =>
      continueToken === undefined ? Promise.resolve(page(200, "second")) : second.promise;
    asked.lists = 0;
    watch.relist("wanted");
    await waitFor("the second page", () => asked.lists === 2);
    watch.relist("wanted");
    watch.relist("wanted");
    answers.list = async () => page(300);
    second.resolve(page(200));
    await waitFor("another list", () => watch.completeVersion === "300");
    await manyTurns();
    assert.equal(asked.lists, 3, "and no more than one");
    assert.equal(counters.relists.get("wanted"), 2);
    assert.deepEqual(failures, []);
  });

  it("lists once more when that was asked for while a list was being read as a stream", async () => {
    await using rig = open({ timings: { backoffMinMs: longMs, backoffMaxMs: longMs }, isStreaming: true });
    const { watch, asked, answers, counters, failures, put } = rig;
    const end = Promise.withResolvers<WatchEvent>();
    answers.stream = async function* () {
      yield await end.promise;
      // It comes right behind, and must not pass for the whole list that is still to come.
      yield added(201);
    };
    await waitFor("the stream", () => asked.streams === 1);
    watch.relist("wanted");
    answers.stream = async function* () {
      yield listEnd(300);
    };
    end.resolve(listEnd(200));
    await waitFor("another list", () => watch.completeVersion === "300");
    await manyTurns();
    assert.equal(asked.streams, 2);
    assert.deepEqual(
      [...counters.relists],
      [
        ["first", 1],
        ["wanted", 1],
      ],
    );
    assert.deepEqual([failures, put], [[], []]);
  });

  it("lists in pages what is asked for in the moment a list is complete", async () => {
    await using rig = open({ timings: { backoffMinMs: longMs, backoffMaxMs: longMs } });
    const { watch, answers, failures } = rig;
    await watch.synced;
    answers.list = async () => page(200);
    watch.relist("wanted");
    await waitFor("another list", () => watch.completeVersion === "200");
    assert.deepEqual(failures, [], "no watch without a version");
  });

  it("lists no second time for what was asked before a list began", async () => {
    await using rig = open({ timings: { backoffMinMs: 1, backoffMaxMs: 1 } });
    const { watch, asked, answers, failures } = rig;
    await rig.watching();
    asked.lists = 0;
    answers.list = async () => {
      answers.list = async () => page(200);
      watch.relist("wanted");
      throw new ApiError("no", { code: "refused", status: 403 });
    };
    watch.relist("wanted");
    await waitFor("the list", () => watch.completeVersion === "200");
    await manyTurns();
    assert.equal(asked.lists, 2);
    assert.equal(failures.length, 1);
  });

  it("does not take an event that was on its way for the list that was asked for", async () => {
    await using rig = open({ timings: { backoffMinMs: longMs, backoffMaxMs: longMs } });
    const { watch, asked, answers, put } = rig;
    const next = Promise.withResolvers<void>();
    answers.events = async function* () {
      await next.promise;
      yield added(101);
    };
    await rig.watching();
    asked.lists = 0;
    answers.list = async () => page(200);
    watch.relist("wanted");
    answers.events = async function* () {};
    next.resolve();
    await waitFor("the list", () => watch.completeVersion === "200");
    assert.equal(asked.lists, 1);
    assert.deepEqual(put, []);
  });

  it("compares everything once after the server was away, and asks it nothing meanwhile", async () => {
    await using rig = open({ timings: { backoffMinMs: 1, probeEveryMs: 1, compareAfterAwayMs: 1 } });
    const { asked, answers, counters, failures } = rig;
    const [broken, isBack] = [Promise.withResolvers<never>(), Promise.withResolvers<void>()];
    const limits: unknown[] = [];
    const page100 = answers.list;
    answers.list = (options) => {
      limits.push(options.limit);
      return page100(options);
    };
    answers.events = async function* () {
      yield await broken.promise;
    };
    await rig.watching();
    const nobody = new ApiError("nobody", { code: "unreachable" });
    answers.probe = async () => {
      answers.probe = () => isBack.promise;
      throw nobody;
    };
    limits.length = 0;
    answers.events = async function* () {};
    broken.reject(nobody);
    await waitFor("questions whether it is there", () => asked.probes > 10);
    assert.deepEqual([limits, counters.comparisons], [[], 0]);
    isBack.resolve();
    await waitFor("a comparison", () => counters.comparisons === 1);
    await manyTurns();
    // Whether it went back, and the comparison, in whichever order.
    assert.deepEqual(limits.toSorted(), [1, defaultWatchTimings.pageSize]);
    assert.equal(counters.comparisons, 1);
    assert.deepEqual(failures, [nobody]);
  });

  it("compares nothing where it lists everything anew after the server was away", async () => {
    await using rig = open({ timings: { backoffMinMs: 1, probeEveryMs: 1, compareAfterAwayMs: 100 } });
    const { watch, asked, answers, counters } = rig;
    const broken = Promise.withResolvers<never>();
    answers.events = async function* () {
      yield await broken.promise;
    };
    await rig.watching();
    const nobody = new ApiError("nobody", { code: "unreachable" });
    answers.probe = async () => {
      answers.probe = async () => undefined;
      throw nobody;
    };
    // A backup.
    answers.list = async () => page(50);
    answers.events = async function* () {};
    broken.reject(nobody);
    await waitFor("the restored world", () => watch.completeVersion === "50");
    const { lists } = asked;
    const dueAt = performance.now() + 125;
    await waitFor("the time at which it would be compared", () => performance.now() > dueAt);
    await manyTurns();
    assert.deepEqual([asked.lists, counters.comparisons], [lists, 0]);
  });

  it("begins no watch when it is closed in the moment a list is complete", async () => {
    await using rig = open();
    const { watch, asked } = rig;
    await watch.synced;
    await within(1_000, "the end", watch.close());
    assert.equal(asked.watches, 0);
  });

  for (const isStreaming of [false, true]) {
    it(`lets a list go once it is complete (${isStreaming ? "as a stream" : "in pages"})`, async () => {
      await using rig = open({ isStreaming });
      await rig.watch.synced;
      await manyTurns();
      assert.equal(rig.held.size, 0);
    });
  }
});
