import assert from "node:assert/strict";
import { setImmediate as turn } from "node:timers/promises";
import { detectRestore } from "#operator/push/versions/restore-detection";
import { ManualTimers } from "#test/support/manual-timers";

function open(answers: Record<string, boolean | Error>) {
  const timers = new ManualTimers();
  const asked: string[] = [];
  const failures: unknown[] = [];
  const state = { returns: 0 };
  const removals = detectRestore({
    exists: async (id) => {
      asked.push(id);
      const answer = answers[id];
      if (answer instanceof Error) throw answer;
      return answer ?? false;
    },
    onReturn: () => {
      state.returns += 1;
    },
    onFailure: (cause) => failures.push(cause),
    timers,
  });
  const pass = async (ms: number) => {
    timers.advance(ms);
    for (let turns = 0; turns < 10; turns += 1) await turn();
  };
  return { removals, asked, failures, state, answers, pass };
}

describe("detectRestore", () => {
  it("tells of a return where the source has what a proxy refuses as deleted, and asks no further", async () => {
    const { removals, asked, state, pass } = open({ "key/a/two": true });
    removals.noteRefused(["key/a/one", "key/a/two", "key/a/three"]);
    await pass(0);
    assert.deepEqual([asked, state.returns], [["key/a/one"], 0]);
    await pass(2_000);
    assert.deepEqual([asked, state.returns], [["key/a/one", "key/a/two"], 1]);
    await pass(2_000);
    assert.equal(asked.length, 2);
  });

  it("asks seldom, however often the same is refused: this operator lags behind", async () => {
    const { removals, asked, state, pass } = open({});
    for (let acknowledgement = 0; acknowledgement < 100; acknowledgement += 1) {
      removals.noteRefused(["key/a/one"]);
      await pass(10);
    }
    assert.deepEqual([asked.length, state.returns], [1, 0]);
    await pass(2_000);
    assert.equal(asked.length, 2);
  });

  it("asks again after a failure, ever more seldom, and tells of it once until it is answered", async () => {
    const away = new Error("away");
    const { removals, asked, state, failures, answers, pass } = open({ "key/a/one": away });
    removals.noteRefused(["key/a/one"]);
    for (let seconds = 0; seconds < 3_600; seconds += 2) await pass(2_000);
    assert.deepEqual(failures, [away]);
    assert.ok(asked.length >= 60 && asked.length <= 130, `asked ${asked.length} times in an hour`);
    answers["key/a/one"] = true;
    await pass(60_000);
    assert.equal(state.returns, 1);
    answers["key/a/one"] = away;
    removals.noteRefused(["key/a/one"]);
    await pass(2_000);
    assert.deepEqual(failures, [away, away]);
  });

  it("forgets with a new epoch what was refused before it, also what is being asked about", async () => {
    const { removals, asked, state, answers, pass } = open({ "key/a/one": true });
    removals.noteRefused(["key/a/one", "key/a/two"]);
    removals.forget();
    await pass(0);
    assert.deepEqual([asked, state.returns], [["key/a/one"], 0]);
    answers["key/a/two"] = true;
    removals.noteRefused(["key/a/two"]);
    await pass(2_000);
    assert.equal(state.returns, 1);
  });

  it("ends with its operator", async () => {
    const { removals, asked, pass } = open({ "key/a/one": new Error("away") });
    removals.noteRefused(["key/a/one"]);
    await pass(0);
    removals.close();
    await pass(60_000);
    removals.noteRefused(["key/a/one"]);
    await pass(60_000);
    assert.equal(asked.length, 1);
  });
});
