import assert from "node:assert/strict";
import { InFlightBytes } from "#proxy/http/in-flight-bytes";
import { HeldResponses } from "#proxy/responses-state/held-responses";
import { memoryStoreLimits } from "#proxy/responses-state/response-store";
import { MemoryResponses } from "#proxy/responses-state/store/memory-responses";
import type { LocalResponse } from "#proxy/responses-state/stored-response";

const owner = "ns/key";

function turn(number: number): LocalResponse {
  const id = `r${number}`;
  const previousId = number === 1 ? undefined : `r${number - 1}`;
  const input = [{ type: "message", id: `msg_${number}`, role: "user", content: "x".repeat(1_000) }];
  return { kind: "local", id, previousId, createdMs: 1, model: "m", input, response: { id, output: [] } };
}

/** Three turns of one conversation, of a thousand bytes and some each. */
function opened({ inFlight = 100_000, bytesMax = 100_000, turns = 3 } = {}) {
  const store = new MemoryResponses({ limits: memoryStoreLimits, now: () => 1 });
  for (let number = 1; number <= turns; number += 1) store.keep(owner, turn(number));
  let reads = 0;
  const counted = {
    sizeOf: store.sizeOf.bind(store),
    get: (by: string, id: string) => {
      reads += 1;
      return store.get(by, id);
    },
    chain: (by: string, id: string) => {
      reads += 1;
      return store.chain(by, id);
    },
    findItem: (by: string, id: string) => {
      reads += 1;
      return store.findItem(by, id);
    },
  };
  const inFlightBytes = new InFlightBytes(inFlight);
  return { held: new HeldResponses(counted, inFlightBytes, bytesMax), inFlightBytes, reads: () => reads };
}

describe("responses as one call reads them", () => {
  it("count in flight until they are released, once", async () => {
    const { held, inFlightBytes } = opened();
    const bytes = [1, 2, 3].reduce((sum, number) => sum + JSON.stringify(turn(number)).length, 0);
    assert.equal((await held.chain(owner, "r3"))?.length, 3);
    assert.equal(inFlightBytes.bytes, bytes);
    assert.equal((await held.get(owner, "r1"))?.id, "r1");
    assert.equal((await held.findItem(owner, "msg_2"))?.id, "r2");
    assert.ok(inFlightBytes.bytes > bytes);
    held.release();
    held.release();
    assert.equal(inFlightBytes.bytes, 0);
  });

  it("count nothing where nothing is found", async () => {
    const { held, inFlightBytes } = opened();
    assert.equal(await held.get("ns/thief", "r1"), undefined);
    assert.equal(await held.chain("ns/thief", "r1"), undefined);
    assert.equal(await held.findItem("ns/thief", "msg_1"), undefined);
    assert.equal(inFlightBytes.bytes, 0);
  });

  for (const ask of [
    (held: HeldResponses) => held.get(owner, "r1"),
    (held: HeldResponses) => held.chain(owner, "r1"),
    (held: HeldResponses) => held.findItem(owner, "msg_1"),
  ]) {
    it(`are not read where they do not fit in flight: ${ask}`, async () => {
      const { held, inFlightBytes, reads } = opened({ inFlight: 1_000 });
      await assert.rejects(ask(held), { code: "overloaded" });
      held.release();
      assert.deepEqual([inFlightBytes.bytes, reads()], [0, 0]);
    });
  }

  it("are no chain where it is longer than a body, and are not read then", async () => {
    const { held, inFlightBytes, reads } = opened({ bytesMax: 3_000 });
    assert.equal(await held.chain(owner, "r3"), undefined);
    assert.deepEqual([inFlightBytes.bytes, reads()], [0, 0]);
    assert.equal((await held.chain(owner, "r2"))?.length, 2);
  });

  it("are refused where references of one call read more than a body", async () => {
    const { held } = opened({ bytesMax: 3_000 });
    await held.findItem(owner, "msg_1");
    await held.findItem(owner, "msg_2");
    await assert.rejects(held.findItem(owner, "msg_3"), { code: "context_length", param: "input" });
  });
});
