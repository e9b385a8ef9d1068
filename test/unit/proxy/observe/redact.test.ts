/** docs/design/reliability.md Q4: a secret in every sink. */
import assert from "node:assert/strict";
import { format, inspect } from "node:util";
import { describe, it } from "mocha";
import { createLogger } from "#proxy/observe/logger";
import { Secret } from "#proxy/observe/redact";

const text = "sk-canary-0123456789";

describe("Secret", () => {
  const secret = new Secret(text);
  for (const row of [
    { name: "template", show: () => `${secret}` },
    { name: "concatenation", show: () => `a${String(secret)}` },
    { name: "JSON", show: () => JSON.stringify({ secret, list: [secret] }) },
    { name: "inspect", show: () => inspect({ secret }, { depth: 9, showHidden: true }) },
    { name: "console format", show: () => format("%s %o %j", secret, secret, secret) },
    { name: "thrown error", show: () => inspect(new Error(`failed with ${secret}`, { cause: secret })) },
    { name: "spread", show: () => JSON.stringify({ ...secret }) + Object.keys(secret).join() },
    { name: "entries", show: () => inspect(Object.getOwnPropertyDescriptors(secret)) },
    { name: "structured clone", show: () => inspect(structuredClone({ ...secret })) },
  ]) {
    it(`is not shown by ${row.name}`, () => {
      const shown = row.show();
      assert.equal(shown.includes("canary"), false, shown);
    });
  }

  for (const logFormat of ["json", "text"] as const) {
    it(`is not shown by the ${logFormat} log, as a field, inside a field or in an error`, () => {
      let logged = "";
      const log = createLogger({
        format: logFormat,
        level: "debug",
        destination: {
          write: (line) => {
            logged += line;
          },
        },
      });
      log.error(`about ${secret}`, {
        secret,
        nested: { secret },
        error: new Error(`with ${secret}`, { cause: new Error("x") }),
      });
      assert.match(logged, /\[secret\]/);
      assert.equal(logged.includes("canary"), false, logged);
    });
  }

  it("compares and tells apart without showing", () => {
    assert.equal(secret.equals(new Secret(text)), true);
    assert.equal(secret.equals(new Secret(`${text}x`)), false);
    assert.match(secret.fingerprint(), /^[0-9a-f]{12}$/);
    assert.equal(secret.reveal(), text);
  });
});
