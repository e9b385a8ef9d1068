import assert from "node:assert/strict";
import { existsSync, mkdtempSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { DatabaseSync } from "node:sqlite";
import { setTimeout } from "node:timers/promises";
import type { Worker } from "node:worker_threads";
import fc from "fast-check";
import { defaultStoreLimits, type ResponseStore, type StoreLimits } from "#proxy/responses-state/response-store";
import { EmbeddedResponses } from "#proxy/responses-state/store/embedded-responses";
import { MemoryResponses } from "#proxy/responses-state/store/memory-responses";
import { ResponseDatabase } from "#proxy/responses-state/store/response-database";
import { itemIdsOf, type LocalResponse, type StoredResponse } from "#proxy/responses-state/stored-response";

const folders: string[] = [];
after(() => {
  for (const folder of folders) rmSync(folder, { recursive: true, force: true });
});

function newFolder(): string {
  const folder = mkdtempSync(path.join(tmpdir(), "tollgate-responses-"));
  folders.push(folder);
  return folder;
}

interface Opened {
  readonly store: ResponseStore;
  readonly clock: { nowMs: number };
  readonly problems: string[];
}

type Open = (limits?: Partial<StoreLimits>, folder?: string) => Promise<Opened>;

const stores: readonly { readonly name: string; readonly open: Open }[] = [
  {
    name: "memory",
    open: (limits = {}) => {
      const clock = { nowMs: 1_000 };
      const store = new MemoryResponses({ limits: { ...defaultStoreLimits, ...limits }, now: () => clock.nowMs });
      return Promise.resolve({ store, clock, problems: [] });
    },
  },
  {
    name: "embedded",
    open: async (limits = {}, folder = newFolder()) => {
      const clock = { nowMs: 1_000 };
      const problems: string[] = [];
      const store = await EmbeddedResponses.open({
        folder,
        limits: { ...defaultStoreLimits, ...limits },
        now: () => clock.nowMs,
        onProblem: (message) => problems.push(message),
      });
      return { store, clock, problems };
    },
  },
];

function local(id: string, changes: Partial<LocalResponse> = {}): LocalResponse {
  return {
    kind: "local",
    id,
    previousId: undefined,
    createdMs: 1_000,
    model: "m",
    input: [{ type: "message", id: `in_${id}`, role: "user", content: "hi" }],
    response: { id, output: [{ type: "message", id: `out_${id}` }] },
    ...changes,
  };
}

function parsed(body: string | undefined): unknown {
  return body === undefined ? undefined : JSON.parse(body);
}

/** Undefined members do not survive JSON. */
function plain(response: StoredResponse | undefined): unknown {
  return response === undefined ? undefined : JSON.parse(JSON.stringify(response));
}

for (const { name, open } of stores) {
  describe(`store of responses: ${name}`, () => {
    it("finds what it kept, for its owner and nobody else", async () => {
      const { store } = await open();
      store.keep("ns/a", local("r1"));
      assert.deepEqual(plain(await store.get("ns/a", "r1")), plain(local("r1")));
      assert.equal(await store.get("ns/b", "r1"), undefined);
      assert.equal(await store.findItem("ns/b", "out_r1"), undefined);
      assert.equal(await store.chain("ns/b", "r1"), undefined);
      assert.equal(await store.remove("ns/b", "r1"), false);
      assert.equal((await store.get("ns/a", "r1"))?.id, "r1");
      await store.close();
    });

    it("keeps two owners' responses of one id apart", async () => {
      const { store } = await open();
      store.keep("ns/a", local("r", { model: "a" }));
      store.keep("ns/b", local("r", { model: "b" }));
      assert.deepEqual([(await store.get("ns/a", "r"))?.model, (await store.get("ns/b", "r"))?.model], ["a", "b"]);
      await store.close();
    });

    it("finds a response by an item that came in or went out", async () => {
      const { store } = await open();
      store.keep("ns/a", local("r1"));
      store.keep("ns/a", {
        kind: "native",
        id: "r2",
        previousId: undefined,
        createdMs: 1_000,
        model: "m",
        channel: "ns/c",
        credential: "main",
        itemIds: ["msg_9"],
      });
      assert.equal((await store.findItem("ns/a", "in_r1"))?.id, "r1");
      assert.equal((await store.findItem("ns/a", "out_r1"))?.id, "r1");
      assert.equal((await store.findItem("ns/a", "msg_9"))?.id, "r2");
      assert.equal(await store.findItem("ns/a", "msg_8"), undefined);
      await store.close();
    });

    it("follows a chain to its beginning", async () => {
      const { store } = await open();
      store.keep("ns/a", local("r1"));
      store.keep("ns/a", local("r2", { previousId: "r1" }));
      store.keep("ns/a", local("r3", { previousId: "r2" }));
      assert.deepEqual(
        (await store.chain("ns/a", "r3"))?.map(({ id }) => id),
        ["r1", "r2", "r3"],
      );
      await store.close();
    });

    it("has no chain that is too much to read at once", async () => {
      const { store } = await open({ chainBytesMax: 3_000 });
      for (let index = 1; index <= 3; index += 1) {
        store.keep("ns/a", {
          kind: "local",
          id: `r${index}`,
          previousId: index === 1 ? undefined : `r${index - 1}`,
          createdMs: 1_000,
          model: "m",
          input: [],
          response: { id: `r${index}`, instructions: "x".repeat(1_200) },
        });
      }
      assert.equal((await store.chain("ns/a", "r2"))?.length, 2);
      assert.equal(await store.chain("ns/a", "r3"), undefined);
      await store.close();
    });

    it("tells the size of the responses of a question, and nothing to other owners", async () => {
      const { store } = await open({ chainLengthMax: 2 });
      const [first, second] = [local("r1"), local("r2", { previousId: "r1" })];
      const [one, two] = [first, second].map((response) => Buffer.byteLength(JSON.stringify(response)));
      assert.ok(one !== undefined && two !== undefined);
      for (const response of [first, second, local("r3", { previousId: "r2" })]) store.keep("ns/a", response);
      assert.equal(await store.sizeOf("response", "ns/a", "r1"), one);
      assert.equal(await store.sizeOf("item", "ns/a", "out_r2"), two);
      assert.equal(await store.sizeOf("chain", "ns/a", "r2"), one + two);
      assert.equal(await store.sizeOf("chain", "ns/a", "r3"), 0);
      for (const asked of ["response", "chain", "item"] as const) {
        assert.equal(await store.sizeOf(asked, "ns/b", asked === "item" ? "out_r1" : "r1"), 0);
      }
      await store.close();
    });

    it("has no chain that lost a link, is too long, or bites its tail", async () => {
      const { store } = await open({ chainLengthMax: 2 });
      store.keep("ns/a", local("r1"));
      store.keep("ns/a", local("r2", { previousId: "r1" }));
      store.keep("ns/a", local("r3", { previousId: "r2" }));
      store.keep("ns/a", local("loop", { previousId: "loop" }));
      assert.equal((await store.chain("ns/a", "r2"))?.length, 2);
      assert.equal(await store.chain("ns/a", "r3"), undefined);
      assert.equal(await store.chain("ns/a", "loop"), undefined);
      assert.equal(await store.remove("ns/a", "r1"), true);
      assert.equal(await store.chain("ns/a", "r2"), undefined);
      await store.close();
    });

    it("forgets what was removed, with its items", async () => {
      const { store } = await open();
      store.keep("ns/a", local("r1"));
      assert.equal(await store.remove("ns/a", "r1"), true);
      assert.equal(await store.remove("ns/a", "r1"), false);
      assert.equal(await store.get("ns/a", "r1"), undefined);
      assert.equal(await store.findItem("ns/a", "out_r1"), undefined);
      await store.close();
    });

    it("forgets what is too old", async () => {
      const { store, clock } = await open({ ttlMs: 500 });
      store.keep("ns/a", local("r1"));
      clock.nowMs = 1_499;
      assert.equal((await store.get("ns/a", "r1"))?.id, "r1");
      clock.nowMs = 1_500;
      assert.equal(await store.get("ns/a", "r1"), undefined);
      assert.equal(await store.findItem("ns/a", "out_r1"), undefined);
      await store.close();
    });

    it("keeps nothing that is too large", async () => {
      const { store } = await open({ responseBytesMax: 400 });
      store.keep("ns/a", local("r1", { model: "x".repeat(400) }));
      assert.equal(await store.get("ns/a", "r1"), undefined);
      await store.close();
    });

    it("forgets an owner's oldest where it has too many, and no other owner's", async () => {
      const { store } = await open({ ownerResponsesMax: 2 });
      store.keep("ns/b", local("other"));
      for (const id of ["r1", "r2", "r3"]) store.keep("ns/a", local(id));
      assert.equal(await store.get("ns/a", "r1"), undefined);
      assert.equal((await store.get("ns/a", "r3"))?.id, "r3");
      assert.equal((await store.get("ns/b", "other"))?.id, "other");
      await store.close();
    });

    it("forgets the oldest of all where there is too much", async () => {
      const bytes = Buffer.byteLength(JSON.stringify(local("r1")));
      const { store } = await open({ bytesMax: 2 * bytes });
      for (const owner of ["ns/a", "ns/b", "ns/c"]) store.keep(owner, local("r1"));
      assert.equal(await store.get("ns/a", "r1"), undefined);
      assert.equal((await store.get("ns/b", "r1"))?.id, "r1");
      assert.equal((await store.get("ns/c", "r1"))?.id, "r1");
      await store.close();
    });
  });
}

describe("store of responses: embedded", () => {
  const [, embedded] = stores;
  const open: Open = (limits, folder) => {
    assert.ok(embedded !== undefined);
    return embedded.open(limits, folder);
  };

  it("finds after a restart what it kept before, and still counts it", async () => {
    const folder = newFolder();
    const first = await open({ ownerResponsesMax: 2 }, folder);
    first.store.keep("ns/a", local("r1"));
    first.store.keep("ns/a", local("r2"));
    await first.store.close();
    const second = await open({ ownerResponsesMax: 2 }, folder);
    assert.equal((await second.store.get("ns/a", "r1"))?.id, "r1");
    second.store.keep("ns/a", local("r3"));
    assert.equal(await second.store.get("ns/a", "r1"), undefined);
    assert.equal((await second.store.findItem("ns/a", "out_r2"))?.id, "r2");
    await second.store.close();
  });

  it("counts nothing that the disk did not take", () => {
    const folder = newFolder();
    const rowOf = (id: string) => ({ owner: "ns/a", id, previousId: undefined, createdMs: 1, body: id, itemIds: [] });
    const database = new ResponseDatabase(folder, { ...defaultStoreLimits, ownerResponsesMax: 4 });
    const kept = ["r1", "r2", "r3"];
    for (const id of kept) database.keep(rowOf(id), 1);
    const other = new DatabaseSync(path.join(folder, "responses.sqlite"));
    other.exec(`CREATE TABLE refusing (response REFERENCES responses DEFERRABLE INITIALLY DEFERRED);
      CREATE TRIGGER refuse AFTER INSERT ON responses BEGIN INSERT INTO refusing VALUES (-1); END;`);
    for (const id of ["lost1", "lost2", "lost3", "r1", "r1", "r1"])
      assert.throws(() => database.keep(rowOf(id), 1), /constraint/);
    other.exec("DROP TRIGGER refuse; DROP TABLE refusing;");
    other.close();
    database.keep(rowOf("r4"), 1);
    for (const id of [...kept, "r4"]) assert.equal(database.get("ns/a", id, 1), id);
    database.keep(rowOf("r5"), 1);
    assert.equal(database.get("ns/a", "r1", 1), undefined, "and the bound still holds");
    database.close();
  });

  it("is one store for all proxies of a machine", async () => {
    const folder = newFolder();
    const [one, other] = [await open({}, folder), await open({}, folder)];
    for (let index = 0; index < 20; index += 1) {
      one.store.keep("ns/a", local(`one${index}`));
      other.store.keep("ns/a", local(`other${index}`));
    }
    await Promise.all([one.store.get("ns/a", "one19"), other.store.get("ns/a", "other19")]);
    for (let index = 0; index < 20; index += 1) {
      assert.equal((await other.store.get("ns/a", `one${index}`))?.id, `one${index}`);
      assert.equal((await one.store.get("ns/a", `other${index}`))?.id, `other${index}`);
    }
    assert.deepEqual([one.problems, other.problems], [[], []]);
    await Promise.all([one.store.close(), other.store.close()]);
  });

  it("is readable by nobody else on the machine", async () => {
    const folder = path.join(newFolder(), "data");
    const { store } = await open({}, folder);
    store.keep("ns/a", local("r1"));
    await store.get("ns/a", "r1");
    assert.equal(statSync(folder).mode & 0o077, 0);
    for (const file of ["responses.sqlite", "responses.sqlite-wal"]) {
      assert.ok(existsSync(path.join(folder, file)));
      assert.equal(statSync(path.join(folder, file)).mode & 0o077, 0, file);
    }
    await store.close();
  });

  it("tells who asks after it was closed that it cannot be read", async () => {
    const { store, problems } = await open();
    await store.close();
    await assert.rejects(store.get("ns/a", "r1"), { code: "overloaded" });
    store.keep("ns/a", local("r1"));
    await store.get("ns/a", "r1").catch(() => undefined);
    assert.equal(problems.length, 1);
  });

  it("goes on with what it kept when its thread has ended", async () => {
    const begun: Worker[] = [];
    const note = (worker: Worker) => begun.push(worker);
    process.on("worker", note);
    const { store, problems } = await open();
    store.keep("ns/a", local("r1"));
    await store.get("ns/a", "r1");
    await begun[0]?.terminate();
    await assert.rejects(store.get("ns/a", "r1"), { code: "overloaded" });
    assert.equal(problems.length, 1);
    await setTimeout(1_200);
    assert.equal((await store.get("ns/a", "r1"))?.id, "r1");
    await store.close();
    process.off("worker", note);
    assert.equal(begun.length, 2);
    await assert.rejects(store.get("ns/a", "r1"), { code: "overloaded" });
  }).timeout(10_000);

  it("begins anew where the file is damaged, and says so", async () => {
    const folder = newFolder();
    writeFileSync(path.join(folder, "responses.sqlite"), "no database at all, but long enough to be read as one");
    const { store, problems } = await open({}, folder);
    store.keep("ns/a", local("r1"));
    assert.equal((await store.get("ns/a", "r1"))?.id, "r1");
    assert.equal(problems.length, 1);
    assert.ok(existsSync(path.join(folder, "responses.sqlite.damaged")));
    await store.close();
  });

  it("does not open a folder that it cannot use", async () => {
    const file = path.join(newFolder(), "file");
    writeFileSync(file, "");
    await assert.rejects(open({}, path.join(file, "folder")), { code: "ENOTDIR" });
  });

  it("does the same as memory does, whatever is asked of both", async () => {
    const owners = fc.constantFrom("ns/a", "ns/b");
    const ids = fc.constantFrom("r1", "r2", "r3", "r4");
    const step = fc.oneof(
      fc.record({
        do: fc.constant("keep" as const),
        owner: owners,
        id: ids,
        previous: fc.option(ids, { nil: undefined }),
        size: fc.nat(60),
      }),
      fc.record({ do: fc.constantFrom("get" as const, "chain" as const, "remove" as const), owner: owners, id: ids }),
      fc.record({ do: fc.constant("wait" as const), ms: fc.nat(300) }),
    );
    const limits = { ttlMs: 500, ownerResponsesMax: 3, ownerBytesMax: 900, bytesMax: 1_500, chainLengthMax: 3 };
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 25 }), async (steps) => {
        const clock = { nowMs: 1_000 };
        const all = { ...defaultStoreLimits, ...limits };
        const memory = new MemoryResponses({ limits: all, now: () => clock.nowMs });
        const database = new ResponseDatabase(newFolder(), all);
        for (const asked of steps) {
          if (asked.do === "wait") {
            clock.nowMs += asked.ms;
            continue;
          }
          const { owner, id } = asked;
          const { nowMs } = clock;
          if (asked.do === "keep") {
            const kept = local(id, { previousId: asked.previous, model: "x".repeat(asked.size), createdMs: nowMs });
            memory.keep(owner, kept);
            const { previousId, createdMs } = kept;
            database.keep(
              { owner, id, previousId, createdMs, body: JSON.stringify(kept), itemIds: itemIdsOf(kept) },
              nowMs,
            );
          } else if (asked.do === "get") {
            assert.deepEqual(parsed(database.get(owner, id, nowMs)), plain(await memory.get(owner, id)));
          } else if (asked.do === "chain") {
            assert.equal(database.sizeOf("chain", owner, id, nowMs), await memory.sizeOf("chain", owner, id));
            assert.deepEqual(
              database.chain(owner, id, nowMs)?.map(parsed),
              (await memory.chain(owner, id))?.map(plain),
            );
          } else {
            assert.equal(database.remove(owner, id, nowMs), await memory.remove(owner, id));
          }
        }
        database.close();
      }),
      { numRuns: 40 },
    );
  });
});
