import assert from "node:assert/strict";
import { KeyedMutex } from "#proxy/runtime/keyed-mutex";

/** Work that ends when it is told to, and says when it began. */
function work(name: string, log: string[]) {
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  const begin = () => {
    log.push(name);
    return promise;
  };
  return { begin, end: () => resolve(name), fail: () => reject(new Error(name)) };
}

describe("turns of an owner", () => {
  it("come one after the other, also after one that failed, and of each owner apart", async () => {
    const turns = new KeyedMutex();
    const log: string[] = [];
    const [one, two, three, other] = ["one", "two", "three", "other"].map((name) => work(name, log));
    assert.ok(one && two && three && other);
    const taken = [one, two, three].map(({ begin }) => turns.run("ns/a", begin));
    const others = turns.run("ns/b", other.begin);
    assert.deepEqual(log, ["one", "other"]);
    other.end();
    assert.equal(await others, "other");
    const failed = assert.rejects(taken[0] ?? Promise.resolve(), /one/);
    one.fail();
    await failed;
    await new Promise(setImmediate);
    assert.deepEqual(log, ["one", "other", "two"]);
    two.end();
    three.end();
    assert.deepEqual(await Promise.all(taken.slice(1)), ["two", "three"]);
    assert.equal(await turns.run("ns/a", () => Promise.resolve("later")), "later");
  });

  it("end for work that throws at once", async () => {
    const turns = new KeyedMutex();
    const thrown = () => {
      throw new Error("at once");
    };
    await assert.rejects(turns.run("ns/a", thrown), /at once/);
    assert.equal(await turns.run("ns/a", () => Promise.resolve(1)), 1);
  });
});
