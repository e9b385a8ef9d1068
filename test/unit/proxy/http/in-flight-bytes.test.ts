/** A key's share of the bytes in flight, while others need room. */
import assert from "node:assert/strict";
import { describe, it } from "mocha";
import { GatewayError } from "#proxy/errors";
import { type CallBytes, InFlightBytes } from "#proxy/http/in-flight-bytes";

const MiB = 1024 * 1024;

describe("bytes in flight of one key", () => {
  const key = (): { readonly namespace: string; readonly name: string } => ({ namespace: "ns", name: "greedy" });

  /** @returns calls of 8 MiB that fitted */
  function fill(all: InFlightBytes, owner: ReturnType<typeof key>): readonly CallBytes[] {
    const calls: CallBytes[] = [];
    for (let count = 0; count < 100; count += 1) {
      const call = all.ofCall(owner);
      try {
        call.acquire(8 * MiB);
      } catch (error) {
        assert.ok(error instanceof GatewayError && error.code === "overloaded");
        return calls;
      }
      calls.push(call);
    }
    return calls;
  }

  it("stay its share when the key is edited", () => {
    const all = new InFlightBytes(256 * MiB);
    all.ofCall({ namespace: "ns", name: "other" }).acquire(10 * MiB);
    const held = fill(all, key());
    assert.ok(held.length < 16, `${held.length} calls`);
    assert.deepEqual(fill(all, key()), []);
    for (const call of held) call.release(8 * MiB);
    assert.equal(fill(all, key()).length, held.length);
  });

  it("are counted although many keys that hold nothing came between", () => {
    const all = new InFlightBytes(256 * MiB);
    const held = fill(all, key());
    for (let index = 0; index < 30_000; index += 1) all.ofCall({ namespace: "ns", name: `k${index}` });
    assert.deepEqual(fill(all, key()), []);
    assert.ok(held.length > 0);
  });
});
