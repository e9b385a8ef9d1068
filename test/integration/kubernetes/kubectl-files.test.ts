/**
 * Files as a person hands them to kubectl: the CRDs and every example, and the same reading of YAML as ours.
 */
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { basename, join } from "node:path";
import { promisify } from "node:util";
import { after, before, describe, it } from "mocha";
import { isJsonObject } from "#operator/schema/check-structure";
import { parseManifest } from "#operator/schema/parse-manifest";
import { projectRoot } from "#scripts/run";
import { findProgram, skipLoudly } from "#test/support/cluster/programs";
import { readExamples } from "#test/support/crd-examples";
import type { ControlPlane } from "#test/support/kube-control-plane";
import { controlPlaneOrSkip } from "#test/support/kubernetes/control-plane-or-skip";

const run = promisify(execFile);

/** What YAML 1.1, YAML 1.2 and Go read in different ways. */
const plainValues = [
  ..."y Y yes No NO on Off true TRUE ~ null Null 0 -0 01 010 08 0o10 0O7 0b11 0B1 0x1F 0X1f +1 1_000 1__0 1_ _1".split(
    " ",
  ),
  ..."1.0 1. .5 +.5 1_0.5 1e3 1E+3 1e400 e1 E5 1e --1 1:30 190:20:30 1:30.5 2026-01-02 2026-01-02T00:00:00Z = inf".split(
    " ",
  ),
];
const plainNames = ["1", "-5", "true", "false", "e1", "4o", "1.2.3", "_1", "only", "yess", "0o8", "1:30", "inf"];

describe("files given to kubectl", function () {
  this.timeout(120_000);
  let plane: ControlPlane;
  let kubectl: (args: readonly string[]) => Promise<string>;

  before(async function () {
    const program = findProgram("kubectl");
    if (program === undefined) return skipLoudly(this, "no kubectl");
    plane = await controlPlaneOrSkip(this);
    const kubeconfig = await plane.kubeconfig();
    kubectl = async (args) => {
      const options = { env: { KUBECONFIG: kubeconfig, HOME: plane.folder }, maxBuffer: 2 ** 26 };
      return (await run(program, [...args], options)).stdout;
    };
    await kubectl(["create", "-f", join(projectRoot, "crds")]);
    await kubectl(["wait", "--for=condition=Established", "--timeout=20s", "crd", "--all"]);
    for (const name of ["team-a", "quickstart"]) await kubectl(["create", "namespace", name]);
  });

  after(async () => {
    await plane?.stop();
  });

  it("are CRDs with the very fields that the files name", async () => {
    for (const file of ["accounts", "api-keys", "channels", "model-routes"]) {
      const path = join(projectRoot, "crds", `${file}.yaml`);
      const [document] = parseManifest(await readFile(path, "utf8")).documents;
      const stored = JSON.parse(await kubectl(["get", "-f", path, "-o", "json"]));
      const written = document?.object;
      assert.ok(isJsonObject(written) && isJsonObject(written["spec"]));
      const [version] = stored.spec.versions;
      assert.deepEqual([version.schema], schemasOf(written["spec"]["versions"]), file);
    }
  });

  it("are every valid example, taken by `kubectl apply --dry-run=server`", async () => {
    const examples = readExamples("valid");
    const folder = join(projectRoot, "crds", "examples", "valid");
    const taken = await kubectl(["apply", "--dry-run=server", "-f", folder]);
    assert.equal(taken.trim().split("\n").length, examples.length);
    const others = ["quickstart", "kubernetes"].map((name) => join(projectRoot, "examples", name));
    for (const path of others) assert.match(await kubectl(["apply", "--dry-run=server", "-f", path]), /server dry run/);
  });

  it("are every invalid example of a new object, refused", async () => {
    const folder = join(plane.folder, "invalid");
    await mkdir(folder);
    const examples = readExamples("invalid").filter(({ isChange }) => !isChange);
    for (const { file, name } of examples) await writeFile(join(folder, name), await readFile(file));
    const error: { stdout: string; stderr: string } = await kubectl(["apply", "--dry-run=server", "-f", folder]).then(
      (stdout) => ({ stdout, stderr: "" }),
      (refused) => refused,
    );
    assert.equal(error.stdout, "");
    for (const { file } of examples)
      assert.ok(error.stderr.includes(basename(file, ".yaml")) || error.stderr.includes(file), `${file} is not named`);
  });

  it("read as ours: plain values and names", async () => {
    const lines = [
      ...plainValues.map((value, index) => `  v${index}: ${value}`),
      ...plainNames.map((name) => `  ${name}: x`),
    ];
    const text = `apiVersion: v1\nkind: ConfigMap\nmetadata: {name: c, namespace: team-a}\ndata:\n${lines.join("\n")}\n`;
    const file = join(plane.folder, "plain.yaml");
    await writeFile(file, text);
    const theirs = JSON.parse(
      await kubectl(["create", "--dry-run=client", "--validate=false", "-o", "json", "-f", file]),
    );
    const [ours] = parseManifest(text).documents;
    assert.ok(isJsonObject(ours?.object));
    assert.deepEqual(theirs.data, JSON.parse(JSON.stringify(ours.object["data"])));
  });
});

function schemasOf(versions: unknown): unknown {
  return Array.isArray(versions) ? versions.map(({ schema }) => schema) : undefined;
}
