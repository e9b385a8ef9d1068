import assert from "node:assert/strict";
import fc from "fast-check";
import { AttemptHistory } from "#proxy/route/attempt-history";
import { chatFormatsFor } from "#proxy/route/chat-formats";
import type { FailoverCondition } from "#proxy/route/failover";
import { type SelectedTarget, selectTarget, spokenFormat } from "#proxy/route/select-target";
import type { Channel, Route, WireObject } from "#proxy/snapshot/types.gen";
import { snapshotWith } from "#test/support/snapshot-of";
import { wireChannel, wireCredential, wireRoute } from "#test/support/wire-objects";

type Target = Route["targets"][number];

const chatCall = { model: "m", capability: "Chat", formats: chatFormatsFor("ChatCompletions") } as const;

function target(name: string, changes: Partial<Target> = {}): Target {
  return { name, channel: `team-a/${name}`, priority: 0, weight: 1, ...changes };
}

/** Each channel with a secret of its own, so that the choice of a credential can be seen. */
function open(name: string, changes: Partial<Channel> = {}): readonly WireObject[] {
  return [wireChannel(name, changes), wireCredential(name, "main", `secret-of-${name}`)];
}

interface Choice {
  readonly targets: readonly Target[];
  readonly objects: readonly WireObject[];
  readonly excluded?: readonly string[];
  readonly random?: () => number;
}

function triedOf(targets: readonly string[]): AttemptHistory {
  const tried = new AttemptHistory();
  for (const name of targets) tried.addTarget(name);
  return tried;
}

function choose({ targets, objects, excluded = [], random = () => 0 }: Choice): SelectedTarget | undefined {
  const route = wireRoute("m", { targets: [...targets] });
  const snapshot = snapshotWith(route, ...objects);
  return selectTarget({ route, ...chatCall, snapshot, tried: triedOf(excluded), random });
}

/** How often each name is chosen when the random number takes `steps` even values. */
function shares(choice: Choice, nameOf: (selected: SelectedTarget) => string, steps = 1_000): Record<string, number> {
  const route = wireRoute("m", { targets: [...choice.targets] });
  const snapshot = snapshotWith(route, ...choice.objects);
  const counts: Record<string, number> = {};
  for (let step = 0; step < steps; step += 1) {
    const random = (): number => (step + 0.5) / steps;
    const selected = selectTarget({ route, ...chatCall, snapshot, tried: new AttemptHistory(), random });
    assert.ok(selected !== undefined);
    const name = nameOf(selected);
    counts[name] = (counts[name] ?? 0) + 1;
  }
  return counts;
}

const credentials = [{ name: "main", weight: 1, state: "Active" as const }];

describe("selectTarget()", () => {
  const two = [...open("a"), ...open("b")];
  for (const row of [
    { name: "has none of no targets", targets: [], objects: two, want: undefined },
    {
      name: "takes the least number of priority",
      targets: [target("a", { priority: 1 }), target("b")],
      objects: two,
      want: "b",
    },
    {
      name: "does not let weight outvote priority",
      targets: [target("a", { priority: 1, weight: 1_000 }), target("b", { weight: 1 })],
      objects: two,
      want: "b",
    },
    {
      name: "never takes one that was tried",
      targets: [target("a"), target("b", { priority: 1 })],
      objects: two,
      excluded: ["a"],
      want: "b",
    },
    {
      name: "has none left when all were tried",
      targets: [target("a")],
      objects: two,
      excluded: ["a"],
      want: undefined,
    },
    {
      name: "passes by a channel that is not there",
      targets: [target("gone"), target("b", { priority: 5 })],
      objects: two,
      want: "b",
    },
    ...(["Draining", "Disabled"] as const).flatMap((state) => [
      {
        name: `passes by a channel that is ${state}`,
        targets: [target("a"), target("b", { priority: 1 })],
        objects: [...open("a", { state }), ...open("b")],
        want: "b",
      },
      {
        name: `passes by a channel whose only credential is ${state}`,
        targets: [target("a"), target("b", { priority: 1 })],
        objects: [...open("a", { credentials: [{ name: "main", weight: 1, state }] }), ...open("b")],
        want: "b",
      },
    ]),
    {
      name: "passes by a channel whose secret is missing",
      targets: [target("a"), target("b", { priority: 1 })],
      objects: [wireChannel("a"), ...open("b")],
      want: "b",
    },
    {
      name: "passes by a channel without a chat format",
      targets: [target("a"), target("b", { priority: 1 })],
      objects: [...open("a", { formats: [{ type: "Embeddings", path: "/embeddings" }] }), ...open("b")],
      want: "b",
    },
    {
      name: "takes a channel that needs no credential",
      targets: [target("a")],
      objects: [wireChannel("a", { credentials: [] })],
      want: "a",
    },
    {
      name: "takes none of weight 0, though no other is left",
      targets: [target("a", { weight: 0 }), target("b")],
      objects: two,
      excluded: ["b"],
      want: undefined,
    },
    {
      name: "goes on to the next tier from one whose targets have weight 0",
      targets: [target("a", { weight: 0 }), target("b", { priority: 1 })],
      objects: two,
      want: "b",
    },
  ]) {
    it(row.name, () => assert.equal(choose(row)?.target.name, row.want));
  }

  it("brings the channel, its credential and the format's path", () => {
    const selected = choose({ targets: [target("a")], objects: two });
    assert.equal(selected?.channel.name, "a");
    assert.equal(selected?.credential?.secret, "secret-of-a");
    assert.equal(selected?.path, "/chat/completions");
    assert.equal(
      choose({ targets: [target("a")], objects: [wireChannel("a", { credentials: [] })] })?.credential,
      undefined,
    );
  });

  it("shares calls by weight within the first tier", () => {
    const targets = [
      target("a", { weight: 7 }),
      target("b", { weight: 2 }),
      target("c"),
      target("d", { weight: 0 }),
      target("e", { priority: 1, weight: 90 }),
    ];
    const objects = ["a", "b", "c", "d", "e"].flatMap((name) => open(name));
    assert.deepEqual(
      shares({ targets, objects }, ({ target: { name } }) => name),
      { a: 700, b: 200, c: 100 },
    );
  });

  it("takes a credential of weight 0 when no other is live", () => {
    const pool = [
      { name: "main", weight: 1, state: "Disabled" as const },
      { name: "spare", weight: 0, state: "Active" as const },
    ];
    const objects = [wireChannel("a", { credentials: pool }), wireCredential("a", "spare", "secret-of-spare")];
    assert.equal(choose({ targets: [target("a")], objects })?.credential?.secret, "secret-of-spare");
  });

  it("shares a channel's calls among its live credentials by weight", () => {
    const pool = [
      { name: "main", weight: 3, state: "Active" as const },
      { name: "second", weight: 1, state: "Active" as const },
      { name: "spare", weight: 0, state: "Active" as const },
      { name: "missing", weight: 50, state: "Active" as const },
      { name: "old", weight: 50, state: "Draining" as const },
      { name: "off", weight: 50, state: "Disabled" as const },
    ];
    const objects = [
      wireChannel("a", { credentials: pool }),
      ...["main", "second", "spare", "old", "off"].map((name) => wireCredential("a", name, name)),
    ];
    const counts = shares({ targets: [target("a")], objects }, ({ credential }) => credential?.secret ?? "");
    assert.deepEqual(counts, { main: 750, second: 250 });
  });

  it("takes a rotated secret from the new snapshot, not from the old one", () => {
    const route = wireRoute("m", { targets: [target("a")] });
    const channel = wireChannel("a", { credentials });
    const secretIn = (secret: string): string | undefined => {
      const snapshot = snapshotWith(route, channel, wireCredential("a", "main", secret));
      return selectTarget({ route, ...chatCall, snapshot, tried: new AttemptHistory(), random: () => 0 })?.credential
        ?.secret;
    };
    assert.equal(secretIn("before"), "before");
    assert.equal(secretIn("after"), "after");
  });

  it("walks through all usable targets by priority, each once, whatever the random numbers", () => {
    const entry = fc.record({ priority: fc.nat(3), weight: fc.nat(5), isUsable: fc.boolean() });
    fc.assert(
      fc.property(
        fc.array(entry, { maxLength: 8 }),
        fc.infiniteStream(fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true })),
        (entries, numbers) => {
          const targets = entries.map(({ priority, weight }, index) => target(`t${index}`, { priority, weight }));
          const objects = entries.flatMap(({ isUsable }, index) =>
            open(`t${index}`, { state: isUsable ? "Active" : "Disabled" }),
          );
          const route = wireRoute("m", { targets });
          const snapshot = snapshotWith(route, ...objects);
          const excluded = new Set<string>();
          const tried = new AttemptHistory();
          const seen: number[] = [];
          for (;;) {
            const random = (): number => numbers.next().value;
            const selected = selectTarget({ route, ...chatCall, snapshot, tried, random });
            if (selected === undefined) break;
            assert.ok(!excluded.has(selected.target.name));
            excluded.add(selected.target.name);
            tried.addTarget(selected.target.name);
            seen.push(selected.target.priority);
          }
          assert.equal(excluded.size, entries.filter(({ isUsable, weight }) => isUsable && weight > 0).length);
          assert.deepEqual(seen, [...seen].sort());
        },
      ),
      { numRuns: 50 },
    );
  });
});

describe("selectTarget() after a credential failed", () => {
  const names = ["one", "two", "three"];
  const pool = names.map((name) => ({ name, weight: 1, state: "Active" as const }));
  const pooled = [wireChannel("a", { credentials: pool }), ...names.map((name) => wireCredential("a", name, name))];
  const targets = [target("a"), target("b", { priority: 1 })];

  /** Targets and credentials in the order in which a call asks them, each failing for the same reason. */
  function walk(condition: FailoverCondition, choice: Choice, attempts = 10): string[] {
    const route = wireRoute("m", { targets: [...choice.targets] });
    const snapshot = snapshotWith(route, ...choice.objects);
    const tried = new AttemptHistory();
    const seen: string[] = [];
    while (seen.length < attempts) {
      const selected = selectTarget({ route, ...chatCall, snapshot, tried, random: () => 0 });
      if (selected === undefined) {
        if (tried.reopen()) continue;
        break;
      }
      seen.push(`${selected.target.name}:${selected.credential?.name ?? "none"}`);
      tried.addTarget(selected.target.name);
      tried.addFailure(selected.target.name, selected.credential?.name, condition, attempts - seen.length);
    }
    return seen;
  }

  for (const row of [
    { condition: "CredentialRejected", want: ["a:one", "a:two", "a:three", "b:main"] },
    { condition: "PaymentRequired", want: ["a:one", "b:main", "a:two", "a:three"] },
    { condition: "RateLimited", want: ["a:one", "b:main", "a:two", "a:three"] },
    { condition: "ServerError", want: ["a:one", "b:main"] },
    { condition: "ConnectFailure", want: ["a:one", "b:main"] },
  ] satisfies readonly { condition: FailoverCondition; want: readonly string[] }[]) {
    it(`goes on as ${row.condition} wants`, () => {
      assert.deepEqual(walk(row.condition, { targets, objects: [...pooled, ...open("b")] }), row.want);
    });
  }

  it("leaves the last attempt to a target of its own", () => {
    const objects = [...pooled, ...open("b")];
    assert.deepEqual(walk("CredentialRejected", { targets, objects }, 3), ["a:one", "a:two", "b:main"]);
    const alone = { targets: [target("a")], objects };
    assert.deepEqual(walk("CredentialRejected", alone, 3), ["a:one", "a:two", "a:three"]);
  });

  it("asks a channel without credentials once", () => {
    const objects = [wireChannel("a", { credentials: [] })];
    assert.deepEqual(walk("CredentialRejected", { targets: [target("a")], objects }), ["a:none"]);
  });

  it("keeps a call that goes on from an earlier one at the credential that made that", () => {
    const route = wireRoute("m", { targets });
    const snapshot = snapshotWith(route, ...pooled, ...open("b"));
    const affinity = { channel: "team-a/a", credential: "one" };
    const tried = new AttemptHistory();
    const select = () =>
      selectTarget({ route, ...chatCall, snapshot, tried, affinity, random: () => 0.9 })?.credential?.name;
    assert.equal(select(), "one");
    tried.addFailure("a", "one", "CredentialRejected", 2);
    assert.equal(select(), undefined);
  });
});

describe("spokenFormat()", () => {
  const all = ["ChatCompletions", "Responses", "Messages", "GenerateContent"] as const;
  const channelOf = (...formats: readonly string[]): Channel =>
    wireChannel("a", {
      formats: all.filter((type) => formats.includes(type)).map((type) => ({ type, path: `/${type}` })),
    });

  for (const format of all) {
    it(`keeps ${format} where the channel speaks it`, () => {
      assert.deepEqual(spokenFormat(channelOf(...all), chatFormatsFor(format)), {
        format,
        path: `/${format}`,
        dialect: undefined,
      });
    });
    for (const other of all.filter((it) => it !== format)) {
      it(`turns ${format} to ${other} where the channel speaks nothing else`, () => {
        assert.deepEqual(spokenFormat(channelOf(other), chatFormatsFor(format)), {
          format: other,
          path: `/${other}`,
          dialect: undefined,
        });
      });
    }
  }

  it("pitfall 151: is Responses before chat completions for generateContent clients whose call is better said there", () => {
    const both = channelOf("ChatCompletions", "Responses");
    assert.equal(spokenFormat(both, chatFormatsFor("GenerateContent"))?.format, "ChatCompletions");
    assert.equal(spokenFormat(both, chatFormatsFor("GenerateContent", true))?.format, "Responses");
    assert.equal(
      spokenFormat(channelOf("ChatCompletions"), chatFormatsFor("GenerateContent", true))?.format,
      "ChatCompletions",
    );
    for (const format of all)
      assert.equal(spokenFormat(channelOf(...all), chatFormatsFor(format, true))?.format, format);
  });

  it("is none for a channel without a chat format", () => {
    assert.equal(
      spokenFormat(wireChannel("a", { formats: [{ type: "Embeddings", path: "/e" }] }), chatFormatsFor("Messages")),
      undefined,
    );
  });
});
