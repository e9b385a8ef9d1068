import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { WantedSecret } from "#operator/compile/result";
import { KeyFiles } from "#operator/generate-key/key-files";
import { waitFor } from "#test/support/wait-for";

const wantedOf = (name: string): WantedSecret => ({
  namespace: "a",
  secretName: `${name}-key`,
  key: "apiKey",
  prefix: "sk-",
  ownerName: name,
  credential: "current",
});

describe("key files", () => {
  let folder: string;
  let files: KeyFiles;
  let wanted: WantedSecret[];
  let lines: string[];
  let madeCount: number;
  const secrets = () => join(folder, "secrets");

  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), "tollgate-key-files-"));
    wanted = [];
    lines = [];
    madeCount = 0;
    files = new KeyFiles({
      folder: secrets(),
      wanted: () => wanted,
      randomBytes,
      log: { info: (line) => lines.push(line), error: (line) => lines.push(line) },
      onMade: () => {
        madeCount += 1;
      },
      retryMs: 10,
    });
  });
  afterEach(async () => {
    await files.close();
    rmSync(folder, { recursive: true });
  });

  it("are written once, each", async () => {
    await files.reconcile();
    wanted = [wantedOf("one"), wantedOf("two")];
    await Promise.all([files.reconcile(), files.reconcile()]);
    await files.reconcile();
    assert.deepEqual(readdirSync(secrets()), ["a.one-key.yaml", "a.two-key.yaml"]);
    assert.deepEqual([madeCount, lines.length], [1, 2]);
  });

  it("that cannot be written are told once and tried again while somebody waits, without anything else happening", async () => {
    writeFileSync(secrets(), "in the way");
    wanted = [wantedOf("one")];
    await files.reconcile();
    await files.reconcile();
    const path = join(secrets(), "a.one-key.yaml");
    assert.equal(lines.length, 1);
    assert.ok(lines[0]?.startsWith(`ApiKey a/one: cannot write the key to ${path}: EEXIST`), lines[0]);
    rmSync(secrets());
    await waitFor("the key", () => madeCount === 1);
    assert.deepEqual(readdirSync(secrets()), ["a.one-key.yaml"]);
    assert.equal(lines[1], `ApiKey a/one: wrote a new key to ${path}`);
  });

  it("that cannot be written do not stand in the way of others", async () => {
    // A name that no file system takes, as the path of one would be.
    wanted = [wantedOf("x".repeat(300)), wantedOf("one")];
    await files.reconcile();
    assert.deepEqual(readdirSync(secrets()), ["a.one-key.yaml"]);
    assert.equal(madeCount, 1);
  });

  it("are not tried again for a key that nobody waits for any more", async () => {
    writeFileSync(secrets(), "in the way");
    wanted = [wantedOf("one")];
    await files.reconcile();
    wanted = [];
    rmSync(secrets());
    await new Promise((resolve) => setTimeout(resolve, 50));
    mkdirSync(secrets());
    assert.deepEqual([readdirSync(secrets()), madeCount], [[], 0]);
  });
});
