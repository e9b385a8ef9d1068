import assert from "node:assert/strict";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, it } from "mocha";
import { readOwnAccount } from "../../../../operator/own-namespace/own-account.ts";

const token = (claims: unknown): string =>
  ["e30", Buffer.from(JSON.stringify(claims)).toString("base64url"), "signature"].join(".");

describe("readOwnAccount()", () => {
  let folder = "";

  before(async () => {
    folder = await mkdtemp(join(tmpdir(), "tollgate-token-"));
  });

  after(() => rm(folder, { recursive: true, force: true }));

  for (const row of [
    {
      name: "finds the account of a pod's token",
      text: token({ "kubernetes.io": { namespace: "gateway", serviceaccount: { name: "operator", uid: "u-1" } } }),
      want: { apiVersion: "v1", kind: "ServiceAccount", name: "operator", uid: "u-1" },
    },
    { name: "finds none in a token of another kind", text: token({ sub: "somebody" }), want: undefined },
    {
      name: "finds none without a uid",
      text: token({ "kubernetes.io": { serviceaccount: { name: "a" } } }),
      want: undefined,
    },
    { name: "finds none in something else", text: "no token", want: undefined },
  ])
    it(row.name, async () => {
      const file = join(folder, "token");
      await writeFile(file, row.text);
      assert.deepEqual(await readOwnAccount(file), row.want);
    });

  it("finds none where there is no file", async () => {
    assert.equal(await readOwnAccount(join(folder, "missing")), undefined);
  });
});
