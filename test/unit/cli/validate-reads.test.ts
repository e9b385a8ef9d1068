/** `tollgate validate` reads what the gateway reads of the same folder, and nothing else. */
import assert from "node:assert/strict";
import { mkdir, mkdtemp, rm, symlink, truncate, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { Readable } from "node:stream";
import { validateCommand } from "#cli/validate";
import { FolderSource } from "#operator/source/folder";
import { fileBytesMax } from "#operator/source/read-manifest-file";
import { projectRoot } from "#scripts/run";

const account = (name: string, spec = "{}") =>
  `apiVersion: tollgate.dev/v1alpha1\nkind: Account\nmetadata: {name: ${name}, namespace: a}\nspec: ${spec}\n`;

describe("tollgate validate, as the gateway,", () => {
  let folder = "";

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), "tollgate-validate-"));
    await mkdir(join(folder, "manifests"));
  });
  afterEach(() => rm(folder, { recursive: true, force: true }));

  const path = (name: string) => join(folder, "manifests", name);
  async function write(name: string, content: string | Buffer): Promise<string> {
    await mkdir(dirname(path(name)), { recursive: true });
    await writeFile(path(name), content);
    return path(name);
  }

  async function validate(
    file: string = path(""),
    stdin: string | Buffer = "",
  ): Promise<{ readonly status: number; readonly lines: string[] }> {
    let out = "";
    const stream = { write: (text: string) => (out += text) };
    const streams = { stdout: stream, stderr: stream, isTerminal: false, stdin: Readable.from([stdin]) };
    const status = await validateCommand([file], streams, ["127.0.0.1/32"]);
    return { status, lines: out.trimEnd().split("\n") };
  }

  /** The accounts that the gateway has of the folder, and the places that it has problems with. */
  async function gateway() {
    const source = new FolderSource({ folder: path("."), settleMs: 0 });
    try {
      await source.start();
      await source.refresh();
      const { accounts, problems } = source.current();
      const places = problems.map(({ origin, message }) => `${origin.file}:${origin.line} ${message}`);
      return { names: [...accounts.keys()].sort(), places };
    } finally {
      await source.close();
    }
  }

  it("follows links to folders, each folder once", async () => {
    await write("one.yaml", account("one"));
    await write("../elsewhere/two.yaml", account("two", "{credit: x}"));
    await symlink("../elsewhere", path("link"));
    await symlink(".", path("loop"));
    await symlink("nowhere.yaml", path("dangling.yaml"));
    const { status, lines } = await validate();
    assert.equal(status, 1);
    assert.ok(lines[0]?.startsWith(`${path("link/two.yaml")}:4:8  Account a/two  spec.credit  `), lines[0]);
    assert.equal(lines.at(-1), "2 objects, 2 files, 1 problem");
    assert.deepEqual((await gateway()).names, ["a/one", "a/two"]);
  });

  it("passes over hidden folders and files", async () => {
    await write("one.yaml", account("one"));
    await write(".git/two.yaml", "a: [");
    await write(".three.yaml", "a: [");
    assert.deepEqual(await validate(), { status: 0, lines: ["1 object, 1 file, no problems"] });
    assert.deepEqual(await gateway(), { names: ["a/one"], places: [] });
  });

  it("reads a file by its name, whatever that is", async () => {
    for (const name of [".hidden.yaml", "manifest.txt", ".hidden/manifest"]) {
      const file = await write(name, account("one", "{credit: x}"));
      assert.ok((await validate(file)).lines[0]?.startsWith(`${file}:4:8  `));
    }
  });

  for (const { name, content } of [
    { name: "in another encoding", content: Buffer.from(account("one").replace("{}", "{} # caf\xe9"), "latin1") },
    { name: "with a zero byte", content: Buffer.from(`${account("one")}# \0\n`) },
  ]) {
    it(`refuses a file ${name}`, async () => {
      const file = await write("one.yaml", content);
      const message = "The file is not UTF-8 text; save it as UTF-8, or give it another ending.";
      const wanted = { status: 1, lines: [`${file}:1:1  ${message}`, "0 objects, 1 file, 1 problem"] };
      assert.deepEqual(await validate(), wanted);
      assert.deepEqual(await validate(file), wanted);
      assert.equal((await validate("-", content)).lines[0], `(stdin):1:1  ${message}`);
      assert.deepEqual(await gateway(), { names: [], places: [`${file}:1 ${message}`] });
    });
  }

  it("does not read a file beyond the bound", async () => {
    const file = await write("one.yaml", "");
    // Sparse: it takes no space.
    await truncate(file, fileBytesMax + 1);
    const message = "The file is larger than 32 MiB; split it.";
    assert.deepEqual((await validate()).lines, [`${file}:1:1  ${message}`, "0 objects, 1 file, 1 problem"]);
    assert.deepEqual((await gateway()).places, [`${file}:1 ${message}`]);
  });

  it("tells apart the documents of a file before it parses them", async () => {
    const text = `${account("one")}--- # second\n${account("two", "{credit: [}")}---\n${account("three", "{credit: x}")}`;
    const file = await write("one.yaml", text);
    const { lines } = await validate();
    assert.match(lines[0] ?? "", new RegExp(`^${file}:9:`));
    assert.ok(lines.at(-2)?.startsWith(`${file}:14:8  Account a/three  spec.credit  `), lines.join("\n"));
    assert.ok((await gateway()).places.some((place) => place.startsWith(`${file}:9 The file is broken here`)));
  });

  for (const { name, text, hint } of [
    { name: "a Deployment", text: "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: X, oops: 1}\n", hint: "" },
    { name: "a Service", text: "apiVersion: v1\nkind: Service\nmetadata: {name: x}\n", hint: "" },
    { name: "what has no name", text: "apiVersion: kustomize.config.k8s.io/v1\nkind: Kustomization\n", hint: "" },
    {
      name: "somebody else's Channel",
      text: "apiVersion: messaging.knative.dev/v1\nkind: Channel\nmetadata: {name: x}\n",
      hint: "; write apiVersion tollgate.dev/v1alpha1 if the gateway's Channel is meant",
    },
  ]) {
    it(`passes over ${name} with a note`, async () => {
      const file = await write("one.yaml", `${account("one")}---\n${text}`);
      const { status, lines } = await validate();
      const version = /apiVersion: (.*)/.exec(text)?.[1];
      assert.equal(status, 0);
      assert.ok(lines[0]?.startsWith(`${file}:7:1  `), lines[0]);
      assert.ok(
        lines[0]?.endsWith(`note: ignored, here and by the gateway: its apiVersion is ${version}${hint}`),
        lines[0],
      );
      assert.equal(lines[1], "1 object, 1 file, no problems, 1 note");
      assert.deepEqual(await gateway(), { names: ["a/one"], places: [] });
    });
  }

  for (const version of ["tollgate.dev/v1", "v1"]) {
    it(`does not pass over an Account of ${version}`, async () => {
      const file = await write("one.yaml", account("one").replace("tollgate.dev/v1alpha1", version));
      const { status, lines } = await validate();
      assert.equal(status, 1);
      assert.match(
        lines[0] ?? "",
        /apiVersion {2}no matches for kind Account in version .*: use tollgate.dev\/v1alpha1$/,
      );
      assert.match((await gateway()).places.join(), new RegExp(`^${file}:1 .*This version has no kind `));
    });
  }

  it("says the field of a name that is none", async () => {
    const file = await write("one.yaml", account("../../one"));
    const message = "Invalid value: use lower-case letters, digits, '-' and '.', with a letter or digit at both ends";
    const { status, lines } = await validate();
    assert.equal(status, 1);
    assert.equal(lines[0], `${file}:3:12  Account a/../../one  metadata.name  ${message}`);
    assert.deepEqual(await gateway(), { names: [], places: [`${file}:3 ${message}.`] });
  });

  it("takes the project's own examples", async () => {
    for (const name of ["kubernetes", "quickstart"]) {
      const { status, lines } = await validate(join(projectRoot, "examples", name));
      assert.equal(status, 0, lines.join("\n"));
    }
  });
});
