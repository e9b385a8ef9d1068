import assert from "node:assert/strict";
import { setImmediate } from "node:timers/promises";
import type { WantedSecret } from "#operator/compile/result";
import { KeySecrets } from "#operator/generate-key/key-secrets";
import { ApiError } from "#operator/kubernetes/api/api-error";
import type { ApiKeyResource } from "#operator/resources/resource";
import { waitFor } from "#test/support/wait-for";

const wanted = (name: string): WantedSecret => ({
  namespace: "team-a",
  secretName: `${name}-secret`,
  key: "apiKey",
  prefix: "sk-",
  ownerName: name,
  credential: "current",
});
const owner = (name: string): [string, ApiKeyResource] => [
  `team-a/${name}`,
  { kind: "ApiKey", metadata: { namespace: "team-a", name, labels: {}, generation: 1, uid: `uid-${name}` } },
];

function open(options: {
  wanted: WantedSecret[];
  isLeader?: boolean;
  fail?: (attempt: number) => ApiError | undefined;
  hadKey?: () => boolean;
  /** Each write ends when this has resolved. */
  answer?: (name: string) => Promise<void>;
}) {
  const created: { metadata: { name: string; ownerReferences: { uid: string }[] }; stringData: object }[] = [];
  const lines: string[] = [];
  const replaced: string[] = [];
  const apiKeys = new Map(["a", "b", ...options.wanted.map(({ ownerName }) => ownerName)].map(owner));
  apiKeys.delete("team-a/gone");
  const leader = { isLeader: () => options.isLeader ?? true };
  let attempts = 0;
  let inFlight = 0;
  let inFlightMost = 0;
  const secrets = new KeySecrets({
    client: {
      create: async (_resource, object) => {
        attempts += 1;
        const failure = options.fail?.(attempts);
        inFlight += 1;
        inFlightMost = Math.max(inFlightMost, inFlight);
        await (options.answer?.(JSON.parse(JSON.stringify(object)).metadata.name) ?? Promise.resolve());
        inFlight -= 1;
        if (failure !== undefined) throw failure;
        created.push(JSON.parse(JSON.stringify(object)));
        return {};
      },
    },
    leadership: leader,
    resources: { apiKeys },
    hadKey: () => options.hadKey?.() ?? false,
    onReplaced: ({ secretName }) => replaced.push(secretName),
    wanted: () => options.wanted,
    randomBytes: (count) => new Uint8Array(count).fill(7),
    log: { info: (line) => lines.push(line), warn: (line) => lines.push(line) },
    retryMs: 10,
  });
  const takeMost = () => {
    const most = inFlightMost;
    inFlightMost = 0;
    return most;
  };
  return { secrets, created, lines, replaced, apiKeys, leader, takeMost, attempts: () => attempts };
}

const joinBatch = (): Promise<void> => setImmediate();
const many = (count: number) => Array.from({ length: count }, (_, index) => wanted(`k${index}`));

describe("key secrets", () => {
  it("are made once, owned by their keys, and never told", async () => {
    const { secrets, created, lines } = open({ wanted: [wanted("a"), wanted("b")] });
    secrets.enqueue();
    secrets.enqueue();
    await waitFor("both", () => created.length === 2);
    secrets.enqueue();
    await secrets.close();
    assert.deepEqual(
      created.map(({ metadata }) => [metadata.name, metadata.ownerReferences[0]?.uid]),
      [
        ["a-secret", "uid-a"],
        ["b-secret", "uid-b"],
      ],
    );
    const { apiKey } = JSON.parse(JSON.stringify(created[0]?.stringData));
    assert.match(apiKey, /^sk-[A-Za-z0-9_-]{43}$/);
    assert.ok(!lines.join("\n").includes(apiKey.slice(3)));
  });

  it("are the leader's business alone", async () => {
    const { secrets, attempts } = open({ wanted: [wanted("a")], isLeader: false });
    secrets.enqueue();
    await secrets.close();
    assert.equal(attempts(), 0);
  });

  it("never replace one that stands there", async () => {
    const fail = () => new ApiError("it stands there", { code: "refused", status: 409, reason: "AlreadyExists" });
    const { secrets, created, attempts } = open({ wanted: [wanted("a")], fail });
    secrets.enqueue();
    await waitFor("the attempt", () => attempts() === 1);
    await secrets.close();
    assert.equal(created.length, 0);
  });

  it("are tried for again after a failure, without anything else happening", async () => {
    const fail = (attempt: number) =>
      attempt < 3 ? new ApiError("forbidden", { code: "refused", status: 403 }) : undefined;
    const { secrets, created } = open({ wanted: [wanted("a")], fail });
    secrets.enqueue();
    await waitFor("the third attempt", () => created.length === 1);
    await secrets.close();
  });

  it("are not made for a key that is gone", async () => {
    const { secrets, attempts } = open({ wanted: [wanted("gone")] });
    secrets.enqueue();
    await secrets.close();
    assert.equal(attempts(), 0);
  });

  it("are told where they take the place of a key, also when status has forgotten it meanwhile", async () => {
    let isShown = true;
    const fail = (attempt: number) => {
      isShown = false;
      return attempt < 3 ? new ApiError("away", { code: "refused", status: 500 }) : undefined;
    };
    const { secrets, created, replaced } = open({ wanted: [wanted("a")], fail, hadKey: () => isShown });
    secrets.enqueue();
    await waitFor("it to be made", () => created.length === 1);
    await secrets.close();
    assert.deepEqual(replaced, ["a-secret"]);
  });

  it("are nobody's replacement where there was no key before", async () => {
    const { secrets, created, replaced } = open({ wanted: [wanted("a")] });
    secrets.enqueue();
    await waitFor("it to be made", () => created.length === 1);
    await secrets.close();
    assert.deepEqual(replaced, []);
  });

  it("are made several at a time, each once, and not more than eight", async () => {
    const first = Promise.withResolvers<void>();
    const { secrets, created, takeMost } = open({
      wanted: many(100),
      answer: (name) => (name === "k0-secret" ? first.promise : joinBatch()),
    });
    secrets.enqueue();
    // One that hangs stands in the way of no other.
    await waitFor("all but the first", () => created.length === 99);
    first.resolve();
    await secrets.close();
    assert.equal(takeMost(), 8);
    assert.equal(new Set(created.map(({ metadata }) => metadata.name)).size, 100);
  });

  it("are tried for one at a time while the API server refuses, and several at a time again when it takes one", async () => {
    const fail = (attempt: number) =>
      attempt <= 12 ? new ApiError("too many", { code: "refused", status: 429 }) : undefined;
    const mosts: number[] = [];
    const { secrets, created, takeMost, attempts } = open({
      wanted: many(40),
      fail,
      answer: async () => {
        if (attempts() === 9 || attempts() === 12) mosts.push(takeMost());
        await joinBatch();
      },
    });
    secrets.enqueue();
    await waitFor("all", () => created.length === 40);
    mosts.push(takeMost());
    await secrets.close();
    assert.deepEqual(mosts, [8, 1, 8]);
  });

  it("are no longer made from the moment on at which another leads", async () => {
    const { secrets, leader, attempts } = open({
      wanted: many(40),
      answer: async () => {
        leader.isLeader = () => false;
        await joinBatch();
      },
    });
    secrets.enqueue();
    await secrets.close();
    assert.equal(attempts(), 1);
  });

  it("that two keys ask for under one name are made one after the other: who asked first has it", async () => {
    const asked = ["a", "b"].map((name) => ({ ...wanted(name), secretName: "shared" }));
    const taken = new ApiError("it stands there", { code: "refused", status: 409, reason: "AlreadyExists" });
    const { secrets, created, attempts, takeMost } = open({
      wanted: asked,
      fail: (attempt) => (attempt > 1 ? taken : undefined),
      answer: joinBatch,
    });
    secrets.enqueue();
    await waitFor("both", () => attempts() === 2);
    await secrets.close();
    assert.equal(takeMost(), 1);
    assert.deepEqual(
      created.map(({ metadata }) => metadata.ownerReferences[0]?.uid),
      ["uid-a"],
    );
  });

  it("are made for each object of a name", async () => {
    const { secrets, created, apiKeys } = open({ wanted: [wanted("a")] });
    secrets.enqueue();
    await waitFor("the first", () => created.length === 1);
    const [, first] = owner("a");
    apiKeys.set("team-a/a", { ...first, metadata: { ...first.metadata, uid: "uid-next" } });
    secrets.enqueue();
    await waitFor("the second", () => created.length === 2);
    await secrets.close();
    assert.equal(created[1]?.metadata.ownerReferences[0]?.uid, "uid-next");
  });
});
