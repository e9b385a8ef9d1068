import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { generateSecret, mintKey } from "#operator/generate-key/generate-secret";
import { clientKeyPattern } from "#operator/resources/api-key";
import { compileText, resourcesOf } from "#test/support/compile-manifests";

const key = `
apiVersion: tollgate.dev/v1alpha1
kind: ApiKey
metadata: {name: bot, namespace: a}
spec: {credentials: [{name: one, generate: {secretName: bot-key, prefix: sk-a-}}]}
`;

describe("generateSecret()", () => {
  let folder: string;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), "tollgate-generate-"));
  });
  afterEach(() => rmSync(folder, { recursive: true }));
  const secrets = () => join(folder, "secrets");

  it("writes a Secret that makes the key live, readable by the owner alone", async () => {
    const [wanted] = compileText(key).wantedSecrets;
    assert.ok(wanted);
    const path = await generateSecret(wanted, secrets(), randomBytes);
    assert.ok(path);
    assert.equal(statSync(path).mode & 0o777, 0o600);
    assert.equal(statSync(secrets()).mode & 0o777, 0o700);
    assert.deepEqual(readdirSync(secrets()), ["a.bot-key.yaml"]);
    const compiled = compileText(`${key}---\n${readFileSync(path, "utf8")}`);
    assert.ok(compiled.objects.has("key/a/bot"));
    assert.deepEqual(compiled.wantedSecrets, []);
  });

  it("makes it for that key alone: another that names it later is refused and told what to do", async () => {
    const [wanted] = compileText(key).wantedSecrets;
    assert.ok(wanted);
    const path = (await generateSecret(wanted, secrets(), randomBytes)) ?? assert.fail();
    const secret = readFileSync(path, "utf8");
    const other = key.replace("name: bot,", "name: heir,");
    const compiled = compileText(`${other}---\n${secret}`);
    assert.equal(compiled.objects.has("key/a/heir"), false);
    const { status, reason, message } = compiled.results.get("key/a/heir")?.resolvedRefs ?? assert.fail();
    assert.equal(
      `${status} ${reason}: ${message}`,
      "False InvalidSecret: Credential one: Secret bot-key belongs to ApiKey bot; name another in generate.secretName, or remove manifests.yaml when that key is no longer needed.",
    );
    // Whoever names it on purpose may have it, and so may anybody whom its manifest names instead.
    const named = other.replace("generate: {secretName: bot-key, prefix: sk-a-}", "secretKeyRef: {name: bot-key}");
    assert.ok(compileText(`${named}---\n${secret}`).objects.has("key/a/heir"));
    assert.ok(compileText(`${other}---\n${secret.replace("ApiKey/bot", "ApiKey/heir")}`).objects.has("key/a/heir"));
  });

  it("never overwrites, whoever wrote the file", async () => {
    const [wanted] = compileText(key).wantedSecrets;
    assert.ok(wanted);
    const path = await generateSecret(wanted, secrets(), randomBytes);
    assert.ok(path);
    writeFileSync(path, "theirs");
    assert.equal(await generateSecret(wanted, secrets(), randomBytes), undefined);
    assert.equal(readFileSync(path, "utf8"), "theirs");
    assert.deepEqual(readdirSync(secrets()), ["a.bot-key.yaml"]);
  });

  for (const names of [
    { namespace: ".." },
    { secretName: "../one" },
    { namespace: "a/../.." },
    { secretName: ".one" },
  ]) {
    it(`writes nothing for names that lead elsewhere: ${Object.values(names).join()}`, async () => {
      const [wanted] = compileText(key).wantedSecrets;
      assert.ok(wanted);
      await assert.rejects(generateSecret({ ...wanted, ...names }, secrets(), randomBytes), /cannot be the name/);
      assert.deepEqual(readdirSync(folder), []);
    });
  }

  it("mints 256 bits from the given randomness alone", () => {
    const minted = mintKey("sk-", (count) => new Uint8Array(count).fill(255));
    assert.equal(minted, `sk-${"_".repeat(42)}8`);
    assert.match(minted, clientKeyPattern);
    assert.equal(resourcesOf(key).problems.length, 0);
  });
});
