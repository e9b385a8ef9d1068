/** The `Dockerfile` without an engine: what it copies is let through by `.dockerignore`, and is enough to make the images. */
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { cpSync, existsSync, mkdtempSync, readFileSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, it } from "mocha";
import { imageTargets } from "#scripts/image/targets";
import { projectRoot } from "#scripts/run";

const dockerfile = readFileSync(join(projectRoot, "Dockerfile"), "utf8");
const copied = [...dockerfile.matchAll(/^COPY (?!--from)(.*) \S+$/gm)].flatMap((match) => (match[1] ?? "").split(" "));
const letThrough = readFileSync(join(projectRoot, ".dockerignore"), "utf8")
  .split("\n")
  .filter((line) => line.startsWith("!"))
  .map((line) => line.slice(1));

describe("the Dockerfile", function () {
  this.timeout(120_000);
  let folder = "";

  before(() => {
    folder = mkdtempSync(join(tmpdir(), "tollgate-docker-"));
    for (const path of copied) cpSync(join(projectRoot, path), join(folder, path), { recursive: true });
    // What `npm ci` would install.
    symlinkSync(join(projectRoot, "node_modules"), join(folder, "node_modules"));
  });

  after(() => rmSync(folder, { recursive: true, force: true }));

  it("copies nothing that .dockerignore holds back, which lets through nothing else", () => {
    assert.deepEqual([...copied].sort(), [...letThrough].sort());
  });

  for (const name of Object.keys(imageTargets))
    it(`has all that the image ${name} is made of`, () => {
      assert.ok(dockerfile.includes(`node scripts/tasks/image.ts ${name} /images/${name}`));
      const out = join(folder, "images", name);
      const made = spawnSync(process.execPath, ["scripts/tasks/image.ts", name, out], {
        cwd: folder,
        encoding: "utf8",
      });
      assert.equal(made.status, 0, made.stderr);
      assert.ok(existsSync(join(out, "LICENSE")));
    });

  it("leaves no shell and no package manager in an image, and no rights to whoever runs it", () => {
    const final = dockerfile.slice(dockerfile.indexOf("FROM scratch AS runtime"));
    assert.doesNotMatch(final, /^RUN/m);
    assert.doesNotMatch(final, /^FROM (?!scratch|runtime)/m);
    assert.match(final, /^USER 65532:65532$/m);
  });
});
