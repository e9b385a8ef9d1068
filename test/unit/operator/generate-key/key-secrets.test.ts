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
});
const owner = (name: string): [string, ApiKeyResource] => [
  `team-a/${name}`,
  { kind: "ApiKey", metadata: { namespace: "team-a", name, labels: {}, generation: 1, uid: `uid-${name}` } },
];

function open(options: {
  wanted: WantedSecret[];
  isLeader?: boolean;
  fail?: (attempt: number) => ApiError | undefined;
}) {
  const created: { metadata: { name: string; ownerReferences: { uid: string }[] }; stringData: object }[] = [];
  const lines: string[] = [];
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
    resources: { apiKeys: new Map(["a", "b"].map(owner)) },
    wanted: () => options.wanted,
    randomBytes: (count) => new Uint8Array(count).fill(7),
    log: { info: (line) => lines.push(line), warn: (line) => lines.push(line) },
    retryMs: 10,
  });
  return { secrets, created, lines, attempts: () => attempts };
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
});
