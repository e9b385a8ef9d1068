import assert from "node:assert/strict";
import type { WantedSecret } from "../../../../operator/compile/result.ts";
import { KeySecrets } from "../../../../operator/generate-key/key-secrets.ts";
import { ApiError } from "../../../../operator/kubernetes/api-error.ts";
import type { ApiKeyResource } from "../../../../operator/resources/resource.ts";
import { waitFor } from "../../../support/wait-for.ts";

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
}) {
  const created: { metadata: { name: string; ownerReferences: { uid: string }[] }; stringData: object }[] = [];
  const lines: string[] = [];
  const replaced: string[] = [];
  const apiKeys = new Map(["a", "b"].map(owner));
  let attempts = 0;
  const secrets = new KeySecrets({
    client: {
      create: async (_resource, object) => {
        attempts += 1;
        const failure = options.fail?.(attempts);
        if (failure !== undefined) throw failure;
        created.push(JSON.parse(JSON.stringify(object)));
        return {};
      },
    },
    leadership: { isLeader: () => options.isLeader ?? true },
    resources: { apiKeys },
    hadKey: () => options.hadKey?.() ?? false,
    onReplaced: ({ secretName }) => replaced.push(secretName),
    wanted: () => options.wanted,
    randomBytes: (count) => new Uint8Array(count).fill(7),
    log: { info: (line) => lines.push(line), warn: (line) => lines.push(line) },
    retryMs: 10,
  });
  return { secrets, created, lines, replaced, apiKeys, attempts: () => attempts };
}

describe("key secrets", () => {
  it("are made once, owned by their keys, and never told", async () => {
    const { secrets, created, lines } = open({ wanted: [wanted("a"), wanted("b")] });
    secrets.look();
    secrets.look();
    await waitFor("both", () => created.length === 2);
    secrets.look();
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
    secrets.look();
    await secrets.close();
    assert.equal(attempts(), 0);
  });

  it("never replace one that stands there", async () => {
    const fail = () => new ApiError("it stands there", { code: "refused", status: 409, reason: "AlreadyExists" });
    const { secrets, created, attempts } = open({ wanted: [wanted("a")], fail });
    secrets.look();
    await waitFor("the attempt", () => attempts() === 1);
    await secrets.close();
    assert.equal(created.length, 0);
  });

  it("are tried for again after a failure, without anything else happening", async () => {
    const fail = (attempt: number) =>
      attempt < 3 ? new ApiError("forbidden", { code: "refused", status: 403 }) : undefined;
    const { secrets, created } = open({ wanted: [wanted("a")], fail });
    secrets.look();
    await waitFor("the third attempt", () => created.length === 1);
    await secrets.close();
  });

  it("are not made for a key that is gone", async () => {
    const { secrets, attempts } = open({ wanted: [wanted("gone")] });
    secrets.look();
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
    secrets.look();
    await waitFor("it to be made", () => created.length === 1);
    await secrets.close();
    assert.deepEqual(replaced, ["a-secret"]);
  });

  it("are nobody's replacement where there was no key before", async () => {
    const { secrets, created, replaced } = open({ wanted: [wanted("a")] });
    secrets.look();
    await waitFor("it to be made", () => created.length === 1);
    await secrets.close();
    assert.deepEqual(replaced, []);
  });

  it("are made for each object of a name", async () => {
    const { secrets, created, apiKeys } = open({ wanted: [wanted("a")] });
    secrets.look();
    await waitFor("the first", () => created.length === 1);
    const [, first] = owner("a");
    apiKeys.set("team-a/a", { ...first, metadata: { ...first.metadata, uid: "uid-next" } });
    secrets.look();
    await waitFor("the second", () => created.length === 2);
    await secrets.close();
    assert.equal(created[1]?.metadata.ownerReferences[0]?.uid, "uid-next");
  });
});
