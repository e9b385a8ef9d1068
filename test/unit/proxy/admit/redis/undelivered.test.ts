/** What the journal of undelivered settlements keeps, gives up and finds again, with a store that the test plays. */
import assert from "node:assert/strict";
import { appendFileSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { noAmounts } from "#proxy/admit/count/held-reservation";
import { RefusedCommand, StoreError } from "#proxy/admit/redis/script-answers";
import { Undelivered, type UndeliveredOptions } from "#proxy/admit/redis/undelivered/undelivered";
import { parseEntry, type UndeliveredEntry, writeEntry } from "#proxy/admit/redis/undelivered/undelivered-entry";
import type { Limit } from "#proxy/snapshot/types.gen";
import { waitFor } from "#test/support/wait-for";

const limit: Limit = {
  name: "l",
  unit: "Requests",
  limit: "10",
  period: "Minute",
  algorithm: "FixedWindow",
  mode: "Enforce",
};
const nowMs = Date.UTC(2026, 10, 26, 12);
const dayMs = 86_400_000;

const money = (id: string, atMs = nowMs): UndeliveredEntry => ({ id, atMs, used: noAmounts, claims: undefined });
const rate = (id: string, atMs = nowMs): UndeliveredEntry => ({
  ...money(id, atMs),
  claims: { limits: [{ counter: "key/ns/a/l", limit }], balances: [] },
});

describe("Undelivered", () => {
  let folder: string;
  let opened: Undelivered[];
  let delivered: string[];
  let problems: string[];
  /** What the store says to an entry. */
  let answer: (entry: UndeliveredEntry) => boolean;

  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), "tollgate-undelivered-"));
    opened = [];
    delivered = [];
    problems = [];
    answer = () => false;
  });
  afterEach(async () => {
    for (const journal of opened) await journal.close();
    rmSync(folder, { recursive: true, force: true });
  });

  function open(more: Partial<UndeliveredOptions> = {}): Undelivered {
    const journal = new Undelivered({
      folder,
      name: "test",
      now: () => nowMs,
      deliver: async (entry) => {
        const isTold = answer(entry);
        if (isTold) delivered.push(entry.id);
        return isTold;
      },
      isOver: ({ atMs }) => nowMs - atMs >= 60_000,
      onProblem: (message) => problems.push(message),
      ...more,
    });
    opened.push(journal);
    return journal;
  }

  const files = (): string[] => readdirSync(folder).sort();
  const linesOf = (name: string): string[] => readFileSync(join(folder, name), "utf8").split("\n").filter(Boolean);
  const path = (name: string): string => join(folder, `undelivered-${name}.jsonl`);

  it("keeps room for money, whatever rates there are, and counts what it cannot keep", async () => {
    const journal = open({ bounds: { money: 3, rates: 2 } });
    for (let index = 0; index < 5; index += 1) journal.add(rate(`rate-${index}`));
    for (let index = 0; index < 4; index += 1) journal.add(money(`money-${index}`));
    assert.equal(journal.size, 5);
    assert.equal(journal.lostCount, 4);
    assert.match(problems.join("\n"), /later ones are lost \(4 so far\)/);
    answer = () => true;
    await journal.deliver();
    assert.deepEqual(delivered, ["money-0", "money-1", "money-2", "rate-0", "rate-1"]);
  });

  it("forgets rates whose window is over, where room is needed and before it delivers, and loses nothing by it", async () => {
    const journal = open({ bounds: { money: 3, rates: 2 } });
    journal.add(rate("old-0", nowMs - 60_000));
    journal.add(rate("old-1", nowMs - 60_000));
    journal.add(rate("new"));
    assert.equal(journal.size, 1);
    assert.equal(journal.lostCount, 0);
    await journal.deliver();
    answer = () => true;
    await journal.deliver();
    assert.deepEqual(delivered, ["new"]);
  });

  it("gives up after a day what a store refuses, and no sooner, and never for an outage", async () => {
    const journal = open();
    answer = ({ id }) => {
      throw id.startsWith("refused") ? new RefusedCommand("WRONGTYPE") : new StoreError("not in time");
    };
    journal.add(money("refused-old", nowMs - dayMs));
    journal.add(money("refused-young", nowMs - dayMs + 1));
    journal.add(money("away-old", nowMs - 10 * dayMs));
    await journal.deliver();
    assert.equal(journal.size, 2);
    assert.equal(journal.lostCount, 1);
    assert.match(problems.join("\n"), /given up after a day: WRONGTYPE/);
  });

  it("delivers what another process cut in the middle of a line, and every entry of its own beside it", async () => {
    writeFileSync(path("test"), `${writeEntry(money("former"))}{"id":"cut","atMs":1`);
    const journal = open();
    journal.add(money("own"));
    await waitFor("the entry on disk", () => files().some((name) => name === "undelivered-test.jsonl"));
    await journal.close();
    const next = open({ name: "next" });
    answer = () => true;
    await next.deliver();
    assert.deepEqual(delivered.sort(), ["former", "own"]);
    await waitFor("the files to be removed", () => files().length === 0);
  });

  it("writes an entry again that the disk has not taken whole", async () => {
    const journal = open();
    // A folder in the place of the file: no write succeeds.
    mkdirSync(path("test"));
    journal.add(money("first"));
    await waitFor("the failure to be told", () => problems.some((problem) => /cannot be written/.test(problem)));
    rmSync(path("test"), { recursive: true });
    journal.add(money("second"));
    await journal.close();
    assert.deepEqual(
      linesOf("undelivered-test.jsonl").map((line) => parseEntry(line)?.id),
      ["first", "second"],
    );
  });

  it("reads no more than it may keep at once, and the rest when that is delivered", async () => {
    const lines = Array.from({ length: 30_000 }, (_, index) => writeEntry(money(`entry-${index}`)));
    writeFileSync(path("former"), lines.join(""));
    const journal = open({ bounds: { money: 10, rates: 10 } });
    // A megabyte is read at once.
    assert.ok(journal.size > 0 && journal.size < 15_000, `${journal.size} entries`);
    answer = () => true;
    await journal.deliver();
    await waitFor("all to be delivered", () => delivered.length === 30_000, { deadlineMs: 20_000 });
    assert.equal(new Set(delivered).size, 30_000);
    await waitFor("the file to be removed", () => files().length === 0);
  });

  it("goes on where a living process removes its file before all of it is read", async () => {
    const lines = Array.from({ length: 30_000 }, (_, index) => writeEntry(money(`entry-${index}`)));
    writeFileSync(path("living"), lines.join(""));
    const journal = open({ bounds: { money: 10, rates: 10 } });
    const read = journal.size;
    rmSync(path("living"));
    answer = () => true;
    await journal.deliver();
    journal.add(money("own"));
    await waitFor("the last to be delivered", () => delivered.includes("own"));
    assert.equal(delivered.length, read + 1);
    assert.deepEqual(problems, []);
  });

  it("leaves the file of a process that goes on to write it", async () => {
    writeFileSync(path("living"), writeEntry(money("one")));
    const journal = open();
    appendFileSync(path("living"), writeEntry(money("two")));
    answer = () => true;
    await journal.deliver();
    await journal.close();
    assert.deepEqual(delivered, ["one"]);
    assert.deepEqual(files(), ["undelivered-living.jsonl"]);
  });
});
