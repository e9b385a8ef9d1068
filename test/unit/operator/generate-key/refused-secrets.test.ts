/** Secrets that a namespace, or the API server, refuses to take: who waits for that, and who does not. */
import assert from "node:assert/strict";
import type { WantedSecret } from "#operator/compile/result";
import { KeySecrets } from "#operator/generate-key/key-secrets";
import { ApiError } from "#operator/kubernetes/api/api-error";
import type { ApiKeyResource } from "#operator/resources/resource";
import { waitFor } from "#test/support/wait-for";

const wanted = (namespace: string, name: string): WantedSecret => ({
  namespace,
  secretName: name,
  key: "apiKey",
  prefix: "sk-",
  ownerName: name,
  credential: "current",
});
const many = (namespace: string, count: number) =>
  Array.from({ length: count }, (_, index) => wanted(namespace, `${namespace}-${index}`));
const quota = (name: string) =>
  new ApiError(`secrets "${name}" is forbidden: exceeded quota`, {
    code: "refused",
    status: 403,
    reason: "Forbidden",
  });

/** @param refusal of a Secret by its name; undefined: it is taken */
function open(asked: WantedSecret[], refusal: (name: string) => ApiError | undefined, retryMs = 60_000) {
  const tried: string[] = [];
  const created: string[] = [];
  const warnings: string[] = [];
  const apiKeys = new Map(
    asked.map(({ namespace, ownerName: name }): [string, ApiKeyResource] => [
      `${namespace}/${name}`,
      { kind: "ApiKey", metadata: { namespace, name, labels: {}, generation: 1, uid: `uid-${name}` } },
    ]),
  );
  const secrets = new KeySecrets({
    client: {
      create: async (_resource, object) => {
        const { name }: { name: string } = JSON.parse(JSON.stringify(object)).metadata;
        tried.push(name);
        const error = refusal(name);
        if (error !== undefined) throw error;
        created.push(name);
        return {};
      },
    },
    leadership: { isLeader: () => true },
    resources: { apiKeys },
    wanted: () => asked.filter(({ secretName }) => !created.includes(secretName)),
    randomBytes: (count) => new Uint8Array(count).fill(7),
    log: { info: () => undefined, warn: (line) => warnings.push(line) },
    retryMs,
  });
  const passes = async (count: number) => {
    for (let pass = 0; pass < count; pass += 1) {
      secrets.enqueue();
      for (let turns = 0; turns < 50; turns += 1) await Promise.resolve();
    }
  };
  return { secrets, tried, created, warnings, passes };
}

describe("secrets that are refused", () => {
  it("are not asked for at every pass, and told once for a namespace", async () => {
    const { secrets, tried, warnings, passes } = open(many("full", 100), quota);
    await passes(50);
    await secrets.close();
    assert.equal(tried.length, 8, "as many as were under way when the first was refused");
    assert.equal(warnings.length, 1);
  });

  it("hold up nobody elsewhere", async () => {
    const asked = [...many("full", 100), ...many("free", 100)];
    const { secrets, created, passes } = open(asked, (name) => (name.startsWith("full") ? quota(name) : undefined));
    await passes(50);
    await secrets.close();
    assert.equal(created.length, 100);
  });

  it("are all made soon after the quota was raised, and one was tried for at a time until then", async () => {
    let isRaised = false;
    const refusal = (name: string) => (isRaised ? undefined : quota(name));
    const { secrets, tried, created } = open(many("full", 100), refusal, 10);
    secrets.enqueue();
    await waitFor("some waits", () => tried.length >= 11);
    assert.equal(new Set(tried).size, tried.length, "what was not refused yet goes first");
    isRaised = true;
    await waitFor("all", () => created.length === 100);
    await secrets.close();
  });

  it("hold up nobody of their namespace where they are refused for their own sake", async () => {
    const denied = (name: string) => (name === "mixed-0" ? quota(name) : undefined);
    const { secrets, tried, created } = open(many("mixed", 30), denied, 10);
    secrets.enqueue();
    await waitFor("all others", () => created.length === 29);
    await waitFor("several tries of the one", () => tried.filter((name) => name === "mixed-0").length > 3);
    await secrets.close();
  });

  it("for want of an API server hold up everybody, as it would refuse them as well", async () => {
    const away = new ApiError("overloaded", { code: "refused", status: 503 });
    const asked = Array.from({ length: 50 }, (_, index) => wanted(`team-${index}`, `s${index}`));
    const { secrets, tried, warnings, passes } = open(asked, () => away);
    await passes(50);
    await secrets.close();
    assert.equal(tried.length, 8);
    assert.equal(warnings.length, 1);
  });
});
