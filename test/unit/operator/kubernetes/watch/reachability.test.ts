import assert from "node:assert/strict";
import { ApiError } from "#operator/kubernetes/api/api-error";
import { Reachability } from "#operator/kubernetes/watch/reachability";
import { waitFor } from "#test/support/wait-for";

const timings = { silenceMs: 60, probeEveryMs: 20 };

function open(probe: () => Promise<void>) {
  const changes: boolean[] = [];
  const reachability = new Reachability({ probe, timings, onChange: (isReachable) => changes.push(isReachable) });
  return { reachability, changes };
}

describe("reachability", () => {
  it("asks once for all who want to know", async () => {
    let asked = 0;
    const { reachability } = open(async () => void (asked += 1));
    await Promise.all([reachability.confirm(), reachability.confirm(), reachability.confirm()]);
    assert.equal(asked, 1);
    reachability.close();
  });

  it("asks after a silence, tells when nobody is there and when somebody is again", async () => {
    let isThere = false;
    const { reachability, changes } = open(async () => {
      if (!isThere) throw new ApiError("no", { code: "timeout" });
    });
    await waitFor("the loss", () => !reachability.isReachable);
    isThere = true;
    await reachability.confirm();
    assert.deepEqual(changes, [false, true]);
    assert.ok(reachability.silentMs < 60);
    reachability.close();
  });

  it("asks nothing while it hears something", async () => {
    let asked = 0;
    const { reachability } = open(async () => void (asked += 1));
    const hearing = setInterval(() => reachability.heard(), 5);
    await new Promise((resolve) => setTimeout(resolve, 200));
    clearInterval(hearing);
    assert.equal(asked, 0);
    reachability.close();
  });

  it("asks no more often than it may, however fast callers fail", async () => {
    let asked = 0;
    const { reachability } = open(async () => void (asked += 1));
    const until = performance.now() + 300;
    while (performance.now() < until) await reachability.confirm();
    assert.ok(asked <= 300 / timings.probeEveryMs + 1, `${asked}`);
    reachability.close();
  });

  it("does not wait for a question that hangs", async () => {
    let asked = 0;
    const { reachability, changes } = open(async () => {
      asked += 1;
      if (asked === 1) await new Promise(() => undefined);
    });
    await reachability.confirm();
    assert.equal(asked, 2);
    assert.deepEqual(changes, []);
    reachability.close();
  });

  it("takes a server that is not ready for one that is away", async () => {
    let answers = 0;
    const { reachability, changes } = open(async () => {
      answers += 1;
      if (answers < 3) throw new ApiError("starting", { code: "refused", status: 500 });
    });
    await reachability.confirm();
    assert.equal(answers, 3);
    assert.deepEqual(changes, [false, true]);
    reachability.close();
  });

  it("lets whoever gives up go, and only him", async () => {
    let isThere = false;
    const { reachability } = open(async () => {
      if (!isThere) throw new ApiError("no", { code: "unreachable" });
    });
    const [given, stays] = [new AbortController(), new AbortController()];
    let isDone = false;
    const staying = reachability.confirm(stays.signal).then(() => {
      isDone = true;
    });
    const giving = reachability.confirm(given.signal);
    given.abort();
    await giving;
    assert.equal(isDone, false);
    isThere = true;
    await staying;
    reachability.close();
  });

  it("lets everybody go when it is closed", async () => {
    const { reachability } = open(async () => {
      throw new ApiError("no", { code: "unreachable" });
    });
    const waiting = reachability.confirm();
    reachability.close();
    await waiting;
  });
});
