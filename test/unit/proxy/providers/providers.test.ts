import assert from "node:assert/strict";
import { globSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const root = join(dirname(fileURLToPath(import.meta.url)), "..", "..", "..", "..");

describe("providers", () => {
  it("are asked about nowhere but in proxy/providers", () => {
    const asking = globSync("proxy/**/*.ts", { cwd: root })
      .filter((file) => !file.startsWith(join("proxy", "providers")))
      .filter((file) =>
        /\bprovider\s*(?:===|!==)|switch \((?:\w+\.)*provider\)/.test(readFileSync(join(root, file), "utf8")),
      );
    assert.deepEqual(asking, []);
  });
});
