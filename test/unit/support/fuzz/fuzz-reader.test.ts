/** The fuzzer finds what is there to find: readers with planted faults. */
import assert from "node:assert/strict";
import { describe, it } from "mocha";
import { InvalidReply } from "#proxy/neutral/reply";
import { fuzzReader, stepLimitMs } from "#test/support/fuzz/fuzz-reader";
import { minimise } from "#test/support/fuzz/minimise";
import type { FuzzedReader } from "#test/support/fuzz/readers";

function outcomeOf(run: FuzzedReader["run"], durationMs = 200) {
  const seen: number[] = [];
  const reader: FuzzedReader = {
    name: "planted",
    mutate: (random) => Buffer.from(Array.from({ length: 20 }, () => 97 + random.below(26))),
    run,
  };
  const outcome = fuzzReader(reader, { seed: 7, durationMs, minimiseMs: 200, onCase: (index) => seen.push(index) });
  return { ...outcome, seen };
}

function burn(milliseconds: number): void {
  const { user } = process.threadCpuUsage();
  while (process.threadCpuUsage().user - user < milliseconds * 1_000);
}

describe("fuzzReader", () => {
  it("finds nothing in a reader that does nothing, and says how many cases it ran", () => {
    const { failures, cases, seen } = outcomeOf(() => {});
    assert.deepEqual(failures, []);
    assert.ok(cases > 10);
    assert.equal(seen.length, cases);
  });

  it("finds a crash, makes its input small and names it once", () => {
    const { failures } = outcomeOf((input) => {
      if (input.includes("q")) throw new TypeError("planted");
    });
    assert.equal(failures.length, 1);
    assert.match(failures[0]?.problem ?? "", /^TypeError: planted/);
    assert.equal(failures[0]?.input, '"q"');
  });

  it("finds a crash that only refuses in words of a stream", () => {
    const { failures } = outcomeOf(() => {
      throw new InvalidReply("left the pipeline");
    });
    assert.equal(failures.length, 1);
  });

  it("finds a step that holds the event loop, and only if it does so again and again", () => {
    const { failures } = outcomeOf((_input, _random, measure) => {
      measure("slow", () => burn(1.5 * stepLimitMs));
    }, 1);
    assert.match(failures[0]?.problem ?? "", /"slow" took/);
    let isFirst = true;
    const once = outcomeOf((_input, _random, measure) => {
      measure("slow at first", () => burn(isFirst ? 1.5 * stepLimitMs : 0));
      isFirst = false;
    }, 100);
    assert.deepEqual(once.failures, []);
  });

  it("finds what is left on a prototype, and takes it away", () => {
    const { failures } = outcomeOf((input) => {
      if (input.includes("z")) Reflect.set(Object.prototype, "planted", 1);
    });
    assert.match(failures[0]?.problem ?? "", /"planted" was added to a prototype/);
    assert.equal("planted" in {}, false);
  });

  it("gives the same input for the same seed and number", () => {
    const inputs: string[][] = [];
    for (let times = 0; times < 2; times += 1) {
      const found: string[] = [];
      outcomeOf((input) => void found.push(input.toString()), 20);
      inputs.push(found.slice(0, 10));
    }
    assert.equal(inputs[0]?.length, 10);
    assert.deepEqual(inputs[0], inputs[1]);
  });
});

describe("minimise", () => {
  it("keeps what the failure needs, in its order", () => {
    const small = minimise(Buffer.from("xxaxxxxxxxbxxcxx"), (text) => /a.*b.*c/.test(text.toString()), 1_000);
    assert.equal(small.toString(), "abc");
  });

  it("stops when its time is over", () => {
    const input = Buffer.from("abc");
    assert.equal(
      minimise(input, () => true, -1),
      input,
    );
  });
});
