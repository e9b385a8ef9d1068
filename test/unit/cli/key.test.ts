import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { describe, it } from "mocha";
import { createKey, renderKeyManifest, runKey } from "#cli/commands/key";
import { UsageError } from "#cli/settings/read-settings";
import { parseManifest } from "#operator/schema/parse-manifest";
import { validateResource } from "#operator/schema/validate-resource";

describe("tollgate key", () => {
  it("makes keys of 256 bits that begin with sk-, each another", () => {
    const one = createKey();
    assert.match(one.secret, /^sk-[A-Za-z0-9_-]{43}$/);
    assert.notEqual(one.secret, createKey().secret);
    assert.equal(one.sha256, createHash("sha256").update(one.secret).digest("hex"));
  });

  it("prints a valid manifest that holds the digest and not the key", () => {
    const key = createKey();
    const text = renderKeyManifest(key, "team-a", "bot");
    assert.equal(text.includes(key.secret), false);
    const { documents, problems } = parseManifest(text);
    assert.deepEqual(problems, []);
    assert.deepEqual(validateResource(documents[0]?.object).problems, []);
  });

  it("prints the manifest alone, so that it can be piped and kept; the key goes to the terminal, once", () => {
    const printed = { stdout: "", stderr: "" };
    const stream = (name: "stdout" | "stderr") => ({
      write(text: string) {
        printed[name] += text;
      },
    });
    assert.equal(runKey("default", "bot", { stdout: stream("stdout"), stderr: stream("stderr") }), 0);
    assert.doesNotMatch(printed.stdout, /sk-/);
    const { documents, problems } = parseManifest(printed.stdout);
    assert.deepEqual(problems, []);
    assert.equal(documents.length, 1);
    assert.deepEqual(validateResource(documents[0]?.object).problems, []);
    assert.equal(printed.stderr.match(/sk-[A-Za-z0-9_-]{43}/g)?.length, 1);
    const [key = ""] = /sk-[\w-]+/.exec(printed.stderr) ?? [];
    const sha256 = createHash("sha256").update(key).digest("hex");
    for (const text of [printed.stdout, printed.stderr]) assert.ok(text.includes(sha256), text);
  });

  it("refuses names that no cluster takes, each with what to do, and prints no key", () => {
    const nowhere = { write: () => assert.fail("nothing is printed") };
    for (const { namespace, name, flags } of [
      { namespace: "A b", name: "CI_Bot", flags: ["--name", "--namespace"] },
      { namespace: "team.a", name: "bot", flags: ["--namespace"] },
      { namespace: "team-a", name: "../bot", flags: ["--name"] },
      { namespace: "team-a", name: "", flags: ["--name"] },
    ]) {
      assert.throws(
        () => runKey(namespace, name, { stdout: nowhere, stderr: nowhere }),
        (error) => {
          assert.ok(error instanceof UsageError);
          assert.deepEqual(
            error.problems.map((problem) => problem.split(":")[0]),
            flags,
          );
          for (const problem of error.problems)
            assert.match(problem, /: (use lower-case letters|give the object a name)/);
          return true;
        },
      );
    }
  });
});
