import assert from "node:assert/strict";
import fc from "fast-check";
import type { RunningCall } from "#proxy/dispatch/revocation/is-still-allowed";
import { type OpenAttempt, OpenAttempts } from "#proxy/dispatch/revocation/open-attempts";
import { chatCompletionsUpstream as chatCompletions } from "#proxy/formats/chat-completions/native/upstream-format";
import { InFlightBytes } from "#proxy/http/in-flight-bytes";
import { defaultLimits } from "#proxy/limits";
import { Attempt } from "#proxy/upstream/attempt";
import { ChatReader } from "#proxy/upstream/reply/chat-reader";
import { callOf } from "#test/support/digest/stream-call";
import { wireKey } from "#test/support/wire-objects";

/** Attempts that say when they are stopped; none is ever sent. */
class Recorded extends Attempt {
  readonly name: string;
  readonly #stopped: string[];

  constructor(name: string, stopped: string[]) {
    super({
      upstream: { send: () => undefined },
      request: {
        path: "/",
        headers: [],
        body: Buffer.alloc(0),
        connectTimeoutMs: 0,
        timeouts: { firstByteMs: 0, idleMs: 0, totalMs: 0 },
      },
      reader: new ChatReader(
        {
          format: chatCompletions,
          call: callOf(chatCompletions),
          translation: undefined,
          bridge: () => assert.fail("not asked for"),
        },
        defaultLimits,
      ),
      limits: defaultLimits,
      inFlightBytes: new InFlightBytes(defaultLimits.inFlightBytesMax),
      dropped: [],
      client: undefined,
      onPiece: () => undefined,
    });
    this.name = name;
    this.#stopped = stopped;
  }

  override stop(reason: Parameters<Attempt["stop"]>[0]): void {
    this.#stopped.push(`${this.name} ${reason}`);
  }
}

function callBy(keyName: string): RunningCall {
  const key = wireKey(keyName);
  const [credential = assert.fail()] = key.credentials;
  return { found: { key, credential }, clientAddress: undefined, call: callOf(chatCompletions) };
}

describe("OpenAttempts", () => {
  it("stops all that are open, and none that has ended", () => {
    const stopped: string[] = [];
    const open = new OpenAttempts();
    const [, second] = ["a", "b", "c"].map((name) => open.add(new Recorded(name, stopped), callBy(name)));
    assert.ok(second !== undefined);
    open.delete(second);
    open.end("shutting-down");
    assert.deepEqual(stopped.sort(), ["a shutting-down", "c shutting-down"]);
  });

  it("stops an attempt at once that begins after the end", () => {
    const stopped: string[] = [];
    const open = new OpenAttempts();
    open.end("shutting-down");
    open.add(new Recorded("late", stopped), callBy("late"));
    assert.deepEqual(stopped, ["late shutting-down"]);
  });

  it("stops only the calls that are picked", () => {
    const stopped: string[] = [];
    const open = new OpenAttempts();
    for (const name of ["a", "b", "c"]) open.add(new Recorded(name, stopped), callBy(name));
    open.stop("revoked", ({ found }) => found.key.name === "b");
    assert.deepEqual(stopped, ["b revoked"]);
    assert.equal(open.size, 3);
  });

  it("stops each once, though stopping takes it off the list", () => {
    const stopped: string[] = [];
    const open = new OpenAttempts();
    const entries = new Map<string, OpenAttempt>();
    for (const name of ["a", "b", "c", "d"]) entries.set(name, open.add(new Recorded(name, stopped), callBy(name)));
    open.stop("revoked", ({ found }) => {
      const entry = entries.get(found.key.name);
      if (entry !== undefined) open.delete(entry);
      return true;
    });
    assert.equal(stopped.length, 4);
    assert.equal(open.size, 0);
  });

  it("holds exactly what was added and not deleted, in any order", () => {
    const sample = new Recorded("sample", []);
    const call = callBy("k");
    fc.assert(
      fc.property(fc.array(fc.option(fc.nat(50)), { maxLength: 100 }), (steps) => {
        const open = new OpenAttempts();
        const expected: OpenAttempt[] = [];
        for (const step of steps) {
          if (step === null || expected.length === 0) expected.push(open.add(sample, { ...call }));
          else for (const entry of expected.splice(step % expected.length, 1)) open.delete(entry);
          assert.equal(open.size, expected.length);
        }
        const seen = new Set<RunningCall>();
        open.stop("revoked", (each) => {
          seen.add(each);
          return false;
        });
        assert.deepEqual(seen, new Set(expected.map((entry) => entry.call)));
      }),
    );
  });
});
