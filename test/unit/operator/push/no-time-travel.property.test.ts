/**
 * docs/design/configuration.md 3.12 under random histories: operators see the source's events at different times and
 * publish them later still, streams break at any line, proxies go to any operator. Whatever happens, the configuration
 * of a proxy never gets older, and a revoked key stays dead until the proxy is past its revocation.
 */
import assert from "node:assert/strict";
import { setImmediate as joinBatch } from "node:timers/promises";
import fc from "fast-check";
import { ProxyConnection } from "#operator/push/connection";
import { Publisher } from "#operator/push/publisher";
import { SourceProgress } from "#operator/push/versions/source-progress";
import type { IndexedSnapshot } from "#proxy/snapshot/build-index";
import type { Hello } from "#proxy/snapshot/push/messages";
import { PushClient } from "#proxy/sync/push-client";
import type { PushStream, PushTransport } from "#proxy/sync/push-transport";
import { SnapshotStore } from "#proxy/sync/snapshot-store";
import { ManualTimers } from "#test/support/manual-timers";
import { byId } from "#test/support/push-rig";
import { sha256Of, wireKey } from "#test/support/wire-objects";

const victims = ["a", "b", "c"];

function positionOf(snapshot: IndexedSnapshot): number {
  return Number(snapshot.keyByName("team-a", "position")?.metadata?.["at"]);
}

/** What happened to the keys, one event a version; the last key tells how far a configuration has come. */
class History {
  readonly #states: ReadonlyMap<string, "live" | "suspended" | "gone">[] = [new Map()];

  add(name: string, state: "live" | "suspended" | "gone"): void {
    this.#states.push(new Map(this.#states.at(-1)).set(name, state));
  }

  get length(): number {
    return this.#states.length;
  }

  objectsAt(position: number) {
    const objects = [wireKey("position", { metadata: { at: `${position}` } })];
    for (const [name, state] of this.#states[position] ?? []) {
      if (state === "gone") continue;
      objects.push(wireKey(name, { state: state === "live" ? "Active" : "Suspended" }));
    }
    return objects;
  }

  /** The newest version up to `position` that took the key away, and whether it is away there. */
  isDeadAt(name: string, position: number): boolean {
    const state = this.#states[position]?.get(name);
    return state !== undefined && state !== "live";
  }
}

class Operator {
  readonly timers = new ManualTimers();
  readonly publisher = new Publisher({ timers: this.timers });
  readonly progress: SourceProgress;
  readonly #history: History;
  #seen = 0;

  constructor(history: History) {
    this.#history = history;
    const versions = () => ({ seen: { ApiKey: `${this.#seen}` }, complete: { ApiKey: `${this.#seen}` } });
    this.progress = new SourceProgress(versions);
    this.pass();
  }

  /** Takes some of the events that it has not seen, and looks at them in one pass. */
  follow(count: number): void {
    this.#seen = Math.min(this.#seen + count, this.#history.length - 1);
    this.pass();
  }

  pass(): void {
    const onPublished = this.progress.beginPass();
    const wanted = byId(...this.#history.objectsAt(this.#seen));
    const known = new Set([...this.publisher.snapshot.objects()].map(([id]) => id));
    for (const name of victims) known.add(`key/team-a/${name}`);
    const removes = [...known].filter((id) => !wanted.has(id));
    this.publisher.publishChanges({ upserts: wanted, removes, onPublished });
  }
}

/** A stream between a proxy and an operator whose lines arrive when the test says so. */
class Wire implements PushTransport {
  readonly #operators: readonly Operator[];
  readonly #timers: ManualTimers;
  target = 0;
  /** How far the operator had come that wrote the last revocation to arrive. */
  revokedAt = 0;
  readonly #revocations = new Map<string, number>();
  #queue: string[] = [];
  #delivered: string[] = [];
  #wake = () => {};
  #connection: ProxyConnection | undefined;
  #isOpen = false;
  #streams = 0;

  constructor(operators: readonly Operator[], timers: ManualTimers) {
    this.#operators = operators;
    this.#timers = timers;
  }

  async open(hello: Hello): Promise<PushStream> {
    const operator = this.#operators[this.target];
    assert.ok(operator !== undefined);
    // As `open-stream.ts` does, but for the wait.
    if (operator.progress.isBehind(hello.versions)) throw new Error("behind");
    this.#queue = [];
    this.#delivered = [];
    this.#isOpen = true;
    this.#streams += 1;
    const connection = new ProxyConnection(
      {
        id: `${this.#streams}`,
        operator: `operator-${this.target}`,
        epoch: 1,
        hello,
        sink: {
          write: (line) => this.#write(line.trimEnd(), operator),
          drained: async () => {},
          end: () => this.cut(),
        },
        timers: this.#timers,
        heartbeatMs: 1e9,
        deadMs: 1e9,
        onChange: () => {},
        progress: operator.progress,
      },
      operator.publisher.snapshot,
    );
    const stop = operator.publisher.onPublish((publication) => connection.offer(publication));
    this.#connection = connection;
    connection.start();
    return {
      lines: this.#lines(),
      send: async (_stream, message) => connection.receive(message),
      close: () => {
        stop();
        connection.close("closed");
      },
    };
  }

  #write(line: string, { publisher }: Operator): boolean {
    if (line.startsWith('{"type":"revoke"')) this.#revocations.set(line, positionOf(publisher.snapshot));
    this.#queue.push(line);
    return true;
  }

  /** Lets some of the lines written so far arrive. */
  deliver(count: number): void {
    this.#delivered.push(...this.#queue.splice(0, count));
    this.#wake();
  }

  cut(): void {
    this.#isOpen = false;
    this.#connection?.close("cut");
    this.#wake();
  }

  async *#lines(): AsyncGenerator<string> {
    while (this.#isOpen) {
      const line = this.#delivered.shift();
      if (line !== undefined) {
        this.revokedAt = this.#revocations.get(line) ?? this.revokedAt;
        yield line;
      } else {
        await new Promise<void>((resolve) => {
          this.#wake = resolve;
        });
      }
    }
  }
}

const step = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({
      type: fc.constant("event" as const),
      name: fc.constantFrom(...victims),
      state: fc.constantFrom("live" as const, "live" as const, "suspended" as const, "gone" as const),
    }),
  },
  {
    weight: 5,
    arbitrary: fc.record({
      type: fc.constant("follow" as const),
      operator: fc.nat(2),
      count: fc.integer({ min: 1, max: 4 }),
    }),
  },
  { weight: 3, arbitrary: fc.record({ type: fc.constant("publish" as const), operator: fc.nat(2) }) },
  {
    weight: 8,
    arbitrary: fc.record({ type: fc.constant("deliver" as const), count: fc.integer({ min: 1, max: 6 }) }),
  },
  { weight: 2, arbitrary: fc.record({ type: fc.constant("move" as const), operator: fc.nat(2) }) },
);

describe("no time travel, whatever happens", function () {
  this.timeout(60_000);

  it("keeps the configuration from getting older, and what was revoked dead", async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 60, maxLength: 120 }), async (steps) => {
        const history = new History();
        const operators = [new Operator(history), new Operator(history), new Operator(history)];
        const timers = new ManualTimers();
        const wire = new Wire(operators, timers);
        const store = new SnapshotStore();
        let position = 0;
        /** How far its operator had come when it revoked a key. */
        const revokedAt = new Map<string, number>();
        store.onEvent((event) => {
          if (event.type === "revoked") {
            for (const id of event.keys) revokedAt.set(id.slice("key/team-a/".length), wire.revokedAt);
            return;
          }
          const now = positionOf(store.live);
          assert.ok(now >= position, `from ${position} to ${now}`);
          position = now;
        });
        const client = new PushClient({
          transport: wire,
          store,
          proxy: "proxy-1",
          build: "test",
          heartbeatMs: 1e9,
          deadMs: 1e9,
          timers,
          random: () => 0,
        });
        client.start();
        for (const one of [...steps, { type: "deliver" as const, count: 100 }]) {
          if (one.type === "event") history.add(one.name, one.state);
          else if (one.type === "follow") operators[one.operator]?.follow(one.count);
          else if (one.type === "publish") operators[one.operator]?.timers.advance(250);
          else if (one.type === "deliver") wire.deliver(one.count);
          else {
            wire.target = one.operator;
            wire.cut();
          }
          for (let turn = 0; turn < 3; turn += 1) await joinBatch();
          timers.advance(10_000);
          for (let turn = 0; turn < 2; turn += 1) await joinBatch();
          for (const name of victims) {
            const isLive = store.pin().findKey(sha256Of(`sk-${name}`))?.key.state === "Active";
            // Once the proxy is past the revocation, the configuration itself says what the key is.
            const isPast = position >= (revokedAt.get(name) ?? 0);
            if (isLive) assert.ok(isPast && !history.isDeadAt(name, position), `${name} lives at ${position}`);
          }
        }
        await client.close();
      }),
      { numRuns: 100 },
    );
  });
});
