import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { apiKey } from "#test/support/resource-documents";

describe("validateResource() in a hardened process", () => {
  it("needs no code generation from strings", () => {
    const module = new URL("../../../../../operator/schema/validate-resource.ts", import.meta.url).href;
    const script = `const { validateResource } = await import(${JSON.stringify(module)});
      process.stdout.write(String(validateResource(${JSON.stringify(apiKey({ limits: [] }))}).problems.length));`;
    const nodeArguments = ["--disallow-code-generation-from-strings", "--input-type=module", "-e", script];
    const { stdout, stderr } = spawnSync(process.execPath, nodeArguments, { encoding: "utf8" });
    assert.equal(stdout, "0", stderr);
  });
});
